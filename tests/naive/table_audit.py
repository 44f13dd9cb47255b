"""Slow twins of what an audit of a table computes besides attacks: plain Python over cells."""

import math
from collections import Counter


def learned(columns, targets, known):
    """Mean number of further columns with a value, and mean bits of a value, over targets.

    `columns` are lists of cells (None: empty), `known` has the positions of known columns of each target.
    """
    further, bits = [], []
    for target, positions in zip(targets, known, strict=True):
        shown = [p for p, cells in enumerate(columns) if p not in positions and cells[target] is not None]
        counts = [Counter(columns[p])[columns[p][target]] for p in shown]
        further.append(len(shown))
        bits.append(sum(-math.log2(n / len(columns[0])) for n in counts) / max(len(shown), 1))
    return sum(further) / len(further), sum(bits) / len(bits)


def first_attributes(facts, attribute_of, most):
    """The facts about the first attributes of one person; facts are (column, value) as they are learned."""
    seen, kept = [], []
    for column, value in facts:
        if attribute_of[column] not in seen:
            seen.append(attribute_of[column])
        if len(seen) <= most:
            kept.append((column, value))
    return kept


def claims_within_budget(strengths, identified, absent, budget):
    """Share of correct claims, each at the least threshold that the other targets choose."""
    correct = 0
    allowed = max(math.floor(budget * (len(absent) + 1) + 1e-9) - 1, 0)
    for i, strength in enumerate(strengths):
        others = sorted((a for j, a in enumerate(absent) if j != i), reverse=True)
        rejected = others[allowed] if allowed < len(others) else -1.0
        is_claim = strength > rejected * (1 + 1e-5) if rejected >= 0 else strength >= 0
        correct += is_claim and identified[i] == 1
    return correct / len(strengths)
