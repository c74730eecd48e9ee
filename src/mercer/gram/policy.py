"""In which form a matrix is held while somebody works with it: what is stored, and in which precision, is decided here.

What each use is for, the rule, and what was measured. A matrix with features is held as it is: what is done with it
costs the features.

``Use.VALUES``
    All values more than once (k-means, tests of hypotheses): stored where half the budget holds them. Reading takes
    0.3–0.5 ns a value, computing 0.5 ns and more.
``Use.PRODUCTS``
    Products again and again (Krylov spaces): stored only where a value is costly; a cheap one is computed in registers
    as fast as it is read from memory.
``Use.COARSE_PRODUCTS``
    The same in float32, up to 512 MB and an eighth of the budget: half the memory to read.
``Use.SYSTEMS``
    Products and factors in float64 (Newton's method): stored up to 4096 rows, 128 MB, where a factor is made of it in
    any case; any number of rows where a value may cost anything.
``Use.AGAIN``
    Some values more than once, by whoever it is: stored only where they may cost anything, and four such matrices fit.
    What learns from such a matrix asks for that first, so that no pair is computed twice.
``Use.LOOK``
    The same for who looks at a part of it before (at eigenvalues): only up to 512 rows, where that is a good
    share; of more it is a few per cent.
``Use.ACTIVE``
    Blocks and rows as an active set asks for them: float32 values of a cheap kernel are computed when asked for, those
    of a costly one stored up to 16 384 rows, beyond that the rows in use are kept. Up to 512 rows all is stored: to
    look again costs less than to compute again. float64 values, which decide at the end, are computed anew, unless a
    value may cost anything.
``Use.ACTIVE_PARTS``
    The same for several problems on parts of one matrix: what is costly is computed once for all of them.
``Use.FOLDS``
    All values for the folds of a cross-validation, in float64, where five such matrices fit: this one, that of the best
    kernel so far, the part of a fold and what is done with it. Else as it is.
``Use.FOLD``
    All values of one fold, in float64 or as they are stored, where four such matrices fit.

A sum whose parts are kept apart (``SumGram``) stays one for AGAIN, FOLDS and FOLD, and is held as any other matrix for
all other uses: who asks for those has settled the weights. ``held_parts`` says how its parts are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto

import numpy as np

from mercer import arrays
from mercer.compute import release_workspace, workspace
from mercer.gram.computed import KernelGram
from mercer.gram.contract import Cost, Gram
from mercer.gram.factored import FactoredGram
from mercer.gram.outline import Outline, Work
from mercer.gram.stored import DenseGram
from mercer.gram.summed import SumGram
from mercer.gram.wrapped import CachedGram, MixedGram

_SPREAD = 1e-2  # of the trace: a kernel of less variance loses digits of it in float32
_TINY = 512  # items whose matrix is stored in any case
_SMALL = 1024  # items whose matrix is stored as it is, in float64
# items up to which the block of an active set is the whole matrix, where a value is costly: then it need not be stored
# twice
_BLOCK = 12_000
_WHOLE = 16_384  # items up to which float32 values are stored all at once
_SYSTEMS = 4096  # rows
_COARSE = 2**29  # bytes
_BORROWED = 2048  # items: 34 MB


class Use(Enum):
    """What a matrix is wanted for; the head of this file says how it is then held."""

    VALUES = auto()
    PRODUCTS = auto()
    COARSE_PRODUCTS = auto()
    SYSTEMS = auto()
    AGAIN = auto()
    LOOK = auto()
    ACTIVE = auto()
    ACTIVE_PARTS = auto()
    FOLDS = auto()
    FOLD = auto()


def held(gram: Gram, use: Use) -> Gram:
    """The same matrix in the form that pays."""
    if isinstance(gram, SumGram) and use in _APART:
        return gram.of_parts(held_parts(gram.parts))
    if use in (Use.ACTIVE, Use.ACTIVE_PARTS):
        gram = gram.compiled()
    wanted = form(gram, use)
    if use in (Use.FOLDS, Use.FOLD):
        return _on_host(gram) if wanted is Form.DOUBLE else gram
    return _MADE[wanted](gram)


def held_parts(parts: Sequence[Gram]) -> list[Gram]:
    """Many matrices whose weights in a sum are sought, all values again and again: those of up to 512 rows are stored
    as they are, of more rows where a value is costly, in float32 where what tells the samples apart is not lost in it
    (the variance is a part of the trace); as long as half the budget holds them.
    """
    left, out = parts[0].compute.budget // 2, []
    for part in (part.compiled() for part in parts):
        small = part.shape[0] <= _TINY
        need = part.shape[0] * part.shape[1] * (part.dtype.itemsize if small else 4)
        if _in_memory(part) or need > left or not (small or part.cost > Cost.CHEAP):
            out.append(part)
            continue
        K = part.dense()
        if not small and not arrays.is_tensor(K):
            trace = float(np.mean(np.diagonal(K)))
            K = K.astype(np.float32) if trace - float(K.mean()) > _SPREAD * trace and trace < 1e30 else K
        left -= part.shape[0] * part.shape[1] * K.itemsize
        out.append(DenseGram(K, part.compute))
    return out


@contextmanager
def borrowed(gram: Gram) -> Iterator[Gram]:
    """For many small problems on parts of one small matrix: its float64 values in memory that is kept from call to
    call, where they are only computed so far.
    """
    if not (gram.mixed and gram.recomputable) or gram.shape[0] > _BORROWED:
        yield gram
        return
    buffer = workspace(gram.shape[0] ** 2, np.float64)
    try:
        yield DenseGram(gram.astype(np.float64).dense(out=buffer.reshape(gram.shape)), gram.compute)
    finally:
        release_workspace(buffer)


def _fits(gram: Gram, copies: float, itemsize: int | None = None) -> bool:
    """Whether so many copies are within the budget."""
    return copies * gram.shape[0] * gram.shape[1] * (itemsize or gram.dtype.itemsize) <= gram.compute.budget


def _like(gram: Gram) -> Gram:
    """A matrix that is of the same kind: of an outline, its sample."""
    return gram.sample.gram if isinstance(gram, Outline) else gram


def _in_memory(gram: Gram) -> bool:
    return gram.stored or isinstance(_like(gram), FactoredGram) or gram.landmarks() is not None


class Form(Enum):
    """How a matrix is held."""

    AS_IS = auto()
    DENSE = auto()  # all values, in the precision of the matrix
    DOUBLE = auto()  # all values in float64
    SINGLE = auto()  # float32 values when asked for
    SINGLE_DENSE = auto()  # all values in float32
    MIXED = auto()  # values in either precision when asked for
    MIXED_DENSE = auto()  # float32 values stored, float64 ones when asked for
    MIXED_CACHED = auto()  # float32 rows kept as they are used
    CACHED = auto()  # rows kept as they are used

    def memory(self, gram: Gram) -> float:
        """Bytes of what is stored at once."""
        sizes = {Form.DENSE: gram.dtype.itemsize, Form.DOUBLE: 8, Form.SINGLE_DENSE: 4, Form.MIXED_DENSE: 4}
        return float(gram.shape[0] * gram.shape[1] * sizes.get(self, 0))


def form(gram: Gram, use: Use) -> Form:
    """How ``held`` will hold a matrix, or one that there is but an outline of."""
    return _RULES[use](gram)


def outlined(outline: Outline, use: Use) -> tuple[Outline, Work]:
    """The outline of what ``held`` makes, and the work of making it."""
    wanted = form(outline, use)
    size = wanted.memory(outline)
    dtype = {Form.DOUBLE: np.float64, Form.SINGLE_DENSE: np.float32, Form.MIXED_DENSE: np.float32}.get(wanted)
    if not size or (outline.stored and wanted is Form.DENSE):
        return outline, Work()
    return outline.in_memory(dtype), Work(size, outline.storing(dtype))


def _dense_unless_there(gram: Gram) -> Form:
    return Form.AS_IS if _in_memory(gram) else Form.DENSE


def _values(gram: Gram) -> Form:
    return _dense_unless_there(gram) if _fits(gram, 2) else Form.AS_IS


def _products(gram: Gram) -> Form:
    return _values(gram) if gram.cost > Cost.CHEAP else Form.AS_IS


def _coarse_products(gram: Gram) -> Form:
    return Form.SINGLE_DENSE if 4 * gram.shape[0] ** 2 <= _COARSE and _fits(gram, 8, 4) else Form.SINGLE


def _systems(gram: Gram) -> Form:
    wanted = gram.shape[0] <= _SYSTEMS or gram.cost is Cost.ANY
    return Form.DOUBLE if wanted and not _in_memory(gram) and _fits(gram, 4, 8) else Form.AS_IS


def _again(gram: Gram) -> Form:
    return _dense_unless_there(gram) if gram.cost is Cost.ANY and _fits(gram, 4) else Form.AS_IS


def _active(gram: Gram) -> Form:
    if gram.cost is Cost.CHEAP and gram.shape[0] > _TINY:
        return Form.MIXED if isinstance(_like(gram), KernelGram) and gram.landmarks() is None else Form.AS_IS
    if gram.cost is not Cost.ANY and gram.shape[0] > _SMALL:
        alone = _fits(gram, 4, 4) and gram.shape[0] <= _BLOCK
        return Form.MIXED if alone else _single_stored(gram)
    return Form.DENSE if _fits(gram, 4) else Form.CACHED


def _active_parts(gram: Gram) -> Form:
    if gram.cost is not Cost.COSTLY or gram.shape[0] <= _SMALL:
        return _active(gram)
    return _single_stored(gram) if gram.shape[0] <= _WHOLE else Form.AS_IS


def _single_stored(gram: Gram) -> Form:
    """float32 values in memory, all at once or rows as they are asked for; nothing where fresh memory would cost more
    than the inner products.
    """
    if gram.shape[0] <= _WHOLE and _fits(gram, 4, 4):
        return Form.MIXED_DENSE
    like = _like(gram)
    return Form.MIXED if isinstance(like, KernelGram) and like.astype(np.float32).wide else Form.MIXED_CACHED


def _folds(gram: Gram) -> Form:
    return Form.DOUBLE if _fits(gram, 5, 8) else Form.AS_IS


def _fold(gram: Gram) -> Form:
    return Form.DOUBLE if gram.stored or _fits(gram, 4, 8) else Form.AS_IS


def _look(gram: Gram) -> Form:
    return _again(gram) if gram.shape[0] <= _TINY else Form.AS_IS


def _on_host(gram: Gram) -> Gram:
    """All values, in float64 unless they are stored otherwise."""
    known = gram if gram.stored else gram.astype(np.float64)
    return DenseGram(np.asarray(arrays.to_numpy(known.dense())), gram.compute)


def _stored(gram: Gram) -> Gram:
    return DenseGram(gram.dense(), gram.compute)


_MADE: dict[Form, Callable[[Gram], Gram]] = {
    Form.AS_IS: lambda gram: gram,
    Form.DENSE: _stored,
    Form.DOUBLE: lambda gram: _stored(gram.astype(np.float64)),
    Form.SINGLE: lambda gram: gram.astype(np.float32),
    Form.SINGLE_DENSE: lambda gram: _stored(gram.astype(np.float32)),
    Form.MIXED: lambda gram: MixedGram(gram, gram.astype(np.float32)),
    Form.MIXED_DENSE: lambda gram: MixedGram(gram, _stored(gram.astype(np.float32))),
    Form.MIXED_CACHED: lambda gram: MixedGram(gram, CachedGram(gram.astype(np.float32))),
    Form.CACHED: CachedGram,
}
_RULES = {
    Use.VALUES: _values,
    Use.PRODUCTS: _products,
    Use.COARSE_PRODUCTS: _coarse_products,
    Use.SYSTEMS: _systems,
    Use.AGAIN: _again,
    Use.LOOK: _look,
    Use.ACTIVE: _active,
    Use.ACTIVE_PARTS: _active_parts,
    Use.FOLDS: _folds,
    Use.FOLD: _fold,
}
_APART = (Use.AGAIN, Use.LOOK, Use.FOLDS, Use.FOLD)  # for whoever may ask for the parts of a sum later
