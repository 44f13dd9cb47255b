"""The sentences that an audit of a table computes: the answer, the verdict and the limits.

The verdict answers the three questions of the Article 29 Working Party's Opinion 05/2014. No sentence calls
data safe: the strongest statement is "not identified by these adversaries".
"""

from collections.abc import Sequence
from typing import Literal

from standout.evaluate import estimates
from standout.evaluate.estimates import Estimate, percent, rate_text
from standout.findings.audit import Verdict, VerdictPart
from standout.findings.reading import TableOriginal
from standout.findings.tables import Disclosure, Learned, TableAdversaryFindings, TableAnswer

__all__ = ["answer", "limits", "verdict"]

Judgement = Literal["yes", "partly", "not by these adversaries"]
CLEAR = 0.1
"""The answer is yes if the interval lies above one in ten, and above guessing."""
FEW_ROWS = 5
SUBJECTS = {
    "register": "The owner of a register",
    "stranger": "A stranger",
    "acquaintance": "An acquaintance",
    "colleague": "A colleague",
    "friend": "A friend",
    "worst": "The worst-case adversary",
}
TITLES = {
    "likelihood": "Likelihood (a Bayesian attack)",
    "paper": "the paper's attack",
    "exact match": "exact matching",
}


def answer(headline: TableAdversaryFindings, people: int, original: TableOriginal | None) -> TableAnswer:
    """The main result in one sentence, its number, and the same by exact matching."""
    measures, too_few = headline.as_named, headline.too_few_cells
    sentence = (
        f"{_subject_who_knows(headline)} identifies {percent(measures.identified.value)} of "
        f"{_people(people, too_few, original)}."
    )
    if measures.identified_in_table.n < measures.identified.n:
        in_table = percent(measures.identified_in_table.value)
        sentence += f" Among people who are in the table, it is {in_table}."
    exact = headline.by("exact match")
    comparison = ""
    if exact is not None and headline.attack != "exact match":
        share = percent(exact.identified.value)
        comparison = f"Exact matching with the same knowledge identifies {share}"
        imprecise = headline.wrong or any(error.error for error in headline.errors)
        comparison += ": it needs every value to be right." if imprecise else "."
    return TableAnswer(
        sentence=sentence,
        adversary=headline.name,
        rate=measures.identified,
        comparison=comparison,
        people_identified=round(measures.identified.value * (people - too_few)),
        people_total=people,
        too_few_cells=too_few,
    )


def _people(people: int, too_few: int, original: TableOriginal | None) -> str:
    of_original = "" if original is None else " of the original"
    if too_few:
        targets = f"the {people - too_few:,} people{of_original} (out of {people:,})"
        return f"{targets} with enough cells to be targets"
    return f"the {people:,} people{of_original}"


def _subject_who_knows(adversary: TableAdversaryFindings) -> str:
    """Subject of a sentence: “An acquaintance who knows 6 attributes of a person, 1 of them wrong,”."""
    subject = SUBJECTS.get(adversary.name, f"The adversary “{adversary.name}”")
    return f"{subject} who knows {_known(adversary)}" + ("," if adversary.wrong else "")


def _known(adversary: TableAdversaryFindings) -> str:
    known = f"{adversary.knows} {'attribute' if adversary.knows == 1 else 'attributes'} of a person"
    return f"{known}, {adversary.wrong} of them wrong" if adversary.wrong else known


def verdict(
    headline: TableAdversaryFindings,
    adversaries: Sequence[TableAdversaryFindings],
    disclosure: Sequence[Disclosure],
    learned: Learned | None,
    budget: float,
    trusted: bool,
) -> Verdict:
    """Answers to the three questions, decided by what was measured."""
    singling_out = _singling_out(headline, adversaries)
    linkability = _linkability(headline, budget)
    inference = _inference(headline, disclosure, learned)
    parts = {"singling out": singling_out, "linking": linkability, "inference": inference}
    return Verdict(
        summary=_summary(parts, trusted), singling_out=singling_out, linkability=linkability, inference=inference
    )


def _summary(parts: dict[str, VerdictPart], trusted: bool) -> str:
    doubt = "" if trusted else "Do not trust this result: the audit failed its self-check. "
    often = [name for name, part in parts.items() if part.answer == "yes"]
    sometimes = [name for name, part in parts.items() if part.answer == "partly"]
    if not often and not sometimes:
        return f"{doubt}People in this table were not identified by these adversaries. Others may succeed."
    clauses = [f"at {_listed(often)}"] if often else []
    clauses += [f"in some cases at {_listed(sometimes)}"] if sometimes else []
    return (
        f"{doubt}These adversaries succeed {', and '.join(clauses)}. "
        "On this evidence, the table cannot be considered anonymous."
    )


def _singling_out(headline: TableAdversaryFindings, adversaries: Sequence[TableAdversaryFindings]) -> VerdictPart:
    best = max(adversaries, key=lambda adversary: adversary.as_named.identified.value)
    share, most = headline.as_named.identified, best.as_named.identified
    explanation = (
        f"{_subject_who_knows(headline)} identifies {rate_text(share)} of targets. "
        f"Guessing would identify {percent(share.baseline or 0.0)}."
    )
    if most.value > share.value:
        explanation += f" The most successful adversary, “{best.name}”, identifies {rate_text(most)}."
    return _part("Singling out", most, explanation, min(most.baseline or 0.0, CLEAR), most.low)


def _linkability(headline: TableAdversaryFindings, budget: float) -> VerdictPart:
    measures = headline.as_named
    linked = measures.correct_claims_at_budget
    by = "its posterior probability" if measures.claims_by == "posterior" else "its eccentricity"
    explanation = (
        f"Suppose another source has {_known(headline)}. A row is linked only if {by} is high enough that at "
        f"most {percent(budget)} of absent people are linked to any row. Then {rate_text(linked)} of targets "
        "are linked to their own row."
    )
    # too few targets to be sure of the threshold are no protection: it is about the one of these targets
    low = estimates.rate(linked.value * linked.n, linked.n).low
    return _part("Linkability", linked, explanation, 0.0, low)


def _inference(
    headline: TableAdversaryFindings, disclosure: Sequence[Disclosure], learned: Learned | None
) -> VerdictPart:
    """The sensitive column that is guessed best, compared with guesses about absent people."""
    guessed = [each for each in disclosure if each.guessed is not None and each.control is not None]
    if guessed:
        worst = max(guessed, key=lambda each: _excess(each))
        assert worst.guessed is not None and worst.control is not None
        explanation = (
            f"The sensitive column “{worst.column}” is guessed for {rate_text(worst.guessed)} of targets. "
            f"For people who are not in the table it is {rate_text(worst.control)}, and the commonest value "
            f"alone is right for {percent(worst.baseline)}."
        )
        return _part(
            "Inference", worst.guessed, explanation, max(worst.control.value, worst.baseline), worst.guessed.low
        )
    identified = headline.as_named.identified
    explanation = "No column is declared as sensitive. Whoever is identified has the whole row revealed"
    further = 0.0 if learned is None else learned.columns.value
    explanation += f": {further:.1f} further columns on average." if further else "."
    return _part("Inference", identified, explanation, identified.baseline or 0.0, identified.low)


def _excess(disclosure: Disclosure) -> float:
    assert disclosure.guessed is not None and disclosure.control is not None
    return disclosure.guessed.value - max(disclosure.control.value, disclosure.baseline)


def _part(title: str, share: Estimate, explanation: str, guessing: float, low: float) -> VerdictPart:
    """Yes: the interval lies above one in ten and above guessing. Partly: above guessing."""
    low = low if share.n else 0.0
    judgement: Judgement = "not by these adversaries"
    if low > guessing:
        judgement = "yes" if low > CLEAR else "partly"
    return VerdictPart(title=title, answer=judgement, explanation=explanation, rate=share)


def limits(
    headline: TableAdversaryFindings,
    *,
    people: int,
    complete: bool,
    quick: bool,
    ignored: Sequence[str],
    further: Sequence[str],
) -> tuple[str, ...]:
    """What the findings do not say."""
    too_few, targets = headline.too_few_cells, headline.as_named.targets
    attacks = _listed([TITLES.get(attack.name, attack.name) for attack in headline.attacks])
    sentences = [
        f"The audit tested only these adversaries, with {attacks}. People who are not identified by these "
        "adversaries may be identified by others, who know more or use another attack.",
        "The 95 % intervals cover sampling error: which people were drawn as targets, and which errors the "
        "adversary made. They do not say how likely it is that such an adversary exists.",
    ]
    if ignored:
        sentences.append(
            f"Columns that were left out on purpose were not audited: {_listed(list(ignored))}. If they are "
            "published, the risk is higher."
        )
    if too_few:
        sentences.append(
            f"{too_few:,} of {people:,} people have too few cells to be targets of “{headline.name}”. "
            "The audit says nothing about them."
        )
    if targets < people - too_few:
        sentences.append(f"{targets:,} targets, drawn at random, represent all people with enough cells.")
    if people < FEW_ROWS:
        sentences.append("The table has so few rows that shares mean little.")
    if quick:
        sentences.append("This is a quick audit with fewer targets, so the intervals are wide.")
    if not complete:
        sentences.append("The audit was interrupted, so some results are missing.")
    return (*sentences, *further)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
