"""`advise`: the smallest change of a release that brings the risk below a limit, or that there is none."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from standout.advising.advice import Advice
from standout.advising.built_in_steps import step_columns
from standout.advising.candidate import Steps
from standout.advising.composition import Composition, composition, have_people_in_common
from standout.advising.risk import COLUMN_ATTACKS
from standout.advising.runner import CandidateRunner
from standout.advising.search import SearchResult, search_candidates
from standout.attack.any_attack import AnyAttack, attacks_by_name
from standout.auditing.ladder import headline_adversary
from standout.core.errors import ParameterError, whole_number
from standout.core.files import make_folder
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.findings.advice import Among
from standout.ingest.read import as_release
from standout.know.adversary import Adversary, check_checkpoint_key
from standout.know.sanitized import Sanitized
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step
from standout.sanitizing.steps import step as parse_step

COMPOSITION_SEEDS = (3, 4)
"""Added to the seed: the noise of the two releases that are linked with each other."""


@with_progress
def advise(
    release: Any,
    adversary: Adversary | None = None,
    limit: float = 0.05,
    *,
    candidates: Iterable[Step | str | Sequence[Step | str]] | None = None,
    attacks: Mapping[str, AnyAttack] | Sequence[AnyAttack] | None = None,
    targets: int = 1000,
    people: int = 1000,
    among: Among = "released",
    name: str = "",
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    work: str | Path | None = None,
) -> Advice:
    """Search for the smallest change after which an adversary identifies at most a given share of people.

    Many candidates are measured in a quick stage, those near the frontier of risk and utility in a full stage
    with other targets. The recommended candidate is re-measured with fresh targets, facts and noise, because
    the best of many candidates looks better than it is. Ctrl-C ends the search; the result then has what was
    measured so far.

    Columns have their own steps, attacks and utility: the information in the cells, and the associations of pairs of
    columns. docs/advice.md says how they are measured.

    Parameters
    ----------
    release
        Original release. A path or frame is read with the default options of `standout.read`.
    adversary
        Adversary to protect against, for a table a `Adversary`; default: the headline adversary of the
        audit's ladder.
    limit
        Largest acceptable share of identified people, above 0 and below 1. The upper end of the interval
        must not exceed it.
    candidates
        Steps or sequences of steps to try; default: built-in steps and their combinations.
    attacks
        Attacks of your own, by name or several. The strongest of these and the built-in ones counts.
    targets
        Number of targets in the full stage.
    people
        Number of people whose entries are held out to measure utility. Not used with columns.
    among
        Whom the limit applies to: "everybody" in the original, or the people whom the sanitized release
        represents ("released"). People missing from the sanitized release cannot be identified.
    name
        Name of the data in the report.
    seed
        Seed of all random draws.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).
    work
        Folder of checkpoints. An interrupted search resumes from it.

    Returns
    -------
    Advice
        All candidates with risk and utility, the frontier, and the recommended candidate.

    Raises
    ------
    ParameterError
        If the release is sanitized already, or a parameter is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> advice = so.advise(release, limit=0.1, candidates=["drop-entries 0.5"], targets=5, people=5)
    >>> [candidate.name for candidate in advice.candidates], advice.recommended
    (['as it is', 'drop-entries 0.5'], None)
    """
    _check_limit(limit, among)
    release = as_release(release)
    if isinstance(release, Sanitized):
        raise ParameterError("release is sanitized already: give advise the original")
    if adversary is None:
        adversary = headline_adversary(release.check())
    if not isinstance(adversary, Adversary):
        raise ParameterError(f"adversary must be an Adversary, got {type(adversary).__name__}")
    known_entries = adversary.entries if release.columns else adversary
    if work is not None and known_entries is not None:
        check_checkpoint_key(known_entries, "work")
    own_attacks = {} if attacks is None else attacks_by_name(attacks)
    if release.columns and (taken := sorted({*own_attacks} & {*COLUMN_ATTACKS})):
        raise ParameterError(f"attacks must have names other than {', '.join(COLUMN_ATTACKS)}, got {taken[0]!r:.40}")
    runner = CandidateRunner(
        release=release,
        adversary=adversary,
        targets=min(whole_number("targets", targets, 1), release.n_records),
        people=whole_number("people", people, 1),
        seed=check_seed(seed),
        among=among,
        threads=thread_count(threads),
        work=None if work is None else make_folder(Path(work), private=True),
        attacks=own_attacks,
    )
    given = None if candidates is None else _parse_candidates(candidates, release)
    result = search_candidates(runner, float(limit), given, progress)
    return Advice(
        release=release,
        search=result,
        adversary=adversary,
        limit=float(limit),
        composition=None if release.columns else _composition(runner, result, progress),
        among=among,
        seed=runner.seed,
        name=printable(str(name)),
    )


def _check_limit(limit: Any, among: Any) -> None:
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < 1:
        raise ParameterError(f"limit must be above 0 and below 1, got {limit!r}")
    if among not in get_args(Among):
        raise ParameterError(f"among must be 'everybody' or 'released', got {among!r}")


def _parse_candidates(candidates: Any, release: Release) -> list[Steps]:
    """Candidates as tuples of steps, without duplicates."""
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise ParameterError(
            "candidates must be a list of steps or of sequences of steps, like ['round-time month', …], "
            f"got {type(candidates).__name__}"
        )
    parsed = [_parse_candidate(candidate, release) for candidate in candidates]
    if not parsed:
        raise ParameterError("candidates must have at least one candidate; default: built-in steps")
    return list(dict.fromkeys(parsed))


def _parse_candidate(candidate: Any, release: Release) -> Steps:
    several = [candidate] if isinstance(candidate, (str, Step)) else candidate
    if not isinstance(several, Iterable):
        raise ParameterError(
            f"candidates must be steps or sequences of steps, got one that is a {type(candidate).__name__}"
        )
    steps = tuple(parse_step(step) if isinstance(step, str) else step for step in several)
    if not steps or not all(isinstance(step, Step) for step in steps):
        raise ParameterError("candidates must be steps or sequences of steps, got one without steps")
    for name in {name for step in steps for name in step_columns(step)}:
        release.column_position(name)
    return steps


def _composition(runner: CandidateRunner, result: SearchResult, progress: Progress) -> Composition | None:
    """What two releases with the recommended steps reveal together; Ctrl-C makes the result incomplete."""
    if result.recommended is None or not result.recommended.steps:
        return None
    steps = result.recommended.steps
    try:
        progress("linking two releases", 0, 1)
        first, second = (
            sanitize(runner.release, *steps, seed=runner.seed + more, renumber=True, threads=runner.threads)
            for more in COMPOSITION_SEEDS
        )
        if have_people_in_common(first, second):
            return composition(first, second, seed=runner.seed, threads=runner.threads)
    except KeyboardInterrupt:
        result.complete = False
    return None
