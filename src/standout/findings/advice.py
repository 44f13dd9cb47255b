"""The findings of a search for advice: the content of advice.json. They name nobody.

`AdviceFindings` is the whole. It contains no seed, because the seed would allow others to undo noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Count, PositiveCount, Rate, Share
from standout.findings.links import ReleaseSize

SCHEMA_TITLE = "Advice of Standout (advice.json)"
Among = Literal["everybody", "released"]
Stage = Literal["quick", "full", "fresh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityFindings:
    """Utility of a candidate's release compared with the untouched one; null where it cannot be measured.

    kept: Share of the utility that is left: the smaller of `kept_hit_rate` and `kept_rmse`, or of `information` and
        `associations`
    information: Share of the information in a cell that is left: bits that a released cell says about the original one
        / bits of the original one. Mean over all columns that vary.
    associations: 1 − sum of the changes of the associations of pairs of columns / sum of the associations, over all
        pairs that are associated beyond what chance gives
    rows_kept: Share of the rows that are left
    hit_rate: Share of held-out items among the ten recommended ones. Baseline: recommending popular items.
    hit_rate_before: Hit rate of the untouched release
    hit_rate_loss: hit_rate_before − hit_rate
    kept_hit_rate: hit_rate / hit_rate_before
    rmse: Root mean square error of predicted values. Baseline: the mean of a person's own values.
    rmse_before: RMSE of the untouched release
    rmse_increase: rmse − rmse_before
    kept_rmse: (baseline − rmse) / (baseline − rmse_before)
    popularity_change: Half of the sum of |change of an item's share of all entries|
    popularity_correlation: Rank correlation of the items' supports before and after
    similarity_change: Root mean square change of the cosine of two items
    entries_kept: Share of a person's entries in the record that represents the person
    value_difference: Mean absolute difference of their values
    time_difference: Mean absolute difference of their times in days
    """

    kept: Estimate | None = None
    information: Estimate | None = None
    associations: Estimate | None = None
    rows_kept: Estimate | None = None
    hit_rate: Rate | None = None
    hit_rate_before: Rate | None = None
    hit_rate_loss: Estimate | None = None
    kept_hit_rate: Estimate | None = None
    rmse: Estimate | None = None
    rmse_before: Estimate | None = None
    rmse_increase: Estimate | None = None
    kept_rmse: Estimate | None = None
    popularity_change: Estimate | None = None
    popularity_correlation: Estimate | None = None
    similarity_change: Estimate | None = None
    entries_kept: Estimate | None = None
    value_difference: Estimate | None = None
    time_difference: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFindings:
    """One combination of steps, its risk and its utility.

    steps: The steps in order; none for the untouched release
    name: The steps as one text
    stage: How well the numbers are known: from the quick stage with few targets, from the full stage, or re-measured
        on fresh targets with fresh noise
    attack: The attack that identifies most, chosen on other targets than those reported
    identified: Share of targets who are identified. People missing from the sanitized release count as not identified.
    identified_in_release: Share of targets in the sanitized release who are identified
    frontier: Whether no other candidate has both a lower risk and a higher utility
    """

    steps: tuple[str, ...]
    name: str
    stage: Stage
    attack: str
    identified: Rate
    identified_in_release: Rate
    frontier: bool
    utility: UtilityFindings

    def rate(self, among: Among) -> Estimate:
        """Share of identified people among those whom the limit applies to."""
        return self.identified if among == "everybody" else self.identified_in_release


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionFindings:
    """What two releases that are made with the recommended steps reveal together.

    identified: Share of people in both releases whose second record's best guess is their first record
    correct_claims: Share for whom the right record is claimed
    wrong_claims: Share for whom a wrong record is claimed
    entries_shown_by_one: Share of the original entries of identified people that the first release shows; null if
        nobody is identified
    entries_shown_together: The same for the two releases together
    explanation: These numbers in sentences
    """

    identified: Rate
    correct_claims: Rate
    wrong_claims: Rate
    entries_shown_by_one: Estimate | None
    entries_shown_together: Estimate | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenCandidateFindings:
    """A candidate whose measured rate is below the limit, although it is not proven to meet the limit.

    steps: The steps in order; none for the untouched data
    name: The steps as one text
    stage: The stage that measured the rate
    rate: Share of identified people among those whom the limit applies to
    kept: Share of the utility that is left
    targets: Number of targets so far. Those missing from the sanitized data count too.
    targets_needed: Smallest number of targets with which the interval would end at or below the limit, if the rate
        stays the same
    targets_advised: Number of targets with which a search proves it nine times out of ten, if this is the true rate
    """

    steps: tuple[str, ...]
    name: str
    stage: Stage
    rate: Rate
    kept: Estimate | None
    targets: PositiveCount
    targets_needed: PositiveCount
    targets_advised: PositiveCount


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenFindings:
    """What is measured below the limit if nothing is proven to meet it, and what would settle it.

    number: Number of measured rates below the limit
    candidates: Those for which no other has both a lower risk and a higher utility, the fewest targets needed first
    possible_targets: Number of people who can be targets
    targets: Number of targets that would settle whether the first candidate meets the limit; null if there are too few
        people
    command: Command that settles it; empty if there is none
    """

    number: PositiveCount
    candidates: tuple[UnprovenCandidateFindings, ...]
    possible_targets: Count
    targets: PositiveCount | None
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceFindings:
    """Everything that a search for the smallest sufficient change found.

    complete: Whether the search finished
    limit: Largest acceptable share of identified people
    among: Whom the limit applies to: everybody in the original, or the people whom the sanitized release represents
    adversary: What the adversary knows, in one line
    data: The original
    summary: The answer in sentences
    sentences: The same, one by one
    command: Command that makes the recommended release; empty if nothing has to be changed or can be recommended
    recommended: The candidate that keeps most of the utility among those that meet the limit, re-measured on fresh
        targets; null if there is none
    candidates: All candidates: the untouched release, then by increasing risk
    step_descriptions: What the steps of the candidates do, by the syntax of the step
    impossible: Candidates that could not be tried, and why
    composition: What two releases reveal together; null if nothing is recommended, or for a table
    limits: What the findings do not say, in sentences
    version: Version of the program
    unproven: What is measured below the limit although nothing is proven to meet it; null if a candidate is
        recommended, or no rate is below the limit
    """

    schema: Literal["standout-advice"] = "standout-advice"
    complete: bool
    limit: Share
    among: Among
    adversary: str
    data: ReleaseSize
    summary: str
    sentences: tuple[str, ...]
    command: str
    recommended: CandidateFindings | None
    candidates: tuple[CandidateFindings, ...]
    step_descriptions: Mapping[str, str]
    impossible: Mapping[str, str]
    composition: CompositionFindings | None = None
    limits: tuple[str, ...]
    version: str
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
