"""Categories with an evident order: low, medium, high; "1 - never" … "5 - always"; bands such as 20-29."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import inf

__all__ = ["evident_order"]

MOST_BANDS, MOST_LABELS = 400, 100
SCALES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("none", "no risk"),
        ("very low", "sehr niedrig"),
        ("low", "niedrig", "gering"),
        ("medium", "moderate", "middle", "average", "normal", "mid", "mittel"),
        ("high", "hoch"),
        ("very high", "sehr hoch"),
    ),
    (
        ("never", "nie"),
        ("almost never", "very rarely", "sehr selten"),
        ("rarely", "seldom", "selten"),
        ("sometimes", "occasionally", "manchmal"),
        ("often", "frequently", "usually", "oft", "häufig"),
        ("very often", "almost always", "sehr oft"),
        ("always", "immer"),
    ),
    (
        ("strongly disagree", "disagree strongly", "completely disagree"),
        ("disagree",),
        ("somewhat disagree", "slightly disagree"),
        ("neutral", "neither agree nor disagree", "neither", "undecided"),
        ("somewhat agree", "slightly agree"),
        ("agree",),
        ("strongly agree", "agree strongly", "completely agree"),
    ),
    (
        ("very dissatisfied", "very unsatisfied"),
        ("dissatisfied", "unsatisfied"),
        ("neutral", "neither satisfied nor dissatisfied"),
        ("satisfied",),
        ("very satisfied",),
    ),
    (
        ("very poor", "very bad"),
        ("poor", "bad"),
        ("fair", "average"),
        ("good",),
        ("very good",),
        ("excellent",),
    ),
    (("none",), ("mild", "light", "slight"), ("moderate",), ("severe", "serious"), ("critical",)),
    (("xs",), ("s",), ("m",), ("l",), ("xl",), ("xxl",)),
    (("small", "klein"), ("medium", "mittel"), ("large", "groß", "gross"), ("extra large",)),
    (
        ("not at all",),
        ("a little", "slightly"),
        ("somewhat", "moderately"),
        ("quite", "very", "a lot"),
        ("extremely",),
    ),
    (
        ("daily", "every day"),
        ("weekly", "every week"),
        ("monthly", "every month"),
        ("yearly", "annually"),
        ("never",),
    ),
)
"""Names of ordered levels; the names in one bracket mean the same."""
MOST_DIGITS = 18
LABEL = re.compile(r"[(\[]?(\d{1,3})[)\]]?\s*(?:[-–—.:=)]\s*|\s)(?=[^\W\d])\S.*")
NUMBER = r"([+-]?\d+(?:\.\d+)?)"
UNIT = r"\s*(?:k|m|years?|yrs?|jahre?|€|\$|%)?"
MONEY = r"[$€£]?\s*"
BETWEEN = re.compile(
    rf"[\[(]?{MONEY}{NUMBER}{UNIT}\s*(?:-|–|—|to|bis|,|\.\.)\s*{MONEY}{NUMBER}{UNIT}[\])]?", re.IGNORECASE
)
BELOW = re.compile(
    rf"(?:<|<=|≤|under|below|less than|up to|unter|bis)\s*{MONEY}{NUMBER}{UNIT}", re.IGNORECASE
)
ABOVE = re.compile(
    rf"(?:>|>=|≥|over|above|more than|at least|über|ab)\s*{MONEY}{NUMBER}{UNIT}"
    rf"|{MONEY}{NUMBER}{UNIT}\s*(?:\+|and over|and above|and older|or more|or older|und älter|und mehr)",
    re.IGNORECASE,
)
DECADE = re.compile(r"(\d*0)'?s", re.IGNORECASE)
EXACT = re.compile(rf"{NUMBER}")


def evident_order(levels: Sequence[str]) -> tuple[list[int], str] | None:
    """Positions of the levels in their order, and why; None if no order is evident.

    >>> evident_order(["high", "low", "medium"])
    ([1, 2, 0], 'the names are a scale')
    >>> evident_order(["20-29", "30-39", "<20", "40+"])
    ([2, 0, 1, 3], 'the levels are bands of numbers')
    >>> evident_order(["1 - never", "5 - always", "3"])
    ([0, 2, 1], 'the levels are numbered')
    >>> evident_order(["red", "green"])
    """
    if len(levels) < 2:
        return None
    for find, reason in (
        (_on_scale, "the names are a scale"),
        (_numbered, "the levels are numbered"),
        (_bands, "the levels are bands of numbers"),
    ):
        if (ranks := find(levels)) is not None:
            return sorted(range(len(levels)), key=lambda i: ranks[i]), reason
    return None


def _on_scale(levels: Sequence[str]) -> list[int] | None:
    folded = [" ".join(level.lower().replace("_", " ").replace("-", " ").split()) for level in levels]
    for scale in SCALES:
        rank = {name: place for place, names in enumerate(scale) for name in names}
        if all(level in rank for level in folded):
            ranks = [rank[level] for level in folded]
            if len(set(ranks)) == len(ranks) and (len(ranks) > 2 or "low" in folded or "niedrig" in folded):
                return ranks
    return None


def _numbered(levels: Sequence[str]) -> list[int] | None:
    if len(levels) > MOST_LABELS:
        return None
    numbers, labelled = [], 0
    for level in levels:
        match = LABEL.fullmatch(level)
        labelled += match is not None
        if match is None and not (level.isdecimal() and len(level) <= MOST_DIGITS):
            return None
        numbers.append(int(match[1] if match else level))
    return numbers if labelled > 1 and len(set(numbers)) == len(numbers) else None


def _bands(levels: Sequence[str]) -> list[tuple[float, float]] | None:
    """The ends of bands that do not overlap; single numbers may be among them."""
    if len(levels) > MOST_BANDS:
        return None
    ends = [_band(level) for level in levels]
    if any(end is None for end in ends) or all(EXACT.fullmatch(level) for level in levels):
        return None
    bands = [end for end in ends if end is not None]
    ordered = sorted(bands)
    overlap = any(high > low for (_, high), (low, _) in pairwise(ordered))
    return None if overlap or len(set(bands)) < len(bands) else bands


def _band(level: str) -> tuple[float, float] | None:
    text = level.strip()
    if match := EXACT.fullmatch(text):
        return float(match[1]), float(match[1])
    if match := DECADE.fullmatch(text):
        return float(match[1]), float(match[1]) + 9
    if match := BETWEEN.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        return (low, high) if low < high else None
    if match := BELOW.fullmatch(text):
        return -inf, float(match[1])
    if match := ABOVE.fullmatch(text):
        return float(match[1] or match[2]), inf
    return None
