"""Utility of a table in plain Python: columns are lists of values, None is an empty cell."""

from collections import Counter, defaultdict
from math import log2, sqrt


def total_variation(original, released, becomes):
    """Distance of two marginals; `becomes` is what the steps make of a value, "emptied" if nothing."""
    before = Counter(None if value is None else becomes[value] for value in original)
    after = Counter(released)
    levels = {*before, *after}
    return sum(abs(before[x] / len(original) - after[x] / len(released)) for x in levels) / 2


def entropy(values):
    """Bits of a cell."""
    counts = Counter(values)
    return -sum(n / len(values) * log2(n / len(values)) for n in counts.values())


def mutual_information(original, becomes, replaced, suppressed):
    """Bits that a released cell says about the original one, from the whole joint distribution."""
    share = {value: n / len(original) for value, n in Counter(original).items()}
    image = {value: None if value is None else becomes[value] for value in share}
    joint = defaultdict(float)
    for value, p in share.items():
        joint[value, None] += p * suppressed
        joint[value, image[value]] += p * (1 - suppressed) * (1 - replaced)
        for other, q in share.items():
            joint[value, image[other]] += p * (1 - suppressed) * replaced * q
    released = defaultdict(float)
    for (_, y), p in joint.items():
        released[y] += p
    return sum(p * log2(p / share[x] / released[y]) for (x, y), p in joint.items() if p > 0)


def target_classes(values, has_order):
    """Class of each value of a target: itself, its side of the median, or its rank up to ten."""
    counts = Counter(value for value in values if value is not None)
    levels = sorted(counts)
    if len(levels) <= 10:
        return {level: place for place, level in enumerate(levels)}
    if has_order:
        half = sum(counts.values()) / 2
        return {level: int(sum(counts[x] for x in levels if x < level) >= half) for level in levels}
    by_count = sorted(levels, key=lambda level: (-counts[level], level))
    return {level: min(place, 10) for place, level in enumerate(by_count)}


def released_label(released, originals, becomes, class_of):
    """Commonest class of the original cells that became this value; the first of several."""
    counts = Counter(class_of[value] for value in originals if value is not None and becomes[value] == released)
    return min(counts, key=lambda label: (-counts[label], label)) if counts else None


def _pairs(x, y):
    return [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]


def _mean_ranks(values):
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


def spearman(x, y):
    """|Rank correlation| of the rows that have both values."""
    pairs = _pairs(x, y)
    if len({a for a, _ in pairs}) < 2 or len({b for _, b in pairs}) < 2:
        return 0.0
    a, b = (_mean_ranks([pair[place] for pair in pairs]) for place in (0, 1))
    middle = (len(pairs) + 1) / 2
    both = sum((p - middle) * (q - middle) for p, q in zip(a, b, strict=True))
    return abs(both) / sqrt(sum((p - middle) ** 2 for p in a) * sum((q - middle) ** 2 for q in b))


def cramers_v(x, y):
    """Cramér's V, corrected for chance  [Bergsma 2013]."""
    pairs = _pairs(x, y)
    n, rows, columns = len(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    r, c = len(rows), len(columns)
    if r < 2 or c < 2:
        return 0.0
    cells = Counter(pairs)
    chi2 = sum(
        (cells[a, b] - rows[a] * columns[b] / n) ** 2 / (rows[a] * columns[b] / n) for a in rows for b in columns
    )
    phi2 = max(chi2 / n - (r - 1) * (c - 1) / (n - 1), 0.0)
    r, c = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    return min(sqrt(phi2 / (min(r, c) - 1)), 1.0) if min(r, c) > 1 else 0.0


def correlation_ratio(group, y):
    """Root of Kelley's epsilon squared of the ranks of y."""
    pairs = _pairs(group, y)
    groups = {a for a, _ in pairs}
    if len(groups) < 2 or len({b for _, b in pairs}) < 2 or len(pairs) <= len(groups):
        return 0.0
    ranks = _mean_ranks([b for _, b in pairs])
    of = defaultdict(list)
    for (a, _), rank in zip(pairs, ranks, strict=True):
        of[a].append(rank)
    mean = sum(ranks) / len(ranks)
    total = sum((rank - mean) ** 2 for rank in ranks) / (len(ranks) - 1)
    within = sum((rank - sum(some) / len(some)) ** 2 for some in of.values() for rank in some)
    return sqrt(min(max(1 - within / (len(ranks) - len(groups)) / total, 0.0), 1.0))
