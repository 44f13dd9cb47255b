"""Linking two data sets: which record each public profile belongs to, and what claims are worth [the IMDb section]."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from standout._version import __version__
from standout.attack.any_attack import AnyAttack, check_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.cluster.workers import on_client
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, SourceError, check_share, finite_number, not_one_of, whole_number
from standout.core.files import write_atomically
from standout.core.json_files import JsonObject
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.text import count
from standout.data.export import FrameExport, ResultView, inert
from standout.data.labels import id_text
from standout.data.release import Release
from standout.evaluate.claims import ROUNDING
from standout.evaluate.estimates import percent, rate, rate_text
from standout.findings import link_and_advise as schema
from standout.findings.json_types import json_text, to_json_object
from standout.findings.link_and_advise import ClaimMeasure, Dates, LinkFindings, LinkSettings, TruthFindings
from standout.ingest.read import as_release
from standout.linking import decoys as decoys_of
from standout.linking.align import Alignment, Items, Values, align, read_columns
from standout.linking.decoys import KINDS, DecoyStrengths, Profiles, absent_share, batches, draw_decoys, learn_model
from standout.linking.records import PARTS, Agreement, BestRecords, EvidenceModel, RecordSearch, concatenate

TruthSource = str | PathLike[str] | Mapping[str, str] | pl.DataFrame
MEASURES: tuple[ClaimMeasure, ...] = get_args(ClaimMeasure)
MAX_DECOYS = 1_000_000


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
) -> "Links":
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
    client : distributed.Client, optional
        Its workers search parts of a large release, if it is an open index that they can read at the same
        path. It changes no result. Default: threads of this process.

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
    default: ClaimMeasure = "evidence" if phi is None else "eccentricity"
    if attack is not None:
        default = "evidence" if isinstance(check_attack(attack), Likelihood) else "eccentricity"
    for name, given, allowed in (("by", by or default, MEASURES), ("dates", dates, get_args(Dates))):
        if not isinstance(given, str) or given not in allowed:
            raise ParameterError(not_one_of(name, given, allowed))
    measure: ClaimMeasure = by or default
    if attack is not None and measure != default:
        raise ParameterError(f"by must be {default} with {type(attack).__name__} as attack, got {measure}")
    if phi is not None and measure == "evidence":
        raise ParameterError(
            "phi is an eccentricity and cannot be used with by='evidence' or Likelihood: leave one out"
        )
    check_share("budget", budget, one=False)
    n_decoys, least = whole_number("decoys", decoys, 0), 0 if phi is not None else math.ceil(1 / budget - 1e-9) - 1
    if n_decoys > MAX_DECOYS:
        raise ParameterError(f"decoys must be a whole number up to {MAX_DECOYS:,}, got {n_decoys:,}")
    if n_decoys < least:  # a φ for a budget needs 1/budget − 1 of them
        raise ParameterError(
            f"decoys must be at least {least:,} for a budget of {budget:g}, got {decoys:,}: use more decoys, or set phi"
        )
    default_name = "likelihood" if measure == "evidence" else "paper"
    settings = LinkSettings(
        dates=dates,
        by=measure,
        attack=default_name if attack is None else type(attack).__name__,
        phi=None if phi is None else finite_number("phi", phi),
        budget=float(budget),
        decoys=n_decoys,
        assign=bool(assign),
        seed=check_seed(seed),
    )
    release, public = as_release(release), as_release(public, "public")
    if release.n_records < 2:
        raise ParameterError("release must have at least two records, got one: linking must choose between records")
    known_truth = None if truth is None else read_truth(truth, release, public)
    alignment = align(release, public, items=items, values=values, review=review)
    profiles = Profiles(release, public, alignment)
    if not profiles.used.any():
        raise ParameterError("no profile has an item of the release: nothing can be linked")
    chosen = ScoreboardRH() if attack is None and measure == "eccentricity" else attack
    agreement = Agreement(release.check())
    model = EvidenceModel.prior(agreement.stranger_counts(settings.seed), agreement.possible)
    search = RecordSearch(agreement, settings.dates, model, chosen, threads)
    strengths = DecoyStrengths(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    decoys_table = pl.DataFrame(schema={"kind": pl.String} | dict.fromkeys(MEASURES, pl.Float64))
    if settings.decoys:
        drawn = draw_decoys(profiles, settings)
        if chosen is None:
            search = learn_model(profiles, drawn, search, settings.seed, progress)
        best_of_decoys = drawn.best(search, progress)
        strengths = drawn.strengths(best_of_decoys)
        kinds = [KINDS[kind] for kind in strengths.kind.tolist()]
        decoys_table = pl.DataFrame({"kind": kinds} | {name: getattr(best_of_decoys, name) for name in MEASURES})
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
    linked = concatenate(best)
    return Links(profiles, settings, search.model, linked, decoys_table, strengths, known_truth, done == total)


# One profile for each record: of the profiles that claim the same record, the strongest keeps it.


def rival_claims(record: Ints, claimed: Bools) -> Ints:
    """How many other profiles claim the same record; 0 where no record is claimed."""
    counts = np.bincount(record[claimed], minlength=int(record.max(initial=0)) + 1)
    return np.where(claimed, counts[np.maximum(record, 0)] - 1, 0)


def one_to_one(record: Ints, strength: Floats, claimed: Bools) -> tuple[Bools, Bools]:
    """Which claims are kept and which tie: for each record the strongest claim is kept.

    If the two strongest claims are equal up to rounding, neither is kept: the record could be either's.

    >>> record, strength = np.array([5, 5, 7, 7, 9]), np.array([3.0, 8.0, 4.0, 4.0, 2.0])
    >>> [flags.tolist() for flags in one_to_one(record, strength, np.ones(5, bool))]
    [[False, True, False, False, True], [False, False, True, True, False]]
    """
    strongest = np.zeros(int(record.max(initial=0)) + 1)
    np.maximum.at(strongest, record[claimed], strength[claimed])
    leads = claimed & (strength * (1.0 + ROUNDING) >= strongest[np.maximum(record, 0)])
    tied = rival_claims(record, leads) > 0
    return leads & ~tied, leads & tied


# The known truth: which profile belongs to which record, from a file, a mapping or a frame.


@dataclass(frozen=True, eq=False)
class Truth:
    """The position of each profile's record, -1 for none; the number of pairs, and of unknown ids in them."""

    record: Ints
    pairs: int
    unknown_profiles: int
    unknown_records: int


def read_truth(source: TruthSource, release: Release, public: Release) -> Truth:
    """The truth as record positions; profiles that no pair names, or without a record, are absent."""
    names, pairs = ("profile", "record"), list[Any]()
    if isinstance(source, Mapping):
        pairs = list(source.items())
    elif isinstance(source, pl.DataFrame):
        if not {*names} <= {*source.columns}:
            raise SourceError("truth: the columns profile, record are required")
        pairs = source.select(names).rows()
    elif isinstance(source, (str, PathLike)):
        pairs = [cells for _, cells in read_columns(Path(source), names)]
    else:
        raise ParameterError(f"truth must be a CSV file, a mapping or a frame, got {type(source).__name__}")
    if not pairs:
        raise ParameterError("truth has no pairs: give a CSV file with the columns profile and record")
    try:
        profiles = [public.records.find(id_text(profile, "profile")) for profile, _ in pairs]
        records = [-1 if own in (None, "") else release.records.find(id_text(own)) for _, own in pairs]
    except ParameterError as error:
        raise ParameterError(f"truth: {error}") from None
    known = [(profile, own) for profile, own in zip(profiles, records, strict=True) if profile is not None]
    if len(dict(known)) < len(known):
        raise ParameterError("truth names a profile twice: keep one pair for each profile")
    unknown_profiles, unknown_records = len(pairs) - len(known), sum(own is None for _, own in known)
    record = np.full(public.n_records, -1, np.int64)
    for profile, own in known:
        record[profile] = -1 if own is None else own
    if unknown_profiles + unknown_records == len(pairs):
        raise ParameterError(
            f"none of the {len(pairs):,} pairs of truth names an existing profile and an existing record: "
            "ids are text, so 007 is not 7"
        )
    return Truth(record, len(pairs), unknown_profiles, unknown_records)


EDGES = np.array([0.0, *(0.25 * 1.5**k for k in range(25))])
"""The bins of histograms grow by half; the first one holds everything below 0."""
POINTS = 400
BUDGETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Links(ResultView, FrameExport):
    """The record that each profile was linked to, and what the claims are worth.

    If linking was interrupted (`complete` is False), the first `len(links)` profiles were linked. `decoys` has the
    kind, evidence and eccentricity of each decoy.
    """

    profiles: Profiles
    settings: LinkSettings
    model: EvidenceModel
    best: BestRecords
    decoys: pl.DataFrame
    decoy_strengths: DecoyStrengths
    truth: Truth | None
    complete: bool

    def __repr__(self) -> str:
        interrupted = "" if self.complete else ", interrupted"
        false = self.likely_false_claims
        about = "less than 0.1" if false < 0.05 else f"about {false:.1f}"
        worth = f", {about} of them likely false" if self.claims and math.isfinite(false) else ""
        return f"<Links: {len(self):,} profiles, {self.claims:,} claims{worth}{interrupted}>"

    def __len__(self) -> int:
        return len(self.best)

    @property
    def alignment(self) -> Alignment:
        """How items and values were aligned."""
        return self.profiles.alignment

    @property
    def facts(self) -> Ints:
        """How many facts of each profile were used."""
        return self.profiles.used[: len(self)]

    @cached_property
    def phi(self) -> float:
        """The minimum strength of a claim: as given, or from the decoys; ∞ if they are too few."""
        given = self.settings.phi
        return self.decoy_strengths.phi(self.settings.budget) if given is None else given

    @cached_property
    def _assigned(self) -> tuple[Bools, Bools, Ints]:
        """Which claims are made, which are dropped as ties, and how many rivals each had."""
        wanted = np.asarray(self.best.claimable & (self.best.strength >= self.phi))
        rivals = rival_claims(self.best.record, wanted)
        if not self.settings.assign:
            return wanted, np.zeros(len(self), np.bool_), rivals
        return *one_to_one(self.best.record, self.best.strength, wanted), rivals

    @property
    def claimed(self) -> Bools:
        """Which profiles claim a record."""
        return self._assigned[0]

    @property
    def claims(self) -> int:
        """How many profiles claim a record."""
        return int(np.count_nonzero(self.claimed))

    @property
    def tied_claims(self) -> int:
        """How many claims were dropped because another claim on the record is equally strong (`assign`)."""
        return int(np.count_nonzero(self._assigned[1]))

    @property
    def contested(self) -> Ints:
        """How many other profiles claim the same record, before `assign` drops any claim."""
        return self._assigned[2]

    @cached_property
    def false_claim(self) -> Floats:
        """How likely an absent person would match as strongly as each profile; NaN without decoys."""
        if not len(self.decoy_strengths):
            return np.full(len(self), math.nan)
        return np.where(self.best.record >= 0, self.decoy_strengths.false_claim(self.best.strength), 1.0)

    @property
    def absent_share(self) -> float:
        """The estimated share of profiles whose people are absent from the release; NaN without decoys."""
        return absent_share(self.false_claim[self.facts > 0]) if len(self.decoy_strengths) else math.nan

    @property
    def expected_false_claims(self) -> float:
        """How many claims there would be if all profiles were absent: an upper limit for false claims."""
        tried = int(np.count_nonzero(self.facts))
        return self.decoy_strengths.expected_claims(self.phi, tried) if len(self.decoy_strengths) else math.nan

    @property
    def likely_false_claims(self) -> float:
        """The same for the estimated share of absent profiles only, and at most the number of claims."""
        return min(self.expected_false_claims * self.absent_share, float(self.claims))  # NaN if the first is

    @property
    def is_present(self) -> Bools | None:
        """Which profiles belong to a person of the release; None without truth."""
        return None if self.truth is None else np.asarray(self.truth.record[: len(self)] >= 0)

    @cached_property
    def identified(self) -> Bools | None:
        """Which profiles' best record is the right one; None without truth."""
        if self.truth is None:
            return None
        own_record = self.truth.record[: len(self)]
        return np.asarray((own_record >= 0) & (self.best.record == own_record) & (self.best.ties == 1))

    @cached_property
    def truth_findings(self) -> TruthFindings | None:
        """Precision, recall and the share of absent profiles that are claimed; None without truth."""
        truth, present, identified = self.truth, self.is_present, self.identified
        if truth is None or present is None or identified is None:
            return None
        correct, n_present = int((identified & self.claimed).sum()), int(present.sum())
        return TruthFindings(
            precision=rate(correct, self.claims),
            recall=rate(correct, n_present),
            absent_claims=rate(int((~present & self.claimed).sum()), len(present) - n_present),
            pairs=truth.pairs,
            unknown_profiles=truth.unknown_profiles,
            unknown_records=truth.unknown_records,
            present=int(np.count_nonzero(truth.record >= 0)),
        )

    precision = property(lambda self: self.truth_findings and self.truth_findings.precision)
    recall = property(lambda self: self.truth_findings and self.truth_findings.recall)
    absent_claims = property(lambda self: self.truth_findings and self.truth_findings.absent_claims)

    @cached_property
    def curve(self) -> pl.DataFrame:
        """With truth: phi, claims, correct_claims, precision, recall, absent_claims."""
        levels = np.unique(self.best.strength[self._claimable()])
        phi = np.concatenate([[0.0], np.nextafter(levels * (1.0 + ROUNDING), np.inf)])
        phi = phi[np.unique(np.linspace(0, len(phi) - 1, min(POINTS, len(phi))).astype(np.int64))]
        return self._rates("phi", phi, phi)

    def _claimable(self) -> Bools:
        """Which profiles can claim a record at all, at some φ."""
        claimable = self.best.claimable
        return one_to_one(self.best.record, self.best.strength, claimable)[0] if self.settings.assign else claimable

    @cached_property
    def by_budget(self) -> pl.DataFrame:
        """With truth: budget, claims, correct_claims, precision, recall, absent_claims."""
        phis = {budget: self.decoy_strengths.phi(budget) for budget in BUDGETS}
        phis = {budget: phi for budget, phi in phis.items() if np.isfinite(phi)}
        return self._rates("budget", np.array(list(phis)), np.array(list(phis.values())))

    def _rates(self, name: str, setting: Floats, phi: Floats) -> pl.DataFrame:
        """Precision and recall of the claims at each φ."""
        present, identified = self.is_present, self.identified
        if present is None or identified is None:
            raise ParameterError("precision and recall need the truth: call link(…, truth=…)")

        claimable = self._claimable()

        def claimed(group: Bools | bool) -> Ints:
            ordered = np.sort(self.best.strength[claimable & group])
            return np.asarray(len(ordered) - np.searchsorted(ordered, phi), np.int64)

        claims, correct, absent = claimed(True), claimed(identified), claimed(~present)
        precision = [int(c) / int(n) if n else None for c, n in zip(correct, claims, strict=True)]
        columns = {
            name: setting,
            "claims": claims,
            "correct_claims": correct,
            "precision": pl.Series(precision, dtype=pl.Float64),
            "recall": correct / max(int(present.sum()), 1),
            "absent_claims": absent / max(int((~present).sum()), 1),
        }
        return pl.DataFrame(columns)

    @cached_property
    def by_facts_used(self) -> pl.DataFrame:
        """Profiles and claims by number of facts used (1, 2–3, 4–7 …); with truth also those present and correct."""
        groups = {"profiles": self.facts > 0, "claims": self.claimed}
        if self.is_present is not None and self.identified is not None:
            groups |= {"present": self.is_present, "correct_claims": self.claimed & self.identified}
        least = np.ldexp(1.0, np.frexp(self.facts)[1] - 1).astype(np.int64)
        profiles = pl.DataFrame({"min_facts": least, "max_facts": self.facts, **groups}).filter("profiles")
        counts = pl.col(*groups).sum().cast(pl.Int64)
        return profiles.group_by("min_facts").agg(pl.col("max_facts").max(), counts).sort("min_facts")

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each profile, in the order of `public`; `contested` is the number of rival claims.

        by_values, by_dates and by_items are the lead over the runner-up: evidence in bits, or σ.
        """
        best, profiles, n = self.best, self.profiles, len(self)

        def ids(positions: Ints) -> list[str | None]:
            return [profiles.release.records[position] if position >= 0 else None for position in positions.tolist()]

        has_lead = (best.strength > 0) & best.margin.any(axis=1)
        strongest = zip(np.argmax(best.margin, axis=1).tolist(), has_lead.tolist(), strict=True)
        columns: dict[str, Any] = {
            "profile": [profiles.public.records[profile] for profile in range(n)],
            "record": ids(best.record),
            "runner_up": ids(best.runner_up),
            **{name: getattr(best, name) for name in ("evidence", "eccentricity", "score", "runner_up_score", "ties")},
            "bits_left": best.bits,
            "facts_used": self.facts,
            "facts_unknown": profiles.unknown[:n],
            "claimed": self.claimed,
            "false_claim": pl.Series(self.false_claim).fill_nan(None),
            "contested": self.contested,
            **{f"by_{part}": best.margin[:, column] for column, part in enumerate(PARTS)},
            "strongest_part": [PARTS[part] if leads else None for part, leads in strongest],
            "dates": pl.Series(np.where(best.dated, "used", "ignored").tolist(), dtype=pl.String),
        }
        if self.identified is not None:
            columns["identified"] = self.identified
        return pl.DataFrame(columns, schema_overrides={"strongest_part": pl.String})

    def histogram(self, measure: ClaimMeasure = "eccentricity") -> pl.DataFrame:
        """Count profiles and decoys by the strength of their best match; bins grow by half, the first is below 0."""
        if measure not in MEASURES:
            raise ParameterError(not_one_of("measure", measure, MEASURES))

        def counts(numbers: Floats) -> list[int]:
            positive = np.clip(numbers[numbers >= 0], 0, EDGES[-1])
            return [int((numbers < 0).sum()), *np.histogram(positive, EDGES)[0].tolist()]

        strength: Floats = getattr(self.best, measure)
        groups = {
            "claims": strength[self.claimed],
            "others": strength[~self.claimed & (self.best.record >= 0)],
            **{kind: self.decoys.filter(kind=kind)[measure].to_numpy() for kind in KINDS},
        }
        bins: dict[str, Any] = {"bin_start": [None, *EDGES[:-1].tolist()], "bin_end": EDGES}
        return pl.DataFrame(bins | {name: counts(numbers) for name, numbers in groups.items()})

    @property
    def summary(self) -> str:
        """What was found, in a few sentences that name nobody."""
        return " ".join(_summary_sentences(self))

    def findings(self, data: str = "", public: str = "") -> LinkFindings:
        """What was found, with names for the two data sets, but without the table: it names nobody."""

        def size(data: Release) -> tuple[str, int, int, int]:
            return data.fingerprint, data.n_records, data.n_items, data.n_entries

        has_truth, has_decoys = self.truth is not None, len(self.decoy_strengths) > 0
        margin = self.best.margin[self.claimed & self.best.margin.any(axis=1)]
        strongest = np.bincount(np.argmax(margin, axis=1), minlength=len(PARTS)).tolist()

        def finite(number: float) -> float | None:
            return float(number) if math.isfinite(number) else None

        def rows(kind: Any, frame: pl.DataFrame) -> tuple[Any, ...]:
            return tuple(kind(**row) for row in frame.to_dicts())

        return LinkFindings(
            summary=self.summary,
            complete=self.complete,
            release=schema.ReleaseSize(data, *size(self.profiles.release)),
            public=schema.PublicSize(public, *size(self.profiles.public)),
            alignment=schema.AlignmentFindings(self.alignment.explanation, self.alignment.counts),
            settings=self.settings,
            phi=finite(self.phi),
            profiles=len(self),
            profiles_with_facts=int((self.facts > 0).sum()),
            claims=self.claims,
            expected_false_claims=finite(self.expected_false_claims),
            likely_false_claims=finite(self.likely_false_claims),
            tied_claims=self.tied_claims,
            contested_claims=int((self.contested > 0).sum()),
            strongest_parts=schema.StrongestParts(**dict(zip(PARTS, strongest, strict=True))),
            by_facts_used=rows(schema.FactsGroup, self.by_facts_used),
            histograms=schema.Histograms(**{n: rows(schema.HistogramBin, self.histogram(n)) for n in MEASURES}),
            truth=self.truth_findings,
            curve=rows(schema.PhiPoint, self.curve) if has_truth else None,
            by_budget=rows(schema.BudgetPoint, self.by_budget) if has_truth and has_decoys else None,
            limits=LIMITS,
            version=__version__,
        )

    def to_dict(self) -> JsonObject:
        """The findings and the table, which names records, as a JSON object."""
        rows: list[Any] = self.table.to_dicts()
        return to_json_object(self.findings()) | {"table": rows}

    def to_csv(self, path: str | Path) -> None:
        """Write the table as a CSV file that only its owner can read: it names records."""
        write_atomically(Path(path), inert(self.table).write_csv, private=True)

    def to_parquet(self, path: str | Path) -> None:
        """Write the table as a Parquet file that only its owner can read: it names records."""
        write_atomically(Path(path), self.table.write_parquet, private=True)

    def to_json(self, path: str | Path) -> None:
        """Write findings and table as a JSON file that only its owner can read: it names records."""
        text = json_text(self.to_dict())
        write_atomically(Path(path), lambda file: file.write(text.encode()), private=True)

    @with_progress
    def to_html(
        self, path: str | Path, data: str = "", public: str = "", *, progress: ProgressOption = no_progress
    ) -> None:
        """Write a short report as one HTML file. It names nobody."""
        from standout.report.pages import linking_page as page  # loads Altair

        findings = self.findings(data, public)
        text = page(findings, report_text(findings))
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def _shown(self) -> LinkFindings:
        return self.findings()


# Every sentence about a linking.


LIMITS = (
    "A claim is a statistical conclusion. Nobody has confirmed it with the person concerned.",
    "Decoys represent absent people. If the people behind the public profiles differ from the decoys, more "
    "claims may be false than this report says.",
    "People who are not claimed here may still be identified by somebody who knows other facts or uses another method.",
)
TOO_FEW = "The release has too few people for a budget of {}, so nothing is claimed."


def _summary_sentences(links: Links) -> Iterator[str]:
    """What was found, in a few sentences that name nobody."""
    profiles, n = links.profiles, len(links)
    if n < len(profiles):
        yield f"Linking was interrupted after {n:,} of {len(profiles):,} profiles."
    yield f"A record is claimed for {links.claims:,} of {n:,} profiles ({percent(links.claims / max(n, 1))})."
    without_facts = n - int((links.facts > 0).sum())
    if without_facts:
        yield f"{count(without_facts, 'profile shares', 'profiles share')} no item with the release."
    if not len(links.decoy_strengths):
        yield "Without decoys, the number of false claims is unknown."
    elif math.isinf(links.phi):
        yield TOO_FEW.format(percent(links.settings.budget))
        yield "This does not show that the people are safe: use a larger budget, or set φ."
    else:
        most, likely = _about(links.expected_false_claims), _about(links.likely_false_claims)
        yield f"If none of these people were in the release, about {most} would still be claimed."
        yield (
            f"About {percent(links.absent_share)} of the profiles seem to belong to absent people, so "
            f"about {likely} of the claims are likely false."
        )
    contested = int((links.contested > 0).sum())
    if contested and links.settings.assign:
        yield f"{contested:,} claims competed for the same records, and only the strongest was kept for each."
        if links.tied_claims:
            yield f"{links.tied_claims:,} of them were equally strong and were dropped."
    elif contested:
        yield f"{contested:,} claims name a record that another profile also claims."
    if (profiles.shared > decoys_of.MAX_FACTS).any():
        yield f"Profiles with more than {decoys_of.MAX_FACTS:,} facts were reduced to their rarest items."
    if len(links.decoy_strengths) and int((profiles.used > 0).sum()) < decoys_of.FEW_DONORS:
        yield "There are few profiles, so decoys were recombined from entries of the release."
    truth = links.truth_findings
    if truth is not None:
        yield f"Compared with the truth: precision {truth.precision}, recall {truth.recall}."
        pairs = ((truth.unknown_profiles, "profile"), (truth.unknown_records, "record"))
        unknown = [f"{count(n, 'names', 'name')} an unknown {noun}" for n, noun in pairs if n]
        if unknown:
            yield f"The truth has {truth.pairs:,} pairs: {' and '.join(unknown)}."


def _about(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number < 0.05 else f"{number:.1f}"


def report_text(findings: LinkFindings) -> dict[str, str]:
    """What the report says in sentences of its own; an empty text is not shown."""
    claims = findings.claims
    of_profiles = f"{findings.profiles:,} public profiles could be linked to a record of the release."
    headline = f"{claims:,} of {of_profiles}" if claims else f"None of the {of_profiles}"
    if findings.phi is None:
        budget = percent(findings.settings.budget)
        headline = f"Nothing can be claimed: the release has too few people for a budget of {budget}."
    parts = findings.strongest_parts
    leads = (
        f"The claimed record leads the runner-up mainly because of its values in {parts.values:,} claims, "
        f"because of its dates in {parts.dates:,}, and because of its items alone in {parts.items:,}."
    )
    return {
        "headline": headline,
        "claim_rule": " ".join(_claim_rule(findings.settings, findings.phi)),
        "strongest_parts": leads if claims else "",
        "truth": "" if findings.truth is None else " ".join(_truth_report(findings.truth)),
    }


MEASURE_RULES = {
    "eccentricity": "A record is claimed if its score exceeds the second-best score by at least φ standard "
    "deviations of all scores.",
    "evidence": "A record is claimed only if the evidence for it is at least φ. Evidence asks how much likelier the "
    "agreement between a profile and a record is if they belong to one person than to two, "
    "and compares this with all other records and with the case that the person is absent.",
}


def _claim_rule(settings: LinkSettings, phi: float | None) -> Iterator[str]:
    if settings.decoys:
        yield (
            "The same attack was run on decoys: artificial profiles of people who are not in the release. "
            "Every claim about a decoy is false."
        )
    yield MEASURE_RULES[settings.by]
    if settings.phi is not None:
        yield f"φ was set to {settings.phi:g}."
    elif phi is None:
        yield TOO_FEW.format(percent(settings.budget))
    else:
        unit = " bits" if settings.by == "evidence" else ""
        yield (
            f"φ is {phi:,.1f}{unit}. This is the smallest value at which, judging by the decoys, at most "
            f"{percent(settings.budget)} of absent people are claimed."
        )


def _truth_report(truth: TruthFindings) -> Iterator[str]:
    if truth.precision.n:
        yield f"{rate_text(truth.precision)} of the claims are correct."
    if truth.recall.n:
        yield (
            f"{truth.present:,} profiles belong to people in the release: {rate_text(truth.recall)} of them "
            "are claimed correctly."
        )
    if truth.absent_claims.n:
        absent = truth.absent_claims
        yield f"{absent.n:,} profiles belong to absent people: {rate_text(absent)} of them are claimed."
    yield "Brackets give 95 % confidence intervals."
