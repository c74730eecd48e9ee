"""Arrays, devices, threads: what runs a formula, and where.

The elementary functions that kernel formulas are written in (``exp``, ``where``, …), and the pairwise reductions they start from
(``dot``, ``sqdist``, ``fold``), live here. Each works on NumPy arrays, on torch tensors, and on any object that implements
``__formula__(name, args)``: the engine's symbols, which record the formula instead of computing it.
"""

from __future__ import annotations

import hashlib
import linecache
import math
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mercer.threads import abandonable, default_workers, in_worker
from mercer.watch import Stopped

# A NumPy array, a torch tensor, or a scalar of either: their common part has no static type.
Array = Any

# ---------------------------------------------------------------------------------------------------------------------
# Compute: where, how precisely, in how much memory
# ---------------------------------------------------------------------------------------------------------------------

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Where and within what bounds to compute; ``None`` follows the data.

    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``. None: where the data is.
    dtype
        ``"float32"`` or ``"float64"``; ``"tf32"`` is float32 with three-digit inner products on a GPU that has them.
        None: float32 data stays float32, everything else is float64.
    memory
        The most that one operation may allocate (result and workspace, not your data): bytes, or ``"2GB"``.
        None: half of the physical memory of the machine (or of its container).
    threads
        None: the cores this process may use, or ``OMP_NUM_THREADS`` when that is smaller. Results do not depend on it.
    client
        A Dask client; reserved for distributed computation.
    """

    device: str | None = None
    dtype: str | None = None
    memory: int | str | None = None
    threads: int | None = None
    client: Any = None

    def __post_init__(self) -> None:
        if self.dtype not in (None, "tf32") and str(np.dtype(self.dtype)) not in ("float32", "float64"):
            raise ValueError(f"Compute(dtype={self.dtype!r}): kernels are computed in 'float32' or 'float64' ('tf32' on a GPU).")
        if self.threads is not None and (not isinstance(self.threads, int) or self.threads < 1):
            raise ValueError(f"Compute(threads={self.threads!r}): give a whole number of at least 1, or None for all cores.")
        if self.client is not None:
            raise NotImplementedError("Compute(client=…): distributed computation is not part of this release; leave it None.")
        if self.budget <= 0:
            raise ValueError(f"Compute(memory={self.memory!r}): the budget must be positive.")

    @property
    def budget(self) -> int:
        """The memory budget in bytes."""
        if self.memory is None:
            return physical_memory() // 2
        if isinstance(self.memory, str):
            return _bytes(self.memory)
        return int(self.memory)

    @property
    def workers(self) -> int:
        """The number of threads that work."""
        return self.threads or default_workers()


def _bytes(text: str) -> int:
    digits = text.strip().upper().rstrip("BIKMGT").strip()
    unit = text.strip().upper()[len(digits) :].strip() or "B"
    try:
        return int(float(digits) * _UNITS[unit])
    except (ValueError, KeyError):
        raise ValueError(f"memory={text!r} is not a size: write bytes as a number, or '500MB', '2GB', '1.5GiB'.") from None


@cache
def physical_memory() -> int:
    """Bytes of memory this process may hope for: the machine's, or its container's limit when that is smaller."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no sysconf on Windows: be modest
        total = 8 * 2**30
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            total = min(total, int(limit.read()))
    except (OSError, ValueError):
        pass
    return total


def human(size: float) -> str:
    """A number of bytes as people say it: 1.6 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


# ---------------------------------------------------------------------------------------------------------------------
# Memory that is used again
# ---------------------------------------------------------------------------------------------------------------------

_kept_workspace = threading.local()
_WORKSPACE_SHARE = 64  # of the machine's memory, one part of so many is kept
_WORKSPACE_OF_HELPER = 128 * 2**20


def workspace(count: int, dtype: Any) -> Array:
    """An aligned array of ``count`` values, of memory that this thread has used before if some was put aside with ``put_aside``.

    Memory the process has never touched costs more than the kernel values written to it. Who takes it has it alone, also where a callback
    starts the same work again.
    """
    size = count * np.dtype(dtype).itemsize
    kept = _kept_workspace.__dict__.pop("bytes", None)
    if kept is None or kept.size < size:
        kept = empty((size,), np.uint8)
    return kept[:size].view(dtype)


def put_aside(room: Array) -> None:
    """Keep a workspace of up to a 64th of the machine's memory for this thread's next; threads of a pool, which are many, keep less."""
    if room.nbytes <= (_WORKSPACE_OF_HELPER if in_worker() else physical_memory() // _WORKSPACE_SHARE):
        _kept_workspace.bytes = room.view(np.uint8)


def jit(function: Callable[..., Any], *, cached: bool = True) -> Any:
    """``numba.njit`` that releases the GIL and caches on disk, or works without a cache where no folder can be written."""
    import numba

    # fused multiply-add, and nothing that changes the order of sums or hides NaN; no door for callers in C, which would be compiled too
    options = {"nogil": True, "fastmath": {"contract"}, "no_cfunc_wrapper": True}
    try:
        dispatcher = numba.njit(cache=cached, **options)(function)
    except RuntimeError:  # "cannot cache function": a read-only installation and no writable home
        dispatcher = numba.njit(**options)(function)
    _dispatchers.append(dispatcher)
    return _compiling_aside(dispatcher)


_dispatchers: list[Any] = []  # all that ``jit`` has made: they know what they compiled, and where it is kept


def compilations() -> int:
    """How many functions this process has compiled, each once for each combination of types; not those that it found in the cache."""
    return sum(sum(each.stats.cache_misses.values()) for each in _dispatchers)


def cache_folders() -> tuple[Path, ...]:
    """The folders that hold the compiled code of functions called so far."""
    return tuple(sorted({Path(each.stats.cache_path) for each in _dispatchers if each.signatures and each.stats.cache_path is not None}))


def _compiling_aside(dispatcher: Any) -> Any:
    """The same, compiled on a thread of its own when it meets new types: seconds, in which Ctrl-C is heard and LLVM cannot swallow it."""
    compile_for = dispatcher._compile_for_args  # asked for by name whenever there is no compiled version for the arguments' types
    dispatcher._compile_for_args = lambda *args, **options: abandonable(lambda: compile_for(*args, **options), "compiling")
    return dispatcher


@cache
def compiled(loop: Callable[..., Any]) -> Any:
    """``jit`` of a plain function when it is first called for: importing its module does not import Numba."""
    return jit(loop)


def jit_source(name: str, source: str, *example: Any) -> Any:
    """``jit`` of the function ``name`` defined by a text, compiled for ``example``'s types.

    The text is kept in the user's cache so that Numba can keep what it compiles; a cache that cannot be read back is passed over.
    """
    module = module_from_source(name, source)
    function = jit(getattr(module, name))
    try:
        function(*example)
    except Stopped:
        raise
    except Exception:  # whatever unpickling a damaged cache raises
        function = jit(getattr(module, name), cached=False)
        function(*example)
    return function


def module_from_source(name: str, source: str) -> ModuleType:
    """A module made of a text, which is kept as a file: Numba and Triton ask for the file of what they compile."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:24]
    module = ModuleType(f"mercer_generated_{name}_{digest}")
    sys.modules[module.__name__] = module  # Numba looks the function's module up by name when it loads what it compiled earlier
    path = cache_folder() / f"{name}_{digest}.py"
    try:
        if not path.exists() or path.read_text() != source:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
            draft.write_text(source)
            draft.replace(path)  # whole or not at all, whoever else is writing it
    except OSError:
        path = Path("<mercer>")  # nowhere to write: Numba will say so, and jit then compiles for this process only
    # the text is given to whoever asks for the source of its functions, file or no file
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def cache_folder() -> Path:
    """Where generated code is kept: one folder per version of Mercer and of Numba, since either changes what is generated."""
    import numba

    import mercer

    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mercer" / f"{mercer.__version__}-numba{numba.__version__}"


def cache_places() -> list[tuple[Path, str]]:
    """Folders that must be writable for compiled code to be kept, each with the variable that sets another."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    variable = "LOCALAPPDATA" if os.environ.get("LOCALAPPDATA") else "XDG_CACHE_HOME"
    return [*([(Path(chosen), "NUMBA_CACHE_DIR")] if chosen else []), (cache_folder(), variable)]


# ---------------------------------------------------------------------------------------------------------------------
# Namespaces and devices: the only place, with engine/gpu, that knows torch
# ---------------------------------------------------------------------------------------------------------------------


def is_tensor(x: Any) -> bool:
    """Whether x is a torch tensor, without importing torch to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def namespace(*arrays: Any) -> Any:
    """The module whose functions fit these arrays: torch if one of them is a tensor, else NumPy."""
    return sys.modules["torch"] if any(is_tensor(x) for x in arrays) else np


def to_device(x: Any, device: str | None, dtype: Any = None) -> Any:
    """x as an array of the computation: NumPy where ``device`` is None (a tensor stays one), else a tensor there.

    ``dtype`` is for floating-point data; whole numbers stay whole.
    """
    if device is not None and not is_tensor(x):
        x = _torch().from_numpy(np.ascontiguousarray(x))
    if is_tensor(x):
        return x.to(device=device or x.device, dtype=_torch_dtype(dtype) if dtype is not None and x.is_floating_point() else x.dtype)
    return x.astype(dtype, copy=False) if dtype is not None and x.dtype.kind == "f" else x


def like(x: Any, other: Any) -> Any:
    """x in the library and on the device of ``other``."""
    return to_device(x, str(other.device)) if is_tensor(other) else to_numpy(x)


def to_numpy(x: Any) -> Any:
    """x as a NumPy array, copied from a device if it lives there."""
    return x.detach().cpu().numpy() if is_tensor(x) else np.asarray(x)


def numpy_dtype(x: Any) -> np.dtype[Any]:
    """The dtype of an array, sparse matrix or tensor in NumPy's terms."""
    return np.dtype(str(x.dtype).removeprefix("torch.")) if is_tensor(x) else np.dtype(x.dtype)


def empty(shape: tuple[int, ...], dtype: Any, beside: Any = None) -> Array:
    """An uninitialised array in the library and on the device of ``beside``."""
    if is_tensor(beside):
        return _torch().empty(shape, dtype=_torch_dtype(dtype), device=beside.device)
    count = math.prod(shape) * np.dtype(dtype).itemsize
    if count < 2**20:
        return np.empty(shape, dtype)
    raw = np.empty(count + 64, np.uint8)  # a large array starts at a cache line, so that whole registers can be streamed into it
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(dtype).reshape(shape)


def zeros(shape: tuple[int, ...], dtype: Any, beside: Any = None) -> Array:
    out = empty(shape, dtype, beside)
    out[...] = 0
    return out


def astype(x: Array, dtype: Any) -> Array:
    return x.to(_torch_dtype(dtype)) if is_tensor(x) else x.astype(dtype, copy=False)


def all_finite(x: Array) -> bool:
    """Whether no entry is NaN or infinite: the extremes show it, in two quick passes and no temporary array."""
    if 0 in x.shape:
        return True
    return math.isfinite(float(x.min())) and math.isfinite(float(x.max()))


def device_name() -> str:
    """The accelerator torch sees, if torch is installed and sees one."""
    try:
        import torch
    except ImportError:
        return "cpu (torch not installed)"
    return str(torch.cuda.get_device_name(0)) if torch.cuda.is_available() else "cpu"


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ImportError("A device other than the CPU needs PyTorch: pip install 'mercer[gpu]'.") from None
    return torch


def _torch_dtype(dtype: Any) -> Any:
    return getattr(_torch(), str(np.dtype(dtype)))


# ---------------------------------------------------------------------------------------------------------------------
# The functions that formulas are written in
# ---------------------------------------------------------------------------------------------------------------------

_NAMES_IN_TORCH = {"absolute": "abs", "arccos": "acos", "arcsin": "asin", "arctan": "atan"}


def _call(name: str, *args: Any) -> Any:
    for x in args:
        record = getattr(x, "__formula__", None)
        if record is not None:
            return record(name, args)
    xp = namespace(*args)
    if xp is np:
        return getattr(np, name)(*args)
    tensor = next(x for x in args if is_tensor(x))
    args = tuple(x if is_tensor(x) else xp.as_tensor(x, dtype=tensor.dtype, device=tensor.device) for x in args)
    return getattr(xp, _NAMES_IN_TORCH.get(name, name))(*args)


def exp(x: Any) -> Any:
    return _call("exp", x)


def log(x: Any) -> Any:
    return _call("log", x)


def sqrt(x: Any) -> Any:
    return _call("sqrt", x)


def expm1(x: Any) -> Any:
    """exp(x) − 1, with all digits near 0."""
    return _call("expm1", x)


def log1p(x: Any) -> Any:
    """log(1 + x), with all digits near 0."""
    return _call("log1p", x)


def sin(x: Any) -> Any:
    return _call("sin", x)


def cos(x: Any) -> Any:
    return _call("cos", x)


def tan(x: Any) -> Any:
    return _call("tan", x)


def arcsin(x: Any) -> Any:
    return _call("arcsin", x)


def arccos(x: Any) -> Any:
    return _call("arccos", x)


def arctan(x: Any) -> Any:
    return _call("arctan", x)


def sinh(x: Any) -> Any:
    return _call("sinh", x)


def cosh(x: Any) -> Any:
    return _call("cosh", x)


def tanh(x: Any) -> Any:
    return _call("tanh", x)


def square(x: Any) -> Any:
    return x * x


def power(x: Any, exponent: Any) -> Any:
    """x^exponent; whole exponents are a few multiplications."""
    return x**exponent


def absolute(x: Any) -> Any:
    return _call("absolute", x)


def minimum(x: Any, z: Any) -> Any:
    return _call("minimum", x, z)


def maximum(x: Any, z: Any) -> Any:
    return _call("maximum", x, z)


def equal(x: Any, z: Any) -> Any:
    return _call("equal", x, z)


def greater(x: Any, z: Any) -> Any:
    return _call("greater", x, z)


def where(condition: Any, x: Any, z: Any) -> Any:
    """x where the condition holds, else z; both are evaluated everywhere."""
    record = next((r for a in (condition, x, z) if (r := getattr(a, "__formula__", None)) is not None), None)
    if record is not None:
        return record("where", (condition, x, z))
    return namespace(condition, x, z).where(condition, x, z)


def pointwise(function: Callable[..., Any], *args: Any, derivative: Callable[..., Any] | None = None) -> Any:
    """function(*args), where a function that cannot be recorded is applied to each tile as it is.

    ``derivative`` is that of a function of one argument; without it such a formula has values but no gradient.
    """
    record = next((r for a in args if (r := getattr(a, "__formula__", None)) is not None), None)
    if record is None:
        return function(*args)
    try:
        return function(*args)
    except TypeError:  # NumPy or SciPy met a symbol
        return record("apply", (_of_numbers(function), args, derivative))


def recorded(function: Callable[..., Any], *items: Any) -> Any:
    """function(A, B) or function(A) as a part of a formula: what cannot be recorded is computed on the items themselves."""
    try:
        return function(*items)
    except TypeError:
        symbol = _first(items[0])
        if not hasattr(symbol, "__formula__"):
            raise
        return symbol.__formula__("opaque", (_of_numbers(function), items))


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method of the kernel with numbers for its parameters, where it stands in a derivative with symbols for them."""
    numbers = getattr(getattr(function, "__self__", None), "_with_numbers", None)
    named: Callable[..., Any] = function if numbers is None else getattr(numbers, function.__name__)
    return named


# Between two sets of prepared items. They exist only as symbols: the engine alone computes them, tile by tile.


def dot(A: Any, B: Any) -> Any:
    """⟨a, b⟩ for all pairs."""
    return _reduce("dot", A, B)


def sqdist(A: Any, B: Any, length_scale: Any = None) -> Any:
    """Σ_j (a_j − b_j)²/ℓ_j² for all pairs, accurate for nearly equal points too; ``length_scale`` None, a number or one per column."""
    return _reduce("sqdist", A, B, length_scale)


def fold(step: Callable[..., tuple[Any, ...]], start: Sequence[float], A: Any, B: Any) -> Any:
    """state ← step(state, a_j, b_j) over the columns j, from ``start``; the last component of the final state, for all pairs."""
    return _reduce("fold", A, B, (step, tuple(start)))


def _reduce(name: str, A: Any, B: Any, extra: Any = None) -> Any:
    return _record(name, A)(name, (A, B, extra))


# For every item of one set.


def sqnorm(A: Any) -> Any:
    """‖a‖² for every item."""
    return _record("sqnorm", A)("sqnorm", (A,))


def fold_self(step: Callable[..., tuple[Any, ...]], start: Sequence[float], A: Any) -> Any:
    """``fold`` of every item with itself."""
    return _record("fold_self", A)("fold_self", (A, (step, tuple(start))))


def mean_embedding(block: Callable[[Any, Any], Any], A: Any, reference: Any, weights: Any) -> Any:
    """Σ_j w_j block(a, r_j) for every item a, over the items r_j of a reference representation."""
    return _record("mean", A)("mean", (block, A, reference, weights))


def mean_of_embedding(block: Callable[[Any, Any], Any], A: Any, reference: Any, weights: Any, known: float) -> Any:
    """Σ_ij w_i w_j block(r_i, r_j): the number ``known``, with what it is made of kept so that it can be differentiated."""
    return _record("grand_mean", A)("grand_mean", (block, reference, weights, known))


def _first(A: Any) -> Any:
    while isinstance(A, tuple):
        A = A[0]
    return A


def _record(name: str, A: Any) -> Callable[[str, tuple[Any, ...]], Any]:
    record = getattr(_first(A), "__formula__", None)
    if record is None:
        raise TypeError(f"{name}(…) is part of a kernel's formula; call the kernel itself, k(X, Y), to get numbers.")
    return record  # type: ignore[no-any-return]
