"""The attacks on UCI Adult: those of the library beside each other, and beside attacks of other kinds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import standout as so
from standout.attack.column_scores import attack_columns
from standout.core.arrays import Floats
from standout.evaluate.columns import column_targets
from standout.evaluate.estimates import rate
from tools.adult import QUASI_IDENTIFIERS
from tools.table_rivals import found, known_facts, rivals

__all__ = ["AGE_ERROR", "KNOWS", "SEED", "adversaries", "attack_part", "interval", "paired"]

KNOWS, AGE_ERROR, SEED = 6, 3.0, 2008
TARGETS, RIVAL_TARGETS, RIVAL_SEED = 4_000, 2_000, 2026
ATTACKS: dict[str, Any] = {
    "likelihood": "likelihood",
    "paper, 1B": so.ScoreboardRH(),
    "paper, 1A": so.Scoreboard(),
    "exact match": so.ExactMatch(),
}
EACH = "each by itself"

RIVALS_SHOW = """
*each by itself* is Likelihood with `counted=False`, *most matches* counts the facts that agree, *rarest matches*
adds −ln of their shares, *Gower* is the nearest row, *leave out* takes the rows that disagree with as many facts
as are wrong, *logistic* is a logistic regression trained on simulated people, and *exact count* a plain version of
Likelihood's own formula.

Largest gain of a rival: {best:.1f} percentage points.
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
    yield (
        f"Attacks that were written to beat Likelihood (`tools/table_rivals.py`), on the same "
        f"{RIVAL_TARGETS:,} people and facts. They are another sample than "
        "the one the attacks were developed on. "
        "Differences are paired, with 95 % intervals that do not allow for the number of comparisons; bold "
        "ones are above 0.\n"
    )
    rows, names, best = [], [], 0.0
    for name, adversary in adversaries(most_wrong=2).items():
        known = known_facts(table, adversary, RIVAL_TARGETS, RIVAL_SEED)
        cell = so.simulate(table, adversary, targets=RIVAL_TARGETS, seed=RIVAL_SEED).cell()
        ours = cell.outcomes.identified[:, 0]
        others = {EACH: _each_by_itself(table, adversary, RIVAL_TARGETS, RIVAL_SEED)}
        others |= {label: found(known, rival) for label, rival in rivals(table, adversary).items()}
        names = list(others)
        best = max(best, *(paired(other - ours)[0] for other in others.values()))
        rows.append(f"| {name} | {ours.mean():.3f} | {' | '.join(_gain(o - ours) for o in others.values())} |")
    yield f"| what is known | likelihood | {' | '.join(names)} |"
    yield "|---" * (len(names) + 2) + "|"
    yield from rows
    yield RIVALS_SHOW.format(best=100 * best)


def _each_by_itself(table: so.Release, adversary: so.Adversary, targets: int, seed: int) -> Floats:
    """Success of Likelihood that does not use how many facts are wrong."""
    rows, _ = column_targets(table, adversary, targets, seed)
    facts = adversary.observe_all(table, rows, seed)
    return attack_columns(table, facts, so.Likelihood(adversary), counted=False).found


def paired(difference: Floats) -> tuple[float, float]:
    """The mean of paired differences, and half the width of its 95 % interval."""
    return float(difference.mean()), float(1.96 * difference.std(ddof=1) / np.sqrt(len(difference)))


def _gain(difference: Floats) -> str:
    mean, half = paired(difference)
    text = f"{mean:+.3f} ± {half:.3f}"
    return f"**{text}**" if mean > half and mean > 0 else text


def interval(estimate: so.Estimate) -> str:
    """A share with its interval."""
    return f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"
