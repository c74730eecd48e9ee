"""
What if all I have is a similarity?
===================================

Sometimes there are no columns and no kernel, only a program that says how alike two things are. Its answers are a
matrix, and every machine takes one. The program here is dynamic time warping: two curves are stretched in time until
they fit best, and D is what is left between them. Its similarity 1 − D/max D looks harmless, but it is no inner
product of anything: the matrix has negative eigenvalues, squared distances that are negative come with them, and the
problem of a support vector machine is then not convex.
"""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
data = at_hand.gestures()
print(data.source)
curves = np.concatenate([data.X, data.X_test])[:, ::3]
y = np.concatenate([data.y, data.y_test])
n_train = len(data.y)


def warped(curves):
    """min Σ |a_i − b_j| over all ways to step through both series, of all pairs at once."""
    n, length = curves.shape
    before = np.full((length + 1, n, n), np.inf)
    before[0] = 0.0
    for i in range(length):
        now = np.full_like(before, np.inf)
        for j in range(length):
            gap = np.abs(curves[:, None, i] - curves[None, :, j])
            now[j + 1] = gap + np.minimum(np.minimum(before[j + 1], before[j]), now[j])
        before = now
    return before[length]


D = warped(curves)
S = 1.0 - D / D.max()
print(mc.check_gram(S).verdict)
assert not mc.check_gram(S)

# %%
# ``Precomputed(S)`` makes a kernel of the matrix, whose samples are the numbers of the rows. A machine takes it as it
# is, and says what is wrong with it. ``repaired`` makes a kernel that is near: "clip" sets negative eigenvalues to 0,
# which is the nearest matrix without any; "flip" takes their size; "shift" makes each thing more like itself. The
# eigenvalues are those of the training rows alone; new rows are projected.

train, test = np.split(np.arange(len(y)), [n_train])
similarity = mc.Precomputed(S)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    score = {"as it is": mc.SVC(C=100.0, kernel=similarity).fit(train, y[train]).score(test, y[test])}
print("SVC says:", str(caught[0].message).split(". ")[0])
assert "indefinite" in str(caught[0].message)
for how in ("clip", "flip", "shift"):
    repaired = similarity.repaired(how)
    assert mc.check_gram(repaired.bind(train)(train))
    score[how] = mc.SVC(C=100.0, kernel=repaired).fit(train, y[train]).score(test, y[test])
nearest = np.mean(y[train][D[n_train:, :n_train].argmin(1)] == y[test])
print({name: f"{s:.1%}" for name, s in score.items()}, f"the nearest neighbour by D {nearest:.1%}")
assert min(score.values()) > 0.8
assert score["clip"] > 0.85

# %%
# What can be done with a kernel can be done with this one: here the directions in which the curves vary most. The
# first picture is of the smallest and largest eigenvalues, of all curves.

plane = mc.KernelPCA(2, similarity.repaired("clip")).fit_transform(np.arange(len(y)))
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(8, 3.2), layout="constrained", width_ratios=[1.2, 1, 1.3])
eigenvalues = np.linalg.eigvalsh(S)
kept = np.linalg.eigvalsh(similarity.repaired("clip").bind(np.arange(len(y)))(np.arange(len(y))))
assert eigenvalues[0] < -0.05 < -1e-8 < kept[0]
left.plot(eigenvalues[:60], ".", color=VERMILION, ms=5, label="as it is")
left.plot(kept[:60], ".", color=BLUE, ms=3, label="clip")
left.axhline(0, color="0.3", lw=0.8)
left.set(xlabel="number of the eigenvalue", ylabel="smallest eigenvalues")
left.legend(frameon=False)
place = np.arange(len(score))
middle.barh(place, list(score.values()), color=[VERMILION, BLUE, GREEN, "0.6"])
middle.axvline(nearest, color="0.3", ls="--", lw=1)
middle.text(nearest, 3.65, "1-NN", ha="center", fontsize=8)
middle.set_yticks(place, list(score))
middle.set(xlim=(0.5, 1), xlabel="share of new curves that is right")
for kind, colour, name in ((1, VERMILION, "gun"), (2, BLUE, "pointing only")):
    right.plot(*plane[y == kind].T, ".", color=colour, ms=5, label=name)
right.set(xlabel="first component", ylabel="second component", xticks=[], yticks=[])
right.legend(frameon=False, fontsize=8)
plt.show()
