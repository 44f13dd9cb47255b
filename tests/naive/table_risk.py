"""Risk measures of tables in plain loops. A table is a list of rows, a row a tuple of cells; None is missing.

Cells of a set of categories are frozensets.
"""

import math
from collections import Counter
from itertools import combinations

__all__ = [
    "agree",
    "best_column_sets",
    "class_sizes",
    "closeness",
    "distinct_l",
    "entropy_l",
    "expected_inverse_class",
    "guess_from_class",
    "guess_from_others",
    "k_anonymity",
    "marketer_risk",
    "pitman_log_likelihood",
    "recursive_c",
    "rows_with_certain_value",
    "share_of_rows",
    "smallest_unique_sizes",
    "zayatz_expected_inverse",
    "zayatz_unique_share",
]


def agree(row, other, columns, missing="equal"):
    """Whether two rows agree in these columns."""
    return all(row[c] == other[c] or (missing == "any" and (row[c] is None or other[c] is None)) for c in columns)


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
            chosen: share_of_rows(rows, chosen, lambda f: f == 1) for chosen in combinations(range(n_columns), size)
        }
        best.append(max(shares.items(), key=lambda item: item[1]))
    return best


def expected_inverse_class(size, shape, probability, tail=1e-16):
    """E[1/F | f]: the sum over F = f, f + 1, …, where F − f is negative binomial with shape f + `shape`.

    P(x) = Γ(a + x)/(Γ(a) x!) p^a (1 − p)^x with a = f + shape, summed up to a negligible rest.
    """
    a = size + shape
    chance, total, x, left = probability**a, 0.0, 0, 1.0
    while left > tail * 10 and x < 10**6:
        total += chance / (size + x)
        left -= chance
        x += 1
        chance *= (a + x - 1) / x * (1 - probability)
        if x > size / probability and chance < tail:
            break
    return total


def zayatz_unique_share(sizes, fraction):
    """Expected share of rows that are unique in the population, from class sizes of all rows.

    Each class of the sample stands for a class of the population of the same size.
    """
    classes = Counter(sizes)
    classes = {size: rows / size for size, rows in classes.items()}
    once = {size: size * fraction * (1 - fraction) ** (size - 1) for size in classes}
    both = sum(number * once[size] for size, number in classes.items())
    return classes.get(1, 0) / len(sizes) * classes.get(1, 0) * once.get(1, 0.0) / both


def zayatz_expected_inverse(sizes, fraction):
    """Mean over the rows of E[1/F | f], from class sizes of all rows, by Bayes' rule over the sizes F."""
    classes = {size: rows / size for size, rows in Counter(sizes).items()}
    means = []
    for seen in sizes:
        chance = {
            size: number * math.comb(size, seen) * fraction**seen * (1 - fraction) ** (size - seen)
            for size, number in classes.items()
            if size >= seen
        }
        means.append(sum(weight / size for size, weight in chance.items()) / sum(chance.values()))
    return sum(means) / len(means)


def pitman_log_likelihood(class_sizes_once, alpha, theta):
    """ln L of Pitman's formula by its sums; one size for each class."""
    n, u = sum(class_sizes_once), len(class_sizes_once)
    total = math.fsum(math.log(theta + i * alpha) for i in range(1, u))
    total -= math.fsum(math.log(theta + i) for i in range(1, n))
    return total + math.fsum(math.log(i - alpha) for size in class_sizes_once for i in range(1, size))


def _values_by_class(rows, columns, sensitive):
    """The sensitive values of each class; rows without a value are left out."""
    classes = {}
    for row in rows:
        if row[sensitive] is not None:
            classes.setdefault(tuple(row[c] for c in columns), []).append(row[sensitive])
    return list(classes.values())


def distinct_l(rows, columns, sensitive):
    """The smallest number of different sensitive values in a class."""
    return min(len(set(values)) for values in _values_by_class(rows, columns, sensitive))


def entropy_l(rows, columns, sensitive):
    """The smallest e^entropy of a class."""

    def entropy(values):
        shares = [count / len(values) for count in Counter(values).values()]
        return -sum(share * math.log(share) for share in shares)

    return math.exp(min(entropy(values) for values in _values_by_class(rows, columns, sensitive)))


def recursive_c(rows, columns, sensitive):
    """The largest ratio of the commonest value to all others."""
    ratios = []
    for values in _values_by_class(rows, columns, sensitive):
        first, *others = sorted(Counter(values).values(), reverse=True)
        ratios.append(first / sum(others) if others else math.inf)
    return max(ratios)


def closeness(rows, columns, sensitive, order=None):
    """t: the largest distance of a class's distribution from the table's; by ranks if an order is given."""
    known = [row[sensitive] for row in rows if row[sensitive] is not None]
    values = sorted(set(known), key=order or repr)
    distances = []
    for own in _values_by_class(rows, columns, sensitive):
        gaps = [own.count(value) / len(own) - known.count(value) / len(known) for value in values]
        if order is None:
            distances.append(sum(map(abs, gaps)) / 2)
        else:
            sums = [abs(sum(gaps[: i + 1])) for i in range(len(gaps))]
            distances.append(sum(sums) / max(len(values) - 1, 1))
    return max(distances)


def rows_with_certain_value(rows, columns, sensitive, smallest=1):
    """Share of rows in classes with one sensitive value, of at least this size."""
    classes = _values_by_class(rows, columns, sensitive)
    certain = [values for values in classes if len(set(values)) == 1 and len(values) >= smallest]
    return sum(map(len, certain)) / sum(map(len, classes))


def _chance_of(value, values):
    """The chance that the commonest of the values, one of them at random under a tie, is this value."""
    counts = Counter(values)
    best = [each for each, count in counts.items() if count == max(counts.values())]
    return (value in best) / len(best) if best else 0.0


def guess_from_class(rows, columns, sensitive):
    """Mean chance to guess each row's value from all rows of its class."""
    classes = _values_by_class(rows, columns, sensitive)
    chances = [_chance_of(value, values) for values in classes for value in values]
    return sum(chances) / len(chances)


def guess_from_others(rows, columns, sensitive):
    """Mean chance to guess each row's value from the other rows of its class, or of the table if alone."""
    classes = _values_by_class(rows, columns, sensitive)
    everyone = [value for values in classes for value in values]
    chances = []
    for values in classes:
        for i, value in enumerate(values):
            others = values[:i] + values[i + 1 :]
            if not others:
                others = list(everyone)
                others.remove(value)
            chances.append(_chance_of(value, others))
    return sum(chances) / len(chances)


def smallest_unique_sizes(rows, n_columns, largest, targets=None):
    """For each row the size of the smallest set of columns that makes it unique; largest + 1 if none does."""
    found = []
    for target in range(len(rows)) if targets is None else targets:
        sizes = [
            size
            for size in range(1, min(largest, n_columns) + 1)
            for chosen in combinations(range(n_columns), size)
            if sum(agree(rows[target], other, chosen) for other in rows) == 1
        ]
        found.append(min(sizes, default=largest + 1))
    return found
