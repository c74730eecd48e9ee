"""NumPy arrays and torch tensors alike: the only place, with ``engine.gpu``, that knows torch."""

from __future__ import annotations

import math
import sys
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import DTypeLike

from mercer.troubles import coded

# A NumPy array; or a torch tensor, of which only what both have is then used.
Array = np.ndarray[Any, Any]
Tensor = Any  # a torch tensor, without importing torch


def is_tensor(x: object) -> TypeGuard[Tensor]:
    """Whether x is a torch tensor, without importing torch to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def namespace(*arrays: object) -> Any:
    """The module whose functions fit these arrays: torch if one of them is a tensor, else NumPy."""
    return sys.modules["torch"] if any(is_tensor(x) for x in arrays) else np


def squared_rows(x: Any) -> Array:
    """Σ_j x_ij² of a SciPy sparse matrix: where no place stands twice, in memory of its values alone."""
    if x.format == "csr" and x.has_canonical_format:
        x = type(x)((x.data**2, x.indices, x.indptr), shape=x.shape)
    else:
        x = x.multiply(x)
    return np.asarray(x.sum(axis=1)).reshape(-1)


def is_recorded(x: object) -> bool:
    """Whether x is an array that is not there yet: what is done with it is written down (``engine.recorded``)."""
    return getattr(x, "recorded", None) is True


def to_device(x: Any, device: str | None, dtype: DTypeLike | None = None) -> Any:
    """x as an array of the computation: NumPy where ``device`` is None (a tensor stays one), else a tensor there.

    ``dtype`` is for floating-point data; whole numbers stay whole.
    """
    if device is not None and not is_tensor(x):
        x = _torch().from_numpy(np.ascontiguousarray(x))
    if is_tensor(x):
        return x.to(
            device=device or x.device,
            dtype=_torch_dtype(dtype) if dtype is not None and x.is_floating_point() else x.dtype,
        )
    return x.astype(dtype, copy=False) if dtype is not None and x.dtype.kind == "f" else x


def like(x: Any, other: object) -> Any:
    """x in the library and on the device of ``other``."""
    return to_device(x, str(other.device)) if is_tensor(other) else to_numpy(x)


def to_numpy(x: object) -> Any:
    """x as a NumPy array, copied from a device if it lives there."""
    return x.detach().cpu().numpy() if is_tensor(x) else np.asarray(x)


def numpy_dtype(x: Any) -> np.dtype[Any]:
    """The dtype of an array, sparse matrix or tensor in NumPy's terms."""
    return np.dtype(str(x.dtype).removeprefix("torch.")) if is_tensor(x) else np.dtype(x.dtype)


def empty(shape: tuple[int, ...], dtype: DTypeLike, beside: object = None) -> Array:
    """An uninitialised array in the library and on the device of ``beside``."""
    if is_tensor(beside):
        return _torch().empty(shape, dtype=_torch_dtype(dtype), device=beside.device)
    count = math.prod(shape) * np.dtype(dtype).itemsize
    if count < 2**20:
        return np.empty(shape, dtype)
    # a large array starts at a cache line, so that whole registers can be streamed into it
    raw = np.empty(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(dtype).reshape(shape)


def zeros(shape: tuple[int, ...], dtype: DTypeLike, beside: object = None) -> Array:
    out = empty(shape, dtype, beside)
    out[...] = 0
    return out


def astype(x: Tensor, dtype: DTypeLike) -> Array:
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
        raise ImportError(
            coded("A device other than the CPU needs PyTorch: pip install 'mercer[gpu]'.", "M402")
        ) from None
    return torch


def _torch_dtype(dtype: DTypeLike) -> Any:
    return getattr(_torch(), str(np.dtype(dtype)))
