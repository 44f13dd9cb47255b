"""Several entries of one record and item: count them, put them in order, or keep one of them."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from standout.release import build_kernels
from standout.release.model import Codes, RecordEntries

__all__ = [
    "Repeats",
    "apply_rule",
    "chosen_rule",
    "column_or_empty",
    "count_distinct",
    "merge_repeats",
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


def apply_rule(
    by_record: RecordEntries, repeats: Repeats, are_some: bool, missing: NDArray[np.int64]
) -> RecordEntries:
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
