"""Several entries of one record and item: count them, put them in order, or keep one of them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints, offsets
from standout.data import build_kernels
from standout.data.release import Codes, RecordEntries, Release, read_only

__all__ = [
    "DistinctEntries",
    "DistinctItems",
    "Repeats",
    "apply_rule",
    "chosen_rule",
    "column_or_empty",
    "count_distinct",
    "distinct_entries",
    "distinct_items",
    "distinct_positions",
    "first_entries",
    "merge_repeats",
    "repeat_numbers",
    "repeated_rows",
    "sort_in_place",
    "sort_repeats",
]

Repeats = Literal["auto", "keep", "last", "first", "max", "error"]
POLICY = {"last": 0, "first": 1, "max": 2, "error": 0}
KEPT_FROM = 0.01
"""Repeated rows are kept if more than this share of the rows repeat and the user has not chosen."""
NO_CODES: Codes = np.empty(0, np.uint8)


def chosen_rule(repeats: Repeats, repeated: int, rows: int) -> Repeats:
    """The rule for repeated rows, chosen by their number if it is "auto"."""
    if repeats != "auto":
        return repeats
    return "keep" if repeated > KEPT_FROM * rows else "last"


def apply_rule(by_record: RecordEntries, repeats: Repeats, are_some: bool, missing: NDArray[np.int64]) -> RecordEntries:
    """Apply a rule other than "auto" to entries in row order; the arrays that are given may change.

    missing = [value code, time code] of an entry without one.
    """
    if not are_some:
        return by_record
    if repeats == "keep":
        sort_in_place(by_record)
        return by_record
    return merge_repeats(by_record, missing, repeats)


def repeated_rows(count: int, places: str = "") -> str:
    """Message about rows that repeat, if the user wants none; `places` lists the first ones."""
    return (
        f"{count:,} rows repeat the record and item of an earlier row{places}: "
        "keep all with repeats='keep', or one of them with repeats='last', repeats='first' or repeats='max'"
    )


def count_distinct(by_record: RecordEntries, n_items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of distinct items of each record, and of distinct records of each item."""
    per_record, per_item = np.zeros(len(by_record.start) - 1, np.int64), np.zeros(n_items, np.int64)
    build_kernels.count_distinct(by_record.start, by_record.item, per_record, per_item)
    return per_record, per_item


def sort_repeats(by_record: RecordEntries) -> RecordEntries:
    """Sort the entries of each (record, item) by time, then by value: the canonical order."""
    start, item, value, time = by_record
    copies = (None if column is None else column.copy() for column in (value, time))
    by_record = RecordEntries(start, item, *copies)
    sort_in_place(by_record)
    return by_record


def sort_in_place(by_record: RecordEntries) -> None:
    """The same in the arrays that are given."""
    build_kernels.sort_repeats(
        by_record.start, by_record.item, column_or_empty(by_record.value), column_or_empty(by_record.time)
    )


def merge_repeats(by_record: RecordEntries, missing: NDArray[np.int64], repeats: Repeats) -> RecordEntries:
    """Keep one entry of each (record, item); entries are in row order.

    missing = [value code, time code] of an entry without one.
    """
    start, item, value, time = by_record
    new_start = np.zeros_like(start)
    columns = item, column_or_empty(value), column_or_empty(time)
    build_kernels.merge_repeats(start, *columns, POLICY[repeats], missing, new_start)
    kept = slice(0, int(new_start[-1]))
    value = None if value is None else value[kept].copy()
    time = None if time is None else time[kept].copy()
    return RecordEntries(new_start, item[kept].copy(), value, time)


def column_or_empty(column: Codes | None) -> Codes:
    """Return a column for kernels, which take an empty one for none."""
    return NO_CODES if column is None else column


# What each record has at least once: its distinct items, and its distinct entries.


class DistinctItems(NamedTuple):
    """Distinct items of each record: record r has item[start[r]:start[r + 1]], in ascending order."""

    start: NDArray[np.int64]
    item: Codes


class DistinctEntries(NamedTuple):
    """Entries that differ in record, item, value or time, and how often each occurs."""

    entries: RecordEntries
    number: NDArray[np.int32]


def first_entries(by_record: RecordEntries) -> NDArray[np.bool_]:
    """Whether each entry is the first of its record and item."""
    is_first = np.ones(len(by_record.item), np.bool_)
    np.not_equal(by_record.item[1:], by_record.item[:-1], out=is_first[1:])
    begins = by_record.start[:-1]
    is_first[begins[begins < len(is_first)]] = True
    return is_first


def distinct_items(by_record: RecordEntries) -> DistinctItems:
    """Return the distinct items of each record.

    >>> start, item = np.array([0, 3, 4]), np.array([5, 5, 7, 5], np.uint8)
    >>> distinct = distinct_items(RecordEntries(start, item, None, None))
    >>> distinct.start.tolist(), distinct.item.tolist()
    ([0, 2, 3], [5, 7, 5])
    """
    is_first = first_entries(by_record)
    if is_first.all():
        return DistinctItems(by_record.start, by_record.item)
    return DistinctItems(offsets(is_first)[by_record.start], by_record.item[is_first])


def distinct_entries(release: Release) -> DistinctEntries:
    """Return the distinct entries of a release, computed once.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> len(distinct_entries(release).entries.item)
    1000
    """
    kept: dict[str, DistinctEntries] = vars(release)
    if "_distinct_entries" not in kept:
        by_record = release.by_record
        is_new = first_entries(by_record)
        is_new[1:] |= _differ(by_record[2:])
        value, time = (None if column is None else read_only(column[is_new]) for column in by_record[2:])
        start = read_only(offsets(is_new)[by_record.start])
        number = np.diff(np.append(np.flatnonzero(is_new), len(is_new))).astype(np.int32)
        entries = RecordEntries(start, read_only(by_record.item[is_new]), value, time)
        kept["_distinct_entries"] = DistinctEntries(entries, read_only(number))
    return kept["_distinct_entries"]


def distinct_positions(release: Release, records: Ints) -> tuple[Ints, Ints]:
    """Positions of these records' distinct entries among the entries by record; where each record's begin.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> positions, first = distinct_positions(release, np.array([16, 17]))
    >>> first.tolist(), len(positions)
    ([0, 3, 7], 7)
    """
    by_record, counts = release.by_record, release.lengths[records]
    first = offsets(counts)
    position = np.arange(first[-1]) + np.repeat(by_record.start[records] - first[:-1], counts)
    if not release.has_repeats:
        return position, first
    is_new = np.zeros(len(position), np.bool_)
    is_new[first[:-1][counts > 0]] = True
    is_new[1:] |= _differ([None if column is None else column[position] for column in by_record[1:]])
    return position[is_new], offsets(is_new)[first]


def _differ(columns: Sequence[Codes | None]) -> Bools | np.bool_:
    """Whether each entry but the first differs from the one before; equal ones of a record are neighbours."""
    differences = [column[1:] != column[:-1] for column in columns if column is not None]
    return np.logical_or.reduce(differences) if differences else np.bool_(False)


def repeat_numbers(by_record: RecordEntries) -> NDArray[np.int64]:
    """For each entry, how many entries of its record and item come before it.

    >>> start, item = np.array([0, 3, 4]), np.array([5, 5, 7, 5], np.uint8)
    >>> repeat_numbers(RecordEntries(start, item, None, None)).tolist()
    [0, 1, 0, 0]
    """
    first = np.flatnonzero(first_entries(by_record))
    return np.arange(len(by_record.item)) - np.repeat(first, np.diff(np.append(first, len(by_record.item))))
