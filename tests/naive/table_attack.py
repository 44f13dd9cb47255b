"""Slow twin of the attacks on tables: plain Python over cells, one row after the other.

A column is a dictionary: kind, levels (in order), cells (a level, a list of levels, or None), error,
similarity (name, scale), groups (lists of group numbers by height) and optionally a channel (released: a
released level or None by level, replaced, suppressed) with the released cells.
"""

import math
from itertools import combinations

UNIT = 2**20


def distance(column, a, b):
    """Distance of two levels in the unit of the column's error."""
    levels = column["levels"]
    if column["kind"] in ("number", "date"):
        return abs(a - b)
    if column["kind"] == "ordered":
        return abs(levels.index(a) - levels.index(b))
    if a == b:
        return 0
    i, j = levels.index(a), levels.index(b)
    heights = [h for h, group in enumerate(column.get("groups", ()), 1) if group[i] == group[j]]
    return min(heights) if heights else math.inf


def near(column, level):
    return [other for other in column["levels"] if distance(column, level, other) <= column["error"] + 1e-9]


def probability(column, known, level, wrong):
    """P(known level | cell has this level)."""
    if known in near(column, level):
        return (1 - wrong) / len(near(column, level))
    return wrong / (len(column["levels"]) - len(near(column, known)))


def original_cells(column, without):
    return [cell for row, cell in enumerate(column["cells"]) if cell is not None and row != without]


def mean_probability(column, known, wrong, without):
    cells = original_cells(column, without)
    total = math.fsum(probability(column, known, cell, wrong) for cell in cells)
    if total > 0:
        return total / len(cells)
    return max((1 - wrong) / len(near(column, level)) for level in near(column, known)) / (len(cells) + 1)


def likelihood(column, known, cell, wrong, coverage, without):
    """ln(1 − c + c · P(v | cell) / P(v))."""
    mean = mean_probability(column, known, wrong, without)
    channel = column.get("channel")
    if channel is None:
        ratio = 0.0 if cell is None else probability(column, known, cell, wrong) / mean
        return math.log(1 - coverage + coverage * ratio)
    everybody = original_cells(column, None)
    became = [channel["released"][level] for level in everybody]
    given = [probability(column, known, level, wrong) for level in everybody]
    if cell is None:
        suppressed = channel["suppressed"]
        mapped = [p for p, y in zip(given, became, strict=True) if y is None]
        empties = column["cells"].count(None) + suppressed * len(everybody) + (1 - suppressed) * len(mapped)
        explained = suppressed * len(everybody) * mean + (1 - suppressed) * math.fsum(mapped)
        return math.log(1 - coverage + coverage * (explained / empties if empties else 0.0) / mean)
    same = [p for p, y in zip(given, became, strict=True) if y == cell]
    replaced = channel["replaced"]
    if same:
        ratio = (1 - replaced) * math.fsum(same) / len(same) / mean + replaced
    else:
        ratio = (1 - replaced) * wrong / (len(column["levels"]) - len(near(column, known))) / mean + replaced
    return math.log(1 - coverage + coverage * ratio)


def member_likelihood(column, known, cell, wrong, coverage, without):
    n_levels = len(column["levels"])
    elsewhere = wrong / (n_levels - 1)

    def given(members):
        return (1 - wrong) / len(members) if known in members else elsewhere

    sets = [members for row, members in enumerate(column["cells"]) if members and row != without]
    total = math.fsum(given(members) for members in sets)
    mean = total / len(sets) if total > 0 else 1 / (len(sets) + 1)
    ratio = given(cell) / mean if cell else 0.0
    return math.log(1 - coverage + coverage * ratio)


def similarity(column, known, cell):
    """The paper's Sim of a known level and a cell."""
    if cell is None or cell == []:
        return 0.0
    if column["kind"] == "set":
        return float(known in cell)
    name, scale = column["similarity"]
    if name == "equal":
        return float(known == cell)
    if name == "within":
        return float(abs(known - cell) <= scale + 1e-9)
    if name == "decay":
        return math.exp(-abs(known - cell) / scale) if abs(known - cell) <= 20 * scale + 1e-9 else 0.0
    if name == "ordered":
        levels = column["levels"]
        return 1 - abs(levels.index(known) - levels.index(cell)) / max(len(levels) - 1, 1)
    height = len(column["groups"])
    return 1 - min(distance(column, known, cell), height) / height


def scores(columns, facts, attack, wrong, coverage=0.98, without=None):
    """Score of each row, in 2^-20; the row `without` is counted in nothing and has the score None."""
    result = []
    shown = [column.get("released_cells", column["cells"]) for column in columns]
    for row in range(len(shown[0])):
        addends = []
        for position, known in facts:
            column, cell = columns[position], shown[position][row]
            if attack == "likelihood":
                rule = member_likelihood if column["kind"] == "set" else likelihood
                addend = rule(column, known, cell, wrong, coverage, without)
            elif attack == "exact match":
                addend = float(known in cell) if column["kind"] == "set" else float(known == cell)
            else:
                addend = similarity(column, known, cell)
            if attack == "paper":
                support = sum(1 for r, c in enumerate(shown[position]) if c not in (None, []) and r != without)
                addend /= math.log(max(support, 2))
            addends.append(round(addend * UNIT))
        result.append(min(addends) if attack in ("threshold", "exact match") else sum(addends))
    if without is not None:
        result[without] = None
    return result


def verdict(found, target, attack, alpha=0.5):
    """(ties, chance of the right row, eccentricity, posterior of the best, posterior of the target)."""
    there = [score for score in found if score is not None]
    own = found[target]
    if attack in ("threshold", "exact match"):
        limit = round((1.0 if attack == "exact match" else alpha) * UNIT)
        passing = sum(score >= limit for score in there)
        inside = own is not None and own >= limit
        chance = 1 / passing if inside else 0.0
        return passing, chance, math.inf if passing == 1 else 0.0, 1 / passing if passing else 0.0, chance
    best = max(there)
    ties = there.count(best)
    mean = math.fsum(score / UNIT for score in there) / len(there)
    sigma = math.sqrt(max(math.fsum((score / UNIT - mean) ** 2 for score in there) / len(there), 0.0))
    second = sorted(there)[-2] if len(there) > 1 else best
    eccentricity = (best - second) / UNIT / sigma if sigma > 1e-9 and ties == 1 and len(there) > 1 else 0.0
    scale = 1.0 if attack == "likelihood" else 1 / max(sigma, 1e-9)
    total = math.fsum(math.exp((score - best) / UNIT * scale) for score in there)
    chance = 1 / ties if own == best else 0.0
    posterior = 0.0 if own is None else math.exp((own - best) / UNIT * scale) / total
    return ties, chance, eccentricity, 1 / total, posterior


def chances(column, known, cell, wrong, coverage, without, is_wrong):
    """1 − c + c · P(v | cell) / P(v) if the fact is right, or if it is wrong; P(v) is a mean over both."""
    share = float(is_wrong)
    if column["kind"] == "set":
        return _member_chances(column, known, cell, wrong, coverage, without, share)
    mean = mean_probability(column, known, wrong, without)
    if cell is None:
        return 1 - coverage
    possible = share if len(near(column, cell)) < len(column["levels"]) else 0.0
    return 1 - coverage + coverage * probability(column, known, cell, possible) / mean


def _member_chances(column, known, cell, wrong, coverage, without, share):
    elsewhere = 1 / (len(column["levels"]) - 1)
    sets = [members for row, members in enumerate(column["cells"]) if members and row != without]
    given = [(1 - wrong) / len(m) if known in m else wrong * elsewhere for m in sets]
    mean = math.fsum(given) / len(sets) if sum(given) > 0 else 1 / (len(sets) + 1)
    if not cell:
        return 1 - coverage
    share = share if len(cell) < len(column["levels"]) else 0.0  # a set with all members has no wrong one
    own = (1 - share) / len(cell) if known in cell else share * elsewhere
    return 1 - coverage + coverage * own / mean


def counted_probabilities(columns, facts, n_wrong, coverage=0.98, without=None):
    """P(facts | row) / P(facts) of each row, if exactly n_wrong of the attributes are wrong.

    Facts are lists of (column, level), one list for each attribute.
    """
    wrong, found = n_wrong / len(facts), []
    for row in range(len(columns[0]["cells"])):
        factors = [  # of each attribute, if it is right and if it is wrong
            [
                math.prod(
                    chances(columns[c], known, columns[c]["cells"][row], wrong, coverage, without, is_wrong)
                    for c, known in attribute
                )
                for is_wrong in (False, True)
            ]
            for attribute in facts
        ]
        choices = combinations(range(len(facts)), n_wrong)
        total = [math.prod(pair[i in chosen] for i, pair in enumerate(factors)) for chosen in choices]
        found.append(0.0 if row == without else math.fsum(total) / len(total))
    return found
