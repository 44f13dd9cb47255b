"""The search: many candidates in a quick stage, some in a full stage, and the best re-measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from standout.advising.candidate import DIGITS, Candidate, Steps, UtilityT, select_for_full_stage, steps_text
from standout.advising.runner import CheckpointedRunner
from standout.core.errors import ParameterError
from standout.core.progress import Progress

__all__ = ["SearchResult", "search_candidates"]

FULL_CANDIDATES, FRESH_CANDIDATES = 12, 3
"""Largest number of candidates in the full stage and in the fresh stage."""


@dataclass(slots=True)
class SearchResult(Generic[UtilityT]):
    """What a search found.

    Attributes
    ----------
    candidates
        All candidates by steps, each from the latest stage but "fresh".
    impossible
        Candidates that could not be applied, and why.
    recommended
        The candidate that met the limit when it was re-measured; None if there is none.
    failed
        Candidates that met the limit in the full stage, but not when they were re-measured.
    complete
        False if the search was interrupted.
    """

    candidates: dict[Steps, Candidate[UtilityT]] = field(default_factory=dict)
    impossible: dict[str, str] = field(default_factory=dict)
    recommended: Candidate[UtilityT] | None = None
    failed: list[Candidate[UtilityT]] = field(default_factory=list)
    complete: bool = False


def search_candidates(
    runner: CheckpointedRunner[UtilityT], limit: float, given: Sequence[Steps] | None, progress: Progress
) -> SearchResult[UtilityT]:
    """Search for the candidate that meets the limit and keeps most of the utility.

    Tries the `given` candidates; default: built-in steps and their combinations. Ctrl-C ends the search, and
    the result has what was measured so far.
    """
    result = SearchResult[UtilityT]()
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
    runner: CheckpointedRunner[UtilityT],
    combinations: Sequence[Steps],
    result: SearchResult[UtilityT],
    title: str,
    progress: Progress,
) -> None:
    for done, steps in enumerate(combinations):
        progress(title, done, len(combinations))
        try:
            result.candidates[steps] = runner.quick(steps)
        except ParameterError as error:  # a step that would leave nothing
            if not steps:
                raise
            result.impossible[steps_text(steps)] = str(error)


def _full_stage(
    runner: CheckpointedRunner[UtilityT], limit: float, result: SearchResult[UtilityT], progress: Progress
) -> None:
    """Measure the untouched release and the candidates on the frontier or near it with all targets."""
    every = list(result.candidates.values())
    best = select_for_full_stage(every, limit, runner.targets, FULL_CANDIDATES)
    combinations = [(), *(candidate.steps for candidate in best if candidate.steps)]
    for done, steps in enumerate(combinations):
        progress("measuring the best", done, len(combinations))
        result.candidates[steps] = runner.full(steps)


def _fresh_stage(
    runner: CheckpointedRunner[UtilityT], limit: float, result: SearchResult[UtilityT], progress: Progress
) -> None:
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


def _safer(
    runner: CheckpointedRunner[UtilityT], result: SearchResult[UtilityT], failed: Candidate[UtilityT], share: float
) -> list[Candidate[UtilityT]]:
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


def _by_utility(candidates: Iterable[Candidate[UtilityT]]) -> list[Candidate[UtilityT]]:
    """The highest utility first, then the fewest steps."""
    return sorted(candidates, key=lambda each: (-round(each.utility_kept, DIGITS), len(each.steps)))
