"""What the theorems say about imprecise facts  [Theorem 1: Sim(aux_i, r_i) ≥ 1 − ε for all known i].

A fact may be off by the distances of the similarity, and so may a matching record from the fact. The proof of
Lemma 1 compares the record with the target as if the fact were exact. What follows for imprecise facts is
that the two are within twice the distances, in what the adversary knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from standout.adversary import Adversary
from standout.core.errors import ParameterError
from standout.evaluate.estimates import Estimate
from standout.similarity.attributes import Equal, Present, Similarity, Within
from standout.theory.check_results import Check

__all__ = ["BY_ENTRIES", "FACTS_PREMISE", "TWICE", "check_adversary", "twice_as_wide", "with_notes"]

FACTS_PREMISE = "targets whose facts are all within 1 − ε (premise)"
TWICE = "a random match is similar within twice the distances"
FOLLOWS = "what follows for imprecise facts"
IMPRECISE = "facts are imprecise: what follows is similarity within twice the distances"
WRONG = "some facts are wrong, so the theorem does not apply"
NOT_RANDOM = "facts are not drawn at random, so the theorem does not apply"
BY_ENTRIES = "facts are random entries, not random items, so the theorem does not apply"


def check_adversary(adversary: Any) -> Adversary | None:
    """Return `adversary` if it is one, or None."""
    if adversary is not None and not isinstance(adversary, Adversary):
        raise ParameterError(f"adversary must be an Adversary, or None, got {type(adversary).__name__}")
    return adversary


def twice_as_wide(similarity: Similarity, adversary: Adversary) -> Similarity:
    """What two entries have in common if both are similar to one imprecise fact: twice the distances.

    What the adversary does not know is not compared.
    """
    if isinstance(similarity, Within):
        value = None if adversary.value_error is None or similarity.value is None else 2 * similarity.value
        time = None if adversary.time_error is None or similarity.time is None else 2 * similarity.time
        return Within(value, time)
    return Present() if isinstance(similarity, Equal) and adversary.value_error is None else similarity


def with_notes(
    checks: Sequence[Check], adversary: Adversary, precise: Mapping[int, Estimate], has_repeats: bool
) -> list[Check]:
    """The checks with what the adversary's facts mean for them; `precise` is the premise for each m.

    Where the premise is not met, a measurement outside the bound proves nothing. If records have items
    several times, an adversary knows what people do often with a higher probability than the theorems assume.
    """
    is_random = type(adversary) is Adversary and str(adversary.items) == "any"
    is_exact = adversary.value_error == adversary.time_error == 0
    noted = []
    for check in checks:
        m, note, holds = check.settings.m, "", check.holds
        if m is not None and (not is_random or (precise[m].n and precise[m].value < 1)):
            note, holds = (WRONG if is_random else NOT_RANDOM), holds or None
        elif m is not None and has_repeats:
            note, holds = BY_ENTRIES, holds or None
        elif m is not None:
            note = FOLLOWS if check.statement == TWICE else "" if is_exact else IMPRECISE
        noted.append(replace(check, holds=holds, note="; ".join(filter(None, (note, check.note)))))
    return noted
