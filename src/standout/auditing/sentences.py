"""The sentences that an audit computes: the answer, the verdict and the limits.

The verdict answers the three questions of the Article 29 Working Party's Opinion 05/2014. No sentence calls
data safe: the strongest statement is "not identified by these adversaries".
"""

from collections.abc import Sequence
from typing import Literal

from standout.evaluate import estimates
from standout.evaluate.estimates import Estimate, percent, rate_text
from standout.findings.adversaries import AdversaryFindings, MeasuresAsNamed
from standout.findings.audit import Answer, AppliedStep, Original, Settings, Verdict, VerdictPart

__all__ = ["answer", "curve_note", "limits", "original_explanation", "verdict"]

Judgement = Literal["yes", "partly", "not by these adversaries"]
CLEAR = 0.1
"""The answer is yes if the interval lies above one in ten, and above guessing."""
FEW_RECORDS = 5
"""With fewer records, shares mean little."""
SUBJECTS = {
    "colleague": "A colleague",
    "acquaintance": "An acquaintance",
    "profile": "A reader of a public profile",
    "undated": "An acquaintance without dates",
    "worst": "The worst-case adversary",
}


def answer(headline: AdversaryFindings, people: int, original: Original | None) -> Answer:
    """The main result in one sentence, and its number."""
    measures, too_few = headline.as_named, headline.too_few_items
    eligible = people - too_few
    sentence = (
        f"{_subject_who_knows(headline)} identifies {percent(measures.identified.value)} of "
        f"{_population(people, too_few, original)}."
    )
    in_release = measures.identified_in_release
    if in_release.n < measures.identified.n:
        sentence += f" Among people who are in the release, it is {percent(in_release.value)}."
    return Answer(
        sentence=sentence,
        adversary=headline.name,
        rate=measures.identified,
        people_identified=round(measures.identified.value * eligible),
        people_total=people,
        too_few_items=too_few,
    )


def _population(people: int, too_few: int, original: Original | None) -> str:
    """The people whom a share is about."""
    of_original = "" if original is None else " of the original"
    if too_few:
        eligible = people - too_few
        whom = f"the {eligible:,} people{of_original} (out of {people:,}) with enough entries to be targets"
    else:
        whom = "people" if original is None else f"the {people:,} people{of_original}"
    if original is None:
        return whom
    missing = original.not_in_release
    if not missing:
        return f"{whom}, all of whom are in this release"
    return f"{whom}; {missing:,} of the {people:,} {'is' if missing == 1 else 'are'} not in this release"


def _subject_who_knows(adversary: AdversaryFindings) -> str:
    """Subject of a sentence: “An acquaintance who knows 8 facts about a person, 2 of them wrong,”."""
    subject = SUBJECTS.get(adversary.name, f"The adversary “{adversary.name}”")
    return f"{subject} who knows {_facts(adversary)}" + ("," if adversary.wrong else "")


def _facts(adversary: AdversaryFindings) -> str:
    facts = f"{adversary.knows} {'fact' if adversary.knows == 1 else 'facts'} about a person"
    return f"{facts}, {adversary.wrong} of them wrong" if adversary.wrong else facts


def original_explanation(people: int, not_in_release: int, shared_records: int, steps: Sequence[AppliedStep]) -> str:
    """What it means that the release was made from an original."""
    sentences = [
        f"This release was made from an original with {people:,} people. Targets and the facts that "
        "adversaries know come from the original. Facts are converted to the form of the release: if the "
        "release has only months, a known day becomes its month."
    ]
    if not_in_release:
        sentences.append("People missing from the release cannot be identified, but they count among the targets.")
    if shared_records:
        sentences.append(
            f"{shared_records:,} records represent several people each. A guess of such a record counts as "
            "identifying each of them, although the record also describes the others."
        )
    names = "; ".join(step.step for step in steps)
    return " ".join([*sentences, f"Steps that were applied: {names or 'none'}."])


def curve_note(knows: int, wrong: int, most: int, most_wrong: int, too_few: int) -> str:
    """Whom a curve is about, and how its adversary differs from the named one."""
    notes = []
    if wrong:
        are = "is" if most_wrong == 1 else "are"
        notes.append(f"{most_wrong} of {most} facts {are} wrong, and on average the same share of fewer facts")
    if too_few:
        notes.append(f"the curve covers only people with at least {most} {'entry' if most == 1 else 'entries'}")
    if most < knows:
        up_to = f"{most} {'fact' if most == 1 else 'facts'}"
        notes.append(f"beyond {up_to}, where the line is dashed, it covers only people with enough entries for {knows}")
    return "; ".join(notes)


def verdict(
    headline: AdversaryFindings, adversaries: Sequence[AdversaryFindings], settings: Settings, trusted: bool
) -> Verdict:
    """Answers to the three questions, decided by what was measured."""
    singling_out = _singling_out(headline, adversaries)
    linkability = _linkability(headline, settings.budget)
    inference = _inference(headline)
    return Verdict(
        summary=_summary({"singling out": singling_out, "linking": linkability, "inference": inference}, trusted),
        singling_out=singling_out,
        linkability=linkability,
        inference=inference,
    )


def _summary(parts: dict[str, VerdictPart], trusted: bool) -> str:
    doubt = "" if trusted else "Do not trust this result: the audit failed its self-check. "
    often = [name for name, part in parts.items() if part.answer == "yes"]
    sometimes = [name for name, part in parts.items() if part.answer == "partly"]
    if not often and not sometimes:
        return f"{doubt}People in this data were not identified by these adversaries. Others may succeed."
    clauses = [f"at {_listed(often)}"] if often else []
    clauses += [f"in some cases at {_listed(sometimes)}"] if sometimes else []
    return (
        f"{doubt}These adversaries succeed {', and '.join(clauses)}. "
        "On this evidence, the data cannot be considered anonymous."
    )


def _singling_out(headline: AdversaryFindings, adversaries: Sequence[AdversaryFindings]) -> VerdictPart:
    best = max(adversaries, key=lambda adversary: adversary.as_named.identified.value)
    rate, most = headline.as_named.identified, best.as_named.identified
    explanation = (
        f"{_subject_who_knows(headline)} identifies {rate_text(rate)} of targets. "
        f"Guessing would identify {percent(rate.baseline or 0.0)}."
    )
    if most.value > rate.value:
        explanation += f" The most successful adversary, “{best.name}”, identifies {rate_text(most)}."
    # with so few records that guessing reaches one in ten, guessing alone singles people out
    return _part("Singling out", most, explanation, baseline=min(most.baseline or 0.0, CLEAR))


def _linkability(headline: AdversaryFindings, budget: float) -> VerdictPart:
    measures = headline.as_named
    linked = measures.correct_claims_at_budget
    condition, strength = _claim_texts(measures)
    explanation = (
        f"Suppose another source contains {_facts(headline)}. A record is linked only if {condition} is high "
        f"enough that at most {percent(budget)} of absent people are linked to any record. Then "
        f"{rate_text(linked)} of targets are linked to their own record. At {strength}, "
        f"{rate_text(measures.correct_claims)} are, but {rate_text(measures.absent_claims)} of absent people "
        "are linked to somebody else's record."
    )
    # too few targets to be sure of the threshold are no protection: it is about the one of these targets
    return _part("Linkability", linked, explanation, low=estimates.rate(linked.value * linked.n, linked.n).low)


def _claim_texts(measures: MeasuresAsNamed) -> tuple[str, str]:
    """What a claim depends on, and the threshold of the settings."""
    if measures.claims_by == "posterior":
        return "its posterior probability", f"a posterior of {measures.threshold:g} or more"
    return "its eccentricity", f"φ = {measures.threshold:g}"


def _inference(headline: AdversaryFindings) -> VerdictPart:
    measures = headline.as_named
    correct_share = measures.revealed_correct_share
    explanation = (
        f"The best guess reveals on average {measures.revealed_correct.value:,.1f} items that are true of "
        f"the target and were not known. {rate_text(correct_share)} of all items it reveals are true. For "
        f"a random record it would be {percent(correct_share.baseline or 0.0)}."
    )
    return _part("Inference", correct_share, explanation)


def _part(
    title: str, rate: Estimate, explanation: str, baseline: float | None = None, low: float | None = None
) -> VerdictPart:
    """Yes: the interval lies above one in ten and above guessing. Partly: above guessing."""
    guessing = (rate.baseline or 0.0) if baseline is None else baseline
    low = (rate.low if low is None else low) if rate.n else 0.0
    judgement: Judgement = "not by these adversaries"
    if low > guessing:
        judgement = "yes" if low > CLEAR else "partly"
    return VerdictPart(title=title, answer=judgement, explanation=explanation, rate=rate)


def limits(
    headline: AdversaryFindings, *, people: int, complete: bool, quick: bool, has_original: bool, further: Sequence[str]
) -> tuple[str, ...]:
    """What the findings do not say."""
    too_few, targets = headline.too_few_items, headline.as_named.targets
    sentences = [
        f"The audit tested only these adversaries, with {_attack_names(headline)}. People who are not "
        "identified by these adversaries may be identified by others, who know more or use another attack.",
        "The 95 % intervals cover sampling error: which people were drawn as targets, and which errors the "
        "adversary made. They do not say how likely it is that such an adversary exists.",
    ]
    if has_original:
        sentences.append(
            "The adversaries know which steps were applied, and Likelihood allows for their noise. They do "
            "not know the random numbers behind it."
        )
    if too_few:
        sentences.append(
            f"{too_few:,} of {people:,} people have too few entries to be targets of “{headline.name}”. "
            "The audit says nothing about them."
        )
    if targets < people - too_few:
        sentences.append(f"{targets:,} targets, drawn at random, represent all people with enough entries.")
    if people < FEW_RECORDS:
        sentences.append("The data has so few records that shares mean little.")
    if quick:
        sentences.append("This is a quick audit with fewer targets, so the intervals are wide.")
    if not complete:
        sentences.append("The audit was interrupted, so some results are missing.")
    return (*sentences, *further)


def _attack_names(adversary: AdversaryFindings) -> str:
    """The attacks that were made, as in “the paper's attack and Likelihood (a Bayesian attack)”."""
    titles = {"paper": "the paper's attack", "likelihood": "Likelihood (a Bayesian attack)"}
    return _listed([titles.get(attack.name, f"“{attack.name}”") for attack in adversary.attacks])


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
