"""
Which series are alike, though they run at other speeds?
========================================================

Two people make the same gesture, one starts slowly and hurries at the end, the other does the reverse. Point by point
their curves have little in common. Four kernels that look at curves in four ways:

* ``Gaussian`` compares them time by time.
* ``CrossCorrelation`` sums over all shifts of one against the other.
* ``GlobalAlignment`` sums over all ways to walk through both together, fast here and slow there.
* ``Signature`` compares integrals along the path, which do not depend on how fast it is run through; time itself is one
  of its channels here, so that some of the speed is seen.

They learn from fifty curves as they are; the curves that they are asked of are more and more warped.
"""

import sys
from pathlib import Path

import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import at_hand

data = at_hand.gestures()
print(data.source)
X, X_test = data.X[:, ::2], data.X_test[:, ::2]
y, y_test = data.y, data.y_test
n, frames = X_test.shape


def warped(curves, much):
    """x(t^exp(±much)), each curve to one of the two sides: it starts slowly, or it starts fast."""
    t = np.linspace(0, 1, curves.shape[1])
    sides = np.random.default_rng(1).choice([-1, 1], len(curves))
    return np.array([np.interp(t ** np.exp(side * much), t, x) for side, x in zip(sides, curves, strict=True)])


# %%
# What each kernel has to be told is chosen by five folds of the curves as they are.

scale = mc.Signature(mc.Gaussian(1.0)).bind(X).scale
candidates = {
    "Gaussian": (mc.Gaussian("median"), {"kernel__gamma": [0.003, 0.01, 0.03, 0.1]}),
    "CrossCorrelation": (mc.CrossCorrelation(length="longest"), {"kernel__gamma": [1.0, 10.0, 30.0]}),
    "GlobalAlignment": (mc.GlobalAlignment(1.0), {"kernel__sigma": [0.5, 1.0, 2.0]}),
    "Signature": (
        mc.Signature(mc.Gaussian(1.0), scale=scale).normalized(),
        {"kernel__kernel__scale": [3 * scale, 10 * scale, 20 * scale]},
    ),
}
amounts = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3]
score = {}
for name, (kernel, grid) in candidates.items():
    search = mc.KernelSearchCV(mc.SVC(kernel=kernel), {**grid, "C": [10.0, 1000.0]}, cv=5).fit(X, y)
    score[name] = [search.score(warped(X_test, much), y_test) for much in amounts]
    print(f"{name:<17}", *[f"{s:6.1%}" for s in score[name]], search.best_params_)
