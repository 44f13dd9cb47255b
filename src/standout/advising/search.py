"""The search: many candidates in a quick stage, some in a full stage, and the best re-measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from standout.advising.candidate import DIGITS, Candidate, Steps, frontier, select_for_full_stage, steps_text
from standout.advising.runner import CandidateRunner
from standout.core.errors import ParameterError
from standout.core.progress import Progress
from standout.evaluate.estimates import trials_to_prove

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
        first = runner.built_in_candidates(limit) if given is None else given
        _quick_stage(runner, [(), *first], result, "trying steps", progress)
        if given is None:
            for count in runner.combination_rounds():
                combinations = runner.propose(result.candidates, limit, count)
                _quick_stage(runner, combinations, result, "trying combinations", progress)
        _full_stage(runner, limit, result, progress)
        _fresh_stage(runner, limit, result, progress)
        result.complete = True
    except KeyboardInterrupt:
        if len(result.candidates) < 2:
            raise
    return result


def _quick_stage(
    runner: CandidateRunner, combinations: Sequence[Steps], result: SearchResult, title: str, progress: Progress
) -> None:
    for done, steps in enumerate(combinations):
        progress(title, done, len(combinations))
        try:
            result.candidates[steps] = runner.quick(steps)
        except ParameterError as error:  # a step that would leave nothing
            if not steps:
                raise
            result.impossible[steps_text(steps)] = str(error)


def _full_stage(runner: CandidateRunner, limit: float, result: SearchResult, progress: Progress) -> None:
    """Measure the untouched release and the candidates on the frontier or near it with all targets."""
    every = list(result.candidates.values())
    best = select_for_full_stage(every, limit, runner.targets, FULL_CANDIDATES)
    combinations = [(), *(candidate.steps for candidate in best if candidate.steps)]
    for done, steps in enumerate(combinations):
        progress("measuring the best", done, len(combinations))
        result.candidates[steps] = runner.full(steps)


def _fresh_stage(runner: CandidateRunner, limit: float, result: SearchResult, progress: Progress) -> None:
    """Re-measure the candidate that keeps most utility below the limit; if it fails, a safer one."""
    full = (candidate for candidate in result.candidates.values() if candidate.stage == "full")
    order = _by_utility(candidate for candidate in full if candidate.rate.high <= limit)
    for done in range(FRESH_CANDIDATES):
        if not order:
            return
        progress("re-measuring on fresh targets", done, FRESH_CANDIDATES)
        finalist = order[0]
        candidate = runner.fresh(finalist.steps)
        if candidate.rate.high <= limit:
            result.recommended = candidate
            return
        result.failed.append(candidate)
        order = _safer(runner, result, finalist, limit / candidate.rate.high) or order[1:]


def _safer(runner: CandidateRunner, result: SearchResult, failed: Candidate, share: float) -> list[Candidate]:
    """Candidates of any stage with at most this share of the risk of one that failed.

    Each is compared with the failed candidate as the same stage measured it: targets who are easier to find
    than others are so for all candidates of a stage.
    """
    rates = {"full": failed.rate.value, "quick": runner.quick(failed.steps).rate.value}
    return _by_utility(
        candidate
        for candidate in result.candidates.values()
        if candidate.steps and candidate.rate.value <= share * rates[candidate.stage]
    )


def _by_utility(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The highest utility first, then the fewest steps."""
    return sorted(candidates, key=lambda each: (-round(each.utility_kept, DIGITS), len(each.steps)))


# Candidates whose measured rate is below the limit although nothing is proven, and what would settle it.


CHANCE = 0.9
"""Probability that the advised number of targets proves a candidate, if its true rate is the measured one."""
MEASUREMENTS = 2
"""A candidate has to meet the limit in the full stage and again in the fresh stage."""


@dataclass(frozen=True, slots=True)
class Unproven:
    """A candidate whose measured rate is below the limit, as it was re-measured if it was.

    `targets_needed` is the smallest number of targets with which the interval would end at or below the limit, if the
    rate stays the same. With `targets_advised`, both stages prove it with a probability of `CHANCE`.
    """

    candidate: Candidate
    targets_needed: int
    targets_advised: int


@dataclass(frozen=True)
class UnprovenCandidates:
    """What is below the limit, but not proven.

    `number` is the number of measured rates below the limit. `best` are the candidates among them for which no other
    has both less risk and more utility, the fewest targets needed first. `possible_targets` is the number of people
    who can be targets.
    """

    number: int
    best: tuple[Unproven, ...]
    possible_targets: int

    @cached_property
    def closest(self) -> Unproven | None:
        """The candidate that needs the fewest targets."""
        return self.best[0] if self.best else None

    @cached_property
    def targets_to_settle(self) -> int | None:
        """Number of targets that would settle whether the closest meets the limit; None if none would."""
        if self.closest is None or self.closest.targets_needed > self.possible_targets:
            return None
        return min(self.closest.targets_advised, self.possible_targets)


def unproven_candidates(result: SearchResult, limit: float, possible_targets: int) -> UnprovenCandidates:
    """The candidates below the limit if the search ended without a recommendation; otherwise none.

    A candidate that failed when it was re-measured counts as it was re-measured: that rate has no bias.
    """
    below: dict[Steps, Candidate] = {}
    if result.complete and result.recommended is None:
        latest = result.candidates | {candidate.steps: candidate for candidate in result.failed}
        below = {steps: each for steps, each in latest.items() if each.rate.n and each.rate.value < limit}
    best = [_unproven(candidate, limit) for candidate in frontier(list(below.values()))]
    best.sort(key=lambda each: (each.targets_needed, -each.candidate.utility_kept))
    return UnprovenCandidates(len(below), tuple(best), possible_targets)


def _unproven(candidate: Candidate, limit: float) -> Unproven:
    rate, targets = candidate.rate, candidate.risk.everybody.n
    chance: float = CHANCE ** (1 / MEASUREMENTS)
    return Unproven(
        candidate,
        targets_needed=_targets(trials_to_prove(rate.value, limit), rate.n, targets),
        targets_advised=max(
            _targets(trials_to_prove(rate.value, limit, chance), rate.n, targets), candidate.risk.everybody.n
        ),
    )


def _targets(trials: int, counted: int, targets: int) -> int:
    """Targets for a number of trials: if the limit is for the released, only they count as trials."""
    return -(-trials * targets // counted)
