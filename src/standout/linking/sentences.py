"""Every sentence about a linking: the summary, the explanation of the alignment, and the report."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from standout.core.text import count
from standout.evaluate.estimates import percent, rate_text
from standout.findings.links import AlignmentCounts, LinkFindings, LinkingText, LinkSettings, TruthFindings

if TYPE_CHECKING:
    from standout.linking.links import Links

LIMITS = (
    "A claim is a statistical conclusion. Nobody has confirmed it with the person concerned.",
    "Decoys represent absent people. If the people behind the public profiles differ from the decoys, more "
    "claims may be false than this report says.",
    "People who are not claimed here may still be identified by somebody who knows other facts or uses another method.",
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


def rescaled_values(scale: float, shift: float, reason: str, outside: int, levels: int) -> str:
    """Explain how numbers are rescaled; `outside` of the public levels lie outside the release's range."""
    formula = f"Values become {scale:g} · value {'−' if shift < 0 else '+'} {abs(shift):g}"
    unchanged = (scale, shift) == (1.0, 0.0)
    clipped = f" {outside:,} of {levels:,} public values lie outside the release's range and count as its ends."
    return f"{'Values are used unchanged' if unchanged else formula}: {reason}.{clipped if outside else ''}"


def alignment(counts: AlignmentCounts, values: str) -> str:
    """Explain how items and values were aligned."""
    methods = {"id": counts.by_id, "map": counts.by_map, "title": counts.by_title, "review": counts.by_review}
    by_method = ", ".join(f"{items:,} by {method}" for method, items in methods.items() if items)
    entries = f"{100 * counts.aligned_entries / counts.entries:.1f} %" if counts.entries else "0 %"
    texts = [
        f"The release has {counts.aligned:,} of {counts.items:,} public items ({by_method}). "
        f"They cover {entries} of the public entries."
    ]
    map_rows, decisions = ("row of the map names", "rows of the map name"), "of the review"
    notes = (
        (counts.doubtful, ("more public item resembles", "more public items resemble"),
         "items of the release, but only a review can decide."),
        (counts.ambiguous, ("of them fits", "of them fit"),
         "several items equally well, or an item that another one fits equally well."),
        (counts.titles_differ, ("aligned item has", "aligned items have"),
         "a different title in the release and should be reviewed."),
        (counts.map_unknown_public, map_rows, "an item that the public data does not have."),
        (counts.map_unknown_release, map_rows, "an item that the release does not have."),
        (counts.review_unknown, (f"decision {decisions} names", f"decisions {decisions} name"), "an unknown item."),
    )  # fmt: skip
    sentences = [f"{count(number, *verb)} {rest}" if number else "" for number, verb, rest in notes]
    if counts.ids_unchecked:
        sentences.insert(3, "There were no titles to check whether the same id means the same item.")
    return " ".join(text for text in (*texts, *sentences, values) if text)


def summary(links: "Links", max_facts: int, few_donors: int) -> str:
    """Summarise what was found in a few sentences that name nobody."""
    return " ".join(_summary_sentences(links, max_facts, few_donors))


def _summary_sentences(links: "Links", max_facts: int, few_donors: int) -> Iterator[str]:
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
        yield _too_few_people(links.budget)
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
    if (profiles.shared > max_facts).any():
        yield f"Profiles with more than {max_facts:,} facts were reduced to their rarest items."
    if len(links.decoy_strengths) and int((profiles.used > 0).sum()) < few_donors:
        yield "There are few profiles, so decoys were recombined from entries of the release."
    truth = links.truth_findings
    if truth is not None:
        yield f"Compared with the truth: precision {truth.precision}, recall {truth.recall}."
        pairs = ((truth.unknown_profiles, "profile"), (truth.unknown_records, "record"))
        unknown = [f"{count(n, 'names', 'name')} an unknown {noun}" for n, noun in pairs if n]
        if unknown:
            yield f"The truth has {truth.pairs:,} pairs: {' and '.join(unknown)}."


def _too_few_people(budget: float) -> str:
    """Explain why nothing is claimed."""
    return f"The release has too few people for a budget of {percent(budget)}, so nothing is claimed."


def _about(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number < 0.05 else f"{number:.1f}"


def report_text(findings: LinkFindings) -> LinkingText:
    """Return everything that the report says in sentences."""
    claims, of_profiles = (
        findings.claims,
        f"{findings.profiles:,} public profiles could be linked to a record of the release.",
    )
    headline = f"{claims:,} of {of_profiles}" if claims else f"None of the {of_profiles}"
    if findings.phi is None:
        budget = percent(findings.settings.budget)
        headline = f"Nothing can be claimed: the release has too few people for a budget of {budget}."
    parts = findings.strongest_parts
    leads = (
        f"The claimed record leads the runner-up mainly because of its values in {parts.values:,} claims, "
        f"because of its dates in {parts.dates:,}, and because of its items alone in {parts.items:,}."
    )
    return LinkingText(
        headline=headline,
        summary=findings.summary,
        claim_rule=" ".join(_claim_rule(findings.settings, findings.phi)),
        strongest_parts=leads if claims else "",
        truth="" if findings.truth is None else " ".join(_truth_report(findings.truth)),
        alignment=findings.alignment.explanation,
        limits=findings.limits,
        glossary=GLOSSARY,
        captions=CAPTIONS,
    )


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
        yield _too_few_people(settings.budget)
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
