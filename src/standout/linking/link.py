"""Two data sets, one population: whose public profile is which record  [the paper's IMDb section]."""

from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from standout.attack.eccentricity import check_phi
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed
from standout.facts import KnownFacts
from standout.linking.agreement import Agreement
from standout.linking.align import Items, align
from standout.linking.claims import check_budget, check_decoys, nobody, templates
from standout.linking.decoys import KINDS, pool_of, withheld
from standout.linking.evidence import Model
from standout.linking.learn_model import Absent, learned
from standout.linking.links import Asked, Links
from standout.linking.profiles import Profiles, batches
from standout.linking.scores import By, Candidates, Dates, candidates, judged, together
from standout.linking.truth import TruthSource, truth_of
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
    by: By | None = None,
    phi: float | None = None,
    budget: float = 0.01,
    decoys: int = 2000,
    assign: bool = False,
    truth: TruthSource | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Links:
    """Which record of the release each profile of `public` is, where that can be claimed.

    items     how items are aligned: "auto", "id", "title", a CSV file of pairs, or a mapping
    values    how values are aligned: "auto", "same", "quantiles", (scale, shift), or "none"
    review    a CSV file of doubtful pairs of items with decisions
    dates     "use"; "ignore"; or "learn": with and without, whichever stands out more, and decoys likewise
    by        what decides: "evidence", or "eccentricity" as in the paper; that if phi is given
    phi       the eccentricity from which on a record is claimed; from the decoys unless it is given
    budget    the share of people who are not there that may be claimed
    decoys    how many of each kind: people who are not there, attacked the same way
    assign    whether a record can be claimed once only
    truth     who is who: a CSV file with the columns profile and record, a mapping, or a frame

    The same seed gives the same numbers, whatever the threads. Ctrl-C ends with the profiles done so far.

    >>> import polars as pl, standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> found = link(release, release, decoys=200, seed=1)
    >>> found
    <Links: 500 profiles, 499 claims>
    >>> found.table.filter("claimed").filter(pl.col("profile") != pl.col("record")).height
    0
    """
    usual: By = "evidence" if phi is None else "eccentricity"
    way: By = usual if by is None else _one_of("by", by, get_args(By))
    if phi is not None and way == "evidence":
        raise ParameterError("phi is an eccentricity: with by='evidence' it comes from the decoys")
    asked = Asked(
        _one_of("dates", dates, get_args(Dates)), way, None if phi is None else check_phi(phi),
        check_budget(budget), check_decoys(decoys, budget if phi is None else None), bool(assign),
        check_seed(seed), threads,
    )  # fmt: skip
    _check(release, public)
    known_truth = None if truth is None else truth_of(truth, release, public)
    alignment = align(release, public, items=items, values=values, review=review)
    profiles = Profiles(release, public, alignment)
    if not profiles.used.any():
        raise ParameterError("no profile has an item that the release has: nothing can be linked")
    agreement, records = Agreement(release.check()), release.n_records
    absent = _decoys(profiles, agreement, asked, progress) if asked.decoys else None
    own, complete = _profiles(profiles, agreement, asked, progress)
    judge = partial(judged, records=records, by=asked.by)
    model = Model.declared(agreement.strangers(asked.seed), agreement.possible)
    if absent is not None and asked.by == "evidence":
        model = learned(own, absent, judge, model)
    others = None if absent is None else judge(absent.ways, model)
    null = nobody() if absent is None or others is None else absent.null(others)
    return Links(profiles, asked, model, judge(own, model), others, null, known_truth, complete)


def _one_of(name: str, given: Any, allowed: tuple[str, ...]) -> Any:
    if not isinstance(given, str) or given not in allowed:
        raise ParameterError(f"{name} must be {', '.join(allowed[:-1])} or {allowed[-1]}, got {given!r}")
    return given


def _check(release: Release, public: Release) -> None:
    for name, one in (("release", release), ("public", public)):
        if not isinstance(one, Release):
            raise ParameterError(f"{name} must be a Release, got {type(one).__name__}: so.read(…) first")
    if release.n_records < 2:
        raise ParameterError("a release of one record cannot be linked: nobody can stand out")


def _decoys(profiles: Profiles, agreement: Agreement, asked: Asked, progress: Progress) -> Absent:
    """The decoys of both kinds, attacked."""
    after = templates(profiles.used, asked.decoys, asked.seed)
    out = withheld(profiles, after, asked.seed)
    made = [
        (pool_of(profiles, asked.seed).decoys(profiles, after, asked.seed), None, np.arange(len(after))),
        (out.known, out.record, out.record),
    ]
    parts, done, total = [], 0, len(after) * len(made)
    for known, gone, _ in made:
        for low, high in batches(np.diff(known.first)):
            some, away = _some(known, low, high), None if gone is None else gone[low:high]
            parts.append(candidates(agreement, some, asked.dates, away, False, asked.threads))
            done += high - low
            progress("decoys", done, total)
    kind = np.repeat(np.arange(len(KINDS)), len(after))
    person = np.concatenate([one for _, _, one in made])
    slack = 2.0 / profiles.release.n_records if asked.by == "eccentricity" else 0.0
    return Absent(kind, person, together(parts), slack)


def _some(known: KnownFacts, low: int, high: int) -> KnownFacts:
    first = known.first[low : high + 1]
    return known.select(np.arange(low, high), np.arange(first[0], first[-1]), first - first[0])


def _profiles(
    profiles: Profiles, agreement: Agreement, asked: Asked, progress: Progress
) -> tuple[list[Candidates], bool]:
    """The profiles, attacked; and whether all of them were."""
    parts: list[list[Candidates]] = []
    done, total = 0, len(profiles)
    try:
        for low, high in batches(profiles.used):
            known = profiles.known(np.arange(low, high))
            parts.append(candidates(agreement, known, asked.dates, None, True, asked.threads))
            done = high
            progress("linking", done, total)
    except KeyboardInterrupt:
        if not parts:
            raise
    return together(parts), done == total
