"""Risk measures of tables in plain loops. A table is a list of rows, a row a tuple of cells; None is missing.

Cells of a set of categories are frozensets.
"""

import math
from itertools import combinations

__all__ = [
    "agree",
    "best_column_sets",
    "class_sizes",
    "k_anonymity",
    "marketer_risk",
    "share_of_rows",
]


def agree(row, other, columns, missing="equal"):
    """Whether two rows agree in these columns."""
    return all(
        row[c] == other[c] or (missing == "any" and (row[c] is None or other[c] is None)) for c in columns
    )


def class_sizes(rows, columns, missing="equal"):
    """For each row the number of rows that agree with it, itself included."""
    return [sum(agree(row, other, columns, missing) for other in rows) for row in rows]


def k_anonymity(rows, columns, missing="equal"):
    """The smallest class."""
    return min(class_sizes(rows, columns, missing))


def share_of_rows(rows, columns, condition, missing="equal"):
    """Share of rows whose class size fulfils a condition."""
    sizes = class_sizes(rows, columns, missing)
    return sum(map(condition, sizes)) / len(sizes)


def marketer_risk(rows, columns, missing="equal"):
    """Mean of 1/f over all rows."""
    return math.fsum(1 / size for size in class_sizes(rows, columns, missing)) / len(rows)


def best_column_sets(rows, n_columns, largest):
    """For each size (columns, share of unique rows) of the best set, among all sets."""
    best = []
    for size in range(1, min(largest, n_columns) + 1):
        shares = {
            chosen: share_of_rows(rows, chosen, lambda f: f == 1)
            for chosen in combinations(range(n_columns), size)
        }
        best.append(max(shares.items(), key=lambda item: item[1]))
    return best
