"""Releases without any structure, as a control in tests.

Record lengths differ by at most one entry. Items, values and days are drawn uniformly.
"""

from datetime import date
from typing import Any

import numpy as np

from standout.core import rng
from standout.core.jit import Int, kernel
from standout.core.progress import Progress
from standout.release.clock import Clock
from standout.release.model import RecordEntries, code_type

__all__ = ["CLOCK", "LEVELS", "generate_entries"]

LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
CLOCK = Clock("day", (date(2000, 1, 1) - date(1970, 1, 1)).days, 2_000)
N_LEVELS, SPAN = len(LEVELS), CLOCK.span
STRIDE = 1 << 14


def generate_entries(records: int, items: int, entries: int, seed: int, progress: Progress) -> RecordEntries:
    """Entries by record; some items may have none."""
    length, longer = divmod(entries, records)
    start = np.arange(records + 1) * length + np.minimum(np.arange(records + 1), longer)
    columns = RecordEntries(
        start,
        np.empty(entries, code_type(items)),
        np.empty(entries, code_type(len(LEVELS) + 1)),
        np.empty(entries, code_type(CLOCK.span + 1)),
    )
    stream = rng.key(seed, "flat")
    for low in range(0, records, STRIDE):
        progress("making records", low, records)
        _fill(stream, low, min(low + STRIDE, records), items, columns)
    return columns


@kernel
def _fill(stream: np.uint64, low: Int, high: Int, items: Int, columns: Any) -> None:
    """Fill the records low … high - 1.

    Floyd's method draws n different items in n draws.
    """
    start, item, value, time = columns
    last_record = np.zeros(items, np.int64)
    for record in range(low, high):
        key, mark = rng.mix(stream, np.uint64(record)), record - low + 1
        begin, end = start[record], start[record + 1]
        n = end - begin
        for i in range(n):
            u = rng.uniform(key, np.uint64(3 * i))
            drawn = np.int64(u * (items - n + i + 1))
            if last_record[drawn] == mark:
                drawn = items - n + i
            last_record[drawn] = mark
            item[begin + i] = drawn
            value[begin + i] = np.int64(rng.uniform(key, np.uint64(3 * i + 1)) * N_LEVELS)
            time[begin + i] = np.int64(rng.uniform(key, np.uint64(3 * i + 2)) * SPAN)
        item[begin:end].sort()
