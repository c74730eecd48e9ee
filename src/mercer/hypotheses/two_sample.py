"""Do two samples come from one distribution?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from mercer import arrays
from mercer.annotations import RandomNumbers, RandomState, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import check_same_width, chunks, size, stack, take
from mercer.distributed import is_collection
from mercer.gram import Cost, Gram, Use, held
from mercer.hypotheses.kernels import comparable, items, kernels_of
from mercer.hypotheses.permutations import aggregated, check_permutations
from mercer.hypotheses.result import Outcome
from mercer.hypotheses.spread import SpreadPair
from mercer.kernels.base import Kernel
from mercer.runtime.randomness import drawn_from
from mercer.troubles import coded

_NAME = "maximum mean discrepancy"
_AT_ONCE = 512  # permutations in one product
_TOGETHER = 256  # pairs of vectors whose values are taken from one small matrix
_STATISTICS = ("unbiased", "biased", "linear", "block")


def mmd_test(
    X: Samples, Y: Samples, kernel: Kernel | Sequence[Kernel] | str | None = None, *, n_permutations: int = 1000,
    statistic: str = "unbiased", random_state: RandomState = None,
    compute: Compute | None = None,
) -> Outcome:  # fmt: skip
    """MMD² = ‖μ_P − μ_Q‖² between the means of two samples in feature space; 0 only if P = Q where the kernel is
    characteristic.

    Tests whether X and Y come from one distribution, by any difference that the kernel sees. Works for every kind of
    data with a kernel: tables, strings, graphs. The level is exact for any number of permutations.

    Parameters
    ----------
    X, Y : collections of samples
        m and n items, at least two each; of one dimension, numbers are a table of one column. Data frames have the same
        columns, in any order. Of Dask collections in as many blocks there is ``statistic="block"``, computed where the
        samples are.
    kernel : Kernel, list of Kernel, "aggregated" or None, default=None
        One, or a list over which the test is aggregated: the level stays exact, and the width need not be guessed.
        "aggregated": ten Gaussians and ten Laplacians, of widths from half the least to twice the largest common
        distance. None: the Gaussian of the median distance. What a kernel takes from data it takes from both samples
        together.
    n_permutations : int, default=1000
        How many ways to deal the items into two samples the statistic is compared with. p is never below
        1/(n_permutations + 1).
    statistic : {"unbiased", "biased", "linear", "block"}, default="unbiased"
        "unbiased" or "biased": from the matrix of all m + n items, each permutation a column of one product with it.
        "block": the mean of unbiased statistics of blocks of √n items, each dealt anew in itself; n^1.5 values of the
        kernel, and no matrix. "linear": blocks of two, compared with Student's distribution; n values of the kernel,
        and no permutations. The last two are for one kernel, and for samples too large for the first; they need many
        more items to see the same difference.
    random_state : int, RandomState, Generator or None, default=None
        Of the permutations.
    compute : Compute, optional
        Device, precision, memory and threads.

    Returns
    -------
    Outcome
        With ``statistic``, ``pvalue`` and ``null``.

    Raises
    ------
    ValueError
        If a sample has fewer than two items, or the columns differ.

    See Also
    --------
    hsic_test : Whether two things that come in pairs are independent.
    mean_embedding : μ as a function.

    Notes
    -----
    Of several kernels, each statistic becomes its rank among all permutations, and the best rank over the kernels is
    compared with that of the permutations (Westfall and Young 1993). ``statistic`` is then minus the logarithm of the
    smallest share.

    References
    ----------
    Gretton, A. et al. (2012). A kernel two-sample test. Journal of Machine Learning Research 13.

    Zaremba, W., Gretton, A. and Blaschko, M. (2013). B-test: a non-parametric, low variance kernel two-sample test.
    NIPS.

    Schrab, A. et al. (2023). MMD aggregated two-sample test. Journal of Machine Learning Research 24.

    Examples
    --------
    Two samples of the same mean and variance, but of different shape:

    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal(200), rng.exponential(size=200) - 1
    >>> outcome = mc.mmd_test(X, Y, [mc.Gaussian(1.0), mc.Gaussian(0.1)], n_permutations=200, random_state=0)
    >>> round(outcome.pvalue, 3), outcome.note
    (0.01, 'over 2 kernels, best the one at place 0')
    >>> mc.mmd_test(X[:100], X[100:], n_permutations=200, random_state=0).pvalue > 0.05
    True
    """
    if statistic not in _STATISTICS:
        raise ValueError(coded(f"statistic={statistic!r}: choose one of {', '.join(map(repr, _STATISTICS))}.", "M205"))
    if is_collection(X) or is_collection(Y):
        return _spread(X, Y, kernel, n_permutations, statistic, random_state, compute)
    if arrays.is_tensor(X) != arrays.is_tensor(Y):
        X, Y = (arrays.to_numpy(V) if arrays.is_tensor(V) else V for V in (X, Y))
    X, Y = items(X, kernel), items(comparable(X, Y), kernel)
    m, n = size(X), size(Y)
    if min(m, n) < 2:
        raise ValueError(coded(f"The samples have {m} and {n} items: two of each are the least.", "M310"))
    if all(len(getattr(V, "shape", ())) == 2 for V in (X, Y)):
        check_same_width(X, Y)
    Z = stack(X, Y)
    kernels = kernels_of(kernel, Z)
    if statistic in ("linear", "block") and len(kernels) > 1:
        raise ValueError(
            coded(f"statistic={statistic!r} is for one kernel; aggregate with 'unbiased' or 'biased'.", "M205")
        )
    if statistic == "linear":
        return _linear(kernels[0], X, Y, compute)
    count = check_permutations(n_permutations)
    rng = drawn_from(random_state)
    if statistic == "block":
        return _blocks(kernels[0], X, Y, max(2, round(min(m, n) ** 0.5)), count, rng, compute)
    members = _members(m, n, count, rng)
    found = np.stack([_statistics(k.gram(Z, compute=compute), members, m, n, statistic == "unbiased") for k in kernels])
    return aggregated(_NAME, found)


def _statistics(gram: Gram, members: Array, m: int, n: int, unbiased: bool) -> Array:
    """MMD² of each column of ``members``, which says who is in the first sample: all follows from e^T K e."""
    gram = gram.astype(np.float64)  # the statistic is a small difference
    K = held(gram, Use.VALUES)
    diagonal = np.asarray(arrays.to_numpy(gram.diag()), np.float64)
    sums = np.asarray(arrays.to_numpy(K @ np.ones(m + n)), np.float64)
    whole, own = float(sums.sum()), float(diagonal.sum())
    out = np.empty(members.shape[1])
    for some in chunks(members.shape[1], _AT_ONCE):
        e = members[:, some].astype(np.float64)
        inside = np.einsum("ib,ib->b", e, np.asarray(arrays.to_numpy(K @ e), np.float64))
        first = e.T @ sums
        own_x = e.T @ diagonal
        cross = first - inside
        rest = whole - 2 * first + inside
        if unbiased:
            out[some] = (inside - own_x) / (m * (m - 1)) + (rest - (own - own_x)) / (n * (n - 1)) - 2 * cross / (m * n)
        else:
            out[some] = inside / m**2 + rest / n**2 - 2 * cross / (m * n)
    return out


def _linear(kernel: Kernel, X: Samples, Y: Samples, compute: Compute | None) -> Outcome:
    """Blocks of two: k(x, x′) + k(y, y′) − k(x, y′) − k(x′, y) for disjoint pairs, four values each."""
    pairs = min(size(X), size(Y)) // 2
    first, second = np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)
    sides = [
        (take(A, i), take(B, j))
        for A, i, B, j in ((X, first, X, second), (Y, first, Y, second), (X, first, Y, second), (X, second, Y, first))
    ]
    values = np.zeros(pairs)
    for (A, B), sign in zip(sides, (1, 1, -1, -1), strict=True):
        step = (
            1
            if kernel.gram(take(A, slice(0, 1)), take(B, slice(0, 1)), compute=compute).cost is Cost.ANY
            else _TOGETHER
        )
        for some in chunks(pairs, step):
            values[some] += sign * np.asarray(
                arrays.to_numpy(kernel.gram(take(A, some), take(B, some), compute=compute).diag()), np.float64
            )
    return _normal(values, f"{pairs} pairs")


def _blocks(
    kernel: Kernel, X: Samples, Y: Samples, length: int, count: int, rng: RandomNumbers, compute: Compute | None
) -> Outcome:
    """The mean over blocks of unbiased MMD², against the same with the items of each block dealt anew."""
    rows = chunks(min(size(X), size(Y)) // length * length, length)
    total = np.zeros(count + 1)
    for some in rows:
        total += _of_block(kernel, take(X, some), take(Y, some), (length, count, rng, compute))
    return aggregated(_NAME, total[None] / len(rows), f"{len(rows)} blocks of {length}")


def _of_block(kernel: Kernel, X: Samples, Y: Samples, how: tuple[int, int, RandomNumbers, Compute | None]) -> Array:
    """Unbiased MMD² of as many items of both, dealt as they are and ``count`` times anew."""
    length, count, rng, compute = how
    gram = kernel.gram(stack(X, Y), compute=compute)
    return _statistics(gram, _members(length, length, count, rng), length, length, True)


def _spread(
    X: Samples,
    Y: Samples,
    kernel: Kernel | Sequence[Kernel] | str | None,
    n_permutations: int,
    statistic: str,
    random_state: RandomState,
    compute: Compute | None,
) -> Outcome:
    """``_blocks`` of Dask collections: each of their blocks with the one of the same number, in blocks of √n."""
    if statistic != "block":
        raise ValueError(
            coded(f"statistic={statistic!r} needs all samples in one place; of Dask collections give 'block'.", "M205")
        )
    pair = SpreadPair(X, Y, (kernel, kernel), compute, paired=False)
    few_x, few_y = pair.some
    kernels, count = kernels_of(kernel, stack(few_x, few_y)), check_permutations(n_permutations)
    if len(kernels) > 1:
        raise ValueError(coded("statistic='block' is for one kernel; aggregate with 'unbiased' or 'biased'.", "M217"))
    length = max(2, round(min(pair.sizes) ** 0.5))
    found, number = pair.mean(_of_block, kernels[0], length, count, random_state)
    return aggregated(_NAME, found[None], f"{number} blocks of {length}")


def _members(m: int, n: int, count: int, rng: RandomNumbers) -> Array:
    """Who is in the first sample: in the data, then in each permutation."""
    out = np.zeros((m + n, count + 1), bool)
    out[:m, 0] = True
    for b in range(1, count + 1):
        out[rng.permutation(m + n)[:m], b] = True
    return out


def _normal(values: Array, note: str) -> Outcome:
    """The mean of independent values over its standard error, against Student's distribution."""
    if len(values) < 2:
        raise ValueError(
            coded(
                f"The samples make {len(values)} blocks, too few to know their spread: use statistic='unbiased'.",
                "M310",
            )
        )
    mean, error = float(values.mean()), float(values.std(ddof=1)) / np.sqrt(len(values))
    # Student's distribution: with few blocks their spread is itself uncertain; and where all agree nothing is known of
    # it
    return Outcome(_NAME, mean, float(stats.t.sf(mean / error, len(values) - 1)) if error > 0 else 1.0, note=note)
