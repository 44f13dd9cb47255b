"""Compare attacks on the same targets with the same known facts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, attacks_by_name
from standout.core.errors import ParameterError
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.suggestions import not_one_of
from standout.evaluate.cell import SimulationCell, rate_by_target
from standout.evaluate.comparison import Comparison, ComparisonRow
from standout.evaluate.paired import paired_difference
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.release.model import Release

__all__ = ["compare"]


@with_progress
def compare(
    release: Release,
    adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary],
    attacks: Mapping[str, AnyAttack] | Sequence[AnyAttack],
    *,
    baseline: str | None = None,
    facts: int | Sequence[int] | None = None,
    targets: int | str | Sequence[str] = 1000,
    draws: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Comparison:
    """Compare attacks: each gets the same targets and the same known facts.

    Most of the variation between targets is common to all attacks, so the interval of a difference is
    narrower than the intervals of two separate simulations suggest.

    Parameters
    ----------
    release
        The release to attack.
    adversaries
        One adversary, several, or several by name.
    attacks
        Attacks by name, or several; default names are those of their classes.
    baseline
        Name of the attack that the others are compared with; default: the first.
    facts, targets, draws
        As in `simulate`.
    seed
        Random seed. The same seed gives the same numbers, for any number of threads.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Comparison
        Success, stated probability and difference from the baseline, by adversary, facts and attack.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or `baseline` names no attack.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=4, value_error=1, time_error=14)
    >>> attacks = {"paper": so.ScoreboardRH(), "Algorithm 1A": so.Scoreboard()}
    >>> comparison = compare(release, adversary, attacks, targets=40, seed=1)
    >>> comparison.row("Algorithm 1A").difference.n
    40
    """
    named = attacks_by_name(attacks)
    reference = next(iter(named)) if baseline is None else baseline
    if reference not in named:
        raise ParameterError(not_one_of("baseline", baseline, named))
    simulations: dict[str, Simulation] = {}
    for number, (name, attack) in enumerate(named.items(), 1):
        simulations[name] = simulate(
            release,
            adversaries,
            attack=attack,
            facts=facts,
            targets=targets,
            draws=draws,
            absent=False,
            seed=seed,
            threads=threads,
            progress=_stage(progress, f"attack {number}/{len(named)}"),
        )
        if not simulations[name].complete:
            raise KeyboardInterrupt
    rows = [
        _row(name, simulations[name].cells[index], cell)
        for index, cell in enumerate(simulations[reference].cells)
        for name in named
    ]
    return Comparison(tuple(rows), reference, simulations[reference].seed, release.fingerprint)


def _row(attack: str, cell: SimulationCell, baseline: SimulationCell) -> ComparisonRow:
    identified, reference = cell.outcomes.identified, baseline.outcomes.identified
    said = cell.outcomes.best_probability.mean(axis=1)
    return ComparisonRow(
        adversary=cell.adversary,
        facts=cell.facts,
        attack=attack,
        identified=rate_by_target(identified, cell.present / cell.n_records),
        said=float(said.mean()),
        gap=paired_difference(said, identified.mean(axis=1)),
        difference=paired_difference(identified.mean(axis=1), reference.mean(axis=1)),
        only_this=_excess(identified, reference),
        only_baseline=_excess(reference, identified),
    )


def _excess(first: Any, second: Any) -> float:
    """Number of targets that only the first identifies."""
    return float(np.maximum(first - second, 0.0).mean(axis=1).sum())


def _stage(progress: Progress, prefix: str) -> Progress:
    return lambda stage, done, total: progress(f"{prefix}: {stage}", done, total)
