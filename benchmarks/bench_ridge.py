"""Promise: ridge with 20 λ and exact leave-one-out ≥ 3× a grid search of scikit-learn's; an exact fit ≥ 1×
scikit-learn's with a peak of ≤ 1.3 Grams; 45 000 rows within a budget of 1.5 GB, predictions within 1e-5 of a direct
solve.
"""

from __future__ import annotations

import numpy as np
from measure import QUICK, interleaved, judged, peak_memory, promise, sized, skipped, table
from sklearn.kernel_ridge import KernelRidge as Peer
from sklearn.model_selection import GridSearchCV
from tables import uci

import mercer as mc

GAMMA = 0.05


def data(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0] * X[:, 1]) + X[:, 2] + 0.3 * rng.standard_normal(n)


def leave_one_out() -> None:
    X, y = data(sized(3000))
    alphas = np.geomspace(1e-3, 1e2, 20)
    tasks = {
        "KernelRidgeCV, exact leave-one-out": lambda: mc.KernelRidgeCV(alphas, mc.Gaussian(GAMMA)).fit(X, y),
        "GridSearchCV(KernelRidge), 5 folds": (
            lambda: GridSearchCV(Peer(kernel="rbf", gamma=GAMMA), {"alpha": alphas}, cv=5).fit(X, y)
        ),
    }
    ours, promised = "KernelRidgeCV, exact leave-one-out", {"GridSearchCV(KernelRidge), 5 folds": 3.0}
    table("20 λ, n = 3000, d = 20", interleaved(tasks, 3), ours, promised=promised)


def exact() -> None:
    X, y = data(sized(10_000))
    T, _ = data(2000)
    tasks = {
        "KernelRidge": lambda: mc.KernelRidge(0.1, mc.Gaussian(GAMMA)).fit(X, y).predict(T),
        "scikit-learn KernelRidge (no intercept)": lambda: (
            Peer(alpha=0.1, kernel="rbf", gamma=GAMMA).fit(X, y).predict(T)
        ),
    }
    times = interleaved(tasks, 3)
    fitted = mc.KernelRidge(0.1, mc.Gaussian(GAMMA)).fit(X, y)
    table(
        "fit and predict 2000, n = 10 000, d = 20",
        times,
        "KernelRidge",
        f"{fitted.solver_}, residual {fitted.gap_:.1e}",
        {"scikit-learn KernelRidge (no intercept)": 1.0},
    )
    common = (
        "import numpy as np\nrng = np.random.default_rng(0)\nX = rng.standard_normal((10000, 20)); y = X[:, 0] +"
        " rng.standard_normal(10000)\n"
    )
    warm = "mc.KernelRidge(0.1, mc.Gaussian(0.05)).fit(X[:2100], y[:2100])\n"
    ours = peak_memory(
        f"import mercer as mc\n{common}{warm}def work():\n    mc.KernelRidge(0.1, mc.Gaussian(0.05)).fit(X,"
        " y).predict(X[:2000])\n"
    )
    theirs = "from sklearn.kernel_ridge import KernelRidge as P\n"
    peer = peak_memory(
        f"{theirs}{common}def work():\n    P(alpha=0.1, kernel='rbf', gamma=0.05).fit(X, y).predict(X[:2000])\n"
    )
    gram = 8e8
    print(f"  peak memory of scikit-learn: {peer / gram:.2f} Grams")
    promise("KernelRidge, n = 10 000, peak memory over a Gram of float64 (0.8 GB)", ours / gram, at_most=1.3)


def lazy() -> None:
    found = uci("protein_tertiary_structure")
    if found is None:
        skipped("uci_pbp", "is not at hand")
        return
    if QUICK:
        return
    X, y, _ = found
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    n = len(X)
    kernel, alpha = mc.Gaussian(0.3), 1.0
    compute = mc.Compute(memory="1.5GB")
    ridge = mc.KernelRidge(alpha, kernel, solver="cg", tol=1e-6, compute=compute)
    times = interleaved({"KernelRidge, cg": lambda: ridge.fit(X, y)}, 1, warm=False)
    table(
        f"protein, n = {n}, d = {X.shape[1]}, budget 1.5 GB",
        times,
        "KernelRidge, cg",
        f"residual {ridge.gap_:.1e} in {ridge.n_iter_} steps",
    )
    some = np.random.default_rng(0).permutation(n)[:5000]
    small = mc.KernelRidge(alpha, kernel, solver="cg", tol=1e-6, compute=compute).fit(X[some], y[some])
    C = kernel(X[some]) + alpha * np.eye(5000)
    bordered = np.block([[C, np.ones((5000, 1))], [np.ones((1, 5000)), np.zeros((1, 1))]])
    direct = np.linalg.solve(bordered, np.append(y[some], 0.0))
    values = kernel(X[:2000], X[some]) @ direct[:-1] + direct[-1]
    apart = float(np.max(np.abs(small.predict(X[:2000]) - values)))
    promise("n = 5000: largest difference of predictions from a direct float64 solve", apart, at_most=1e-5, unit="")
    code = f"""
import numpy as np, mercer as mc
z = np.load({str(_path())!r}, allow_pickle=True); X, y = z["X"].astype(float), z["y"].astype(float).ravel()
X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
def work():
    mc.KernelRidge({alpha}, mc.Gaussian(0.3), solver="cg", tol=1e-6, compute=mc.Compute(memory="1.5GB")).fit(X, y)
"""
    what = f"protein, n = {n}, peak memory (the matrix would be {8 * n * n / 1e9:.0f} GB)"
    promise(what, peak_memory(code) / 1e9, at_most=1.5, unit="GB")


def _path() -> object:
    from tables import FOLDER

    return FOLDER / "uci_pbp" / "protein_tertiary_structure.npz"


def main() -> None:
    leave_one_out()
    exact()
    lazy()


if __name__ == "__main__":
    judged(main)
