"""Draws the pictures of the guide: ``python docs/guide/pictures.py`` writes them beside this file.

No background, and ink of medium lightness, so that one picture serves light and dark pages.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.sparse.linalg import cg

import mercer as mc

HERE = Path(__file__).parent
INK = "#808890"
BLUE, ORANGE, GREEN = "#3b8ac4", "#d9822b", "#4a9d5b"

plt.rcParams.update(
    {
        "svg.hashsalt": "mercer",
        "font.size": 9,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "axes.titlesize": 9,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
)


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """That many square panels side by side."""
    figure, axes = plt.subplots(1, count, figsize=(2.6 * count, 2.5), layout="constrained", squeeze=False)
    return figure, list(axes[0])


def write(figure: Figure, name: str) -> None:
    """The same bytes for the same picture: no date, ids from a fixed salt."""
    figure.savefig(HERE / f"{name}.svg", transparent=True, metadata={"Date": None})
    plt.close(figure)


def trick() -> None:
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 120), np.repeat([1.0, 2.0], 60)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    figure, (left, right) = panels(2)
    for c, colour, marker in ((1.0, BLUE, "o"), (2.0, ORANGE, "s")):
        own = X[radius == c]
        left.plot(*own.T, marker, color=colour, markersize=3)
        right.plot(*(own**2).T, marker, color=colour, markersize=3)
    right.plot([0, 2.5], [2.5, 0], "--", color=INK, linewidth=1)
    left.set(aspect="equal", xlabel="x₁", ylabel="x₂")
    right.set(xlabel="x₁²", ylabel="x₂²")
    write(figure, "trick")


def norms() -> None:
    """The interpolants of chapter 4."""
    five, rough = np.arange(5.0)[:, None], np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    t = np.linspace(-1, 5, 241)[:, None]
    figure, axes = panels(3)
    for axis, gamma in zip(axes, (0.2, 1.0, 5.0), strict=True):
        k = mc.Gaussian(gamma)
        f = mc.RKHSFunction(k, five, np.linalg.solve(k(five), rough))
        axis.plot(t[:, 0], f(t), color=BLUE, linewidth=1.2)
        axis.plot(five[:, 0], rough, "o", color=ORANGE, markersize=4)
        axis.set(title=f"γ = {gamma:g}, norm {f.norm():.1f}", ylim=(-3, 3), xlabel="x")
    write(figure, "norms")


def penalties() -> None:
    """Ridge with three λ; the middle one is found by leave-one-out."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 1, 40))[:, None]
    y = np.sin(6 * x[:, 0]) + 0.3 * rng.standard_normal(40)
    k, t = mc.Gaussian(60.0), np.linspace(0, 1, 200)[:, None]
    found = mc.KernelRidgeCV(alphas=np.logspace(-6, 3, 37), kernel=k).fit(x, y).alpha_
    figure, axes = panels(3)
    for axis, alpha, word in zip(axes, (1e-6, found, 1e3), ("too small", "leave-one-out", "too large"), strict=True):
        axis.plot(x[:, 0], y, "o", color=ORANGE, markersize=2.5)
        axis.plot(t[:, 0], mc.KernelRidge(alpha, k).fit(x, y).predict(t), color=BLUE, linewidth=1.2)
        axis.set(title=f"λ = {alpha:.2g} ({word})", ylim=(-2, 2), xlabel="x")
    write(figure, "lambda")


def drawn(axis: Axes, edges: list[tuple[int, int]], places: np.ndarray, colours: list[str], words: str = "") -> None:
    """A graph: its edges, and its vertices in their colours, each with a letter of ``words``."""
    for u, v in edges:
        axis.plot(*places[[u, v]].T, color=INK, linewidth=1, zorder=1)
    axis.scatter(*places.T, c=colours, s=100, zorder=2, clip_on=False)
    for place, word in zip(places, words, strict=False):
        axis.text(*place, word, color="white", ha="center", va="center", fontsize=7, zorder=3)
    axis.set(aspect="equal")
    axis.margins(0.12)
    axis.axis("off")


def refinement() -> None:
    """Labels of a graph in rounds, and two graphs of chapter 11 without any."""
    atoms, edges = "CCCCCOC", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 6)]
    places = np.array([[0, 0.5], [0.9, 0], [1.8, 0.5], [2.7, 0], [3.6, 0.5], [4.5, 0], [0.9, -1.0]])
    palette = [BLUE, GREEN, "#a05fb4", "#c8555b", "#8a7a5c", "#3fa3a3"]
    figure, axes = plt.subplots(1, 4, figsize=(9.6, 1.7), layout="constrained", width_ratios=[1, 1, 1, 1.25])
    labels: list[object] = list(atoms)
    for axis, title in zip(axes, ("labels", "refined once", "refined twice"), strict=False):
        kinds = list(dict.fromkeys(label for label, atom in zip(labels, atoms, strict=True) if atom == "C"))
        colours = [palette[kinds.index(label)] if label in kinds else ORANGE for label in labels]
        drawn(axis, edges, places, colours, atoms)
        axis.set_title(f"{title}: {len(set(labels))} kinds")
        around = [
            sorted((labels[b] for a, b in edges + [e[::-1] for e in edges] if a == u), key=repr) for u in range(7)
        ]
        labels = [(own, tuple(others)) for own, others in zip(labels, around, strict=True)]
    turn = np.pi / 2 + np.arange(6) * np.pi / 3
    ring = 0.9 * np.column_stack([np.cos(turn), np.sin(turn)])
    drawn(axes[3], [(i, (i + 1) % 6) for i in range(6)], ring, [BLUE] * 6)
    for shift in (2.6, 5.0):
        drawn(axes[3], [(0, 1), (1, 2), (2, 0)], ring[::2] + np.array([shift, -0.2]), [BLUE] * 3)
    axes[3].set_title("never refined: 1 kind")
    write(figure, "refinement")


def choosing() -> None:
    """Three errors and the likelihood against γ, and the best of many kernels on labels without meaning."""
    rng = np.random.default_rng(0)
    x, new = rng.uniform(-2, 2, (60, 1)), rng.uniform(-2, 2, (2000, 1))
    y, truth = (np.sin(3 * z[:, 0]) + 0.3 * rng.standard_normal(len(z)) for z in (x, new))
    gammas = np.logspace(-1, 3, 33)
    rows = []
    for gamma in gammas:
        f = mc.KernelRidgeCV([0.1], mc.Gaussian(gamma)).fit(x, y)
        likely = mc.KernelRidgeCV([0.1], mc.Gaussian(gamma), criterion="marginal likelihood").fit(x, y).best_score_
        errors = [np.mean(r**2) for r in (y - f.predict(x), f.loo_residuals_, truth - f.predict(new))]
        rows.append([*errors, likely])
    training, left_out, unseen, likelihood = np.array(rows).T
    figure, (errors_at, likely_at, lucky_at) = panels(3)
    errors_at.plot(gammas, training, color=ORANGE, label="training")
    errors_at.plot(gammas, left_out, color=BLUE, label="leave-one-out")
    errors_at.plot(gammas, unseen, color=GREEN, label="new samples")
    errors_at.set(xscale="log", xlabel="γ", title="mean squared error", ylim=(0, 0.5))
    errors_at.legend(fontsize=7)
    likely_at.plot(gammas, likelihood, color=BLUE)
    likely_at.set(xscale="log", xlabel="γ", title="log marginal likelihood")
    for toss in range(12):
        rng = np.random.default_rng(toss)
        noise, coin = rng.standard_normal((60, 30)), rng.permutation(np.repeat([0, 1], 30))
        kernels = [mc.Gaussian(0.5).on(sorted(map(int, rng.choice(30, 2, replace=False)))) for _ in range(100)]
        search = mc.KernelSearchCV(mc.SVC(), {"kernel": kernels}, cv=5).fit(noise, coin)
        best = np.maximum.accumulate(search.cv_results_["mean_test_score"])
        lucky_at.step(np.arange(1, 101), best, color=BLUE, linewidth=0.8, alpha=0.6, where="post")
    lucky_at.axhline(0.5, color=GREEN, linestyle="--", linewidth=1)
    lucky_at.set(xscale="log", xlabel="kernels tried", title="best score on coin tosses", ylim=(0.3, 0.85))
    write(figure, "choosing")


def approximation() -> None:
    """What m features miss of a Gaussian, and conjugate gradients with a preconditioner and without."""
    figure, axes = panels(3)
    features = np.unique(np.logspace(0.7, 2.6, 12).astype(int))
    for axis, columns in zip(axes, (2, 10), strict=False):
        X = np.random.default_rng(0).standard_normal((600, columns))
        k = mc.Gaussian(0.5 / columns)
        K = k(X)
        values = np.linalg.eigvalsh(K)[::-1]
        norm = np.linalg.norm(K)
        axis.plot(features, [np.sqrt(np.sum(values[m:] ** 2)) / norm for m in features], "--", color=INK, label="least")
        for how, colour in (("pivoted", BLUE), ("uniform", GREEN)):
            made = [mc.Nystrom(k, m, how, random_state=0).bind(X) for m in features]
            axis.plot(features, [np.linalg.norm(K - b(X)) / norm for b in made], color=colour, label=how)
        waves = [mc.RandomFeatures(k, int(m), random_state=0).bind(X) for m in features]
        axis.plot(features, [np.linalg.norm(K - b(X)) / norm for b in waves], color=ORANGE, label="random features")
        axis.set(xscale="log", yscale="log", ylim=(1e-6, 2), xlabel="features", title=f"error of K, {columns} columns")
    axes[1].legend(fontsize=7, loc="lower left")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(5000)
    k, alpha = mc.Gaussian(0.2), 0.1
    C, G = k(X, X[:100]), k(X[:100])
    Phi = np.linalg.solve(np.linalg.cholesky(G), C.T).T
    part = Phi[rng.choice(5000, 600, replace=False)]
    A, B = C.T @ C + alpha * G, Phi.T @ Phi + alpha * np.eye(100)
    P = np.linalg.inv(part.T @ part * (5000 / 600) + alpha * np.eye(100))
    ways = (
        (A, C.T @ y, None, ORANGE, "centers"),
        (B, Phi.T @ y, None, GREEN, "features"),
        (B, Phi.T @ y, P, BLUE, "preconditioned"),
    )
    for matrix, b, M, colour, label in ways:
        left: list[float] = []
        cg(
            matrix,
            b,
            rtol=1e-9,
            maxiter=100,
            M=M,
            callback=lambda c, A=matrix, b=b, to=left: to.append(np.linalg.norm(A @ c - b) / np.linalg.norm(b)),
        )
        axes[2].plot(np.arange(1, len(left) + 1), left, color=colour, label=label)
    axes[2].set(yscale="log", xlabel="steps", title="residual", ylim=(1e-9, 1e4), xlim=(0, 100))
    axes[2].legend(fontsize=7, loc="upper right")
    write(figure, "approximation")


if __name__ == "__main__":
    trick()
    norms()
    penalties()
    refinement()
    choosing()
    approximation()
