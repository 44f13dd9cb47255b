"""Linking two data sets: which record each public profile belongs to [the paper's IMDb section]."""

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from standout.attack.any_attack import AnyAttack, check_attack
from standout.attack.eccentricity import check_phi
from standout.attack.likelihood import Likelihood
from standout.cluster.on_client import on_client
from standout.core.errors import ParameterError
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.facts import KnownFacts
from standout.findings.links import ClaimMeasure, Dates, LinkSettings
from standout.ingest.as_release import as_release
from standout.linking.agreement import Agreement
from standout.linking.align import align
from standout.linking.best_records import BestRecords, concatenate
from standout.linking.claims import check_budget, check_decoys, no_decoys
from standout.linking.decoy_search import draw_decoys
from standout.linking.evidence import EvidenceModel
from standout.linking.item_alignment import Items
from standout.linking.learn_model import learn_model
from standout.linking.links import Links
from standout.linking.profiles import Profiles, batches
from standout.linking.record_search import WITH_DATES, RecordSearch
from standout.linking.truth import Truth, TruthSource, read_truth
from standout.linking.value_scales import Values
from standout.release.model import Release

__all__ = ["link"]

LEARNING_FACTS, DECOY_FACTS = 50_000, 25_000
"""The model is learned from profiles, and decoys of each kind, that have about this many facts together."""


@with_progress
@on_client
def link(
    release: Release | Any,
    public: Release | Any,
    *,
    items: Items = "auto",
    values: Values = "auto",
    review: str | Path | None = None,
    dates: Dates = "use",
    by: ClaimMeasure | None = None,
    phi: float | None = None,
    attack: AnyAttack | None = None,
    budget: float = 0.01,
    decoys: int = 2000,
    assign: bool = False,
    truth: TruthSource | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
) -> Links:
    """Link public profiles to records of a release, where a claim can be made.

    Each profile is attacked with `Likelihood`, whose error model is learned from the profiles themselves.
    A record is claimed only if it matches more strongly than decoys do: profiles of absent people.
    The same seed gives the same numbers with any number of threads. Ctrl-C returns the profiles linked so
    far.

    Parameters
    ----------
    release : Release, path or frame
        The data set that would be published. A path or frame is read with the default options of
        `standout.read`.
    public : Release, path or frame
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
    attack : Likelihood, ScoreboardRH or an attack of your own, optional
        The attack that finds the best record of each profile; nothing is learned. For `Likelihood` the
        evidence decides about claims, for other attacks the eccentricity of their scores.
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
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).
    client : distributed.Client, optional
        Its workers search parts of a large release, if it is an open index that they can read at the same
        path. It changes no result. Default: threads of this process.

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
    <Links: 500 profiles, 499 claims, less than 0.1 of them likely false>
    >>> links.table.filter("claimed").filter(pl.col("profile") != pl.col("record")).height
    0
    """
    measure = _check_measure(by, phi, None if attack is None else check_attack(attack))
    settings = LinkSettings(
        dates=_one_of("dates", dates, get_args(Dates)),
        by=measure,
        attack=_attack_name(attack, measure),
        phi=None if phi is None else check_phi(phi),
        budget=check_budget(budget),
        decoys=check_decoys(decoys, budget if phi is None else None),
        assign=bool(assign),
        seed=check_seed(seed),
    )
    release, public = as_release(release), as_release(public, "public")
    _check_release(release)
    known_truth = None if truth is None else read_truth(truth, release, public)
    alignment = align(release, public, items=items, values=values, review=review)
    profiles = Profiles(release, public, alignment)
    if not profiles.used.any():
        raise ParameterError("no profile has an item of the release: nothing can be linked")
    chosen = WITH_DATES if attack is None and measure == "eccentricity" else attack
    return _link(profiles, settings, chosen, known_truth, threads, progress)


def _link(
    profiles: Profiles,
    settings: LinkSettings,
    attack: AnyAttack | None,
    truth: Truth | None,
    threads: int | None,
    progress: Progress,
) -> Links:
    agreement = Agreement(profiles.release.check())
    model = EvidenceModel.prior(agreement.stranger_counts(settings.seed), agreement.possible)
    search = RecordSearch(agreement, settings.dates, model, attack, threads)
    decoys = draw_decoys(profiles, settings) if settings.decoys else None
    if decoys is not None and attack is None:
        sample = decoys.sample(DECOY_FACTS)
        model = learn_model(_learning_profiles(profiles, settings.seed), sample.strengths, search, progress)
        search = replace(search, model=model)
    best_of_decoys = None if decoys is None else decoys.best(search, progress)
    best, complete = _best_of_profiles(profiles, search, progress)
    return Links(
        profiles=profiles,
        settings=settings,
        model=model,
        best=best,
        best_of_decoys=best_of_decoys,
        decoy_strengths=no_decoys()
        if decoys is None or best_of_decoys is None
        else decoys.strengths_of(best_of_decoys),
        truth=truth,
        complete=complete,
    )


def _one_of(name: str, given: Any, allowed: tuple[str, ...]) -> Any:
    if not isinstance(given, str) or given not in allowed:
        raise ParameterError(f"{name} must be {', '.join(allowed[:-1])} or {allowed[-1]}, got {given!r}")
    return given


def _check_measure(by: Any, phi: float | None, attack: AnyAttack | None) -> ClaimMeasure:
    default: ClaimMeasure = "evidence" if phi is None else "eccentricity"
    if attack is not None:
        default = "evidence" if isinstance(attack, Likelihood) else "eccentricity"
    measure: ClaimMeasure = default if by is None else _one_of("by", by, get_args(ClaimMeasure))
    if attack is not None and measure != default:
        raise ParameterError(f"by must be {default} with {type(attack).__name__} as attack, got {measure}")
    if phi is not None and measure == "evidence":
        raise ParameterError(
            "phi is an eccentricity and cannot be used with by='evidence' or Likelihood: leave one out"
        )
    return measure


def _attack_name(attack: AnyAttack | None, measure: ClaimMeasure) -> str:
    if attack is not None:
        return type(attack).__name__
    return "likelihood" if measure == "evidence" else "paper"


def _check_release(release: Release) -> None:
    if release.n_records < 2:
        raise ParameterError(
            "release must have at least two records, got one: linking must choose between records"
        )


def _learning_profiles(profiles: Profiles, seed: int) -> list[KnownFacts]:
    """The facts of all profiles or, if there are many facts, of random profiles."""
    order = generator(seed, "learning").permutation(np.flatnonzero(profiles.used > 0))
    enough = int(np.searchsorted(np.cumsum(profiles.used[order]), LEARNING_FACTS)) + 1
    chosen = np.sort(order[:enough])
    return [profiles.known(chosen[low:high]) for low, high in batches(profiles.used[chosen])]


def _best_of_profiles(
    profiles: Profiles, search: RecordSearch, progress: Progress
) -> tuple[BestRecords, bool]:
    """The best records of the profiles, and whether all profiles were attacked."""
    best: list[BestRecords] = []
    done, total = 0, len(profiles)
    try:
        for low, high in batches(profiles.used):
            best.append(search.find(profiles.known(np.arange(low, high))))
            done = high
            progress("linking", done, total)
    except KeyboardInterrupt:
        if not best:
            raise
    return concatenate(best), done == total
