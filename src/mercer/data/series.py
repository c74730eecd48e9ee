"""Series of numbers as one buffer of frames; what was not seen of them, and how it is filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.instants import numbers_of
from mercer.data.notices import lost
from mercer.data.objects import Domain
from mercer.data.representations import Ragged, Rep, offsets_of
from mercer.data.sequences import Sequences, items_of, not_missing, unpacked
from mercer.data.tables import DataError


@dataclass(frozen=True)
class Series(Domain):
    """Time series of different lengths: 1-D arrays, or 2-D arrays or data frames of time × channels; or sequences
    of symbols, as ``Sequences`` takes them, unless ``letters`` is False. With ``missing`` some values may be NaN. Dates
    and time stamps are seconds since 1970 (``instants``).

    The internal form is a ``Ragged`` of frames (float64, total length × channels), or of codes.
    """

    letters: bool = True
    missing: bool = False

    def check(self, X: Samples) -> Rep:
        found = X if isinstance(X, Ragged) else self._packed(X)
        if not self.letters and found.values.ndim == 1:
            if not len(found.values):
                return Ragged(np.empty((0, 1)), found.offsets)
            i = int(np.argmax(found.lengths > 0))
            raise DataError(f"Item {i} of the series is of letters; this kernel is for series of numbers.", "M107")
        if not self.missing and found.values.ndim == 2:
            _all_seen(found)
        return found

    def _packed(self, X: Samples) -> Ragged:
        _look_at_axes(X)
        items = items_of(X, "series")
        items = [unpacked(item) for item in items]
        for i, item in enumerate(items):
            not_missing(i, item, "series")
        kinds = {i: _symbolic(item) for i, item in enumerate(items) if not hasattr(item, "__len__") or len(item)}
        if any(map(_symbolic, items)):
            first, kind = next(iter(kinds.items()), (0, True))
            other = next((i for i, found in kinds.items() if found != kind), None)
            if other is not None:
                what = ("of letters", "of numbers") if kind else ("of numbers", "of letters")
                raise DataError(
                    f"Item {other} of the series is {what[1]}, item {first} {what[0]}; all must be of one kind.", "M107"
                )
            return Sequences().check(items)
        frames = [_frames(i, item) for i, item in enumerate(items)]
        widths = {f.shape[1] for f in frames if len(f)}
        if len(widths) > 1:
            first = next(i for i, f in enumerate(frames) if len(f))
            i = next(i for i, f in enumerate(frames) if len(f) and f.shape[1] != frames[first].shape[1])
            raise DataError(
                f"Item {i} of the series has {frames[i].shape[1]} channels, item {first} has {frames[first].shape[1]};"
                " all must have the same.",
                "M118",
            )
        width = widths.pop() if widths else 1
        frames = [f if len(f) else np.empty((0, width)) for f in frames]
        values = np.concatenate(frames) if frames else np.empty((0, width))
        packed = Ragged(values, offsets_of([len(f) for f in frames]))
        if np.isinf(values).any():
            i, t = _place(packed, np.isinf(values).any(axis=1))
            raise DataError(f"Item {i} of the series is not finite at time {t}; drop the frame or fill it.", "M101")
        return packed


_MANY = 8  # channels, beyond which a few frames of them look as if axes were exchanged


def _look_at_axes(X: Samples) -> None:
    """Say so where an array looks as archives have it, series × channels × time."""
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) != 3:
        return
    n, frames, channels = shape
    if n and 0 < frames < channels and (frames == 1 or (channels > _MANY and 4 * frames < channels)):
        lost(
            "axes",
            f"The array of shape {shape} is read as series × time × channels: {n} series of {frames}"
            f" frame{'s' * (frames > 1)} with {channels} channels each. If it is series × channels × time, as archives"
            " have it, give X.transpose(0, 2, 1).",
        )


def _symbolic(item: object) -> bool:
    if isinstance(item, str | bytes | bytearray) or hasattr(item, "seq"):
        return True
    if isinstance(item, np.ndarray):
        return item.dtype.kind in "US" or (item.dtype == object and item.size > 0 and isinstance(item.flat[0], str))
    return isinstance(item, list | tuple) and len(item) > 0 and isinstance(item[0], str)


def _frames(i: int, item: object) -> Any:
    item = arrays.to_numpy(item) if arrays.is_tensor(item) else item
    try:
        values = numbers_of(item)
    except DataError as error:  # of a data frame; it names the cell
        raise DataError(f"Item {i} of the series: {error}") from None
    except (TypeError, ValueError):
        raise DataError(f"Item {i} of the series is not an array of numbers, but {item!r:.60}.", "M107") from None
    if values.ndim not in (1, 2):
        raise DataError(f"Item {i} of the series has shape {values.shape}; give time, or time × channels.", "M107")
    return values[:, None] if values.ndim == 1 else values


def _all_seen(X: Ragged) -> None:
    """Raise where a value is missing."""
    if not np.isnan(X.values).any():
        return
    i, t = _place(X, np.isnan(X.values).any(axis=1))
    raise DataError(
        f"Item {i} of the series is not finite at time {t}; drop the frame or fill it: kernel.interpolated() takes the"
        " line between what was seen before and after.",
        "M101",
    )


def _place(X: Ragged, found: ArrayLike) -> tuple[int, int]:
    """The item and the time of the first frame that is marked."""
    k = int(np.argmax(found))
    i = int(np.searchsorted(X.offsets, k, side="right")) - 1
    return i, k - int(X.offsets[i])


def check_same_channels(first: int, second: int) -> None:
    """Raise where the series of X and those of Y have not as many channels."""
    if first != second:
        raise DataError(
            f"The series of X have {first} channels, those of Y have {second}; they must have the same.", "M104"
        )


# ---------------------------------------------------------------------------------------------------------------------
# What was not seen
# ---------------------------------------------------------------------------------------------------------------------


def interpolated(X: Ragged, times: int | None, *, drop: bool) -> Ragged:
    """Missing values on the line between what was seen before and after, at the ends the nearest; with ``drop`` frames
    of which nothing was seen are left out.
    """
    if not np.isnan(X.values).any():
        return X
    rows = []
    for t, frames, channels in _with_times(X, times):
        kept = ~np.isnan(channels).all(axis=1) if drop else np.ones(len(frames), bool)
        found = frames[kept]
        found[:, _compared(frames, times)] = _at(t[kept], t, channels)
        rows.append(found)
    return Ragged(np.concatenate(rows), offsets_of([len(row) for row in rows]))


def resampled(X: Ragged, count: int, times: int | None) -> Ragged:
    """The channels, without ``times``, at ``count`` times from the first to the last frame, evenly; on the line between
    what was seen.
    """
    if not X.lengths.all():
        raise DataError(
            f"Item {int(np.argmin(X.lengths))} of the series is empty, and cannot be resampled; drop it.", "M116"
        )
    rows = [_at(np.linspace(t[0], t[-1], count), t, channels) for t, _, channels in _with_times(X, times)]
    values = np.concatenate(rows) if rows else np.empty((0, X.values.shape[1] - (times is not None)))
    return Ragged(values, offsets_of([count] * len(rows)))


def times_of(X: Ragged, times: int | None) -> Array:
    """The time of each frame: its number in its series, or what it has in the channel ``times``, where it must go on
    from frame to frame.
    """
    if times is None:
        return np.asarray(np.arange(len(X.values)) - np.repeat(X.offsets[:-1], X.lengths), np.float64)
    width = X.values.shape[1] if X.values.ndim == 2 else 0
    if not (times < width and width > 1):
        raise DataError(
            f"times={times}: the series have {width} channels; there must be one of that number, and another to"
            " compare.",
            "M105",
        )
    t = X.values[:, times]
    if np.isnan(t).any():
        i, frame = _place(X, np.isnan(t))
        raise DataError(f"Item {i} of the series has no time (channel {times}) in frame {frame}.", "M101")
    back = np.append(np.diff(t) <= 0, False)[: len(t)]
    back[X.offsets[1:][X.lengths > 0] - 1] = False  # what comes next begins another series
    if back.any():
        i, frame = _place(X, back)
        raise DataError(
            f"Item {i} of the series does not go on in time (channel {times}) after frame {frame}; sort its frames,"
            " and keep one of each time.",
            "M117",
        )
    return np.array(t)


def _with_times(X: Ragged, times: int | None) -> Iterator[tuple[Array, Array, Array]]:
    """Of each series the times, the frames, and the channels that are not times; checked."""
    of_all = Ragged(times_of(X, times), X.offsets)
    for i, (t, frames) in enumerate(zip(of_all, X, strict=True)):
        channels = frames[:, _compared(frames, times)]
        unseen = np.isnan(channels).all(axis=0)
        if len(frames) and unseen.any():
            raise DataError(
                f"Item {i} of the series has no value at all in channel"
                f" {int(np.flatnonzero(_compared(frames, times))[np.argmax(unseen)])}; drop the series or the channel.",
                "M101",
            )
        yield t, frames, channels


def _compared(frames: Array, times: int | None) -> Array:
    return np.arange(frames.shape[1]) != (-1 if times is None else times)


def _at(wanted: Array, t: Array, channels: Array) -> Array:
    """Each channel at the times wanted, from the values that it has."""
    out = np.empty((len(wanted), channels.shape[1]))
    for c in range(channels.shape[1] if len(t) else 0):
        seen = ~np.isnan(channels[:, c])
        out[:, c] = np.interp(wanted, t[seen], channels[seen, c])
    return out
