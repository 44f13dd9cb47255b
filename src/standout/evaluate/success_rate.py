"""How often the best guess of an attack is right."""

from collections.abc import Sequence

import numpy as np

from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.evaluate.outcomes import record_scores
from standout.evaluate.population import Population
from standout.facts import KnownFacts
from standout.release.model import Release

__all__ = ["success_rates"]


def success_rates(
    release: Release, known: KnownFacts, places: Ints, sizes: Sequence[int], threads: int | None,
    attack: ScoreboardRH | None = None,
) -> Floats:  # fmt: skip
    """The chance that the best guess is the target, 1/ties if it is among the best: by target and size."""
    way = attack or ScoreboardRH()
    verdicts = way.nested(release, known, list(sizes), with_z=False, threads=threads)
    score = record_scores(verdicts, np.repeat(Population.of(release).record_of(places), len(sizes)))
    right = (score == verdicts.columns.highest) / np.maximum(verdicts.columns.ties, 1)
    return np.asarray(right.reshape(len(places), len(sizes)))
