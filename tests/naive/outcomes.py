"""Reference implementation of the outcomes of one attack, by the formulas of the paper."""

import math

from naive.attack import EQUAL, eccentricity, fact_list, highest, lineup_size, match, probabilities, rank, sums, tied
from naive.release import cells_of, record_of, without
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
    the person, or None. With lists of (value, day), an item counts once, with its most similar entries.
    """
    scores = sums(entries, facts)
    distribution, best, n = probabilities(scores), tied(scores), len(scores)
    near = [record for record in scores if similarity_of_histories(person, record_of(entries, record)) >= theta]
    revealed, correct = [], []
    for guess in best if highest(scores) > EQUAL else []:
        known = {item for item, _ in fact_list(facts)}
        new = {item: cells for item, cells in record_of(entries, guess).items() if item not in known}
        revealed.append(len(new))
        correct.append(
            sum(
                max(within(own, cell) for own in cells_of(person[item]) for cell in cells_of(cells))
                for item, cells in new.items()
                if item in person
            )
        )
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
