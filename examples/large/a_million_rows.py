"""
How many centers do a million rows need?
========================================

The exact kernel ridge of n rows has n coefficients and a matrix of n² numbers: for n = 10⁶ that is 8 TB. With
``centers=m`` the function is sought among those of m rows alone, f = Σⱼ cⱼ k(·, zⱼ) + b, but judged by all rows:

    min Σᵢ (yᵢ − f(xᵢ))² + α‖f‖²,   i = 1 … n.

The rows here are drawn from a function that we know, so that the error of f can be measured against the truth instead
of noisy targets. It has two parts: what no sum of m bumps can express, which falls with m, and what noise does to m
coefficients, about σ·√(m/n), which grows with m but is tiny for a million rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

INK, ACCENT, SOFT = "#222222", "#D55E00", "#0072B2"

# %%
# The rows are float32, 8 MB of them, and stay so: passes over the data are in single precision, the last steps and the
# residual in double precision.

rng = np.random.default_rng(0)
n, sigma = 1_000_000, 0.5


def truth(X):
    return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.5 * np.tanh(X[:, 0] + X[:, 1])


X = rng.uniform(-2, 2, (n, 2)).astype(np.float32)
y = (truth(X) + sigma * rng.standard_normal(n)).astype(np.float32)
fresh = rng.uniform(-2, 2, (10_000, 2)).astype(np.float32)

# %%
# One operation may take 250 MB. K(X, Z), the values between all rows and the centers, would take 512 MB at m = 128; it
# is computed anew in each pass, tile by tile, and never stored.

compute = mc.Compute(memory="250MB")
counts, errors, machines = [8, 16, 32, 64, 128], [], []
for m in counts:
    ridge = mc.KernelRidge(1e-2, mc.Gaussian(1.0), centers=m, random_state=0, compute=compute).fit(X, y)
    machines.append(ridge)
    errors.append(float(np.sqrt(np.mean((ridge.predict(fresh) - truth(fresh)) ** 2))))
    print(f"{m:4d} centers: error {errors[-1]:.4f} after {ridge.n_iter_} passes")

# %%
# The error against the truth falls far below the noise of a single row, σ = 0.5: a million rows average it away.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.loglog(counts, errors, "o-", color=ACCENT, label="error of f against the truth")
left.loglog(counts, sigma * np.sqrt(np.array(counts) / n), "--", color=INK, label="σ·√(m/n), what noise alone does")
left.axhline(sigma, color=SOFT, label="σ, the noise of one row")
left.set(xlabel="centers m", ylabel="root mean squared error", xticks=counts, xticklabels=counts)
left.minorticks_off()
left.legend(frameon=False)

sides = np.linspace(-2, 2, 200, dtype=np.float32)
grid = np.stack(np.meshgrid(sides, sides), axis=-1).reshape(-1, 2)
missed = (machines[-1].predict(grid) - truth(grid)).reshape(200, 200)
image = right.imshow(missed, extent=(-2, 2, -2, 2), origin="lower", cmap="cividis")
centers = np.asarray(machines[-1].support_vectors_)
right.plot(*centers.T, ".", color="white", markersize=3)
right.set(xlabel="x₁", ylabel="x₂", title="What 128 centers (dots) miss: f − truth")
figure.colorbar(image, ax=right)

assert errors[0] > 10 * errors[-1]  # m buys accuracy …
assert errors[-1] < sigma / 10  # … far below the noise of a row
assert all(len(machine.support_vectors_) == m for machine, m in zip(machines, counts, strict=True))
plt.show()
