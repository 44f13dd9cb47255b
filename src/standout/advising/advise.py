"""`advise`: the smallest change of a release that brings the risk below a limit; `composition`: what two reveal."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from standout.advising.advice import Advice
from standout.advising.candidates import Steps, step_columns
from standout.advising.search import COLUMN_ATTACKS, CandidateRunner, SearchResult, search_candidates
from standout.attack.any_attack import AnyAttack, attacks_by_name
from standout.auditing.ladder import headline_adversary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, check_share, whole_number
from standout.core.files import make_folder
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.build import subset
from standout.data.release import Release
from standout.evaluate.estimates import mean, percent, rate, rate_text
from standout.findings.link_and_advise import Among, CompositionFindings
from standout.ingest.read import as_release
from standout.know.adversary import Adversary, check_checkpoint_key
from standout.know.sanitized import Sanitized
from standout.linking.links import link
from standout.sanitizing.draft import entry_counts
from standout.sanitizing.step import Step
from standout.sanitizing.steps import parse_steps, sanitize

COMPOSITION_SEEDS = (3, 4)
"""Added to the seed: the noise of the two releases that are linked with each other."""
PEOPLE, DECOYS = 300, 300


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
        Adversary to protect against, for a table too; default: the headline adversary of the
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
    check_share("limit", limit, one=False)
    if among not in get_args(Among):
        raise ParameterError(f"among must be 'everybody' or 'released', got {among!r:.100}")
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


def _parse_candidates(candidates: Any, release: Release) -> list[Steps]:
    """Candidates as tuples of steps, without duplicates."""
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise ParameterError(
            "candidates must be a list of steps or of sequences of steps, like ['round-time month', …], "
            f"got {type(candidates).__name__}"
        )
    parsed: dict[Steps, None] = {}
    for candidate in candidates:
        several = [candidate] if isinstance(candidate, (str, Step)) else candidate
        steps = tuple(parse_steps(several)) if isinstance(several, Iterable) else ()
        if not steps:
            raise ParameterError("candidates must be steps or sequences of steps, got one without steps")
        for name in {name for step in steps for name in step_columns(step)}:
            release.column_position(name)
        parsed[steps] = None
    if not parsed:
        raise ParameterError("candidates must have at least one candidate; default: built-in steps")
    return list(parsed)


def _composition(runner: CandidateRunner, result: SearchResult, progress: Progress) -> CompositionFindings | None:
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
        if len(_people_in_both(first, second)):
            return composition(first, second, seed=runner.seed, threads=runner.threads)
    except KeyboardInterrupt:
        result.complete = False
    return None


@with_progress
def composition(
    first: Sanitized,
    second: Sanitized,
    *,
    people: int = PEOPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> CompositionFindings:
    """Measure what two releases that were made from the same original reveal together.

    Records of people in the second release are linked to the first by `standout.link`, which knows neither
    the original nor which record represents whom. The result is then compared with the truth.

    Parameters
    ----------
    first, second
        Releases that `standout.sanitize` made from one original, with different seeds and `renumber=True`.
    people
        Number of people whose records are linked; fewer if fewer are in both releases.
    seed
        Seed of the choice of people and of the decoys.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    CompositionFindings
        Shares of identified people, of correct and wrong claims, and of the entries that are shown.

    Raises
    ------
    ParameterError
        If the releases are not sanitized, have different originals, or share nobody.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> one, two = (so.sanitize(release, so.steps.DropEntries(0.2), seed=s, renumber=True) for s in (1, 2))
    >>> so.composition(one, two, people=5).identified.n
    5
    """
    if not (isinstance(first, Sanitized) and isinstance(second, Sanitized)):
        raise ParameterError("first and second must be releases that so.sanitize made")
    if first.original.fingerprint != second.original.fingerprint:
        raise ParameterError("first and second were made from different originals: give two of the same one")
    whole_number("people", people, 1)
    # No two people are represented by the same record of the second.
    order = generator(check_seed(seed), "composition").permutation(_people_in_both(first, second))
    _, first_of_record = np.unique(second.mapping.representatives[order], return_index=True)
    drawn = order[np.sort(first_of_record)][:people]
    if not len(drawn):
        raise ParameterError("first and second have nobody in common")
    is_public = np.zeros(second.n_records, np.bool_)
    is_public[second.mapping.representatives[drawn]] = True
    public = subset(second, is_public)
    table = link(first, public, decoys=DECOYS, seed=seed, threads=threads, progress=progress).table
    row_of = {profile: row for row, profile in enumerate(table["profile"])}
    rows = [row_of[second.records[at]] for at in second.mapping.representatives[drawn].tolist()]
    guesses, records = table["record"].to_list(), first.mapping.representatives[drawn].tolist()
    right = np.array([guesses[row] == first.records[at] for row, at in zip(rows, records, strict=True)])
    claimed = table["claimed"].to_numpy()[rows].astype(np.bool_)
    identified, n = drawn[right], len(drawn)
    found = rate(int(right.sum()), n, 1 / first.n_records)
    claims, wrong = (rate(int((some & claimed).sum()), n) for some in (right, ~right))
    text = (
        "Suppose that two such releases of the same people are published, with different noise and ids. The "
        f"best guess links the two records of a person correctly for {rate_text(found)} of the people in both. The "
        f"adversary claims the right record for {rate_text(claims)} and a wrong one for {rate_text(wrong)}."
    )
    alone = together = None
    if len(identified):
        alone, together = (mean(_shown_shares(some, identified)) for some in ([first], [first, second]))
        text += (
            f" For people who are linked correctly, one release shows {percent(alone.value)} of their "
            f"entries and both together show {percent(together.value)}."
        )
    return CompositionFindings(
        identified=found,
        correct_claims=claims,
        wrong_claims=wrong,
        entries_shown_by_one=alone,
        entries_shown_together=together,
        explanation=text,
    )


def _people_in_both(first: Sanitized, second: Sanitized) -> Ints:
    """People, as positions in the original, whom a record represents in each release."""
    return np.flatnonzero((first.mapping.representatives >= 0) & (second.mapping.representatives >= 0))


def _shown_shares(releases: list[Sanitized], people: Ints) -> Floats:
    """Share of each person's original entries that the releases show: Σ min(entries, shown entries) by item.

    Two releases may show different entries of an item or the same: the larger share counts.
    """
    original = releases[0].original
    entries = entry_counts(original, people, np.arange(original.n_items))
    mappings = [(release, release.mapping) for release in releases]
    shown = sum(entry_counts(release, to.representatives[people], to.item_codes) for release, to in mappings)
    return np.asarray(entries.minimum(shown).sum(axis=1) / entries.sum(axis=1))
