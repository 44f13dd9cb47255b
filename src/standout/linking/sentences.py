"""Every sentence about a linking: the summary, the explanation of the alignment, and the report."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from standout.core.formatting import count
from standout.evaluate.estimate_text import percent, rate_text
from standout.findings.links import (
    AlignmentCounts,
    ClaimMeasure,
    LinkFindings,
    LinkingText,
    LinkSettings,
    StrongestParts,
    TruthFindings,
)

__all__ = [
    "LIMITS",
    "NUMBERS_AND_CATEGORIES",
    "SINGLE_LEVEL",
    "VALUES_BY_QUANTILES",
    "VALUES_NOT_COMPARED",
    "SummaryNumbers",
    "alignment",
    "report_text",
    "rescaled_values",
    "shared_categories",
    "side_without_values",
    "summary",
]

LIMITS = (
    "A claim is a statistical conclusion. Nobody has confirmed it with the person concerned.",
    "Decoys represent absent people. If the people behind the public profiles differ from the decoys, more "
    "claims may be false than this report says.",
    "People who are not claimed here may still be identified by somebody who knows other facts or uses "
    "another method.",
)

GLOSSARY = (
    ("Release", "the data set that would be published. Each person in it has one record."),
    ("Record", "the entries of one person in the release: items, with values and dates if there are any."),
    ("Public profile", "what a person says about the same kind of items elsewhere, under another name."),
    ("Fact", "one item of a profile that the release also has, with its value and date if they are known."),
    ("Claim", "the statement that a profile and a record belong to the same person."),
    ("Correct claim", "a claim that names the right record."),
    ("False claim", "a claim about somebody who is absent from the release, or about the wrong record."),
    ("Decoy", "a profile that imitates an absent person. Every claim about it is false."),
    ("False claim budget", "the largest share of absent people that may be claimed."),
    ("φ", "the minimum strength of a match for a claim. The decoys determine it from the budget."),
    (
        "Evidence",
        "the strength of a match in bits: the odds that the best record belongs to the person. Each bit "
        "doubles the odds.",
    ),
    (
        "Eccentricity",
        "another measure of strength: the lead of the best score over the second best, in standard "
        "deviations of all scores.",
    ),
)

CAPTIONS = {
    "strength": "Each panel shows one group, and each bar its share of the group. Bars further to the right "
    "are stronger matches. The bins grow by half from one to the next.",
    "eccentricity": "The same for eccentricity: the lead of the best score, in standard deviations of all "
    "scores of the attack.",
    "truth": "Precision is the share of claims that are correct. Recall is the share of present people who "
    "are claimed correctly. A higher φ leads to fewer claims, and a larger share of them is correct.",
}

VALUES_NOT_COMPARED = "Values are not compared."
VALUES_BY_QUANTILES = "Values are matched by their quantiles over the shared items."
NUMBERS_AND_CATEGORIES = "Values are not compared: one data set has numbers, the other has categories."
SINGLE_LEVEL = "Values are not compared: one data set has a single value."


def side_without_values(side: str) -> str:
    """Explain why values are not compared."""
    return f"Values are not compared: the {side} has none."


def shared_categories(shared: int, public: int) -> str:
    """Explain how categories are compared."""
    return f"Values are categories. The release has {shared:,} of the {public:,} public categories."


def rescaled_values(scale: float, shift: float, reason: str, outside: int, levels: int) -> str:
    """Explain how numbers are rescaled; `outside` of the public levels lie outside the release's range."""
    formula = f"Values become {scale:g} · value {'−' if shift < 0 else '+'} {abs(shift):g}"
    unchanged = (scale, shift) == (1.0, 0.0)
    clipped = (
        f" {outside:,} of {levels:,} public values lie outside the release's range and count as its ends."
    )
    return f"{'Values are used unchanged' if unchanged else formula}: {reason}.{clipped if outside else ''}"


def alignment(counts: AlignmentCounts, values: str) -> str:
    """Explain how items and values were aligned."""
    return " ".join([*_alignment_sentences(counts), values])


def _alignment_sentences(counts: AlignmentCounts) -> Iterator[str]:
    methods = {"id": counts.by_id, "map": counts.by_map, "title": counts.by_title, "review": counts.by_review}
    by_method = ", ".join(f"{items:,} by {method}" for method, items in methods.items() if items)
    entries = f"{100 * counts.aligned_entries / counts.entries:.1f} %" if counts.entries else "0 %"
    yield (
        f"The release has {counts.aligned:,} of {counts.items:,} public items ({by_method}). "
        f"They cover {entries} of the public entries."
    )
    if counts.doubtful:
        resemble = count(counts.doubtful, "more public item resembles", "more public items resemble")
        yield f"{resemble} items of the release, but only a review can decide."
    if counts.ambiguous:
        fit = count(counts.ambiguous, "of them fits", "of them fit")
        yield f"{fit} several items equally well, or an item that another one fits equally well."
    if counts.titles_differ:
        have = count(counts.titles_differ, "aligned item has", "aligned items have")
        yield f"{have} a different title in the release and should be reviewed."
    if counts.ids_unchecked:
        yield "There were no titles to check whether the same id means the same item."
    if counts.map_unknown_public:
        name = count(counts.map_unknown_public, "row of the map names", "rows of the map name")
        yield f"{name} an item that the public data does not have."
    if counts.map_unknown_release:
        name = count(counts.map_unknown_release, "row of the map names", "rows of the map name")
        yield f"{name} an item that the release does not have."
    if counts.review_unknown:
        name = count(counts.review_unknown, "decision of the review names", "decisions of the review name")
        yield f"{name} an unknown item."


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryNumbers:
    """The numbers that the summary mentions.

    `profiles` were linked, of `all_profiles`. `shortened` says that long profiles lost facts, `few_donors`
    that decoys were recombined from the release. `absent_share` is None without decoys.
    """

    settings: LinkSettings
    claims: int
    profiles: int
    all_profiles: int
    profiles_with_facts: int
    phi: float
    absent_share: float | None
    expected_false_claims: float
    likely_false_claims: float
    contested_claims: int
    tied_claims: int
    max_facts: int
    shortened: bool
    few_donors: bool
    truth: TruthFindings | None


def summary(numbers: SummaryNumbers) -> str:
    """Summarise what was found in a few sentences that name nobody."""
    return " ".join(_summary_sentences(numbers))


def _summary_sentences(numbers: SummaryNumbers) -> Iterator[str]:
    if numbers.profiles < numbers.all_profiles:
        yield f"Linking was interrupted after {numbers.profiles:,} of {numbers.all_profiles:,} profiles."
    claimed = percent(numbers.claims / max(numbers.profiles, 1))
    yield f"A record is claimed for {numbers.claims:,} of {numbers.profiles:,} profiles ({claimed})."
    without_facts = numbers.profiles - numbers.profiles_with_facts
    if without_facts:
        yield f"{count(without_facts, 'profile shares', 'profiles share')} no item with the release."
    yield from _false_claim_sentences(numbers)
    yield from _contested_sentences(numbers)
    if numbers.shortened:
        yield f"Profiles with more than {numbers.max_facts:,} facts were reduced to their rarest items."
    if numbers.few_donors:
        yield "There are few profiles, so decoys were recombined from entries of the release."
    if numbers.truth is not None:
        yield from _truth_sentences(numbers.truth)


def _false_claim_sentences(numbers: SummaryNumbers) -> Iterator[str]:
    if numbers.absent_share is None:
        yield "Without decoys, the number of false claims is unknown."
    elif math.isinf(numbers.phi):
        yield _too_few_people(numbers.settings.budget)
        yield "This does not show that the people are safe: use a larger budget, or set φ."
    else:
        most, likely = _about(numbers.expected_false_claims), _about(numbers.likely_false_claims)
        yield f"If none of these people were in the release, about {most} would still be claimed."
        yield (
            f"About {percent(numbers.absent_share)} of the profiles seem to belong to absent people, so "
            f"about {likely} of the claims are likely false."
        )


def _contested_sentences(numbers: SummaryNumbers) -> Iterator[str]:
    contested = numbers.contested_claims
    if contested and numbers.settings.assign:
        yield f"{contested:,} claims competed for the same records, and only the strongest was kept for each."
        if numbers.tied_claims:
            yield f"{numbers.tied_claims:,} of them were equally strong and were dropped."
    elif contested:
        yield f"{contested:,} claims name a record that another profile also claims."


def _truth_sentences(truth: TruthFindings) -> Iterator[str]:
    yield f"Compared with the truth: precision {truth.precision}, recall {truth.recall}."
    unknown = [
        f"{count(pairs, 'names', 'name')} an unknown {noun}"
        for pairs, noun in ((truth.unknown_profiles, "profile"), (truth.unknown_records, "record"))
        if pairs
    ]
    if unknown:
        yield f"The truth has {truth.pairs:,} pairs: {' and '.join(unknown)}."


def _too_few_people(budget: float) -> str:
    """Explain why nothing is claimed."""
    return f"The release has too few people for a budget of {percent(budget)}, so nothing is claimed."


def _about(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number < 0.05 else f"{number:.1f}"


def report_text(findings: LinkFindings) -> LinkingText:
    """Return everything that the report says in sentences."""
    return LinkingText(
        headline=_headline(findings),
        summary=findings.summary,
        claim_rule=" ".join(_claim_rule(findings.settings, findings.phi)),
        strongest_parts=_strongest_parts(findings.strongest_parts) if findings.claims else "",
        truth="" if findings.truth is None else " ".join(_truth_report(findings.truth)),
        alignment=findings.alignment.explanation,
        limits=findings.limits,
        glossary=GLOSSARY,
        captions=CAPTIONS,
    )


def _headline(findings: LinkFindings) -> str:
    claims, profiles = findings.claims, findings.profiles
    if findings.phi is None:
        budget = percent(findings.settings.budget)
        return f"Nothing can be claimed: the release has too few people for a budget of {budget}."
    if not claims:
        return f"None of the {profiles:,} public profiles could be linked to a record of the release."
    return f"{claims:,} of {profiles:,} public profiles could be linked to a record of the release."


def _claim_rule(settings: LinkSettings, phi: float | None) -> Iterator[str]:
    if settings.decoys:
        yield (
            "The same attack was run on decoys: artificial profiles of people who are not in the release. "
            "Every claim about a decoy is false."
        )
    yield _measure_rule(settings.by)
    if settings.phi is not None:
        yield f"φ was set to {settings.phi:g}."
    elif phi is None:
        yield _too_few_people(settings.budget)
    else:
        unit = " bits" if settings.by == "evidence" else ""
        yield (
            f"φ is {phi:,.1f}{unit}. This is the smallest value at which, judging by the decoys, at most "
            f"{percent(settings.budget)} of absent people are claimed."
        )


def _measure_rule(by: ClaimMeasure) -> str:
    if by == "eccentricity":
        return (
            "A record is claimed if its score exceeds the second-best score by at least φ standard "
            "deviations of all scores."
        )
    return (
        "A record is claimed only if the evidence for it is at least φ. Evidence asks how much likelier the "
        "agreement between a profile and a record is if they belong to one person than to two, "
        "and compares this with all other records and with the case that the person is absent."
    )


def _strongest_parts(parts: StrongestParts) -> str:
    return (
        f"The claimed record leads the runner-up mainly because of its values in {parts.values:,} claims, "
        f"because of its dates in {parts.dates:,}, and because of its items alone in {parts.items:,}."
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
