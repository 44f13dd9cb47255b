"""The search: many candidates in a quick stage, some in a full stage, and the best re-measured on fresh targets."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path

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
from standout.attack.any_attack import AnyAttack, AttackName, attack_named, checkpoint_key, fit_attack
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.json_files import JsonObject, read_checkpoint, write_checkpoint
from standout.core.progress import Progress
from standout.core.rng import generator
from standout.data.release import Release
from standout.evaluate.compare import candidate_attacks, cross_fit
from standout.evaluate.estimates import Estimate, rate, trials_to_prove
from standout.evaluate.simulate import target_success
from standout.evaluate.targets import random_targets
from standout.findings.link_and_advise import Among, Stage, UnprovenCandidateFindings, UnprovenFindings
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized
from standout.sanitizing.column_utility import Pair, association, association_changes, column_utility, columns_at
from standout.sanitizing.recommender import RecommenderBenchmark, hold_out
from standout.sanitizing.steps import sanitize
from standout.sanitizing.utility import Utility, entry_measures, lower

# The risk: how many people the strongest of several attacks identifies.


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
    attacks: dict[str, AnyAttack] = {}
    drawn = random_targets(safer.original, adversary, seed)[:targets]
    if not len(drawn):
        raise ParameterError(f"no record has enough entries or cells for an adversary who knows {adversary.knows}")
    if safer.columns:
        attacks |= {name: attack_named(name, adversary) for name in COLUMN_ATTACKS} | dict(own_attacks or {})
    else:
        attacks |= candidate_attacks(safer, adversary)
        attacks |= {name: fit_attack(attack, adversary) for name, attack in (own_attacks or {}).items()}
    found = {
        name: target_success(safer, attack, adversary, drawn, (adversary.knows,), seed, threads)[:, 0]
        for name, attack in attacks.items()
    }
    if safer.columns:
        name = max(found, key=lambda name: math.fsum(found[name]))  # the first of equally strong ones
        success = found[name]
    else:
        name, success = cross_fit(found)
    is_present, baseline = safer.mapping.representatives[drawn] >= 0, 1 / safer.n_records
    add = math.fsum if safer.columns else np.sum

    def identified(found: Floats, baseline: float) -> Estimate:
        # The sum of shares like 1/3 may exceed the number of targets by rounding.
        return rate(min(float(add(found)), len(found)), len(found), baseline)

    everybody = identified(success, float(is_present.mean()) * baseline)
    return IdentificationRisk(everybody, identified(success[is_present], baseline), name)


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
        n, columns = self.release.n_records, [column_utility(safer, old) for old in self.release.columns]
        shares = [min(column.bits_kept / column.bits_before, 1.0) for column in columns if column.bits_before > 0]
        numbers = {
            "information": math.fsum(shares) / len(shares) if shares else 1.0,
            "rows_kept": safer.n_records / n,
            "bits": math.fsum(column.bits_kept for column in columns),
        }  # not estimated, so their intervals are points
        counted = {name: Estimate(value, value, value, n, 0.0) for name, value in numbers.items()}
        associations = None
        if self.before:
            lost = math.fsum(association_changes(safer, self._people, self.before))
            value = max(1.0 - lost / math.fsum(self.before.values()), 0.0)
            end = value if len(self._people) == n else math.nan
            associations = Estimate(value, end, end, len(self._people), 0.0)
        return {"kept": lower(counted["information"], associations), "associations": associations, **counted}

    @cached_property
    def _people(self) -> Ints:
        order = generator(self.seed, "advice", "association rows").permutation(self.release.n_records)
        return np.sort(order[: self.rows])

    @cached_property
    def before(self) -> dict[Pair, float]:
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


# Measuring candidates. Each result is stored in a checkpoint.


ABOUT, CHECKPOINT = "candidates", "candidates.checkpoint"
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
            self.measured = read_checkpoint(self.work / CHECKPOINT, ABOUT, json.loads) or {}

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
        columns, measures, safer = self.release.columns, dict[str, Estimate | None](), None
        # Of columns and entries, the entries are measured if a step changes them.
        if not columns or (self.release.n_entries and any(step.about != "columns" for step in steps)):
            if stage == "full" and self.benchmark("quick").share == 1:
                measures = dict(self.measure("quick", steps).utility.measures())
            else:
                benchmark = self.benchmark(stage)
                safer = sanitize(benchmark.holdout.rest, steps, seed=noise_seed, threads=self.threads)
                measures = entry_measures(benchmark, safer, self.seed)
        # In the quick stage, one sanitized release serves both measurements, which halves its time.
        if safer is None or columns or stage != "quick":
            safer = sanitize(self.release, steps, seed=noise_seed, threads=self.threads)
        if columns:
            of_entries = measures.get("kept")
            measures |= self._column_benchmark(QUICK_ROWS if stage == "quick" else FULL_ROWS).measures(safer)
            measures["kept"] = lower(measures["kept"], of_entries)
        targets = min(QUICK_TARGETS, self.targets) if stage == "quick" else self.targets
        draw = self.seed + DRAWS[stage]
        risk = identification_risk(safer, self.adversary, targets, draw, self.threads, self.attacks)
        utility = Utility(
            steps=tuple(map(str, steps)), estimates=measures, seed=self.seed, fingerprint=self.release.fingerprint
        )
        candidate = Candidate(steps, risk, utility, stage, self.among)
        self.measured[key] = candidate.to_checkpoint()
        if self.work is not None:
            write_checkpoint(self.work / CHECKPOINT, ABOUT, json.dumps(self.measured).encode())
        return candidate

    @cache  # noqa: B019  (a runner lives as long as its search)
    def benchmark(self, stage: Stage) -> RecommenderBenchmark:
        """The benchmark of entries in a stage; the quick one learns from a part of large data."""
        if stage == "full":
            return RecommenderBenchmark(self.benchmark("quick").holdout)
        holdout = hold_out(self.release, self.people, self.seed + DRAWS[stage])
        return RecommenderBenchmark(
            holdout, min(1.0, QUICK_ENTRIES / self.release.n_entries) if stage == "quick" else 1.0
        )

    @cache  # noqa: B019
    def _column_benchmark(self, rows: int) -> ColumnBenchmark:
        return ColumnBenchmark(self.release, rows, self.seed)

    def _key(self, stage: Stage, steps: Steps) -> str:
        """Hash of everything that the numbers of a candidate depend on."""
        columns = self.release.columns
        settings = (
            stage,
            list(map(str, steps)),
            repr(self.adversary) if columns else self.adversary.key(),
            [] if self.work is None else [checkpoint_key(attack, "work") for attack in self.attacks.values()],
            [(column.error, repr(column.similarity), column.attribute) for column in columns],
            (self.targets, self.people, self.seed),
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

    `candidates` are each from the latest stage but "fresh"; `impossible` says why some could not be applied; `failed`
    met the limit in the full stage, but not when they were re-measured. `complete`: the search was not interrupted.
    """

    candidates: dict[Steps, Candidate] = field(default_factory=dict)
    impossible: dict[str, str] = field(default_factory=dict)
    recommended: Candidate | None = None
    failed: list[Candidate] = field(default_factory=list)
    complete: bool = False

    @property
    def latest(self) -> dict[Steps, Candidate]:
        """All candidates; one that failed when it was re-measured as it was then, because that rate has no bias."""
        return self.candidates | {candidate.steps: candidate for candidate in self.failed}


def search_candidates(
    runner: CandidateRunner, limit: float, given: Sequence[Steps] | None, progress: Progress
) -> SearchResult:
    """Search for the candidate that meets the limit and keeps most utility; Ctrl-C ends it with what was measured."""
    result = SearchResult()

    def measure(stage: Stage, candidates: Sequence[Steps], title: str) -> None:
        for done, steps in enumerate(candidates):
            progress(title, done, len(candidates))
            try:
                result.candidates[steps] = runner.measure(stage, steps)
            except ParameterError as error:  # a step that would leave nothing
                if not steps or stage != "quick":
                    raise
                result.impossible[steps_text(steps)] = str(error)

    try:
        if given is not None:
            measure("quick", [(), *given], "trying steps")
        else:
            release, adversary = runner.release, runner.adversary
            single: list[Steps] = [(step,) for step in built_in_steps(release, adversary, limit)]
            measure("quick", [(), *single], "trying steps")
            attributes = len(release.attributes if adversary.columns is None else adversary.columns)
            known_share = min(1.0, adversary.knows / max(attributes, 1))
            for count in COLUMN_ROUNDS if release.columns else ROUNDS:
                promising = propose_combinations(result.candidates, limit, count, known_share)
                measure("quick", promising, "trying combinations")
        every = list(result.candidates.values())
        best = select_for_full_stage(every, limit, runner.targets, FULL_CANDIDATES)
        measure("full", [(), *(candidate.steps for candidate in best if candidate.steps)], "measuring the best")
        _fresh_stage(runner, limit, result, progress)
        result.complete = True
    except KeyboardInterrupt:
        if len(result.candidates) < 2:
            raise
    return result


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


def unproven_candidates(result: SearchResult, limit: float, possible_targets: int) -> UnprovenFindings | None:
    """The candidates below the limit if the search ended without a recommendation; None if there are none.

    `targets_needed` is the smallest number of targets with which the interval would end at or below the limit, if the
    rate stays the same. With `targets_advised`, both stages prove it with a probability of `CHANCE`.
    """
    if not result.complete or result.recommended is not None:
        return None
    below = [each for each in result.latest.values() if each.rate.n and each.rate.value < limit]
    found: list[UnprovenCandidateFindings] = []
    for candidate in frontier(below):
        measured, targets = candidate.rate, candidate.risk.everybody.n
        trials = [trials_to_prove(measured.value, limit, chance) for chance in (0.5, CHANCE ** (1 / MEASUREMENTS))]
        # If the limit is for the released, only they count as trials.
        needed, advised = (-(-number * targets // measured.n) for number in trials)
        found.append(
            UnprovenCandidateFindings(
                steps=tuple(map(str, candidate.steps)),
                name=candidate.name,
                stage=candidate.stage,
                rate=measured,
                kept=candidate.utility.kept,
                targets=targets,
                targets_needed=needed,
                targets_advised=max(advised, targets),
            )
        )
    if not found:
        return None
    ordered = tuple(sorted(found, key=lambda each: (each.targets_needed, -each.kept.value if each.kept else -1.0)))
    settling = ordered[0].targets_needed <= possible_targets
    return UnprovenFindings(
        number=len(below),
        candidates=ordered,
        possible_targets=possible_targets,
        targets=min(ordered[0].targets_advised, possible_targets) if settling else None,
    )
