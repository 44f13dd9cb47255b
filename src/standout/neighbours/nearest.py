"""The search for nearest neighbours: what is similar, which records meet which, on how many threads."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress
from standout.core.simd import PLANE_BITS, PLANE_WORDS
from standout.core.threads import run_in_slices
from standout.neighbours.bit_counters import aligned, roomy
from standout.neighbours.bitmap_kernels import (
    BATCH,
    ENTRIES,
    TILE,
    Best,
    Tile,
    Work,
    fill,
    mark,
    merge,
    nearest,
    number,
)
from standout.neighbours.range_kernels import Buckets, Range, Tally, nearest_ranged, scatter, spread
from standout.release.model import Levels, Release, read_only
from standout.similarity.attributes import ROUNDING, Equal, Present, Similarity, Within, days_per_unit

__all__ = ["Rule", "nearest_neighbours", "rule_of"]

Codes = NDArray[Any]
FEW = 32
"""Up to so many levels, each has rows of its own in the bitmap."""
ROWS = 1 << 22
"""And if no more rows come of it than these."""
ROOM = 1 << 25
"""Bytes of a tile's bitmap, at most."""
MANY = 1 << 21
"""Entries of a tile, about: the words of those that are looked up by time stay in the cache."""


class Rule(NamedTuple):
    """What of two entries must agree: levels low[v] … high[v] with level v, times up to `reach` units apart.

    None: not compared. The last of low and high stands for a known entry without a value: all levels are.
    If ranged, entries are looked up by time or value, as a bitmap would have too many rows.
    """

    low: Ints | None
    high: Ints | None
    reach: int | None
    ranged: bool

    @property
    def levels(self) -> tuple[Ints, Ints]:
        """low and high; if values are not compared, what nobody looks at."""
        none = np.zeros(1, np.int64)
        return (none, none) if self.low is None or self.high is None else (self.low, self.high)

    @property
    def kinds(self) -> int:
        """How many rows an item has in the bitmap."""
        return 1 if self.ranged or self.low is None else len(self.low)


def rule_of(release: Release, similarity: Similarity) -> Rule:
    """The rule of a similarity that counts, in the codes of a release."""
    if type(similarity) not in (Present, Within, Equal):
        raise ParameterError(
            f"similarity must be Present(), Within(...) or Equal(), got {type(similarity).__name__}: "
            "sparsity counts the items that agree"
        )
    value, time = (similarity.value, similarity.time) if isinstance(similarity, Within) else (None, None)
    compared = isinstance(similarity, Equal) or value is not None
    levels = release.levels if compared and release.n_levels else None
    low, high = (None, None) if levels is None else _levels(levels, value)
    reach = None if time is None or not release.span else _reach(release, time)
    many = low is not None and (len(low) > FEW + 1 or len(low) * release.n_items > ROWS)
    return Rule(low, high, reach, many or reach is not None)


def _levels(levels: Levels, value: float | None) -> tuple[Ints, Ints]:
    """By known level the first and the last that is similar; last of all for a value that is not known.

    Numbers are if they are at most `value` apart; None: if they are the same, as categories are.
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
    """How many units of time are at most so many days."""
    unit, limit = days_per_unit(release), time + ROUNDING
    about = int(min(limit / unit, release.span))
    return max(reach for reach in range(about - 1, about + 2) if reach * unit <= limit)


class Entries(NamedTuple):
    """The entries by record: items, values where they are compared, and the keys of a search by ranges."""

    start: Ints
    other: Codes
    value: Codes
    key: Codes


def _entries(release: Release, rule: Rule) -> Entries:
    """The columns that are compared, none narrower than is usual: every type compiles the kernels anew."""
    start, other, value, time = release.by_record
    none = read_only(np.empty(0, np.uint8))
    values = none if value is None or rule.low is None else value
    keys = none if not rule.ranged else values if time is None or rule.reach is None else time
    return Entries(start, _wide(other), values, _wide(keys))


def _wide(codes: Codes) -> Codes:
    return codes if codes.itemsize > 1 else read_only(codes.astype(np.uint16))


class Place(NamedTuple):
    """A thread's own arrays, and what it finds for the records of the tile."""

    work: Work
    tally: Tally
    theirs: Best


def nearest_neighbours(
    release: Release, rule: Rule, asked: Ints, *, over_first: bool, threads: int, progress: Progress
) -> Best:
    """The nearest neighbours of the records at these places, in their order.

    If all are asked about and similarity goes both ways, tiles are cut from the order of lengths, and a
    tile meets the records that stand before its end. Otherwise it has columns of all lengths and meets all.
    """
    first = over_first
    mutual = not first and len(asked) == release.n_records and not _lacks(release, rule)
    by_length = np.argsort(release.lengths[asked], kind="stable")
    order, columns = asked[by_length], _columns(release, rule)
    best, cuts = Best.of(len(order)), _batches(release.lengths[order])
    shortest = release.lengths[order[cuts[:-1]]]
    tiles, entries = _tiles(release.lengths, columns, mutual), _entries(release, rule)
    ends = np.cumsum([len(place) for place in tiles])
    counts = np.searchsorted(cuts[:-1], ends) if mutual else np.full(len(tiles), len(cuts) - 1)
    for i, place in enumerate(tiles):
        own = slice(int(ends[i]) - len(place), int(ends[i])) if mutual else slice(0, 0)
        compare = _comparison(release, rule, entries, order, place, first, mutual, best)
        told = _adding(progress, int(counts[:i].sum()), int(counts.sum()))
        places = _Places(release, best, own)
        _on_threads(compare, cuts, shortest[: counts[i]], places, threads, told)
        for one in places.made:
            merge(best, own.start, one.theirs)
    back = np.argsort(by_length)
    return Best(*(column[back] for column in best))


def _adding(progress: Progress, before: int, total: int) -> Progress:
    """Tells of one tile as a part of all."""
    return lambda stage, done, _: progress("comparing", before + done, total)


def _on_threads(
    compare: Callable[[int, int, Place], None],
    cuts: Ints,
    lengths: Ints,
    places: "_Places",
    threads: int,
    progress: Progress,
) -> None:
    """Every batch once, the long records first, of equals those that stand before.

    They are nearest to those of the tile, and who has the first of equals need not look at the others.
    """
    order = np.lexsort((np.arange(len(lengths)), -lengths))

    def work_on(low: int, high: int, place: Place) -> None:
        for batch in order[low:high].tolist():
            compare(int(cuts[batch]), int(cuts[batch + 1]), place)

    run_in_slices(len(order), threads, places, work_on, progress)


class _Places:
    """Makes workplaces that begin with what is known of the tile's records, and keeps them."""

    def __init__(self, release: Release, best: Best, own: slice) -> None:
        self.longest, self.best, self.own = int(release.lengths.max()), best, own
        self.made: list[Place] = []

    def __call__(self) -> Place:
        theirs = Best(*(column[self.own].copy() for column in self.best))
        self.made.append(Place(Work.of(self.longest), Tally.of(self.longest), theirs))
        return self.made[-1]


def _comparison(
    release: Release,
    rule: Rule,
    entries: Entries,
    asked: Ints,
    place: Ints,
    first: bool,
    mutual: bool,
    best: Best,
) -> Callable[[int, int, Place], None]:
    """What compares a batch with the tile of these records."""
    start, other, value, key = entries
    tile = _laid(release, rule, entries, place)
    if not rule.ranged:
        return lambda begin, end, own: nearest(
            start, other, value, asked, tile, first, mutual, own.work, best, own.theirs, begin, end
        )
    ranges = _range(release, rule)
    buckets = _sorted(release, entries, place, ranges)
    return lambda begin, end, own: nearest_ranged(
        start, other, key, value, asked, tile, ranges, buckets, first, mutual, own.work, own.tally, best,
        own.theirs, begin, end,
    )  # fmt: skip


def _lacks(release: Release, rule: Rule) -> bool:
    """Whether some entry lacks what is compared: similarity then depends on who is known."""
    value, time = release.by_record.value, release.by_record.time
    lacks_value = rule.low is not None and value is not None and int(value.max()) == release.n_levels
    return lacks_value or (rule.reach is not None and time is not None and int(time.max()) == release.span)


def _columns(release: Release, rule: Rule) -> int:
    """How many columns a tile has: a power of two, so that its bitmap has no more than ROOM bytes."""
    columns, rows = TILE // PLANE_BITS, release.n_items * rule.kinds
    entries = -(-release.n_entries * PLANE_BITS // release.n_records) * rule.kinds
    while columns > 1 and min(rows, columns * entries) * columns * PLANE_BITS // 8 > ROOM:
        columns //= 2
    return columns


def _batches(lengths: Ints) -> Ints:
    """Where batches of records begin, and where the last ends."""
    total, cuts = np.cumsum(lengths), [0]
    while cuts[-1] < len(lengths):
        before = total[cuts[-1] - 1] if cuts[-1] else 0
        end = int(np.searchsorted(total, before + ENTRIES, side="right"))
        cuts.append(min(max(end, cuts[-1] + 1), cuts[-1] + BATCH, len(lengths)))
    return np.array(cuts)


def _tiles(lengths: Ints, columns: int, mutual: bool) -> list[Ints]:
    """The records of each tile, in the order of lengths: neighbouring columns, or some from everywhere."""
    order = np.argsort(lengths, kind="stable")
    cut = [order[at : at + PLANE_BITS] for at in range(0, len(order), PLANE_BITS)]
    if not mutual:
        tiles = -(-len(cut) // columns)
        return [np.concatenate(cut[tile::tiles]) for tile in range(tiles)]
    entries = np.cumsum([lengths[column].sum() for column in cut])
    ends = [0]
    while ends[-1] < len(cut):
        before = entries[ends[-1] - 1] if ends[-1] else 0
        end = int(np.searchsorted(entries, before + MANY, side="right"))
        ends.append(min(max(end, ends[-1] + 1), ends[-1] + columns))
    return [np.concatenate(cut[low:high]) for low, high in pairwise(ends)]


def _laid(release: Release, rule: Rule, entries: Entries, place: Ints) -> Tile:
    """The tile of these records."""
    start, other, value, _ = entries
    length, ends = release.lengths[place], np.arange(0, len(place), PLANE_BITS)
    least, most = length[ends], length[np.append(ends[1:], len(place)) - 1]
    head = np.minimum.reduceat(place, ends)
    low, high = rule.levels
    row = np.zeros(release.n_items * rule.kinds, np.uint32)
    mark(start, other, value, place, low, high, rule.kinds, row)
    rows = number(row, np.argsort(release.rank), rule.kinds)
    tile = Tile(
        place, length, least, most, head, row, aligned(rows * len(least) * PLANE_WORDS), rows, rule.kinds
    )
    fill(start, other, value, low, high, tile)
    return tile


def _range(release: Release, rule: Rule) -> Range:
    timed = rule.reach is not None
    missing = release.span if timed else release.n_levels
    second_bits = release.n_levels.bit_length() if timed and rule.low is not None else 0
    return Range(*rule.levels, -1 if rule.reach is None else rule.reach, missing, second_bits)


def _sorted(release: Release, entries: Entries, place: Ints, ranges: Range) -> Buckets:
    """The entries of these records in buckets."""
    start, other, value, key = entries
    base, shift = np.zeros(release.n_items, np.int64), np.zeros(release.n_items, np.uint8)
    count = spread(start, other, place, ranges.missing, base, shift)
    bits = ranges.missing.bit_length() + ranges.second_bits + TILE.bit_length() - 1
    word = roomy(int(release.lengths[place].sum()), np.uint32 if bits <= 32 else np.uint64)
    buckets = Buckets(base, shift, roomy(count + 2, np.uint32), word)
    scatter(start, other, key, value, place, ranges.second_bits, buckets)
    return buckets
