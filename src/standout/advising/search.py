"""The search: many candidates in a quick stage, some in a full stage, and the best re-measured on fresh targets."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from standout._version import __version__
from standout.advising.candidates import (
    DIGITS,
    Candidate,
    IdentificationRisk,
    Steps,
    built_in_steps,
    frontier,
    propose_combinations,
    select_for_full_stage,
    steps_text,
)
from standout.attack.any_attack import AnyAttack, AttackName, attack_columns, attack_named, checkpoint_key, fit_attack
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.json_files import JsonObject, read_checkpoint, write_checkpoint
from standout.core.progress import Progress
from standout.core.rng import generator
from standout.data.release import Release
from standout.evaluate.compare import candidate_attacks, cross_fit
from standout.evaluate.estimates import Estimate, rate, trials_to_prove
from standout.evaluate.simulate import success_rates
from standout.evaluate.targets import Population, column_targets
from standout.findings.advice import Among, Stage
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized
from standout.sanitizing.column_utility import association, column_utility, columns_at
from standout.sanitizing.recommender import RecommenderBenchmark
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.utility import Utility, entry_measures

# The risk: how many people the strongest of several attacks identifies.


BATCH = 256
COLUMN_ATTACKS: tuple[AttackName, ...] = ("likelihood", "paper", "exact match")
"""The attacks that are tried on columns, the strongest in theory first."""


def identification_risk(
    safer: Sanitized,
    adversary: Adversary,
    targets: int,
    seed: int,
    threads: int | None = None,
    own_attacks: Mapping[str, AnyAttack] | None = None,
) -> IdentificationRisk:
    """Share of targets whom the strongest attack identifies; targets are drawn as `simulate` draws them.

    Without columns, the attack for each half of the targets is chosen on the other half. With columns it is the one
    that identifies most of these targets. So the rate is a little too high, by less than its sampling error: choosing
    it on other targets has no such bias, but where few are identified it often chooses the weaker attack, and a limit
    would be met by chance.
    """
    if safer.columns:
        drawn, _ = column_targets(safer, adversary, targets, seed)
        facts = adversary.observe_all(safer.original, drawn, seed)
        own = {name: attack_named(name, adversary) for name in COLUMN_ATTACKS} | dict(own_attacks or {})
        found = {name: attack_columns(safer, facts, attack, threads=threads).found for name, attack in own.items()}
        name = max(found, key=lambda name: math.fsum(found[name]))  # the first of equally strong ones
        success = found[name]
    else:
        people = Population.of(safer)
        order = generator(seed, "targets").permutation(people.original.n_records)
        drawn = order[adversary.eligible(people.original, order)][:targets]
        if not len(drawn):
            raise ParameterError("no record has as many items as the adversary knows")
        attacks = candidate_attacks(safer, adversary)
        attacks |= {name: fit_attack(attack, adversary) for name, attack in (own_attacks or {}).items()}
        strongest = cross_fit(
            {name: _successes(attack, people, adversary, drawn, seed, threads) for name, attack in attacks.items()}
        )
        name, success = strongest.name, strongest.success
    is_present, baseline = safer.mapping.representatives[drawn] >= 0, 1 / safer.n_records
    add = math.fsum if safer.columns else np.sum

    def identified(found: Floats, baseline: float) -> Estimate:
        # The sum of shares like 1/3 may exceed the number of targets by rounding.
        return rate(min(float(add(found)), len(found)), len(found), baseline)

    everybody = identified(success, float(is_present.mean()) * baseline)
    return IdentificationRisk(everybody, identified(success[is_present], baseline), name)


def _successes(
    attack: AnyAttack, people: Population, adversary: Adversary, targets: Ints, seed: int, threads: int | None
) -> Floats:
    """Probability that the best guess is right, for each target: 1/t in a tie of t."""
    parts = []
    for low in range(0, len(targets), BATCH):
        batch = targets[low : low + BATCH]
        known = people.known_facts(adversary, batch, seed)
        parts.append(success_rates(people.release, known, batch, [adversary.knows], threads, attack)[:, 0])
    return np.concatenate(parts)


# The utility of columns: what the cells and the associations of the columns still say.
#
# information    bits that a released cell says about the original one / bits of the original one, mean over
#                all columns that vary; people who are left out say nothing
# associations   1 − Σ |change of the association of two columns| / Σ association, over all pairs that are
#                associated beyond what chance gives
# kept           the smaller of the two, so that a change that either use would notice has a cost


SHUFFLES, CHANCE_FACTOR = 5, 2.0
"""A pair counts if its association exceeds twice the largest of 5 that shuffled rows have by chance."""


@dataclass(eq=False)
class ColumnBenchmark:
    """The original, and the sample of its people on whom associations are compared."""

    release: Release
    rows: int
    seed: int

    def measures(self, safer: Sanitized) -> dict[str, Estimate | None]:
        """The measures of a release that was made from the original."""
        columns, n = [column_utility(safer, old) for old in self.release.columns], self.release.n_records
        shares = [min(column.bits_kept / column.bits_before, 1.0) for column in columns if column.bits_before > 0]
        information = _counted(math.fsum(shares) / len(shares) if shares else 1.0, n)
        associations = self._associations(safer)
        return {
            "kept": information if associations is None else min(information, associations, key=lambda x: x.value),
            "information": information,
            "associations": associations,
            "rows_kept": _counted(safer.n_records / n, n),
            "bits": _counted(math.fsum(column.bits_kept for column in columns), n),
        }

    def _associations(self, safer: Sanitized) -> Estimate | None:
        """The share of the associations that is left; only pairs with a changed column are computed."""
        if not self.before:
            return None
        is_used = np.zeros(self.release.n_records, np.bool_)
        is_used[self._people] = True
        new = columns_at(safer, np.flatnonzero(is_used[safer.original_row]))
        is_whole, changes = safer.n_records == self.release.n_records, []
        for (a, b), before in self.before.items():
            if a not in new or b not in new:
                changes.append(before)
            elif not is_whole or a in safer.channels or b in safer.channels:
                changes.append(abs(association(new[a], new[b]) - before))
        value, n = max(1.0 - math.fsum(changes) / math.fsum(self.before.values()), 0.0), len(self._people)
        return _counted(value, n) if n == self.release.n_records else Estimate(value, math.nan, math.nan, n, 0.0)

    @cached_property
    def _people(self) -> Ints:
        order = generator(self.seed, "advice", "association rows").permutation(self.release.n_records)
        return np.sort(order[: self.rows])

    @cached_property
    def before(self) -> dict[tuple[str, str], float]:
        """The association of each pair in the original, unless chance explains it."""
        old = columns_at(self.release, self._people)
        draw, n = generator(self.seed, "advice", "shuffled rows"), len(self._people)
        orders = [draw.permutation(n) for _ in range(SHUFFLES)]
        shuffled = [{name: column.rows(order) for name, column in old.items()} for order in orders]
        before = {}
        for a, b in combinations(old, 2):
            strength = association(old[a], old[b])
            chance = max(association(old[a], columns[b]) for columns in shuffled)
            if strength > CHANCE_FACTOR * max(chance, 1.0 / math.sqrt(n)):
                before[a, b] = strength
        return before


def _counted(value: float, n: int) -> Estimate:
    """A number that is counted, not estimated."""
    return Estimate(value, value, value, n, 0.0)


# Measuring candidates. Each result is stored in a checkpoint.


ABOUT = "candidates"
"""What the checkpoint has. The key of each candidate depends on all settings."""
ROUNDS, COLUMN_ROUNDS = (24, 16), (20, 16, 16)
"""Number of combinations in each round, which learns from those before; steps on many columns may be needed."""
QUICK_TARGETS = 500
QUICK_ENTRIES = 1_000_000
"""In the quick stage, recommenders learn from about this many entries at most."""
QUICK_ROWS, FULL_ROWS = 2_000, 10_000
"""Number of people on whom associations of columns are compared."""
DRAWS: dict[Stage, int] = {"quick": 0, "full": 1, "fresh": 2}
"""Added to the seed, so that each stage has other targets and known facts than the stage before."""


@dataclass(eq=False)
class CandidateRunner:
    """One release and one adversary. All candidates are measured with the same people and entries."""

    release: Release
    adversary: Adversary
    targets: int
    people: int
    seed: int
    among: Among = "released"
    threads: int | None = None
    work: Path | None = None
    attacks: Mapping[str, AnyAttack] = field(default_factory=dict)
    measured: dict[str, JsonObject] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.work is not None:
            parse = lambda content: dict(json.loads(content))  # noqa: E731
            self.measured = read_checkpoint(self._checkpoint, ABOUT, parse) or {}

    def measure(self, stage: Stage, steps: Steps) -> Candidate:
        """Measure a candidate, or return what the checkpoint has.

        quick   few targets, and on large data a part of it
        full    all targets, other ones than in the quick stage, and all data
        fresh   once more with targets, facts, held-out entries and noise that influenced no choice
        """
        key = self._key(stage, steps)
        if key in self.measured:
            return Candidate.from_checkpoint(self.measured[key], steps, self.among)
        noise_seed = self.seed + (DRAWS["fresh"] if stage == "fresh" else 0)
        if self.release.columns:
            safer = self._sanitized(self.release, steps, noise_seed)
            measures = (self._quick_columns if stage == "quick" else self._full_columns).measures(safer)
        elif stage == "full" and self.quick_benchmark.share == 1:
            measures = dict(self.measure("quick", steps).utility.measures())
            safer = self._sanitized(self.release, steps, noise_seed)
        else:
            benchmark = self.quick_benchmark
            if stage != "quick":
                benchmark = self._full_benchmark if stage == "full" else self._fresh_benchmark
            # In the quick stage, one sanitized release serves both measurements, which halves its time.
            safer = self._sanitized(benchmark.holdout.rest, steps, noise_seed)
            measures = entry_measures(benchmark, safer, self.seed)
            safer = safer if stage == "quick" else self._sanitized(self.release, steps, noise_seed)
        targets = min(QUICK_TARGETS, self.targets) if stage == "quick" else self.targets
        draw = self.seed + DRAWS[stage]
        risk = identification_risk(safer, self.adversary, targets, draw, self.threads, self.attacks)
        context: dict[str, Any] = {"seed": self.seed, "fingerprint": self.release.fingerprint, **measures}
        candidate = Candidate(steps, risk, Utility(steps=tuple(map(str, steps)), **context), stage, self.among)
        self.measured[key] = candidate.to_checkpoint()
        if self.work is not None:
            write_checkpoint(self._checkpoint, ABOUT, json.dumps(self.measured).encode())
        return candidate

    def _sanitized(self, release: Release, steps: Steps, seed: int) -> Sanitized:
        return sanitize(release, steps, seed=seed, threads=self.threads)

    @cached_property
    def quick_benchmark(self) -> RecommenderBenchmark:
        """The benchmark of entries in the quick stage."""
        share = min(1.0, QUICK_ENTRIES / self.release.n_entries)
        return RecommenderBenchmark.of(self.release, self.people, self.seed, share)

    @cached_property
    def _full_benchmark(self) -> RecommenderBenchmark:
        return RecommenderBenchmark(self.quick_benchmark.holdout)

    @cached_property
    def _fresh_benchmark(self) -> RecommenderBenchmark:
        return RecommenderBenchmark.of(self.release, self.people, self.seed + DRAWS["fresh"])

    @cached_property
    def _quick_columns(self) -> ColumnBenchmark:
        return ColumnBenchmark(self.release, QUICK_ROWS, self.seed)

    @cached_property
    def _full_columns(self) -> ColumnBenchmark:
        return ColumnBenchmark(self.release, FULL_ROWS, self.seed)

    @property
    def _checkpoint(self) -> Path:
        assert self.work is not None
        return self.work / "candidates.checkpoint"

    def _key(self, stage: Stage, steps: Steps) -> str:
        """Hash of everything that the numbers of a candidate depend on."""
        columns = self.release.columns
        settings = (
            stage,
            list(map(str, steps)),
            repr(self.adversary) if columns else self.adversary.key(),
            [] if self.work is None else [checkpoint_key(attack, "work") for attack in self.attacks.values()],
            [(column.error, repr(column.similarity), column.attribute) for column in columns],
            self.targets,
            self.people,
            self.seed,
            (QUICK_TARGETS, QUICK_ENTRIES, QUICK_ROWS, FULL_ROWS),
            self.release.fingerprint,
            __version__,
        )
        return hashlib.blake2b(json.dumps(settings, default=str).encode(), digest_size=12).hexdigest()


FULL_CANDIDATES, FRESH_CANDIDATES = 12, 3
"""Largest number of candidates in the full stage and in the fresh stage."""


@dataclass(slots=True)
class SearchResult:
    """What a search found.

    `candidates` are all by steps, each from the latest stage but "fresh"; `impossible` those that could not be
    applied, and why; `recommended` the one that met the limit when it was re-measured; `failed` those that met it in
    the full stage, but not when they were re-measured. `complete` is False if the search was interrupted.
    """

    candidates: dict[Steps, Candidate] = field(default_factory=dict)
    impossible: dict[str, str] = field(default_factory=dict)
    recommended: Candidate | None = None
    failed: list[Candidate] = field(default_factory=list)
    complete: bool = False


def search_candidates(
    runner: CandidateRunner, limit: float, given: Sequence[Steps] | None, progress: Progress
) -> SearchResult:
    """Search for the candidate that meets the limit and keeps most of the utility.

    Tries the `given` candidates; default: built-in steps and their combinations. Ctrl-C ends the search, and
    the result has what was measured so far.
    """
    result = SearchResult()
    try:
        if given is not None:
            _quick_stage(runner, [(), *given], result, "trying steps", progress)
        else:
            release, adversary = runner.release, runner.adversary
            single: list[Steps] = [(step,) for step in built_in_steps(release, adversary, limit)]
            _quick_stage(runner, [(), *single], result, "trying steps", progress)
            attributes = len(release.attributes if adversary.columns is None else adversary.columns)
            known_share = min(1.0, adversary.knows / max(attributes, 1))
            for count in COLUMN_ROUNDS if release.columns else ROUNDS:
                promising = propose_combinations(result.candidates, limit, count, known_share)
                _quick_stage(runner, promising, result, "trying combinations", progress)
        every = list(result.candidates.values())
        best = select_for_full_stage(every, limit, runner.targets, FULL_CANDIDATES)
        chosen = [(), *(candidate.steps for candidate in best if candidate.steps)]
        for done, steps in enumerate(chosen):
            progress("measuring the best", done, len(chosen))
            result.candidates[steps] = runner.measure("full", steps)
        _fresh_stage(runner, limit, result, progress)
        result.complete = True
    except KeyboardInterrupt:
        if len(result.candidates) < 2:
            raise
    return result


def _quick_stage(
    runner: CandidateRunner, candidates: Sequence[Steps], result: SearchResult, title: str, progress: Progress
) -> None:
    for done, steps in enumerate(candidates):
        progress(title, done, len(candidates))
        try:
            result.candidates[steps] = runner.measure("quick", steps)
        except ParameterError as error:  # a step that would leave nothing
            if not steps:
                raise
            result.impossible[steps_text(steps)] = str(error)


def _fresh_stage(runner: CandidateRunner, limit: float, result: SearchResult, progress: Progress) -> None:
    """Re-measure the candidate that keeps most utility below the limit; if it fails, a safer one."""
    full = (candidate for candidate in result.candidates.values() if candidate.stage == "full")
    order = _by_utility(candidate for candidate in full if candidate.rate.high <= limit)
    for done in range(FRESH_CANDIDATES):
        if not order:
            return
        progress("re-measuring on fresh targets", done, FRESH_CANDIDATES)
        finalist = order[0]
        candidate = runner.measure("fresh", finalist.steps)
        if candidate.rate.high <= limit:
            result.recommended = candidate
            return
        result.failed.append(candidate)
        # A safer one has at most this share of the risk of the one that failed, as the same stage measured it: targets
        # who are easier to find than others are so for all candidates of a stage.
        share = limit / candidate.rate.high
        rates = {"full": finalist.rate.value, "quick": runner.measure("quick", finalist.steps).rate.value}
        others = (each for each in result.candidates.values() if each.steps)
        order = _by_utility(each for each in others if each.rate.value <= share * rates[each.stage]) or order[1:]


def _by_utility(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The highest utility first, then the fewest steps."""
    return sorted(candidates, key=lambda each: (-round(each.utility_kept, DIGITS), len(each.steps)))


# Candidates whose measured rate is below the limit although nothing is proven, and what would settle it.


CHANCE = 0.9
"""Probability that the advised number of targets proves a candidate, if its true rate is the measured one."""
MEASUREMENTS = 2
"""A candidate has to meet the limit in the full stage and again in the fresh stage."""


class Unproven(NamedTuple):
    """A candidate whose measured rate is below the limit, as it was re-measured if it was.

    `targets_needed` is the smallest number of targets with which the interval would end at or below the limit, if the
    rate stays the same. With `targets_advised`, both stages prove it with a probability of `CHANCE`.
    """

    candidate: Candidate
    targets_needed: int
    targets_advised: int


class UnprovenCandidates(NamedTuple):
    """What is below the limit, but not proven.

    `number` is the number of measured rates below the limit. `best` are the candidates among them for which no other
    has both less risk and more utility, the fewest targets needed first. `possible_targets` is the number of people
    who can be targets, and `targets_to_settle` how many would settle whether the first meets the limit; None if none
    would.
    """

    number: int
    best: tuple[Unproven, ...]
    possible_targets: int
    targets_to_settle: int | None


def unproven_candidates(result: SearchResult, limit: float, possible_targets: int) -> UnprovenCandidates:
    """The candidates below the limit if the search ended without a recommendation; otherwise none.

    A candidate that failed when it was re-measured counts as it was re-measured: that rate has no bias.
    """
    below: dict[Steps, Candidate] = {}
    if result.complete and result.recommended is None:
        latest = result.candidates | {candidate.steps: candidate for candidate in result.failed}
        below = {steps: each for steps, each in latest.items() if each.rate.n and each.rate.value < limit}
    best = []
    for candidate in frontier(list(below.values())):
        measured, targets = candidate.rate, candidate.risk.everybody.n
        trials = [trials_to_prove(measured.value, limit, chance) for chance in (0.5, CHANCE ** (1 / MEASUREMENTS))]
        # If the limit is for the released, only they count as trials.
        needed, advised = (-(-number * targets // measured.n) for number in trials)
        best.append(Unproven(candidate, needed, max(advised, targets)))
    best.sort(key=lambda each: (each.targets_needed, -each.candidate.utility_kept))
    settling = None
    if best and best[0].targets_needed <= possible_targets:
        settling = min(best[0].targets_advised, possible_targets)
    return UnprovenCandidates(len(below), tuple(best), possible_targets, settling)
