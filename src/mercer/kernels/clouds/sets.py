"""What kernels between sets of vectors have in common."""

from __future__ import annotations

from typing import ClassVar

from mercer.data import Domain
from mercer.data.clouds import PointSets
from mercer.kernels.base import Kernel


class BetweenSets(Kernel):
    """A kernel between sets of vectors, and so between images as sets of patches."""

    domain: ClassVar[Domain] = PointSets()

    def patches(self, size: int, stride: int = 1) -> Kernel:
        """k of images, each the set of its square patches.

        Parameters
        ----------
        size : int
            How many pixels a patch is high and wide.
        stride : int, default=1
            How many pixels from one patch to the next.

        Returns
        -------
        Kernel
            Of images: an array of (n, height, width) or (n, height, width, channels), or a list of images.

        See Also
        --------
        mercer.patches : The patches themselves.
        """
        from mercer.kernels.clouds.images import Patches

        return Patches(self, size, stride)
