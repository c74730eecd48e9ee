"""
What can be learnt from a table as it is?
=========================================

A table of deliveries has numbers with gaps, categories, times of day, what customers wrote, and a number of each order
that means nothing. ``mc.learn`` looks at each column and says what it takes it for, tries kernels and machines over
them on rows held out, and reports what it found. The table is drawn from a law that is printed below, so that we can
see whether the report is right.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE = "#0072B2"
data = at_hand.deliveries()
table = data.frame.sample(frac=1.0, random_state=0)
known, new = table[:600], table[600:]
print(data.source)
print(known.head(4).to_string(index=False))

# %%
# ``seconds`` is how much is tried, not how long one waits at most: on a busy machine it takes longer.

model = mc.learn(known, "minutes", seconds=4.0, random_state=0)
for name, kind in model.kinds_.items():
    print(f"{name:<9} {kind.name:<11} {kind.reason}")
kinds = {name: kind.name for name, kind in model.kinds_.items()}
assert kinds["note"] == "text"
assert kinds["ordered"] == "date"
assert kinds["shop"] == "nominal"
assert kinds["order_id"] == "identifier"  # and left out

# %%
# The report says which machine it is, how well it will do, how that was measured, and what matters.
# ``report.save("deliveries.html")`` is the same as a page with pictures, for people who do not program.

report = model.report(new)
print(report)
assert "root mean squared error" in str(report)
assert "</html>" in report.html

# %%
# Is it true? The rows in ``new`` were in no part of it. No machine can do better than the noise of 3 minutes, and where
# the distance is missing not even that.

summary = model.summary_
predicted = model.predict(new)
error = float(np.sqrt(np.mean((predicted - new["minutes"]) ** 2)))
interval = model.predict_interval(new, coverage=0.9)
inside = np.mean((interval[:, 0] <= new["minutes"]) & (new["minutes"] <= interval[:, 1]))
print(f"stated {summary['score']:.2f} ± {summary['standard_error']:.2f} minutes, on new rows {error:.2f};")
print(f"{inside:.0%} of the new rows are in their intervals of 90 %")
assert data.noise < error < 0.65 * summary["baseline"]
assert abs(error - summary["score"]) < 4 * summary["standard_error"]
assert 0.8 < inside < 0.98

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", width_ratios=[2, 3])
worth = dict(sorted(summary["importance"].items(), key=lambda pair: pair[1]))
left.barh(list(worth), list(worth.values()), color=BLUE)
left.set(xlabel="squared error that shuffling\nthe column adds, minutes²", title="what matters")
mc.RegressionDisplay.from_predictions(new["minutes"].to_numpy(), predicted, interval=interval, ax=right)
right.set(xlabel="measured, minutes", ylabel="predicted, with 90 % intervals", title="new rows")
assert min(worth[name] for name in ("km", "shop", "note", "ordered")) > 1.0
plt.show()

# %%
# Each answer can be taken apart as well: ``base`` is the mean answer, and the columns add up to the rest.

told = model.explain(new[:3])
print(told.to_pandas().round(1).to_string(index=False))
parts = told.drop("answer").to_numpy().sum(axis=1)
assert np.allclose(parts, predicted[:3], atol=1e-6)
