"""Reference implementation of the similarity of two records and of nearest neighbours  [Definition 1].

Entries may also be {(record, item): [(value, time), …]}, as `visits` gives them: all entries of a record and
item.
"""

import math

import numpy as np

from naive.release import lengths, record_of, shortlex
from naive.similarity import within

__all__ = [
    "dense_nearest_neighbours",
    "merged_similarities",
    "nearest_neighbours",
    "record_similarity",
    "similarity_of_histories",
    "visits",
]


def visits(rows):
    """{(record, item): [(value, time), …]} of rows (record, item, value, time): nothing is merged."""
    cells = {}
    for record, item, *cell in rows:
        cells.setdefault((record, item), []).append(tuple(cell))
    return cells


def _highest(similarity, mine, theirs):
    """Sim of two entries, or the highest Sim of two lists of entries."""
    if isinstance(mine, tuple):
        return similarity(mine, theirs)
    return max(similarity(one, other) for one in mine for other in theirs)


def record_similarity(entries, record, other, similarity, over="union"):
    """Sim(r1, r2): sum of Sim over the shared items / number of items of either, or of the first."""
    mine, theirs = record_of(entries, record), record_of(entries, other)
    total = math.fsum(_highest(similarity, mine[item], theirs[item]) for item in mine if item in theirs)
    return total / len(mine if over == "first" else {*mine, *theirs})


def similarity_of_histories(history, other):
    """Sim of two {item: (value, day), or a list of them} over the union: values ± 1 and dates ± 14 days."""
    shared = [_highest(within, history[item], other[item]) for item in history if item in other]
    return math.fsum(shared) / len({*history, *other})


def nearest_neighbours(entries, similarity, over="union"):
    """{record: (similarity of its nearest neighbour, that neighbour)}.

    The neighbour is the first of equals in the order of a release, and None if no record is similar at all.
    """
    nearest = {}
    for record in shortlex(lengths(entries)):
        others = [other for other in shortlex(lengths(entries)) if other != record]
        similarities = [record_similarity(entries, record, other, similarity, over) for other in others]
        highest = max(similarities, default=0.0)
        nearest[record] = (highest, others[similarities.index(highest)] if highest else None)
    return nearest


def dense_nearest_neighbours(has, columns, limits, over="union"):
    """(similarity of the nearest neighbour, its index or -1) of each record, by dense arrays.

    has      has[r, i]: whether record r has item i
    columns  matrices of the same shape (values, days), NaN where nothing is known
    limits   for each column, the largest difference that counts as similar; None: not compared
    """
    nearest, neighbours = [], []
    for record, items in enumerate(has):
        is_similar = has & items
        for column, limit in zip(columns, limits, strict=True):
            if limit is not None:
                known = column[record]
                is_similar &= np.isnan(known) | (np.abs(column - known) <= limit + 1e-9)
        n_items = items.sum() if over == "first" else (has | items).sum(axis=1)
        similarities = is_similar.sum(axis=1) / n_items
        similarities[record] = -1
        best = similarities.argmax()
        nearest.append(max(similarities[best], 0.0))
        neighbours.append(best if similarities[best] > 0 else -1)
    return np.array(nearest), np.array(neighbours)


def merged_similarities(ratings, user, limits, over="union"):
    """Similarity of each other user who shares an item, by a merge of pandas.

    ratings  a frame with the columns user, item, rating and day
    limits   {column: the largest difference that counts as similar}
    """
    lengths, mine = ratings.groupby("user").size(), ratings[ratings.user == user]
    pairs = ratings[ratings.user != user].merge(mine, on="item", suffixes=("", "_known"))
    is_similar = pairs.item.notna()
    for column, limit in limits.items():
        is_similar &= (pairs[column] - pairs[f"{column}_known"]).abs() <= limit + 1e-9
    shared, similar = pairs.groupby("user").size(), is_similar.groupby(pairs.user).sum()
    return similar / (len(mine) if over == "first" else len(mine) + lengths[shared.index] - shared)
