"""Simulate many attacks on known targets, and measure what they achieve.

The outcomes of a slice of targets depend on its targets and the settings only, so slices are attacked on threads of
this process or on workers that have opened the same index, and a checkpoint of earlier slices lets a run resume.
"""

import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from standout._version import __version__
from standout.attack.any_attack import (
    BUILT_IN_SIMILARITIES,
    AnyAttack,
    AttackName,
    attack_columns,
    attack_named,
    check_attack,
    checkpoint_key,
    fit_attack,
    is_built_in,
)
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.cluster.workers import on_client
from standout.core.arrays import Floats, Ints
from standout.core.errors import NotFoundError, ParameterError, WorkersLost, check_share, whole_number
from standout.core.json_files import read_checkpoint, write_checkpoint
from standout.core.progress import Progress, ProgressOption, no_progress
from standout.core.rng import check_seed, generator
from standout.core.threads import WorkerPool, current_pool, map_on_threads
from standout.data.labels import position_of_id
from standout.data.release import Release
from standout.data.store import SharedIndex
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import rate_by_target
from standout.evaluate.outcomes import Criteria, Outcomes, attack_outcomes, record_scores
from standout.evaluate.simulation import RandomGuess, Simulation, SimulationCell, population_rates
from standout.evaluate.targets import Population, SimilarRecords, no_facts, random_targets, revealed_items
from standout.ingest.read import as_release
from standout.know.adversary import Adversary, check_checkpoint_key
from standout.know.facts import KnownFacts
from standout.know.sanitized import original_of
from standout.know.similarity import Equal, Present, Similarity, Within

LARGEST_SHARE = 0.75
"""Share of a machine's memory that an index may take if each worker reads all of it."""
TASK = 16
"""Number of targets in a task of a worker or a thread: all of them end at about the same time."""
BATCH, BATCH_OF_COLUMNS = 64, 1024
"""Number of targets between two reports of progress; it changes no result."""
LINEUPS, FEW_LINEUPS, MANY_RECORDS = 200, 25, 100_000
"""Lineup sizes are computed for 200 targets, but for 25 in a release of more than 100,000 records."""
SECONDS_BETWEEN_WRITES = 5.0


def shared_workers(release: Release) -> tuple[WorkerPool, SharedIndex] | None:
    """Workers that can attack slices of the targets, and the index that they open; None: threads do it."""
    pool, index = current_pool(), SharedIndex.of(release)
    if pool is None or index is None or SharedIndex.size(release) > LARGEST_SHARE * pool.memory:
        return None
    return pool, index


@dataclass(frozen=True, slots=True)
class TargetAttacks:
    """What every target is attacked with, and what the attacks are judged by."""

    attack: AnyAttack
    adversary: Adversary
    sizes: tuple[int, ...]
    criteria: Criteria
    draws: int
    seed: int

    def batches(
        self, release: Release, targets: Ints, first: int, size: int, lineups: int, threads: int | None
    ) -> Iterator[Outcomes]:
        """The outcomes of targets[first:], `size` at a time; lineup sizes of the first `lineups` targets.

        If an index is too large for the memory of a machine, all targets are attacked in parts of the release
        instead (see `core.threads`).
        """
        similar = SimilarRecords(release, self.criteria.similarity, self.criteria.theta, threads)
        bounds = [(low, min(low + size, len(targets))) for low in range(first, len(targets), size)]
        workers = None if release.columns else shared_workers(release)

        def task(low: int, high: int, threads: int | None) -> tuple[Ints, dict[int, bool], int, int | None]:
            may_have = {} if release.columns else similar.look_ahead(targets, low, high)
            return targets[low:high], may_have, max(lineups - low, 0), threads

        # The first batch compiles, and counts what all attacks share.
        n_alone = 0 if workers else 1 if self._bears_threads(release) else len(bounds)
        for low, high in bounds[:n_alone]:
            yield self.outcomes(release, *task(low, high, threads))
        batches = [
            [(start, min(start + TASK, high)) for start in range(low, high, TASK)] for low, high in bounds[n_alone:]
        ]
        tasks = (task(low, high, 1) for batch in batches for low, high in batch)
        if workers is None:
            results = map_on_threads(partial(self.outcomes, release), tasks, threads=threads)
        else:
            pool, shared = workers
            results = pool.map(_on_worker, ((shared, self.outcomes, *each) for each in tasks))
        for batch in batches:
            yield Outcomes.concatenate(list(islice(results, len(batch))))

    def _bears_threads(self, release: Release) -> bool:
        """Whether threads may attack targets at the same time: code of the user may not bear that.

        The kernels of columns have threads of their own.
        """
        return (
            not release.columns
            and current_pool() is None
            and is_built_in(self.attack)
            and type(self.adversary) is Adversary
            and type(self.criteria.similarity) in BUILT_IN_SIMILARITIES
        )

    def outcomes(
        self, release: Release, targets: Ints, may_have: dict[int, bool], lineups: int, threads: int | None
    ) -> Outcomes:
        """The outcomes of these targets; `may_have` says which of them may have similar records."""
        similar = SimilarRecords(release, self.criteria.similarity, self.criteria.theta, threads)
        return attack_outcomes(
            self.attack,
            release,
            known=Population.of(release).known_facts(self.adversary, targets, self.seed, self.draws),
            targets=targets,
            sizes=self.sizes,
            criteria=self.criteria,
            similar_records={} if release.columns else similar.of(targets, may_have),
            lineups=min(lineups, len(targets)),
            threads=threads,
        )


def _on_worker(index: SharedIndex, function: Callable[..., Any], *task: Any) -> Any:
    return function(index.open(), *task)


# How often the best guess is right. It costs a fraction of a simulation, which also attacks absent targets, and
# measures probabilities and claims.


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
    if not len(known):
        return np.zeros((0, len(sizes)))
    if release.columns:
        of_size = (replace(known, cells=known.cells.first_attributes(original_of(release), size)) for size in sizes)
        found = [attack_columns(release, few, attack, probabilities=False, threads=threads).found for few in of_size]
        return np.stack(found, axis=1)
    verdicts = attack.nested(release, known, list(sizes), with_z=False, threads=threads)
    score = record_scores(verdicts, np.repeat(Population.of(release).record_of(targets), len(sizes)))
    identified = (score == verdicts.columns.highest) / np.maximum(verdicts.columns.ties, 1)
    return np.asarray(identified.reshape(len(targets), len(sizes)))


def target_success(
    release: Release,
    attack: AnyAttack,
    adversary: Adversary,
    targets: Ints,
    sizes: Sequence[int],
    seed: int,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Floats:
    """`success_rates` of many targets: on threads, or on workers with the same index; the attack is a fitted one."""
    size = BATCH_OF_COLUMNS if release.columns else BATCH
    slices = [targets[low : low + size] for low in range(0, len(targets), size)]
    workers, settings = shared_workers(release), (attack, adversary, sizes, seed)
    results: Iterator[Floats] = (_success_of_slice(release, part, *settings, threads) for part in slices)
    if workers is not None:
        pool, shared = workers
        results = pool.map(_on_worker, ((shared, _success_of_slice, part, *settings, 1) for part in slices))
    parts = [np.empty((0, len(sizes)))]
    for part in results:
        parts.append(part)
        progress("attacking", sum(map(len, parts)), len(targets))
    return np.concatenate(parts)


def _success_of_slice(
    release: Release, targets: Ints, attack: AnyAttack, adversary: Adversary, sizes: Sequence[int], seed: int,
    threads: int | None,
) -> Floats:  # fmt: skip
    known = Population.of(release).known_facts(adversary, targets, seed)
    return success_rates(release, known, targets, sizes, threads, attack)


@dataclass(eq=False)
class Checkpoint:
    """The outcomes of an earlier run with the same settings and targets, and where to save more.

    The file's name contains a hash of everything that the outcomes depend on.
    """

    path: Path | None
    settings: str
    targets: Ints
    outcomes: Outcomes | None = None
    written: float = 0.0

    @classmethod
    def load(cls, path: Path | None, settings: list[object], targets: Ints) -> "Checkpoint":
        """The checkpoint for these settings and targets; empty if there is none or it is damaged."""
        text = json.dumps(settings)
        if path is None:
            return cls(None, text, targets)
        if not path.parent.is_dir():
            raise ParameterError(f"save must be in an existing folder; {path.parent} is not a folder")
        digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        file = path.with_name(f"{path.name}.{digest}.checkpoint")

        def parse(content: bytes) -> Outcomes | None:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                if not np.array_equal(stored["targets"], targets[: len(stored["targets"])]):
                    return None
                return Outcomes(*(stored[field.name] for field in fields(Outcomes)))

        return cls(file, text, targets, read_checkpoint(file, text, parse), time.monotonic())

    def save(self, parts: list[Outcomes], now: bool = False) -> None:
        """Write the outcomes so far, every few seconds or now; an atomic replacement of the file."""
        n_done = sum(map(len, parts))
        n_stored = 0 if self.outcomes is None else len(self.outcomes)
        is_due = now or time.monotonic() - self.written >= SECONDS_BETWEEN_WRITES
        if self.path is None or n_done <= n_stored or not is_due:
            return
        self.outcomes, content = Outcomes.concatenate(parts), io.BytesIO()
        columns = {field.name: getattr(self.outcomes, field.name) for field in fields(Outcomes)}
        np.savez(content, targets=self.targets[:n_done], **columns)
        write_checkpoint(self.path, self.settings, content.getvalue())
        self.written = time.monotonic()


class _Task(NamedTuple):
    """One adversary, the numbers of facts to attack with, its targets, and from how many people they are."""

    name: str
    adversary: Adversary
    sizes: list[int]
    targets: Ints
    n_considered: int
    too_few_items: int


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run:
    """The checked parameters of `simulate`."""

    release: Release
    attack: AnyAttack
    criteria: Criteria
    draws: int
    threshold: ClaimThreshold
    seed: int
    precision: float | None
    threads: int | None
    progress: Progress
    save: Path | None
    people: int | None
    posterior: float

    def task(
        self, name: str, adversary: Adversary, facts: int | Sequence[int] | None, targets: int | str | Sequence[str]
    ) -> _Task:
        """What to attack with, and whom."""
        given = [adversary.knows] if facts is None else [facts] if isinstance(facts, (int, np.integer)) else facts
        sizes = sorted({whole_number("facts", size, 1) for size in given})
        if not sizes or sizes[-1] > adversary.knows:
            raise ParameterError(
                f"facts must be from 1 to {adversary.knows}, the number that the adversary knows, got {facts}"
            )
        original = original_of(self.release)
        if isinstance(targets, str) and targets != "all":
            raise ParameterError(f'targets must be a number, "all", or a list of record ids, got {targets!r}')
        if isinstance(targets, Iterable) and not isinstance(targets, str):
            try:
                index = np.unique([position_of_id(original.records, each) for each in targets]).astype(np.int64)
            except (NotFoundError, ParameterError) as error:
                raise type(error)(f"targets: {error}") from None
            considered, index = len(index), index[adversary.eligible(original, index)]
        else:
            considered, index = original.n_records, random_targets(original, adversary, self.seed)
        if not len(index):
            raise ParameterError(
                f"no record can be a target: none has enough entries or cells for {name!r}, who knows {adversary.knows}"
            )
        too_few_items = considered - len(index)
        if not isinstance(targets, Iterable):
            wanted = whole_number("targets", targets, 1)
            index = index if self.precision else index[:wanted]
        return _Task(name, adversary, sizes, index, considered, too_few_items)

    def outcomes(self, task: _Task, stage: str) -> tuple[Outcomes | None, bool]:
        """The outcomes, and whether the run is complete; Ctrl-C ends it early."""
        attack = fit_attack(self.attack, task.adversary)
        settings = [] if self.save is None else self._settings(task, attack)
        checkpoint = Checkpoint.load(self.save, settings, task.targets)
        attacks = TargetAttacks(attack, task.adversary, tuple(task.sizes), self.criteria, self.draws, self.seed)
        lineups = LINEUPS if self.release.n_records <= MANY_RECORDS else FEW_LINEUPS
        batch = BATCH_OF_COLUMNS if self.release.columns else BATCH
        batches: Iterator[Outcomes] | None = None
        parts: list[Outcomes] = []
        n_attacked, total = 0, len(task.targets)
        try:
            while n_attacked < total and not self._is_precise(parts):
                end = min(n_attacked + batch, total)
                stored = checkpoint.outcomes
                if stored is not None and len(stored) >= end:
                    parts.append(stored.slice(n_attacked, end))
                else:
                    batches = batches or attacks.batches(
                        self.release, task.targets, n_attacked, batch, lineups, self.threads
                    )
                    parts.append(next(batches))
                n_attacked = end
                checkpoint.save(parts)
                self.progress(stage, n_attacked, total)
        except KeyboardInterrupt:
            pass
        except WorkersLost:
            checkpoint.save(parts, now=True)
            raise
        checkpoint.save(parts, now=True)
        complete = n_attacked == total or self._is_precise(parts)
        return (Outcomes.concatenate(parts) if parts else None), complete

    def _is_precise(self, parts: list[Outcomes]) -> bool:
        """Whether the interval of `identified` is narrow enough for every number of facts."""
        if self.precision is None or not parts:
            return False
        identified = np.concatenate([part.identified for part in parts])
        sizes = range(identified.shape[2])
        return all(rate_by_target(identified[:, :, size], 0.0).width <= self.precision for size in sizes)

    def _settings(self, task: _Task, attack: AnyAttack) -> list[object]:
        """Everything that the outcomes depend on. A function does not identify itself by its name."""
        if type(self.criteria.similarity) not in BUILT_IN_SIMILARITIES:
            raise ParameterError(
                "save works with the built-in similarities only: a checkpoint cannot tell one function from another"
            )
        check_checkpoint_key(task.adversary, "save")
        settings = task.adversary.key(), task.sizes, checkpoint_key(attack), repr(self.criteria), self.draws, self.seed
        return [*Population.of(self.release).key(), *settings, LINEUPS, FEW_LINEUPS, __version__]

    def cells(self, task: _Task, outcomes: Outcomes) -> Iterator[SimulationCell]:
        """The cell of each number of facts."""
        release, targets, people = self.release, task.targets[: len(outcomes)], Population.of(self.release)
        is_present = people.record_of(targets) >= 0
        random_guess = RandomGuess(math.nan, math.nan)
        if not release.columns:
            guesses = generator(self.seed, "guesses").integers(release.n_records, size=len(targets))
            known = no_facts(release, len(targets))
            items = revealed_items(release, targets, guesses, known, self.criteria.similarity)
            is_similar = items.similarity >= self.criteria.theta
            random_guess = RandomGuess(float(is_similar.mean()), float((items.correct / items.revealed).mean()))
        for index, size in enumerate(task.sizes):
            of_size, population = outcomes.for_size(index), None
            if self.people is not None:
                counts = release.n_records, people.original.n_records, int(is_present.sum())
                population = population_rates(of_size, self.people, self.posterior, *counts)
            yield SimulationCell(
                adversary=task.name,
                facts=size,
                outcomes=of_size,
                n_records=release.n_records,
                n_considered=task.n_considered,
                too_few_items=task.too_few_items,
                random_guess=random_guess,
                targets=targets,
                present=float(is_present.mean()),
                threshold=self.threshold,
                population=population,
            )


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
    if population is not None and (not release.columns or not absent):
        raise ParameterError("population needs a release with columns, and absent targets")
    if population is not None and whole_number("population", population, 1) < release.n_records:
        least = f"{release.n_records:,}, got {population:,}"
        raise ParameterError(f"population must be at least the number of rows, {least}")
    usual: AnyAttack = Likelihood() if release.columns else ScoreboardRH()
    checked_attack = usual if attack is None else attack_named(attack)
    run = _Run(
        release=release,
        attack=checked_attack,
        criteria=Criteria(
            top=whole_number("top", top, 1),
            theta=check_share("theta", theta),
            similarity=similarity or _default_similarity(release),
            absent=bool(absent),
        ),
        draws=whole_number("draws", draws, 1),
        threshold=ClaimThreshold.of(checked_attack, phi, posterior, bool(release.columns)),
        seed=check_seed(seed),
        precision=None if precision is None else check_share("precision", precision),
        threads=threads,
        progress=progress,
        save=None if save is None else Path(save),
        people=population,
        posterior=posterior,
    )
    budget = check_share("budget", budget)
    tasks = [run.task(name, adversary, facts, targets) for name, adversary in _by_name(adversaries).items()]
    cells: list[SimulationCell] = []
    complete = True
    for number, task in enumerate(tasks, 1):
        stage = "attacking" if len(tasks) == 1 else f"attacking {number}/{len(tasks)}"
        outcomes, complete = run.outcomes(task, stage)
        cells += [] if outcomes is None else run.cells(task, outcomes)
        if not complete:
            break
    original, fingerprint = original_of(release), release.fingerprint
    made_from = None if original is release else original.fingerprint
    return Simulation(tuple(cells), run.criteria, run.threshold, budget, run.seed, fingerprint, complete, made_from)


def _by_name(adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary]) -> dict[str, Adversary]:
    """The adversaries by name; the default name is the description, numbered if it occurs twice."""
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
