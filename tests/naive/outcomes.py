"""Reference implementation of the outcomes of one attack, by the formulas of the paper."""

import math

from naive.attack import EQUAL, eccentricity, highest, lineup_size, match, probabilities, rank, sums, tied
from naive.release import record_of, without
from naive.similarity import within
from naive.sparsity import similarity_of_histories

__all__ = ["NO_CLAIM", "attack_outcome", "claim_eccentricity"]

NO_CLAIM = -1.0
"""Instead of an eccentricity where no claim is possible."""


def claim_eccentricity(scores):
    """The eccentricity, or NO_CLAIM in a tie, without spread, or without candidates."""
    return eccentricity(scores) if scores and match(scores, 0) else NO_CLAIM


def attack_outcome(entries, facts, person, right_record, top, theta):
    """Every outcome of one attack on a release.

    person = the true {item: (value, day)} in terms of the release; right_record = the record that represents
    the person, or None.
    """
    scores = sums(entries, facts)
    distribution, best, n = probabilities(scores), tied(scores), len(scores)
    near = [
        record for record in scores if similarity_of_histories(person, record_of(entries, record)) >= theta
    ]
    revealed, correct = [], []
    for guess in best if highest(scores) > EQUAL else []:
        new = {item: cell for item, cell in record_of(entries, guess).items() if item not in facts}
        revealed.append(len(new))
        correct.append(sum(within(person[item], cell) for item, cell in new.items() if item in person))
    outcome = {
        "identified": 0.0,
        "in_top": 0.0,
        "similar": sum(guess in near for guess in best) / len(best),
        "claim_strength": claim_eccentricity(scores),
        "bits_left": math.log2(n),
        "similar_bits_left": min((-math.log2(distribution[record]) for record in near), default=math.log2(n)),
        "best_probability": max(distribution.values()),
        "candidates": n,
        "revealed": math.fsum(revealed) / max(len(revealed), 1),
        "revealed_correct": math.fsum(correct) / max(len(correct), 1),
        "absent_claim_strength": claim_eccentricity(scores),
    }
    outcome |= {f"lineup_{share}": lineup_size(distribution, share / 100) for share in (50, 90, 99)}
    if right_record is None:
        return outcome
    others = without(entries, right_record)
    higher = rank(scores, scores[right_record]) - 1
    equal = sum(abs(score - scores[right_record]) <= EQUAL for score in scores.values())
    return outcome | {
        "identified": (right_record in best) / len(best),
        "in_top": min(1.0, max(0.0, (top - higher) / equal)),
        "bits_left": -math.log2(distribution[right_record]),
        "absent_claim_strength": claim_eccentricity(sums(others, facts) if others else {}),
    }
