"""The most similar entries of people and records about each item, where entries repeat: compiled."""

from typing import NamedTuple

import numpy as np

from standout.attack.kernels.record_scores import EntryRanges, distinct_ranges, entry_ranges
from standout.attack.queries import Queries
from standout.core.arrays import Floats, Ints, offsets, run_starts
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, kernel
from standout.release.distinct_items import distinct_entries
from standout.release.model import INVALID_CODE
from standout.similarity.time_cells import time_similarity

__all__ = ["highest_by_item"]

NO_CODES = np.empty(0, np.uint8)


class _Entries(NamedTuple):
    """Codes of entries by record, empty if the release has none."""

    value: Array
    time: Array
    n_levels: int
    span: int


class _Facts(NamedTuple):
    """Facts, and the tables of their similarity; no Sim is above `most`."""

    shape: Ints
    time: Ints
    a: Floats
    b: Floats
    off: Ints
    c: Floats
    terms: Ints
    most: float


def highest_by_item(queries: Queries, query: Ints, record: Ints) -> tuple[Ints, Floats]:
    """The highest Sim of a fact and an entry for each pair of a query and a record, and each item.

    Facts of one item follow one another. Returns pair · n_items + item in the order of the facts, and
    Sim; -1 if the record lacks the item.
    """
    release, facts = queries.release, queries.facts
    of_query = np.repeat(np.arange(len(queries)), np.diff(facts.first))
    begin = run_starts(of_query * release.n_items + facts.item)
    group_of_query = np.searchsorted(begin, facts.first)  # groups of one item's facts
    counts = np.diff(group_of_query)[query]
    ends = offsets(counts)
    group = np.arange(ends[-1]) + np.repeat(group_of_query[query] - ends[:-1], counts)
    pair = np.repeat(np.arange(len(query)), counts)
    item, find = facts.item[begin][group], distinct_ranges if release.has_repeats else entry_ranges
    by_record = distinct_entries(release).entries if release.has_repeats else release.by_record
    value, time = (NO_CODES if column is None else column for column in by_record[2:])
    tables, highest = queries.tables, np.full(len(group), -1.0)
    a, b, c, terms = tables.a, tables.b, tables.c, tables.terms
    most = (np.maximum(a, 0.0).max(axis=1) + np.maximum(b, 0.0).max(axis=1) * max(c.max(), 0.0)) / terms
    is_valid = _highest(
        _Entries(value, time, release.n_levels, release.span),
        find(release, record[pair], item),
        _Facts(facts.shape, facts.time, a, b, tables.off, c, terms, float(most.max())),
        begin[group],
        np.append(begin, len(facts.item))[group + 1],
        highest,
    )
    if not is_valid:
        raise StoreError(INVALID_CODE)
    return pair * release.n_items + item, highest


@kernel
def _highest(
    entries: _Entries, ranges: EntryRanges, facts: _Facts, begin: Array, end: Array, highest: Array
) -> Flag:
    """highest[i] = the highest Sim of facts begin[i] … end[i] - 1 and the i-th entries, if there are any.

    Returns whether every code is valid.
    """
    value, time, n_levels, span = entries
    shape, known, a, b, off, c, terms, most = facts
    for i in range(len(highest)):
        best = highest[i]
        for at in range(ranges.first[i], ranges.first[i] + ranges.number[i]):
            kind = np.int64(value[at]) if len(value) else n_levels
            moment = np.int64(time[at]) if len(time) else 0
            if kind > n_levels or moment > span:
                return False
            if span and moment == span:
                kind, moment = kind + n_levels + 1, 0
            for fact in range(begin[i], end[i]):
                u = shape[fact]
                fixed, timed = (
                    a[u, kind],
                    b[u, kind] * time_similarity(c, np.uint64(off[u, kind] + moment - known[fact])),
                )
                sim = (max(fixed, 0.0) + max(timed, 0.0)) / terms[u]
                best = max(best, sim)
            if best >= most:
                break
        highest[i] = best
    return True
