"""Images as sets of patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.representations import listed
from mercer.data.tables import DataError


def patches(images: Samples, size: int, stride: int = 1) -> list[Array]:
    """The square patches of each image, one in each row: a set of vectors, as ``MeanEmbedding`` compares.

    Parameters
    ----------
    images : array-like of shape (n, height, width) or (n, height, width, channels), or list of images
        Images in a list may be of different sizes.
    size : int
        How many pixels a patch is high and wide.
    stride : int, default=1
        How many pixels from one patch to the next. Pixels at the right and lower edge that fill no patch are left out.

    Returns
    -------
    list of ndarray of shape (n_patches, size · size · channels)
        The patches of each image, row by row.

    See Also
    --------
    MeanEmbedding : With ``MeanEmbedding().patches(size)``, a kernel between images by their patches.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> found = mc.patches(np.arange(12.0).reshape(1, 3, 4), size=2, stride=2)
    >>> found[0]
    array([[0., 1., 4., 5.],
           [2., 3., 6., 7.]])
    """
    check_patches(size, stride)
    return [_of_one(i, image, size, stride) for i, image in enumerate(listed(images))]


def check_patches(size: Any, stride: Any) -> None:
    """Raise ValueError unless both are whole numbers of pixels."""
    for name, value in (("size", size), ("stride", stride)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"patches({name}={value!r}): {name} must be a whole number of pixels, at least 1.")


def _of_one(i: int, image: Any, size: int, stride: int) -> Array:
    try:
        pixels = np.asarray(arrays.to_numpy(image) if arrays.is_tensor(image) else image)
        pixels = pixels if pixels.dtype == np.float32 else pixels.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"Image {i} is not an array of numbers, but a {type(image).__name__}.") from None
    if pixels.ndim not in (2, 3):
        raise DataError(
            f"Image {i} has shape {pixels.shape}; give height × width, or height × width × channels. Rows of pixels"
            " become images by X.reshape(-1, height, width)."
        )
    if min(pixels.shape[:2]) < size:
        raise DataError(
            f"Image {i} is {pixels.shape[0]} × {pixels.shape[1]}, smaller than a patch of {size} × {size}; take smaller"
            " patches, or fill it up."
        )
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (size, size), axis=(0, 1))[::stride, ::stride]
    return np.ascontiguousarray(windows.transpose(0, 1, 3, 4, 2)).reshape(-1, size * size * pixels.shape[2])
