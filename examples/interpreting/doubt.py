"""
Does the machine know what it does not know?
============================================

Whether a sea snail is an infant its shell tells; whether it is male or female the shell tells hardly at all. A
machine that gives probabilities should say 0.5 there, and where it says 0.9 it should be right nine times in ten. The
picture is what was said against what came true; and what becomes of the errors if those answers are left open that
the machine is least sure of.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION = "#0072B2", "#D55E00"
data = at_hand.abalones()
print(data.source)
sizes = np.column_stack([v for name, v in data.columns.items() if name != "sex"])
sex = np.asarray(data.columns["sex"])
rng = np.random.default_rng(0)
train, test = np.split(rng.permutation(len(sex)), [800])

# %%
# ``KernelLogistic`` has the likelihood of three classes for its loss, so its probabilities are what it is fitted for.
# Beside it one that knows its samples by heart: a narrow kernel, and hardly any penalty. Both are asked of shells
# that they have not seen.

machines = {
    "penalised": mc.KernelLogistic(0.3, mc.Gaussian(0.1).standardized()),
    "by heart": mc.KernelLogistic(1e-4, mc.Gaussian(2.0).standardized()),
}
classes = sorted(set(sex))
P = {name: machine.fit(sizes[train], sex[train]).predict_proba(sizes[test]) for name, machine in machines.items()}
right_answer = {name: np.array(classes)[p.argmax(1)] == sex[test] for name, p in P.items()}
for name, p in P.items():
    print(f"{name}: right of {right_answer[name].mean():.1%}; its own mean probability of that {p.max(1).mean():.1%}")
assert abs(P["penalised"].max(1).mean() - right_answer["penalised"].mean()) < 0.08
assert P["by heart"].max(1).mean() - right_answer["by heart"].mean() > 0.2

# %%
# The same for one class, infants, by how probable they were said to be. On the diagonal what is said comes true. The
# Brier score is the mean of (p − outcome)²; its part for reliability is the squared distance from the diagonal.

figure, axes = plt.subplots(1, 3, figsize=(8, 3.6), layout="constrained")
shown = {}
for ax, (name, p) in zip(axes, P.items(), strict=False):
    infant = p[:, classes.index("I")]
    display = shown[name] = mc.CalibrationDisplay.from_predictions(sex[test] == "I", infant, ax=ax)
    ax.set(title=f"{name}\nBrier {display.brier:.3f}", xlabel="p of an infant, said", ylabel="share that came true")
    print(f"{name}: Brier {display.brier:.3f}, of it reliability {display.reliability:.3f}")
assert shown["penalised"].reliability < 0.02
assert shown["by heart"].reliability > 2 * shown["penalised"].reliability
assert shown["penalised"].brier < shown["by heart"].brier

# %%
# Of adults the machine should not claim to know the sex: among the shells that it calls adult with at least 0.8, the
# larger of the probabilities of male and female is seldom far from a half. So leave the least sure answers open.

adult = P["penalised"][:, classes.index("I")] < 0.2
pair = P["penalised"][adult][:, [classes.index("F"), classes.index("M")]]
share = (pair / pair.sum(1, keepdims=True)).max(1)
print(
    f"adults: the more probable sex has {np.median(share):.2f} in the median, above 0.7 for {np.mean(share > 0.7):.0%}"
)
assert np.median(share) < 0.65
assert np.mean(share > 0.75) < 0.1

answered = np.linspace(0.05, 1, 40)
for (name, p), colour in zip(P.items(), (BLUE, VERMILION), strict=True):
    order = np.argsort(-p.max(1))
    among = [right_answer[name][order[: int(q * len(order))]].mean() for q in answered]
    axes[2].plot(answered, among, color=colour, lw=2, label=name)
    shown[name] = among
axes[2].set(xlabel="share answered, surest first", ylabel="share of answers that is right", ylim=(0.4, 1))
axes[2].legend(frameon=False)
first = np.searchsorted(answered, 0.2)
assert shown["penalised"][first] > shown["penalised"][-1] + 0.15  # it knows where it knows …
assert shown["penalised"][first] > shown["by heart"][first] + 0.1  # … which the other does not
plt.show()
