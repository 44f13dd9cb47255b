"""Nearest neighbours by any similarity: Σ Sim(r_i, r′_i) over the shared items, added up by postings.

Every pair of records that share an item is compared, so this is slower than counting items that agree
(`nearest`): its time grows with the sum of the squared supports. A similarity is tabulated once for each
batch of records. Each thread has one sum and one count for each record.

If records have items several times, Sim(r_i, r′_i) is the highest Sim of an entry of r and an entry of r′
about item i. The words of a record stand together in the postings. If an item has more words than there are
different values and times, the highest Sim of an entry with each value and time is computed first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine_kernels import BLOCK, U
from standout.core.arrays import Floats, Ints, slices_of
from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.core.threads import current_pool, run_in_slices
from standout.data.entries import Postings, distinct_positions
from standout.data.release import Release
from standout.data.store import SharedIndex
from standout.know.facts import facts_from_entries
from standout.know.lookup_tables import tabulate, time_similarity
from standout.know.similarity import ROUNDING, Similarity

__all__ = ["ItemFacts", "Nearest", "add_item", "nearest_by_sums", "new_table"]

ENTRIES_AT_ONCE = 1 << 22
"""Largest number of entries of a batch of records, unless one record has more."""
SHARES = 4
"""Number of tasks for each worker."""
TABLE_BITS = 16
"""Bits of values and times up to which the highest Sim of each is kept while an item's words are read."""


class Nearest(NamedTuple):
    """The similarity of each record's nearest neighbour, and its index; 0 and -1 if there is none."""

    similarity: Floats
    record: Ints


class ItemFacts(NamedTuple):
    """The entries of a batch of records as known facts, with the tables of their similarity in each term.

    Sim of fact f and an entry is (a[u, kind] + b[u, kind] · c[off[u, kind] + time − known]) / terms[u], with
    u = shape[f]. Batch position q has the facts first[q] … first[q + 1] - 1, those of one item together. Each
    Sim is rounded to a multiple of step[q], so that sums are exact, and equal neighbours tie in whatever
    order they are added.
    """

    first: Ints
    item: Ints
    shape: Ints
    known: Ints
    step: Floats
    a: Floats
    b: Floats
    off: Ints
    c: Floats
    terms: Ints
    n_levels: int
    span: int


class _Sums(NamedTuple):
    """A thread's arrays, by record: Σ Sim and the number of shared items; 0 between two searches.

    `highest` is by value and time: the highest Sim with an item's facts. It is empty if it would be large,
    and without repeats.
    """

    total: Floats
    shared: NDArray[np.int32]
    highest: Floats


def nearest_by_sums(
    release: Release, similarity: Similarity, records: Ints, *, over_first: bool, threads: int, progress: Progress
) -> Nearest:
    """The nearest neighbour of each of these records, in their order; the first one in a tie."""
    pool, index = current_pool(), SharedIndex.of(release)
    if pool is None or index is None:
        return _nearest_of(release, similarity, records, over_first, threads, progress)
    count = SHARES * pool.size
    shares = [(index, similarity, records[share::count], over_first) for share in range(count)]
    nearest = Nearest(np.zeros(len(records)), np.full(len(records), -1, np.int64))
    for share, found in enumerate(pool.map(_nearest_on_worker, shares)):
        nearest.similarity[share::count], nearest.record[share::count] = found
        progress("comparing", share + 1, count)
    return nearest


def _nearest_on_worker(index: SharedIndex, similarity: Similarity, records: Ints, over_first: bool) -> Nearest:
    return _nearest_of(index.open(), similarity, records, over_first, 1, no_progress)


def _nearest_of(
    release: Release, similarity: Similarity, records: Ints, over_first: bool, threads: int, progress: Progress
) -> Nearest:
    nearest = Nearest(np.zeros(len(records)), np.full(len(records), -1, np.int64))
    n_items, search = release.distinct_items, _search_repeats if release.has_repeats else _search

    def allocate() -> _Sums:
        return _Sums(np.zeros(release.n_records), np.zeros(release.n_records, np.int32), new_table(release))

    for batch_slice in slices_of(release.lengths[records], ENTRIES_AT_ONCE):
        batch = records[batch_slice]
        facts = _facts(release, similarity, batch)
        part = Nearest(nearest.similarity[batch_slice], nearest.record[batch_slice])

        def work_on(first: int, last: int, sums: _Sums) -> None:
            search(release.by_item, facts, batch, n_items, over_first, sums, part, first, last)  # noqa: B023

        run_in_slices(len(batch), threads, allocate, work_on, _part(progress, batch_slice.start, len(records)))
    if nearest.similarity.max(initial=0.0) > 1 + ROUNDING:
        raise ParameterError(
            "similarity must be from 0 to 1 for every pair of entries, got more than 1: "
            "divide what it returns by its largest value"
        )
    return Nearest(np.minimum(nearest.similarity, 1.0), nearest.record)


def new_table(release: Release) -> Floats:
    """A number for every value and time of a word; empty if that is too many, and without repeats."""
    n_bits = release.by_item.value_bits + release.by_item.time_bits
    return np.empty(1 << n_bits if release.has_repeats and n_bits <= TABLE_BITS else 0)


def _part(progress: Progress, before: int, total: int) -> Progress:
    """The progress of one batch as a part of the whole."""
    return lambda stage, done, _: progress("comparing", before + done, total)


def _facts(release: Release, similarity: Similarity, records: Ints) -> ItemFacts:
    entries, first = distinct_positions(release, records)
    known = facts_from_entries(release, entries, first)
    tables = tabulate(release, known, similarity)
    step = np.ldexp(1.0, np.frexp(release.lengths[records].astype(np.float64))[1] - 52)  # sums are below 2^52 steps
    return ItemFacts(
        first=first,
        item=known.item,
        shape=tables.shape,
        known=tables.time,
        step=step,
        a=tables.a,
        b=tables.b,
        off=tables.off,
        c=tables.c,
        terms=tables.terms,
        n_levels=release.n_levels,
        span=release.span,
    )


@kernel
def _search(
    postings: Postings,
    facts: ItemFacts,
    records: Array,
    n_items: Array,
    over_first: Flag,
    sums: _Sums,
    nearest: Nearest,
    low: Int,
    high: Int,
) -> None:
    """Fill in the nearest neighbours of records[low:high]."""
    total, shared = sums.total, sums.shared
    for q in range(low, high):
        for fact in range(facts.first[q], facts.first[q + 1]):
            _add_fact(postings, facts, fact, facts.step[q], total, shared)
        _take_nearest(records, n_items, over_first, total, shared, nearest, q)


@kernel
def _search_repeats(
    postings: Postings,
    facts: ItemFacts,
    records: Array,
    n_items: Array,
    over_first: Flag,
    sums: _Sums,
    nearest: Nearest,
    low: Int,
    high: Int,
) -> None:
    """The same where records may have an item several times."""
    total, shared = sums.total, sums.shared
    for q in range(low, high):
        fact, last = facts.first[q], facts.first[q + 1]
        while fact < last:
            stop = fact + 1
            while stop < last and facts.item[stop] == facts.item[fact]:
                stop += 1
            add_item(postings, facts, fact, stop, facts.step[q], total, shared, sums.highest)
            fact = stop
        _take_nearest(records, n_items, over_first, total, shared, nearest, q)


@subroutine
def _take_nearest(
    records: Array, n_items: Array, over_first: Flag, total: Array, shared: Array, nearest: Nearest, q: Int
) -> None:
    """Write the nearest neighbour of records[q], and set the sums to 0."""
    own, most, neighbour = records[q], 0.0, -1
    for record in range(len(total)):
        if shared[record] == 0:
            continue
        items = n_items[own] if over_first else n_items[own] + n_items[record] - shared[record]
        sim = total[record] / items
        if record != own and sim > most:
            most, neighbour = sim, record
        total[record], shared[record] = 0.0, 0
    nearest.similarity[q], nearest.record[q] = most, neighbour


@subroutine
def _add_fact(postings: Postings, facts: ItemFacts, fact: Int, step: float, total: Array, shared: Array) -> None:
    """Add Sim of a fact and each entry of its item to the sums of the entries' records."""
    _, run, block, begin, end, word, value_bits, time_bits, _, _ = postings
    a, b, off, c = facts.a, facts.b, facts.off, facts.c
    kinds, times = U((1 << value_bits) - 1), U((1 << time_bits) - 1)
    item, u, known = facts.item[fact], facts.shape[fact], facts.known[fact]
    terms = facts.terms[u]
    for r in range(run[item], run[item + 1]):
        first = np.int64(block[r]) * BLOCK
        for p in range(begin[r], end[r]):
            x = U(word[p])
            kind, time = np.int64((x >> U(time_bits)) & kinds), np.int64(x & times)
            record = first + np.int64((x >> U(time_bits + value_bits)) & U(BLOCK - 1))
            sim = (a[u, kind] + b[u, kind] * time_similarity(c, U(off[u, kind] + time - known))) / terms
            total[record] += np.rint(sim / step) * step if sim <= 1 + ROUNDING else np.inf  # refused later
            shared[record] += 1


@subroutine
def add_item(
    postings: Postings, facts: ItemFacts, fact: Int, last: Int, step: float, total: Array, shared: Array, table: Array
) -> None:
    """Add to each record's sum the highest Sim of facts fact … last - 1, of one item, and its entries.

    Sim is rounded to a multiple of `step`, or not if that is 0.
    """
    start, run, block, begin, end, word, value_bits, time_bits, _, _ = postings
    item = facts.item[fact]
    record_bits = U(time_bits + value_bits)
    low_bits = (U(1) << record_bits) - U(1)
    uses_table = 0 < len(table) <= start[item + 1] - start[item]
    if uses_table:
        _fill(facts, fact, last, U(time_bits), table)
    for r in range(run[item], run[item + 1]):
        at, stop, first = U(begin[r]), U(end[r]), np.int64(block[r]) * BLOCK
        while at < stop:
            x, highest = U(word[at]), 0.0
            place = x >> record_bits
            while True:
                sim = table[x & low_bits] if uses_table else _highest_sim(facts, fact, last, x, value_bits, time_bits)
                highest = sim if sim > highest else highest
                at += U(1)
                if at == stop:
                    break
                x = U(word[at])
                if x >> record_bits != place:
                    break
            record = first + np.int64(place)
            if step > 0.0:
                highest = np.rint(highest / step) * step if highest <= 1 + ROUNDING else np.inf
            total[record] += highest
            shared[record] += 1


@subroutine
def _fill(facts: ItemFacts, fact: Int, last: Int, time_bits: Int, table: Array) -> None:
    """table[value and time] = the highest Sim of facts fact … last - 1 and an entry with them."""
    a, b, off, c, terms = facts.a, facts.b, facts.off, facts.c, facts.terms
    table[:] = 0.0
    for f in range(fact, last):
        u = facts.shape[f]
        for kind in range(min(a.shape[1], len(table) >> np.int64(time_bits))):
            times = max(facts.span, 1) if kind <= facts.n_levels else 1  # the others have no time
            low, fixed, factor = U(kind) << time_bits, a[u, kind], b[u, kind]
            row, n_terms = U(off[u, kind] - facts.known[f]), terms[u]
            for time in range(U(times)):
                sim = (fixed + factor * time_similarity(c, row + time)) / n_terms
                table[low + time] = sim if sim > table[low + time] else table[low + time]


@subroutine
def _highest_sim(facts: ItemFacts, fact: Int, last: Int, x: Int, value_bits: Int, time_bits: Int) -> float:
    """The highest Sim of facts fact … last - 1 and the entry of a word."""
    a, b, off, c = facts.a, facts.b, facts.off, facts.c
    kind = np.int64((x >> U(time_bits)) & U((1 << value_bits) - 1))
    time, highest = np.int64(x & U((1 << time_bits) - 1)), 0.0
    for f in range(fact, last):
        u = facts.shape[f]
        sim = (a[u, kind] + b[u, kind] * time_similarity(c, U(off[u, kind] + time - facts.known[f]))) / facts.terms[u]
        highest = max(highest, sim)
    return highest
