"""Images as sets of patches."""

from __future__ import annotations

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.notices import lost
from mercer.data.representations import listed
from mercer.data.tables import DataError
from mercer.troubles import coded


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
    items = list(listed(images))
    found = [_of_one(i, image, size, stride) for i, image in enumerate(items)]
    _look_at_axes(items)
    return found


_MANY = 8  # channels, beyond which a few rows of them look as if axes were exchanged


def _look_at_axes(images: Samples) -> None:
    """Say so where all images look like channels × height × width."""
    shapes = [tuple(getattr(image, "shape", ())) for image in images]
    if shapes and all(len(shape) == 3 and shape[2] > _MANY and 4 * shape[0] < shape[2] for shape in shapes):
        height, width, channels = shapes[0]
        lost(
            "axes of images",
            f"Image 0 has shape {shapes[0]}, read as height × width × channels: {height} × {width} pixels of"
            f" {channels} channels. If images are channels × height × width, give {_CHANNELS_LAST}.",
        )


_CHANNELS_LAST = "np.moveaxis(image, 0, -1) of each, X.transpose(0, 2, 3, 1) of an array of them"


def check_patches(size: object, stride: object) -> None:
    """Raise ValueError unless both are whole numbers of pixels."""
    for name, value in (("size", size), ("stride", stride)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(
                coded(f"patches({name}={value!r}): {name} must be a whole number of pixels, at least 1.", "M205")
            )


def _of_one(i: int, image: object, size: int, stride: int) -> Array:
    try:
        pixels = np.asarray(arrays.to_numpy(image) if arrays.is_tensor(image) else image)
        pixels = pixels if pixels.dtype == np.float32 else pixels.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"Image {i} is not an array of numbers, but a {type(image).__name__}.", "M107") from None
    if pixels.ndim not in (2, 3):
        raise DataError(
            f"Image {i} has shape {pixels.shape}; give height × width, or height × width × channels. Rows of pixels"
            " become images by X.reshape(-1, height, width).",
            "M107",
        )
    if min(pixels.shape[:2]) < size:
        first = pixels.ndim == 3 and pixels.shape[0] < size <= min(pixels.shape[1:])
        raise DataError(
            f"Image {i} is {pixels.shape[0]} × {pixels.shape[1]}, smaller than a patch of {size} × {size}; take smaller"
            f" patches, or fill it up.{f' If its channels come first, give {_CHANNELS_LAST}.' if first else ''}",
            "M106",
        )
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (size, size), axis=(0, 1))[::stride, ::stride]
    return np.ascontiguousarray(windows.transpose(0, 1, 3, 4, 2)).reshape(-1, size * size * pixels.shape[2])
