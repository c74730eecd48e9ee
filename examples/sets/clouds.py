"""
What can be learnt from clouds of points, when no point has a label?
====================================================================

A sample may be a bag: the cells of a patient, the particles of a collision, the words of a page. It has a label, its
points have none, there are as many of them as there happen to be, and their order means nothing. The mean of the
points in the space of a kernel is one point, whatever the bag; the inner product of two such means is the mean of all
kernel values between the bags. So every machine takes bags.

Here a bag is drawn from a normal law that is turned and stretched, and the machine is to say by which angle it is
turned. The mean of the points is always 0, and tells nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

BLUE, VERMILION = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)


def bag(angle, size):
    """Points of a normal law with standard deviations 1 and 0.45, turned by the angle; its centre is the mean."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = rng.standard_normal((size, 2)) * [1.0, 0.45] @ turn.T
    return points - points.mean(0)


angles = rng.uniform(0, np.pi / 2, 300)
sizes = rng.integers(10, 120, 300)
X = [bag(a, s) for a, s in zip(angles, sizes, strict=True)]
train, test = np.arange(150), np.arange(150, 300)


def among(rows):
    return [X[i] for i in rows]


# %%
# Ridge over three kernels between bags. The linear one compares the means of the points, which are all the same. The
# Gaussian one sees the whole law; so does the sliced distance of transport, which asks how far the points of one bag
# have to be carried to become the other. Widths and λ are chosen by leave-one-out on the bags to learn from.

kernels = {
    "mean of the points": [mc.MeanEmbedding(mc.Linear())],
    "mean in the space of a kernel": [mc.MeanEmbedding(mc.Gaussian(g)) for g in (0.1, 0.3, 1.0, 3.0)],
    "sliced transport": [mc.SlicedWasserstein(gamma=g) for g in (0.3, 1.0, 3.0)],
}
error, answers = {}, {}
for name, candidates in kernels.items():
    ridge = mc.KernelRidgeCV(kernel=candidates).fit(among(train), angles[train])
    answers[name] = ridge.predict(among(test))
    error[name] = np.sqrt(np.mean((answers[name] - angles[test]) ** 2))
    print(f"{name:<30} off by {np.degrees(error[name]):4.1f}° in the root mean square   {ridge.kernel_}")

# %%
# What is left is chance: the angle of a bag of a dozen points is not to be had exactly. The crosses are the angle of
# the longest axis of each bag, which is the answer of somebody who knows how the bags were made.

axes = []
for points in among(test):
    _, _, V = np.linalg.svd(points, full_matrices=False)
    axes.append(np.arctan2(V[0, 1], V[0, 0]) % np.pi)
axes = np.where(np.array(axes) > 3 * np.pi / 4, np.array(axes) - np.pi, axes)
known = np.sqrt(np.mean((axes - angles[test]) ** 2))
print(f"{'longest axis':<30} off by {np.degrees(known):4.1f}°")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for i, ink in zip((np.argmin(angles), np.argmax(angles)), (BLUE, VERMILION), strict=True):
    left.plot(*X[i].T, ".", color=ink, label=f"turned by {np.degrees(angles[i]):.0f}°, {sizes[i]} points")
left.set_aspect("equal")
left.set(xlim=(-3, 3), ylim=(-3, 3.6))
left.legend(frameon=False, fontsize=8, loc="upper center")
best = answers["mean in the space of a kernel"]
right.scatter(np.degrees(angles[test]), np.degrees(best), s=sizes[test] / 4, color=BLUE, label="ridge over bags")
right.plot(np.degrees(angles[test]), np.degrees(axes), "x", color="0.5", ms=3, label="longest axis")
right.plot([0, 90], [0, 90], color="0.3", lw=0.8)
right.set(xlabel="angle, degrees; a larger mark has more points", ylabel="what is said of it", ylim=(-35, 125))
right.legend(frameon=False, fontsize=8)

assert error["mean of the points"] > 0.9 * angles[test].std()  # nothing learnt
assert max(error["mean in the space of a kernel"], error["sliced transport"]) < 0.4 * angles[test].std()
plt.show()
