"""The first page of a report, for a board: the answer, a picture, an example, three cards, the next steps."""

from collections.abc import Iterator
from typing import NamedTuple

from standout.core.text import count, decimal, estimate_text, interval_text, percent
from standout.findings.adversaries import AdversaryFindings
from standout.findings.audit import AuditFindings, DataSummary, VerdictPart
from standout.report.interval_charts import PeopleDots, people_dots

# A worked example with an invented person: known facts → a lineup of three → one.
#
# All names, titles and values are invented and fixed. Only numbers of the adversary decide how many facts are
# shown, and how precise they are: nothing comes from the data.

PERSON = "Kim"
FILMS = (
    ("The Glass Ferry", 4, "3 March"),
    ("Nine Quiet Winters", 2, "9 March"),
    ("A Map of Salt", 5, "21 March"),
    ("Thursday’s Orchard", 3, "2 April"),
    ("The Lamp Ledger", 4, "5 April"),
    ("Paper Estuary", 1, "18 April"),
    ("My Uncle’s Comet", 5, "30 April"),
    ("Ninety Umbrellas", 3, "11 May"),
)
"""Invented titles of films, with stars and dates."""
ANSWERS = (
    ("age", "43", True),
    ("household", "3 people", False),
    ("occupation", "beekeeper", False),
    ("way to work", "25 minutes", True),
    ("pets", "2 dogs", False),
    ("instrument", "cello", False),
    ("income", "31,000", True),
    ("home", "rented", False),
)
"""Invented answers to a survey; the last part says whether the answer can be known roughly."""


class ExampleFact(NamedTuple):
    """One known fact about the invented person."""

    text: str
    is_wrong: bool


class WorkedExample(NamedTuple):
    """The example in three steps.

    `setting` says what the invented facts are about, `knowledge` how much is known, `further` which facts are known
    and not shown. `lineup` has the number of fitting facts of three records, the invented person's own one first.
    """

    person: str
    setting: str
    knowledge: str
    facts: tuple[ExampleFact, ...]
    further: str
    knows: int
    lineup: tuple[tuple[str, int], ...]
    result: str


def worked_example(adversary: AdversaryFindings, data: DataSummary) -> WorkedExample | None:
    """An example with films, or with a survey if the data has columns; None if all of the facts are wrong."""
    knows, wrong, right = adversary.knows, adversary.wrong, adversary.knows - adversary.wrong
    if right < 1:
        return None
    texts, known = _survey(adversary) if data.columns else _films(adversary, data)
    shown = min(knows, len(texts))
    shown_wrong = wrong if shown == knows else wrong * shown // knows
    # wrong facts stand in the middle: the adversary does not know which ones they are
    first = (shown - shown_wrong) // 2
    facts = tuple(ExampleFact(text, first <= index < first + shown_wrong) for index, text in enumerate(texts[:shown]))
    knowledge = f"{count(knows, 'fact', 'facts')} about {PERSON}: {known}"
    if wrong:
        knowledge += f". {count(wrong)} of them {'is' if wrong == 1 else 'are'} wrong"
    further = f"and {count(knows - shown)} more" if knows > shown else ""
    if further and wrong > shown_wrong:
        further += f", {count(wrong - shown_wrong)} of them wrong"
    fitting = right, max(1, right * 2 // 3), max(1, right // 2)
    learned = f"Whoever knows this learns every other {'answer' if data.columns else 'film'} in it, under Kim’s name"
    result = f"Record A fits best, and it is Kim’s: Kim is identified. {learned}."
    if fitting[0] == fitting[1]:
        result = (
            f"All three fit equally well, so the adversary guesses: Record A. One guess in three is right. {learned}."
        )
    return WorkedExample(
        PERSON,
        "a survey in place of your data" if data.columns else "films in place of the items of your data",
        f"{knowledge}.",
        facts,
        further,
        knows,
        tuple(zip(("Record A", "Record B", "Record C"), fitting, strict=True)),
        result,
    )


def _films(adversary: AdversaryFindings, data: DataSummary) -> tuple[list[str], str]:
    """Facts about films, and what is known about them."""
    stars = adversary.value_error if data.has_values else None
    days = adversary.time_error if data.has_times else None
    texts = [
        ", ".join([title, *([count(number, "star", "stars")] * (stars is not None)), *([day] * (days is not None))])
        for title, number, day in FILMS
    ]
    known = ["films that Kim rated" if stars is not None else "films that Kim watched"]
    if stars is not None:
        known.append("the stars" if stars == 0 else "roughly how many stars")
    if days is not None:
        number = decimal(days).removesuffix(".0")
        known.append(f"the day to within {number} {'day' if number == '1' else 'days'}" if days else "the day")
    if adversary.length_error is not None:
        known.append("how many films there are in all")
    if adversary.joined_error is not None:
        known.append("when the first one was")
    return texts, known[0] if len(known) == 1 else f"{', '.join(known[:-1])} and {known[-1]}"


def _survey(adversary: AdversaryFindings) -> tuple[list[str], str]:
    """Answers to a survey, and how well they are known."""
    is_rough = any(error.error for error in adversary.errors)
    texts = [f"{name}: {'about ' if is_rough and can_be else ''}{answer}" for name, answer, can_be in ANSWERS]
    return texts, "answers, numbers only roughly" if is_rough else "answers, exactly"


QUESTIONS = {
    "singling_out": "Can one person's record be identified?",
    "linkability": "Can a record be linked to another source about the same person?",
    "inference": "Can something new be learned about the person?",
}
UNCERTAIN_THRESHOLD = " With few targets, the interval is wide: more targets would narrow it."


class VerdictCard(NamedTuple):
    """One of the three questions of the working party: a measured share, what it is a share of, and the answer."""

    question: str
    number: str
    interval: str
    text: str
    part: VerdictPart


class FirstPage(NamedTuple):
    """What a board reads; `drawn_from` is the number of people whom the targets represent, 0 if all are targets."""

    question: str
    dots: PeopleDots | None
    drawn_from: int
    example: WorkedExample | None
    cards: tuple[VerdictCard, ...]
    next_steps: tuple[str, ...]
    certainty: tuple[str, ...]


def first_page(findings: AuditFindings) -> FirstPage:
    """The first page about a release."""
    main, answer = findings.headline, findings.answer
    eligible = answer.people_total - answer.too_few_items
    return FirstPage(
        "Can somebody who knows a few facts about a person find their record in this data?",
        people_dots(answer.rate, answer.rate.n),
        eligible if answer.rate.n < eligible else 0,
        None if main is None else worked_example(main, findings.data),
        _cards(findings),
        tuple(_next_steps(findings)),
        tuple(_certainty(findings)),
    )


def _cards(findings: AuditFindings) -> tuple[VerdictCard, ...]:
    """The three cards; a question without a text of its own shows the explanation of the findings."""
    verdict, budget = findings.verdict, percent(findings.settings.budget)
    linked, guessing, baseline = (
        verdict.linkability,
        verdict.singling_out.rate.baseline,
        verdict.inference.rate.baseline,
    )
    is_uncertain = linked.answer == "yes" and linked.rate.high - linked.rate.low > 0.5
    texts = {
        "singling_out": "of targets are identified by the most successful adversary."
        + ("" if guessing is None else f" By guessing: {percent(guessing)}."),
        "linkability": f"of targets are linked to their own record, if at most {budget} of absent people may be "
        f"linked to any record.{UNCERTAIN_THRESHOLD if is_uncertain else ''}",
    }
    if not findings.data.columns:
        random = "" if baseline is None else f" In a random record: {percent(baseline)}."
        texts["inference"] = f"of the further items in the guessed record are true of the target.{random}"
    return tuple(
        VerdictCard(
            question,
            estimate_text(part.rate) if key in texts else "",
            interval_text(part.rate) if key in texts else "",
            texts.get(key, part.explanation),
            part,
        )
        for key, question in QUESTIONS.items()
        for part in [getattr(verdict, key)]
    )


def _next_steps(findings: AuditFindings) -> Iterator[str]:
    """What to do next, the most important first."""
    if not findings.trust.trusted:
        yield "Do not use these numbers. Find out why the self-check failed, and repeat the audit."
        return
    if not findings.complete:
        yield "Finish the audit: run the same command again."
    verdict, advice = findings.verdict, findings.advice
    answers = {part.answer for part in (verdict.singling_out, verdict.linkability, verdict.inference)}
    has_risk = bool(answers & {"yes", "partly"}) or bool(findings.threshold.exceeded)
    if has_risk and findings.data.synthetic:
        yield "Nothing: these people do not exist. Real data with such numbers would be personal data."
    elif has_risk:
        yield "Treat the data as personal data. Do not publish it as anonymous data in this form."
        if advice is None:
            yield "Measure which changes reduce the risk, and what they cost: run this audit with --advise."
        elif advice.recommended is None:
            yield (
                f"No tested change is shown to keep the risk within {percent(advice.limit)}. “What would help” "
                "lists how close the changes come."
            )
        else:
            yield "Make the recommended changes. “What would help” lists them and what they cost."
        yield "Audit the changed data with --original before you publish it."
    else:
        yield (
            "Before you decide, ask whether somebody could know more than these adversaries do, and read the "
            "limits of this audit."
        )
    if any(reading.quasi_identifiers for reading in findings.reading if reading.of == "release"):
        yield "Remove the columns that this audit did not measure, or assess them separately."
    if findings.settings.quick:
        yield "Repeat the audit without --quick before you decide."


def _certainty(findings: AuditFindings) -> Iterator[str]:
    """How far the answer can be relied on: sampling error, self-check, control, and what it is not about."""
    rate, trust, main = findings.answer.rate, findings.trust, findings.headline
    if interval_text(rate):
        yield (
            f"The answer rests on {count(rate.n, 'target', 'targets')}. Its 95 % interval, "
            f"{interval_text(rate)}, covers sampling error only."
        )
    tests, failed = count(len(trust.checks), "test", "tests"), sum(not check.passed for check in trust.checks)
    if failed or not trust.trusted:
        yield f"The audit failed its self-check: {failed} of {tests} failed."
    else:
        yield f"The audit passed its self-check of {tests}."
    if main is not None and main.as_named.absent_claims.n:
        yield (
            f"Control: the adversary is sure enough to claim the right record for "
            f"{estimate_text(main.as_named.correct_claims)} of targets. After their records are removed, it "
            f"still claims a record for {estimate_text(main.as_named.absent_claims)}."
        )
    yield "Somebody who knows more, or who uses another attack, may identify more people."
