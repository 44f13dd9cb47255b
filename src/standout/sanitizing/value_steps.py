"""Steps on values and times: add noise, group or round, remove, and randomised response.

The entries of record r and item x have the random stream mix(record_keys[r], item_keys[x]). The k-th of them,
in canonical order, uses the numbers 2 k and 2 k + 1 of it. So a draw depends neither on the position of the
record nor on the rest of the release, and repeated entries of a record and item have independent draws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from standout.core.arrays import Floats, Ints, codes_in_use, offsets, slices_of
from standout.core.errors import ParameterError
from standout.core.jit import Array, Int, Real, kernel
from standout.core.progress import Progress
from standout.core.rng import mix, uniform
from standout.core.threads import map_on_threads
from standout.data.build import count_codes
from standout.data.labels import SECONDS, Bins, Clock, StepReport
from standout.data.release import code_type
from standout.know.sanitized import PERIODS, Period, ReleaseNoise, TimeSpread, ValueSpread
from standout.know.similarity import ROUNDING
from standout.sanitizing.draft import Draft, ReleasedValues
from standout.sanitizing.step import (
    Rule,
    Step,
    StepNoise,
    StepResult,
    is_finite,
    number,
    one_of,
    parameter,
    positive,
    whole,
    word_or_number,
)

PIECE = 1 << 18
"""Entries that a thread works on at a time."""
ZERO, TWO = np.uint64(0), np.uint64(2)
NO_VALUES, NO_TIMES = "the release has no values", "the release has no times"


def draw_entries(draft: Draft, noise: StepNoise, work: Callable[[slice, Floats], None], draws: int = 2) -> None:
    """Call work(entries, draws in [0, 1)) for pieces of the entries, on threads; draws[d] are their d-th numbers."""
    start, item = draft.by_record.start, draft.by_record.item

    def run(low: int, high: int) -> None:
        entries = slice(int(start[low]), int(start[high]))
        out = np.empty((draws, entries.stop - entries.start))
        _draw(start, item, noise.record_keys, noise.item_keys, low, high, out)
        work(entries, out)

    pieces = ((part.start, part.stop) for part in slices_of(draft.lengths, PIECE))
    list(map_on_threads(run, pieces, draft.threads))


@kernel
def _draw(start: Array, item: Array, record_keys: Array, item_keys: Array, low: Int, high: Int, out: Array) -> None:
    """out[:, i] = the numbers of the i-th entry of records low … high - 1."""
    for record in range(low, high):
        begin, draw = start[record], ZERO
        for i in range(begin, start[record + 1]):
            draw = draw + TWO if i > begin and item[i] == item[i - 1] else ZERO
            stream = mix(record_keys[record], item_keys[item[i]])
            for d in range(out.shape[0]):
                out[d, i - start[low]] = uniform(stream, draw + np.uint64(d))


@kernel
def flips(record_keys: Array, item_keys: Array, probability: Real, out: Array) -> None:
    """out[r, i] = whether the cell of a record and an item flips."""
    for record in range(len(record_keys)):
        for item in range(len(item_keys)):
            out[record, item] = uniform(mix(record_keys[record], item_keys[item]), ZERO) < probability


# Values.


def _perturb_values(draft: Draft, noise: StepNoise, probability: float, first: Ints, last: Ints) -> StepResult:
    """Change level v with this probability to another one of first[v] … last[v], all equally likely."""
    value, out = draft.by_record.value, np.empty(draft.n_entries, np.uint32)
    assert value is not None
    low, others = np.append(first, 0), np.append(last - first, 0)  # a missing value stays

    def perturb(entries: slice, draws: Floats) -> None:
        old = value[entries].astype(np.int64)
        new = low[old] + (draws[1] * others[old]).astype(np.int64)
        out[entries] = np.where((others[old] > 0) & (draws[0] < probability), new + (new >= old), old)

    draw_entries(draft, noise, perturb)
    changed, known = int(np.count_nonzero(out != value)), int(np.count_nonzero(value != draft.n_levels))
    return StepResult(draft.with_values(out, draft.levels), _changes("values", changed, known))


def _changes(what: str, changed: int, known: int) -> dict[str, float]:
    return {f"{what} changed": changed, "share changed": changed / max(known, 1)}


@dataclass(frozen=True)
class PerturbValue(Step):
    """Replace values by other levels within ± `error` at random (None: any, the only choice for categories)."""

    name = "perturb-value"
    syntax = "ERROR|none [PROBABILITY]"
    summary = "replace a value by another one within ± ERROR (none: any), with PROBABILITY (default: 1)"

    error: float | None = parameter(
        positive() | Rule("none for any other value", lambda given: given is None, lambda _: None),
        lambda word: None if word == "none" else number(word),
        default=1.0,
    )
    probability: float = parameter(positive(1), default=1.0)

    def noise(self, report: StepReport) -> ReleaseNoise:
        return ReleaseNoise(values=(ValueSpread(self.error, self.probability),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        self._require(draft.n_levels > 0, NO_VALUES)
        levels, n = draft.levels, draft.n_levels
        if self.error is None:
            return _perturb_values(draft, noise, self.probability, *_any_level(n))
        if not isinstance(levels, np.ndarray):
            raise ParameterError(f"{self}: values are categories, which have no distance: use error none")
        reach = self.error + ROUNDING
        first, last = np.searchsorted(levels, levels - reach), np.searchsorted(levels, levels + reach, "right") - 1
        return _perturb_values(draft, noise, self.probability, first, last)


def _any_level(n_levels: int) -> tuple[Ints, Ints]:
    return np.zeros(n_levels, np.int64), np.full(n_levels, n_levels - 1)


MOST_BINS = 10_000


FINITE = Rule(
    "finite numbers",
    lambda given: is_finite(given) or (isinstance(given, (tuple, list)) and all(map(is_finite, given))),
    lambda given: tuple(map(float, np.atleast_1d(given))),
)


@dataclass(frozen=True)
class RoundValue(Step):
    """Group values into bins, or remove all values.

    Each bin is replaced by one number: the mean of its entries, or the mean of its levels if it has no entries. "bins"
    takes the number of bins with about equally many entries; "edges" the numbers where bins begin; "liked" one number,
    and replaces values from it on by 1, and lower ones by 0; "none" removes the values.
    """

    name = "round-value"
    syntax = "bins N | edges E … | liked FROM | none"
    summary = "N bins of equal size; bins that begin at E …; 1 from FROM on and 0 below; none: remove values"

    to: Literal["bins", "edges", "liked", "none"] = parameter(one_of("bins", "edges", "liked", "none"), str)
    numbers: tuple[float, ...] = parameter(FINITE, lambda words: tuple(map(number, words)), (), several=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = list(self.numbers)
        if len(numbers) != {"none": 0, "edges": max(len(numbers), 1)}.get(self.to, 1):
            raise ParameterError(f"write it as: {self.name} {self.syntax}")
        if numbers != sorted(set(numbers)):
            raise ParameterError("edges must be in ascending order")
        if self.to == "bins" and not (numbers[0].is_integer() and 1 <= numbers[0] <= MOST_BINS):
            raise ParameterError(f"the number of bins must be a whole number from 1 to {MOST_BINS:,}")

    def noise(self, report: StepReport) -> ReleaseNoise:
        return ReleaseNoise() if report.bins is None else ReleaseNoise(values=(report.bins,))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        levels, value = draft.levels, draft.by_record.value
        self._require(levels is not None, NO_VALUES)
        if self.to == "none":
            changed = 0 if value is None else int(np.count_nonzero(value != draft.n_levels))
            return StepResult(draft.with_values(None, None), {"values changed": changed})
        self._require(draft.n_levels > 0, NO_VALUES)
        if not isinstance(levels, np.ndarray) or value is None:
            raise ParameterError(f"{self}: values are categories: only 'round-value none' applies to them")
        counts = count_codes(value, len(levels) + 1)[:-1]
        bins = self._bins(levels, counts, draft.released_values)
        grouped = np.array(bins.bin_values(levels.tolist()))
        new_levels = np.unique(grouped)
        new_code = np.append(np.searchsorted(new_levels, grouped), len(new_levels))
        changed = int(counts[grouped != levels].sum())
        changes: dict[str, float] = {"values changed": changed, "levels": len(new_levels)}
        return StepResult(draft.with_values(new_code[value], new_levels, bins), changes, bins)

    def _bins(self, levels: Floats, counts: Ints, released_values: ReleasedValues) -> Bins:
        """Bins with the means of their entries; a bin without a level is merged into the one below it."""
        if self.to == "liked":
            return Bins(self.numbers, (0.0, 1.0))
        edges, below = self.numbers if self.to == "edges" else (), np.cumsum(counts)[:-1]
        if self.to == "bins" and len(below):
            goals = counts.sum() * np.arange(1, int(self.numbers[0])) / int(self.numbers[0])
            cuts = np.unique([np.abs(below - goal).argmin() for goal in goals]).astype(np.int64)
            edges = tuple(levels[cuts + 1].tolist())
        unused = np.setdiff1d(np.array(released_values, np.float64), levels)
        levels, counts = np.append(levels, unused), np.append(counts, np.zeros(len(unused), np.int64))
        bin_of_level = np.searchsorted(edges, levels, side="right")
        used = np.unique(bin_of_level)
        means = []
        for is_in in (bin_of_level == index for index in used):
            weights = counts[is_in] if counts[is_in].any() else np.ones_like(counts[is_in])
            means.append(math.fsum((levels[is_in] * weights).tolist()) / int(weights.sum()))
        return Bins(tuple(edges[index - 1] for index in used[1:]), tuple(means))


# Times.


MOST_DAYS = 36_525


@dataclass(frozen=True)
class PerturbTime(Step):
    """Move each time by a whole number of clock units, uniform over ± `days` including 0; the clock grows."""

    name = "perturb-time"
    syntax = "DAYS [PROBABILITY]"
    summary = "move each time by up to ± DAYS, with PROBABILITY (default: 1)"

    days: float = parameter(positive(MOST_DAYS), default=14.0)
    probability: float = parameter(positive(1), default=1.0)

    def noise(self, report: StepReport) -> ReleaseNoise:
        return ReleaseNoise(times=(TimeSpread(self.days, self.probability),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        clock, time = draft.clock, draft.by_record.time
        if clock is None or time is None or clock.span == 0:
            raise ParameterError(f"{self}: {NO_TIMES}")
        most = int(self.days * SECONDS["day"] // SECONDS[clock.unit])
        self._require(most, f"the release has times by {clock.unit}, so days must be larger than {self.days:g}")
        out, span = np.empty(draft.n_entries, np.int64), clock.span

        def shift(entries: slice, draws: Floats) -> None:  # the new clock begins `most` earlier
            old = time[entries].astype(np.int64)
            moved = np.where(draws[0] < self.probability, (draws[1] * (2 * most + 1)).astype(np.int64), most)
            out[entries] = np.where(old == span, span + 2 * most, old + moved)

        draw_entries(draft, noise, shift)
        known = int(np.count_nonzero(time != clock.span))
        changed = int(np.count_nonzero((time != clock.span) & (out != time.astype(np.int64) + most)))
        wider = replace(clock, origin=clock.origin - most, span=clock.span + 2 * most)
        return StepResult(draft.with_times(out, _check_calendar(self, wider)), _changes("times", changed, known))


@dataclass(frozen=True)
class RoundTime(Step):
    """Round each time down to the first day of its period, or remove all times.

    `to` is "day", "week" (from Monday), "month", "quarter", "year", or "none" to remove the times; a number is a length
    in days, counted from 1970-01-01. Rounded times have the unit day. Known facts are rounded in the same way
    before an attack.
    """

    name = "round-time"
    syntax = "day | week | month | quarter | year | DAYS | none"
    summary = "round each time down to the first day of its period, or of DAYS; none: remove all times"

    to: str | int = parameter(whole(1, MOST_DAYS) | one_of(*PERIODS, "none"), word_or_number)

    @property
    def period(self) -> Period | None:
        """Period that times are rounded down to; None if they are removed."""
        if isinstance(self.to, int):
            return Period("day", self.to)
        return None if self.to == "none" else Period(self.to)  # type: ignore[arg-type]  # checked

    def noise(self, report: StepReport) -> ReleaseNoise:
        return ReleaseNoise() if self.period is None else ReleaseNoise(times=(self.period,))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        clock, time, period = draft.clock, draft.by_record.time, self.period
        if clock is None or time is None or (period is not None and not clock.span):
            raise ParameterError(f"{self}: {NO_TIMES}")
        known = int(np.count_nonzero(time != clock.span))
        if period is None:
            return StepResult(draft.with_times(None, None), {"times changed": known})
        codes, place = codes_in_use(time, clock.span + 1)
        codes = codes[codes < clock.span]
        units = np.concatenate([codes, [0, clock.span - 1]]) + clock.origin
        first = period.start(units, clock.unit)
        days = first // (SECONDS["day"] // SECONDS[clock.unit])
        origin, span = int(days[-2]), int(days[-1] - days[-2]) + 1
        changed = int(np.count_nonzero(np.append((first != units)[:-2], False)[place]))
        new_code = np.append(days[:-2] - origin, span)
        daily = _check_calendar(self, Clock("day", origin, span, clock.zone))
        return StepResult(draft.with_times(new_code[place], daily), _changes("times", changed, known))


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


FLAG = Rule("true or false, as text its name or nothing", lambda given: isinstance(given, bool), bool)


@dataclass(frozen=True)
class RandomizedResponse(Step):
    """Apply randomised response to the values, or to which items a record has.

    On values, each of L levels is kept with probability e^ε / (e^ε + L - 1) and otherwise becomes one of the others,
    all equally likely. This ε covers ONE entry's value, not that the person has the item, when, or that a value is
    missing. On items, each of the N × M cells (whether a record has an item) flips with probability 1 / (1 + e^ε).
    Values, times and repeats are removed: only true entries would have them. This ε covers ONE cell, a record has M ε.
    """

    name = "randomized-response"
    syntax = "EPSILON [items]"
    summary = "randomise each value with ε = EPSILON; items: randomise which items a record has instead"

    epsilon: float = parameter(positive(MOST_EPSILON))
    items: bool = parameter(FLAG, lambda word: word == "items" or word, default=False)

    def noise(self, report: StepReport) -> ReleaseNoise:
        if self.items:
            return ReleaseNoise(kept=1 - 1 / (1 + math.exp(self.epsilon)))
        return ReleaseNoise(values=(ValueSpread(None, report.counts["expected share changed"]),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        if self.items:
            return self._flip_cells(draft, noise, progress)
        n = draft.n_levels
        self._require(n > 0, NO_VALUES)
        change = (n - 1) / (math.exp(self.epsilon) + n - 1)
        result = _perturb_values(draft, noise, change, *_any_level(n))
        # The number of changed values stays secret: with all other values it would reveal the last one.
        counts = {"levels": n, "expected share changed": change, "epsilon of a value": self.epsilon}
        return result._replace(counts=counts)

    def _flip_cells(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        probability, n_items = 1 / (1 + math.exp(self.epsilon)), draft.n_items
        cells, true = draft.n_records * n_items, len(draft.distinct.item)
        expected = true + probability * (cells - 2 * true)
        self._require(
            expected <= MOST_ENTRIES and cells <= MOST_CELLS,
            f"{expected:,.0f} entries would be released from {cells:,} cells; at most {MOST_ENTRIES:,} and "
            f"{MOST_CELLS:,} are allowed: remove rare items first, or use a larger epsilon",
        )
        (start, item), lengths, items, added = draft.distinct, [], [], 0
        size = max(1, CELLS_AT_ONCE // n_items)
        for low in range(0, draft.n_records, size):
            progress("randomising", low, draft.n_records)
            first = start[low : low + size + 1]
            own = np.repeat(np.arange(len(first) - 1), np.diff(first)), item[first[0] : first[-1]]
            has = np.empty((len(first) - 1, n_items), np.bool_)
            flips(noise.record_keys[low : low + size], noise.item_keys, probability, has)
            added += int(np.count_nonzero(has)) - int(np.count_nonzero(has[own]))
            has[own] ^= True
            lengths.append(has.sum(axis=1))
            items.append(has.nonzero()[1].astype(code_type(n_items)))
        item = np.concatenate(items)
        if not len(item):
            raise ParameterError(f"nothing would be left: {self} removed every entry")
        counts = {"false entries": added, "epsilon of a cell": self.epsilon}
        return StepResult(draft.with_items(offsets(np.concatenate(lengths)), item, added), counts)
