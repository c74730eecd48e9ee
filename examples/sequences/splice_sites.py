"""
Where does an exon end?
=======================

At the end of an exon DNA says GT, but most GT are no ends: the letters around decide. Windows are cut so that the
place in question is always at the same letter, so a kernel may ask for the same word *at the same place*; one that
counts words wherever they stand is asked the same, and the machine is then taken apart letter by letter.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_curve
from sklearn.model_selection import train_test_split

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"
data = at_hand.splice_sites()
X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.4, stratify=data.y, random_state=0)
print(data.source)
print(
    f"{len(X)} windows of {len(X[0])} letters to learn from, {len(X_test)} to test, {np.mean(y):.0%} are ends of exons"
)

# %%
# ``Spectrum(4)`` is Σ_u count_u(x) count_u(z) over the words u of 4 letters. ``WeightedDegree(4)`` is
# Σ_d β_d · (number of places where x and z have the same word of length d), d ≤ 4: a word is another feature at every
# place. Both are inner products of counts, normalised here to cosines.

kernels = {"words, anywhere": mc.Spectrum(4).normalized(), "words at their place": mc.WeightedDegree(4).normalized()}
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", width_ratios=[2, 3])
wrong = {}
for (name, kernel), colour in zip(kernels.items(), (GREY, BLUE), strict=True):
    machine = mc.SVC(C=3.0, kernel=kernel).fit(X, y)
    f = machine.decision_function(X_test)
    false, true, _ = roc_curve(y_test, f)
    wrong[name] = np.mean((f > 0) != y_test)
    left.plot(false, true, color=colour, lw=2, label=f"{name}: {wrong[name]:.1%} wrong")
left.set(xlabel="share of other windows called ends", ylabel="share of ends found", xlim=(-0.01, 0.5))
left.legend(loc="lower right", frameon=False)
assert wrong["words at their place"] < 0.5 * wrong["words, anywhere"]

# %%
# The features of ``WeightedDegree`` are counted, so f(x) = constant + Σ of shares of letters. Averaged over the ends of
# exons, the shares say where the machine looks: at the last three letters of the exon and the first six of the intron.

told = mc.explain(machine, [x for x, end in zip(X_test, y_test, strict=True) if end], "place")
shares = np.array([[v for v, name in zip(e.values, e.names, strict=True) if name != "constant"] for e in told])
place = np.arange(len(X[0]))
right.bar(place, shares.mean(0), color=np.where(place < 30, BLUE, VERMILION))
right.axvline(29.5, color="0.3", lw=1, ls=":")
right.set(xlabel="place in the window: exon up to 29, intron from 30", ylabel="mean share of f(x)")
assert set(np.argsort(-shares.mean(0))[:5]) <= set(range(26, 37))

# %%
# The same as a motif: in each window the nine letters that speak most for an end, aligned and counted. The logo's
# heights are bits. Biologists write it (C or A)AG|GT(A or G)AGT.

ends = [x for x, end in zip(X, y, strict=True) if end]
display = mc.MotifDisplay.from_estimator(machine, ends, 9, ax=plt.subplots(figsize=(6, 2.6), layout="constrained")[1])
display.ax_.set_title(f"most windows begin at {int(np.median(display.motif.starts))}: {display.motif.consensus}")
print(display.motif.consensus)
assert "GGT" in display.motif.consensus
plt.show()
