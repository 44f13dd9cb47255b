"""Compiled loops that decide which entries stay so that k records share each combination of items."""

from typing import NamedTuple

from standout.core.jit import Array, Flag, Int, inline, kernel, subroutine

__all__ = ["Counters", "EntriesByItem", "KeptItems", "Rule", "group_by_item", "walk"]


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
def walk(
    entries: EntriesByItem, kept: KeptItems, counters: Counters, rule: Rule, low: Int, high: Int
) -> Flag:
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
