"""The attacks on UCI Adult: those of the library beside each other, and beside attacks of other kinds."""

from collections.abc import Iterator
from typing import Any

import standout as so
from standout.attack.any_attack import attack_columns
from standout.core.arrays import Floats
from standout.evaluate.estimates import rate
from standout.evaluate.targets import random_targets
from tools.adult import QUASI_IDENTIFIERS
from tools.table_rivals import found, known_facts, rivals

__all__ = ["AGE_ERROR", "KNOWS", "SEED", "adversaries", "attack_part", "interval"]

KNOWS, AGE_ERROR, SEED = 6, 3.0, 2008
TARGETS, RIVAL_TARGETS, RIVAL_SEED = 4_000, 2_000, 2026
ATTACKS: dict[str, Any] = {
    "likelihood": "likelihood",
    "paper, 1B": so.ScoreboardRH(),
    "paper, 1A": so.Scoreboard(),
    "exact match": so.ExactMatch(),
}
EACH = "each by itself"

RIVALS_SHOW = """Seven attacks that were written to beat Likelihood (`tools/table_rivals.py`: most matches, rarest
matches, Gower's distance, logistic regression and others) attack the same {targets:,} people with the same facts,
another sample than the one they were developed on. Largest gain of a rival: {best:.1f} percentage points.
"""


def adversaries(most_wrong: int = 1) -> dict[str, so.Adversary]:
    """Adversaries who know 6 of the 8 quasi-identifiers."""
    several = {}
    for wrong in range(most_wrong + 1):
        for error in (0.0, AGE_ERROR):
            name = f"{'none' if wrong == 0 else wrong} wrong, age {'exact' if error == 0 else f'± {error:g}'}"
            several[name] = so.Adversary(KNOWS, tuple(QUASI_IDENTIFIERS), wrong=wrong, error=0.0, errors={"age": error})
    return several


def attack_part(table: so.Release) -> Iterator[str]:
    """What each attack finds."""
    yield (
        f"An adversary knows {KNOWS} of the 8 quasi-identifiers of a random person, drawn for each person; "
        "wrong facts are values that are not near the true one. A cell is the share of "
        f"{TARGETS:,} people whose row is the best guess (a guess among t equal rows counts 1/t), with its "
        "95 % interval.\n"
    )
    yield f"| what is known | {' | '.join(ATTACKS)} | {EACH} |"
    yield "|---" * (len(ATTACKS) + 2) + "|"
    false = {}
    for name, adversary in adversaries().items():
        cells = []
        for label, attack in ATTACKS.items():
            cell = so.simulate(table, adversary, attack=attack, targets=TARGETS, seed=SEED).cell()
            cells.append(interval(cell.identified))
            false[name, label] = cell.claims
        each = _each_by_itself(table, adversary, TARGETS, SEED)
        cells.append(interval(rate(float(each.sum()), len(each))))
        yield f"| {name} | {' | '.join(cells)} |"
    exact, robust = (false["1 wrong, age exact", label] for label in ("exact match", "likelihood"))
    yield (
        f"\nWith one wrong fact, exact matching finds nobody. It still names a single row for "
        f"{100 * exact.wrong_claims.value:.1f} % of the people, and it is always somebody else's. Likelihood "
        f"claims a row at a posterior of 0.95 for {100 * robust.correct_claims.value:.2f} % rightly and for "
        f"{100 * robust.wrong_claims.value:.2f} % wrongly."
    )
    yield from _rival_part(table)


def _rival_part(table: so.Release) -> Iterator[str]:
    yield "\n### Attacks of other kinds\n"
    best = 0.0
    for adversary in adversaries(most_wrong=2).values():
        known = known_facts(table, adversary, RIVAL_TARGETS, RIVAL_SEED)
        cell = so.simulate(table, adversary, targets=RIVAL_TARGETS, seed=RIVAL_SEED).cell()
        ours = cell.outcomes.identified[:, 0]
        others = [_each_by_itself(table, adversary, RIVAL_TARGETS, RIVAL_SEED)]
        others += [found(known, rival) for rival in rivals(table, adversary).values()]
        best = max(best, *(float((other - ours).mean()) for other in others))
    yield RIVALS_SHOW.format(best=100 * best, targets=RIVAL_TARGETS)


def _each_by_itself(table: so.Release, adversary: so.Adversary, targets: int, seed: int) -> Floats:
    """Success of Likelihood that does not use how many facts are wrong."""
    rows = random_targets(table, adversary, seed)[:targets]
    facts = adversary.observe_all(table, rows, seed)
    return attack_columns(table, facts, so.Likelihood(adversary), counted=False).found


def interval(estimate: so.Estimate) -> str:
    """A share with its interval."""
    return f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"
