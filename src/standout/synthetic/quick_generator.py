"""Releases with the shape of real ones: long-tailed popularity and record lengths, ratings, dates in bursts.

This quick generator is for demonstrations, tests and benchmarks. It is not calibrated on any data set.
"""

from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import rng
from standout.core.arrays import Floats, Ints, offsets
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress
from standout.release.clock import Clock
from standout.release.model import RecordEntries, code_type
from standout.synthetic.record_lengths import fit_lengths

__all__ = ["CLOCK", "LEVELS", "generate_entries"]


SPREAD = 1.25
"""Deviation of log lengths: mean ÷ median = e^(SPREAD² / 2), as for subscribers of a film service."""
HEAD = 0.03
"""Popularity falls as 1 / (rank + HEAD·items)²."""
DENSE = 4
"""Records with more than items ÷ DENSE entries are drawn by `_draw_dense`."""
FIRST_DAY, LAST_DAY = date(1999, 12, 1), date(2005, 12, 31)
CLOCK = Clock("day", (FIRST_DAY - date(1970, 1, 1)).days, (LAST_DAY - FIRST_DAY).days + 1)
SPAN = CLOCK.span
LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
STRIDE = 1 << 14


class _Items(NamedTuple):
    """The items: their order by popularity, their appeal, and those given to each record in advance.

    by_rank             the item of each popularity rank
    given_start, given  the items given to each record, one record after the other
    last_record         the last record (+ 1) that drew each item, to draw no item twice
    """

    by_rank: NDArray[np.uint32]
    appeal: Floats
    given_start: Ints
    given: NDArray[np.uint32]
    last_record: Ints


def generate_entries(records: int, items: int, entries: int, seed: int, progress: Progress) -> RecordEntries:
    """Entries by record; every item has at least one."""
    draw = rng.generator(seed, "synthetic", "lengths")
    start = offsets(fit_lengths(np.exp(SPREAD * draw.standard_normal(records)), items, entries, draw))
    columns = RecordEntries(
        start,
        np.empty(entries, code_type(items)),
        np.empty(entries, code_type(len(LEVELS) + 1)),
        np.empty(entries, code_type(CLOCK.span + 1)),
    )
    _fill(columns, items, seed, progress)
    return columns


def _fill(columns: RecordEntries, items: int, seed: int, progress: Progress) -> None:
    start, (records, entries) = columns.start, (len(columns.start) - 1, len(columns.item))
    draw = rng.generator(seed, "synthetic", "items")
    by_rank = draw.permutation(items).astype(np.uint32)
    appeal = draw.standard_normal(items)
    # one entry is reserved for every item, so that each item has at least one
    reserved = np.sort(draw.choice(entries, items, replace=False, shuffle=False))
    record_of = np.searchsorted(start, reserved, side="right") - 1
    given = draw.permutation(items).astype(np.uint32)
    given_start = np.searchsorted(record_of, np.arange(records + 1))
    tables = _Items(by_rank, appeal, given_start, given, last_record=np.zeros(items, np.int64))
    stream = rng.key(seed, "synthetic", "records")
    for low in range(0, records, STRIDE):
        progress("making records", low, records)
        high = min(low + STRIDE, records)
        _fill_records(stream, low, high, tables, columns)


@kernel
def _fill_records(stream: np.uint64, low: Int, high: Int, tables: Any, columns: Any) -> None:
    """Fill the records low … high - 1; every draw depends only on the seed and the record."""
    by_rank, appeal, given_start, given, last_record = tables
    n_items = len(by_rank)
    start, item, value, time = columns
    for record in range(low, high):
        key = rng.mix(stream, np.uint64(record))
        begin, end = start[record], start[record + 1]
        at = begin
        for i in range(given_start[record], given_start[record + 1]):
            last_record[given[i]] = record + 1
            item[at] = given[i]
            at += 1
        if end - begin > n_items // DENSE:
            _draw_dense(key, by_rank, last_record, record + 1, item[at:end])
        else:
            _draw_sparse(key, by_rank, last_record, record + 1, item[at:end])
        item[begin:end].sort()
        _draw_ratings(key, appeal, item[begin:end], value[begin:end])
        _draw_dates(key, time[begin:end])


@kernel
def _draw_sparse(key: np.uint64, by_rank: Array, last_record: Array, mark: Int, out: Array) -> None:
    """Draw items by popularity until enough are new; 1 / (rank + q)² has a closed inverse."""
    n_items = len(by_rank)
    q = HEAD * n_items
    most = n_items / (q + n_items)
    n, draw = 0, 0
    while n < len(out):
        u = rng.uniform(key, np.uint64(draw)) * most
        draw += 1
        drawn = by_rank[min(int(q * u / (1 - u)), n_items - 1)]
        if last_record[drawn] != mark:
            last_record[drawn] = mark
            out[n] = drawn
            n += 1


@kernel
def _draw_dense(key: np.uint64, by_rank: Array, last_record: Array, mark: Int, out: Array) -> None:
    """Take the items with the shortest exponential waiting times: the same distribution, no rejections."""
    n_items = len(by_rank)
    q = HEAD * n_items
    waiting = np.empty(n_items, np.float64)
    for rank in range(n_items):
        u = rng.uniform(key, np.uint64(rank))
        is_new = last_record[by_rank[rank]] != mark
        waiting[rank] = -np.log(1 - u) * (rank + q) ** 2 if is_new else np.inf
    first = np.argsort(waiting)
    for n in range(len(out)):
        out[n] = by_rank[first[n]]
        last_record[out[n]] = mark


@kernel
def _draw_ratings(record_key: np.uint64, appeal: Array, item: Array, value: Array) -> None:
    """Draw ratings 1 to 5 (codes 0 to 4) from the person's mood, the item's appeal, and noise."""
    key = rng.mix(record_key, np.uint64(1 << 40))
    mood = _bell(key, 0)
    for i in range(len(item)):
        stars = 3.6 + 0.45 * mood + 0.4 * appeal[item[i]] + 0.9 * _bell(key, 4 * (i + 1))
        value[i] = min(max(int(np.floor(stars + 0.5)), 1), 5) - 1


@kernel
def _bell(key: np.uint64, draw: Int) -> float:
    """Sum of four uniform numbers, nearly normal with deviation 1."""
    total = 0.0
    for i in range(4):
        total += rng.uniform(key, np.uint64(draw + i))
    return (total - 2.0) * 1.7320508075688772


@kernel
def _draw_dates(record_key: np.uint64, time: Array) -> None:
    """Draw dates in bursts: people join late in the period and come back several times."""
    key = rng.mix(record_key, np.uint64(1 << 41))
    joined = int(SPAN * rng.uniform(key, np.uint64(0)) ** 0.3)
    visits = 1 + int(len(time) ** 0.6)
    for i in range(len(time)):
        visit = int(visits * rng.uniform(key, np.uint64(2 * i + 1)) ** 2)
        later = rng.uniform(key, np.uint64((1 << 32) + visit)) ** 1.5 if visit > 0 else 0.0
        time[i] = joined + int((SPAN - 1 - joined) * later)
