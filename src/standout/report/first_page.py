"""The first page of a report, for a board: the answer, a picture, an example, three cards, the next steps."""

from collections.abc import Iterator
from dataclasses import dataclass

from standout.core.formatting import count, estimate_text, interval_text, percent
from standout.findings.adversaries import MeasuresAsNamed
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings, Trust, Verdict, VerdictPart
from standout.findings.table_adversaries import TableMeasures
from standout.findings.table_audit import TableFindings
from standout.report.people_dots import PeopleDots, people_dots
from standout.report.worked_example import WorkedExample, release_example, table_example

__all__ = ["FirstPage", "VerdictCard", "release_first_page", "table_first_page"]

QUESTIONS = {
    "singling_out": "Can one person's {record} be identified?",
    "linkability": "Can a {record} be linked to another source about the same person?",
    "inference": "Can something new be learned about the person?",
}
UNCERTAIN_THRESHOLD = "With few targets, the interval is wide: more targets would narrow it."


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """One of the three questions of the working party, with its answer.

    Attributes
    ----------
    number
        The measured share; empty if the text says it.
    text
        What the share is a share of.
    part
        The answer of the findings, with its full explanation.
    """

    question: str
    number: str
    interval: str
    text: str
    part: VerdictPart


@dataclass(frozen=True, slots=True)
class FirstPage:
    """What a board reads.

    Attributes
    ----------
    question
        The question that the audit answers.
    dots
        The picture of the targets; None if nobody was attacked.
    drawn_from
        Number of people from whom the targets were drawn; 0 if all of them are targets.
    example
        The invented example; None if there is no adversary, or if all of its facts are wrong.
    next_steps
        Recommendations, the most important first.
    certainty
        How sure the audit is, in sentences.
    """

    question: str
    dots: PeopleDots | None
    drawn_from: int
    example: WorkedExample | None
    cards: tuple[VerdictCard, ...]
    next_steps: tuple[str, ...]
    certainty: tuple[str, ...]


def release_first_page(findings: AuditFindings) -> FirstPage:
    """The first page about a release of records."""
    main, answer, verdict = findings.headline, findings.answer, findings.verdict
    inference = verdict.inference.rate
    texts = {
        "linkability": _linked("record", findings.settings.budget, verdict.linkability),
        "inference": "of the further items in the guessed record are true of the target"
        + ("." if inference.baseline is None else f". In a random record: {percent(inference.baseline)}."),
    }
    unmeasured = any(reading.quasi_identifiers for reading in findings.reading if reading.of == "release")
    return FirstPage(
        "Can somebody who knows a few facts about a person find their record in this data?",
        people_dots(answer.rate, answer.rate.n),
        _drawn_from(answer.rate.n, answer.people_total - answer.too_few_items),
        None if main is None else release_example(main, findings.data),
        _cards(verdict, "record", texts),
        tuple(
            _next_steps(
                findings,
                "run this audit with --advise",
                advice=findings.advice,
                has_unmeasured=unmeasured,
                is_synthetic=findings.data.synthetic,
            )
        ),
        tuple(_certainty(findings, None if main is None else main.as_named, "record")),
    )


def table_first_page(findings: TableFindings) -> FirstPage:
    """The first page about a table with one row for each person."""
    main, answer, verdict = findings.headline, findings.answer, findings.verdict
    texts = {"linkability": _linked("row", findings.settings.budget, verdict.linkability)}
    return FirstPage(
        "Can somebody who knows a few things about a person find their row in this table?",
        people_dots(answer.rate, answer.rate.n),
        _drawn_from(answer.rate.n, answer.people_total - answer.too_few_cells),
        table_example(main),
        _cards(verdict, "row", texts),
        tuple(_next_steps(findings, "run standout advise")),
        tuple(_certainty(findings, main.as_named, "row")),
    )


def _drawn_from(targets: int, eligible: int) -> int:
    return eligible if targets < eligible else 0


def _linked(record: str, budget: float, part: VerdictPart) -> str:
    """What the share of linked targets means."""
    text = (
        f"of targets are linked to their own {record}, if at most {percent(budget)} of absent people may be "
        f"linked to any {record}."
    )
    is_uncertain = part.answer == "yes" and part.rate.high - part.rate.low > 0.5
    return f"{text} {UNCERTAIN_THRESHOLD}" if is_uncertain else text


def _cards(verdict: Verdict, record: str, texts: dict[str, str]) -> tuple[VerdictCard, ...]:
    """The three cards; a question without a text of its own shows the explanation of the findings."""
    guessing = verdict.singling_out.rate.baseline
    singled_out = "of targets are identified by the most successful adversary."
    if guessing is not None:
        singled_out += f" By guessing: {percent(guessing)}."
    texts = {"singling_out": singled_out, **texts}
    return tuple(
        VerdictCard(
            question.format(record=record),
            estimate_text(part.rate) if key in texts else "",
            interval_text(part.rate) if key in texts else "",
            texts.get(key, part.explanation),
            part,
        )
        for key, question in QUESTIONS.items()
        for part in [getattr(verdict, key)]
    )


def _next_steps(
    findings: AuditFindings | TableFindings,
    advise: str,
    *,
    advice: AdviceFindings | None = None,
    has_unmeasured: bool = False,
    is_synthetic: bool = False,
) -> Iterator[str]:
    """What to do next, from the findings."""
    if not findings.trust.trusted:
        yield "Do not use these numbers. Find out why the self-check failed, and repeat the audit."
        return
    if not findings.complete:
        yield "Finish the audit: run the same command again."
    verdict, threshold = findings.verdict, findings.threshold
    answers = {part.answer for part in (verdict.singling_out, verdict.linkability, verdict.inference)}
    has_risk = bool(answers & {"yes", "partly"}) or bool(threshold.exceeded)
    if has_risk and is_synthetic:
        yield "Nothing: these people do not exist. Real data with such numbers would be personal data."
    elif has_risk:
        yield "Treat the data as personal data. Do not publish it as anonymous data in this form."
        yield _advised(advise, advice)
        yield "Audit the changed data with --original before you publish it."
    else:
        yield (
            "Before you decide, ask whether somebody could know more than these adversaries do, and read the "
            "limits of this audit."
        )
    if has_unmeasured:
        yield "Remove the columns that this audit did not measure, or assess them separately."
    if findings.settings.quick:
        yield "Repeat the audit without --quick before you decide."


def _advised(advise: str, advice: AdviceFindings | None) -> str:
    if advice is None:
        return f"Measure which changes reduce the risk, and what they cost: {advise}."
    if advice.recommended is None:
        return (
            f"No tested change is shown to keep the risk within {percent(advice.limit)}. “What would help” "
            "lists how close the changes come."
        )
    return "Make the recommended changes. “What would help” lists them and what they cost."


def _certainty(
    findings: AuditFindings | TableFindings,
    measured: MeasuresAsNamed | TableMeasures | None,
    record: str,
) -> Iterator[str]:
    """How far the answer can be relied on: sampling error, self-check, control, and what it is not about."""
    rate = findings.answer.rate
    if interval_text(rate):
        yield (
            f"The answer rests on {count(rate.n, 'target', 'targets')}. Its 95 % interval, "
            f"{interval_text(rate)}, covers sampling error only."
        )
    yield _checked(findings.trust)
    if measured is not None and measured.absent_claims.n:
        yield (
            f"Control: the adversary is sure enough to claim the right {record} for "
            f"{estimate_text(measured.correct_claims)} of targets. After their {record}s are removed, it "
            f"still claims a {record} for {estimate_text(measured.absent_claims)}."
        )
    yield "Somebody who knows more, or who uses another attack, may identify more people."


def _checked(trust: Trust) -> str:
    checks, failed = trust.checks, sum(not check.passed for check in trust.checks)
    if failed or not trust.trusted:
        return f"The audit failed its self-check: {failed} of {count(len(checks), 'test', 'tests')} failed."
    return f"The audit passed its self-check of {count(len(checks), 'test', 'tests')}."
