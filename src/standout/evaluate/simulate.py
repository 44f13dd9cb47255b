"""Simulate many attacks on known targets, and measure what they achieve."""

import hashlib
import io
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from standout._version import __version__
from standout.attack.any_attack import BUILT_IN_SIMILARITIES, AnyAttack, checkpoint_key, fit_attack
from standout.attack.column_scores import AttackName, attack_named
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.cluster.workers import on_client
from standout.core.arrays import Ints
from standout.core.errors import NotFoundError, ParameterError, WorkersLost, positive_share, whole_number
from standout.core.json_files import read_checkpoint, write_checkpoint
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.data.labels import position_of_id
from standout.data.release import Release
from standout.evaluate.cell import RandomGuess, SimulationCell, rate_by_target
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.columns import population_rates
from standout.evaluate.outcomes import Criteria, Outcomes, no_facts, revealed_items
from standout.evaluate.simulation import Simulation
from standout.evaluate.target_attacks import TargetAttacks
from standout.evaluate.targets import Population
from standout.ingest.read import as_release
from standout.know.adversary import Adversary, check_checkpoint_key
from standout.know.similarity import Equal, Present, Similarity, Within

__all__ = ["Checkpoint", "SimulationRunner", "random_targets", "simulate"]

# The checkpoint of a simulation: its outcomes so far, in a file, so that an interrupted run can resume.


SECONDS_BETWEEN_WRITES = 5.0


@dataclass(eq=False)
class Checkpoint:
    """The outcomes of an earlier run with the same settings, and where to save more.

    The file's name contains a hash of everything that the outcomes depend on. The file lists the targets;
    outcomes are reused only for the same ones.
    """

    path: Path | None
    settings: str
    targets: Ints
    outcomes: Outcomes | None
    written: float = 0.0

    @classmethod
    def load(cls, path: Path | None, settings: list[object], targets: Ints) -> "Checkpoint":
        """The checkpoint for these settings and targets; empty if there is none or it is damaged."""
        text = json.dumps(settings)
        if path is None:
            return cls(None, text, targets, None)
        if not path.parent.is_dir():
            raise ParameterError(f"save must be in an existing folder; {path.parent} is not a folder")
        digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        file = path.with_name(f"{path.name}.{digest}.checkpoint")
        return cls(file, text, targets, _stored_outcomes(file, text, targets), time.monotonic())

    def outcomes_of(self, low: int, high: int) -> Outcomes | None:
        """The outcomes of targets low … high - 1; None if they are not in the checkpoint."""
        if self.outcomes is None or len(self.outcomes) < high:
            return None
        return self.outcomes.slice(low, high)

    def save(self, parts: list[Outcomes], now: bool = False) -> None:
        """Write the outcomes so far, every few seconds or now; an atomic replacement of the file."""
        n_done = sum(map(len, parts))
        n_stored = 0 if self.outcomes is None else len(self.outcomes)
        is_due = now or time.monotonic() - self.written >= SECONDS_BETWEEN_WRITES
        if self.path is None or n_done <= n_stored or not is_due:
            return
        self.outcomes = Outcomes.concatenate(parts)
        columns = {field.name: getattr(self.outcomes, field.name) for field in fields(Outcomes)}
        content = io.BytesIO()
        np.savez(content, targets=self.targets[:n_done], **columns)
        write_checkpoint(self.path, self.settings, content.getvalue())
        self.written = time.monotonic()


def _stored_outcomes(file: Path, settings: str, targets: Ints) -> Outcomes | None:
    def parse(content: bytes) -> Outcomes | None:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            if not np.array_equal(stored["targets"], targets[: len(stored["targets"])]):
                return None
            return Outcomes(*(stored[field.name] for field in fields(Outcomes)))

    return read_checkpoint(file, settings, parse)


# Run a simulation: choose the targets, attack them in batches, and resume from a checkpoint.


FactCounts = int | Sequence[int] | None
TargetChoice = int | str | Sequence[str]

BATCH, BATCH_OF_COLUMNS = 64, 1024
"""Number of targets between two reports of progress; it changes no result."""
LINEUPS, FEW_LINEUPS, MANY_RECORDS = 200, 25, 100_000
"""Lineup sizes are computed for 200 targets, but for 25 in a release of more than 100,000 records."""


@dataclass(frozen=True, eq=False, slots=True)
class _Targets:
    """The targets in order, how many people were considered, and how many have too few entries."""

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
class SimulationRunner:
    """The checked parameters of `simulate`, and the run itself: targets, batches, checkpoints, cells."""

    release: Release
    attack: AnyAttack
    criteria: Criteria
    draws: int
    threshold: ClaimThreshold
    budget: float
    seed: int
    precision: float | None
    threads: int | None
    progress: Progress
    save: Path | None
    people: int | None = None
    posterior: float = 0.95

    @property
    def batch(self) -> int:
        """Number of targets that are attacked at once."""
        return BATCH_OF_COLUMNS if self.release.columns else BATCH

    @cached_property
    def population(self) -> Population:
        """The people who can be targets."""
        return Population.of(self.release)

    def simulation(self, adversaries: dict[str, Adversary], facts: FactCounts, targets: TargetChoice) -> Simulation:
        """Attack the targets with every adversary and number of facts."""
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
            threshold=self.threshold,
            budget=self.budget,
            seed=self.seed,
            fingerprint=self.release.fingerprint,
            complete=complete,
            original=self.population.original.fingerprint if self.population.is_sanitized else None,
        )

    def _targets(self, name: str, adversary: Adversary, targets: TargetChoice) -> _Targets:
        original = self.population.original
        if isinstance(targets, str) and targets != "all":
            raise ParameterError(f'targets must be a number, "all", or a list of record ids, got {targets!r}')
        if isinstance(targets, Iterable) and not isinstance(targets, str):
            order = np.unique([_index_of(original, record_id) for record_id in targets]).astype(np.int64)
        else:
            purpose = ("table", "targets") if original.columns else ("targets",)
            order = generator(self.seed, *purpose).permutation(original.n_records)
        eligible = adversary.eligible(original, order)
        index = order[eligible]
        if not len(index):
            raise ParameterError(
                f"no record can be a target: none has enough entries or cells for {name!r}, who knows {adversary.knows}"
            )
        if targets != "all" and not isinstance(targets, Iterable):
            wanted = whole_number("targets", targets, 1)
            index = index if self.precision else index[:wanted]
        return _Targets(index, len(order), int(len(order) - eligible.sum()))

    def _cells(self, task: _Task, outcomes: Outcomes) -> list[SimulationCell]:
        targets = task.targets.index[: len(outcomes)]
        random_guess = self._random_guess(targets)
        is_present = self.population.record_of(targets) >= 0
        present = float(is_present.mean())
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
                threshold=self.threshold,
                population=None
                if self.people is None
                else population_rates(
                    outcomes.for_size(index),
                    self.people,
                    self.posterior,
                    self.release.n_records,
                    self.population.original.n_records,
                    int(is_present.sum()),
                ),
            )
            for index, size in enumerate(task.sizes)
        ]

    def _outcomes(self, task: _Task, stage: str) -> tuple[Outcomes | None, bool]:
        """The outcomes, and whether the run is complete; Ctrl-C ends it early."""
        targets = task.targets.index
        checkpoint = Checkpoint.load(self.save, self._settings(task.adversary, task.sizes), targets)
        batches: Iterator[Outcomes] | None = None
        parts: list[Outcomes] = []
        n_attacked, total = 0, len(targets)
        try:
            while n_attacked < total and not _is_precise(parts, self.precision):
                end = min(n_attacked + self.batch, total)
                part = checkpoint.outcomes_of(n_attacked, end)
                if part is None:
                    batches = batches or self._batches(task, n_attacked)
                    part = next(batches)
                parts.append(part)
                n_attacked = end
                checkpoint.save(parts)
                self.progress(stage, n_attacked, total)
        except KeyboardInterrupt:
            pass
        except WorkersLost:
            checkpoint.save(parts, now=True)
            raise
        checkpoint.save(parts, now=True)
        complete = n_attacked == total or _is_precise(parts, self.precision)
        return (Outcomes.concatenate(parts) if parts else None), complete

    def _batches(self, task: _Task, first: int) -> Iterator[Outcomes]:
        """The outcomes of the targets from the first on, BATCH at a time."""
        lineups = LINEUPS if self.release.n_records <= MANY_RECORDS else FEW_LINEUPS
        attacks = TargetAttacks(
            attack=fit_attack(self.attack, task.adversary),
            adversary=task.adversary,
            sizes=tuple(task.sizes),
            criteria=self.criteria,
            draws=self.draws,
            seed=self.seed,
        )
        return attacks.batches(self.release, task.targets.index, first, self.batch, lineups, self.threads)

    def _settings(self, adversary: Adversary, sizes: list[int]) -> list[object]:
        """Everything that the outcomes depend on. A function does not identify itself by its name."""
        if self.save is None:
            return []
        if type(self.criteria.similarity) not in BUILT_IN_SIMILARITIES:
            raise ParameterError(
                "save works with the built-in similarities only: a checkpoint cannot tell one function from another"
            )
        check_checkpoint_key(adversary, "save")
        return [
            *self.population.key(),
            adversary.key(),
            sizes,
            checkpoint_key(fit_attack(self.attack, adversary)),
            repr(self.criteria),
            self.draws,
            self.seed,
            LINEUPS,
            FEW_LINEUPS,
            __version__,
        ]

    def _random_guess(self, targets: Ints) -> RandomGuess:
        """What guessing a random record achieves."""
        if self.release.columns:
            return RandomGuess(math.nan, math.nan)
        guesses = generator(self.seed, "guesses").integers(self.release.n_records, size=len(targets))
        known = no_facts(self.release, len(targets))
        items = revealed_items(self.release, targets, guesses, known, self.criteria.similarity)
        is_similar = items.similarity >= self.criteria.theta
        return RandomGuess(float(is_similar.mean()), float((items.correct / items.revealed).mean()))


def random_targets(original: Release, adversary: Adversary, seed: int) -> Ints:
    """Everybody who has enough entries for the adversary, in the random order in which targets are taken."""
    order = generator(seed, "targets").permutation(original.n_records)
    return np.asarray(order[adversary.eligible(original, order)])


def _is_precise(parts: list[Outcomes], precision: float | None) -> bool:
    """Whether the interval of `identified` is narrow enough for every number of facts."""
    if precision is None or not parts:
        return False
    identified = np.concatenate([part.identified for part in parts])
    return all(rate_by_target(identified[:, :, size], 0.0).width <= precision for size in range(identified.shape[2]))


def _sizes(facts: FactCounts, adversary: Adversary) -> list[int]:
    given = [adversary.knows] if facts is None else [facts] if isinstance(facts, (int, np.integer)) else facts
    sizes = sorted({whole_number("facts", size, 1) for size in given})
    if not sizes or sizes[-1] > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to {adversary.knows}, the number that the adversary knows, got {facts}"
        )
    return sizes


def _index_of(release: Release, record_id: object) -> int:
    try:
        return position_of_id(release.records, record_id)
    except (NotFoundError, ParameterError) as error:
        raise type(error)(f"targets: {error}") from None


@with_progress
@on_client
def simulate(
    release: Release | Any,
    adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary],
    *,
    attack: AnyAttack | AttackName | None = None,
    facts: int | Sequence[int] | None = None,
    targets: int | str | Sequence[str] = 1000,
    precision: float | None = None,
    draws: int = 1,
    phi: float = 1.5,
    posterior: float = 0.95,
    budget: float = 0.01,
    theta: float = 0.5,
    similarity: Similarity | None = None,
    top: int = 10,
    absent: bool = True,
    population: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    save: str | Path | None = None,
    client: Any = None,
) -> Simulation:
    """Measure what adversaries achieve: attack targets whose records are known.

    Each target is attacked with the first known facts, for each number in `facts`, and again with the
    target's record removed. docs/measures.md defines the measures.

    In a sanitized release, targets are people of the original, also those whom no record represents, and the
    known facts are facts of the original.

    Parameters
    ----------
    release
        The release to attack. A path or frame is read with the default options of `standout.read`.
    adversaries
        One adversary, several, or several by name.
    attack
        The attack, perhaps of your own, or "likelihood", "paper" (Algorithm 1B), "threshold" (Algorithm 1A) or
        "exact match". Default: Algorithm 1B with the paper's settings; `Likelihood()` in a release with columns.
        `Likelihood()` takes the errors of each adversary.
    facts
        Number of known facts to attack with, or several: 4, or [2, 4, 8]. Default: all that the adversary
        knows.
    targets
        Number of targets, drawn at random from the records with enough entries; "all"; or the ids of records.
    precision
        Attack targets until the 95 % interval of `identified` is at most ± this, instead of a fixed number.
    draws
        How many times each target is observed: the same items with different errors.
    phi
        Minimum eccentricity for a claim [Algorithm 1B].
    posterior
        Minimum posterior for a claim, if the attack is `Likelihood`.
    budget
        False claim budget: the largest share of absent targets that may be claimed.
    theta, similarity
        A best guess at least `theta` similar to the target counts as similar [Definition 2]. Default
        similarity: values within 1 and dates within 14 days, if the release has them.
    top
        Length of the lineup for the measure `in_top`.
    absent
        Whether to attack also with the target's record removed [Definition 3].
    population
        Number of people of whom a release with columns is a sample. Claims then allow for the target not
        being in it.
    seed
        Random seed. The same seed gives the same numbers, for any number of threads.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).
    save
        Name of the checkpoint files. An interrupted run resumes from them.
    client
        A `distributed.Client`: its workers attack slices of the targets, if the release is an open index that
        they can read at the same path. It changes no result. Default: threads of this process.

    Returns
    -------
    Simulation
        The outcomes and all measures. After Ctrl-C it covers the targets attacked so far.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or no record has enough entries to be a target.
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
    release = as_release(release).check()
    criteria = Criteria(
        top=whole_number("top", top, 1),
        theta=positive_share("theta", theta),
        similarity=similarity or _default_similarity(release),
        absent=bool(absent),
    )
    usual: AnyAttack = Likelihood() if release.columns else ScoreboardRH()
    checked_attack = usual if attack is None else attack_named(attack)
    runner = SimulationRunner(
        release=release,
        attack=checked_attack,
        criteria=criteria,
        draws=whole_number("draws", draws, 1),
        threshold=ClaimThreshold.of(checked_attack, phi, posterior),
        budget=positive_share("budget", budget),
        seed=check_seed(seed),
        precision=None if precision is None else positive_share("precision", precision),
        threads=threads,
        progress=progress,
        save=None if save is None else Path(save),
        people=_people(release, population, criteria),
        posterior=posterior,
    )
    return runner.simulation(_by_name(adversaries), facts, targets)


def _people(release: Release, population: int | None, criteria: Criteria) -> int | None:
    if population is None:
        return None
    if not release.columns or not criteria.absent:
        raise ParameterError("population needs a release with columns, and absent targets")
    people = whole_number("population", population, 1)
    if people < release.n_records:
        raise ParameterError(f"population must be at least the number of rows, {release.n_records:,}, got {people:,}")
    return people


def _by_name(adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary]) -> dict[str, Adversary]:
    """Return the adversaries by name; the default name is the description, numbered if it occurs twice."""
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


def _default_similarity(release: Release) -> Similarity:
    """Values within 1 and dates within 14 days, if the release has them."""
    if isinstance(release.levels, tuple):
        return Equal()
    value, time = (1 if release.n_levels else None), (14 if release.span else None)
    return Present() if value is None and time is None else Within(value=value, time=time)
