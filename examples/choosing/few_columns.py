"""
Which few of many columns matter?
=================================

A Gaussian kernel looks at ‖x − z‖, in which each column counts alike: thirty columns of noise are most of that
distance, and rows that are alike in the eight columns that matter are no neighbours any more. A feature machine learns
the distance: f is fitted, columns along which f does not change count less, and f is fitted anew.

Here it has the strength of concrete by what is in it and by its age, and 32 columns of random numbers beside them.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"
data = at_hand.concrete()
rng = np.random.default_rng(0)
n, d = data.X.shape
order = rng.permutation(n)
known, new = order[:600], order[600:]
Z = (data.X - data.X[known].mean(0)) / data.X[known].std(0)
y = data.y
print(data.source)
print(f"{len(known)} samples to learn from, {len(new)} to judge, strengths of {y.std():.1f} MPa around their mean")

# %%
# The ridge over a Gaussian has its width and its λ by exact leave-one-out; the feature machine chooses its kernel, λ
# and the weights of columns by rows that it holds out by itself.

noise = [0, 2, 4, 8, 16, 32]
widths = {"gamma": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]}
errors = {"Gaussian": [], "learnt metric": []}
for count in noise:
    X = np.column_stack([Z, np.random.default_rng(1).standard_normal((n, count))])
    ridge = mc.KernelRidgeCV(kernel=mc.Gaussian(0.1), kernel_grid=widths).fit(X[known], y[known])
    machine = mc.FeatureMachineRegressor(random_state=0).fit(X[known], y[known])
    for name, fitted in zip(errors, (ridge, machine), strict=True):
        errors[name].append(float(np.sqrt(np.mean((fitted.predict(X[new]) - y[new]) ** 2))))
    print(f"{count:2d} columns of noise: " + ", ".join(f"{name} {e[-1]:.2f} MPa" for name, e in errors.items()))
plain, learnt = np.array(errors["Gaussian"]), np.array(errors["learnt metric"])
assert plain[-1] > 1.4 * plain[0]  # noise does harm …
assert learnt[-1] < 1.25 * learnt[0]  # … here little
assert learnt[-1] < plain[0]  # better with the noise than the Gaussian without

# %%
# ``importances_`` are the shares of the columns in the metric, which is an ordinary part of ``machine.kernel_``. Of 40
# columns the noise has next to nothing, however many there are of it.

shares = machine.importances_
names = [*data.names, *[f"noise {j + 1}" for j in range(noise[-1])]]
largest = np.argsort(-shares)[: d + 4]
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for (name, found), colour in zip(errors.items(), (BLUE, VERMILION), strict=True):
    left.plot(noise, found, "o-", color=colour, label=name)
left.set(xlabel="columns of noise beside the eight", ylabel="root mean squared error on new rows, MPa")
left.set_ylim(0, None)
left.legend(frameon=False)
colours = [VERMILION if j < d else GREY for j in largest[::-1]]
right.barh([names[j] for j in largest[::-1]], shares[largest[::-1]], color=colours)
right.set(xscale="log", xlabel="share in the metric")
print(f"all 32 columns of noise together: {shares[d:].sum():.2%} of the metric")
assert shares[d:].sum() < 0.05
assert largest[0] == data.names.index("age")
plt.show()
