"""Ridge: all λ with exact leave-one-out against a grid search, exact systems in one matrix, and 50 000 rows without
one.
"""

from __future__ import annotations

import numpy as np
from measure import interleaved, machine, peak_memory, table
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
    X, y = data(3000)
    alphas = np.geomspace(1e-3, 1e2, 20)
    tasks = {
        "KernelRidgeCV, exact leave-one-out": lambda: mc.KernelRidgeCV(alphas, mc.Gaussian(GAMMA)).fit(X, y),
        "GridSearchCV(KernelRidge), 5 folds": (
            lambda: GridSearchCV(Peer(kernel="rbf", gamma=GAMMA), {"alpha": alphas}, cv=5).fit(X, y)
        ),
    }
    table("20 λ, n = 3000, d = 20", interleaved(tasks, 3), "KernelRidgeCV, exact leave-one-out")


def exact() -> None:
    X, y = data(10_000)
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
    print(f"  peak memory: {ours / gram:.2f} Grams (float64, 0.8 GB); scikit-learn {peer / gram:.2f}")


def lazy() -> None:
    found = uci("protein_tertiary_structure")
    if found is None:
        print("\nuci_pbp is not at hand: conjugate gradients are skipped")
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
    print(
        "  n = 5000: largest difference of predictions from a direct float64 solve"
        f" {np.max(np.abs(small.predict(X[:2000]) - values)):.1e}"
    )
    code = f"""
import numpy as np, mercer as mc
z = np.load({str(_path())!r}, allow_pickle=True); X, y = z["X"].astype(float), z["y"].astype(float).ravel()
X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
def work():
    mc.KernelRidge({alpha}, mc.Gaussian(0.3), solver="cg", tol=1e-6, compute=mc.Compute(memory="1.5GB")).fit(X, y)
"""
    print(f"  peak memory {peak_memory(code) / 1e9:.2f} GB (the matrix would be {8 * n * n / 1e9:.0f} GB)")


def _path() -> object:
    from tables import FOLDER

    return FOLDER / "uci_pbp" / "protein_tertiary_structure.npz"


if __name__ == "__main__":
    print(machine())
    leave_one_out()
    exact()
    lazy()
