"""Are two things that come in pairs independent?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import RandomNumbers, RandomState, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, size, take
from mercer.distributed import is_collection
from mercer.gram import Gram, Use, held
from mercer.hypotheses.kernels import items, kernels_of
from mercer.hypotheses.permutations import aggregated, check_permutations
from mercer.hypotheses.result import Outcome
from mercer.hypotheses.spread import SpreadPair
from mercer.kernels.base import Kernel
from mercer.native.linalg import centred
from mercer.runtime import compiling, threads
from mercer.runtime.randomness import drawn_from
from mercer.solvers.incomplete import incomplete_cholesky
from mercer.troubles import coded

_NAME = "Hilbert–Schmidt independence criterion"
_RANK = 200  # columns of a factor, where matrices do not fit
_STEPS = 2**22  # of a compiled call


def hsic_test(
    X: Samples, Y: Samples, kernel_x: Kernel | Sequence[Kernel] | str | None = None,
    kernel_y: Kernel | Sequence[Kernel] | str | None = None, *, n_permutations: int = 1000, statistic: str = "biased",
    random_state: RandomState = None, compute: Compute | None = None,
) -> Outcome:  # fmt: skip
    """HSIC = tr(K H L H)/n², the squared norm of the covariance between φ(x) and ψ(y); 0 only if x and y are
    independent, for characteristic kernels.

    Tests whether x and y, which come in pairs, are independent. It sees every kind of dependence that the kernels see,
    not only correlation, and the two sides may be of different kinds: texts and numbers, say. The level is exact for
    any number of permutations.

    Parameters
    ----------
    X, Y : collections of samples
        n items each, at least 4; item i of X belongs to item i of Y. Of one dimension, numbers are a table of one
        column.
    kernel_x, kernel_y : Kernel, list of Kernel, "aggregated" or None, default=None
        One, or lists of them: aggregated over all pairs, at the exact level. "aggregated": Gaussians and Laplacians of
        ten widths each. None: the Gaussian of the median distance.
    n_permutations : int, default=1000
        How many orders of Y the statistic is compared with. p is never below 1/(n_permutations + 1).
    statistic : {"biased", "block"}, default="biased"
        "biased": both n × n matrices serve for all orders; for kernels of few features, and where the matrices do not
        fit the memory budget (then with incomplete factors of 200 columns), by features. "block": the mean of the
        statistics of blocks of √n pairs, each permuted in itself: n^1.5 values of the kernels, and no matrix; for one
        kernel of each side.
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
        If X and Y are not of the same length, or have fewer than 4 items.

    See Also
    --------
    kci_test : The same given a third variable.
    mmd_test : Whether two samples come from one distribution.

    References
    ----------
    Gretton, A. et al. (2008). A kernel statistical test of independence. NIPS 20.

    Examples
    --------
    On a circle x and y are uncorrelated, and dependent:

    >>> import numpy as np
    >>> import mercer as mc
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    >>> x, y = np.cos(angle), np.sin(angle)
    >>> round(float(np.corrcoef(x, y)[0, 1]), 2)
    -0.05
    >>> print(mc.hsic_test(x, y, n_permutations=200, random_state=0))
    Hilbert–Schmidt independence criterion: statistic 0.01967, p = 0.004975 (200 permutations)
    """
    if statistic not in ("biased", "block"):
        raise ValueError(coded(f"statistic={statistic!r}: choose 'biased' or 'block'.", "M205"))
    if is_collection(X) or is_collection(Y):
        return _spread(X, Y, (kernel_x, kernel_y), n_permutations, statistic, random_state, compute)
    X, Y = items(X, kernel_x), items(Y, kernel_y)
    n = size(X)
    if size(Y) != n:
        raise ValueError(coded(f"X has {n} items and Y {size(Y)}: they must come in pairs.", "M111"))
    if n < 4:
        raise ValueError(coded(f"{n} pairs are too few to see dependence: at least 4 are needed.", "M310"))
    kernels = kernels_of(kernel_x, X), kernels_of(kernel_y, Y)
    count = check_permutations(n_permutations)
    rng = drawn_from(random_state)
    if statistic == "block":
        if len(kernels[0]) * len(kernels[1]) > 1:
            raise ValueError(
                coded("statistic='block' is for one kernel of each side; aggregate with 'biased'.", "M217")
            )
        return _blocks(kernels[0][0], kernels[1][0], X, Y, max(4, round(n**0.5)), count, rng, compute)
    orders = _orders(n, count, rng)
    # several pairs of kernels: each matrix once, where they fit together
    several = (
        len(kernels[0]) * len(kernels[1]) > 1
        and 8 * n * n * (len(kernels[0]) + len(kernels[1])) <= (compute or Compute()).budget // 2
    )
    keep = partial(held, use=Use.VALUES) if several else (lambda gram: gram)
    grams = (
        [keep(k.gram(X, compute=compute)) for k in kernels[0]],
        [keep(k.gram(Y, compute=compute)) for k in kernels[1]],
    )
    return aggregated(_NAME, np.stack([_statistics(K, L, orders) for K, L in product(*grams)]))


def _statistics(K: Gram, L: Gram, orders: Array) -> Array:
    """HSIC with the items of L in each of the orders."""
    n = K.shape[0]
    fits = 2 * 8 * n * n <= K.compute.budget // 2
    of_K, of_L = K.features(at_most=np.inf), L.features(at_most=np.inf)
    few = of_K is not None and of_L is not None and 4 * of_K.width * of_L.width <= n
    if few or not fits:
        Phi, Psi = _features(K), _features(L)
        Phi = Phi - Phi.mean(axis=0)
        return np.array([float(np.sum((Phi.T @ Psi[order]) ** 2)) for order in orders]) / n**2
    A, B = (np.asarray(arrays.to_numpy(G.fresh(np.float64))) for G in (K, L))
    centred(A)
    loop, strips = compiling.compiled(_permuted_loop), _strips(n)
    out = np.empty((len(orders), len(strips)))

    def task(which: tuple[int, int]) -> None:
        order, strip = which
        out[which] = loop(A, B, orders[order], strips[strip].start, strips[strip].stop)

    threads.run_tasks(task, list(product(range(len(orders)), range(len(strips)))), K.compute.workers)
    return out.sum(axis=1) / n**2


def _strips(n: int) -> list[slice]:
    """Rows of a lower triangle, some ``_STEPS`` entries at a time: what a call takes, for which Ctrl-C waits."""
    cuts = np.unique(np.sqrt(np.linspace(0, n**2, -(-(n**2) // _STEPS) + 1)).astype(int))
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]


def _permuted_loop(A, B, order, start, stop):  # type: ignore[no-untyped-def]
    """Σ_ij A_ij B_{π(i)π(j)} for symmetric A and B, over the rows of a strip and what mirrors them."""
    total = 0.0
    for i in range(start, stop):
        a, row = A[i], B[order[i]]
        s = 0.0
        for j in range(i):
            s += a[j] * row[order[j]]
        total += 2.0 * s + a[i] * row[order[i]]
    return total


def _features(gram: Gram) -> Array:
    found = gram.features(at_most=np.inf)
    return incomplete_cholesky(gram, _RANK).factor if found is None else found.array()


def _blocks(
    kernel_x: Kernel,
    kernel_y: Kernel,
    X: Samples,
    Y: Samples,
    length: int,
    count: int,
    rng: RandomNumbers,
    compute: Compute | None,
) -> Outcome:
    """The mean over blocks, against the same with the items of Y in each block in another order."""
    rows = chunks(size(X) // length * length, length)
    total = np.zeros(count + 1)
    for some in rows:
        total += _of_block((kernel_x, kernel_y), take(X, some), take(Y, some), (length, count, rng, compute))
    return aggregated(_NAME, total[None] / len(rows), f"{len(rows)} blocks of {length}")


def _of_block(
    kernels: tuple[Kernel, Kernel], X: Samples, Y: Samples, how: tuple[int, int, RandomNumbers, Compute | None]
) -> Array:
    """HSIC of some pairs, in their order and with those of Y in ``count`` others."""
    length, count, rng, compute = how
    K, L = kernels[0].gram(X, compute=compute), kernels[1].gram(Y, compute=compute)
    return _statistics(K, L, _orders(length, count, rng))


def _spread(
    X: Samples, Y: Samples, kernels: tuple[Any, Any], n_permutations: int, statistic: str,
    random_state: RandomState, compute: Compute | None,
) -> Outcome:  # fmt: skip
    """``_blocks`` of Dask collections whose blocks have the same sizes."""
    if statistic != "block":
        raise ValueError(
            coded(f"statistic={statistic!r} needs all samples in one place; of Dask collections give 'block'.", "M205")
        )
    pair = SpreadPair(X, Y, kernels, compute, paired=True)
    bound = [kernels_of(kernel, few) for kernel, few in zip(kernels, pair.some, strict=True)]
    if len(bound[0]) * len(bound[1]) > 1:
        raise ValueError(coded("statistic='block' is for one kernel of each side; aggregate with 'biased'.", "M217"))
    length, count = max(4, round(pair.sizes[0] ** 0.5)), check_permutations(n_permutations)
    found, number = pair.mean(_of_block, (bound[0][0], bound[1][0]), length, count, random_state)
    return aggregated(_NAME, found[None], f"{number} blocks of {length}")


def _orders(n: int, count: int, rng: RandomNumbers) -> Array:
    """That of the data, then those of permutations."""
    return np.stack([np.arange(n), *(rng.permutation(n) for _ in range(count))]).astype(np.int32)
