"""Reference implementation of the attack: scores, eccentricity, probabilities  [Algorithms 1A and 1B].

Facts are {item: (value, time)}, with None for what is not known. Scores are {record: score} and hold every
candidate.
"""

import math

from naive.release import lengths, shortlex, support
from naive.similarity import decay, weight, within

__all__ = [
    "EQUAL",
    "candidates",
    "eccentricity",
    "entropy",
    "has_coincidental_tie",
    "highest",
    "lineup_size",
    "match",
    "mean",
    "minima",
    "order",
    "probabilities",
    "rank",
    "second",
    "sigma",
    "sums",
    "tied",
    "uniform",
]

EQUAL = 1e-12
"""Scores that are no further apart are the same: sums of floats depend on their order."""


def sums(entries, facts, similarity=decay, weigh=weight, counts=None):
    """{record: the sum of wt(i) * Sim(aux_i, r'_i) over the known items that it has}  [Algorithm 1B].

    counts = how many records have an item: the supports of these entries, unless others are given.
    """
    counts = support(entries) if counts is None else counts
    scores = {}
    for record in lengths(entries):
        own = [item for item in facts if (record, item) in entries]
        parts = [weigh(counts[item]) * similarity(facts[item], entries[record, item]) for item in own]
        scores[record] = math.fsum(parts)
    return scores


def has_coincidental_tie(entries, facts):
    """Whether two records tie only because of their weights: 2 / ln 4 = 1 / ln 2 on paper, not in floats."""
    scores = sums(entries, facts)
    shifted = sums(entries, facts, weigh=lambda count: weight(count) * (1 + count / 1000))
    pairs = [(one, other) for one in scores for other in scores if one < other]
    return any(
        abs(scores[one] - scores[other]) <= EQUAL < abs(shifted[one] - shifted[other]) for one, other in pairs
    )


def minima(entries, facts, similarity=within):
    """{record: min Sim(aux_i, r'_i) over the known items}, 0 where it lacks one  [Algorithm 1A]."""
    scores = {}
    for record in lengths(entries):
        has_all = facts and all((record, item) in entries for item in facts)
        parts = [similarity(facts[item], entries[record, item]) for item in facts] if has_all else [0.0]
        scores[record] = min(parts)
    return scores


def candidates(entries, length=None, joined=None):
    """The records whose length and first time lie within (lowest, highest).

    Nobody is removed by a first time that is not there.
    """
    first = {}
    for (record, _), (_, time) in entries.items():
        if time is not None:
            first[record] = min(time, first.get(record, time))
    return [
        record
        for record, count in lengths(entries).items()
        if (length is None or length[0] <= count <= length[1])
        and (joined is None or record not in first or joined[0] <= first[record] <= joined[1])
    ]


def mean(scores):
    return math.fsum(scores.values()) / len(scores) if scores else 0.0


def sigma(scores):
    """The standard deviation of all scores, zeros included; none if they are all the same."""
    if not scores or max(scores.values()) - min(scores.values()) <= EQUAL:
        return 0.0
    middle = mean(scores)
    return math.sqrt(math.fsum((score - middle) ** 2 for score in scores.values()) / len(scores))


def highest(scores):
    return max(scores.values(), default=0.0)


def second(scores):
    """max2: the second of all scores, in descending order; the only one stands alone."""
    return sorted(scores.values())[-2] if len(scores) > 1 else highest(scores)


def tied(scores):
    """The records with the highest score, in the order of a release."""
    least = highest(scores) - EQUAL
    return shortlex(record for record, score in scores.items() if score >= least)


def eccentricity(scores):
    """(max - max2) / sigma; nothing stands out of a tie, or where there is no spread."""
    spread = sigma(scores)
    return 0.0 if spread == 0 or len(tied(scores)) > 1 else (highest(scores) - second(scores)) / spread


def match(scores, phi):
    """The best record if its eccentricity is at least phi; none for a tie, no spread or a single record."""
    stands_out = len(tied(scores)) == 1 and sigma(scores) > 0 and eccentricity(scores) >= phi
    return tied(scores)[0] if stands_out else None


def probabilities(scores):
    """{record: Pi}, in proportion to e^(score / sigma); all the same where there is no spread  [1B]."""
    spread, most = sigma(scores) or math.inf, highest(scores)
    masses = {record: math.exp((score - most) / spread) for record, score in scores.items()}
    total = math.fsum(masses.values())
    return {record: mass / total for record, mass in masses.items()}


def uniform(scores, alpha):
    """{record: Pi}, the same for every record with a score of at least alpha, 0 for others  [1A]."""
    least = alpha - EQUAL
    matching = sum(score >= least for score in scores.values())
    return {record: 1 / matching if score >= least else 0.0 for record, score in scores.items()}


def entropy(chances, record):
    """-log2 Pi(r): the bits still missing; log2 N if nothing points to the record."""
    return -math.log2(chances[record]) if chances.get(record) else math.log2(max(len(chances), 1))


def rank(scores, score):
    """1 + how many have a higher score than this one."""
    return 1 + sum(other > score + EQUAL for other in scores.values())


def order(scores):
    """The records with a score above 0, the highest first, equals in the order of a release."""
    found, equals, most = [], [], highest(scores)
    for record in sorted(scores, key=lambda record: -scores[record]):
        if scores[record] <= EQUAL:
            break
        if scores[record] < most - EQUAL:
            found += shortlex(equals)
            equals, most = [], scores[record]
        equals.append(record)
    return found + shortlex(equals)


def lineup_size(chances, mass):
    """How many of the most probable records hold this share of the probability."""
    ordered = sorted(chances.values(), reverse=True)
    held = [math.fsum(ordered[: n + 1]) for n in range(len(ordered))]
    return next(n + 1 for n, total in enumerate(held) if total >= mass - 1e-9)
