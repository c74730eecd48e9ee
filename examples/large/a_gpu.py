"""
How much does a graphics card do for me?
========================================

``Compute(device="cuda")`` is all that changes: kernels, data and parameters stay as they are, and the formula of the
kernel is compiled for the card from the same recording as for the processor. It needs PyTorch and a card. This
example looks for them, and where they are not it does the same work on the processor twice, once in double precision
and once in single, and says so: the first table that it prints tells what you are looking at.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc
from mercer.arrays import to_numpy

BLUE, VERMILION = "#0072B2", "#D55E00"


def card():
    """The name of a graphics card that PyTorch sees, or None."""
    try:
        import torch
    except ImportError:
        return None
    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else None


name = card()
ways = {"processor, float64": mc.Compute(dtype="float64")}
if name:
    print(f"A card is there: {name}.")
    ways |= {f"card, {kind}": mc.Compute(device="cuda", dtype=kind) for kind in ("float64", "float32", "tf32")}
else:
    print("No card that PyTorch sees: single precision on the processor stands in its place.")
    ways |= {"processor, float32": mc.Compute(dtype="float32")}

# %%
# The work is a product of a kernel matrix with a vector, of which iterative solvers take some tens: n² values of the
# kernel, each used once and never stored. A first call compiles, and is not timed.

rng = np.random.default_rng(0)
k, d = mc.Gaussian(0.05), 10
counts = [1000, 2000, 4000, 8000] + ([16000, 32000, 64000] if name else [])
X, v = rng.standard_normal((counts[-1], d)), rng.standard_normal(counts[-1])
seconds, errors = {way: [] for way in ways}, {}
for way, compute in ways.items():
    to_numpy(k.gram(X[:500], compute=compute) @ v[:500])
    for n in counts:
        gram = k.gram(X[:n], compute=compute)
        best = np.inf
        for _ in range(3):
            began = time.perf_counter()
            product = to_numpy(gram @ v[:n])  # waits until it is there
            best = min(best, time.perf_counter() - began)
        seconds[way].append(best)
        if n == 2000:
            exact = k(X[:n]) @ v[:n]
            errors[way] = np.linalg.norm(product - exact) / np.linalg.norm(exact)
    print(f"{way:<20} {seconds[way][-1] * 1e3:8.1f} ms for n = {counts[-1]}, relative error {errors[way]:.1e}")

# %%
# A fit is asked for in the same way. Here the ridge of many rows with centers, whose passes over the data are such
# products; both must come to the same function.

rows = rng.standard_normal((40_000, d))
y = np.sin(rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.1 * rng.standard_normal(len(rows))
fresh = rng.standard_normal((2000, d))
answers = {}
for way, compute in ways.items():
    if "tf32" in way:
        continue  # three digits, for products
    began = time.perf_counter()
    ridge = mc.KernelRidge(1.0, k, centers=300, random_state=0, compute=compute).fit(rows, y)
    answers[way] = to_numpy(ridge.predict(fresh))
    print(f"{way:<20} ridge of {len(rows)} rows with 300 centers: {time.perf_counter() - began:.2f} s")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
colours = dict(zip(ways, (BLUE, VERMILION, "#009E73", "#CC79A7"), strict=False))
for way, taken in seconds.items():
    left.loglog(counts, np.array(taken) * 1e3, "o-", color=colours[way], label=way)
left.set(xlabel="samples n", ylabel="milliseconds for one product K v")
left.set_xticks(counts[::2], [f"{n // 1000} 000" for n in counts[::2]])
left.minorticks_off()
left.legend(frameon=False)
right.barh(list(errors), list(errors.values()), color=[colours[way] for way in errors])
right.set(xscale="log", xlabel="relative error of K v, n = 2000", xlim=(1e-17, 1))

allowed = {"float64": 1e-12, "float32": 1e-5, "tf32": 1e-1}
assert all(error < allowed[way.split()[-1]] for way, error in errors.items())
first = answers["processor, float64"]
assert all(np.abs(other - first).max() < 0.02 * first.std() for other in answers.values())
plt.show()
