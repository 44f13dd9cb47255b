"""A release between two steps: its entries by record, and what has become of the original's terms."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.threads import thread_count
from standout.facts import level_values
from standout.release.build import count_codes, drop_unused_codes
from standout.release.clock import Clock
from standout.release.model import Codes, Levels, RecordEntries, Release, code_type
from standout.sanitized import Period, Sanitized

__all__ = ["Draft", "Flags", "Ints"]

Flags = NDArray[np.bool_]
PIECE = 1 << 18


@dataclass(frozen=True, eq=False)
class Draft:
    """A release being sanitized: no record, item or level that no entry has.

    source    what is sanitized
    side      the entries by record, in codes of `things`, `levels` and `clock`
    people    for each record its place in the source
    things    for each item its place in the source
    stands    for each record of the source the place of the record that stands for it; -1: nobody does
    told      for each level of the first original how it is told by now; None: not at all
    periods   what its times are rounded down to, one after the other
    """

    source: Release
    side: RecordEntries
    levels: Levels | None
    clock: Clock | None
    people: Ints
    things: Ints
    stands: Ints
    told: tuple[float | str | None, ...]
    periods: tuple[Period, ...]
    threads: int

    @classmethod
    def of(cls, source: Release, threads: int | None) -> "Draft":
        """The release as it is."""
        told: tuple[float | str | None, ...] = level_values(source)
        periods: tuple[Period, ...] = ()
        if isinstance(source, Sanitized):
            told, periods = source.mapping.released_values, source.mapping.rounding_periods
        records = np.arange(source.n_records)
        return cls(
            source, source.check().by_record, source.levels, source.clock, records, np.arange(source.n_items),
            records, told, periods, thread_count(threads),
        )  # fmt: skip

    @property
    def n_records(self) -> int:
        return len(self.people)

    @property
    def n_items(self) -> int:
        return len(self.things)

    @property
    def n_entries(self) -> int:
        return len(self.side.item)

    @property
    def n_levels(self) -> int:
        return 0 if self.levels is None else len(self.levels)

    @cached_property
    def lengths(self) -> Ints:
        """How many items each record has."""
        return np.diff(self.side.start)

    @cached_property
    def support(self) -> Ints:
        """How many records have each item."""
        return count_codes(self.side.item, self.n_items)

    @cached_property
    def rank(self) -> Ints:
        """Places of the items by popularity, 0 is the most popular; equals go by the order of their ids."""
        rank = np.empty(self.n_items, np.int64)
        rank[np.argsort(-self.support, kind="stable")] = np.arange(self.n_items)
        return rank

    def kept(self, entries: Flags, otherwise: str) -> "Draft":
        """With these entries only; records and items that have none left are gone.

        `otherwise` says why, should nothing be left.
        """
        if not entries.any():
            raise ParameterError(f"nothing would be left: {otherwise}")
        if entries.all():
            return self
        lengths = np.add.reduceat(entries, self.side.start[:-1], dtype=np.int64)
        there = lengths > 0
        value, time = (None if column is None else column[entries] for column in self.side[2:])
        start = offsets(lengths[there])
        return self._only(RecordEntries(start, self.side.item[entries], value, time), there)

    def with_records(self, records: Flags, stand_in: Ints | None = None) -> "Draft":
        """With these records only; stand_in[r] = who stands for record r, if not itself."""
        changed = self if stand_in is None else replace(self, stands=_through(self.stands, stand_in))
        return changed.kept(np.repeat(records, self.lengths), "no record is kept")

    def valued(
        self, value: NDArray[Any] | None, levels: Levels | None, told: tuple[float | str | None, ...]
    ) -> "Draft":
        """With these values; `told` is how each level of the first original is told now."""
        side = self.side._replace(value=value)
        return replace(self, told=told)._tight(side, levels, self.clock)

    def timed(self, time: NDArray[Any] | None, clock: Clock | None, period: Period | None = None) -> "Draft":
        """With these times, rounded down to `period` if it is given."""
        side = self.side._replace(time=time)
        periods = self.periods if period is None else (*self.periods, period)
        return replace(self, periods=periods)._tight(side, self.levels, clock)

    def holding(self, start: Ints, item: Codes) -> "Draft":
        """With other entries altogether, without values and times; records may have none."""
        there = np.diff(start) > 0
        side = RecordEntries(start[np.append(there, True)], item, None, None)
        bare = replace(self, levels=None, clock=None, told=(None,) * len(self.told))
        return bare._only(side, there)

    def ordered(self, order: Ints) -> "Draft":
        """With the records in this order."""
        lengths, place = self.lengths[order], np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        start = offsets(lengths)
        entry = np.repeat(self.side.start[:-1][order] - start[:-1], lengths) + np.arange(self.n_entries)
        value, time = (None if column is None else column[entry] for column in self.side[2:])
        side = RecordEntries(start, self.side.item[entry], value, time)
        return replace(self, side=side, people=self.people[order], stands=_through(self.stands, place))

    def by_pieces(self, work: Callable[[int, int], None]) -> None:
        """Does work(low, high) for ranges of records with about PIECE entries each, on threads."""
        cuts = np.searchsorted(self.side.start, np.arange(PIECE, self.n_entries, PIECE))
        ends = np.unique(np.concatenate([[0], cuts, [self.n_records]])).tolist()
        self.on_threads(lambda piece: work(ends[piece], ends[piece + 1]), len(ends) - 1)

    def on_threads(
        self, work: Callable[[int], None], count: int, stage: str = "", progress: Progress = no_progress
    ) -> None:
        """Does work(0) … work(count - 1) on threads."""
        with ThreadPoolExecutor(self.threads) as pool:
            for number, _ in enumerate(pool.map(work, range(count))):
                progress(stage, number, count)

    def _only(self, side: RecordEntries, there: Flags) -> "Draft":
        """With the records that are there; side has their entries, in the old codes of items."""
        used = count_codes(side.item, self.n_items) > 0
        place = np.where(used, np.cumsum(used) - 1, 0)
        other = place.astype(code_type(int(used.sum())))[side.item]
        moved = np.where(there, np.cumsum(there) - 1, -1)
        smaller = replace(
            self,
            people=self.people[there],
            things=self.things[used],
            stands=_through(self.stands, moved),
        )
        return smaller._tight(side._replace(item=other), self.levels, self.clock)

    def _tight(self, side: RecordEntries, levels: Levels | None, clock: Clock | None) -> "Draft":
        value = (
            None if side.value is None or levels is None else side.value.astype(code_type(len(levels) + 1))
        )
        time = None if side.time is None or clock is None else side.time.astype(code_type(clock.span + 1))
        side, levels, clock = drop_unused_codes(side._replace(value=value, time=time), levels, clock)
        if isinstance(levels, tuple) and not levels:  # without a single value nothing says what kind they are
            levels = np.empty(0)
        return replace(self, side=side, levels=levels, clock=clock)


def _through(stands: Ints, place: Ints) -> Ints:
    """Where those stand who stood there; -1 stays."""
    return np.where(stands >= 0, place[stands], -1)
