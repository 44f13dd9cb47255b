"""The search for nearest neighbours: which entries are similar, and which records are compared with which."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine_kernels import BLOCK, U
from standout.attack.neighbour_kernels import (
    BATCH,
    BATCH_ENTRIES,
    PLANE_BITS,
    PLANE_WORDS,
    TILE,
    Best,
    Buckets,
    Entries,
    KeyRanges,
    Search,
    Tile,
    Work,
    aligned_words,
    choose_buckets,
    fill_bitmap,
    fill_buckets,
    large_page_array,
    mark_rows,
    merge,
    nearest_in_ranges,
    nearest_in_tile,
    number_rows,
)
from standout.core.arrays import Floats, Ints, slices_of
from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.core.threads import current_pool, map_on_threads, run_in_slices
from standout.data.entries import Postings, distinct_positions
from standout.data.release import Levels, RecordEntries, Release, read_only
from standout.data.store import SharedIndex
from standout.know.facts import facts_from_entries
from standout.know.lookup_tables import tabulate, time_similarity
from standout.know.similarity import ROUNDING, Equal, Present, Similarity, Within, days_per_unit

# When two entries are similar, in the codes of a release, and whether that can be counted.


MAX_BITMAP_LEVELS = 32
"""Up to this many levels, each has its own rows in the bitmap …"""
MAX_BITMAP_ROWS = 1 << 22
"""… unless that makes more rows than these."""


UNUSED = np.zeros(1, np.int64)


class Rule(NamedTuple):
    """When two entries are similar: levels low[v] … high[v] to level v, times up to `reach` units apart.

    None: not compared. The last of low and high is for a known entry without a value, to which all levels
    are similar. If `ranged`, entries are looked up by time or value, because a bitmap would have too many
    rows.
    """

    low: Ints | None
    high: Ints | None
    reach: int | None
    ranged: bool

    @property
    def levels(self) -> tuple[Ints, Ints]:
        """The ranges; unused arrays if values are not compared."""
        return (UNUSED, UNUSED) if self.low is None or self.high is None else (self.low, self.high)

    @property
    def kinds(self) -> int:
        """Number of bitmap rows per item."""
        return 1 if self.ranged or self.low is None else len(self.low)


def counts_items(release: Release, similarity: Similarity) -> bool:
    """Whether nearest neighbours in a release are found by counting the items that agree.

    If records have items several times, values and times are compared pair by pair: see `any_similarity`.
    """
    if type(similarity) not in (Present, Within, Equal):
        return False
    return not release.has_repeats or compares_only_items(rule_of(release, similarity))


def compares_only_items(rule: Rule) -> bool:
    """Whether neither values nor times count."""
    return rule.low is None and rule.reach is None


def rule_of(release: Release, similarity: Similarity) -> Rule:
    """The rule of a similarity, in the codes of a release."""
    if type(similarity) not in (Present, Within, Equal):
        raise ParameterError(
            f"similarity must be Present(), Within(...) or Equal(), got {type(similarity).__name__}: "
            "only these count the items that agree"
        )
    value, time = (similarity.value, similarity.time) if isinstance(similarity, Within) else (None, None)
    compares_values = isinstance(similarity, Equal) or value is not None
    levels = release.levels if compares_values and release.n_levels else None
    low, high = (None, None) if levels is None else _similar_levels(levels, value)
    reach = None if time is None or not release.span else _reach(release, time)
    too_many = low is not None and (len(low) > MAX_BITMAP_LEVELS + 1 or len(low) * release.n_items > MAX_BITMAP_ROWS)
    return Rule(low, high, reach, too_many or reach is not None)


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


def _reach(release: Release, time: float) -> int:
    """The largest number of time units that is at most this number of days."""
    unit, limit = days_per_unit(release), time + ROUNDING
    about = int(min(limit / unit, release.span))
    return max(reach for reach in range(about - 1, about + 2) if reach * unit <= limit)


MAX_BITMAP_BYTES = 1 << 25
SHARES = 4
"""Number of tasks for each worker or thread: tiles take different times."""
FEW = 32
"""Threads have tiles of their own if at most one in so many records is searched."""
TILE_ENTRIES = 1 << 21
"""Approximate number of entries in a tile: its buckets then stay in the cache."""


def _entries(release: Release, rule: Rule) -> Entries:
    """The columns to compare; narrow ones are widened, because every new type compiles the kernels again."""
    start, item, value, time = release.by_record
    none = read_only(np.empty(0, np.uint8))
    values = none if value is None or rule.low is None else value
    keys = none if not rule.ranged else values if time is None or rule.reach is None else time
    item, keys = (codes if codes.itemsize > 1 else read_only(codes.astype(np.uint16)) for codes in (item, keys))
    return Entries(start, item, values, keys)


def nearest_neighbours(
    release: Release, rule: Rule, records: Ints, *, over_first: bool, threads: int, progress: Progress
) -> Best:
    """The nearest neighbour of each of these records, in their order.

    If all records are searched and similarity is mutual, tiles are cut from the order of lengths, and a tile
    is compared with the records up to its own end. Otherwise a tile has columns of all lengths and is
    compared with all. If records have items several times, the rule must compare items only: each item of a
    record then counts once. Threads share each tile; if few records are searched, each thread has tiles of its
    own, because preparing a tile takes longer than comparing a few records with it.
    """
    pool, index = current_pool(), SharedIndex.of(release)
    best = Best.of(len(records))
    found_parts: Iterable[Best]
    if pool is not None and index is not None:
        count, chosen = SHARES * pool.size, None if len(records) == release.n_records else records
        shares = [(index, rule, chosen, over_first, share, count) for share in range(count)]
        found_parts = pool.map(_nearest_on_worker, shares)
    else:
        tiled = _TiledSearch(release, rule, records, over_first)
        if threads == 1 or len(records) * FEW > release.n_records:
            return tiled.best_in(range(len(tiled.tiles)), threads, progress)
        count = min(SHARES * threads, len(tiled.tiles))
        own_tiles = ((range(share, len(tiled.tiles), count), 1, no_progress) for share in range(count))
        found_parts = map_on_threads(tiled.best_in, own_tiles, threads)
    for done, found in enumerate(found_parts, 1):
        merge(best, 0, found)
        progress("comparing", done, count)
    return best


def _nearest_on_worker(
    index: SharedIndex, rule: Rule, records: Ints | None, over_first: bool, share: int, count: int
) -> Best:
    """The nearest neighbours in one of `count` shares of the tiles."""
    release = index.open()
    tiled = _TiledSearch(release, rule, np.arange(release.n_records) if records is None else records, over_first)
    return tiled.best_in(range(share, len(tiled.tiles), count), 1, no_progress)


class _TiledSearch:
    """A search for the neighbours of records, shortest first, in tiles of all records.

    `cuts` divides the searched records into batches, and a tile i ends after ends[i] records and is compared
    with the first counts[i] batches.
    """

    def __init__(self, release: Release, rule: Rule, records: Ints, over_first: bool) -> None:
        if release.has_repeats:
            release = _distinct_items(release, rule)
        value, time = release.by_record.value, release.by_record.time
        lacks_value = rule.low is not None and value is not None and int(value.max()) == release.n_levels
        lacks_time = rule.reach is not None and time is not None and int(time.max()) == release.span
        # Where an entry lacks what is compared, similarity is not mutual.
        is_mutual = not (over_first or lacks_value or lacks_time) and len(records) == release.n_records
        self.release, self.rule, self.by_length = release, rule, np.argsort(release.lengths[records], kind="stable")
        self.search = Search(_entries(release, rule), records[self.by_length], over_first, is_mutual)
        self.tiles = _tiles(release, rule, is_mutual)
        total, cuts = np.cumsum(release.lengths[self.search.records]), [0]
        while cuts[-1] < len(total):
            before = total[cuts[-1] - 1] if cuts[-1] else 0
            end = int(np.searchsorted(total, before + BATCH_ENTRIES, side="right"))
            cuts.append(min(max(end, cuts[-1] + 1), cuts[-1] + BATCH, len(total)))
        self.cuts, self.ends = np.array(cuts), np.cumsum([len(tile) for tile in self.tiles])
        n_tiles, n_batches = len(self.tiles), len(cuts) - 1
        self.counts = np.searchsorted(self.cuts[:-1], self.ends) if is_mutual else np.full(n_tiles, n_batches)

    def best_in(self, tiles: range, threads: int, progress: Progress) -> Best:
        """The nearest neighbours in some of the tiles, in the order in which the records were given.

        Batches of long records come first, and equals in order: long records are nearest to those of the tile,
        and a record that has found the first of equal neighbours need not look at the others.
        """
        release, search, total = self.release, self.search, int(self.counts.sum())
        lengths, longest = release.lengths[search.records], int(release.lengths.max())
        best = Best.of(len(lengths))
        for i in tiles:
            count, end, before = int(self.counts[i]), int(self.ends[i]), int(self.counts[:i].sum())
            searched = slice(end - len(self.tiles[i]), end) if search.mutual else slice(0, 0)
            order = np.lexsort((np.arange(count), -lengths[self.cuts[:-1]][:count]))
            tile, by_key = self._tile(self.tiles[i])
            created: list[Best] = []  # what each thread finds for the records of the tile

            def allocate() -> tuple[Work, Best]:
                created.append(Best(*(column[searched].copy() for column in best)))  # noqa: B023
                return Work.of(longest), created[-1]  # noqa: B023

            def work_on(low: int, high: int, workspace: tuple[Work, Best]) -> None:
                work, tile_best = workspace
                for batch in order[low:high].tolist():  # noqa: B023
                    bounds = int(self.cuts[batch]), int(self.cuts[batch + 1])
                    if by_key is None:  # noqa: B023
                        nearest_in_tile(search, *bounds, tile, work, best, tile_best)  # noqa: B023
                    else:
                        nearest_in_ranges(search, *bounds, tile, *by_key, work, best, tile_best)  # noqa: B023

            run_in_slices(count, threads, allocate, work_on, _part(progress, before, total))
            for tile_best in created:
                merge(best, searched.start, tile_best)
        original_order = np.argsort(self.by_length)
        return Best(*(column[original_order] for column in best))

    def _tile(self, records: Ints) -> tuple[Tile, tuple[KeyRanges, Buckets] | None]:
        """The tile of these records; if entries are looked up by time or value, also their buckets."""
        release, rule, entries = self.release, self.rule, self.search.entries
        length, starts = release.lengths[records], np.arange(0, len(records), PLANE_BITS)
        row = np.zeros(release.n_items * rule.kinds, np.uint32)
        mark_rows(entries, records, *rule.levels, rule.kinds, row)
        rows = number_rows(row, np.argsort(release.rank), rule.kinds)
        tile = Tile(
            record=records,
            length=length,
            least=length[starts],
            most=length[np.append(starts[1:], len(records)) - 1],
            head=np.minimum.reduceat(records, starts),
            row=row,
            bits=aligned_words(rows * len(starts) * PLANE_WORDS),
            rows=rows,
            kinds=rule.kinds,
        )
        fill_bitmap(entries, *rule.levels, tile)
        if not rule.ranged:
            return tile, None
        reach, is_timed = -1 if rule.reach is None else rule.reach, rule.reach is not None
        missing = release.span if is_timed else release.n_levels
        second_bits = release.n_levels.bit_length() if is_timed and rule.low is not None else 0
        base, shift = np.zeros(release.n_items, np.int64), np.zeros(release.n_items, np.uint8)
        count = choose_buckets(entries, records, missing, base, shift)
        bits = missing.bit_length() + second_bits + TILE.bit_length() - 1
        word = large_page_array(int(length.sum()), np.uint32 if bits <= 32 else np.uint64)
        buckets = Buckets(base, shift, large_page_array(count + 2, np.uint32), word)
        fill_buckets(entries, records, second_bits, buckets)
        return tile, (KeyRanges(*rule.levels, reach, missing, second_bits), buckets)


def _distinct_items(release: Release, rule: Rule) -> Release:
    """The release by record with one entry for each item of a record, without values and times."""
    if not compares_only_items(rule):
        raise ParameterError(
            "similarity must be Present() where records have items several times, "
            f"got a rule for {'times' if rule.low is None else 'values'}: use nearest_by_sums"
        )
    start, item = release.by_record.start, release.by_record.item
    is_new = np.append(True, item[1:] != item[:-1])
    is_new[start[:-1][release.lengths > 0]] = True
    first = read_only(np.append(0, np.cumsum(is_new))[start])
    return replace(release, by_record=RecordEntries(first, read_only(item[is_new]), value=None, time=None))


def _part(progress: Progress, before: int, total: int) -> Progress:
    """The progress of one tile or batch as a part of the whole."""
    return lambda stage, done, _: progress("comparing", before + done, total)


def _tiles(release: Release, rule: Rule, is_mutual: bool) -> list[Ints]:
    """The records of each tile, shortest first: consecutive columns if mutual, otherwise every n-th.

    The number of columns is a power of two, such that the bitmap has at most MAX_BITMAP_BYTES.
    """
    columns, rows = TILE // PLANE_BITS, release.n_items * rule.kinds
    per_column = -(-release.n_entries * PLANE_BITS // release.n_records) * rule.kinds
    while columns > 1 and min(rows, columns * per_column) * columns * PLANE_BITS // 8 > MAX_BITMAP_BYTES:
        columns //= 2
    order = np.argsort(release.lengths, kind="stable")
    cut = [order[at : at + PLANE_BITS] for at in range(0, len(order), PLANE_BITS)]
    if not is_mutual:
        tiles = -(-len(cut) // columns)
        return [np.concatenate(cut[tile::tiles]) for tile in range(tiles)]
    entries = np.cumsum([release.lengths[column].sum() for column in cut])
    ends = [0]
    while ends[-1] < len(cut):
        before = entries[ends[-1] - 1] if ends[-1] else 0
        end = int(np.searchsorted(entries, before + TILE_ENTRIES, side="right"))
        ends.append(min(max(end, ends[-1] + 1), ends[-1] + columns))
    return [np.concatenate(cut[low:high]) for low, high in pairwise(ends)]


# Nearest neighbours by any similarity: Σ Sim(r_i, r′_i) over the shared items, added up by postings.


ENTRIES_AT_ONCE = 1 << 22
"""Largest number of entries of a batch of records, unless one record has more."""
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
    for share, found in enumerate(pool.map(_sums_on_worker, shares)):
        nearest.similarity[share::count], nearest.record[share::count] = found
        progress("comparing", share + 1, count)
    return nearest


def _sums_on_worker(index: SharedIndex, similarity: Similarity, records: Ints, over_first: bool) -> Nearest:
    return _nearest_of(index.open(), similarity, records, over_first, 1, no_progress)


def _nearest_of(
    release: Release, similarity: Similarity, records: Ints, over_first: bool, threads: int, progress: Progress
) -> Nearest:
    nearest = Nearest(np.zeros(len(records)), np.full(len(records), -1, np.int64))
    n_items, repeats = release.distinct_items, release.has_repeats

    def allocate() -> _Sums:
        return _Sums(np.zeros(release.n_records), np.zeros(release.n_records, np.int32), new_table(release))

    for batch_slice in slices_of(release.lengths[records], ENTRIES_AT_ONCE):
        batch = records[batch_slice]
        facts = _facts(release, similarity, batch)
        part = Nearest(nearest.similarity[batch_slice], nearest.record[batch_slice])

        def work_on(first: int, last: int, sums: _Sums) -> None:
            _search(release.by_item, facts, repeats, batch, n_items, over_first, sums, part, first, last)  # noqa: B023

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
    postings: Postings, facts: ItemFacts, repeats: Flag, records: Array, n_items: Array, over_first: Flag,
    sums: _Sums, nearest: Nearest, low: Int, high: Int,
) -> None:  # fmt: skip
    """Fill in the nearest neighbours of records[low:high]; the sums become 0 again."""
    total, shared = sums.total, sums.shared
    for q in range(low, high):
        fact, last = facts.first[q], facts.first[q + 1]
        while fact < last:
            stop = fact + 1
            if repeats:
                while stop < last and facts.item[stop] == facts.item[fact]:
                    stop += 1
                add_item(postings, facts, fact, stop, facts.step[q], total, shared, sums.highest)
            else:
                _add_fact(postings, facts, fact, facts.step[q], total, shared)
            fact = stop
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
