"""Which entries stay so that combinations of items are had by k records: compiled."""

from standout.core.jit import Array, Flag, Int, kernel, subroutine

__all__ = ["by_popularity", "walk"]


@kernel
def by_popularity(start: Array, item: Array, rank: Array, cursor: Array, record: Array, entry: Array) -> None:
    """Groups entries by item, the most popular first: whose each is, and where it stands by record."""
    for r in range(len(start) - 1):
        for i in range(start[r], start[r + 1]):
            p = cursor[rank[item[i]]]
            cursor[rank[item[i]]] = p + 1
            record[p] = r
            entry[p] = i


@kernel
def walk(
    start: Array, first: Array, record: Array, entry: Array, low: Int, high: Int, k: Int, m: Int,
    keep: Array, kept: Array, n_kept: Array, alive: Array, pairs: Array, local: Array, triples: Array,
) -> Flag:  # fmt: skip
    """Decides on the entries of items low … high - 1, of popularity rank; False if `triples` is too short.

    Item a has the entries first[a] to first[a + 1]. kept[start[r] …] are the n_kept[r] items that record r
    has kept so far, ascending. pairs[b] and triples count those who have a and b, or a and two others; they
    are 0 between two items.
    """
    for a in range(low, high):
        begin, end = first[a], first[a + 1]
        n = end - begin
        for x in range(n):
            alive[x] = record[begin + x]
            _count(kept[start[alive[x]] : start[alive[x]] + n_kept[alive[x]]], pairs, 1, k)
        n = _settle_pairs(start, kept, n_kept, alive, n, k, pairs)
        if m == 3 and n > 0:
            places = _numbered(pairs, a, local)
            if places * (places - 1) // 2 > len(triples):
                return False
            n = _settle_triples(start, kept, n_kept, alive, n, k, pairs, local, triples)
        for p in range(begin, end):
            for i in range(start[record[p]], start[record[p]] + n_kept[record[p]]):
                pairs[kept[i]] = 0
        x = 0
        for p in range(begin, end):
            r = record[p]
            if x < n and alive[x] == r:
                x += 1
                keep[entry[p]] = True
                kept[start[r] + n_kept[r]] = a
                n_kept[r] += 1
    return True


@subroutine
def _count(items: Array, pairs: Array, by: Int, k: Int) -> Flag:
    """Counts a record in or out; whether too few are left for an item that had just enough."""
    short = False
    for i in range(len(items)):
        short |= pairs[items[i]] == k
        pairs[items[i]] += by
    return short


@subroutine
def _settle_pairs(
    start: Array, kept: Array, n_kept: Array, alive: Array, n: Int, k: Int, pairs: Array
) -> Int:
    """Takes those out of `alive` who kept an item that too few of them have; returns how many are left."""
    short = True
    while short and n >= k:
        short, left = False, 0
        for x in range(n):
            items = kept[start[alive[x]] : start[alive[x]] + n_kept[alive[x]]]
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
def _numbered(pairs: Array, items: Int, local: Array) -> Int:
    """Numbers those of the first items that somebody has kept, so that their pairs lie close together."""
    places = 0
    for b in range(items):
        if pairs[b] > 0:
            local[b] = places
            places += 1
    return places


@subroutine
def _settle_triples(
    start: Array, kept: Array, n_kept: Array, alive: Array, n: Int, k: Int,
    pairs: Array, local: Array, triples: Array,
) -> Int:  # fmt: skip
    """The same for two items each; the pair i < j of their numbers is counted at j (j - 1) / 2 + i."""
    counted = alive[:n].copy()
    for x in range(n):
        items = local[kept[start[counted[x]] : start[counted[x]] + n_kept[counted[x]]]]
        _count_two(items, triples, 1, k)
    short = True
    while short and n >= k:
        short, left = False, 0
        for x in range(n):
            known = kept[start[alive[x]] : start[alive[x]] + n_kept[alive[x]]]
            items = local[known]
            if _enough(known, pairs, k) and _enough_two(items, triples, k):
                alive[left] = alive[x]
                left += 1
            else:
                short |= _count(known, pairs, -1, k)
                short |= _count_two(items, triples, -1, k)
        n = left
    for x in range(len(counted)):
        _clear_two(local[kept[start[counted[x]] : start[counted[x]] + n_kept[counted[x]]]], triples)
    return n if n >= k else 0


@subroutine
def _count_two(items: Array, triples: Array, by: Int, k: Int) -> Flag:
    short = False
    for j in range(len(items)):
        row = items[j] * (items[j] - 1) // 2
        for i in range(j):
            short |= triples[row + items[i]] == k
            triples[row + items[i]] += by
    return short


@subroutine
def _enough_two(items: Array, triples: Array, k: Int) -> Flag:
    for j in range(len(items)):
        row = items[j] * (items[j] - 1) // 2
        for i in range(j):
            if triples[row + items[i]] < k:
                return False
    return True


@subroutine
def _clear_two(items: Array, triples: Array) -> None:
    for j in range(len(items)):
        row = items[j] * (items[j] - 1) // 2
        for i in range(j):
            triples[row + items[i]] = 0
