"""
Which messages are spam, by words or by letters?
================================================

Whoever sends spam misspells words so that lists of words do not have them. Substrings of letters still have most of
them in common. Both views are kernels, their sum is one more, and the answer is a sum over what is found in a text.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import train_test_split

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
data = at_hand.messages()
texts, rest, y, y_rest = train_test_split(data.texts, data.spam, train_size=800, stratify=data.spam, random_state=0)
rest, y_rest = rest[:1500], y_rest[:1500]
print(data.source)
print(f"{len(texts)} messages to learn from, {len(rest)} to judge, {np.mean(y):.0%} are spam")

# %%
# ``BagOfWords`` is the cosine of tf-idf; ``Spectrum(5, 2)`` counts substrings of 2 to 5 letters. 1[w in x] has as many
# dimensions as there are words; neither needs a vocabulary, since a column is named by the word itself.

words, letters = mc.BagOfWords().normalized(), mc.Spectrum(5, k_min=2).over(case="fold").normalized()
kernels = {"words": words, "letters": letters, "both": words + letters}
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
missed = {}
for (name, kernel), colour in zip(kernels.items(), (BLUE, GREEN, VERMILION), strict=True):
    machine = mc.SVC(C=10.0, kernel=kernel).fit(texts, y)
    f = machine.decision_function(rest)
    precision, recall, _ = precision_recall_curve(y_rest, f)
    missed[name] = 1 - recall[precision >= 0.99].max()
    left.plot(recall, precision, color=colour, lw=2, label=f"{name}: {np.mean((f > 0) == y_rest):.1%} right")
    print(
        f"{name:<8} {np.mean((f > 0) != y_rest):.2%} wrong; with 1 % false alarms {missed[name]:.1%} of spam is missed"
    )
    assert np.mean((f > 0) != y_rest) < 0.06
left.set(xlabel="share of spam found", ylabel="share of alarms that are spam", xlim=(0.5, 1.005), ylim=(0.5, 1.01))
left.legend(loc="lower left", frameon=False)
plt.show()
