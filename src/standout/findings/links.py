"""What linking found, as links.json and the linking report show it. It names nobody.

`LinkFindings` is the whole of links.json apart from its table; `LinkingText` has the sentences of the report.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate

__all__ = [
    "AlignmentCounts",
    "AlignmentFindings",
    "BudgetPoint",
    "Dates",
    "FactsGroup",
    "HistogramBin",
    "Histograms",
    "LinkFindings",
    "LinkSettings",
    "LinkingText",
    "Measure",
    "PhiPoint",
    "PublicSize",
    "ReleaseSize",
    "StrongestParts",
    "TruthFindings",
]

Dates = Literal["use", "ignore", "learn"]
Measure = Literal["evidence", "eccentricity"]


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """The checked parameters of `link`; `phi` is None when the decoys determine it."""

    dates: Dates
    by: Measure
    phi: float | None
    budget: float
    decoys: int
    assign: bool
    seed: int


@dataclass(frozen=True, slots=True)
class ReleaseSize:
    """The release: its name, fingerprint and size."""

    name: str
    fingerprint: str
    records: int
    items: int
    entries: int


@dataclass(frozen=True, slots=True)
class PublicSize:
    """The public data: its name, fingerprint and size."""

    name: str
    fingerprint: str
    profiles: int
    items: int
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentCounts:
    """How many public items were aligned, and how.

    items = aligned + doubtful + unknown, and aligned = by_id + by_map + by_title + by_review.
    `ambiguous` items fit several items equally well. `titles_differ` items were aligned by id or map although
    their titles differ. `ids_unchecked` says that there were no titles to check ids with.
    """

    items: int
    aligned: int
    by_id: int = 0
    by_map: int = 0
    by_title: int = 0
    by_review: int = 0
    doubtful: int
    unknown: int
    entries: int
    aligned_entries: int
    ambiguous: int = 0
    titles_differ: int = 0
    ids_unchecked: bool = False
    map_rows: int = 0
    map_unknown_public: int = 0
    map_unknown_release: int = 0
    review_unknown: int = 0


@dataclass(frozen=True, slots=True)
class AlignmentFindings:
    """How items and values were aligned, in sentences and in numbers."""

    explanation: str
    counts: AlignmentCounts


@dataclass(frozen=True, slots=True)
class StrongestParts:
    """How many claims owe most of their lead over the runner-up to values, to dates, and to items alone."""

    values: int
    dates: int
    items: int


@dataclass(frozen=True, slots=True)
class FactsGroup:
    """Profiles with `min_facts` to `max_facts` usable facts; the last two fields need the truth."""

    min_facts: int
    max_facts: int
    profiles: int
    claims: int
    present: int | None = None
    correct_claims: int | None = None


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """How many profiles and decoys lie between `bin_start` and `bin_end`; the first bin has no start."""

    bin_start: float | None
    bin_end: float
    claims: int
    others: int
    recombined: int
    withheld: int


@dataclass(frozen=True, slots=True)
class Histograms:
    """The distributions of the two measures over profiles and decoys."""

    evidence: tuple[HistogramBin, ...]
    eccentricity: tuple[HistogramBin, ...]


@dataclass(frozen=True, slots=True)
class TruthFindings:
    """How good the claims are compared with the known truth.

    `precision` is the share of claims that are correct, `recall` the share of present profiles that are
    claimed correctly, `absent_claims` the share of absent profiles that are claimed. `unknown_profiles` and
    `unknown_records` count pairs of the truth that name an id that is not in the data.
    """

    precision: Estimate
    recall: Estimate
    absent_claims: Estimate
    pairs: int
    unknown_profiles: int
    unknown_records: int
    present: int


@dataclass(frozen=True, slots=True)
class PhiPoint:
    """What claims would be worth at another φ; precision is None where nothing is claimed."""

    phi: float
    claims: int
    correct_claims: int
    precision: float | None
    recall: float
    absent_claims: float


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What claims would be worth with another budget; precision is None where nothing is claimed."""

    budget: float
    claims: int
    correct_claims: int
    precision: float | None
    recall: float
    absent_claims: float


@dataclass(frozen=True, slots=True)
class LinkFindings:
    """Everything that linking found, apart from the table of profiles and records.

    `phi` is None if no φ keeps to the budget; the expected numbers of false claims are None without decoys.
    `profiles_with_facts` share an item with the release. `contested_claims` name a record that another
    profile also claims; `tied_claims` were dropped because another claim on the record is equally strong.
    """

    summary: str
    complete: bool
    release: ReleaseSize
    public: PublicSize
    alignment: AlignmentFindings
    settings: LinkSettings
    phi: float | None
    profiles: int
    profiles_with_facts: int
    claims: int
    expected_false_claims: float | None
    likely_false_claims: float | None
    tied_claims: int
    contested_claims: int
    strongest_parts: StrongestParts
    by_facts_used: tuple[FactsGroup, ...]
    histograms: Histograms
    truth: TruthFindings | None
    curve: tuple[PhiPoint, ...] | None
    by_budget: tuple[BudgetPoint, ...] | None
    limits: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingText:
    """The sentences of the report. An empty text is not shown; captions are by chart."""

    headline: str
    summary: str
    claim_rule: str
    strongest_parts: str
    truth: str
    alignment: str
    limits: Sequence[str]
    glossary: Sequence[tuple[str, str]]
    captions: Mapping[str, str]
