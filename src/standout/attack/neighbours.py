"""Nearest neighbours of records: Σ Sim(r_i, r′_i) over the shared items, over the union of their supports.

If Sim only says whether entries agree, items that agree are counted (`neighbour_kernels`). Otherwise a record's entries
are known facts: walking the postings of their items adds Sim of each fact and entry, in whole units, to a number for
each record, which also counts the shared items. So sums are exact, and equal neighbours tie in whatever order they
are added. If records have an item several times, the most similar pair of their entries counts, and the item once.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from standout.attack.engine_kernels import BLOCK, U
from standout.attack.neighbour_kernels import (
    BATCH,
    BATCH_ENTRIES,
    LANE_BITS,
    PLANE_BITS,
    PLANE_WORDS,
    TILE,
    Buckets,
    Entries,
    Nearest,
    Ranges,
    Tile,
    Work,
    aligned_words,
    choose_buckets,
    fill_bitmap,
    fill_buckets,
    search_by_items,
    search_by_ranges,
)
from standout.attack.queries import QueryFacts
from standout.core.arrays import Floats, Ints, read_only, slices_of
from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine
from standout.core.progress import Progress
from standout.core.threads import current_pool, map_on_threads
from standout.data.entries import Postings, distinct_positions
from standout.data.release import Levels, Release
from standout.data.store import SharedIndex
from standout.know.facts import facts_from_entries
from standout.know.lookup_tables import Tables, Tabulation, time_similarity
from standout.know.similarity import ROUNDING, Equal, Present, Similarity, Within, days_per_unit

MAX_BITMAP_BYTES = 1 << 25
SHARES = 4
"""Number of tasks for each worker or thread: they take different times."""
ENTRIES_AT_ONCE = 1 << 22
"""Largest number of entries of a batch of records that are known facts, unless one record has more."""
TABLE_BITS = 16
"""Bits of values and times up to which the highest Sim of each is kept while an item's words are read."""


def nearest_neighbours(
    release: Release, similarity: Similarity, records: Ints, *, over_first: bool, threads: int, progress: Progress
) -> Nearest:
    """The nearest neighbour of each of these records, in their order; the first one in a tie.

    If `over_first`, similarity is over |supp(r)| instead of the union.
    """
    pool, index, nearest = current_pool(), SharedIndex.of(release), Nearest.of(len(records))
    count = SHARES * (threads if pool is None or index is None else pool.size)
    if pool is None or index is None:  # what is found already rules out most others
        shares = ((nearest.select(np.arange(len(records))), share) for share in range(count))
        search = partial(_search_share, release, similarity, records, over_first, count)
        parts = map_on_threads(search, shares, threads)
    else:
        tasks = [(index, similarity, records, over_first, count, nearest, share) for share in range(count)]
        parts = iter(pool.map(_search_on_worker, tasks))
    for done, found in enumerate(parts, 1):
        is_tie = (found.similarity == nearest.similarity) & (found.record >= 0) & (found.record < nearest.record)
        is_nearer = (found.similarity > nearest.similarity) | is_tie
        nearest.similarity[is_nearer], nearest.record[is_nearer] = found.similarity[is_nearer], found.record[is_nearer]
        progress("comparing", done, count)
    return Nearest(np.minimum(nearest.similarity, 1.0), nearest.record)


def _search_on_worker(index: SharedIndex, *task: object) -> Nearest:
    return _search_share(index.open(), *task)  # type: ignore[arg-type]


def _search_share(
    release: Release, similarity: Similarity, records: Ints, over_first: bool, count: int, nearest: Nearest, share: int
) -> Nearest:
    """What one of `count` shares of the search finds."""
    if counts_items(release, similarity):
        return _count_agreeing(release, similarity, records, over_first, count, nearest, share)
    searched = slice(share, None, count)
    nearest.similarity[searched], nearest.record[searched] = _add_up(release, similarity, records[searched], over_first)
    return nearest


# Counting: when two entries are similar, in the codes of a release, and which records are compared with which.


def counts_items(release: Release, similarity: Similarity) -> bool:
    """Whether nearest neighbours are found by counting the items that agree, which is fast."""
    if type(similarity) not in (Present, Within, Equal):
        return False
    return not release.has_repeats or _ranges(release, similarity) is None


def _ranges(release: Release, similarity: Similarity) -> Ranges | None:
    """Which keys and levels are similar; None if only items are compared."""
    low = high = np.zeros(1, np.int64)
    value, time = (similarity.value, similarity.time) if isinstance(similarity, Within) else (None, None)
    by_value = release.n_levels > 0 and (value is not None or isinstance(similarity, Equal))
    if by_value and release.levels is not None:
        low, high = _similar_levels(release.levels, value)
    if time is not None and release.span:
        unit, limit = days_per_unit(release), time + ROUNDING
        about = int(min(limit / unit, release.span))
        reach = max(reach for reach in range(about - 1, about + 2) if reach * unit <= limit)
        return Ranges(low, high, reach, release.span, release.n_levels.bit_length() if by_value else 0)
    return Ranges(low, high, -1, release.n_levels, 0) if by_value else None


def _similar_levels(levels: Levels, value: float | None) -> tuple[Ints, Ints]:
    """The first and the last level similar to each level; the last element is for a missing value.

    Numbers are similar if they are at most `value` apart. None: only equal levels are, as with categories.
    """
    n = len(levels)
    low, high = np.arange(n + 1), np.arange(n + 1)
    low[n] = 0
    if isinstance(levels, np.ndarray) and value is not None:
        numbers, limit, first = levels.tolist(), value + ROUNDING, 0
        for level in range(n):
            while numbers[level] - numbers[first] > limit:
                first += 1
            low[level] = first
        high[:n] = np.searchsorted(low[:n], np.arange(n), side="right") - 1
    return low, high


def _entries(release: Release, ranges: Ranges | None) -> Entries:
    """The columns to compare; narrow ones are widened, because every new type compiles the kernels again."""
    start, item, value, time = release.by_record
    if release.has_repeats:  # one entry for each item of a record
        is_new = np.append(True, item[1:] != item[:-1])
        is_new[start[:-1][release.lengths > 0]] = True
        start, item = read_only(np.append(0, np.cumsum(is_new))[start]), read_only(item[is_new])
    none = read_only(np.empty(0, np.uint8))
    key = None if ranges is None else value if ranges.reach < 0 else time
    level = value if ranges is not None and ranges.level_bits else None
    item, key = (
        codes if codes.itemsize > 1 else read_only(codes.astype(np.uint16))
        for codes in (item, none if key is None else key)
    )
    return Entries(start, item, key, none if level is None else level)


def _count_agreeing(
    release: Release, similarity: Similarity, records: Ints, over_first: bool, count: int, nearest: Nearest, share: int
) -> Nearest:
    """Search some of the tiles for nearer neighbours; records are searched in batches of about the same length."""
    ranges, lengths = _ranges(release, similarity), release.distinct_items
    entries, by_length = _entries(release, ranges), np.argsort(lengths[records], kind="stable")
    searched, found = records[by_length], nearest.select(by_length)
    batches, total, low = [], np.cumsum(lengths[searched]), 0
    while low < len(searched):
        end = int(np.searchsorted(total, (total[low - 1] if low else 0) + BATCH_ENTRIES, side="right"))
        batches.append((low, min(max(end, low + 1), low + BATCH, len(searched))))
        low = batches[-1][1]
    work = Work.of(max(int(lengths.max(initial=1)), 1))
    for lanes in _tiles(release, lengths, count)[share::count]:
        tile = _tile(release, entries, lanes, lengths[lanes])
        buckets = None if ranges is None else _buckets(release, entries, ranges, lanes, int(tile.length.sum()))
        for batch in batches:
            if ranges is None or buckets is None:
                search_by_items(entries, searched, *batch, tile, over_first, work, found)
            else:
                search_by_ranges(entries, searched, *batch, tile, over_first, ranges, buckets, work, found)
    return found.select(np.argsort(by_length))


def _tiles(release: Release, lengths: Ints, count: int) -> list[Ints]:
    """The records of each tile, shortest first: every n-th column of 256, so that a tile has all lengths.

    There is at least one for each thread, and a bitmap has at most MAX_BITMAP_BYTES.
    """
    order = np.argsort(lengths, kind="stable")
    cut = [order[at : at + PLANE_BITS] for at in range(0, len(order), PLANE_BITS)]
    columns = TILE // PLANE_BITS
    per_column = -(-release.n_entries * PLANE_BITS // release.n_records)
    while columns > 1 and min(release.n_items, columns * per_column) * columns * PLANE_BITS // 8 > MAX_BITMAP_BYTES:
        columns //= 2
    tiles = max(-(-len(cut) // columns), min(count // SHARES, len(cut)))
    return [np.concatenate(cut[tile::tiles]) for tile in range(tiles)]


def _tile(release: Release, entries: Entries, records: Ints, length: Ints) -> Tile:
    starts, has = np.arange(0, len(records), PLANE_BITS), np.zeros(release.n_items, np.bool_)
    for record in records.tolist():
        has[entries.item[entries.start[record] : entries.start[record + 1]]] = True
    popular, row = np.argsort(release.rank), np.zeros(release.n_items, np.uint32)  # the most popular items first
    row[popular] = np.cumsum(has[popular]) * has[popular]
    rows = 1 + int(has.sum())
    bits = aligned_words(rows * len(starts) * PLANE_WORDS)
    bits[:] = 0
    most = length[np.append(starts[1:], len(records)) - 1]
    tile = Tile(records, length, length[starts], most, np.minimum.reduceat(records, starts), row, bits, rows)
    fill_bitmap(entries, tile)
    return tile


def _buckets(release: Release, entries: Entries, ranges: Ranges, records: Ints, n_entries: int) -> Buckets:
    base, shift = np.zeros(release.n_items, np.int64), np.zeros(release.n_items, np.uint8)
    count = choose_buckets(entries, records, ranges.missing, base, shift)
    bits = ranges.missing.bit_length() + ranges.level_bits + LANE_BITS
    word = np.empty(n_entries, np.uint32 if bits <= 32 else np.uint64)
    buckets = Buckets(base, shift, np.empty(count + 2, np.uint32), word)
    fill_buckets(entries, records, ranges.level_bits, buckets)
    return buckets


# Adding up: Sim of known facts and the entries of their items, by record.


class ItemFacts(NamedTuple):
    """The entries of records as known facts, with the tables of their similarity.

    Sim of fact f and an entry is (a[u, kind] + b[u, kind] · c[off[u, kind] + time − known]) / terms[u], with
    u = shape[f]. Position q has the facts first[q] … first[q + 1] - 1, those of one item together. A number by record
    is Σ Sim in units of 1/scale, times 2^bits, plus the number of shared items.
    """

    first: Ints
    item: Ints
    shape: Ints
    known: Ints
    a: Floats
    b: Floats
    off: Ints
    c: Floats
    terms: Ints
    scale: float
    bits: int
    n_levels: int
    span: int


def _item_facts(release: Release, facts: QueryFacts, tables: Tables) -> ItemFacts:
    """The facts with their tables, in units such that no sum is above 2^52 units, nor a number above 2^62."""
    most = int(release.distinct_items.max(initial=1)).bit_length() + 1
    units = 2.0 ** (min(52, 62 - most) - most), most
    shapes = tables.a, tables.b, tables.off, tables.c, tables.terms, *units, release.n_levels, release.span
    return ItemFacts(facts.first, facts.item, facts.shape, facts.time, *shapes)


def shared_similarity(release: Release, facts: QueryFacts, tables: Tables) -> tuple[Floats, Ints]:
    """Σ Sim of the items that one person shares with each record, and their number."""
    person, numbers = _item_facts(release, facts, tables), np.zeros(release.n_records, np.int64)
    _add_person(release.by_item, person, 0, numbers, _new_table(release))
    return (numbers >> person.bits) / person.scale, numbers & ((1 << person.bits) - 1)


def _add_up(release: Release, similarity: Similarity, records: Ints, over_first: bool) -> Nearest:
    """The neighbours of these records by any similarity."""
    nearest, n_items = Nearest.of(len(records)), release.distinct_items
    numbers, table = np.zeros(release.n_records, np.int64), _new_table(release)
    for batch in slices_of(release.lengths[records], ENTRIES_AT_ONCE):
        entries, first = distinct_positions(release, records[batch])
        known = facts_from_entries(release, entries, first)
        tables = Tabulation(release, known, similarity).tabulate()
        if ((tables.a + tables.b * tables.c.max()) / tables.terms[:, None]).max() > 1 + ROUNDING:
            raise ParameterError(
                "similarity must be from 0 to 1 for every pair of entries, got more than 1: "
                "divide what it returns by its largest value"
            )
        facts = _item_facts(release, QueryFacts(first, known.item, tables.shape, tables.time), tables)
        found = nearest.select(batch)
        _search_sums(release.by_item, facts, records[batch], n_items, over_first, numbers, table, found)
    return nearest


def _new_table(release: Release) -> Floats:
    """A number for every value and time of a word; empty if that is too many, and without repeats."""
    n_bits = release.by_item.value_bits + release.by_item.time_bits
    return np.empty(1 << n_bits if release.has_repeats and n_bits <= TABLE_BITS else 0)


@kernel
def _search_sums(
    postings: Postings, facts: ItemFacts, records: Array, n_items: Array, over_first: Flag, numbers: Array,
    table: Array, nearest: Nearest,
) -> None:  # fmt: skip
    """Find the nearest neighbours of these records; the numbers become 0 again."""
    bits, shared = facts.bits, (1 << facts.bits) - 1
    for q in range(len(records)):
        own, most, neighbour = records[q], 0.0, -1
        _add_person(postings, facts, q, numbers, table)
        for record in range(len(numbers)):
            number = numbers[record]
            if number == 0:
                continue
            numbers[record] = 0
            union = n_items[own] if over_first else n_items[own] + n_items[record] - (number & shared)
            sim = (number >> bits) / facts.scale / union
            if record != own and sim > most:
                most, neighbour = sim, record
        nearest.similarity[q], nearest.record[q] = most, neighbour


@kernel
def _add_person(postings: Postings, facts: ItemFacts, q: Int, numbers: Array, table: Array) -> None:
    """Add Sim of the facts of position q and the entries of their items to the numbers of the entries' records."""
    fact, last = facts.first[q], facts.first[q + 1]
    while fact < last:
        stop = fact + 1
        while stop < last and facts.item[stop] == facts.item[fact]:
            stop += 1
        _add_item(postings, facts, fact, stop, numbers, table)
        fact = stop


@subroutine
def _add_item(postings: Postings, facts: ItemFacts, fact: Int, last: Int, numbers: Array, table: Array) -> None:
    """Add the highest Sim of facts fact … last - 1, of one item, and the entries that each record has of it."""
    start, run, block, begin, end, word, value_bits, time_bits, _, _ = postings
    item, record_bits, scale, bits = facts.item[fact], U(time_bits + value_bits), facts.scale, facts.bits
    low_bits, uses_table = (U(1) << record_bits) - U(1), 0 < len(table) <= start[item + 1] - start[item]
    if uses_table:
        _fill(facts, fact, last, U(time_bits), table)
    for r in range(run[item], run[item + 1]):
        at, stop, first = U(begin[r]), U(end[r]), np.int64(block[r]) * BLOCK
        while at < stop:
            x, highest = U(word[at]), 0.0
            place = x >> record_bits
            while x >> record_bits == place:
                if uses_table:
                    highest = max(highest, table[x & low_bits])
                else:
                    for f in range(fact, last):
                        highest = max(highest, _sim(facts, f, x, value_bits, time_bits))
                at += U(1)
                if at == stop:
                    break
                x = U(word[at])
            numbers[first + np.int64(place)] += (np.int64(np.rint(highest * scale)) << bits) + 1


@inline
def _sim(facts: ItemFacts, f: Int, x: Int, value_bits: Int, time_bits: Int) -> Real:
    """Sim of a fact and the entry of a word."""
    u, kind = facts.shape[f], np.int64((x >> U(time_bits)) & U((1 << value_bits) - 1))
    at = facts.off[u, kind] + np.int64(x & U((1 << time_bits) - 1)) - facts.known[f]
    return (facts.a[u, kind] + facts.b[u, kind] * time_similarity(facts.c, U(at))) / facts.terms[u]


@subroutine
def _fill(facts: ItemFacts, fact: Int, last: Int, time_bits: Int, table: Array) -> None:
    """table[value and time] = the highest Sim of facts fact … last - 1 and an entry with them."""
    table[:] = 0.0
    for f in range(fact, last):
        u = facts.shape[f]
        for kind in range(min(facts.a.shape[1], len(table) >> np.int64(time_bits))):
            times = max(facts.span, 1) if kind <= facts.n_levels else 1  # the others have no time
            low, fixed, factor = U(kind) << time_bits, facts.a[u, kind], facts.b[u, kind]
            row, n_terms = U(facts.off[u, kind] - facts.known[f]), facts.terms[u]
            for time in range(U(times)):
                sim = (fixed + factor * time_similarity(facts.c, row + time)) / n_terms
                table[low + time] = sim if sim > table[low + time] else table[low + time]
