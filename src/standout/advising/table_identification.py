"""How many people of a table the strongest of several attacks identifies."""

import math
from collections.abc import Mapping

from standout.advising.strongest_attack import IdentificationRisk
from standout.core.arrays import Floats
from standout.core.errors import ParameterError
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


def table_identification_risk(
    table: Table,
    adversary: TableAdversary,
    targets: int,
    seed: int,
    threads: int | None = None,
    own_attacks: Mapping[str, TableAttack] | None = None,
) -> IdentificationRisk:
    """Share of targets whom the strongest attack identifies; they are drawn as `simulate_table` draws them.

    The strongest attack is the one that identifies most of these targets. So the rate is a little too high,
    by less than its sampling error. Choosing the attack on other targets would have no such bias, but where
    few are identified it often chooses the weaker attack, and the rate is then too low: a limit would be met
    by chance. `own_attacks` are tried as well.
    """
    rows, _ = table_targets(table, adversary, targets, seed)
    facts = adversary.observe(original_of(table), rows, seed)
    attacks = {name: table_attack_named(name, adversary) for name in ATTACKS} | dict(own_attacks or {})
    is_present = representing_rows(table)[rows] >= 0
    success = {
        name: attack_rows(table, facts, attack, adversary, threads=threads).found
        for name, attack in attacks.items()
    }
    strongest = max(success, key=lambda name: math.fsum(success[name]))  # the first of equally strong ones
    found, baseline = success[strongest], 1 / table.n_rows
    return IdentificationRisk(
        everybody=_rate(found, float(is_present.mean()) * baseline),
        released=_rate(found[is_present], baseline),
        attack=strongest,
    )


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
