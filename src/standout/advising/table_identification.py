"""How many people of a table the strongest of several attacks identifies."""

import math
from collections.abc import Mapping

import numpy as np

from standout.advising.strongest_attack import IdentificationRisk
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import key
from standout.evaluate.estimates import Estimate, rate
from standout.table_attack.prepare import original_of, representing_rows
from standout.table_attack.row_verdicts import attack_rows
from standout.table_attack.simulate_table import AttackName, table_attack_named, table_targets
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import TableAttack
from standout.tables.model import Table

__all__ = ["table_attacks_by_name", "table_identification_risk"]

ATTACKS: tuple[AttackName, ...] = ("likelihood", "paper", "exact match")
"""The attacks that are tried, the strongest in theory first."""
PILOT_TARGETS, FEWEST = 300, 30
"""Number of other people on whom attacks are compared, at least; with fewer than 30, the targets serve."""


def table_identification_risk(
    table: Table,
    adversary: TableAdversary,
    targets: int,
    seed: int,
    threads: int | None = None,
    own_attacks: Mapping[str, TableAttack] | None = None,
) -> IdentificationRisk:
    """Share of targets whom the strongest attack identifies; they are drawn as `simulate_table` draws them.

    The attack is the one that identifies most of some other people. `own_attacks` are tried as well.
    """
    rows, _ = table_targets(table, adversary, targets, seed)
    attacks = {name: table_attack_named(name, adversary) for name in ATTACKS} | dict(own_attacks or {})

    def found(name: str, people: Ints, facts_seed: int) -> Floats:
        facts = adversary.observe(original_of(table), people, facts_seed)
        return attack_rows(table, facts, attacks[name], adversary, threads=threads).found

    pilot, pilot_seed = _pilot(table, adversary, rows, seed)
    numbers = {name: math.fsum(found(name, pilot, pilot_seed)) for name in attacks}
    strongest = max(numbers, key=lambda name: numbers[name])  # the first of equally strong ones
    success, baseline = found(strongest, rows, seed), 1 / table.n_rows
    is_present = representing_rows(table)[rows] >= 0
    return IdentificationRisk(
        everybody=_rate(success, float(is_present.mean()) * baseline),
        released=_rate(success[is_present], baseline),
        attack=strongest,
    )


def _pilot(table: Table, adversary: TableAdversary, reported: Ints, seed: int) -> tuple[Ints, int]:
    """Other people on whom attacks are compared, and the seed of what is known about them.

    Half as many as the targets, but enough; if there are too few other people, the targets with other facts.
    """
    order, _ = table_targets(table, adversary, None, seed, "choice")
    others = order[~np.isin(order, reported)]
    size = max(PILOT_TARGETS, len(reported) // 2)
    pilot = (others if len(others) >= FEWEST else order)[:size]
    return pilot, int(key(seed, "choice") >> np.uint64(1))


def _rate(success: Floats, baseline: float) -> Estimate:
    # The sum of shares like 1/3 may exceed the number of targets by rounding.
    return rate(min(math.fsum(success), len(success)), len(success), baseline)


def table_attacks_by_name(attacks: object) -> dict[str, TableAttack]:
    """Attacks on tables by name: a mapping, one attack or several."""
    if isinstance(attacks, TableAttack):
        attacks = [attacks]
    if not isinstance(attacks, Mapping):
        several = list(attacks) if isinstance(attacks, (list, tuple)) else [attacks]
        attacks = {getattr(attack, "name", ""): attack for attack in several}
    for name, attack in attacks.items():
        if not isinstance(attack, TableAttack):
            raise ParameterError(
                f"attacks must be attacks on tables, such as TableLikelihood(), got {type(attack).__name__}"
            )
        if not isinstance(name, str) or not name or name in ATTACKS:
            raise ParameterError(f"attacks must have names other than {', '.join(ATTACKS)}, got {name!r:.40}")
    return dict(attacks)
