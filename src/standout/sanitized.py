"""A release that was made from another: who stands for whom, and how what people know looks in it.

What is known of people is known of the ORIGINAL. Whoever attacks a changed release puts that into its terms:
where dates are months, a known day becomes its month, and a known 4 becomes "liked" where values are that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.facts import ANY_TIME, KnownFacts, repeat_bounds
from standout.release.clock import SECONDS, TimeUnit
from standout.release.model import Release

__all__ = ["PERIODS", "Bins", "OriginalMapping", "Period", "Sanitized", "StepReport"]

PERIODS = ("day", "week", "month", "quarter", "year")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
MONDAY = 3
"""1970-01-01 was a Thursday: so many days after a Monday."""


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of the calendar that a time is rounded down to: so many of day, week, month, quarter or year.

    >>> import numpy as np
    >>> Period("month").start(np.array([12_000]), "day")  # 2002-11-09 → 2002-11-01
    array([11992])
    """

    name: Literal["day", "week", "month", "quarter", "year"]
    count: int = 1

    def __post_init__(self) -> None:
        if self.name not in PERIODS:
            raise ParameterError(f"a period is one of {', '.join(PERIODS)}, got {self.name!r}")
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise ParameterError(f"a period has a whole number of {self.name}s ≥ 1, got {self.count!r}")

    def __str__(self) -> str:
        return self.name if self.count == 1 else f"{self.count} {self.name}s"

    def start(self, units: Ints, unit: TimeUnit) -> Ints:
        """The first unit of the period that each of these lies in; units count from 1970-01-01 00:00."""
        a_day = SECONDS["day"] // SECONDS[unit]
        days = np.asarray(units, np.int64) // a_day
        if self.name in MONTHS:
            size = MONTHS[self.name] * self.count
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) // size * size
            first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        else:
            shift, size = (MONDAY, 7 * self.count) if self.name == "week" else (0, self.count)
            first = (days + shift) // size * size - shift
        return np.asarray(first * a_day)


@dataclass(frozen=True, eq=False, slots=True)
class OriginalMapping:
    """How an original is told in a release that was made from it.

    stands    for each record of the original the place of the record that stands for it; -1: nobody does
    items     for each of its items that item's code; -1: it is gone
    values    for each of its levels how the release tells it; None: not at all
    periods   what times are rounded down to, one after the other
    """

    representatives: Ints
    item_codes: Ints
    released_values: tuple[float | str | None, ...]
    rounding_periods: tuple[Period, ...] = ()


@dataclass(frozen=True, slots=True)
class Bins:
    """Numbers told by the bin that they lie in: below edges[0], from edges[0] on, …, from the last edge on.

    >>> Bins((3.0,), (1.4, 4.2)).bin_values([2, 3, 5])
    (1.4, 4.2, 4.2)
    """

    edges: tuple[float, ...]
    values: tuple[float, ...]

    def bin_values(self, numbers: Sequence[float]) -> tuple[float, ...]:
        """What each of these numbers is told by."""
        return tuple(self.values[place] for place in np.searchsorted(self.edges, numbers, side="right"))


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did: its words, counts that say how much changed, and its bins where values have them."""

    step: str
    counts: dict[str, float]
    bins: Bins | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Sanitized(Release):
    """A release, the original that it was made from, and what was done; see `standout.sanitize`.

    `renumbered` says that its ids are not the original's.
    """

    original: Release = field(kw_only=True)
    mapping: OriginalMapping = field(kw_only=True)
    step_reports: tuple[StepReport, ...] = field(kw_only=True, default=())
    renumbered: bool = field(kw_only=True, default=False)

    def translate_facts(self, known: KnownFacts, people: Ints) -> KnownFacts:
        """What is known of these people, given by their places in the original, as codes of this release.

        `known` are codes of the original, several draws of each person behind each other. Errors that the
        adversary makes stay as they are; what the publisher rounded off is rounded off here too. Where the
        length of the record or its first date is known, whoever stands for the person stays a candidate: an
        adversary allows for what the publisher did.
        """
        item = np.where(known.item >= 0, self.mapping.item_codes[np.maximum(known.item, 0)], -1)
        value, values = self._known_values(known)
        time, timed = self._known_times(known)
        draws = len(known) // max(len(people), 1)
        length, joined = self._filters(known, np.repeat(people, draws))
        return replace(
            known, item=item, value=value, values=values, time=time, timed=timed, length=length, joined=joined
        )

    def _known_values(self, known: KnownFacts) -> tuple[Ints, tuple[float | str, ...]]:
        told = [self.mapping.released_values[i] for i in range(len(known.values))] if self.n_levels else []
        kept = [i for i, one in enumerate(told) if one is not None]
        place = np.full(len(known.values) + 1, -1, np.int64)  # the last is for what is not known: -1
        place[kept] = np.arange(len(kept))
        return place[known.value], tuple(one for one in told if one is not None)

    def _known_times(self, known: KnownFacts) -> tuple[Ints, NDArray[np.bool_]]:
        if self.span == 0:
            return np.zeros_like(known.time), np.zeros_like(known.timed)
        return np.where(known.timed, self._moved(known.time), 0), known.timed

    def _moved(self, time: Ints) -> Ints:
        """Time codes of the original as codes of this release."""
        old, new = self.original.clock, self.clock
        assert old is not None and new is not None
        units = time + old.origin
        for period in self.mapping.rounding_periods:
            units = period.start(units, old.unit)
        return np.asarray(units * SECONDS[old.unit] // SECONDS[new.unit] - new.origin)

    def _filters(self, known: KnownFacts, people: Ints) -> tuple[Ints, Ints]:
        """Lengths and first dates that a candidate may have, widened to those of whoever stands."""
        length, joined = known.length.copy(), known.joined.copy()
        if not known.filtered:
            return length, joined
        there = self.mapping.representatives[people] >= 0
        stands = self.mapping.representatives[people][there]
        length[there, 0] = np.minimum(length[there, 0], self.lengths[stands])
        length[there, 1] = np.maximum(length[there, 1], self.lengths[stands])
        if self.span == 0 or self.by_record.time is None:
            return length, repeat_bounds(len(joined), ANY_TIME)
        limited = np.abs(joined) < 2**61
        joined = np.where(limited, self._moved(np.where(limited, joined, 0)), joined)
        first = np.minimum.reduceat(self.by_record.time, self.by_record.start[:-1]).astype(np.int64)[stands]
        first = np.where(first < self.span, first, joined[there, 0])
        joined[there, 0] = np.minimum(joined[there, 0], first)
        joined[there, 1] = np.maximum(joined[there, 1], first)
        return length, joined
