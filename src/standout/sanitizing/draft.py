"""A release between two steps: its columns and entries, and how the original maps to them so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from standout.core.arrays import Bools, Floats, Ints, offsets, read_only, take_rows
from standout.core.errors import ParameterError, did_you_mean
from standout.core.threads import thread_count
from standout.data.build import count_codes, drop_unused_codes
from standout.data.column import Column, ColumnKind, ColumnSimilarity, Hierarchy, code_dtype
from standout.data.entries import DistinctItems, distinct_items, entries_at, first_entries, sort_repeats
from standout.data.labels import Bins, Clock
from standout.data.release import Codes, Levels, RecordEntries, Release, code_type
from standout.know.facts import level_values
from standout.know.sanitized import Channel, Sanitized

ReleasedValues = tuple[float | str | None, ...]


@dataclass(frozen=True, eq=False)
class LevelChange:
    """New levels of a column, and the new code of each old level; `len(levels)` for an emptied one."""

    kind: ColumnKind
    levels: Levels
    code: Ints
    hierarchy: Hierarchy | None = None

    @property
    def lookup(self) -> NDArray[Any]:
        """New code of each old code, the one of a missing cell included."""
        n_levels = len(self.levels)
        return np.append(self.code, n_levels).astype(code_dtype(n_levels))


def merge_numbers(kind: ColumnKind, numbers: Floats) -> LevelChange:
    """Each level of a number or date becomes this number; equal ones become one level."""
    levels, code = np.unique(numbers, return_inverse=True)
    return LevelChange(kind, levels, code.astype(np.int64))


def merge_labels(column: Column, group: Ints, labels: tuple[str, ...], height: int = 0) -> LevelChange:
    """Each level becomes the label of its group; `height` is that of the groups in the hierarchy, 0 if in none."""
    used, position = np.unique(group, return_inverse=True)
    first: dict[str, int] = {}
    new_code = np.array([first.setdefault(labels[place], len(first)) for place in used.tolist()], np.int64)
    code = new_code[position]
    kind: ColumnKind = column.kind if column.kind in ("category", "ordered", "set") else "ordered"
    kind = "category" if column.kind == "boolean" else kind
    tree, higher = column.hierarchy, None
    if tree is not None and 0 < height < tree.height and not (np.diff(code) < 0).any():
        first_level = np.searchsorted(code, np.arange(len(first)))
        higher = Hierarchy(tree.labels[height:], tree.groups[height:, first_level])
    return LevelChange(kind, tuple(first), code, higher)


def recode(column: Column, change: LevelChange) -> Column:
    """The column with new levels. A set has each of its members once."""
    codes, starts = change.lookup[column.codes], column.starts
    if starts is not None:
        row = np.repeat(np.arange(column.n_rows), np.diff(starts))
        is_kept = codes < len(change.levels)
        width = len(change.levels) + 1
        cells = np.unique(row[is_kept] * width + codes[is_kept])
        codes = (cells % width).astype(codes.dtype)
        starts = offsets(np.bincount(cells // width, minlength=column.n_rows))
    similarity = column.similarity
    if similarity.name == "hierarchy" and change.hierarchy is None:
        similarity = ColumnSimilarity()
    elif similarity.name in ("within", "decay") and isinstance(change.levels, tuple):
        similarity = ColumnSimilarity("ordered")
    return replace(
        column,
        kind=change.kind,
        levels=change.levels,
        codes=codes,
        starts=starts,
        hierarchy=change.hierarchy,
        similarity=similarity,
    )


def compact(column: Column, is_used: Bools | None = None) -> tuple[Column, LevelChange]:
    """The column with these levels only (default: those that occur), and the new code of each level."""
    is_used = column.counts[:-1] > 0 if is_used is None else is_used
    kept = np.flatnonzero(is_used)
    code = np.where(is_used, np.cumsum(is_used) - 1, len(kept)).astype(np.int64)
    levels, tree = column.levels, column.hierarchy
    levels = tuple(levels[level] for level in kept.tolist()) if isinstance(levels, tuple) else levels[kept]
    tree = Hierarchy(tree.labels, tree.groups[:, kept]) if tree is not None and len(kept) else None
    change = LevelChange(column.kind, levels, code, tree)
    return (column, change) if is_used.all() else (recode(column, change), change)


def same_values(column: Column, other: Column) -> Ints:
    """For each level of a column, the code of the same value in the other column; -1: it is not there."""
    levels, others = (list[Any](np.asarray(each.levels, object)) for each in (column, other))
    if column.kind != other.kind and not isinstance(other.levels, tuple):
        others = []  # a date is no number
    code_of = {level: code for code, level in enumerate(others)}
    return np.array([code_of.get(level, -1) for level in levels], np.int64)


def with_levels_of(column: Column, other: Column) -> Column:
    """The cells of a column in the codes of another one; a value that the other lacks is left out."""
    code = same_values(column, other)
    change = LevelChange(other.kind, other.levels, np.where(code < 0, other.n_levels, code), other.hierarchy)
    return replace(recode(column, change), similarity=other.similarity)


@dataclass(frozen=True, eq=False)
class Draft:
    """A release being sanitized; every item and level has an entry, and every record one if there are no columns.

    A record may have several entries of an item, in canonical order after every step: by time, then by value.

    source            release that is being sanitized; with columns: the first original
    source_records    for each record its index in the source, and so `source_items`; ascending until the last step
    representatives   for each record of the first original, the index of the record that represents it; -1: none
    released_values   for each level of the first original, its value now; None: values are removed
    columns           the columns that are left, with all levels of the steps so far, even if no cell has them
    merged, added     entries so far that another of the record and item represents, and false ones; the others are
                      removed: entries before = entries + removed + merged - added
    """

    source: Release
    by_record: RecordEntries
    levels: Levels | None
    clock: Clock | None
    source_records: Ints
    source_items: Ints
    representatives: Ints
    released_values: ReleasedValues
    threads: int
    columns: tuple[Column, ...] = ()
    channels: Mapping[str, Channel] = field(default_factory=dict)
    merged: int = 0
    added: int = 0

    def __post_init__(self) -> None:
        entries = (None if codes is None else read_only(codes) for codes in self.by_record)
        object.__setattr__(self, "by_record", RecordEntries(*entries))  # type: ignore[arg-type]

    @classmethod
    def of(cls, source: Release, threads: int | None = None) -> "Draft":
        """Draft of a release before any step."""
        mapping = source.mapping if isinstance(source, Sanitized) else None
        records = np.arange(source.n_records)
        return cls(
            source=source,
            by_record=source.check().by_record,
            levels=source.levels,
            clock=source.clock,
            source_records=records,
            source_items=np.arange(source.n_items),
            representatives=records if mapping is None else mapping.representatives,
            released_values=level_values(source) if mapping is None else mapping.released_values,
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
        """Keep these entries only; items without entries are removed, and records unless there are columns."""
        if not keep.any():
            raise ParameterError(f"nothing would be left: {reason_if_empty}")
        return self._select(keep)

    def merge_entries(self, keep: Bools) -> "Draft":
        """Keep these entries, at least one of each record and item: they represent the others of it."""
        if not np.bincount(self.distinct_index, keep).all():
            raise ParameterError("merge_entries must keep an entry of each record and item")
        return replace(self._select(keep), merged=self.merged + int(np.count_nonzero(~keep)))

    def keep_items(self, keep: Bools, reason_if_empty: str) -> "Draft":
        """Keep the entries of these items only."""
        return self.keep_entries(keep[self.by_record.item], reason_if_empty)

    def keep_records(
        self, keep: Bools, represented_by: Ints | None = None, reason_if_empty: str = "no record is kept"
    ) -> "Draft":
        """Keep these records only; `represented_by` is the record that represents each (default: itself)."""
        if not keep.any():
            raise ParameterError(f"nothing would be left: {reason_if_empty}")
        draft = self
        if represented_by is not None:
            draft = replace(self, representatives=compose_indices(self.representatives, represented_by))
        return draft._select(np.repeat(keep, self.lengths), keep)

    def _select(self, keep: Bools, records: Bools | None = None) -> "Draft":
        """Keep some entries, and some records; default: those with entries, or all if there are columns."""
        if keep.all() and (records is None or records.all()):
            return self
        return self._restrict(entries_at(self.by_record, keep, offsets(keep)[self.by_record.start]), records)

    def _restrict(self, entries: RecordEntries, records: Bools | None) -> "Draft":
        """Restrict the draft to these entries, in the old codes of records and items, and to these records."""
        if records is None:
            records = np.ones(self.n_records, np.bool_) if self.columns else np.diff(entries.start) > 0
        is_used = count_codes(entries.item, self.n_items) > 0
        new_code = np.where(is_used, np.cumsum(is_used) - 1, 0).astype(code_type(int(is_used.sum())))
        columns = self.columns
        if not records.all():
            columns = tuple(column.rows(np.flatnonzero(records)) for column in columns)
        smaller = replace(
            self,
            source_records=self.source_records[records],
            source_items=self.source_items[is_used],
            representatives=compose_indices(self.representatives, np.where(records, np.cumsum(records) - 1, -1)),
            columns=columns,
        )
        entries = entries._replace(start=entries.start[np.append(records, True)], item=new_code[entries.item])
        return smaller._tighten(entries, self.levels, self.clock)

    def with_values(self, value: NDArray[Any] | None, levels: Levels | None, bins: Bins | None = None) -> "Draft":
        """Replace the values, or remove them; `bins` are those that numbers were grouped into."""
        released = self.released_values if bins is None else bins.bin_values(self.released_values)  # type: ignore[arg-type]
        changed = replace(self, released_values=(None,) * len(released) if levels is None else released)
        return changed._tighten(self.by_record._replace(value=value), levels, self.clock, self.has_repeats)

    def with_times(self, time: NDArray[Any] | None, clock: Clock | None) -> "Draft":
        """Replace the times, or remove them."""
        return self._tighten(self.by_record._replace(time=time), self.levels, clock, self.has_repeats)

    def with_items(self, start: Ints, item: Codes, added: int) -> "Draft":
        """Replace all entries, without values, times and repeats; `added` of them are false."""
        values, merged = (None,) * len(self.released_values), self.merged + self.n_entries - len(self.distinct.item)
        added += self.added
        changed = replace(self, levels=None, clock=None, released_values=values, merged=merged, added=added)
        return changed._restrict(RecordEntries(start, item, None, None), None)

    def reorder_records(self, order: Ints) -> "Draft":
        """Put the records into this order."""
        start, entry = take_rows(self.by_record.start, order)
        return replace(
            self,
            by_record=entries_at(self.by_record, entry, start),
            source_records=self.source_records[order],
            representatives=compose_indices(self.representatives, np.argsort(order)),
            columns=tuple(column.rows(order) for column in self.columns),
        )

    def _tighten(
        self, entries: RecordEntries, levels: Levels | None, clock: Clock | None, sort: bool = False
    ) -> "Draft":
        """Drop unused levels and times outside the data, use the smallest integer types, sort repeated entries."""
        entries = sort_repeats(entries) if sort else entries
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
        """Change cells of a column: with these probabilities they were replaced by anybody's, or emptied."""
        channel = self.channel(column.name)
        replaced = 1.0 - (1.0 - channel.replaced) * (1.0 - replaced)
        suppressed = 1.0 - (1.0 - channel.suppressed) * (1.0 - suppressed)
        return self._with_column(column, replace(channel, replaced=replaced, suppressed=suppressed))

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


def entry_counts(release: Release, records: Ints, item_codes: Ints) -> csr_array:
    """Records × items of the original: the number of entries, given the code in the release of each item (-1: none)."""
    original_item = np.argsort(item_codes, kind="stable")[len(item_codes) - release.n_items :]
    start, entry = take_rows(release.by_record.start, records)
    item = original_item[release.by_record.item[entry]].astype(np.int32)
    counts = csr_array((np.ones(len(item), np.int32), item, start), shape=(len(records), len(item_codes)))
    counts.sum_duplicates()
    return counts


def compose_indices(first: Ints, second: Ints) -> Ints:
    """Indices after two changes: second[first]; -1 stays -1."""
    return np.where(first >= 0, second[first], -1)
