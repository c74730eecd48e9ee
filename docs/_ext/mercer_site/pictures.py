"""The picture of a kernel: its matrix on the samples of its page, and random functions where samples are numbers.

Drawn once, for light and for dark pages; a picture that is newer than the tables it is drawn from stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mercer_site import samples

INK = {"light": "#24292f", "dark": "#d5dbe1"}
LINES = ("#4C78D8", "#D1662A", "#2F9E77", "#B56AC4")  # of enough contrast on white and on black
_SOURCES = (Path(__file__), Path(str(samples.__file__)))


def draw(app: Any) -> None:
    """All pictures that are missing or old."""
    folder = Path(app.srcdir) / "reference" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    age = max(path.stat().st_mtime for path in _SOURCES)
    for name in samples.names():
        paths = {mode: folder / f"{name}-{mode}.svg" for mode in INK}
        if any(not path.exists() or path.stat().st_mtime < age for path in paths.values()):
            picture(name, paths)


def picture(name: str, paths: dict[str, Path]) -> None:
    k, X = samples.kernel_of(name), samples.samples_of(name)
    on = samples.how(name).samples
    X = X if on != "line" else np.linspace(-3.0, 3.0, 60)[:, None]
    k = k.bind(X)
    K = np.asarray(k(X), dtype=float)
    on_line = on in ("line", "shares")
    for mode, path in paths.items():
        _draw(K, X[:, 0] if on_line else None, bool(k.psd) and on_line, INK[mode], path)


def _draw(K: Any, x: Any, functions: bool, ink: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": "mercer",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
    }
    panels = 1 + (x is not None) + functions
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            1, panels, figsize=(2.9 if panels == 1 else 2.75 * panels, 2.5), layout="constrained", squeeze=False
        )
        left, *rest = axes[0]
        low, high = float(K.min()), float(K.max())
        if low < -1e-3 * high:  # values of both signs: white is zero
            top = max(-low, high)
            scale = {"cmap": "RdBu_r", "vmin": -top, "vmax": top}
        else:
            scale = {"cmap": "viridis", "vmin": min(0.0, low), "vmax": high}
        image = left.imshow(K, interpolation="nearest", **scale)
        left.set(title="k(xᵢ, xⱼ)", xticks=[], yticks=[])
        left.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=left, fraction=0.046, pad=0.04)
        bar.outline.set_visible(False)
        bar.locator = matplotlib.ticker.MaxNLocator(4)
        bar.update_ticks()
        if x is not None:
            slices, *rest = rest
            for place, colour in zip((0.2, 0.5, 0.8), LINES, strict=False):
                j = int(place * (len(x) - 1))
                slices.plot(x, K[:, j], color=colour, lw=1.5, label=f"{x[j]:.1f}")
            slices.set(title="k(·, z) for three z", xlabel="x")
        if functions:
            jitter = 1e-9 * np.trace(K) * np.eye(len(K))
            values, vectors = np.linalg.eigh(K + jitter)
            draws = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
            f = draws @ np.random.default_rng(4).standard_normal((len(K), 4))
            for i, colour in enumerate(LINES):
                rest[0].plot(x, f[:, i], color=colour, lw=1.5)
            rest[0].set(title="random functions", xlabel="x")
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(figure)
