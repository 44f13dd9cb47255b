"""Several entries of one record and item: count them, put them in order, or keep one of them."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints, offsets, slices_of
from standout.core.memory import drop_pages
from standout.data.release import Codes, RecordEntries, Release, read_only

Repeats = Literal["auto", "keep", "last", "first", "max", "error"]
POLICY = {"last": 0, "first": 1, "max": 2, "error": 0}
KEPT_FROM = 0.01
"""Repeated rows are kept if more than this share of the rows repeat and the user has not chosen."""
PIECE = 1 << 20
"""Number of entries that are worked on at a time: all of them may not fit into memory."""


def chosen_rule(repeats: Repeats, repeated: int, rows: int) -> Repeats:
    """The rule for repeated rows, chosen by their number if it is "auto"."""
    if repeats != "auto":
        return repeats
    return "keep" if repeated > KEPT_FROM * rows else "last"


def repeated_rows(count: int, places: str = "") -> str:
    """Message about rows that repeat, if the user wants none; `places` lists the first ones."""
    return (
        f"{count:,} rows repeat the record and item of an earlier row{places}: "
        "keep all with repeats='keep', or one of them with repeats='last', repeats='first' or repeats='max'"
    )


def record_pieces(by_record: RecordEntries) -> Iterator[tuple[slice, RecordEntries]]:
    """Ranges of records, and their entries alone, with about PIECE entries each."""
    for records in slices_of(np.diff(by_record.start), PIECE):
        start = by_record.start[records.start : records.stop + 1]
        columns = (None if column is None else column[start[0] : start[-1]] for column in by_record[1:])
        yield records, RecordEntries(start - start[0], *columns)  # type: ignore[arg-type]
        drop_pages()


def code_columns(by_record: RecordEntries, low: int, high: int) -> NDArray[np.uint32]:
    """Codes of item, value and time of the entries low … high - 1, for kernels; 0 for what the release lacks."""
    columns = np.zeros((3, high - low), np.uint32)
    for codes, column in zip(columns, by_record[1:], strict=True):
        if column is not None:
            codes[:] = column[low:high]
    return columns


def apply_rule(by_record: RecordEntries, repeats: Repeats, missing: Ints) -> RecordEntries:
    """Keep all entries of a record and item, by time and then by value, or one; changes the arrays that are given.

    Entries are in row order. The rule is not "auto". missing = [value code, time code] of an entry without one.
    """
    from standout.data import build_kernels

    kept_start, total = np.zeros_like(by_record.start), 0
    for records, part in record_pieces(by_record):
        columns = code_columns(part, 0, len(part.item))
        if repeats == "keep":
            build_kernels.sort_repeats(part.start, columns)
        else:
            build_kernels.merge_repeats(part.start, columns, POLICY[repeats], missing)
        count = int(part.start[-1])
        for column, codes in zip(by_record[1:], columns, strict=True):
            if column is not None:
                column[total : total + count] = codes[:count]
        kept_start[records.start + 1 : records.stop + 1] = part.start[1:] + total
        total += count
    item, value, time = (None if column is None else column[:total] for column in by_record[1:])
    assert item is not None
    return RecordEntries(kept_start, item, value, time)


def sort_repeats(by_record: RecordEntries) -> RecordEntries:
    """Sort the entries of each (record, item) by time, then by value: the canonical order."""
    value, time = (None if column is None else column.copy() for column in by_record[2:])
    return apply_rule(
        by_record._replace(item=by_record.item.copy(), value=value, time=time), "keep", np.zeros(2, np.int64)
    )


def has_repeats(by_record: RecordEntries) -> bool:
    """Whether some record has an item several times."""
    return not all(first_entries(part).all() for _, part in record_pieces(by_record))


def count_distinct(by_record: RecordEntries, n_items: int) -> tuple[Ints, Ints]:
    """Return the number of distinct items of each record, and of distinct records of each item."""
    per_record, per_item = np.zeros(len(by_record.start) - 1, np.int64), np.zeros(n_items, np.int64)
    for records, part in record_pieces(by_record):
        distinct = distinct_items(part)
        per_record[records] = np.diff(distinct.start)
        per_item += np.bincount(distinct.item, minlength=n_items)
    return per_record, per_item


# What each record has at least once: its distinct items, and its distinct entries.


class DistinctItems(NamedTuple):
    """Distinct items of each record: record r has item[start[r]:start[r + 1]], in ascending order."""

    start: Ints
    item: Codes


class DistinctEntries(NamedTuple):
    """Entries that differ in record, item, value or time, and how often each occurs."""

    entries: RecordEntries
    number: NDArray[np.int32]


def first_entries(by_record: RecordEntries) -> Bools:
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


def repeat_numbers(by_record: RecordEntries) -> Ints:
    """For each entry, how many entries of its record and item come before it.

    >>> start, item = np.array([0, 3, 4]), np.array([5, 5, 7, 5], np.uint8)
    >>> repeat_numbers(RecordEntries(start, item, None, None)).tolist()
    [0, 1, 0, 0]
    """
    first = np.flatnonzero(first_entries(by_record))
    return np.arange(len(by_record.item)) - np.repeat(first, np.diff(np.append(first, len(by_record.item))))
