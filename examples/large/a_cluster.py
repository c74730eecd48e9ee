"""
What changes when the rows are on a cluster?
============================================

Give a machine a Dask collection in the place of an array, and it learns where the rows are: a block of them is looked
at by the worker that has it, and what travels is of the size of the centers. The function that comes out should be
the one that a single machine finds with all rows in memory. Here both are done, and their difference is measured.

The cluster is two workers inside of this process, so that the example runs anywhere.
``Client("tcp://scheduler:8786")`` in its place is one of many machines, and nothing else changes.
"""

import logging
import time

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask import delayed
from dask.distributed import Client, LocalCluster

import mercer as mc

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"


def truth(X):
    return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.5 * np.tanh(X[:, 0] + X[:, 1])


def made(block, size):
    """A block of rows with their targets, made by the worker that will keep it."""
    rng = np.random.default_rng(block)
    X = rng.uniform(-2, 2, (size, 2))
    return np.column_stack([X, truth(X) + 0.5 * rng.standard_normal(size)])


# %%
# Ten blocks of 6000 rows, of which this process knows the shape and no more. ``persist`` makes them, on the
# workers.

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)
size, n_blocks = 6000, 10
blocks = [da.from_delayed(delayed(made)(i, size), (size, 3), np.float64) for i in range(n_blocks)]
table = da.concatenate(blocks).persist()
X, y = table[:, :2], table[:, 2]
print(X)

# %%
# The centers are given as numbers, the same for both, so that it is one problem. ``compute`` says whose workers
# compute.

centers = np.random.default_rng(1).uniform(-2, 2, (100, 2))
kernel = mc.Gaussian(1.0)
began = time.perf_counter()
spread = mc.KernelRidge(0.1, kernel, centers=centers, compute=mc.Compute(client=client)).fit(X, y)
took = {"two workers": time.perf_counter() - began}
rows, targets = X.compute(), y.compute()
began = time.perf_counter()
alone = mc.KernelRidge(0.1, kernel, centers=centers).fit(rows, targets)
took["one machine"] = time.perf_counter() - began
print({name: f"{seconds:.1f} s" for name, seconds in took.items()}, f"in {spread.n_iter_} and {alone.n_iter_} passes")

# %%
# What the fitted machine is asked may be a collection too; the answer is one, and is computed when it is wanted.

answers = spread.predict(X)
print(answers)
fresh = np.random.default_rng(2).uniform(-2, 2, (5000, 2))
f, g = spread.predict(fresh), alone.predict(fresh)
apart, missed = np.abs(f - g).max(), np.sqrt(np.mean((f - truth(fresh)) ** 2))
print(f"the two functions are apart by {apart:.1e} at most; either misses the truth by {missed:.3f}")
assert apart < 1e-4
assert missed < 0.05
assert np.allclose(answers[:1000].compute(), alone.predict(rows[:1000]), atol=1e-4)

# %%
# A worker that has a wrong row says which: the block, and the row in it. (It logs the same, which is not shown here.)

logging.getLogger("distributed.worker").setLevel(logging.CRITICAL)
holed = da.concatenate([X[:7000], X[7000:7001] * np.nan, X[7001:]]).rechunk((size, 2))
try:
    spread.fit(holed, y)
except mc.DataError as error:
    said = str(error)
    print(said)
assert "Block 1: Row 1000" in said

# %%
# One block alone misses more than all ten together: the noise of a row, 0.5, is averaged away.

few = [1, 3, 10]
errors = []
for count in few:
    part = mc.KernelRidge(0.1, kernel, centers=centers, compute=mc.Compute(client=client))
    part.fit(X[: count * size], y[: count * size])
    errors.append(np.sqrt(np.mean((part.predict(fresh) - truth(fresh)) ** 2)))
assert errors[-1] < 0.6 * errors[0]

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.loglog(np.array(few) * size, errors, "o-", color=VERMILION, label="error against the truth")
left.loglog(np.array(few) * size, errors[0] * np.sqrt(few[0] / np.array(few)), "--", color=GREY, label="as 1/√n")
left.set(xlabel="rows on the workers", ylabel="root mean squared error")
left.set_xticks(np.array(few) * size, [f"{count * size // 1000} 000" for count in few])
left.set_yticks([0.02, 0.03, 0.04, 0.05], ["0.02", "0.03", "0.04", "0.05"])
left.minorticks_off()
left.legend(frameon=False)
sides = np.linspace(-2, 2, 120)
grid = np.stack(np.meshgrid(sides, sides), axis=-1).reshape(-1, 2)
difference = np.log10(np.abs(part.predict(grid) - alone.predict(grid)) + 1e-16).reshape(120, 120)
image = right.imshow(difference, extent=(-2, 2, -2, 2), origin="lower", cmap="cividis")
right.set(xlabel="x₁", ylabel="x₂", title="log₁₀ |on the cluster − in memory|")
figure.colorbar(image, ax=right)
client.close()
cluster.close()
plt.show()
