"""Releases with the shape of real ones: long-tailed popularity and record lengths, ratings, dates in bursts.

A quick generator for demonstrations, tests and benchmarks; it is not calibrated on any data set.
"""

from datetime import date
from typing import Any

import numpy as np

from standout.core import rng
from standout.core.arrays import offsets
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress
from standout.release.clock import Clock
from standout.release.model import RecordEntries, code_type
from standout.synthetic.lengths import fitted

__all__ = ["CLOCK", "LEVELS", "columns"]


SPREAD = 1.25  # of log lengths: mean ÷ median = e^(SPREAD² / 2), as for a film service's subscribers
HEAD = 0.03  # popularity falls as 1 / (rank + HEAD·items)²
DENSE = 4  # records with more than items ÷ DENSE entries are drawn in another way
FIRST_DAY, LAST_DAY = date(1999, 12, 1), date(2005, 12, 31)
CLOCK = Clock("day", (FIRST_DAY - date(1970, 1, 1)).days, (LAST_DAY - FIRST_DAY).days + 1)
LEVELS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
STRIDE = 1 << 14


def columns(records: int, items: int, entries: int, seed: int, progress: Progress) -> RecordEntries:
    """Entries by record; every item has one at least."""
    draw = rng.generator(seed, "synthetic", "lengths")
    start = offsets(fitted(np.exp(SPREAD * draw.standard_normal(records)), items, entries, draw))
    made = RecordEntries(
        start,
        np.empty(entries, code_type(items)),
        np.empty(entries, code_type(len(LEVELS) + 1)),
        np.empty(entries, code_type(CLOCK.span + 1)),
    )
    _fill(made, items, CLOCK.span, seed, progress)
    return made


def _fill(columns: RecordEntries, items: int, span: int, seed: int, progress: Progress) -> None:
    start, (records, entries) = columns.start, (len(columns.start) - 1, len(columns.item))
    draw = rng.generator(seed, "synthetic", "items")
    by_rank = draw.permutation(items).astype(np.uint32)
    appeal = draw.standard_normal(items)
    # every item goes to somebody: one place among all entries is set aside for it
    places = np.sort(draw.choice(entries, items, replace=False, shuffle=False))
    given_to = np.searchsorted(start, places, side="right") - 1
    given = draw.permutation(items).astype(np.uint32)
    given_start = np.searchsorted(given_to, np.arange(records + 1))
    stream = rng.key(seed, "synthetic", "records")
    stamp = np.zeros(items, np.int64)
    for low in range(0, records, STRIDE):
        progress("making records", low, records)
        high = min(low + STRIDE, records)
        _records(stream, low, high, span, by_rank, appeal, given_start, given, stamp, columns)


@kernel
def _records(
    stream: np.uint64, low: Int, high: Int, span: Int, by_rank: Array, appeal: Array, given_start: Array,
    given: Array, stamp: Array, columns: Any,
) -> None:  # fmt: skip
    """Fills records low … high - 1. Every draw depends on the seed and the record only."""
    n_items = len(by_rank)
    start, item, value, time = columns
    for record in range(low, high):
        own = rng.mix(stream, np.uint64(record))
        begin, end = start[record], start[record + 1]
        at = begin
        for i in range(given_start[record], given_start[record + 1]):
            stamp[given[i]] = record + 1
            item[at] = given[i]
            at += 1
        if end - begin > n_items // DENSE:
            _draw_dense(own, n_items, by_rank, stamp, record + 1, item[at:end])
        else:
            _draw_sparse(own, n_items, by_rank, stamp, record + 1, item[at:end])
        item[begin:end].sort()
        _rate(own, appeal, item[begin:end], value[begin:end])
        _date(own, span, time[begin:end])


@kernel
def _draw_sparse(own: np.uint64, n_items: Int, by_rank: Array, stamp: Array, mark: Int, out: Array) -> None:
    """Draws items by popularity until enough are new; 1 / (rank + q)² has a closed inverse."""
    q = HEAD * n_items
    most = n_items / (q + n_items)
    n, draw = 0, 0
    while n < len(out):
        u = rng.uniform(own, np.uint64(draw)) * most
        draw += 1
        drawn = by_rank[min(int(q * u / (1 - u)), n_items - 1)]
        if stamp[drawn] != mark:
            stamp[drawn] = mark
            out[n] = drawn
            n += 1


@kernel
def _draw_dense(own: np.uint64, n_items: Int, by_rank: Array, stamp: Array, mark: Int, out: Array) -> None:
    """The items whose exponential clocks ring first: the same distribution, without rejections."""
    q = HEAD * n_items
    clock = np.empty(n_items, np.float64)
    for rank in range(n_items):
        u = rng.uniform(own, np.uint64(rank))
        clock[rank] = np.inf if stamp[by_rank[rank]] == mark else -np.log(1 - u) * (rank + q) ** 2
    first = np.argsort(clock)
    for n in range(len(out)):
        out[n] = by_rank[first[n]]
        stamp[out[n]] = mark


@kernel
def _rate(own: np.uint64, appeal: Array, item: Array, value: Array) -> None:
    """Ratings 1 to 5 (codes 0 to 4): the person's mood, the item's appeal, and noise."""
    key = rng.mix(own, np.uint64(1 << 40))
    mood = _bell(key, 0)
    for i in range(len(item)):
        stars = 3.6 + 0.45 * mood + 0.4 * appeal[item[i]] + 0.9 * _bell(key, 4 * (i + 1))
        value[i] = min(max(int(np.floor(stars + 0.5)), 1), 5) - 1


@kernel
def _bell(key: np.uint64, draw: Int) -> float:
    """Nearly normal: four uniform numbers."""
    total = 0.0
    for i in range(4):
        total += rng.uniform(key, np.uint64(draw + i))
    return (total - 2.0) * 1.7320508075688772


@kernel
def _date(own: np.uint64, span: Int, time: Array) -> None:
    """Dates in bursts: people join late in the period, and come back a number of times."""
    key = rng.mix(own, np.uint64(1 << 41))
    joined = int(span * rng.uniform(key, np.uint64(0)) ** 0.3)
    visits = 1 + int(len(time) ** 0.6)
    for i in range(len(time)):
        visit = int(visits * rng.uniform(key, np.uint64(2 * i + 1)) ** 2)
        later = rng.uniform(key, np.uint64((1 << 32) + visit)) ** 1.5 if visit > 0 else 0.0
        time[i] = joined + int((span - 1 - joined) * later)
