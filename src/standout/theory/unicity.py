"""Unicity: how many records a few of their entries single out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.block_scores import BLOCK, U
from standout.core.arrays import Ints
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.core.threads import run_in_slices
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.release.model import Levels, Release
from standout.release.postings import Postings
from standout.similarity.attributes import ROUNDING, Within, days_per_unit

__all__ = ["Unicity", "unicity"]

NO_CODES = np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True)
class Unicity:
    """The share of records that `k` random entries single out; `left_out` records have too few entries."""

    k: int
    share: Estimate
    left_out: int

    def __str__(self) -> str:
        entries = "1 entry singles" if self.k == 1 else f"{self.k} entries single"
        left = f"; records left out: {self.left_out:,}" if self.left_out else ""
        return f"{entries} out {self.share}{left}"


@overload
def unicity(
    release: Release, k: int, *, value: float | None = 0, time: float | None = None,
    targets: int | None = 1000, seed: int = 0, threads: int | None = None, progress: Progress = no_progress,
) -> Unicity: ...  # fmt: skip
@overload
def unicity(
    release: Release, k: Sequence[int], *, value: float | None = 0, time: float | None = None,
    targets: int | None = 1000, seed: int = 0, threads: int | None = None, progress: Progress = no_progress,
) -> list[Unicity]: ...  # fmt: skip
def unicity(
    release: Release,
    k: int | Sequence[int],
    *,
    value: float | None = 0,
    time: float | None = None,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Unicity | list[Unicity]:
    """The share of records that k of their entries, drawn at random, single out: nobody else has all k.

    As the literature on mobility has it [de Montjoye et al., Unique in the Crowd, 2013], at a resolution:

    value    values agree that are no further than this apart: 0 for the same; None: values are not known
    time     times agree that lie in the same bin of so many days. Bins begin on 1 January 1970, so two
             days may lie in one bin or in two; it is not ± so many days. None: times are not known

    An entry that lacks a value or time is known without it; nobody agrees with a value or time that they
    lack. Several k at once are the first so many of one draw, for the same targets: those with as many
    entries as the largest k. `targets` are tried, None for all; the baseline is a guess, 1/N.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> print(unicity(release, 3, time=30))
    3 entries single out 0.998 (0.987 to 1.000, n = 436); records left out: 64
    >>> [round(one.share.value, 2) for one in unicity(release, [1, 2, 3, 4])]
    [0.01, 0.12, 0.4, 0.76]
    """
    sizes = _sizes(k)
    tried, left_out = draw_targets(release.check(), targets, sizes[-1], seed, "unicity")
    at = np.array(shuffled_entries(release, tried, seed, "unicity", sizes[-1]), np.int64).reshape(
        -1, sizes[-1]
    )
    boxes = _boxes(release, at, value, time)
    least = _least(release, tried, boxes, np.array(sizes, np.int64), threads, progress)
    found = [
        Unicity(size, rate(int((least <= size).sum()), len(tried), 1 / release.n_records), left_out)
        for size in sizes
    ]
    return [found[sizes.index(size)] for size in k] if isinstance(k, Sequence) else found[0]


class Boxes(NamedTuple):
    """What is known of targets, a row each: items, and the lowest and highest codes that agree."""

    item: Ints
    value_low: Ints
    value_high: Ints
    time_low: Ints
    time_high: Ints


class Side(NamedTuple):
    """The release by record, for the kernel: empty columns for what it has none of."""

    start: NDArray[np.int64]
    item: NDArray[Any]
    value: NDArray[Any]
    time: NDArray[Any]
    n_levels: int
    span: int


def _sizes(k: Any) -> list[int]:
    """The different k, in ascending order."""
    given = list(k) if isinstance(k, Sequence) and not isinstance(k, str) else [k]
    if not given:
        raise ParameterError("k names no number of entries: give a whole number ≥ 1, or several")
    return sorted({whole_number("k", one, 1) for one in given})


def _boxes(release: Release, at: Ints, value: float | None, time: float | None) -> Boxes:
    """What is known of the entries at these places, by record."""
    Within(value, None)  # checks the width
    side = release.by_record
    item = side.item[at].astype(np.int64)
    any_code = np.zeros_like(item)
    values, times = (any_code, any_code + release.n_levels), (any_code, any_code + release.span)
    width = None if time is None else _units(release, time)
    if value is not None and side.value is not None and release.levels is not None:
        lowest, highest = _near_levels(release.levels, value)
        values = lowest[side.value[at]], highest[side.value[at]]
    if width is not None and side.time is not None and release.clock is not None:
        times = _bins(side.time[at].astype(np.int64), release.clock.origin, release.span, width)
    return Boxes(item, *values, *times)


def _near_levels(levels: Levels, width: float) -> tuple[Ints, Ints]:
    """By value code the lowest and highest code that agrees; what has no value agrees with all of them."""
    n = len(levels)
    if isinstance(levels, tuple):
        low = high = np.arange(n)
    else:
        low = np.searchsorted(levels, levels - width - ROUNDING, side="left")
        high = np.searchsorted(levels, levels + width + ROUNDING, side="right") - 1
    return np.append(low, 0).astype(np.int64), np.append(high, n).astype(np.int64)


def _bins(time: Ints, origin: int, span: int, width: int) -> tuple[Ints, Ints]:
    """The first and last code of each time's bin, as far as the release goes; all where there is no time."""
    first = (time + origin) // width * width - origin
    low, high = np.maximum(first, 0), np.minimum(first + width, span) - 1
    return np.where(time < span, low, 0), np.where(time < span, high, span)


def _units(release: Release, time: Any) -> int:
    """The width of a bin in units of the release's clock, or an error."""
    unit = "day" if release.clock is None else release.clock.unit
    number = isinstance(time, Real) and not isinstance(time, bool) and math.isfinite(time)
    width = float(time) / days_per_unit(release) if number else 0.0
    if round(width) < 1 or abs(width - round(width)) > ROUNDING:
        raise ParameterError(f"time is in days and must be a whole number of {unit}s ≥ 1, got {time!r}")
    return min(round(width), 2**62)


def _least(
    release: Release, targets: Ints, boxes: Boxes, sizes: Ints, threads: int | None, progress: Progress
) -> Ints:
    """For each target the least of the sizes that singles it out; one more than the largest if none does."""
    by_record, found = release.by_record, np.zeros(len(targets), np.int64)
    value = NO_CODES if by_record.value is None else by_record.value
    time = NO_CODES if by_record.time is None else by_record.time
    side = Side(by_record.start, by_record.item, value, time, release.n_levels, release.span)
    support = release.support[boxes.item]

    def work_on(low: int, high: int, work: None) -> None:
        _singled_out(release.by_item, side, boxes, support, sizes, targets, found, low, high)

    run_in_slices(len(targets), threads, lambda: None, work_on, progress)
    return found


@kernel
def _singled_out(
    postings: Postings, side: Side, boxes: Boxes, support: Array, sizes: Array, targets: Array, found: Array,
    low: Int, high: Int,
) -> None:  # fmt: skip
    """Targets low … high - 1. Who agrees with the first few entries is the first to be asked about more."""
    for q in range(low, high):
        found[q], witness = sizes[-1] + 1, -1
        for size in sizes:
            if witness < 0 or not _agrees(side, boxes, q, size, witness):
                witness = _witness(postings, side, boxes, q, size, support, targets[q])
            if witness < 0:
                found[q] = size
                break


@subroutine
def _witness(
    postings: Postings, side: Side, boxes: Boxes, q: Int, size: Int, support: Array, target: Int
) -> Int:
    """Somebody else who agrees with the first `size` entries, or -1: the rarest item's records are walked."""
    start, run, block, end, word, value_bits, time_bits = postings
    rarest = np.argmin(support[q, :size])
    item, at = boxes.item[q, rarest], start[boxes.item[q, rarest]]
    of_time, of_place = U(time_bits), U(time_bits + value_bits)
    time_mask, kind_mask = (U(1) << of_time) - U(1), (U(1) << U(value_bits)) - U(1)
    for j in range(run[item], run[item + 1]):
        stop = start[item] + np.int64(end[j])
        for p in range(at, stop):
            x = U(word[p])
            kind = np.int64((x >> of_time) & kind_mask)
            timed = kind <= side.n_levels
            value = kind if timed else kind - side.n_levels - 1
            if not _in_box(boxes, q, rarest, value, np.int64(x & time_mask) if timed else side.span):
                continue
            record = np.int64(block[j]) * BLOCK + np.int64(x >> of_place)
            if record != target and _agrees(side, boxes, q, size, record):
                return record
        at = stop
    return -1


@subroutine
def _agrees(side: Side, boxes: Boxes, q: Int, size: Int, record: Int) -> Flag:
    """Whether a record has the first `size` entries of a target, at the resolution."""
    for i in range(size):
        first, stop = side.start[record], side.start[record + 1]
        at = first + np.searchsorted(side.item[first:stop], boxes.item[q, i])
        if at == stop or side.item[at] != boxes.item[q, i]:
            return False
        value = np.int64(side.value[at]) if len(side.value) else side.n_levels
        time = np.int64(side.time[at]) if len(side.time) else side.span
        if not _in_box(boxes, q, i, value, time):
            return False
    return True


@subroutine
def _in_box(boxes: Boxes, q: Int, i: Int, value: Int, time: Int) -> Flag:
    return (
        boxes.value_low[q, i] <= value <= boxes.value_high[q, i]
        and boxes.time_low[q, i] <= time <= boxes.time_high[q, i]
    )
