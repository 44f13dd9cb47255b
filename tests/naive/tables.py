"""Slow twins of reading tables: levels and codes, hierarchies, nearness. One cell at a time."""

from datetime import date

MISSING = ("", "na", "n/a", "?", "null", "nan", "missing")


def cell(text):
    """A cell as text, None if it is empty."""
    text = "" if text is None else str(text).strip()
    return None if text.lower() in MISSING else text


def encoded(texts, order):
    """Levels in order, and the code of each cell; the number of levels for an empty one."""
    cells = [cell(text) for text in texts]
    levels = sorted({order(text) for text in cells if text is not None})
    return levels, [len(levels) if text is None else levels.index(order(text)) for text in cells]


def day(text):
    """Days since 1970-01-01."""
    return float((date.fromisoformat(text[:10]) - date(1970, 1, 1)).days)


def encoded_sets(texts, separator):
    """Members in order, and the sorted codes of each cell."""
    sets = [{part.strip() for part in (cell(text) or "").split(separator) if part.strip()} for text in texts]
    members = sorted(set().union(*sets))
    return members, [sorted(members.index(member) for member in own) for own in sets]


def lowest_common_height(rows, first, second):
    """Height of the lowest group that two values share; None without one."""
    if first == second:
        return 0
    groups = {row[0]: row[1:] for row in rows}
    for height, (a, b) in enumerate(zip(groups[first], groups[second], strict=True), 1):
        if a == b:
            return height
    return None


def prefix_rows(codes):
    """Each code with its prefixes, one character shorter each time."""
    longest = max(map(len, codes))
    return [[code] + [code[: longest - h] + "*" * h for h in range(1, longest + 1)] for code in codes]


def band(number, width):
    """Lower end of the band of a number."""
    low = 0
    while low + width <= number:
        low += width
    while low > number:
        low -= width
    return low


def percentile_spread(numbers):
    """Distance between the 10th and the 90th percentile: the smallest with that share up to it."""
    ordered = sorted(numbers)
    low, high = (next(x for i, x in enumerate(ordered, 1) if i >= share * len(ordered) - 1e-9) for share in (0.1, 0.9))
    return high - low


def near(levels, kind, error, rows=()):
    """For each level the positions of the levels that are near it: pair by pair."""

    def is_near(a, b):
        if kind in ("number", "date"):
            return abs(levels[a] - levels[b]) <= error + 1e-9
        if kind == "ordered":
            return abs(a - b) <= int(error)
        height = lowest_common_height(rows, levels[a], levels[b]) if rows else None
        return a == b or (height is not None and height <= int(error))

    places = range(len(levels))
    return [[b for b in places if is_near(a, b)] for a in places]
