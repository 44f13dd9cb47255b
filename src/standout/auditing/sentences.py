"""Findings in sentences: the answer, the verdict a lawyer reads, the threshold, the limits.

The verdict answers the three questions of the Article 29 Working Party's Opinion 05/2014. Nothing is ever
called safe: the words are "not identified by these adversaries".
"""

from collections.abc import Sequence
from typing import Any

from standout.auditing.attacks import Attacked, Measures
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimate_text import percent, rate_text
from standout.evaluate.estimates import Estimate

__all__ = ["answer", "limits", "made_from", "threshold", "verdict"]

YES, PARTLY, NO = "yes", "partly", "not by these adversaries"
CLEAR = 0.1
"""A right one in ten, beyond doubt and beyond guessing: the answer is yes."""
FEW = 5
"""Of fewer records shares mean little."""
SUBJECTS = {
    "colleague": "A colleague",
    "acquaintance": "An acquaintance",
    "profile": "A reader of a public profile",
    "undated": "An acquaintance without dates",
    "worst": "The worst adversary",
}
DONE = {"singling_out": "singled out", "linkability": "linked", "inference": "learned about"}


def made_from(people: int, told: dict[str, Any]) -> str:
    """Whose facts are used against a release that was made from another, and how it was made."""
    words = (
        f"This release was made from an original of {people:,} people. What adversaries know is taken from "
        "the original, and told as the release would tell it."
    )
    if told["not_in_release"]:
        words += " Who is not in this release cannot be found, and is among those tried."
    if told["records_of_several"]:
        words += (
            f" {told['records_of_several']:,} of the records stand for several people each, who count as "
            "found where a guess is such a record, though it tells of others too."
        )
    if told["attack"]:
        words += f" The attack allows for the noise in it, {told['attack']}: so it finds more people."
    steps = "; ".join(one["step"] for one in told["done"])
    return f"{words} What was done: {steps or 'nothing'}."


def _there(told: dict[str, Any]) -> str:
    gone = told["not_in_release"]
    return (
        f"{gone:,} of whom {'is' if gone == 1 else 'are'} not in this release"
        if gone
        else "all in this release"
    )


def answer(
    one: Attacked, seen: Measures, records: int, original: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The one sentence, and the number in it; of a release that was made from another, whom that is about."""
    cell = one.at
    assert cell is not None
    found, could = seen["identified", ""], records - cell.too_few_items
    whom = "people" if original is None else f"the {records:,} people of the original"
    if cell.too_few_items:
        where = "" if original is None else " in the original"
        whom = f"the {could:,} people whose records are long enough to be tried, of {records:,}{where}"
    if original is not None:
        whom += f", {_there(original)}"
    released = seen["identified_in_release", ""]
    more = f" Of those who are in it, {percent(released.value)}." if released.n < found.n else ""
    sentence = f"{_who_knows(one)} picks the right record for {percent(found.value)} of {whom}.{more}"
    return {
        "sentence": sentence, "adversary": one.rung.name, "rate": estimate_json(found),
        "people": round(found.value * could), "of": records, "could_not_be_tried": cell.too_few_items,
    }  # fmt: skip


def _who_knows(one: Attacked) -> str:
    """An acquaintance who knows 8 things about a person, 2 of them wrongly,"""
    who = SUBJECTS.get(one.rung.name, f"The adversary “{one.rung.name}”")
    return f"{who} who knows {_known(one)}" + ("," if one.rung.adversary.wrong else "")


def _known(one: Attacked) -> str:
    adversary = one.rung.adversary
    things = f"{adversary.knows} {'thing' if adversary.knows == 1 else 'things'} about a person"
    return f"{things}, {adversary.wrong} of them wrongly" if adversary.wrong else things


def verdict(
    head: Attacked,
    seen: dict[str, Measures],
    tried: Sequence[Attacked],
    phi: float,
    budget: float,
    trusted: bool,
) -> dict[str, Any]:
    """The three questions, answered by what was measured. `seen` has the measures of each adversary."""
    own = seen[head.rung.name]
    parts = {
        "singling_out": _singling_out(head, seen, tried),
        "linkability": _linkability(head, own, phi, budget),
        "inference": _inference(own),
    }
    return {"summary": _summary(parts, trusted), **parts}


def _summary(parts: dict[str, dict[str, Any]], trusted: bool) -> str:
    doubt = "" if trusted else "Do not trust this: the audit did not pass its own checks. "
    able, some = (
        [DONE[key] for key, part in parts.items() if part["answer"] == how] for how in (YES, PARTLY)
    )
    if not able and not some:
        return (
            f"{doubt}The people in this data were not identified by these adversaries; others may do better."
        )
    told = [f"people in this data can be {_joined(able)}"] if able else []
    if some:
        told.append(f"some {'can also' if able else 'people in this data can'} be {_joined(some)}")
    can = "; ".join(told)
    return f"{doubt}By such adversaries {can}: on this evidence the data cannot be taken to be anonymous."


def _singling_out(head: Attacked, seen: dict[str, Measures], tried: Sequence[Attacked]) -> dict[str, Any]:
    """By the headline, and by whoever finds most."""
    best = max(tried, key=lambda one: seen[one.rung.name]["identified", ""].value)
    own, most = (seen[one.rung.name]["identified", ""] for one in (head, best))
    words = (
        f"{_who_knows(head)} picks out the right record for {rate_text(own)} of the people tried; a guess "
        f"would be right for {percent(own.baseline or 0.0)}."
    )
    if most.value > own.value:
        words += f" The most is found by “{best.rung.name}”: {rate_text(most)}."
    return _part("Singling out", most, words, min(most.baseline or 0.0, CLEAR))


def _linkability(head: Attacked, seen: Measures, phi: float, budget: float) -> dict[str, Any]:
    """By claims at the φ for the budget, and at the paper's."""
    number = seen["correct_claims", f"absent_claims<={budget:g}"]
    usual, false = (seen[name, f"phi={phi:g}"] for name in ("correct_claims", "absent_claims"))
    words = (
        f"Suppose that another source tells {_known(head)}, and that a record is linked only where it stands "
        f"out so far that at most {percent(budget)} of people who are not in this data are linked to "
        f"somebody. Then {rate_text(number)} of the people tried are linked to their own record. With "
        f"φ = {phi:g} it is {rate_text(usual)}, and {rate_text(false)} of those who are not in the data are "
        "linked to somebody else."
    )
    return _part("Linkability", number, words)


def _inference(seen: Measures) -> dict[str, Any]:
    """By what the best guess tells that was not known."""
    number, items = seen["revealed_correct_share", ""], seen["revealed_correct", ""]
    words = (
        f"The record that the adversary picks tells, on average, {items.value:,.1f} further things that are "
        f"true of the person. Of all that it tells {rate_text(number)} is true; of a record picked at random "
        f"it would be {percent(number.baseline or 0.0)}."
    )
    return _part("Inference", number, words)


def _part(title: str, number: Estimate, words: str, guess: float | None = None) -> dict[str, Any]:
    """Yes: a right one in ten, beyond doubt and beyond guessing. Partly: more than guessing gives.

    Where there are so few records that one in ten is guessed, guessing singles out as well.
    """
    guess = (number.baseline or 0.0) if guess is None else guess
    sure = number.low if number.n else 0.0
    judged = YES if sure > max(CLEAR, guess) else PARTLY if sure > guess else NO
    return {"title": title, "answer": judged, "words": words, "number": estimate_json(number)}


def threshold(
    fail_above: float | None, seen: dict[str, Measures], tried: Sequence[Attacked]
) -> dict[str, Any]:
    """Whether the share of people found may lie above the threshold, by the upper end of the interval.

    It is of those who are in the release: leaving most people out protects them, and nobody else.
    """
    gates = [one for one in tried if one.rung.gate]
    if fail_above is None or not gates:
        words = "No threshold was set." if fail_above is None else "No adversary counts for the threshold."
        nothing = dict.fromkeys(("measured", "adversary", "exceeded"))
        return {"fail_above": fail_above, **nothing, "words": words}
    worst = max(gates, key=lambda one: seen[one.rung.name]["identified_in_release", ""].high)
    found, limit = seen[worst.rung.name]["identified_in_release", ""], percent(fail_above)
    whom = "people" if found.n == seen[worst.rung.name]["identified", ""].n else "people in the release"
    if found.high <= fail_above:
        words = f"stays within the threshold of {limit}"
    elif found.low > fail_above:
        words = f"is above the threshold of {limit}"
    else:
        words = f"may be above the threshold of {limit}: that cannot be ruled out"
    return {
        "fail_above": fail_above, "measured": estimate_json(found), "adversary": worst.rung.name,
        "exceeded": found.high > fail_above,
        "words": f"The share of {whom} whom “{worst.rung.name}” finds, {rate_text(found)}, {words}.",
    }  # fmt: skip


def limits(
    head: Attacked, records: int, complete: bool, quick: bool, more: Sequence[str],
    original: dict[str, Any] | None = None,
) -> list[str]:  # fmt: skip
    """What the numbers do not say."""
    cell = head.at
    assert cell is not None
    found = [
        "Only these adversaries were tried, with one kind of attack. Whoever is not identified by these "
        "adversaries may be identified by others, who know more or proceed in another way.",
        "The 95 % intervals are about which people were drawn and how the adversary errs. They say nothing "
        "of how likely it is that such an adversary exists.",
    ]
    if original is not None:
        found.append(
            "The adversaries know how the release tells things, and score it as any other. Whoever also "
            "reckons with the chances of each change may do better."
        )
    if cell.too_few_items:
        found.append(
            f"{cell.too_few_items:,} of {records:,} records have too few items to be tried by "
            f"“{head.rung.name}”; nothing is said of these people."
        )
    if len(cell.outcomes) < records - cell.too_few_items:
        found.append(f"{len(cell.outcomes):,} people, drawn at random, stand for all who could be tried.")
    if records < FEW:
        found.append("The data has so few records that shares of them mean little.")
    if quick:
        found.append("This is a quick audit: fewer people were tried, so the intervals are wide.")
    if not complete:
        found.append("The audit was cut short: what is missing was not tried.")
    return [*found, *more]


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
