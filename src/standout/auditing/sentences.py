"""The sentences of an audit: the answer, the verdict and the limits, and what adversaries know.

The verdict answers the three questions of the Article 29 Working Party's Opinion 05/2014. No sentence calls
data safe: the strongest statement is "not identified by these adversaries".
"""

from collections.abc import Sequence
from typing import Literal

from standout.data.labels import SECONDS, TimeUnit
from standout.data.release import Release
from standout.evaluate import estimates
from standout.evaluate.estimates import Estimate, percent, rate_text
from standout.findings.audit import Answer, AppliedStep, AuditFindings, DataSize, Original, Verdict, VerdictPart
from standout.findings.reading import error_text
from standout.findings.sections import AdversaryFindings, ColumnError
from standout.know.adversary import Adversary, has_own_draws
from standout.know.observation import Choice

CLEAR = 0.1
"""The answer is yes if the interval lies above one in ten, and above guessing."""
DAY = SECONDS["day"]
MOST_ERRORS = 4
"""Number of columns whose error a sentence gives: the report lists all of them in a table."""
FEW_RECORDS = 5
"""With fewer records, shares mean little."""
MOST_NAMES = 12
"""Number of names that a sentence lists."""
SUBJECTS = {
    "register": "The owner of a register",
    "stranger": "A stranger",
    "colleague": "A colleague",
    "acquaintance": "An acquaintance",
    "friend": "A friend",
    "profile": "A reader of a public profile",
    "undated": "An acquaintance without dates",
    "worst": "The worst-case adversary",
}
ATTACKS = {
    "paper": "the paper's attack",
    "likelihood": "Likelihood (a Bayesian attack)",
    "exact match": "exact matching",
}


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names in a sentence; many are cut short."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def answer(headline: AdversaryFindings, data: DataSize, original: Original | None) -> Answer:
    """The main result in one sentence, its number, and the same by exact matching."""
    measures, too_few = headline.as_named, headline.too_few_items
    people = (data if original is None else original).records
    of_original = "" if original is None else " of the original"
    whom = "people" if original is None else f"the {people:,} people{of_original}"
    if too_few:
        whom = (
            f"the {people - too_few:,} people{of_original} (out of {people:,}) with enough {data.parts} to be targets"
        )
    if original is not None:
        missing = original.not_in_release
        are = f"{missing:,} of the {people:,} {'is' if missing == 1 else 'are'} not in this release"
        whom += f"; {are}" if missing else ", all of whom are in this release"
    sentence = f"{_subject_who_knows(headline)} identifies {percent(measures.identified.value)} of {whom}."
    in_release = measures.identified_in_release
    if in_release.n < measures.identified.n:
        sentence += f" Among people who are in the release, it is {percent(in_release.value)}."
    exact, comparison = headline.by("exact match"), ""
    if exact is not None and headline.attack != "exact match":
        imprecise = headline.wrong or any(error.error for error in headline.errors)
        comparison = f"Exact matching with the same knowledge identifies {percent(exact.identified.value)}"
        comparison += ": it needs every value to be right." if imprecise else "."
    return Answer(
        sentence=sentence,
        adversary=headline.name,
        rate=measures.identified,
        comparison=comparison,
        people_identified=round(measures.identified.value * (people - too_few)),
        people_total=people,
        too_few_items=too_few,
    )


def _subject_who_knows(adversary: AdversaryFindings) -> str:
    """Subject of a sentence: “An acquaintance who knows 8 facts about a person, 2 of them wrong,”."""
    subject = SUBJECTS.get(adversary.name, f"The adversary “{adversary.name}”")
    return f"{subject} who knows {facts_text(adversary, ' about a person')}" + ("," if adversary.wrong else "")


def original_explanation(
    people: int, missing: int, shared_records: int, dropped: Sequence[str], steps: Sequence[AppliedStep]
) -> str:
    """What it means that the release was made from an original."""
    sentences = [
        f"This release was made from an original with {people:,} people. Targets and the facts that "
        "adversaries know come from the original. Facts are converted to the form of the release: if the "
        "release has only months, a known day becomes its month."
    ]
    if missing:
        sentences.append("People missing from the release cannot be identified, but they count among the targets.")
    if shared_records:
        sentences.append(
            f"{shared_records:,} records represent several people each. A guess of such a record counts as "
            "identifying each of them, although the record also describes the others."
        )
    if dropped:
        sentences.append(f"The release lacks {listed(dropped)}: knowing these does not help.")
    return " ".join([*sentences, f"Steps that were applied: {'; '.join(step.step for step in steps) or 'none'}."])


def curve_note(knows: int, wrong: int, most: int, most_wrong: int, too_few: int, parts: str) -> str:
    """Whom a curve is about, and how its adversary differs from the named one."""
    notes = []
    if wrong:
        are = "is" if most_wrong == 1 else "are"
        notes.append(f"{most_wrong} of {most} facts {are} wrong, and on average the same share of fewer facts")
    if too_few:
        notes.append(f"the curve covers only people with enough {parts} for {most} {'fact' if most == 1 else 'facts'}")
    if most < knows:
        up_to = f"{most} {'fact' if most == 1 else 'facts'}"
        notes.append(f"beyond {up_to}, where the line is dashed, it covers only people with enough {parts} for {knows}")
    return "; ".join(notes)


def verdict(findings: AuditFindings, trusted: bool) -> Verdict:
    """Answers to the three questions, decided by what was measured; `trusted` says whether all checks passed."""
    headline = findings.headline
    assert headline is not None
    parts = {
        "singling out": _singling_out(headline, findings.adversaries),
        "linking": _linkability(headline, findings.settings.budget),
        "inference": _inference(findings, headline),
    }
    doubt = "" if trusted else "Do not trust this result: the audit failed its self-check. "
    often, sometimes = ([name for name, part in parts.items() if part.answer == each] for each in ("yes", "partly"))
    clauses = [f"at {listed(often)}"] if often else []
    clauses += [f"in some cases at {listed(sometimes)}"] if sometimes else []
    summary = (
        f"{doubt}These adversaries succeed {', and '.join(clauses)}. "
        "On this evidence, the data cannot be considered anonymous."
    )
    if not clauses:
        summary = f"{doubt}People in this data were not identified by these adversaries. Others may succeed."
    singling_out, linkability, inference = parts.values()
    return Verdict(summary=summary, singling_out=singling_out, linkability=linkability, inference=inference)


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
    return _part("Singling out", most, explanation, min(most.baseline or 0.0, CLEAR))


def _linkability(headline: AdversaryFindings, budget: float) -> VerdictPart:
    measures = headline.as_named
    linked = measures.correct_claims_at_budget
    condition, strength = "its eccentricity", f"φ = {measures.threshold:g}"
    if measures.claims_by == "posterior":
        condition, strength = "its posterior probability", f"a posterior of {measures.threshold:g} or more"
    explanation = (
        f"Suppose another source contains {facts_text(headline, ' about a person')}. A record is linked "
        f"only if {condition} is high enough that at most {percent(budget)} of absent people are linked to any "
        f"record. Then {rate_text(linked)} of targets are linked to their own record. At {strength}, "
        f"{rate_text(measures.correct_claims)} are, but {rate_text(measures.absent_claims)} of absent people "
        "are linked to somebody else's record."
    )
    # too few targets to be sure of the threshold are no protection: it is about the one of these targets
    low = estimates.rate(linked.value * linked.n, linked.n).low
    return _part("Linkability", linked, explanation, linked.baseline or 0.0, low)


def _inference(findings: AuditFindings, headline: AdversaryFindings) -> VerdictPart:
    """What is learned: the sensitive column that is guessed best, the rest of the row, or further items."""
    guesses = [
        (each.guessed.value - max(each.control.value, each.baseline), each.guessed, each.control, each)
        for each in findings.disclosure
        if each.guessed is not None and each.control is not None
    ]
    if guesses:
        _, guessed, control, worst = max(guesses, key=lambda each: each[0])
        explanation = (
            f"The sensitive column “{worst.column}” is guessed for {rate_text(guessed)} of targets. "
            f"For people who are not in the release it is {rate_text(control)}, and the commonest value "
            f"alone is right for {percent(worst.baseline)}."
        )
        return _part("Inference", guessed, explanation, max(control.value, worst.baseline))
    measures = headline.as_named
    if findings.data.columns:
        further = 0.0 if findings.learned is None else findings.learned.columns.value
        explanation = "No column is declared as sensitive. Whoever is identified has the whole row revealed"
        explanation += f": {further:.1f} further columns on average." if further else "."
        return _part("Inference", measures.identified, explanation, measures.identified.baseline or 0.0)
    share, correct = measures.revealed_correct_share, measures.revealed_correct
    assert share is not None and correct is not None
    explanation = (
        f"The best guess reveals on average {correct.value:,.1f} items that are true of "
        f"the target and were not known. {rate_text(share)} of all items it reveals are true. For "
        f"a random record it would be {percent(share.baseline or 0.0)}."
    )
    return _part("Inference", share, explanation, share.baseline or 0.0)


def _part(title: str, rate: Estimate, explanation: str, guessing: float, low: float | None = None) -> VerdictPart:
    """Yes: the interval lies above one in ten and above guessing. Partly: above guessing."""
    low = (rate.low if low is None else low) if rate.n else 0.0
    judgement: Literal["yes", "partly", "not by these adversaries"] = "not by these adversaries"
    if low > guessing:
        judgement = "yes" if low > CLEAR else "partly"
    return VerdictPart(title=title, answer=judgement, explanation=explanation, rate=rate)


def limits(findings: AuditFindings, further: Sequence[str]) -> tuple[str, ...]:
    """What the findings do not say, and further limits."""
    headline, data, original = findings.headline, findings.data, findings.original
    assert headline is not None
    people, parts = (data if original is None else original).records, data.parts
    too_few, targets = headline.too_few_items, headline.as_named.targets
    ignored = [column.name for reading in findings.reading for column in reading.unused] if data.columns else []
    attacks = listed([ATTACKS.get(attack.name, f"“{attack.name}”") for attack in headline.attacks])
    sentences = {
        f"The audit tested only these adversaries, with {attacks}. People who are not identified by these adversaries "
        "may be identified by others, who know more or use another attack.": True,
        "The 95 % intervals cover sampling error: which people were drawn as targets, and which errors the adversary "
        "made. They do not say how likely it is that such an adversary exists.": True,
        "The adversaries know which steps were applied, and Likelihood allows for their noise. They do not know the "
        "random numbers behind it.": original is not None,
        f"Columns that were left out on purpose were not audited: {listed(ignored) if ignored else ''}. If they are "
        "published, the risk is higher.": bool(ignored),
        f"{too_few:,} of {people:,} people have too few {parts} to be targets of “{headline.name}”. The audit says "
        "nothing about them.": too_few > 0,
        f"{targets:,} targets, drawn at random, represent all people with enough {parts}.": targets < people - too_few,
        "The data has so few records that shares mean little.": people < FEW_RECORDS,
        "This is a quick audit with fewer targets, so the intervals are wide.": findings.settings.quick,
        "The audit was interrupted, so some results are missing.": not findings.complete,
    }
    return (*(sentence for sentence, applies in sentences.items() if applies), *further)


# What an adversary knows, in words: its items or columns, and how precise its values and dates are.


def describe_adversary(adversary: Adversary, release: Release) -> str:
    """What the adversary knows: 4 popular items, values ± 1, dates ± 30 days, 1 wrong."""
    n, one, repeats, wrong = adversary.knows, adversary.knows == 1, release.has_repeats, adversary.wrong
    assert isinstance(adversary.items, Choice)
    if not release.columns:  # several entries may be about the same item where an item may repeat
        noun = ("entry" if one else "entries") if repeats else "item" if one else "items"
        kinds = {
            "any": noun,
            "popular": f"{noun} of popular items" if repeats else f"popular {noun}",
            "rarest": f"{noun} of the rarest items" if repeats else "of the rarest items",
            "recent": "latest entry" if repeats and one else f"of the latest {noun if repeats else 'items'}",
            "burst": f"{noun} close in time",
            "outside_top": f"{noun}{' of items' if repeats else ''} outside the {adversary.items.top:,} most popular",
        }
        which = f"{n} {kinds[adversary.items.name]}"
        if has_own_draws(adversary):
            which = f"up to {n} {noun} chosen by {type(adversary).__name__}"
        lacks = "" if adversary.wrong_facts == "values" else " (items that the record lacks)"
        return ", ".join([which, *_precision(adversary, release), *([f"{wrong} wrong{lacks}"] if wrong else [])])
    errors = [f"{error.column} {error.text}" for error in column_errors(adversary, release) if error.error]
    known, whose = adversary.columns, "The other values" if wrong else "Values"
    total = len(release.attributes) if known is None else len(known)
    among = f"{n} of the {total} attributes" if known is None else f"{n} of {listed(known)}"
    attributes = f"{among}, drawn at random for each person"
    if n == total and known is not None:
        attributes = listed(known)
    elif n == total:
        attributes = "the only attribute" if one else f"all {total} attributes"
    elif adversary.items.name == "rarest":
        attributes = f"the {among} whose values the fewest people share"
        if one:
            attributes = f"the one{among.removeprefix('1')} whose value the fewest people share"
    precision = f"{whose} are imprecise: {listed(errors, MOST_ERRORS)}" if errors else f"{whose} are exact"
    number = 0 if adversary.entries is None else adversary.entries.knows
    history = f". Also knows {number} {'entry' if number == 1 else 'entries'} of the person's history"
    return f"{attributes}{f', {wrong} of them wrong' if wrong else ''}. {precision}{history if number else ''}"


def facts_text(adversary: Adversary | AdversaryFindings, about: str = "") -> str:
    """The number of facts: 8 facts, 2 of them wrong."""
    facts = f"{adversary.knows} {'fact' if adversary.knows == 1 else 'facts'}{about}"
    return f"{facts}, {adversary.wrong} of them wrong" if adversary.wrong else facts


def describe_precision(adversary: Adversary, release: Release) -> str:
    """How precisely the adversary knows what the release has: values ± 1, dates ± 14 days."""
    parts = _precision(adversary, release)
    if parts[:2] == ["exact values", "exact dates"]:
        parts[:2] = ["exact values and dates"]
    return ", ".join(parts) or "items only"


def time_text(days: float) -> str:
    """A duration in whole days, hours or minutes.

    >>> time_text(14), time_text(5 / 24), time_text(1.5)
    ('14 days', '5 hours', '1.5 days')
    """
    if days >= 1 or not days:
        return f"{days:g} {'day' if days == 1 else 'days'}"
    unit: TimeUnit = "hour" if days * DAY + 1e-6 >= SECONDS["hour"] else "minute"
    number = f"{days * DAY / SECONDS[unit]:.3g}"
    return f"{number} {unit if number == '1' else unit + 's'}"


def _precision(adversary: Adversary, release: Release) -> list[str]:
    parts, errors = [], list[tuple[str, float | None, str]]()
    if release.n_levels:
        errors.append(("values", adversary.value_error, f"{adversary.value_error or 0:g}"))
    if release.span:
        errors.append(("dates", adversary.time_error, time_text(adversary.time_error or 0)))
    for what, error, text in errors:
        parts.append(f"no {what}" if error is None else f"{what} ± {text}" if error else f"exact {what}")
    if adversary.length_error is not None:
        parts.append(f"length of the record ± {adversary.length_error:.0%}")
    if adversary.joined_error is not None:
        parts.append(f"first date ± {time_text(adversary.joined_error)}")
    return parts


def column_errors(adversary: Adversary, release: Release) -> tuple[ColumnError, ...]:
    """How inaccurate the adversary's knowledge of each column is."""
    known = None if adversary.columns is None else set(adversary.columns)
    errors = []
    for column in release.columns:
        if known is None or column.name in known or column.attribute in known:
            error = adversary.error_of(column) if column.has_distances else 0.0
            errors.append(ColumnError(column=column.name, error=error, text=error_text(column, error)))
    return tuple(errors)
