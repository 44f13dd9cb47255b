"""The findings of `standout link` and `standout advise`: the contents of links.json and advice.json.

`LinkFindings` is the whole of links.json apart from its table, which `LinksFile` adds: only the table names people.
`AdviceFindings` is the whole of advice.json. It contains no seed, because the seed would allow others to undo noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share, about, finding

LINKS_TITLE = "Findings of standout link (links.json)"
ADVICE_TITLE = "Advice of Standout (advice.json)"
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


# Advice: the candidates of a search, their risk and their utility.


Among = Literal["everybody", "released"]
Stage = Literal["quick", "full", "fresh"]


@finding
class UtilityFindings:
    """Utility of a candidate's release compared with the untouched one; null where it cannot be measured.

    kept: Share of the utility that is left: the smaller of `kept_hit_rate` and `kept_rmse`, or of `information` and
        `associations`
    information: Share of the information in a cell that is left: bits that a released cell says about the original one
        / bits of the original one. Mean over all columns that vary.
    associations: 1 − sum of the changes of the associations of pairs of columns / sum of the associations, over all
        pairs that are associated beyond what chance gives
    hit_rate: Share of held-out items among the ten recommended ones. Baseline: recommending popular items.
    rmse: Root mean square error of predicted values. Baseline: the mean of a person's own values.
    popularity_change: Half of the sum of |change of an item's share of all entries|
    popularity_correlation: Rank correlation of the items' supports before and after
    entries_kept: Share of a person's entries in the record that represents the person
    """

    kept: Estimate | None = None
    information: Estimate | None = None
    associations: Estimate | None = None
    rows_kept: Estimate | None = about("Share of the rows that are left", default=None)
    hit_rate: Rate | None = None
    hit_rate_before: Rate | None = about("Hit rate of the untouched release", default=None)
    hit_rate_loss: Estimate | None = about("hit_rate_before − hit_rate", default=None)
    kept_hit_rate: Estimate | None = about("hit_rate / hit_rate_before", default=None)
    rmse: Estimate | None = None
    rmse_before: Estimate | None = about("RMSE of the untouched release", default=None)
    rmse_increase: Estimate | None = about("rmse − rmse_before", default=None)
    kept_rmse: Estimate | None = about("(baseline − rmse) / (baseline − rmse_before)", default=None)
    popularity_change: Estimate | None = None
    popularity_correlation: Estimate | None = None
    similarity_change: Estimate | None = about("Root mean square change of the cosine of two items", default=None)
    entries_kept: Estimate | None = None
    value_difference: Estimate | None = about("Mean absolute difference of their values", default=None)
    time_difference: Estimate | None = about("Mean absolute difference of their times in days", default=None)


@finding
class CandidateFindings:
    """One combination of steps, its risk and its utility.

    stage: How well the numbers are known: from the quick stage with few targets, from the full stage, or re-measured on
        fresh targets with fresh noise
    identified: Share of targets who are identified. People missing from the sanitized release count as not identified.
    """

    steps: tuple[str, ...] = about("The steps in order; none for the untouched release")
    name: str = about("The steps as one text")
    stage: Stage
    attack: str = about("The attack that identifies most, chosen on other targets than those reported")
    identified: Rate
    identified_in_release: Rate = about("Share of targets in the sanitized release who are identified")
    frontier: bool = about("Whether no other candidate has both a lower risk and a higher utility")
    utility: UtilityFindings

    def rate(self, among: Among) -> Estimate:
        """Share of identified people among those whom the limit applies to."""
        return self.identified if among == "everybody" else self.identified_in_release


@finding
class CompositionFindings:
    """What two releases that are made with the recommended steps reveal together.

    entries_shown_by_one: Share of the original entries of identified people that the first release shows; null if
        nobody is identified
    """

    identified: Rate = about("Share of people in both releases whose second record's best guess is their first record")
    correct_claims: Rate = about("Share for whom the right record is claimed")
    wrong_claims: Rate = about("Share for whom a wrong record is claimed")
    entries_shown_by_one: Estimate | None
    entries_shown_together: Estimate | None = about("The same for the two releases together")
    explanation: str = about("These numbers in sentences")


@finding
class UnprovenCandidateFindings:
    """A candidate whose measured rate is below the limit, although it is not proven to meet the limit.

    targets_needed: Smallest number of targets with which the interval would end at or below the limit, if the rate
        stays the same
    targets_advised: Number of targets with which a search proves it nine times out of ten, if this is the true rate
    """

    steps: tuple[str, ...] = about("The steps in order; none for the untouched data")
    name: str = about("The steps as one text")
    stage: Stage = about("The stage that measured the rate")
    rate: Rate = about("Share of identified people among those whom the limit applies to")
    kept: Estimate | None = about("Share of the utility that is left")
    targets: PositiveCount = about("Number of targets so far. Those missing from the sanitized data count too.")
    targets_needed: PositiveCount
    targets_advised: PositiveCount


@finding
class UnprovenFindings:
    """What is measured below the limit if nothing is proven to meet it, and what would settle it.

    candidates: Those for which no other has both a lower risk and a higher utility, the fewest targets needed first
    targets: Number of targets that would settle whether the first candidate meets the limit; null if there are too few
        people
    """

    number: PositiveCount = about("Number of measured rates below the limit")
    candidates: tuple[UnprovenCandidateFindings, ...]
    possible_targets: Count = about("Number of people who can be targets")
    targets: PositiveCount | None
    command: str = about("Command that settles it; empty if there is none", default="")


@finding
class AdviceFindings:
    """Everything that a search for the smallest sufficient change found.

    among: Whom the limit applies to: everybody in the original, or the people whom the sanitized release represents
    command: Command that makes the recommended release; empty if nothing has to be changed or can be recommended
    recommended: The candidate that keeps most of the utility among those that meet the limit, re-measured on fresh
        targets; null if there is none
    composition: What two releases reveal together; null if nothing is recommended, or for a table
    unproven: What is measured below the limit although nothing is proven to meet it; null if a candidate is
        recommended, or no rate is below the limit
    """

    schema: Literal["standout-advice"] = "standout-advice"
    complete: bool = about("Whether the search finished")
    limit: Share = about("Largest acceptable share of identified people")
    among: Among
    adversary: str = about("What the adversary knows, in one line")
    data: ReleaseSize = about("The original")
    summary: str = about("The answer in sentences")
    sentences: tuple[str, ...] = about("The same, one by one")
    command: str
    recommended: CandidateFindings | None
    candidates: tuple[CandidateFindings, ...] = about("All candidates: the untouched release, then by increasing risk")
    step_descriptions: Mapping[str, str] = about("What the steps of the candidates do, by the syntax of the step")
    impossible: Mapping[str, str] = about("Candidates that could not be tried, and why")
    composition: CompositionFindings | None = None
    limits: tuple[str, ...] = about("What the findings do not say, in sentences")
    version: str = about("Version of the program")
    unproven: UnprovenFindings | None = None

    @property
    def n_candidates(self) -> Count:
        """Number of candidates apart from the untouched release."""
        return len(self.candidates) - 1

    @property
    def rows(self) -> list[CandidateFindings]:
        """The release as it is, then the frontier by decreasing risk, the recommended one re-measured."""
        chosen = {each.steps: each for each in self.candidates if each.frontier or not each.steps}
        if self.recommended is not None:
            chosen[self.recommended.steps] = self.recommended
        return sorted(chosen.values(), key=lambda each: (bool(each.steps), -each.rate(self.among).value))
