"""The release: N records with columns, entries, or both [the paper's N × M database D̂]."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import read_only
from standout.core.errors import NotFoundError, ParameterError, StoreError, did_you_mean
from standout.data.column import Codes, Column, Levels
from standout.data.entries import Postings, RecordEntries, code_type, unpack_item
from standout.data.export import FrameExport, ResultView, to_frame
from standout.data.labels import Clock, Entry, Item, Labels, Provenance, Record, position_of_id

if TYPE_CHECKING:
    import polars as pl

__all__ = ["INVALID_CODE", "Codes", "Levels", "RecordEntries", "Release", "StoredIndex", "code_type", "read_only"]

INVALID_CODE = "the index is damaged: an entry points nowhere; run standout verify"


class StoredIndex(NamedTuple):
    """The index that a release was opened from: its columns as they were mapped, and their SHA-256, by name."""

    path: Path
    fingerprint: str
    arrays: dict[str, NDArray[Any]]
    sha256: dict[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Release(ResultView, FrameExport):
    """An immutable data set about people [the paper's D̂]: a history has entries, a survey columns, a mix both.

    Make one with `standout.read`, `standout.open` or `standout.synthesize`.

    Attributes
    ----------
    records, items : Labels
        Ids of the records and of the items, in shortlex order; records with columns are in the order of the source.
    titles : Labels or None
        Titles of the items; empty where unknown.
    levels : ndarray of float, tuple of str, or None
        Distinct values in ascending order; None if the release has no values.
    clock : Clock or None
        Meaning of the time codes; None if the release has no times.
    by_record : RecordEntries
        Entries grouped by record.
    by_item : Postings
        The same entries grouped by item.
    provenance : Provenance
        How the source was read.
    stored : StoredIndex or None
        The index, if the release comes from one.
    columns : tuple of Column
        Attributes with one cell for each record; empty for a history.
    has_ids : bool
        Whether the source has ids of records; without, the ids are row numbers.

    Examples
    --------
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
    stored: StoredIndex | None = None
    columns: tuple[Column, ...] = ()
    has_ids: bool = True

    def __post_init__(self) -> None:
        if any(column.n_rows != len(self.records) for column in self.columns):
            raise ParameterError("columns must have one cell for each record")
        if len(set(self.column_names)) < len(self.columns):
            raise ParameterError("columns must have different names")
        levels, entries = self.levels, [None if codes is None else read_only(codes) for codes in self.by_record]
        object.__setattr__(self, "levels", read_only(levels) if isinstance(levels, np.ndarray) else levels)
        object.__setattr__(self, "by_record", RecordEntries(*entries))  # type: ignore[arg-type]

    @classmethod
    def of_columns(
        cls, columns: tuple[Column, ...], ids: Labels | None = None, provenance: Provenance | None = None
    ) -> "Release":
        """Make a survey: one row per person, and no entries."""
        from standout.data.build import pack_by_item

        if not columns:
            raise ParameterError("columns must have at least one column")
        n_rows = columns[0].n_rows
        entries = RecordEntries(np.zeros(n_rows + 1, np.int64), np.empty(0, np.uint8), None, None)
        return cls(
            records=Labels.of(map(str, range(1, n_rows + 1))) if ids is None else replace(ids, ordered=False),
            items=Labels.of(()),
            titles=None,
            levels=None,
            clock=None,
            by_record=entries,
            by_item=pack_by_item(entries, 0, None, None),
            provenance=provenance or Provenance("columns"),
            columns=tuple(columns),
            has_ids=ids is not None,
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def column_position(self, name: str) -> int:
        """Position of a column in `columns`; NotFoundError if there is none of this name."""
        names = self.column_names
        if name not in names:
            raise NotFoundError(
                f"the release has no column {name!r}; it has {', '.join(names)}{did_you_mean(name, names)}"
            )
        return names.index(name)

    def column(self, name: str) -> Column:
        """The column of this name; NotFoundError if there is none."""
        return self.columns[self.column_position(name)]

    @cached_property
    def attributes(self) -> Mapping[str, tuple[int, ...]]:
        """Positions of the columns of each attribute: one, or several of a tuple."""
        found: dict[str, list[int]] = {}
        for position, column in enumerate(self.columns):
            found.setdefault(column.attribute, []).append(position)
        return {name: tuple(positions) for name, positions in found.items()}

    def columns_with_role(self, role: str) -> tuple[str, ...]:
        """Names of the columns with a role: quasi-identifier, sensitive or other."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def n_records(self) -> int:
        """Number of records, N."""
        return len(self.by_record.start) - 1

    @property
    def n_items(self) -> int:
        """Number of items, M."""
        return len(self.items)

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return len(self.by_record.item)

    @property
    def n_levels(self) -> int:
        """Number of value levels; also the value code of an entry without a value."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def span(self) -> int:
        """Number of time units that the release covers; also the time code of an entry without a time."""
        return 0 if self.clock is None else self.clock.span

    @property
    def has_repeats(self) -> bool:
        """Whether some record has an item several times."""
        return len(self.by_item.single) > 0

    @property
    def may_repeat(self) -> bool:
        """Whether people can have an item several times, even if the release has only one entry of each."""
        return self.has_repeats or self.provenance.repeats > 0

    @cached_property
    def history(self) -> "Release":
        """The entries of a mix alone, as a release without columns."""
        return replace(self, columns=()) if self.columns else self

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of entries of every record, |r|."""
        return read_only(np.diff(self.by_record.start))

    @cached_property
    def distinct_items(self) -> NDArray[np.int64]:
        """Number of distinct items of every record, |supp(r)|; equals `lengths` if no item repeats."""
        from standout.data.entries import count_distinct

        if not self.has_repeats:
            return self.lengths
        return read_only(count_distinct(self.by_record, self.n_items)[0])

    @property
    def support(self) -> NDArray[np.int64]:
        """Number of records that have each item, |supp(i)|."""
        return self.by_item.support if self.has_repeats else self.item_entries

    @cached_property
    def item_entries(self) -> NDArray[np.int64]:
        """Number of entries of each item; equals `support` if no record has an item several times."""
        return read_only(np.diff(self.by_item.start))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Popularity rank of every item: 1 is the most popular; ties are in the order of ids."""
        rank = np.empty(self.n_items, np.int64)
        rank[np.argsort(-self.support, kind="stable")] = np.arange(1, self.n_items + 1)
        return read_only(rank)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content: the same for the same entries in any row order; titles do not count.

        Of columns: names, kinds, levels and cells in the order of the rows; ids do not count.
        """
        from standout.data.manifest import fingerprint

        if not self.columns:
            return fingerprint(self) if self.stored is None else self.stored.fingerprint
        digest = hashlib.blake2b(digest_size=16)
        for column in self.columns:
            levels = column.levels
            digest.update(repr((column.name, column.kind, len(levels))).encode())
            digest.update(repr(levels).encode() if isinstance(levels, tuple) else levels.tobytes())
            digest.update(column.codes.tobytes())
            digest.update(b"" if column.starts is None else column.starts.tobytes())
        digest.update(fingerprint(self).encode() if self.n_entries else b"")
        return digest.hexdigest()

    @property
    def time_range(self) -> tuple[date, date] | None:
        """First and last time, or None if no entry has one."""
        if self.clock is None or self.clock.span == 0:
            return None
        first, last = self.clock.decode(0), self.clock.decode(self.clock.span - 1)
        assert first is not None and last is not None
        return first, last

    def record(self, record_id: str | int) -> Record:
        """Find a record by its id."""
        return self.record_at(position_of_id(self.records, record_id))

    def record_at(self, index: int) -> Record:
        """Return the record at a position."""
        if not 0 <= index < self.n_records:
            raise NotFoundError(f"index must be from 0 to {self.n_records - 1:,}, got {index:,}")
        positions = slice(*self.by_record.start[index : index + 2])
        items, value, time = (None if codes is None else codes[positions] for codes in self.by_record[1:])
        assert items is not None
        values: list[float | str | None] = [None] * len(items)
        times: list[date | None] = [None] * len(items)
        if value is not None and self.levels is not None:
            levels = self.levels if isinstance(self.levels, tuple) else self.levels.tolist()
            values = [levels[code] if code < len(levels) else None for code in value]
        if time is not None and self.clock is not None:
            times = [self.clock.decode(int(code)) for code in time]
        return Record(self.records[index], index, tuple(map(Entry, self._texts(self.items, items), values, times)))

    def item(self, item_id: str | int) -> Item:
        """Find an item by its id, with the records that have it."""
        index = position_of_id(self.items, item_id, "item")
        title = "" if self.titles is None else self.titles[index]
        codes, _, _ = unpack_item(self.by_item, index, self.n_levels, self.span)
        records = tuple(self._texts(self.records, np.unique(codes)))
        return Item(self.items[index], index, title, int(self.rank[index]), records)

    def check(self) -> "Release":
        """Check a release from disk: the checksums of its columns, the order of ids, and every code.

        Call it before a loop over all entries. The check runs once, and only for a release from disk.
        """
        if self._damage is not None:
            raise StoreError(self._damage)
        return self

    @cached_property
    def _damage(self) -> str | None:
        from standout.data.manifest import problem

        return None if self.stored is None else problem(self, self.stored)

    def to_frame(self) -> "pl.DataFrame":
        """Return all entries as a Polars frame; of a table without entries the ids, if there are some, and columns."""
        import polars as pl

        if self.n_items:
            return to_frame(self)
        frame = pl.DataFrame([column.to_series() for column in self.columns])
        if not self.has_ids:
            return frame
        return frame.insert_column(0, pl.Series(self.provenance.columns.get("record", "id"), list(self.records)))

    def _frame(self) -> "pl.DataFrame":
        return self.to_frame()

    def __repr__(self) -> str:
        columns = f"{self.n_columns:,} column{'s' if self.n_columns != 1 else ''}"
        if not self.n_items:
            return f"<Release: {self.n_records:,} records × {columns}>"
        parts = [columns] if self.columns else []
        parts += [f"{self.n_entries:,} entries", f"{self.n_records:,} records × {self.n_items:,} items"]
        parts.append("no values" if self.levels is None else f"{len(self.levels):,} values")
        times = self.time_range
        parts.append("no times" if times is None else f"{times[0]} to {times[1]}")
        return f"<Release: {', '.join(parts)}>"

    @staticmethod
    def _texts(labels: Labels, codes: NDArray[np.integer[Any]]) -> list[str]:
        if len(codes) and int(codes.max()) >= len(labels):
            raise StoreError(INVALID_CODE)
        return [labels[code] for code in codes]
