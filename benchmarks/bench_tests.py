"""Promise: 2000 permutations of MMD and HSIC at the price of a few matrix products, ≥ 10× a loop and ≥ 10× hyppo;
conditional independence ≥ 1× causal-learn; the level held, to chance; a shift of 0.5 in one of 5 dimensions always
seen.

Arguments: any of speed, power, level; all without any. Loops are timed over 20 permutations and scaled up.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import QUICK, interleaved, judged, promise, skipped, table

import mercer as mc

SHORT = 20


def gram(X: Any, gamma: float) -> Any:
    s = (X * X).sum(1)
    return np.exp(-gamma * np.maximum(s[:, None] + s - 2 * X @ X.T, 0))


def mmd_loop(X: Any, Y: Any, gamma: float, permutations: int) -> float:
    """Unbiased MMD², the matrix permuted again and again."""
    K, n, m, rng = gram(np.vstack([X, Y]), gamma), len(X), len(Y), np.random.default_rng(0)

    def value(K: Any) -> float:
        A, B = K[:n, :n], K[n:, n:]
        return float(
            (A.sum() - np.trace(A)) / (n * (n - 1)) + (B.sum() - np.trace(B)) / (m * (m - 1)) - 2 * K[:n, n:].mean()
        )

    seen, null = value(K), []
    for _ in range(permutations):
        p = rng.permutation(n + m)
        null.append(value(K[np.ix_(p, p)]))
    return float((1 + sum(v >= seen for v in null)) / (permutations + 1))


def hsic_loop(X: Any, Y: Any, gamma: float, permutations: int) -> float:
    """Tr(KHLH)/n², one matrix permuted again and again."""
    K, L, n, rng = gram(X, gamma), gram(Y, gamma), len(X), np.random.default_rng(0)
    K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    seen, null = float((K * L).sum()) / n**2, []
    for _ in range(permutations):
        p = rng.permutation(n)
        null.append(float((K * L[np.ix_(p, p)]).sum()) / n**2)
    return float((1 + sum(v >= seen for v in null)) / (permutations + 1))


def scaled(task: Callable[[int], Any], permutations: int) -> float:
    """Seconds for ``permutations``, from runs of 0-ish and ``SHORT`` of them."""
    clocks = []
    for count in (1, 1 + SHORT):  # the first also compiles what compiles
        task(count)
        start = time.perf_counter()
        task(count)
        clocks.append(time.perf_counter() - start)
    return clocks[0] + (clocks[1] - clocks[0]) / SHORT * (permutations - 1)


def against(title: str, ours: Callable[[], Any], peers: dict[str, Callable[[int], Any]], permutations: int) -> None:
    ratios = table(title, interleaved({"mercer": ours}, 3), "mercer")
    assert ratios["mercer"] == 1
    seconds = interleaved({"mercer": ours}, 1)["mercer"][0]
    for name, task in peers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = scaled(task, permutations)
        promise(f"{title}, {name}", theirs / seconds, at_least=10.0)
        print(f"  {name + f', scaled up from {SHORT}':<44} {theirs:8.3f} s   {theirs / seconds:6.1f}× ours", flush=True)


def speed() -> None:
    rng, B = np.random.default_rng(0), 2000
    X, Y = rng.standard_normal((2000, 5)), rng.standard_normal((2000, 5)) + 0.05
    peers: dict[str, Callable[[int], Any]] = {"NumPy loop": lambda count: mmd_loop(X, Y, 0.1, count)}
    U = rng.standard_normal((1000, 3))
    V = np.sin(2 * U) + 2 * rng.standard_normal((1000, 3))
    others: dict[str, Callable[[int], Any]] = {"NumPy loop": lambda count: hsic_loop(U, V, 0.2, count)}
    try:
        from hyppo.independence import Hsic
        from hyppo.ksample import MMD

        peers["hyppo"] = lambda count: MMD(compute_kernel="rbf", gamma=0.1).test(X, Y, reps=count, auto=False)
        others["hyppo"] = lambda count: Hsic(compute_kernel="rbf", gamma=0.2).test(U, V, reps=count, auto=False)
    except ImportError:
        skipped("hyppo")
    k = mc.Gaussian(0.1)
    against(
        f"MMD, 2 × 2000 points, {B} permutations",
        lambda: mc.mmd_test(X, Y, k, n_permutations=B, random_state=0),
        peers,
        B,
    )
    h = mc.Gaussian(0.2)
    against(
        f"HSIC, 1000 pairs, {B} permutations",
        lambda: mc.hsic_test(U, V, h, h, n_permutations=B, random_state=0),
        others,
        B,
    )
    Z = rng.standard_normal((500, 2))
    a, b = (Z[:, :1] + 0.5 * rng.standard_normal((500, 1)) for _ in range(2))
    tasks: dict[str, Any] = {"mercer": lambda: mc.kci_test(a, b, Z, random_state=0)}
    try:
        from causallearn.utils.cit import CIT

        data = np.hstack([a, b, Z])
        tasks["causal-learn (other widths)"] = lambda: CIT(data, "kci")(0, 1, [2, 3])
    except ImportError:
        pass  # said with the promise
    promised = {"causal-learn (other widths)": 1.0}
    table("KCI, 500 points, gamma approximation", interleaved(tasks, 3), "mercer", promised=promised)


def share(draw: Callable[[Any], float], runs: int, level: float = 0.05) -> float:
    """Share of runs that reject."""
    return float(np.mean([draw(np.random.default_rng(seed)) <= level for seed in range(runs)]))


def mmd_draw(n: int, shift: float, d: int = 5, **options: Any) -> Callable[[Any], float]:
    def draw(rng: Any) -> float:
        Y = rng.standard_normal((n, d))
        Y[:, 0] += shift
        return float(mc.mmd_test(rng.standard_normal((n, d)), Y, random_state=0, **options).pvalue)

    return draw


def rotated(n: int, angle: float) -> Callable[[Any], float]:
    """Two independent sources of two and one modes, turned: uncorrelated, and dependent for an angle other than 0."""

    def draw(rng: Any) -> float:
        s = np.vstack(
            [rng.choice([-1.0, 1.0], n) + 0.3 * rng.standard_normal(n), rng.uniform(-np.sqrt(3), np.sqrt(3), n)]
        )
        c, t = np.cos(angle), np.sin(angle)
        x, y = c * s[0] - t * s[1], t * s[0] + c * s[1]
        return float(mc.hsic_test(x[:, None], y[:, None], n_permutations=200, random_state=0).pvalue)

    return draw


def sine(n: int, frequency: float) -> Callable[[Any], float]:
    """Density 1 + sin(ωx) sin(ωy) on a square (Sejdinovic et al. 2013): the higher ω, the smoother the look of it."""

    def draw(rng: Any) -> float:
        P = np.empty((0, 2))
        while len(P) < n:
            Q = rng.uniform(-np.pi, np.pi, (4 * n, 2))
            P = np.vstack(
                [P, Q[rng.uniform(0, 2, len(Q)) < 1 + np.sin(frequency * Q[:, 0]) * np.sin(frequency * Q[:, 1])]]
            )
        return float(mc.hsic_test(P[:n, :1], P[:n, 1:], n_permutations=200, random_state=0).pvalue)

    return draw


def conditional(n: int, strength: float, **options: Any) -> Callable[[Any], float]:
    """x and y follow z; y also follows x by ``strength``."""

    def draw(rng: Any) -> float:
        z = rng.standard_normal((n, 1))
        x = np.tanh(z) + 0.5 * rng.standard_normal((n, 1))
        y = z**2 / 2 + strength * x + 0.5 * rng.standard_normal((n, 1))
        return float(mc.kci_test(x, y, z, random_state=0, **options).pvalue)

    return draw


def curve(
    title: str, values: tuple[float, ...], make: Callable[[float], Callable[[Any], float]], runs: int = 50
) -> list[float]:
    found = [share(make(v), runs) for v in values]
    print(f"  {title:<44} " + "   ".join(f"{v:g}: {p:.2f}" for v, p in zip(values, found, strict=True)), flush=True)
    return found


def power() -> None:
    print("\nPower at level 0.05 over 50 runs")
    many = [mc.Gaussian(g) for g in (0.02, 0.1, 0.5)]
    shifts = (0.0, 0.1, 0.2, 0.3, 0.5)
    found = curve("MMD, 200 + 200 in 5 dimensions, shift", shifts, lambda v: mmd_draw(200, v, n_permutations=200))
    promise("MMD, 200 + 200 in 5 dimensions, power at a shift of 0.5", found[-1], at_least=1.0, unit="")
    curve("  three kernels aggregated", shifts, lambda v: mmd_draw(200, v, n_permutations=200, kernel=many))
    curve("  linear statistic", shifts, lambda v: mmd_draw(200, v, statistic="linear"))
    curve("  block statistic", shifts, lambda v: mmd_draw(200, v, statistic="block"))
    curve("HSIC, 200 rotated pairs, angle/(π/4)", (0.0, 0.25, 0.5, 0.75, 1.0), lambda v: rotated(200, v * np.pi / 4))
    curve("HSIC, 200 pairs of 1 + sin ωx sin ωy, ω", (1.0, 2.0, 3.0, 4.0), lambda v: sine(200, v))
    curve("KCI, 200 points, y also follows x by", (0.0, 0.1, 0.2, 0.4), lambda v: conditional(200, v))


def level() -> None:
    runs = 200
    edge = 2 * np.sqrt(0.05 * 0.95 / runs)
    print(f"\nShare of {runs} null runs rejected at 0.05 (within ± {edge:.3f} by chance)")
    cases = {
        "MMD unbiased": mmd_draw(60, 0.0, n_permutations=199),
        "MMD biased": mmd_draw(60, 0.0, n_permutations=199, statistic="biased"),
        "MMD linear": mmd_draw(400, 0.0, statistic="linear"),
        "MMD block": mmd_draw(400, 0.0, statistic="block"),
        "MMD three kernels": mmd_draw(60, 0.0, n_permutations=199, kernel=[mc.Gaussian(g) for g in (0.02, 0.1, 0.5)]),
        "HSIC": rotated(60, 0.0),
        "KCI gamma": conditional(150, 0.0),
        "KCI local permutations": conditional(150, 0.0, method="local", n_permutations=199),
    }
    for name, draw in cases.items():
        found = share(draw, runs)
        promise(f"{name}, share of null runs rejected at 0.05", found, at_most=0.05 + edge, unit="")


TABLES = {"speed": speed, "power": power, "level": level}


def main() -> None:
    for chosen in sys.argv[1:] or (["speed"] if QUICK else TABLES):
        TABLES[chosen]()


if __name__ == "__main__":
    judged(main)
