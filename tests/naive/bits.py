"""Reference implementation of the bits of a known value and the bits left by eight readings of the paper."""

import math

from naive.attack import EQUAL, entropy, probabilities, sums
from naive.similarity import within

__all__ = ["bits_left_in_readings", "bits_of_nearness"]


def bits_of_nearness(values, reach):
    """Mean over values of −log2 of the share of the others within `reach`, as harmonic numbers."""
    return _mean_bits_of_nearness(values, lambda value, other: abs(value - other) <= reach)


def _mean_bits_of_nearness(values, is_near):
    """(H(n − 1) − H(k)) / ln 2, averaged over n values, where k of the n − 1 others are near."""
    total = 0.0
    for i, value in enumerate(values):
        near = sum(is_near(value, other) for j, other in enumerate(values) if j != i)
        total += sum(1 / k for k in range(near + 1, len(values))) / math.log(2)
    return total / max(len(values), 1)


def bits_left_in_readings(entries, facts, target, right, value, time, lineup_size):
    """Bits left in the eight readings that need the scores of all records."""
    scores = sums(entries, facts)
    log2_n = math.log2(len(scores))
    distribution = probabilities(scores)
    near = sums(entries, facts, lambda known, entry: within(known, entry, value, time))
    has = {record: [item for item in facts if (record, item) in entries] for record in scores}
    agrees = {
        record: sum(within(facts[item], entries[record, item], value, time) for item in has[record])
        for record in scores
    }
    any_known = {record: scores[record] for record in scores if has[record]}
    all_known = {record: scores[record] for record in scores if len(has[record]) == len(facts)}
    matches = [record for record in scores if agrees[record] == len(facts)]
    enough = [record for record in scores if agrees[record] >= right]
    best = sorted(any_known, key=lambda record: -scores[record])[:lineup_size]
    lineup = {record: distribution[record] for record in best}
    higher = sum(score > scores[target] + EQUAL for score in scores.values())
    ties = sum(abs(score - scores[target]) <= EQUAL for score in scores.values())
    return [
        math.fsum(-p * math.log2(p) for p in distribution.values()),
        entropy(probabilities(near), target),
        entropy(probabilities(any_known), target),
        entropy(probabilities(all_known), target),
        math.log2(len(matches)) if target in matches else log2_n,
        math.log2(len(enough)) if target in enough else log2_n,
        -math.log2(lineup[target] / math.fsum(lineup.values())) if target in lineup else log2_n,
        math.log2(1 + higher + (ties - 1) / 2),
    ]
