"""
What is unusual, and how often is that a false alarm?
=====================================================

Three machines learn from samples of one kind where that kind lies, and call unusual what is far from it.

* ``OneClassSVM``: the half-space away from the origin of feature space that holds most of the samples.
* ``SVDD``: the smallest ball that does. Where k(x, x) is the same for all x, it is the same machine.
* ``KernelPCANovelty``: how far φ(x) is from the directions in which the samples vary.

Their scores have no unit. What makes them a decision is the threshold, and a threshold is a *share*: so many samples
of the usual kind may be called unusual by mistake. The picture shows what is promised and what happens, to new
samples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

import mercer as mc

BLUE, VERMILION = "#0072B2", "#D55E00"
digits = load_digits()  # images of 8 × 8 pixels
X, kind = digits.data / 16.0, digits.target
twos, others = X[kind == 2], X[kind != 2]

# %%
# The usual kind is a written 2. The machines see 79 of them and nothing else. All three put nearly every other digit
# behind the twos that they have not seen.

kernel = mc.Gaussian("median")
machines = {
    "OneClassSVM": mc.OneClassSVM(0.1, kernel),
    "SVDD": mc.SVDD(0.1, kernel),
    "KernelPCANovelty": mc.KernelPCANovelty(0.5, kernel),
}
order = np.random.default_rng(0).permutation(len(twos))
train, calibration, fresh = np.split(twos[order], [79, 128])
for name, machine in machines.items():
    machine.fit(train)
    scores = np.concatenate([machine.score_samples(fresh), machine.score_samples(others)])
    area = roc_auc_score(np.arange(len(scores)) < len(fresh), scores)
    print(f"{name:<17} area under the curve {area:.3f}")
    assert area > 0.95
same = machines["OneClassSVM"].decision_function(others), machines["SVDD"].decision_function(others)
assert np.corrcoef(*same)[0, 1] > 1 - 1e-5  # k(x, x) = 1: one machine
edge = np.abs(machines["OneClassSVM"].decision_function(train)) < 1e-6
assert edge.mean() > 0.1  # on the edge itself

# %%
# ``contamination`` sets the threshold so that a share of the *training* samples is outside. But the machine has been
# fitted to these, and lies close around them: new twos are outside more often. Samples that it was not trained on are
# as far out as new ones. With m of them, sorted by score, a new one is below the r-th with the probability r/(m + 1),
# whatever the machine. So for a share of ε the threshold is the ⌊ε(m + 1)⌋-th score of samples held out.
#
# (The broken line of the one-class machines is flat at first: their edge goes through many training samples at once,
# which have one score.)

shares = np.array([0.02, 0.06, 0.1, 0.2, 0.3])
training, held_out, found = ({name: np.zeros(len(shares)) for name in machines} for _ in range(3))
rounds = 25
for seed in range(rounds):
    order = np.random.default_rng(seed).permutation(len(twos))
    train, calibration, fresh = np.split(twos[order], [79, 128])  # 49 held out, 49 new
    for name, machine in machines.items():
        machine.fit(train)
        apart, new, odd = (machine.score_samples(V) for V in (calibration, fresh, others))
        for j, share in enumerate(shares):
            machine.set_params(contamination=share).fit(train)
            training[name][j] += np.mean(machine.predict(fresh) < 0) / rounds
            threshold = np.sort(apart)[int(share * (len(apart) + 1) + 1e-9) - 1]
            held_out[name][j] += np.mean(new < threshold) / rounds
            found[name][j] += np.mean(odd < threshold) / rounds
at = int(np.flatnonzero(shares == 0.1)[0])
for name in machines:
    print(
        f"{name:<17} 10 % promised: {training[name][at]:.0%} of new twos by the training samples,"
        f" {held_out[name][at]:.0%} by those held out; {found[name][at]:.1%} of other digits are found"
    )
    assert training[name][at] > 0.15
    assert np.abs(held_out[name] - shares).max() < 0.05
    assert found[name][at] > 0.9

figure = plt.figure(figsize=(8, 3.8), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[3, 2])
ax = left.subplots()
ax.plot([0, 0.32], [0, 0.32], color="0.6", lw=1)
for name, label, colour in [
    ("OneClassSVM", "OneClassSVM, SVDD", BLUE),
    ("KernelPCANovelty", "KernelPCANovelty", VERMILION),
]:
    ax.plot(shares, training[name], "o--", color=colour, label=f"{label}: training samples")
    ax.plot(shares, held_out[name], "o-", color=colour, label=f"{label}: samples held out")
ax.set(xlabel="share of the usual kind that is promised", ylabel="share of new twos called unusual")
ax.legend(frameon=False, fontsize=8, title="threshold by", alignment="left")

# %%
# On the right, the twos that every machine would look at first: the lowest scores, each by a machine that has not
# seen it.

low = np.zeros(len(twos))
parts = np.arange(len(twos)) % 5
for part in range(5):
    low[parts == part] = mc.OneClassSVM(0.1, kernel).fit(twos[parts != part]).decision_function(twos[parts == part])
right.suptitle("the most unusual twos of 177", fontsize=10)
for ax, i in zip(right.subplots(3, 3).flat, np.argsort(low), strict=False):
    ax.imshow(twos[i].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{low[i]:+.2f}", fontsize=8)
assert low.min() < 0 < np.median(low)
plt.show()
