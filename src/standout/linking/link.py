"""Linking two data sets: which record each public profile belongs to [the paper's IMDb section]."""

from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from standout.attack.eccentricity import check_phi
from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed
from standout.facts import KnownFacts
from standout.findings.links import ClaimMeasure, Dates, LinkSettings
from standout.linking.agreement import Agreement
from standout.linking.align import align
from standout.linking.best_records import best_records
from standout.linking.candidates import Candidates, concatenate, find_candidates
from standout.linking.claims import check_budget, check_decoys, draw_templates, no_decoys
from standout.linking.decoys import KINDS, fact_pool, withhold
from standout.linking.evidence import EvidenceModel
from standout.linking.item_alignment import Items
from standout.linking.learn_model import DecoyCandidates, learn_model
from standout.linking.links import Links
from standout.linking.profiles import Profiles, batches
from standout.linking.truth import Truth, TruthSource, read_truth
from standout.linking.value_scales import Values
from standout.release.model import Release

__all__ = ["link"]


def link(
    release: Release,
    public: Release,
    *,
    items: Items = "auto",
    values: Values = "auto",
    review: str | Path | None = None,
    dates: Dates = "use",
    by: ClaimMeasure | None = None,
    phi: float | None = None,
    budget: float = 0.01,
    decoys: int = 2000,
    assign: bool = False,
    truth: TruthSource | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Links:
    """Link public profiles to records of a release, where a claim can be made.

    Each profile is attacked with Algorithm 1B of the paper, and the best candidates are weighed by evidence.
    A record is claimed only if it matches more strongly than decoys do: profiles of absent people.
    The same seed gives the same numbers with any number of threads. Ctrl-C returns the profiles linked so
    far.

    Parameters
    ----------
    release : Release
        The data set that would be published.
    public : Release
        The public profiles: each of its records is one profile.
    items : {"auto", "id", "title"}, path-like or mapping, default "auto"
        How items are aligned; a CSV file or a mapping goes from public ids to ids of the release.
    values : {"auto", "same", "quantiles", "none"} or (float, float), default "auto"
        How values are aligned; a pair is (scale, shift).
    review : path-like, optional
        A CSV file of doubtful pairs of items with decisions.
    dates : {"use", "ignore", "learn"}, default "use"
        Whether dates are compared. "learn" tries both for each profile and keeps the stronger match; decoys
        make the same choice.
    by : {"evidence", "eccentricity"}, optional
        The measure that decides about claims. Default: "eccentricity" as in the paper if `phi` is given,
        otherwise "evidence".
    phi : float, optional
        Minimum eccentricity for a claim. Default: determined by the decoys.
    budget : float, default 0.01
        The largest share of absent people that may be claimed.
    decoys : int, default 2000
        Number of decoys of each kind.
    assign : bool, default False
        Whether only one profile may claim a record.
    truth : path-like, mapping or DataFrame, optional
        The record of each profile, if known: a CSV file or frame with the columns profile and record.
    seed : int, default 0
        Seed of everything random.
    threads : int, optional
        Number of threads. Default: all cores.
    progress : callable, optional
        Called with the stage, the number of profiles done, and their total.

    Returns
    -------
    Links
        The best record of each profile, the claims, and what they are worth.

    Raises
    ------
    ParameterError
        If a parameter is not allowed, or no profile has an item of the release.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> links = link(release, release, decoys=200, seed=1)
    >>> links
    <Links: 500 profiles, 499 claims>
    >>> links.table.filter("claimed").filter(pl.col("profile") != pl.col("record")).height
    0
    """
    settings = LinkSettings(
        dates=_one_of("dates", dates, get_args(Dates)),
        by=_check_measure(by, phi),
        phi=None if phi is None else check_phi(phi),
        budget=check_budget(budget),
        decoys=check_decoys(decoys, budget if phi is None else None),
        assign=bool(assign),
        seed=check_seed(seed),
    )
    _check_releases(release, public)
    known_truth = None if truth is None else read_truth(truth, release, public)
    alignment = align(release, public, items=items, values=values, review=review)
    profiles = Profiles(release, public, alignment)
    if not profiles.used.any():
        raise ParameterError("no profile has an item of the release: nothing can be linked")
    return _link(profiles, settings, known_truth, threads, progress)


def _link(
    profiles: Profiles, settings: LinkSettings, truth: Truth | None, threads: int | None, progress: Progress
) -> Links:
    agreement = Agreement(profiles.release.check())
    decoy_candidates = (
        _decoy_candidates(profiles, agreement, settings, threads, progress) if settings.decoys else None
    )
    candidates, complete = _profile_candidates(profiles, agreement, settings, threads, progress)
    choose_best = partial(best_records, records=profiles.release.n_records, by=settings.by)
    model = EvidenceModel.prior(agreement.stranger_counts(settings.seed), agreement.possible)
    if decoy_candidates is not None and settings.by == "evidence":
        model = learn_model(candidates, decoy_candidates, choose_best, model)
    best_of_decoys = None if decoy_candidates is None else choose_best(decoy_candidates.variants, model)
    return Links(
        profiles=profiles,
        settings=settings,
        model=model,
        best=choose_best(candidates, model),
        best_of_decoys=best_of_decoys,
        decoy_strengths=no_decoys()
        if decoy_candidates is None or best_of_decoys is None
        else decoy_candidates.strengths(best_of_decoys),
        truth=truth,
        complete=complete,
    )


def _one_of(name: str, given: Any, allowed: tuple[str, ...]) -> Any:
    if not isinstance(given, str) or given not in allowed:
        raise ParameterError(f"{name} must be {', '.join(allowed[:-1])} or {allowed[-1]}, got {given!r}")
    return given


def _check_measure(by: Any, phi: float | None) -> ClaimMeasure:
    default: ClaimMeasure = "evidence" if phi is None else "eccentricity"
    measure: ClaimMeasure = default if by is None else _one_of("by", by, get_args(ClaimMeasure))
    if phi is not None and measure == "evidence":
        raise ParameterError(
            "phi is an eccentricity and cannot be used with by='evidence': leave one of them out"
        )
    return measure


def _check_releases(release: Release, public: Release) -> None:
    for name, given in (("release", release), ("public", public)):
        if not isinstance(given, Release):
            raise ParameterError(
                f"{name} must be a Release, got {type(given).__name__}: read it with so.read(…)"
            )
    if release.n_records < 2:
        raise ParameterError(
            "release must have at least two records, got one: linking must choose between records"
        )


def _decoy_candidates(
    profiles: Profiles, agreement: Agreement, settings: LinkSettings, threads: int | None, progress: Progress
) -> DecoyCandidates:
    """The decoys of both kinds, and their candidate records."""
    templates = draw_templates(profiles.used, settings.decoys, settings.seed)
    withheld = withhold(profiles, templates, settings.seed)
    recombined = fact_pool(profiles, settings.seed).recombine(profiles, templates, settings.seed)
    kinds: list[tuple[KnownFacts, Ints | None]] = [(recombined, None), (withheld.known, withheld.record)]
    candidate_batches: list[list[Candidates]] = []
    done, total = 0, len(templates) * len(kinds)
    for known, removed in kinds:
        for low, high in batches(np.diff(known.first)):
            candidate_batches.append(
                find_candidates(
                    agreement,
                    _facts_of_people(known, low, high),
                    settings.dates,
                    removed=None if removed is None else removed[low:high],
                    full=False,
                    threads=threads,
                )
            )
            done += high - low
            progress("decoys", done, total)
    return DecoyCandidates(
        kind=np.repeat(np.arange(len(KINDS)), len(templates)),
        person=np.concatenate([np.arange(len(templates)), withheld.record]),
        variants=concatenate(candidate_batches),
        slack=2.0 / profiles.release.n_records if settings.by == "eccentricity" else 0.0,
    )


def _facts_of_people(known: KnownFacts, low: int, high: int) -> KnownFacts:
    """The facts of the people from `low` up to `high`."""
    first = known.first[low : high + 1]
    return known.select(np.arange(low, high), np.arange(first[0], first[-1]), first - first[0])


def _profile_candidates(
    profiles: Profiles, agreement: Agreement, settings: LinkSettings, threads: int | None, progress: Progress
) -> tuple[list[Candidates], bool]:
    """The candidate records of the profiles, and whether all profiles were attacked."""
    candidate_batches: list[list[Candidates]] = []
    done, total = 0, len(profiles)
    try:
        for low, high in batches(profiles.used):
            known = profiles.known(np.arange(low, high))
            candidate_batches.append(find_candidates(agreement, known, settings.dates, threads=threads))
            done = high
            progress("linking", done, total)
    except KeyboardInterrupt:
        if not candidate_batches:
            raise
    return concatenate(candidate_batches), done == total
