"""Reference implementation of the similarity of two records and of nearest neighbours  [Definition 1]."""

import math

from naive.release import lengths, shortlex
from naive.similarity import within

__all__ = ["alike", "nearest", "nearest_neighbours", "similarity_of_histories"]


def alike(entries, one, other, similarity, over="union"):
    """Sim(r1, r2): how alike the items are that both have, over the items of either, or of the first."""
    mine, theirs = ({item: cells for (who, item), cells in entries.items() if who == r} for r in (one, other))
    total = math.fsum(similarity(mine[item], theirs[item]) for item in mine if item in theirs)
    return total / len(mine if over == "first" else {*mine, *theirs})


def nearest(entries, record, similarity, over="union"):
    """How similar the most similar of the others is."""
    others = [other for other in lengths(entries) if other != record]
    return max((alike(entries, record, other, similarity, over) for other in others), default=0.0)


def nearest_neighbours(entries, similarity, over="union"):
    """{record: (how similar its nearest neighbour is, who that is)}: the first of equals in the order of a
    release, nobody if none has anything similar."""
    found = {}
    for record in shortlex(lengths(entries)):
        others = [other for other in shortlex(lengths(entries)) if other != record]
        near = [alike(entries, record, other, similarity, over) for other in others]
        best = max(near, default=0.0)
        found[record] = (best, others[near.index(best)] if best else None)
    return found


def similarity_of_histories(one, other):
    """Sim of two {item: (value, day)}, over the union."""
    shared = [within(one[item], other[item]) for item in one if item in other]
    return math.fsum(shared) / len({*one, *other})
