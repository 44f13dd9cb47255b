"""Steps on tables in plain Python: rows are tuples of values, None is an empty cell."""

from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import combinations
from math import floor


def rounded(value, to):
    """Nearest multiple; halves up."""
    width = Fraction(str(to))
    return float(floor(Fraction(str(value)) / width + Fraction(1, 2)) * width)


def top_coded(value, below, above):
    """Values beyond a bound become the bound."""
    if below is not None and value < below:
        return below
    return above if above is not None and value > above else value


def band(value, width):
    """Band of a whole number: text like "20 to 29"."""
    low = value // width * width
    return f"{int(low)} to {int(low + width - 1)}"


def first_day(day, period):
    """First day of the month, quarter or year."""
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}[period]
    return date(day.year, month, 1)


def without_rare(values, below):
    """Cells whose value fewer rows have are emptied."""
    counts = Counter(values)
    return [value if counts[value] >= below else None for value in values]


def smallest_class(rows):
    """Number of rows of the rarest combination, empty cells counted as a value; None without rows."""
    return min(Counter(rows).values(), default=None)


def rows_of_large_classes(rows, k):
    """Positions of the rows whose combination at least k rows have."""
    counts = Counter(rows)
    return [place for place, row in enumerate(rows) if counts[row] >= k]


def suppressed_to_k(rows, k):
    """Rows after local suppression, by the greedy rule; None for a removed row."""
    n_columns = len(rows[0])
    order = sorted(range(n_columns), key=lambda column: -len({row[column] for row in rows}))
    counts = Counter(rows)
    now, unsafe = list(rows), {place for place, row in enumerate(rows) if counts[row] < k}
    for size in range(1, n_columns + 1):
        for emptied in combinations(order, size):
            tried = {place: _without(now[place], emptied) for place in unsafe}
            together = Counter(tried.values())
            together.update(now[place] for place in range(len(rows)) if place not in unsafe)
            for place, row in tried.items():
                if together[row] >= k:
                    now[place] = row
                    unsafe = unsafe - {place}
    return [None if place in unsafe else row for place, row in enumerate(now)]


def _without(row, emptied):
    return tuple(None if column in emptied else value for column, value in enumerate(row))
