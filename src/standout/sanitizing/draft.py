"""A release between two steps: its columns and entries, and how the original maps to them so far."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints, offsets
from standout.core.errors import ParameterError, did_you_mean
from standout.core.progress import Progress, no_progress
from standout.core.threads import thread_count
from standout.data.build import count_codes, drop_unused_codes
from standout.data.column import Column
from standout.data.entries import DistinctItems, distinct_items, first_entries, sort_repeats
from standout.data.labels import SECONDS, Clock, StepReport
from standout.data.release import Codes, Levels, RecordEntries, Release, code_type
from standout.know.facts import level_values
from standout.know.sanitized import Channel, Period, ReleaseNoise, Sanitized, TimeSpread, ValueSpread
from standout.sanitizing.level_change import LevelChange, recode

PIECE = 1 << 18
"""Entries that a thread works on at a time."""
ReleasedValues = tuple[float | str | None, ...]


class EntryChanges(NamedTuple):
    """How the number of entries changed: entries = entries before - removed - merged + added.

    removed  entries that are gone
    merged   entries that are gone, because another entry of the same record and item represents them
    added    false entries
    """

    removed: int = 0
    merged: int = 0
    added: int = 0

    def minus(self, earlier: "EntryChanges") -> "EntryChanges":
        """Return the changes after an earlier state."""
        return EntryChanges(*(now - before for now, before in zip(self, earlier, strict=True)))


NO_CHANGES = EntryChanges()


@dataclass(frozen=True, eq=False)
class Draft:
    """A release being sanitized; every item and level has an entry, and every record one if there are no columns.

    A record may have several entries of an item. They are separate entries, in canonical order after every
    step: by time, then by value. Only `merge_entries` and `with_items` turn them into one.

    source            release that is being sanitized; with columns: the first original
    by_record         entries by record, in codes of `source_items`, `levels` and `clock`
    source_records    for each record, its index in the source; with columns: ascending until the last step
    source_items      for each item, its index in the source
    representatives   for each record of the source, the index of the record that represents it; -1: none
    released_values   for each level of the first original, its value now; None: values are removed
    rounding_periods  periods that times were rounded down to, one after the other
    columns           the columns that are left, with all levels of the steps so far, even if no cell has them
    channels          by column name, what happened to its cells
    changes           entries removed, merged and added so far
    """

    source: Release
    by_record: RecordEntries
    levels: Levels | None
    clock: Clock | None
    source_records: Ints
    source_items: Ints
    representatives: Ints
    released_values: ReleasedValues
    rounding_periods: tuple[Period, ...]
    threads: int
    columns: tuple[Column, ...] = ()
    channels: Mapping[str, Channel] = field(default_factory=dict)
    changes: EntryChanges = NO_CHANGES

    @classmethod
    def of(cls, source: Release, threads: int | None = None) -> "Draft":
        """Draft of a release before any step."""
        released_values: ReleasedValues = level_values(source)
        periods: tuple[Period, ...] = ()
        if isinstance(source, Sanitized):
            released_values, periods = source.mapping.released_values, source.mapping.rounding_periods
        records = np.arange(source.n_records)
        return cls(
            source=source,
            by_record=source.check().by_record,
            levels=source.levels,
            clock=source.clock,
            source_records=records,
            source_items=np.arange(source.n_items),
            representatives=records,
            released_values=released_values,
            rounding_periods=periods,
            threads=thread_count(threads),
            columns=source.columns,
        )

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.source_records)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.source_items)

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return len(self.by_record.item)

    @property
    def n_levels(self) -> int:
        """Number of distinct values."""
        return 0 if self.levels is None else len(self.levels)

    @cached_property
    def lengths(self) -> Ints:
        """Number of entries of each record."""
        return np.diff(self.by_record.start)

    @cached_property
    def distinct(self) -> DistinctItems:
        """Distinct items of each record."""
        return distinct_items(self.by_record)

    @property
    def distinct_index(self) -> Ints:
        """For each entry, the position of its item in `distinct.item`."""
        return np.cumsum(first_entries(self.by_record)) - 1

    @property
    def has_repeats(self) -> bool:
        """Whether some record has an item several times."""
        return len(self.distinct.item) < self.n_entries

    @cached_property
    def item_entries(self) -> Ints:
        """Number of entries of each item."""
        return count_codes(self.by_record.item, self.n_items)

    @cached_property
    def support(self) -> Ints:
        """Number of records that have each item."""
        return count_codes(self.distinct.item, self.n_items)

    @cached_property
    def popularity_rank(self) -> Ints:
        """Rank of each item by popularity, 0 for the most popular; ties go by the order of ids."""
        rank = np.empty(self.n_items, np.int64)
        rank[np.argsort(-self.support, kind="stable")] = np.arange(self.n_items)
        return rank

    # Records and entries.

    def keep_entries(self, keep: Bools, reason_if_empty: str) -> "Draft":
        """Keep these entries only; items without entries are removed, and records unless there are columns.

        Raises a ParameterError with the reason if no entry is kept.
        """
        if not keep.any():
            raise ParameterError(f"nothing would be left: {reason_if_empty}")
        return self._select(keep)._count(removed=int(np.count_nonzero(~keep)))

    def merge_entries(self, keep: Bools) -> "Draft":
        """Keep these entries, at least one of each record and item: they represent the others of it."""
        if not np.bincount(self.distinct_index, keep).all():
            raise ParameterError("merge_entries must keep an entry of each record and item")
        return self._select(keep)._count(merged=int(np.count_nonzero(~keep)))

    def keep_items(self, keep: Bools, reason_if_empty: str) -> "Draft":
        """Keep the entries of these items only."""
        return self.keep_entries(keep[self.by_record.item], reason_if_empty)

    def keep_records(
        self, keep: Bools, represented_by: Ints | None = None, reason_if_empty: str = "no record is kept"
    ) -> "Draft":
        """Keep these records only; `represented_by` is the record that represents each (default: itself)."""
        if not keep.any():
            raise ParameterError(f"nothing would be left: {reason_if_empty}")
        draft, kept = self, np.repeat(keep, self.lengths)
        if represented_by is not None:
            draft = replace(self, representatives=compose_indices(self.representatives, represented_by))
        return draft._select(kept, keep)._count(removed=int(np.count_nonzero(~kept)))

    def _select(self, keep: Bools, records: Bools | None = None) -> "Draft":
        """Keep some entries, and some records; default: those with entries, or all if there are columns."""
        if keep.all() and (records is None or records.all()):
            return self
        start = offsets(keep)[self.by_record.start]
        is_kept = self._has_record(start) if records is None else records
        value, time = (None if column is None else column[keep] for column in self.by_record[2:])
        entries = RecordEntries(start[np.append(is_kept, True)], self.by_record.item[keep], value, time)
        return self._restrict(entries, is_kept)

    def _has_record(self, start: Ints) -> Bools:
        """Whether each record is kept if its entries begin there."""
        return np.ones(self.n_records, np.bool_) if self.columns else np.diff(start) > 0

    def with_values(
        self, value: NDArray[Any] | None, levels: Levels | None, released_values: ReleasedValues
    ) -> "Draft":
        """Replace the values; `released_values` are the new values of the levels of the first original."""
        entries = self.by_record._replace(value=value)
        changed = replace(self, released_values=released_values)
        return changed._tighten(self._sort(entries), levels, self.clock)

    def with_times(self, time: NDArray[Any] | None, clock: Clock | None, period: Period | None = None) -> "Draft":
        """Replace the times; `period` is what they were rounded down to, if they were."""
        entries = self.by_record._replace(time=time)
        periods = self.rounding_periods if period is None else (*self.rounding_periods, period)
        return replace(self, rounding_periods=periods)._tighten(self._sort(entries), self.levels, clock)

    def _sort(self, entries: RecordEntries) -> RecordEntries:
        """Put repeated entries into canonical order; other entries are in it."""
        return sort_repeats(entries) if self.has_repeats else entries

    def _count(self, removed: int = 0, merged: int = 0, added: int = 0) -> "Draft":
        """Count changes of the number of entries."""
        now = self.changes
        return replace(self, changes=EntryChanges(now.removed + removed, now.merged + merged, now.added + added))

    def with_items(self, start: Ints, item: Codes, added: int) -> "Draft":
        """Replace all entries, without values and times.

        A record has an item at most once. `added` is the number of entries whose record did not have the
        item; the other entries of the draft are removed, or merged if they are repeats.
        """
        is_kept = self._has_record(start)
        entries = RecordEntries(start[np.append(is_kept, True)], item, None, None)
        no_values = (None,) * len(self.released_values)
        distinct = len(self.distinct.item)
        changed = self._count(removed=distinct + added - len(item), merged=self.n_entries - distinct, added=added)
        return replace(changed, levels=None, clock=None, released_values=no_values)._restrict(entries, is_kept)

    def reorder_records(self, order: Ints) -> "Draft":
        """Put the records into this order."""
        lengths, new_index = self.lengths[order], np.empty(len(order), np.int64)
        new_index[order] = np.arange(len(order))
        start = offsets(lengths)
        entry = np.repeat(self.by_record.start[:-1][order] - start[:-1], lengths) + np.arange(self.n_entries)
        value, time = (None if column is None else column[entry] for column in self.by_record[2:])
        return replace(
            self,
            by_record=RecordEntries(start, self.by_record.item[entry], value, time),
            source_records=self.source_records[order],
            representatives=compose_indices(self.representatives, new_index),
            columns=tuple(column.rows(order) for column in self.columns),
        )

    def run_by_records(self, work: Callable[[int, int], None]) -> None:
        """Call work(low, high) for ranges of records with about PIECE entries each, on threads."""
        cuts = np.searchsorted(self.by_record.start, np.arange(PIECE, self.n_entries, PIECE))
        ends = np.unique(np.concatenate([[0], cuts, [self.n_records]])).tolist()
        self.run_on_threads(lambda piece: work(ends[piece], ends[piece + 1]), len(ends) - 1)

    def run_on_threads(
        self, work: Callable[[int], None], count: int, stage: str = "", progress: Progress = no_progress
    ) -> None:
        """Call work(0) … work(count - 1) on threads."""
        with ThreadPoolExecutor(self.threads) as pool:
            for number, _ in enumerate(pool.map(work, range(count))):
                progress(stage, number, count)

    def _restrict(self, entries: RecordEntries, is_kept: Bools) -> "Draft":
        """Restrict the draft to the kept records; `entries` are theirs, in the old codes of items."""
        is_used = count_codes(entries.item, self.n_items) > 0
        new_code = np.where(is_used, np.cumsum(is_used) - 1, 0).astype(code_type(int(is_used.sum())))
        new_index = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
        columns = self.columns
        if not is_kept.all():
            columns = tuple(column.rows(np.flatnonzero(is_kept)) for column in columns)
        smaller = replace(
            self,
            source_records=self.source_records[is_kept],
            source_items=self.source_items[is_used],
            representatives=compose_indices(self.representatives, new_index),
            columns=columns,
        )
        return smaller._tighten(entries._replace(item=new_code[entries.item]), self.levels, self.clock)

    def _tighten(self, entries: RecordEntries, levels: Levels | None, clock: Clock | None) -> "Draft":
        """Drop unused levels and times outside the data, and use the smallest integer types."""
        value, time = entries.value, entries.time
        value = None if value is None or levels is None else value.astype(code_type(len(levels) + 1))
        time = None if time is None or clock is None else time.astype(code_type(clock.span + 1))
        entries, levels, clock = drop_unused_codes(entries._replace(value=value, time=time), levels, clock)
        if isinstance(levels, tuple) and not levels:  # without any value their type is unknown
            levels = np.empty(0)
        return replace(self, by_record=entries, levels=levels, clock=clock)

    # Columns.

    def column(self, name: str) -> Column:
        """The column of this name, as the steps left it; a ParameterError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        dropped = name in self.source.column_names
        others = f"is not one of {', '.join(names)}{did_you_mean(name, names)}"
        raise ParameterError(f"column {name!r} {'was dropped by an earlier step' if dropped else others}")

    def channel(self, name: str) -> Channel:
        """What happened to a column so far."""
        return self.channels.get(name, Channel(np.arange(self.source.column(name).n_levels)))

    def with_levels(self, name: str, change: LevelChange) -> "Draft":
        """Change the levels of a column, and all its cells with them."""
        channel = self.channel(name)
        channel = replace(channel, released=change.lookup[channel.released].astype(np.int64))
        return self._with_column(recode(self.column(name), change), channel)

    def with_cells(self, column: Column, replaced: float = 0.0, suppressed: float = 0.0) -> "Draft":
        """Change cells of a column; the levels stay.

        With probability `replaced` a cell was replaced by one that is drawn from all cells of the column, and with
        probability `suppressed` it was emptied.
        """
        channel = self.channel(column.name)
        return self._with_column(
            column,
            replace(
                channel,
                replaced=1.0 - (1.0 - channel.replaced) * (1.0 - replaced),
                suppressed=1.0 - (1.0 - channel.suppressed) * (1.0 - suppressed),
            ),
        )

    def without_column(self, name: str) -> "Draft":
        """Remove a column."""
        self.column(name)
        if len(self.columns) == 1:
            raise ParameterError(f"column {name!r} is the last one: it must stay")
        columns = tuple(column for column in self.columns if column.name != name)
        return replace(self, columns=columns, channels={k: v for k, v in self.channels.items() if k != name})

    def _with_column(self, column: Column, channel: Channel) -> "Draft":
        columns = tuple(column if old.name == column.name else old for old in self.columns)
        return replace(self, columns=columns, channels={**self.channels, column.name: channel})


def compose_indices(first: Ints, second: Ints) -> Ints:
    """Indices after two changes: second[first]; -1 stays -1."""
    return np.where(first >= 0, second[first], -1)


# Entries that are gone while their record still has the item: what an adversary who knows one finds instead.
#
# A known entry that was removed or merged is not lost for the adversary if another entry of its record and item
# is left. To an attack it looks as if its value was replaced and its time had moved. Calling it lost would make
# the attack weaker: on purchases of which half were dropped, two facts would identify 72 % instead of 78 %.


ITEM_LEFT = "removed or merged entries whose item is left"
VALUES, TIMES, DAYS = "values replaced", "times replaced", "mean days moved"


def count_replaced(draft: Draft, replacement: Ints) -> dict[str, float]:
    """Count entries with another replacement than themselves, and whose value or time differs from it."""
    gone = np.flatnonzero((replacement >= 0) & (replacement != np.arange(draft.n_entries)))
    other, counts = replacement[gone], {ITEM_LEFT: float(len(gone))}
    value, time, clock = draft.by_record.value, draft.by_record.time, draft.clock
    if value is not None and draft.n_levels:
        counts[VALUES] = int(np.count_nonzero(value[gone] != value[other]))
    if time is not None and clock is not None and clock.span:
        old, new = time[gone].astype(np.int64), time[other].astype(np.int64)
        counts[TIMES] = int(np.count_nonzero(old != new))
        moved = np.abs(new - old)[(new != old) & (old < clock.span) & (new < clock.span)]
        if len(moved):
            counts[DAYS] = float(moved.mean()) * SECONDS[clock.unit] / SECONDS["day"]
    return counts


def replacement_noise(report: StepReport) -> ReleaseNoise | None:
    """Noise of a step by its counts: the share of entries whose item is left, and how these changed.

    A time moves by up to twice the mean distance. None if no entry was replaced.
    """
    counts = report.counts
    if not counts.get(ITEM_LEFT):
        return None
    left = counts["entries"] + counts[ITEM_LEFT]
    values, times = counts.get(VALUES, 0) / left, counts.get(TIMES, 0) / left
    return ReleaseNoise(
        kept=left / counts["entries before"],
        values=(ValueSpread(None, values),) if values else (),
        times=(TimeSpread(2 * counts.get(DAYS, 0.0), times),) if times else (),
    )
