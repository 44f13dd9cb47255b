"""Checks of an audit's parameters."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from standout.attack.any_attack import AnyAttack, attacks_by_name, check_attack, checkpoint_key
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.suggestions import did_you_mean
from standout.evaluate.candidate_attacks import LIKELIHOOD, PAPER

__all__ = [
    "fact_counts",
    "is_share",
    "only_attack",
    "only_for_releases",
    "only_for_tables",
    "own_attacks",
]

FACTS, QUICK_FACTS = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 4, 8)
MOST_FACTS = 1000


def fact_counts(facts: Sequence[int] | None, quick: bool) -> tuple[int, ...]:
    """The numbers of facts in the curves, ascending."""
    if facts is None:
        return QUICK_FACTS if quick else FACTS
    if isinstance(facts, str) or not isinstance(facts, Sequence) or not facts:
        raise ParameterError(f"facts must be a list of whole numbers such as [1, 2, 4, 8], got {facts!r}")
    counts = tuple(sorted({whole_number("facts", count, 1) for count in facts}))
    if counts[-1] > MOST_FACTS:
        raise ParameterError(f"facts must be at most {MOST_FACTS:,}, got {counts[-1]:,}")
    return counts


def is_share(number: Any) -> bool:
    """Whether a parameter is a number from 0 to 1."""
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and math.isfinite(number) and 0 <= number <= 1


def own_attacks(attacks: Any, has_checkpoints: bool) -> dict[str, AnyAttack]:
    """Attacks of the user's own by name. The names of the two built-in ones stay theirs.

    With checkpoints every attack needs a key, whether or not it turns out to be the strongest.
    """
    named = {} if attacks is None else attacks_by_name(attacks)
    for name, kind in ((PAPER, ScoreboardRH), (LIKELIHOOD, Likelihood)):
        if name in named and not isinstance(named[name], kind):
            raise ParameterError(
                f"attacks may name only a {kind.__name__} {name!r}, got a {type(named[name]).__name__}; "
                "choose another name"
            )
    for attack in named.values() if has_checkpoints else ():
        checkpoint_key(attack, "work")
    return named


def only_attack(attack: Any, own_attacks: Mapping[str, AnyAttack]) -> str | AnyAttack | None:
    """The one attack to try, or its name; None: all."""
    if not isinstance(attack, str):
        return None if attack is None else check_attack(attack)
    names = (PAPER, LIKELIHOOD, *own_attacks)
    if attack not in names:
        raise ParameterError(
            f"attack must be one of {', '.join(names)}, or an attack, got {attack!r}"
            f"{did_you_mean(attack, names)}"
        )
    return attack


def only_for_releases(parameters: Mapping[str, Any]) -> None:
    """Reject parameters that an audit of a table does not have."""
    for name, value in parameters.items():
        if value is not None:
            raise ParameterError(f"{name} must be None for a table: it is for histories only")


def only_for_tables(parameters: Mapping[str, Any]) -> None:
    """Reject parameters that only an audit of a table has."""
    for name, value in parameters.items():
        if value is not None:
            raise ParameterError(
                f"{name} is for tables with one row per person: use so.read_table, or give table=True"
            )
