"""Simulate many attacks on known targets, and measure what they achieve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from standout._version import __version__
from standout.adversary import Adversary
from standout.attack.eccentricity import check_phi
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Ints
from standout.core.checks import positive_share, whole_number
from standout.core.errors import NotFoundError, ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator
from standout.evaluate.cell import Measurement, RandomGuess, SimulationCell, rate_by_target
from standout.evaluate.checkpoint import Checkpoint
from standout.evaluate.estimates import Estimate
from standout.evaluate.outcomes import Criteria, Outcomes, attack_outcomes
from standout.evaluate.pairs import no_facts, revealed_items
from standout.evaluate.population import Population
from standout.evaluate.result_table import EstimateResult, EstimateRow, estimate_table
from standout.evaluate.similar_records import SimilarRecords
from standout.release.model import Release
from standout.similarity.attributes import Decay, Equal, Present, Similarity, Within

__all__ = ["Measurement", "Simulation", "SimulationCell", "simulate"]

BATCH = 64
"""Number of targets between two reports of progress; it changes no result."""
LINEUPS, FEW_LINEUPS, MANY_RECORDS = 200, 25, 100_000
"""Lineup sizes are computed for 200 targets, but for 25 in a release of more than 100,000 records."""


def simulate(
    release: Release,
    adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary],
    *,
    attack: ScoreboardRH | None = None,
    facts: int | Sequence[int] | None = None,
    targets: int | str | Sequence[str] = 1000,
    precision: float | None = None,
    draws: int = 1,
    phi: float = 1.5,
    budget: float = 0.01,
    theta: float = 0.5,
    similarity: Similarity | None = None,
    top: int = 10,
    absent: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
    save: str | Path | None = None,
) -> "Simulation":
    """Measure what adversaries achieve: attack targets whose records are known.

    Each target is attacked with the first so many facts of what the adversary knows, and again with the
    target's record removed. docs/measures.md defines the measures.

    In a sanitized release, targets are people of the original, also those whom no record represents, and the
    known facts are facts of the original.

    Parameters
    ----------
    release
        The release to attack.
    adversaries
        One adversary, several, or several by name.
    attack
        The attack; default: Algorithm 1B with the paper's settings.
    facts
        Number of known facts to attack with, or several: 4, or [2, 4, 8]. Default: all that the adversary
        knows.
    targets
        Number of targets, drawn at random from the records with enough items; "all"; or the ids of records.
    precision
        Instead of a fixed number of targets, go on until the 95 % interval of `identified` is at most ± this.
    draws
        How many times each target is observed: the same items with different errors.
    phi
        Minimum eccentricity for a claim [Algorithm 1B].
    budget
        False claim budget: the largest share of absent targets that may be claimed.
    theta, similarity
        A best guess at least `theta` similar to the target counts as similar [Definition 2]. Default
        similarity: values within 1 and dates within 14 days, as far as the release has them.
    top
        Length of the lineup for the measure `in_top`.
    absent
        Whether to attack also with the target's record removed [Definition 3].
    seed
        Random seed. The same seed gives the same numbers, for any number of threads.
    threads
        Number of threads; default: all cores.
    progress
        Called with (stage, done, total).
    save
        Name of the checkpoint files. An interrupted run resumes from them.

    Returns
    -------
    Simulation
        The outcomes and all measures. After Ctrl-C it covers the targets attacked so far.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or no record has enough items to be a target.
    NotFoundError
        If `targets` contains an unknown id.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=6, time_error=14)
    >>> simulation = simulate(release, adversary, facts=[2, 6], targets=40, seed=1)
    >>> print(simulation.estimate("identified", facts=6))
    1.000 (0.912 to 1.000, n = 40)
    """
    if attack is not None and not isinstance(attack, ScoreboardRH):
        raise ParameterError(f"attack must be a ScoreboardRH, got {type(attack).__name__}")
    criteria = Criteria(
        top=whole_number("top", top, 1),
        theta=positive_share("theta", theta),
        similarity=similarity or _default_similarity(release),
        absent=bool(absent),
    )
    runner = _Runner(
        release=release,
        attack=attack or ScoreboardRH(),
        criteria=criteria,
        draws=whole_number("draws", draws, 1),
        phi=check_phi(phi),
        budget=positive_share("budget", budget),
        seed=check_seed(seed),
        precision=None if precision is None else positive_share("precision", precision),
        threads=threads,
        progress=progress,
        save=None if save is None else Path(save),
    )
    return runner.simulation(_by_name(adversaries), facts, targets)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(EstimateResult):
    """The result of `simulate`: one cell for each adversary and number of facts, and a table of all measures.

    Attributes
    ----------
    cells
        The outcomes by adversary and number of facts.
    criteria, phi, budget, seed
        The settings.
    fingerprint
        The fingerprint of the release.
    complete
        False if the run was interrupted; the numbers are then about the targets attacked so far.
    original
        The fingerprint of the original if the release is sanitized.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> simulation = so.simulate(release, so.Adversary(knows=4), targets=40)
    >>> simulation
    <Simulation: 1 cell, 40 attacks>
    >>> simulation.table.columns[:5]
    ['adversary', 'facts', 'measure', 'setting', 'estimate']
    """

    cells: tuple[SimulationCell, ...]
    criteria: Criteria
    phi: float
    budget: float
    seed: int
    fingerprint: str
    complete: bool
    original: str | None = None

    def __repr__(self) -> str:
        cells = "1 cell" if len(self.cells) == 1 else f"{len(self.cells)} cells"
        attacks = sum(len(cell.outcomes) for cell in self.cells)
        return f"<Simulation: {cells}, {attacks:,} attacks{'' if self.complete else ', interrupted'}>"

    def cell(self, adversary: str | None = None, facts: int | None = None) -> SimulationCell:
        """The cell of an adversary and a number of facts.

        Parameters
        ----------
        adversary
            The adversary's name; may be omitted if there is only one.
        facts
            The number of facts; may be omitted if there is only one.

        Returns
        -------
        SimulationCell
            The outcomes and their measures.

        Raises
        ------
        NotFoundError
            If no cell fits, or more than one.
        """
        fitting = [
            cell for cell in self.cells if adversary in (None, cell.adversary) and facts in (None, cell.facts)
        ]
        if len(fitting) != 1:
            known = ", ".join(f"{cell.adversary!r} with {cell.facts} facts" for cell in self.cells)
            count = "no cell fits" if not fitting else "more than one cell fits"
            raise NotFoundError(f"{count}: give adversary and facts; there are {known or 'no cells'}")
        return fitting[0]

    def estimate(
        self, measure: str, setting: str | None = None, adversary: str | None = None, facts: int | None = None
    ) -> Estimate:
        """One number of the table.

        Parameters
        ----------
        measure
            The name of a measure, as in docs/measures.md.
        setting
            The setting, like "phi=1.5"; default: the first one in the table.
        adversary, facts
            As in `cell`.

        Returns
        -------
        Estimate
            The value with its interval, number of trials and baseline.

        Raises
        ------
        NotFoundError
            If there is no such measure, setting or cell.
        """
        for measurement in self.measurements(self.cell(adversary, facts)):
            if measurement.measure == measure and setting in (None, measurement.setting):
                return measurement.estimate
        raise NotFoundError(f"no measure {measure!r}" + (f" with setting {setting!r}" if setting else ""))

    def measurements(self, cell: SimulationCell) -> list[Measurement]:
        """All measures of a cell, in the order of the table.

        Parameters
        ----------
        cell
            One of `cells`.

        Returns
        -------
        list of Measurement
            (measure, setting, estimate) for each measure.
        """
        return list(cell.measurements(self.criteria, self.phi, self.budget))

    @cached_property
    def table(self) -> pl.DataFrame:
        """All measures of all cells; see docs/measures.md."""
        rows = [
            EstimateRow(cell.adversary, cell.facts, *measurement, cell.too_few_items)
            for cell in self.cells
            for measurement in self.measurements(cell)
        ]
        return estimate_table(rows, self.seed, self.fingerprint, __version__)


@dataclass(frozen=True, eq=False, slots=True)
class _Targets:
    """The targets in order, how many people were considered, and how many have too few items."""

    index: Ints
    n_considered: int
    too_few_items: int


class _Task(NamedTuple):
    """One adversary, the numbers of facts to attack with, and the targets."""

    name: str
    adversary: Adversary
    sizes: list[int]
    targets: _Targets


@dataclass(frozen=True, eq=False)
class _Runner:
    release: Release
    attack: ScoreboardRH
    criteria: Criteria
    draws: int
    phi: float
    budget: float
    seed: int
    precision: float | None
    threads: int | None
    progress: Progress
    save: Path | None

    @cached_property
    def population(self) -> Population:
        return Population.of(self.release)

    def simulation(self, adversaries: dict[str, Adversary], facts: Any, targets: Any) -> Simulation:
        tasks = [
            _Task(name, adversary, _sizes(facts, adversary), self._targets(name, adversary, targets))
            for name, adversary in adversaries.items()
        ]
        cells: list[SimulationCell] = []
        complete = True
        for number, task in enumerate(tasks, 1):
            stage = "attacking" if len(tasks) == 1 else f"attacking {number}/{len(tasks)}"
            outcomes, complete = self._outcomes(task, stage)
            cells += [] if outcomes is None else self._cells(task, outcomes)
            if not complete:
                break
        return Simulation(
            cells=tuple(cells),
            criteria=self.criteria,
            phi=self.phi,
            budget=self.budget,
            seed=self.seed,
            fingerprint=self.release.fingerprint,
            complete=complete,
            original=self.population.original.fingerprint if self.population.is_sanitized else None,
        )

    def _targets(self, name: str, adversary: Adversary, targets: Any) -> _Targets:
        original = self.population.original
        if isinstance(targets, str) and targets != "all":
            raise ParameterError(f'targets must be a number, "all", or a list of record ids, got {targets!r}')
        if isinstance(targets, Iterable) and not isinstance(targets, str):
            order = np.unique([_index_of(original, record_id) for record_id in targets]).astype(np.int64)
        else:
            order = generator(self.seed, "targets").permutation(original.n_records)
        eligible = adversary.eligible(original, order)
        index = order[eligible]
        if not len(index):
            raise ParameterError(
                f"no record can be a target: none has enough items for {name!r}, who knows {adversary.knows}"
            )
        if targets != "all" and not isinstance(targets, Iterable):
            wanted = whole_number("targets", targets, 1)
            index = index if self.precision else index[:wanted]
        return _Targets(index, len(order), int(len(order) - eligible.sum()))

    def _cells(self, task: _Task, outcomes: Outcomes) -> list[SimulationCell]:
        targets = task.targets.index[: len(outcomes)]
        random_guess = self._random_guess(targets)
        present = float((self.population.record_of(targets) >= 0).mean())
        return [
            SimulationCell(
                adversary=task.name,
                facts=size,
                outcomes=outcomes.for_size(index),
                n_records=self.release.n_records,
                n_considered=task.targets.n_considered,
                too_few_items=task.targets.too_few_items,
                random_guess=random_guess,
                targets=targets,
                present=present,
            )
            for index, size in enumerate(task.sizes)
        ]

    def _outcomes(self, task: _Task, stage: str) -> tuple[Outcomes | None, bool]:
        """The outcomes, and whether the run is complete; Ctrl-C ends it early."""
        targets = task.targets.index
        checkpoint = Checkpoint.load(self.save, self._settings(task.adversary, task.sizes), targets)
        similar_records = SimilarRecords(
            self.release, self.criteria.similarity, self.criteria.theta, self.threads
        )
        parts: list[Outcomes] = []
        done, total = 0, len(targets)
        try:
            while done < total and not _is_precise(parts, self.precision):
                end = min(done + BATCH, total)
                part = checkpoint.outcomes_of(done, end)
                if part is None:
                    part = self._batch_outcomes(task, done, end, similar_records)
                parts.append(part)
                done = end
                checkpoint.save(parts)
                self.progress(stage, done, total)
        except KeyboardInterrupt:
            pass
        checkpoint.save(parts, now=True)
        complete = done == total or _is_precise(parts, self.precision)
        return (Outcomes.concatenate(parts) if parts else None), complete

    def _batch_outcomes(self, task: _Task, low: int, high: int, similar_records: SimilarRecords) -> Outcomes:
        """The outcomes of targets low … high - 1."""
        targets = task.targets.index[low:high]
        lineups = LINEUPS if self.release.n_records <= MANY_RECORDS else FEW_LINEUPS
        return attack_outcomes(
            self.attack,
            self.release,
            known=self.population.known_facts(task.adversary, targets, self.seed, self.draws),
            targets=targets,
            sizes=task.sizes,
            criteria=self.criteria,
            similar_records=similar_records.of(task.targets.index, low, high),
            lineups=min(max(lineups - low, 0), len(targets)),
            threads=self.threads,
        )

    def _settings(self, adversary: Adversary, sizes: list[int]) -> list[object]:
        """Everything that the outcomes depend on. A function does not identify itself by its name."""
        similarities = self.attack.similarity, self.criteria.similarity
        has_key = all(type(similarity) in (Within, Decay, Equal, Present) for similarity in similarities)
        if self.save is not None and not (has_key and isinstance(self.attack.weights, str)):
            raise ParameterError(
                "save works with named weights and the built-in similarities only: a checkpoint cannot tell "
                "one function from another"
            )
        return [
            *self.population.key(),
            adversary.key(),
            sizes,
            repr(self.attack),
            repr(self.criteria),
            self.draws,
            self.seed,
            LINEUPS,
            FEW_LINEUPS,
            __version__,
        ]

    def _random_guess(self, targets: Ints) -> RandomGuess:
        """What guessing a random record achieves."""
        guesses = generator(self.seed, "guesses").integers(self.release.n_records, size=len(targets))
        known = no_facts(self.release, len(targets))
        items = revealed_items(self.release, targets, guesses, known, self.criteria.similarity)
        is_similar = items.similarity >= self.criteria.theta
        return RandomGuess(float(is_similar.mean()), float((items.correct / items.revealed).mean()))


def _is_precise(parts: list[Outcomes], precision: float | None) -> bool:
    """Whether the interval of `identified` is narrow enough for every number of facts."""
    if precision is None or not parts:
        return False
    identified = np.concatenate([part.identified for part in parts])
    return all(
        rate_by_target(identified[:, :, size], 0.0).width <= precision for size in range(identified.shape[2])
    )


def _by_name(adversaries: Any) -> dict[str, Adversary]:
    """Adversaries by name; by default their description, numbered if several have the same."""
    if isinstance(adversaries, Mapping):
        named = dict(adversaries)
    else:
        several = [adversaries] if isinstance(adversaries, Adversary) else adversaries
        named = {}
        for adversary in several if isinstance(several, Iterable) else []:
            text = str(adversary)
            same = sum(name.split(" #")[0] == text for name in named)
            named[f"{text} #{same + 1}" if same else text] = adversary
    if not named or not all(isinstance(adversary, Adversary) for adversary in named.values()):
        raise ParameterError("adversaries must be one Adversary, a list of them, or a dict by name")
    return named


def _sizes(facts: int | Sequence[int] | None, adversary: Adversary) -> list[int]:
    given = [adversary.knows] if facts is None else [facts] if isinstance(facts, (int, np.integer)) else facts
    sizes = sorted({whole_number("facts", size, 1) for size in given})
    if not sizes or sizes[-1] > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to {adversary.knows}, the number that the adversary knows, got {facts}"
        )
    return sizes


def _default_similarity(release: Release) -> Similarity:
    """Values within 1 and dates within 14 days, as far as the release has them."""
    if isinstance(release.levels, tuple):
        return Equal()
    value, time = (1 if release.n_levels else None), (14 if release.span else None)
    return Present() if value is None and time is None else Within(value=value, time=time)


def _index_of(release: Release, record_id: Any) -> int:
    index = release.records.find(record_id) if isinstance(record_id, str) else None
    if index is None:
        raise NotFoundError("targets: the release has no record with this id; ids are text, so 007 is not 7")
    return index
