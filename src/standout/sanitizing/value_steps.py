"""Steps on values and times: add noise, group or round, remove, and randomised response."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from standout.core.arrays import Floats, Ints, codes_in_use, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, no_progress
from standout.data.build import count_codes
from standout.data.labels import SECONDS, Bins, Clock, StepReport
from standout.data.release import Codes, code_type
from standout.know.sanitized import PERIODS, Period, ReleaseNoise, TimeSpread, ValueSpread
from standout.know.similarity import ROUNDING
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft, ReleasedValues
from standout.sanitizing.entry_kernels import LevelNoise, TimeNoise
from standout.sanitizing.step import (
    Step,
    StepNoise,
    StepResult,
    check_positive,
    check_share,
    is_finite,
    number,
    number_or_none,
    parameter_text,
)

MOST_BINS = 10_000


@dataclass(frozen=True)
class PerturbValue(Step):
    """Replace values by other values at random.

    With the given probability a value becomes another level of the release within ± `error` (None: any other level,
    and the only choice for categories); all such levels are equally likely. A value without another level in reach
    stays, and so does a missing value.
    """

    name = "perturb-value"
    syntax = "ERROR|none [PROBABILITY]"
    summary = "replace a value by another one within ± ERROR (none: any), with PROBABILITY (default: 1)"
    parsers = (number_or_none, number)

    error: float | None = 1
    probability: float = 1.0

    def __post_init__(self) -> None:
        if self.error is not None and not (is_finite(self.error) and self.error > 0):
            raise ParameterError(f"error must be a number > 0, or None for any other value, got {self.error!r}")
        self._set(probability=check_share("probability", self.probability, allow_one=True))

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The distribution of changes."""
        return ReleaseNoise(values=(ValueSpread(self.error, self.probability),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        self._require(draft.n_levels > 0, "values")
        return _perturb_values(draft, noise, LevelNoise(*self._levels_in_reach(draft), self.probability))

    def _levels_in_reach(self, draft: Draft) -> tuple[Ints, Ints]:
        """First and last level within the error of each level."""
        levels = draft.levels
        if self.error is None:
            return np.zeros(draft.n_levels, np.int64), np.full(draft.n_levels, draft.n_levels - 1)
        if not isinstance(levels, np.ndarray):
            raise ParameterError(f"{self}: values are categories, which have no distance: use error none")
        reach = self.error + ROUNDING
        return np.searchsorted(levels, levels - reach), np.searchsorted(levels, levels + reach, "right") - 1


@dataclass(frozen=True)
class RoundValue(Step):
    """Group values into bins, or remove all values. Give exactly one parameter.

    Each bin is replaced by one number: the mean of its entries, or the mean of its levels if it has no entries.
    Known facts are grouped in the same way before an attack. `bins` is the number of bins with about equally many
    entries: cut i is where the share of entries below it is nearest to i / bins, so frequent levels may lead to fewer.
    `edges` are the numbers where bins begin. `liked_from` replaces values from this number on by 1, and lower ones
    by 0. `to="none"` removes the values.
    """

    name = "round-value"
    syntax = "bins N | edges E … | liked FROM | none"
    summary = "N bins of equal size; bins that begin at E …; 1 from FROM on and 0 below; none: remove values"

    bins: int | None = None
    edges: tuple[float, ...] | None = None
    liked_from: float | None = None
    to: str | None = None

    def __post_init__(self) -> None:
        given = [self.bins, self.edges, self.liked_from, self.to]
        if sum(parameter is not None for parameter in given) != 1:
            raise ParameterError("round-value takes exactly one of bins, edges, liked_from and to='none'")
        if self.to not in (None, "none"):
            raise ParameterError(f"to must be 'none', got {self.to!r}")
        if self.bins is not None:
            self._set(bins=whole_number("bins", self.bins, 1))
            if self.bins > MOST_BINS:
                raise ParameterError(f"bins must be at most {MOST_BINS:,}, got {self.bins:,}")
        if self.edges is not None:
            self._set(edges=_check_edges(self.edges))
        if self.liked_from is not None:
            if not is_finite(self.liked_from):
                raise ParameterError("liked_from must be a finite number")
            self._set(liked_from=float(self.liked_from))

    def parameter_words(self) -> tuple[str, ...]:
        if self.bins is not None:
            return "bins", str(self.bins)
        if self.edges is not None:
            return "edges", *map(parameter_text, self.edges)
        return ("none",) if self.liked_from is None else ("liked", parameter_text(self.liked_from))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        match words:
            case ["none"]:
                return cls(to="none")
            case ["bins", count]:
                return cls(bins=number(count))  # type: ignore[arg-type]  # checked there
            case ["edges", _, *_]:
                return cls(edges=tuple(map(number, words[1:])))
            case ["liked", least]:
                return cls(liked_from=number(least))
        raise cls._syntax_error()

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The bins."""
        return ReleaseNoise() if report.bins is None else ReleaseNoise(values=(report.bins,))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        self._require(draft.levels is not None, "values")
        if self.to is not None:
            no_values = (None,) * len(draft.released_values)
            changed = _entries_with_value(draft)
            return StepResult(draft.with_values(None, None, no_values), {"values changed": changed})
        levels, value = draft.levels, draft.by_record.value
        self._require(draft.n_levels > 0, "values")
        if not isinstance(levels, np.ndarray) or value is None:
            raise ParameterError(f"{self}: values are categories: only 'round-value none' applies to them")
        return self._group(draft, levels, value)

    def _group(self, draft: Draft, levels: Floats, value: Codes) -> StepResult:
        counts = count_codes(value, len(levels) + 1)[:-1]
        bins = self._bins(levels, counts, draft.released_values)
        grouped = np.array(bins.bin_values(levels.tolist()))
        new_levels = np.unique(grouped)
        new_code = np.append(np.searchsorted(new_levels, grouped), len(new_levels))
        released_values = tuple(
            None if level is None else bins.bin_values([float(level)])[0] for level in draft.released_values
        )
        return StepResult(
            draft.with_values(new_code[value], new_levels, released_values),
            {"values changed": int(counts[grouped != levels].sum()), "levels": len(new_levels)},
            bins,
        )

    def _bins(self, levels: Floats, counts: Ints, released_values: ReleasedValues) -> Bins:
        if self.liked_from is not None:
            return Bins((self.liked_from,), (0.0, 1.0))
        edges = _equal_edges(levels, counts, self.bins) if self.bins is not None else self.edges
        assert edges is not None
        unused = np.setdiff1d([float(level) for level in released_values if level is not None], levels)
        return _mean_bins(edges, np.append(levels, unused), np.append(counts, np.zeros(len(unused), np.int64)))


def _perturb_values(draft: Draft, noise: StepNoise, level_noise: LevelNoise) -> StepResult:
    """Replace values by other levels at random."""
    streams, out = noise.streams, np.empty(draft.n_entries, np.uint32)
    value = draft.by_record.value
    assert value is not None
    draft.run_by_records(lambda low, high: entry_kernels.perturb(streams, low, high, value, level_noise, out))
    changed = int(np.count_nonzero(out != value))
    return StepResult(
        draft.with_values(out, draft.levels, draft.released_values),
        {"values changed": changed, "share changed": changed / max(_entries_with_value(draft), 1)},
    )


def _entries_with_value(draft: Draft) -> int:
    """Number of entries that have a value."""
    value: Codes | None = draft.by_record.value
    return 0 if value is None else int(np.count_nonzero(value != draft.n_levels))


def _check_edges(given: Any) -> tuple[float, ...]:
    try:
        edges = tuple(given)
    except TypeError:
        edges = ()
    if not edges or not all(map(is_finite, edges)) or list(edges) != sorted(set(edges)):
        raise ParameterError("edges must be finite numbers in ascending order")
    return tuple(map(float, edges))


def _equal_edges(levels: Floats, counts: Ints, bins: int) -> tuple[float, ...]:
    """Levels where bins of about equally many entries begin."""
    below = np.cumsum(counts)[:-1]
    if not len(below):
        return ()
    goals = counts.sum() * np.arange(1, bins) / bins
    cuts = np.unique([np.abs(below - goal).argmin() for goal in goals]).astype(np.int64)
    return tuple(levels[cuts + 1].tolist())


def _mean_bins(edges: tuple[float, ...], levels: Floats, counts: Ints) -> Bins:
    """Bins with the means of their entries; a bin without a level is merged into the one below it."""
    bin_of_level = np.searchsorted(edges, levels, side="right")
    used = np.unique(bin_of_level)
    means = [_mean(levels[bin_of_level == index], counts[bin_of_level == index]) for index in used]
    return Bins(tuple(edges[index - 1] for index in used[1:]), tuple(means))


def _mean(levels: Floats, counts: Ints) -> float:
    weights = counts if counts.any() else np.ones_like(counts)
    return math.fsum((levels * weights).tolist()) / int(weights.sum())


# Steps that change times: add noise, round down, or remove.


MOST_DAYS = 36_525


@dataclass(frozen=True)
class PerturbTime(Step):
    """Move each time by a random number of days.

    A time moves with the given probability by a whole number of clock units, uniform over ± `days` including 0. The
    clock grows: a time may become earlier than the first or later than the last time of the data.
    """

    name = "perturb-time"
    syntax = "DAYS [PROBABILITY]"
    summary = "move each time by up to ± DAYS, with PROBABILITY (default: 1)"
    parsers = (number, number)

    days: float = 14
    probability: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            days=check_positive("days", self.days, MOST_DAYS),
            probability=check_share("probability", self.probability, allow_one=True),
        )

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The distribution of shifts."""
        return ReleaseNoise(times=(TimeSpread(self.days, self.probability),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        clock, time = draft.clock, draft.by_record.time
        if clock is None or time is None or clock.span == 0:
            raise ParameterError(f"{self}: the release has no times")
        most = int(self.days * SECONDS["day"] // SECONDS[clock.unit])
        if not most:
            raise ParameterError(
                f"{self}: the release has times by {clock.unit}, so days must be larger than {self.days:g}"
            )
        streams, out = noise.streams, np.empty(draft.n_entries, np.int64)
        time_noise = TimeNoise(clock.span, most, self.probability)
        draft.run_by_records(lambda low, high: entry_kernels.shift(streams, low, high, time, time_noise, out))
        is_known = time != clock.span
        changed = int(np.count_nonzero(is_known & (out != time.astype(np.int64) + most)))
        wider = replace(clock, origin=clock.origin - most, span=clock.span + 2 * most)
        return StepResult(
            draft.with_times(out, _check_calendar(self, wider)),
            {"times changed": changed, "share changed": changed / max(int(is_known.sum()), 1)},
        )


@dataclass(frozen=True)
class RoundTime(Step):
    """Round each time down to the first day of its period, or remove all times.

    `to` is "day", "week" (from Monday), "month", "quarter", "year", or "none" to remove the times; `days` is a length
    in days instead, counted from 1970-01-01. Rounded times have the unit day. Known facts are rounded in the same way
    before an attack.
    """

    name = "round-time"
    syntax = "day | week | month | quarter | year | DAYS days | none"
    summary = "round each time down to the first day of its period; none: remove all times"

    to: str | None = None
    days: int | None = None

    def __post_init__(self) -> None:
        if (self.to is None) == (self.days is None):
            raise ParameterError("round-time takes either a period or a number of days")
        if self.days is not None:
            self._set(days=whole_number("days", self.days, 1))
            if self.days > MOST_DAYS:
                raise ParameterError(f"days must be at most {MOST_DAYS:,}, got {self.days:,}")
        elif self.to not in (*PERIODS, "none"):
            raise ParameterError(f"to must be one of {', '.join(PERIODS)} or none, got {self.to!r}")

    @property
    def period(self) -> Period | None:
        """Period that times are rounded down to; None if they are removed."""
        if self.days is not None:
            return Period("day", self.days)
        return None if self.to == "none" else Period(self.to)  # type: ignore[arg-type]  # checked

    def parameter_words(self) -> tuple[str, ...]:
        return (str(self.to),) if self.days is None else (str(self.days), "days")

    @classmethod
    def from_words(cls, *words: str) -> Self:
        match words:
            case [count, "days" | "day"]:
                return cls(days=number(count))  # type: ignore[arg-type]  # checked there
            case [to]:
                return cls(to)
        raise cls._syntax_error()

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The period."""
        return ReleaseNoise() if self.period is None else ReleaseNoise(times=(self.period,))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        clock, time = draft.clock, draft.by_record.time
        if clock is None or time is None:
            raise ParameterError(f"{self}: the release has no times")
        known = int(np.count_nonzero(time != clock.span))
        if self.period is None:
            return StepResult(draft.with_times(None, None), {"times changed": known})
        self._require(clock.span > 0, "times")
        codes, place = codes_in_use(time, clock.span + 1)
        codes = codes[codes < clock.span]
        units = np.concatenate([codes, [0, clock.span - 1]]) + clock.origin
        first = self.period.start(units, clock.unit)
        days = first // (SECONDS["day"] // SECONDS[clock.unit])
        origin, span = int(days[-2]), int(days[-1] - days[-2]) + 1
        changed = int(np.count_nonzero(np.append((first != units)[:-2], False)[place]))
        new_code = np.append(days[:-2] - origin, span)
        daily = _check_calendar(self, Clock("day", origin, span, clock.zone))
        return StepResult(
            draft.with_times(new_code[place], daily, self.period),
            {"times changed": changed, "share changed": changed / max(known, 1)},
        )


def _check_calendar(step: Step, clock: Clock) -> Clock:
    """Check that the calendar has all times of the clock."""
    try:
        clock.moment(0), clock.moment(clock.span)
    except OverflowError:
        raise ParameterError(f"{step}: times would leave the calendar (years 1 to 9999)") from None
    return clock


# Randomised response: noise on every entry, with the ε of local differential privacy that it provides.


MOST_EPSILON = 50
MOST_ENTRIES = 100_000_000
MOST_CELLS = 10_000_000_000
CELLS_AT_ONCE = 1 << 22
"""Cells that are drawn at a time."""


@dataclass(frozen=True)
class RandomizedResponse(Step):
    """Apply randomised response to the values, or to which items a record has.

    On values (the default), each of the L levels is kept with probability e^ε / (e^ε + L - 1) and otherwise
    becomes one of the others, all equally likely. Two values of one entry then give any released value with
    probabilities within a factor e^ε. This ε covers ONE entry's value. It does not cover that the person has
    the item, when, how many items there are, or that a value is missing.

    On items, each of the N × M cells (whether a record has an item) flips with probability 1 / (1 + e^ε).
    Values and times are removed: only true entries would have them. Repeated entries of a record and item
    are one cell, and are merged: a count would reveal that the item is true. This ε covers ONE cell; a
    person's record of M cells has M ε.
    """

    name = "randomized-response"
    syntax = "EPSILON [items]"
    summary = "randomise each value with ε = EPSILON; items: randomise which items a record has instead"

    epsilon: float
    items: bool = False

    def __post_init__(self) -> None:
        self._set(epsilon=check_positive("epsilon", self.epsilon, MOST_EPSILON), items=bool(self.items))

    def parameter_words(self) -> tuple[str, ...]:
        return (parameter_text(self.epsilon), *(["items"] if self.items else []))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        match words:
            case [epsilon]:
                return cls(number(epsilon))
            case [epsilon, "items"]:
                return cls(number(epsilon), items=True)
        raise cls._syntax_error()

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The distribution of values, or the chance that a cell does not flip."""
        if self.items:
            return ReleaseNoise(kept=1 - 1 / (1 + math.exp(self.epsilon)))
        return ReleaseNoise(values=(ValueSpread(None, report.counts["expected share changed"]),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        return self._flip_cells(draft, noise, progress) if self.items else self._change_values(draft, noise)

    def _change_values(self, draft: Draft, noise: StepNoise) -> StepResult:
        self._require(draft.n_levels > 0, "values")
        n = draft.n_levels
        change = (n - 1) / (math.exp(self.epsilon) + n - 1)
        level_noise = LevelNoise(np.zeros(n, np.int64), np.full(n, n - 1), change)
        result = _perturb_values(draft, noise, level_noise)
        # The number of changed values stays secret: with all other values it would reveal the last one.
        counts = {"levels": n, "expected share changed": change, "epsilon of a value": self.epsilon}
        return result._replace(counts=counts)

    def _flip_cells(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        probability = 1 / (1 + math.exp(self.epsilon))
        self._check_size(draft, probability)
        lengths, items, false = np.empty(draft.n_records, np.int64), [], 0
        for low, high in _record_ranges(draft):
            progress("randomising", low, draft.n_records)
            cells = _flip(draft, noise, probability, low, high)
            lengths[low:high] = np.diff(cells.ends, prepend=0)
            items.append(cells.items)
            false += cells.false
        item = np.concatenate(items)
        if not len(item):
            raise ParameterError(f"nothing would be left: {self} removed every entry")
        counts = {"false entries": false, "epsilon of a cell": self.epsilon}
        return StepResult(draft.with_items(offsets(lengths), item, false), counts)

    def _check_size(self, draft: Draft, probability: float) -> None:
        cells = draft.n_records * draft.n_items
        true = len(draft.distinct.item)
        expected = true + probability * (cells - 2 * true)
        if expected > MOST_ENTRIES or cells > MOST_CELLS:
            raise ParameterError(
                f"{self}: {expected:,.0f} entries would be released from {cells:,} cells; at most "
                f"{MOST_ENTRIES:,} and {MOST_CELLS:,} are allowed: remove rare items first, or use a larger "
                "epsilon"
            )


class _Cells(NamedTuple):
    """Items of some records, the end of each record in them, and how many items are false."""

    items: Codes
    ends: Ints
    false: int


def _record_ranges(draft: Draft) -> Iterator[tuple[int, int]]:
    """Ranges of records with about CELLS_AT_ONCE cells each."""
    size = max(1, CELLS_AT_ONCE // draft.n_items)
    return ((low, min(low + size, draft.n_records)) for low in range(0, draft.n_records, size))


def _flip(draft: Draft, noise: StepNoise, probability: float, low: int, high: int) -> _Cells:
    out = np.empty((high - low) * draft.n_items, code_type(draft.n_items))
    ends = np.empty(high - low, np.int64)
    count, false = entry_kernels.flip(noise.streams, low, high, probability, ends, out)
    return _Cells(out[:count].copy(), ends, false)
