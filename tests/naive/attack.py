"""Reference implementation of the attack: scores, eccentricity, probabilities  [Algorithms 1A and 1B].

Facts are {item: (value, time)}, with None for what is not known, or a list of (item, (value, time)) in which
an item may occur several times. Entries may hold lists: a fact is as similar as the best entry of its item.
Scores are {record: score} and hold every candidate.
"""

import math

from naive.release import all_cells, cells_of, lengths, shortlex, support
from naive.similarity import decay, weight, within

__all__ = [
    "EQUAL",
    "best_similarity",
    "candidates",
    "eccentricity",
    "entropy",
    "fact_list",
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
"""Scores that differ by at most this are equal: sums of floats depend on their order."""


def fact_list(facts):
    """All facts as (item, (value, time))."""
    return list(facts.items()) if isinstance(facts, dict) else facts


def best_similarity(known, cells, similarity):
    """max Sim(known, entry) over a record's entries of the item."""
    return max(similarity(known, cell) for cell in cells_of(cells))


def sums(entries, facts, similarity=decay, weigh=weight, counts=None):
    """{record: the sum of wt(i) * Sim(aux_i, r'_i) over the known items that it has}  [Algorithm 1B].

    counts = the support of each item; default: that in these entries.
    """
    counts = support(entries) if counts is None else counts
    scores = {}
    for record in lengths(entries):
        parts = [
            weigh(counts[item]) * best_similarity(known, entries[record, item], similarity)
            for item, known in fact_list(facts)
            if (record, item) in entries
        ]
        scores[record] = math.fsum(parts)
    return scores


def has_coincidental_tie(entries, facts):
    """Whether two records tie only because of their weights: 2 / ln 4 = 1 / ln 2 on paper, not in floats."""
    scores = sums(entries, facts)
    shifted = sums(entries, facts, weigh=lambda count: weight(count) * (1 + count / 1000))
    pairs = [(a, b) for a in scores for b in scores if a < b]
    return any(abs(scores[a] - scores[b]) <= EQUAL < abs(shifted[a] - shifted[b]) for a, b in pairs)


def minima(entries, facts, similarity=within):
    """{record: min Sim(aux_i, r'_i) over the known items}, 0 if the record lacks one  [Algorithm 1A]."""
    scores = {}
    for record in lengths(entries):
        parts = [
            best_similarity(known, entries[record, item], similarity) if (record, item) in entries else 0.0
            for item, known in fact_list(facts)
        ]
        scores[record] = min(parts, default=0.0)
    return scores


def candidates(entries, length=None, joined=None):
    """The records whose length and first time lie within (lowest, highest).

    A record without times is not removed by its first time.
    """
    first = {}
    for record, _, _, time in all_cells(entries):
        if time is not None:
            first[record] = min(time, first.get(record, time))
    return [
        record
        for record, count in lengths(entries).items()
        if (length is None or length[0] <= count <= length[1])
        and (joined is None or record not in first or joined[0] <= first[record] <= joined[1])
    ]


def mean(scores):
    """Mean of all scores."""
    return math.fsum(scores.values()) / len(scores) if scores else 0.0


def sigma(scores):
    """Standard deviation of all scores, including zeros; 0 if all are equal."""
    if not scores or max(scores.values()) - min(scores.values()) <= EQUAL:
        return 0.0
    middle = mean(scores)
    return math.sqrt(math.fsum((score - middle) ** 2 for score in scores.values()) / len(scores))


def highest(scores):
    """max: the highest score."""
    return max(scores.values(), default=0.0)


def second(scores):
    """max2: the second highest score; the highest if there is only one."""
    return sorted(scores.values())[-2] if len(scores) > 1 else highest(scores)


def tied(scores):
    """The records with the highest score, in the order of a release."""
    least = highest(scores) - EQUAL
    return shortlex(record for record, score in scores.items() if score >= least)


def eccentricity(scores):
    """(max - max2) / sigma; 0 in a tie or without spread  [Algorithm 1B]."""
    spread = sigma(scores)
    return 0.0 if spread == 0 or len(tied(scores)) > 1 else (highest(scores) - second(scores)) / spread


def match(scores, phi):
    """The best record if its eccentricity is at least phi; None in a tie or without spread."""
    is_claim = len(tied(scores)) == 1 and sigma(scores) > 0 and eccentricity(scores) >= phi
    return tied(scores)[0] if is_claim else None


def probabilities(scores):
    """{record: Pi}, proportional to e^(score / sigma); uniform without spread  [Algorithm 1B]."""
    spread, most = sigma(scores) or math.inf, highest(scores)
    masses = {record: math.exp((score - most) / spread) for record, score in scores.items()}
    total = math.fsum(masses.values())
    return {record: mass / total for record, mass in masses.items()}


def uniform(scores, alpha):
    """{record: Pi}, uniform over the records with a score of at least alpha  [Algorithm 1A]."""
    least = alpha - EQUAL
    matching = sum(score >= least for score in scores.values())
    return {record: 1 / matching if score >= least else 0.0 for record, score in scores.items()}


def entropy(distribution, record):
    """-log2 Pi(r): the bits left; log2 N if the record has no probability."""
    return -math.log2(distribution[record]) if distribution.get(record) else math.log2(max(len(distribution), 1))


def rank(scores, score):
    """1 + number of records with a higher score."""
    return 1 + sum(other > score + EQUAL for other in scores.values())


def order(scores):
    """The records with a score above 0, highest first; ties in the order of a release."""
    ordered, ties, score_of_ties = [], [], highest(scores)
    for record in sorted(scores, key=lambda record: -scores[record]):
        if scores[record] <= EQUAL:
            break
        if scores[record] < score_of_ties - EQUAL:
            ordered += shortlex(ties)
            ties, score_of_ties = [], scores[record]
        ties.append(record)
    return ordered + shortlex(ties)


def lineup_size(distribution, mass):
    """Number of the most probable records that together have this probability."""
    ordered = sorted(distribution.values(), reverse=True)
    totals = [math.fsum(ordered[: n + 1]) for n in range(len(ordered))]
    return next(n + 1 for n, total in enumerate(totals) if total >= mass - 1e-9)
