"""How often the best guess of an attack is right, without the other outcomes of a simulation."""

from collections.abc import Sequence

import numpy as np

from standout.attack.any_attack import AnyAttack, check_attack
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.evaluate.outcomes import record_scores
from standout.evaluate.population import Population
from standout.facts import KnownFacts
from standout.release.model import Release

__all__ = ["success_rates"]


def success_rates(
    release: Release,
    known: KnownFacts,
    targets: Ints,
    sizes: Sequence[int],
    threads: int | None,
    attack: AnyAttack | None = None,
) -> Floats:
    """The probability that the best guess is right (1/t in a tie of t), by target and number of facts."""
    attack = ScoreboardRH() if attack is None else check_attack(attack)
    verdicts = attack.nested(release, known, list(sizes), with_z=False, threads=threads)
    score = record_scores(verdicts, np.repeat(Population.of(release).record_of(targets), len(sizes)))
    identified = (score == verdicts.columns.highest) / np.maximum(verdicts.columns.ties, 1)
    return np.asarray(identified.reshape(len(targets), len(sizes)))
