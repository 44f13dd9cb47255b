"""A release without any structure: the control in tests.

Records are as long as each other, to within one entry; items, values and days are drawn evenly.
"""

from datetime import date
from typing import Any

import numpy as np

from standout.core import rng
from standout.core.jit import Int, kernel
from standout.core.progress import Progress
from standout.release.clock import Clock
from standout.release.model import RecordEntries, code_type

__all__ = ["CLOCK", "LEVELS", "columns"]

LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
CLOCK = Clock("day", (date(2000, 1, 1) - date(1970, 1, 1)).days, 2_000)
STRIDE = 1 << 14


def columns(records: int, items: int, entries: int, seed: int, progress: Progress) -> RecordEntries:
    """Entries by record; an item may be left without any."""
    length, longer = divmod(entries, records)
    start = np.arange(records + 1) * length + np.minimum(np.arange(records + 1), longer)
    made = RecordEntries(
        start,
        np.empty(entries, code_type(items)),
        np.empty(entries, code_type(len(LEVELS) + 1)),
        np.empty(entries, code_type(CLOCK.span + 1)),
    )
    stream = rng.key(seed, "flat")
    for low in range(0, records, STRIDE):
        progress("making records", low, records)
        _fill(stream, low, min(low + STRIDE, records), items, len(LEVELS), CLOCK.span, made)
    return made


@kernel
def _fill(
    stream: np.uint64, low: Int, high: Int, items: Int, levels: Int, span: Int, columns: Any
) -> None:  # fmt: skip
    """Fills records low … high - 1. Floyd's method: n of the items without repeats, in n draws."""
    start, item, value, time = columns
    stamp = np.zeros(items, np.int64)
    for record in range(low, high):
        own, mark = rng.mix(stream, np.uint64(record)), record - low + 1
        begin, end = start[record], start[record + 1]
        n = end - begin
        for i in range(n):
            u = rng.uniform(own, np.uint64(3 * i))
            drawn = np.int64(u * (items - n + i + 1))
            if stamp[drawn] == mark:
                drawn = items - n + i
            stamp[drawn] = mark
            item[begin + i] = drawn
            value[begin + i] = np.int64(rng.uniform(own, np.uint64(3 * i + 1)) * levels)
            time[begin + i] = np.int64(rng.uniform(own, np.uint64(3 * i + 2)) * span)
        item[begin:end].sort()
