"""What linking found, as links.json and the linking report show it. Only the table names people.

`LinkFindings` is the whole of links.json apart from its table, which `LinksFile` adds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from standout.findings.json_types import Count, NonNegative, Rate, Share, finding

SCHEMA_TITLE = "Findings of standout link (links.json)"
Dates = Literal["use", "ignore", "learn"]
ClaimMeasure = Literal["evidence", "eccentricity"]


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """The checked parameters of `link`; `phi` is None when the decoys determine it.

    `attack` is likelihood (with a learned error model), paper (Algorithm 1B), or the class of a given attack.
    """

    dates: Dates
    by: ClaimMeasure
    attack: str
    phi: float | None
    budget: Share
    decoys: Count
    assign: bool
    seed: Count


@dataclass(frozen=True, slots=True)
class ReleaseSize:
    """A release: its name, fingerprint and size."""

    name: str
    fingerprint: str
    records: Count
    items: Count
    entries: Count
    columns: Count = 0


@dataclass(frozen=True, slots=True)
class PublicSize:
    """The public data: its name, fingerprint and size."""

    name: str
    fingerprint: str
    profiles: Count
    items: Count
    entries: Count


@finding
class AlignmentCounts:
    """How many public items were aligned, and how.

    items = aligned + doubtful + unknown, and aligned = by_id + by_map + by_title + by_review.
    `ambiguous` items fit several items equally well. `titles_differ` items were aligned by id or map although
    their titles differ. `ids_unchecked` says that there were no titles to check ids with.
    """

    items: Count
    aligned: Count
    by_id: Count = 0
    by_map: Count = 0
    by_title: Count = 0
    by_review: Count = 0
    doubtful: Count
    unknown: Count
    entries: Count
    aligned_entries: Count
    ambiguous: Count = 0
    titles_differ: Count = 0
    ids_unchecked: bool = False
    map_rows: Count = 0
    map_unknown_public: Count = 0
    map_unknown_release: Count = 0
    review_unknown: Count = 0


@dataclass(frozen=True, slots=True)
class AlignmentFindings:
    """How items and values were aligned, in sentences and in numbers."""

    explanation: str
    counts: AlignmentCounts


@dataclass(frozen=True, slots=True)
class StrongestParts:
    """How many claims owe most of their lead over the runner-up to values, to dates, and to items alone."""

    values: Count
    dates: Count
    items: Count


@dataclass(frozen=True, slots=True)
class FactsGroup:
    """Profiles with `min_facts` to `max_facts` usable facts; the last two fields need the truth."""

    min_facts: Count
    max_facts: Count
    profiles: Count
    claims: Count
    present: Count | None = None
    correct_claims: Count | None = None


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """How many profiles and decoys lie between `bin_start` and `bin_end`; the first bin has no start."""

    bin_start: float | None
    bin_end: float
    claims: Count
    others: Count
    recombined: Count
    withheld: Count


@dataclass(frozen=True, slots=True)
class Histograms:
    """The distributions of the two measures over profiles and decoys."""

    evidence: tuple[HistogramBin, ...]
    eccentricity: tuple[HistogramBin, ...]


@dataclass(frozen=True, slots=True)
class TruthFindings:
    """How good the claims are compared with the known truth.

    precision: Share of claims that are correct
    recall: Share of present profiles that are claimed correctly
    absent_claims: Share of absent profiles that are claimed
    pairs: Number of pairs in the truth
    unknown_profiles: Pairs that name a profile that does not exist
    unknown_records: Pairs that name a record that does not exist
    present: Number of profiles whose person is in the release
    """

    precision: Rate
    recall: Rate
    absent_claims: Rate
    pairs: Count
    unknown_profiles: Count
    unknown_records: Count
    present: Count


@dataclass(frozen=True, slots=True)
class PhiPoint:
    """What claims would be worth at another φ; precision is None where nothing is claimed."""

    phi: float
    claims: Count
    correct_claims: Count
    precision: Share | None
    recall: Share
    absent_claims: Share


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What claims would be worth with another budget; precision is None where nothing is claimed."""

    budget: Share
    claims: Count
    correct_claims: Count
    precision: Share | None
    recall: Share
    absent_claims: Share


@dataclass(frozen=True, slots=True)
class LinkFindings:
    """Everything that linking found, apart from the table of profiles and records.

    summary: What was found, in a few sentences
    complete: False if linking was interrupted
    phi: Minimum strength of a claim; null if no φ keeps to the budget
    profiles: Number of profiles that were linked
    profiles_with_facts: Number of profiles that share an item with the release
    claims: Number of profiles for which a record is claimed
    expected_false_claims: Number of claims if all profiles were absent; null without decoys
    likely_false_claims: The same for the estimated share of absent profiles only; null without decoys
    tied_claims: Claims that were dropped because another claim on the record is equally strong
    contested_claims: Claims on a record that another profile also claims
    strongest_parts: Claims by what contributes most to the lead over the runner-up
    by_facts_used: Profiles and claims by number of facts
    curve: What claims would be worth at other values of φ; null without truth
    by_budget: What claims would be worth with other budgets; null without truth or decoys
    """

    summary: str
    complete: bool
    release: ReleaseSize
    public: PublicSize
    alignment: AlignmentFindings
    settings: LinkSettings
    phi: float | None
    profiles: Count
    profiles_with_facts: Count
    claims: Count
    expected_false_claims: NonNegative | None
    likely_false_claims: NonNegative | None
    tied_claims: Count
    contested_claims: Count
    strongest_parts: StrongestParts
    by_facts_used: tuple[FactsGroup, ...]
    histograms: Histograms
    truth: TruthFindings | None
    curve: tuple[PhiPoint, ...] | None
    by_budget: tuple[BudgetPoint, ...] | None
    limits: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True)
class LinksFile(LinkFindings):
    """Content of links.json: everything that linking found.

    table: One row for each profile, by column; docs/linking.md describes the columns
    """

    table: tuple[Mapping[str, str | bool | float | None], ...]
