"""Add what one fact adds to the scores of all records that have its item, in double precision: compiled.

The same numbers as `Queries.parts`, in a tenth of the time: a query with ties goes through all records. No
record may have an item several times.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.lane_additions import CHUNK, notice
from standout.attack.query_arrays import BLOCK, ZERO, QueryFacts, ScoreRule, U, interpolated
from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, Real, inline, kernel, subroutine
from standout.core.parts import Part
from standout.core.simd import multiply_add
from standout.data.postings import BLOCK_BITS, Postings
from standout.data.release import INVALID_CODE, RecordEntries, Release, read_only
from standout.data.repeats import distinct_entries
from standout.know.lookup_tables import KernelTables, Tables, time_similarity

__all__ = [
    "EntryRanges",
    "FactRows",
    "Pairs",
    "PartScores",
    "RepeatedParts",
    "add_sized_fact",
    "add_sized_fact_sized_additions",
    "add_sized_lane",
    "add_weighted_fact",
    "distinct_ranges",
    "entry_positions",
    "entry_ranges",
    "fill_gain",
    "fill_parts",
    "first_times",
    "has_item",
    "logarithm",
    "mean_terms",
    "similarities",
]


class FactRows(NamedTuple):
    """A fact's item and time, and the rows of its shape in the tables of similarity."""

    item: int
    time: int
    a: Floats
    b: Floats
    off: Ints

    @classmethod
    def of(cls, tables: Tables, item: int, shape: int, time: int) -> "FactRows":
        """The rows of a fact of this shape."""
        return cls(item, time, tables.a[shape], tables.b[shape], tables.off[shape])


class PartScores(NamedTuple):
    """The scores of the records of a part of a release."""

    part: Part
    scores: Floats


def add_weighted_fact(release: Release, rows: FactRows, c: Floats, weight: float, step: float, to: PartScores) -> None:
    """Add weight · Sim, each term on the grid of `step`."""
    runs, first = _runs(release, rows.item, to.part), to.part.first_block << BLOCK_BITS
    _check(_add_weighted(release.by_item, rows, c, weight, step, *runs, first, to.scores))


def add_sized_fact(
    release: Release, rows: FactRows, c: Floats, gain: Floats, code: Ints, step: float, to: PartScores
) -> None:
    """Add max(0, gain[code of the record] + Sim), on the grid of `step`."""
    runs, first = _runs(release, rows.item, to.part), to.part.first_block << BLOCK_BITS
    _check(_add_sized(release.by_item, rows, c, gain, code, step, *runs, first, to.scores))


def _runs(release: Release, item: int, part: Part) -> tuple[int, int]:
    """The runs of an item in a part: the first, and the one after the last."""
    run, block = release.by_item.run, release.by_item.block
    first, last = int(run[item]), int(run[item + 1])
    if part.first_block == 0 and (first == last or block[last - 1] < part.last_block):
        return first, last
    low, high = block[first:last].searchsorted(part).tolist()
    return first + low, first + high


def _check(is_valid: bool) -> None:
    if not is_valid:
        raise StoreError(INVALID_CODE)


@inline
def _on_grid(part: Real, step: Real, per_step: Real) -> Real:
    """A part on a grid; a step is a power of two, so a product with its inverse is exact too."""
    return np.rint(part * per_step) * step


@kernel
def _add_weighted(
    postings: Postings,
    rows: FactRows,
    c: Array,
    weight: Real,
    step: Real,
    first_run: Int,
    last_run: Int,
    first_record: Int,
    scores: Array,
) -> Flag:
    """Add the parts; return whether every record exists."""
    _, _, blocks, begin, end, word, _, _, _, _ = postings
    _, known, a, b, off = rows
    per_step = 1.0 / step
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    for j in range(first_run, last_run):
        first = (U(blocks[j]) << U(BLOCK_BITS)) - U(first_record)
        for p in range(begin[j], end[j]):
            x = U(word[p])
            kind, record = (x >> kind_shift) & kind_mask, first + (x >> position_shift)
            if record >= U(len(scores)):
                return False
            timed = b[kind] * time_similarity(c, U(np.int64(x & time_mask) + off[kind] - known))
            part = _on_grid(weight * max(a[kind], 0.0), step, per_step)
            scores[record] += part + _on_grid(weight * max(timed, 0.0), step, per_step)
    return True


@kernel
def _add_sized(
    postings: Postings,
    rows: FactRows,
    c: Array,
    gain: Array,
    code: Array,
    step: Real,
    first_run: Int,
    last_run: Int,
    first_record: Int,
    scores: Array,
) -> Flag:
    """Add the parts; return whether every record exists."""
    _, _, blocks, begin, end, word, _, _, _, _ = postings
    _, known, a, b, off = rows
    per_step = 1.0 / step
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    for j in range(first_run, last_run):
        first = (U(blocks[j]) << U(BLOCK_BITS)) - U(first_record)
        for p in range(begin[j], end[j]):
            x = U(word[p])
            kind, record = (x >> kind_shift) & kind_mask, first + (x >> position_shift)
            if record >= U(len(scores)):
                return False
            timed = b[kind] * time_similarity(c, U(np.int64(x & time_mask) + off[kind] - known))
            part = max(gain[code[U(first_record) + record]] + a[kind] + timed, 0.0)
            scores[record] += _on_grid(part, step, per_step)
    return True


# Add one fact to the scores of a block where a part depends on the size of the record: compiled.
#
#     part = max(0, gain[code[record]] + a[kind] + b[kind] · c[time])     [Likelihood]
#
# gain[i] = ln(1 + odds/size[i]) + constant is written once per fact and query, so that no logarithm is computed
# for an entry. Where the date counts only by being near or far, near[2 · kind + is near] replaces a, b and c.
# An attack takes 1.1 to 1.3 times as long as without sizes (docs/performance.md).


ONE_SIZED_ADDITIONS, TWO, HALF_ROOT = np.float32(1), np.float32(2), np.int32(0x3F3504F3)
BIAS, POINT, MANTISSA = np.int32(0x3F800000), np.int32(23), np.int32(0x007FFFFF)
LN2 = np.float32(0.6931472)
L3, L5, L7, L9 = np.float32(1 / 3), np.float32(1 / 5), np.float32(1 / 7), np.float32(1 / 9)


@subroutine
def fill_gain(inverse: Array, odds: Real, constant: Real, gain: Array) -> None:
    """gain[i] = ln(1 + odds · inverse[i]) + constant, in single precision."""
    for i in range(U(len(inverse))):
        gain[i] = logarithm(np.float32(ONE_SIZED_ADDITIONS + odds * inverse[i])) + constant


@inline
def logarithm(x: Real) -> Real:
    """Natural logarithm of a float32 from 1e-30 on: 2 artanh of the reduced number."""
    bits = np.float32(x).view(np.int32) + (BIAS - HALF_ROOT)
    exponent = np.float32(np.int32(bits >> POINT) - np.int32(127))
    m = np.int32((bits & MANTISSA) + HALF_ROOT).view(np.float32)
    z = (m - ONE_SIZED_ADDITIONS) / (m + ONE_SIZED_ADDITIONS)
    s = z * z
    series = multiply_add(s, multiply_add(s, multiply_add(s, multiply_add(s, L9, L7), L5), L3), ONE_SIZED_ADDITIONS)
    return multiply_add(exponent, LN2, TWO * z * series)


@subroutine
def add_sized_fact_sized_additions(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    near: Array,
    reach: Int,
    shape: Int,
    known_time: Int,
    code: Array,
    gain: Array,
    scores: Array,
) -> None:
    """Add a fact to the scores of a block. `code` begins with the block's first record."""
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, position_mask = ((U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1))
    if reach >= 0:
        first, width = U(known_time - reach), U(2 * reach)
        for p in range(U(low), U(high)):
            x = U(word[p])
            is_near = U((x & time_mask) - first <= width)
            position = (x >> position_shift) & position_mask
            part = gain[U(code[position])] + near[u, (((x >> kind_shift) & kind_mask) << U(1)) + is_near]
            scores[position] += part if part > ZERO else ZERO
    else:
        row = off[u, U(0)] - U(known_time)
        for p in range(U(low), U(high)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            alike = multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind])
            part = gain[U(code[position])] + alike
            scores[position] += part if part > ZERO else ZERO


@subroutine
def add_sized_lane(
    word: Array,
    low: Int,
    high: Int,
    value_bits: Int,
    time_bits: Int,
    a: Array,
    b: Array,
    off: Array,
    c: Array,
    near: Array,
    reach: Int,
    shape: Int,
    known_time: Int,
    code: Array,
    gain: Array,
    scores: Array,
    sums: Array,
    least: Real,
    noticed: Array,
    n_noticed: Array,
    mark: Array,
) -> None:
    """The same, with sums, and noticing records that reach the bound (see `lane_additions`)."""
    kind_shift, position_shift, u = U(time_bits), U(time_bits + value_bits), U(shape)
    time_mask, kind_mask, position_mask = ((U(1) << kind_shift) - U(1), (U(1) << U(value_bits)) - U(1), U(BLOCK - 1))
    row, first, width = off[u, U(0)] - U(known_time), U(known_time - max(reach, 0)), U(2 * max(reach, 0))
    added, grown = 0.0, 0.0
    for begin in range(low, high, CHUNK):
        stop, highest, added_1, grown_1 = min(begin + CHUNK, high), ZERO, ZERO, ZERO
        for p in range(U(begin), U(stop)):
            x = U(word[p])
            kind, position = (x >> kind_shift) & kind_mask, (x >> position_shift) & position_mask
            if reach >= 0:
                alike = near[u, (kind << U(1)) + U((x & time_mask) - first <= width)]
            else:
                alike = multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind])
            part = _positive(gain[U(code[position])] + alike)
            old = scores[position]
            new = old + part
            scores[position] = new
            added_1 += part
            grown_1 = multiply_add(part, old + new, grown_1)
            highest = new if new > highest else highest
        added += np.float64(added_1)
        grown += np.float64(grown_1)
        if highest >= least:
            for i in range(U(begin), U(stop)):
                position = (U(word[i]) >> position_shift) & position_mask
                if scores[position] >= least:
                    notice(noticed, n_noticed, mark, np.int64(position), np.int64(0), np.int64(position))
    sums[0, 0] += added
    sums[1, 0] += grown


@inline
def _positive(x: Real) -> Real:
    return x if x > ZERO else ZERO


# What a fact adds to the scores of records that have its item several times: compiled.
#
#     part = weight · max over the entries of Sim                                          [Algorithm 1B]
#     part = max(0, ln((1/n + odds/size) · Σ over the n entries of P) + constant)          [Likelihood]
#
# The words of one record follow one another, and records with equally many of them do too (see
# `release.postings`), so that the loop over a record's words ends where the processor expects it. P is a
# probability and not its logarithm (see `Likelihoods`): a record takes one logarithm, and no entry takes an
# exponential.


ONE, SMALLEST = np.float32(1), np.float32(1e-30)
MANY_WORDS = U(6)
"""A record with as many words is not read word by word: those that follow have as many or more."""
MOST_EXPECTED = U(32)
"""Records with so many words or more are in no order of their number (see `Postings`)."""


class RepeatedParts(NamedTuple):
    """The parts of a block's records that have an item several times, and their numbers of entries."""

    position: NDArray[np.uint16]
    entries: NDArray[np.int32]
    part: NDArray[np.float32]

    @classmethod
    def allocate(cls, repeats: bool) -> "RepeatedParts":
        """Arrays for one block, empty without repeats."""
        size = BLOCK if repeats else 0
        return cls(np.zeros(size, np.uint16), np.zeros(size, np.int32), np.zeros(size, np.float32))


@subroutine
def fill_parts(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    first: Int,
    out: RepeatedParts,
) -> Int:
    """Write the parts of the records in words low … high - 1, whose block begins at record `first`.

    Returns their number.
    """
    if rule.sized:
        n = _sums(postings, tables, facts, rule, fact, low, high, out)
        code = rule.sizes.code[first : min(first + BLOCK, len(rule.sizes.code))]
        _weigh(out, n, code, rule.sizes.inverse, rule.odds[fact])
        _take_logarithms(out.part, n, rule.constant[fact])
        return n
    return _maxima(postings, tables, facts, fact, low, high, out)


@inline
def record_end(word: Array, p: Int, stop: Int, position_shift: Int, expected: Int) -> Int:
    """Where the words of the record at p end, if it probably has as many as expected: no loop if it has."""
    position, end = U(word[p]) >> position_shift, p + expected
    if end > stop or U(word[end - U(1)]) >> position_shift != position:
        end = p + U(1)
    while end < stop and U(word[end]) >> position_shift == position:
        end += U(1)
    return end


@subroutine
def _maxima(
    postings: Postings, tables: KernelTables, facts: QueryFacts, fact: Int, low: Int, high: Int, out: RepeatedParts
) -> Int:
    """Write weight · the highest Sim of each record in words low … high - 1; return their number.

    In a decay all kinds have one row of c and one factor, which saves loads. There, odd and even words of
    records with many have separate maxima, so that a comparison need not wait for the one before.
    """
    word, a, b, off, c, lines = postings.word, tables.a, tables.b, tables.off, tables.c, tables.lines
    positions, parts, line_bits = out.position, out.part, tables.line_bits
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    u, known, weight = U(facts.shape[fact]), U(facts.time[fact]), facts.weight[fact]
    row, factor, even = off[u, U(0)] - known, b[u, U(0)], tables.even[u] and not line_bits
    n, p, stop, words = U(0), U(low), U(high), U(0)
    while p < stop and words < MANY_WORDS:
        begin, x = p, U(word[p])
        position, best = x >> position_shift, ZERO
        while True:
            kind = (x >> kind_shift) & kind_mask
            if even:
                similarity = multiply_add(factor, time_similarity(c, (x & time_mask) + row), a[u, kind])
            else:
                at = (x & time_mask) + off[u, kind] - known
                closeness = interpolated(c, lines, line_bits, at) if line_bits else time_similarity(c, at)
                similarity = multiply_add(b[u, kind], closeness, a[u, kind])
            best = similarity if similarity > best else best
            p += U(1)
            if p == stop:
                break
            x = U(word[p])
            if x >> position_shift != position:
                break
        positions[n], parts[n] = position & U(BLOCK - 1), weight * best
        n, words = n + U(1), p - begin if even else U(0)
    while p < stop:
        end = record_end(word, p, stop, position_shift, words)
        words = min(end - p, MOST_EXPECTED)
        position, best, other = (U(word[p]) >> position_shift) & U(BLOCK - 1), ZERO, ZERO
        while p + U(1) < end:
            x, y = U(word[p]), U(word[p + U(1)])
            similarity = multiply_add(
                factor, time_similarity(c, (x & time_mask) + row), a[u, (x >> kind_shift) & kind_mask]
            )
            best = similarity if similarity > best else best
            similarity = multiply_add(
                factor, time_similarity(c, (y & time_mask) + row), a[u, (y >> kind_shift) & kind_mask]
            )
            other = similarity if similarity > other else other
            p += U(2)
        if p < end:
            x = U(word[p])
            similarity = multiply_add(
                factor, time_similarity(c, (x & time_mask) + row), a[u, (x >> kind_shift) & kind_mask]
            )
            best = similarity if similarity > best else best
        positions[n], parts[n] = position, weight * (other if other > best else best)
        n, p = n + U(1), end
    return np.int64(n)


@subroutine
def _sums(
    postings: Postings,
    tables: KernelTables,
    facts: QueryFacts,
    rule: ScoreRule,
    fact: Int,
    low: Int,
    high: Int,
    out: RepeatedParts,
) -> Int:
    """Write the sum of P over the entries of each record in words low … high - 1; return their number.

    Sums are in double precision, because a record may have many entries.
    """
    word, off, reach = postings.word, tables.off, tables.reach
    a, b, c, near = rule.likelihoods
    positions, entries, parts = out
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    u, known = U(facts.shape[fact]), U(facts.time[fact])
    earliest, width, row = known - U(max(reach, 0)), U(2 * max(reach, 0)), off[u, U(0)] - known
    n, p, stop, expected = U(0), U(low), U(high), U(2)
    while p < stop:
        end = record_end(word, p, stop, position_shift, expected)
        expected = min(end - p, MOST_EXPECTED)
        likely, others = 0.0, 0.0
        positions[n], entries[n] = (U(word[p]) >> position_shift) & U(BLOCK - 1), end - p
        if reach >= 0:
            while p + U(1) < end:
                x, y = U(word[p]), U(word[p + U(1)])
                kind, is_near = (x >> kind_shift) & kind_mask, U((x & time_mask) - earliest <= width)
                likely += np.float64(near[u, (kind << U(1)) + is_near])
                kind, is_near = (y >> kind_shift) & kind_mask, U((y & time_mask) - earliest <= width)
                others += np.float64(near[u, (kind << U(1)) + is_near])
                p += U(2)
            if p < end:
                x = U(word[p])
                kind, is_near = (x >> kind_shift) & kind_mask, U((x & time_mask) - earliest <= width)
                likely += np.float64(near[u, (kind << U(1)) + is_near])
        else:
            for i in range(p, end):
                x = U(word[i])
                kind = (x >> kind_shift) & kind_mask
                likely += np.float64(multiply_add(b[u, kind], time_similarity(c, (x & time_mask) + row), a[u, kind]))
        parts[n] = likely + others
        n, p = n + U(1), end
    return np.int64(n)


@subroutine
def _weigh(out: RepeatedParts, n: Int, code: Array, inverse: Array, odds: Real) -> None:
    """Multiply each sum by 1/n + odds/size; `code` begins with the block's first record."""
    positions, entries, parts = out
    for i in range(U(n)):
        parts[i] *= ONE / np.float32(entries[i]) + odds * inverse[U(code[U(positions[i])])]


@subroutine
def _take_logarithms(parts: Array, n: Int, constant: Real) -> None:
    for i in range(U(n)):
        part = logarithm(parts[i] if parts[i] > SMALLEST else SMALLEST) + constant
        parts[i] = part if part > ZERO else ZERO


# Chosen records: whether they have an item, how similar their entry is to a fact, and when they begin.
#
# Where a record has an item several times, its entries of the item follow one another among the entries by
# record: `entry_positions` gives the first, `entry_ranges` all of them. They are found by bisection, or in a
# table of all records and items if that is not larger than the entries.


NO_CODES_RECORD_SCORES = np.empty(0, np.uint8)
NO_OFFSETS = read_only(np.empty(0, np.int64))
DISTINCT = "_distinct_item_offsets"


class Pairs(NamedTuple):
    """Facts and records, pair by pair. A fact is its item, and its shape and time in the tables."""

    record: Ints
    item: Ints
    shape: Ints
    time: Ints


class EntryRanges(NamedTuple):
    """Where records have items among the entries by record: the first entry, -1 if none, and how many."""

    first: Ints
    number: Ints


class _RecordEntries(NamedTuple):
    """Entries by record; `value` and `time` are empty if the release has none, `table` if it is not kept."""

    start: NDArray[np.int64]
    item: Array
    table: NDArray[np.int64]
    n_items: int
    value: Array
    time: Array
    n_levels: int
    span: int


class _RecordTables(NamedTuple):
    """The tables of similarity, for the kernel."""

    a: Floats
    b: Floats
    off: Ints
    c: Floats


def has_item(release: Release, record: Ints, item: Ints) -> Bools:
    """Whether each record has the item of the same index; record -1 has none."""
    return np.asarray(entry_positions(release, record, item) >= 0)


def entry_positions(release: Release, record: Ints, item: Ints) -> Ints:
    """Position, among the entries by record, of each record's first entry of its item; or -1."""
    if release.has_repeats:
        return entry_ranges(release, record, item).first
    positions = np.empty(len(record), np.int64)
    _find_all(release.by_record.start, release.by_record.item, record, item, positions)
    return positions


def entry_ranges(release: Release, record: Ints, item: Ints) -> EntryRanges:
    """All entries that each record has of the item of the same index; record -1 has none."""
    if not release.has_repeats:
        first = entry_positions(release, record, item)
        return EntryRanges(first, (first >= 0).astype(np.int64))
    return _ranges_among(release.by_record, _item_offsets(release, "_item_offsets"), record, item)


def distinct_ranges(release: Release, record: Ints, item: Ints) -> EntryRanges:
    """The same among the distinct entries."""
    entries, offsets_of_items = distinct_entries(release).entries, _item_offsets(release, DISTINCT)
    return _ranges_among(entries, offsets_of_items, record, item)


def _ranges_among(by_record: RecordEntries, table: Ints, record: Ints, item: Ints) -> EntryRanges:
    first, count = np.empty(len(record), np.int64), np.zeros(len(record), np.int64)
    if len(table):
        _look_up_all(table, (len(table) - 1) // (len(by_record.start) - 1), record, item, first, count)
        return EntryRanges(first, count)
    _find_all(by_record.start, by_record.item, record, item, first)
    _count_all(by_record.start, by_record.item, record, item, first, count)
    return EntryRanges(first, count)


def _item_offsets(release: Release, name: str) -> Ints:
    """Where the entries of each record and item begin, item by item; empty if that table would be large.

    A bisection of a record with thousands of entries costs more than all the entries of one item.
    """
    kept: dict[str, Ints] = vars(release)
    if name not in kept:
        by_record = distinct_entries(release).entries if name == DISTINCT else release.by_record
        table, cells = NO_OFFSETS, release.n_records * release.n_items
        if 0 < cells <= len(by_record.item):
            if int(by_record.item.max()) >= release.n_items:
                raise StoreError(INVALID_CODE)
            cell = np.repeat(np.arange(release.n_records) * release.n_items, np.diff(by_record.start))
            cell += by_record.item
            table = read_only(offsets(np.bincount(cell, minlength=cells)))
        kept[name] = table
    return kept[name]


def similarities(release: Release, pairs: Pairs, tables: Tables) -> Floats:
    """Sim of each pair, in two terms: one that needs no time and one that does.

    The first is NaN if the record lacks the item. If a record has the item several times, the terms are those
    of its most similar entry.
    """
    terms = np.zeros((2, len(pairs.record)))
    by_record = distinct_entries(release).entries if release.has_repeats else release.by_record
    entries = _RecordEntries(
        start=by_record.start,
        item=by_record.item,
        table=_item_offsets(release, DISTINCT) if release.has_repeats else NO_OFFSETS,
        n_items=release.n_items,
        value=NO_CODES_RECORD_SCORES if by_record.value is None else by_record.value,
        time=NO_CODES_RECORD_SCORES if by_record.time is None else by_record.time,
        n_levels=release.n_levels,
        span=release.span,
    )
    if not _similarities(entries, pairs, _RecordTables(tables.a, tables.b, tables.off, tables.c), terms):
        raise StoreError(INVALID_CODE)
    return terms


def first_times(release: Release) -> NDArray[np.int32]:
    """The earliest time of every record, -1 where it has none; kept with the release."""
    kept = vars(release).get("_first_times")
    if kept is None:
        by_record, clock = release.by_record, release.clock
        kept = np.full(release.n_records, -1, np.int32)
        if by_record.time is not None and clock is not None:
            _begins(by_record.start, by_record.time, clock.span, kept)
        vars(release)["_first_times"] = kept = read_only(kept)
    assert isinstance(kept, np.ndarray)
    return kept


@kernel
def _begins(start: Array, time: Array, missing: Int, first: Array) -> None:
    for record in range(len(start) - 1):
        for i in range(start[record], start[record + 1]):
            code = np.int64(time[i])
            if code < missing and (first[record] < 0 or code < first[record]):
                first[record] = code


@kernel
def _find_all(start: Array, items: Array, record: Array, item: Array, positions: Array) -> None:
    for i in range(len(record)):
        positions[i] = _find(start, items, record[i], item[i]) if record[i] >= 0 else -1


@kernel
def _look_up_all(table: Array, n_items: Int, record: Array, item: Array, first: Array, count: Array) -> None:
    for i in range(len(record)):
        cell = record[i] * n_items + item[i]
        count[i] = table[cell + 1] - table[cell] if record[i] >= 0 and item[i] >= 0 else 0
        first[i] = table[cell] if count[i] > 0 else -1


@kernel
def _count_all(start: Array, items: Array, record: Array, item: Array, first: Array, count: Array) -> None:
    for i in range(len(record)):
        if first[i] >= 0:
            low, high = first[i], start[record[i] + 1]
            while low < high:
                middle = (low + high) // 2
                if items[middle] <= item[i]:
                    low = middle + 1
                else:
                    high = middle
            count[i] = low - first[i]


@kernel
def _similarities(entries: _RecordEntries, pairs: Pairs, tables: _RecordTables, terms: Array) -> Flag:
    """terms[:, i] = the terms of Sim of the i-th pair; returns whether every code is valid."""
    start, items, table, n_items, value, time, n_levels, span = entries
    a, b, off, c = tables
    records, wanted, shape, known = pairs
    for i in range(len(records)):
        record, item = records[i], wanted[i]
        if len(table):
            cell = record * n_items + item
            at = table[cell] if table[cell] < table[cell + 1] else -1
        else:
            at = _find(start, items, record, item)
        terms[0, i] = np.nan
        if at < 0:
            continue
        first_term, second_term = np.nan, 0.0
        u, moved, at, stop, best = U(shape[i]), known[i], U(at), U(start[record + 1]), -np.inf
        while True:
            kind = U(value[at]) if len(value) else U(n_levels)
            moment = np.int64(time[at]) if len(time) else np.int64(0)
            if kind > U(n_levels) or moment > span:
                return False
            if span and moment == span:
                kind, moment = kind + U(n_levels + 1), np.int64(0)
            fixed, timed = a[u, kind], b[u, kind] * time_similarity(c, U(off[u, kind] + moment - moved))
            similarity = max(fixed, 0.0) + max(timed, 0.0)
            if similarity > best:
                best, first_term, second_term = similarity, fixed, timed
            at += U(1)
            if at == stop or items[at] != item:
                break
        terms[0, i], terms[1, i] = first_term, second_term
    return True


@subroutine
def _find(start: Array, other: Array, record: Int, item: Int) -> Int:
    """Where a record has an item among the entries by record, or -1."""
    low, stop = start[record], start[record + 1]
    high = stop
    while low < high:
        middle = (low + high) // 2
        if other[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and other[low] == item else -1


# The mean of a fact's probability over the entries of a record, in double precision: compiled.
#
# Equal entries of a record are looked up once: a taxi is at one stand many times in an hour.


NO_CODES = np.empty(0, np.uint8)


class _Entries(NamedTuple):
    """Codes of the distinct entries by record, empty if the release has none, and how often each occurs."""

    value: NDArray[np.unsignedinteger]
    time: NDArray[np.unsignedinteger]
    number: NDArray[np.int32]
    n_levels: int
    span: int


class _Tables(NamedTuple):
    """The tables of similarity."""

    a: Floats
    b: Floats
    off: Ints
    c: Floats


def mean_terms(release: Release, pairs: Pairs, tables: Tables) -> Floats:
    """The logarithm of the mean of e^Sim over the record's entries, and 0.

    That of a single entry is exactly its Sim. The first is NaN if the record lacks the item.
    """
    terms, distinct = np.zeros((2, len(pairs.shape))), distinct_entries(release)
    ranges = distinct_ranges(release, pairs.record, pairs.item)
    value, time = (NO_CODES if column is None else column for column in distinct.entries[2:])
    entries = _Entries(value, time, distinct.number, release.n_levels, release.span)
    if not _mean_terms(entries, pairs, ranges, _Tables(tables.a, tables.b, tables.off, tables.c), terms):
        raise StoreError(INVALID_CODE)
    return terms


@kernel
def _mean_terms(entries: _Entries, pairs: Pairs, ranges: EntryRanges, tables: _Tables, terms: Array) -> Flag:
    """Write the terms; return whether every code is valid.

    Arrays are unpacked: Numba counts references to each array of a tuple that is passed or read in a loop.
    """
    value, time, number, n_levels, span = entries
    a, b, off, c = tables
    shape, known, first, numbers = pairs.shape, pairs.time, ranges.first, ranges.number
    for i in range(len(shape)):
        terms[0, i] = np.nan
        u, moved, low, high = U(shape[i]), known[i], first[i], first[i] + numbers[i]
        highest, total, count, last, likely = -np.inf, 0.0, 0, -np.inf, 0.0
        for turn in range(2 if high > low else 0):  # the highest, then the sum relative to it
            for at in range(U(low), U(high)):
                kind = U(value[at]) if len(value) else U(n_levels)
                moment = np.int64(time[at]) if len(time) else np.int64(0)
                if kind > U(n_levels) or moment > span:
                    return False
                if span and moment == span:
                    kind, moment = kind + U(n_levels + 1), np.int64(0)
                x = a[u, kind] + b[u, kind] * time_similarity(c, U(off[u, kind] + moment - moved))
                if turn == 0:
                    highest = max(highest, x)
                else:
                    if x != last:  # many entries are far from the known date, and equally likely
                        last, likely = x, math.exp(x - highest)
                    total += number[at] * likely
                    count += number[at]
        if high > low:
            terms[0, i] = highest + math.log(total / count)
    return True
