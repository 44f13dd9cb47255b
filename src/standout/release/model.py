"""The release: what was published, records × items, in both orientations  [the paper's D̂]."""

from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import NotFoundError, ParameterError, StoreError
from standout.release.clock import Clock
from standout.release.labels import Labels
from standout.release.postings import Postings, unpack_item, words_are_valid
from standout.release.provenance import Provenance

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Codes", "Entry", "Item", "Levels", "Record", "RecordEntries", "Release", "code_type", "read_only"]

Codes = NDArray[np.unsignedinteger[Any]]
Levels = NDArray[np.float64] | tuple[str, ...]


def code_type(count: int) -> np.dtype[Any]:
    """The narrowest type that holds the codes 0 … count - 1."""
    return np.min_scalar_type(max(count - 1, 0))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to.

    Mapped arrays are read-only too: one kind of array, so one compilation of each kernel.
    """
    view = array.view()
    view.flags.writeable = False
    return view


class Entry(NamedTuple):
    """One cell of the release: an item, and its value and time where they are known."""

    item: str
    value: float | str | None
    time: date | None


class RecordEntries(NamedTuple):
    """Entries grouped by record.

    Record r owns the positions start[r] to start[r + 1], in ascending order of `item`, the item codes.
    A value code indexes the release's levels, a time code its clock; one past the last means missing.
    A release without values or times has None there.
    """

    start: NDArray[np.int64]
    item: Codes
    value: Codes | None
    time: Codes | None


@dataclass(frozen=True, slots=True)
class Record:
    """One person's record: its id and its entries in the order of item ids."""

    id: str
    index: int
    entries: tuple[Entry, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def support(self) -> tuple[str, ...]:
        """The items that the record has  [the paper's supp(r)]."""
        return tuple(entry.item for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its id and title, its popularity rank, and the records that have it."""

    id: str
    index: int
    title: str
    rank: int
    support: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.support)


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """An immutable data set of histories; see `standout.read`, `standout.open`, `standout.synthesize`.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> release
    <Release: 1,000 entries, 100 records × 50 items, 5 values, 2001-07-26 to 2005-12-30>
    >>> release.record("17").support[:3]
    ('14', '15', '32')
    >>> len(release.item("14")), release.item("14").rank
    (84, 1)
    """

    records: Labels
    items: Labels
    titles: Labels | None
    levels: Levels | None
    clock: Clock | None
    by_record: RecordEntries
    by_item: Postings
    provenance: Provenance
    stored_fingerprint: str | None = None

    @property
    def n_records(self) -> int:
        """N: how many people."""
        return len(self.records)

    @property
    def n_items(self) -> int:
        """M: how many items."""
        return len(self.items)

    @property
    def n_entries(self) -> int:
        return len(self.by_record.item)

    @property
    def n_levels(self) -> int:
        """How many value levels; the value code of an entry without a value."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def span(self) -> int:
        """How many units of time the release covers; the time code of an entry without a time."""
        return 0 if self.clock is None else self.clock.span

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """|supp(r)| for every record: how many items it has."""
        return read_only(np.diff(self.by_record.start))

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """|supp(i)| for every item: how many records have it."""
        return read_only(np.diff(self.by_item.start))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Popularity rank of every item: 1 is the most popular; equals go by the order of their ids."""
        rank = np.empty(self.n_items, np.int64)
        rank[np.argsort(-self.support, kind="stable")] = np.arange(1, self.n_items + 1)
        return read_only(rank)

    @cached_property
    def fingerprint(self) -> str:
        """A name of the content, the same for the same entries in any row order; titles do not count."""
        from standout.release.flat_arrays import fingerprint

        return self.stored_fingerprint or fingerprint(self)

    @property
    def time_range(self) -> tuple[date, date] | None:
        """The first and the last time, or None where no entry has one."""
        if self.clock is None or self.clock.span == 0:
            return None
        first, last = self.clock.decode(0), self.clock.decode(self.clock.span - 1)
        assert first is not None and last is not None
        return first, last

    def record(self, record_id: str) -> Record:
        """The record with this id."""
        if not isinstance(record_id, str):
            raise ParameterError(f"a record's id is text, got {type(record_id).__name__}")
        index = self.records.find(record_id)
        if index is None:
            raise NotFoundError("the release has no record of that id; ids are text, so 007 is not 7")
        return self.record_at(index)

    def record_at(self, index: int) -> Record:
        """The record at a position, 0 … n_records - 1."""
        if not 0 <= index < self.n_records:
            raise NotFoundError(f"record positions run from 0 to {self.n_records - 1:,}, got {index:,}")
        here = slice(*self.by_record.start[index : index + 2])
        items = self._labels(self.items, self.by_record.item[here])
        values = self._values(self.by_record.value, here)
        times = self._times(self.by_record.time, here)
        entries = tuple(map(Entry, items, values, times))
        return Record(self.records[index], index, entries)

    def item(self, item_id: str) -> Item:
        """The item with this id, and the records that have it."""
        index = self.items.find(item_id) if isinstance(item_id, str) else None
        if index is None:
            raise NotFoundError("the release has no item of that id; ids are text, so 007 is not 7")
        title = "" if self.titles is None else self.titles[index]
        codes, _, _ = unpack_item(self.by_item, index, self.n_levels, self.span)
        records = self._labels(self.records, codes)
        return Item(self.items[index], index, title, int(self.rank[index]), tuple(records))

    def check(self) -> "Release":
        """The release itself, or an error if a code points nowhere: a mapped index may be damaged.

        Looked at once, and only where the release comes from disk; what walks all entries calls it first.
        """
        if not self._sound:
            raise StoreError("the index is damaged: an entry points nowhere; run standout verify")
        return self

    @cached_property
    def _sound(self) -> bool:
        if self.stored_fingerprint is None:
            return True
        columns = zip(self.by_record[1:], (self.n_items - 1, self.n_levels, self.span), strict=True)
        return all(
            column is None or int(column.max(initial=0)) <= high for column, high in columns
        ) and words_are_valid(self.by_item, self.n_records, self.n_levels, self.span)

    def to_frame(self) -> "pl.DataFrame":
        """Every entry as a Polars frame: record, item and, where the release has them, value and time."""
        from standout.release.export import to_frame

        return to_frame(self)

    def __repr__(self) -> str:
        parts = [f"{self.n_entries:,} entries", f"{self.n_records:,} records × {self.n_items:,} items"]
        parts.append("no values" if self.levels is None else f"{len(self.levels):,} values")
        ends = self.time_range
        parts.append("no times" if ends is None else f"{ends[0]} to {ends[1]}")
        return f"<Release: {', '.join(parts)}>"

    def _labels(self, labels: Labels, codes: NDArray[np.integer[Any]]) -> list[str]:
        if len(codes) and int(codes.max()) >= len(labels):
            raise StoreError("the index is damaged: an entry points nowhere; run standout verify")
        return [labels[code] for code in codes]

    def _values(self, column: Codes | None, here: slice) -> list[float | str | None]:
        if column is None or self.levels is None:
            return [None] * (here.stop - here.start)
        levels = self.levels if isinstance(self.levels, tuple) else tuple(self.levels.tolist())
        return [levels[code] if code < len(levels) else None for code in column[here]]

    def _times(self, column: Codes | None, here: slice) -> list[date | None]:
        if column is None or self.clock is None:
            return [None] * (here.stop - here.start)
        return [self.clock.decode(int(code)) for code in column[here]]
