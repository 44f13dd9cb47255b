"""kᵐ-anonymity: at least k records have any m items that an adversary may know of a person.

Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data" (2008). Entries are
removed instead of generalised, because there is no hierarchy of items.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Bools, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.jit import Array, Flag, Int, inline, kernel, subroutine
from standout.core.progress import Progress, no_progress
from standout.data.labels import StepReport
from standout.know.sanitized import ReleaseNoise
from standout.sanitizing.draft import Draft
from standout.sanitizing.step import Step, StepNoise, StepResult, number

# Compiled loops that decide which entries stay so that k records share each combination of items.


class Rule(NamedTuple):
    """At least k records share each combination of up to m items."""

    k: Int
    m: Int


class EntriesByItem(NamedTuple):
    """Entries by item, one of each record, the most popular item first: item a has first[a] to first[a + 1].

    record[p] is the record of entry p, and entry[p] its index in the order by record.
    """

    first: Array
    record: Array
    entry: Array


class KeptItems(NamedTuple):
    """Items that each record has kept so far: items[start[r]] … in ascending order, n_items[r] of them.

    keep[i] says whether entry i, in the order by record, is kept.
    """

    start: Array
    items: Array
    n_items: Array
    keep: Array


class Counters(NamedTuple):
    """Work space for one item a; pairs and triples are 0 between two items.

    alive    records that may keep the item
    pairs    pairs[b] = how many of them have kept b
    local    short numbers of the items with pairs[b] > 0, so that their triples lie close together
    triples  how many have kept both of two items; the pair i < j of local numbers is at j (j - 1) / 2 + i
    """

    alive: Array
    pairs: Array
    local: Array
    triples: Array


@kernel
def group_by_item(start: Array, item: Array, rank: Array, cursor: Array, record: Array, entry: Array) -> None:
    """Group entries by the rank of their item; cursor[a] is where the entries of rank a begin."""
    for r in range(len(start) - 1):
        for i in range(start[r], start[r + 1]):
            p = cursor[rank[item[i]]]
            cursor[rank[item[i]]] = p + 1
            record[p] = r
            entry[p] = i


@kernel
def walk(entries: EntriesByItem, kept: KeptItems, counters: Counters, rule: Rule, low: Int, high: Int) -> Flag:
    """Decide on the entries of the items with rank low … high - 1; False if `triples` is too short."""
    k, m = rule
    for a in range(low, high):
        begin, end = entries.first[a], entries.first[a + 1]
        n = end - begin
        for x in range(n):
            counters.alive[x] = entries.record[begin + x]
            _count(_items_of(kept, counters.alive[x]), counters.pairs, 1, k)
        n = _settle_pairs(kept, counters, n, k)
        if m == 3 and n > 0:
            size = _number_items(counters.pairs, a, counters.local)
            if size * (size - 1) // 2 > len(counters.triples):
                return False
            n = _settle_triples(kept, counters, n, k)
        for p in range(begin, end):
            _clear(_items_of(kept, entries.record[p]), counters.pairs)
        x = 0
        for p in range(begin, end):
            r = entries.record[p]
            if x < n and counters.alive[x] == r:
                x += 1
                kept.keep[entries.entry[p]] = True
                kept.items[kept.start[r] + kept.n_items[r]] = a
                kept.n_items[r] += 1
    return True


@inline
def _items_of(kept: KeptItems, record: Int) -> Array:
    return kept.items[kept.start[record] : kept.start[record] + kept.n_items[record]]


@subroutine
def _clear(items: Array, pairs: Array) -> None:
    for i in range(len(items)):
        pairs[items[i]] = 0


@subroutine
def _count(items: Array, pairs: Array, by: Int, k: Int) -> Flag:
    """Count a record in or out; returns whether an item that had exactly k records now has too few."""
    short = False
    for i in range(len(items)):
        short |= pairs[items[i]] == k
        pairs[items[i]] += by
    return short


@subroutine
def _settle_pairs(kept: KeptItems, counters: Counters, n: Int, k: Int) -> Int:
    """Remove records from `alive` that kept an item which too few of them have; returns how many are left."""
    alive, pairs = counters.alive, counters.pairs
    short = True
    while short and n >= k:
        short, left = False, 0
        for x in range(n):
            items = _items_of(kept, alive[x])
            if _enough(items, pairs, k):
                alive[left] = alive[x]
                left += 1
            else:
                short |= _count(items, pairs, -1, k)
        n = left
    return n if n >= k else 0


@subroutine
def _enough(items: Array, pairs: Array, k: Int) -> Flag:
    for i in range(len(items)):  # noqa: SIM110
        if pairs[items[i]] < k:
            return False
    return True


@subroutine
def _number_items(pairs: Array, items: Int, local: Array) -> Int:
    """Number those of the first items that some record has kept; returns how many there are."""
    size = 0
    for b in range(items):
        if pairs[b] > 0:
            local[b] = size
            size += 1
    return size


@subroutine
def _settle_triples(kept: KeptItems, counters: Counters, n: Int, k: Int) -> Int:
    """Do the same for two items each."""
    alive, pairs, local, triples = counters
    counted = alive[:n].copy()
    for x in range(n):
        _count_two(local[_items_of(kept, counted[x])], triples, 1, k)
    short = True
    while short and n >= k:
        short, left = False, 0
        for x in range(n):
            items = _items_of(kept, alive[x])
            numbers = local[items]
            if _enough(items, pairs, k) and _enough_two(numbers, triples, k):
                alive[left] = alive[x]
                left += 1
            else:
                short |= _count(items, pairs, -1, k)
                short |= _count_two(numbers, triples, -1, k)
        n = left
    for x in range(len(counted)):
        _clear_two(local[_items_of(kept, counted[x])], triples)
    return n if n >= k else 0


@subroutine
def _count_two(numbers: Array, triples: Array, by: Int, k: Int) -> Flag:
    short = False
    for j in range(len(numbers)):
        row = numbers[j] * (numbers[j] - 1) // 2
        for i in range(j):
            short |= triples[row + numbers[i]] == k
            triples[row + numbers[i]] += by
    return short


@subroutine
def _enough_two(numbers: Array, triples: Array, k: Int) -> Flag:
    for j in range(len(numbers)):
        row = numbers[j] * (numbers[j] - 1) // 2
        for i in range(j):
            if triples[row + numbers[i]] < k:
                return False
    return True


@subroutine
def _clear_two(numbers: Array, triples: Array) -> None:
    for j in range(len(numbers)):
        row = numbers[j] * (numbers[j] - 1) // 2
        for i in range(j):
            triples[row + numbers[i]] = 0


MOST_PAIRS, MOST_TRIPLES = 2e11, 2e10
"""Largest numbers of pairs and triples of items within records that are counted: some minutes."""
MOST_COUNTERS = 1 << 28
ITEMS = 64
"""Items between two reports of progress."""


@dataclass(frozen=True)
class KmSuppress(Step):
    """Remove entries until at least k records have each combination of up to m items that any record has.

    Items are visited from the most popular down. An entry stays if at least k records have each combination
    of its item with up to m - 1 more popular items that the record has kept. Removing entries may lower the
    counts of others of the same item, so this repeats until nothing changes. The decision on an item depends
    on more popular items only, so one pass over the items is enough and the guarantee is exact. For m = 3, a
    pass for pairs comes first.

    The guarantee is about items: all entries of a record and item stay or go together. It does not hold
    against an adversary who also knows values, dates or how often a person has an item.
    """

    name = "km-suppress"
    syntax = "K [M]"
    summary = "remove entries until K records have any M items of a record; M = 1, 2 or 3 (default: 2)"
    parsers = (number, number)

    k: int
    m: int = 2

    def __post_init__(self) -> None:
        self._set(k=whole_number("k", self.k, 2), m=whole_number("m", self.m, 1))
        if self.m > 3:
            raise ParameterError(f"m must be 1, 2 or 3, got {self.m}")

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The share of entries that stay among those of items that stay; most others lose all entries."""
        before = report.counts.get("entries before of items left", report.counts["entries before"])
        return ReleaseNoise(kept=report.counts["entries"] / before)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        self._require_records(draft, self.k)
        before = draft
        reason = f"no combination of items is shared by {self.k:,} records"
        for m in range(min(self.m, 2), self.m + 1):
            draft = draft.keep_entries(self._entries_to_keep(draft, m, progress), reason)
        left = before.item_entries[np.isin(before.source_items, draft.source_items)]
        return StepResult(draft, {"entries before of items left": int(left.sum())})

    def _entries_to_keep(self, draft: Draft, m: int, progress: Progress) -> Bools:
        if m == 1:
            return np.asarray((draft.support >= self.k)[draft.by_record.item])
        self._check_work(draft, m)
        entries, kept, counters = _items_by_rank(draft), _nothing_kept(draft), _counters(draft, m)
        for low in range(0, draft.n_items, ITEMS):
            stage = f"counting {'pairs' if m == 2 else 'triples'}"
            progress(stage, int(entries.first[low]), len(entries.record))
            high = min(low + ITEMS, draft.n_items)
            if not walk(entries, kept, counters, Rule(self.k, m), low, high):
                raise ParameterError(f"{self}: too many items occur together: remove rare items first")
        return np.asarray(kept.keep[draft.distinct_index]) if draft.has_repeats else kept.keep

    def _check_work(self, draft: Draft, m: int) -> None:
        lengths = np.diff(draft.distinct.start).astype(np.float64)
        work = float((lengths * (lengths - 1) * (lengths - 2 if m == 3 else 1) / (6 if m == 3 else 2)).sum())
        most = MOST_TRIPLES if m == 3 else MOST_PAIRS
        if work > most:
            raise ParameterError(
                f"{self}: {work:.1g} {'triples' if m == 3 else 'pairs'} of items would be counted, more than "
                f"{most:.0g}: cap records or remove items first"
            )


def _items_by_rank(draft: Draft) -> EntriesByItem:
    """One entry for each record and item, grouped by item."""
    start, item = draft.distinct
    first = offsets(-np.sort(-draft.support))
    record, entry = np.empty(len(item), np.uint32), np.empty(len(item), np.int64)
    group_by_item(start, item, draft.popularity_rank, first[:-1].copy(), record, entry)
    return EntriesByItem(first, record, entry)


def _nothing_kept(draft: Draft) -> KeptItems:
    n = len(draft.distinct.item)
    return KeptItems(
        start=draft.distinct.start,
        items=np.empty(n, np.uint32),
        n_items=np.zeros(draft.n_records, np.int64),
        keep=np.zeros(n, np.bool_),
    )


def _counters(draft: Draft, m: int) -> Counters:
    cells = draft.n_items * (draft.n_items - 1) // 2 if m == 3 else 0
    return Counters(
        alive=np.empty(draft.n_records, np.uint32),
        pairs=np.zeros(draft.n_items, np.int32),
        local=np.empty(draft.n_items, np.int64),
        triples=np.zeros(min(cells, MOST_COUNTERS), np.int32),
    )
