"""The report of an audit: findings → one self-contained HTML file, and its charts as files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from standout.core.files import make_folder, write_content
from standout.core.text import count, decimal, estimate_text, interval_text, percent, printable_texts, shorten
from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import AdversaryBeforeAfter, AdversaryFindings, BeforeAfter, MeasuresAsNamed
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings, DataSummary, Original, Trust, Verdict, VerdictPart
from standout.findings.gate import MEASURES, Measure, measure_titles
from standout.findings.tables import TableAdversaryFindings, TableFindings, TableMeasures
from standout.report.advice_page import advice_section
from standout.report.audit_charts import (
    FIGURES,
    attack_table,
    audit_figures,
    common_threshold,
    control_sentence,
    grid_captions,
    group_extremes,
    group_table,
    threshold_text,
)
from standout.report.charts import Chart, remove_charts
from standout.report.figures import Cells, Drawing, Figure, Table, draw_figure
from standout.report.interval_charts import WIDE, PeopleDots, ShareBar, people_dots, share_bars
from standout.report.page import render_page, template_functions, template_text, threshold_status
from standout.report.reading_text import ReadingTable

__all__ = [
    "BeforeAfterPart",
    "ExampleFact",
    "ExampleRecord",
    "FirstPage",
    "VerdictCard",
    "WorkedExample",
    "audit_charts",
    "audit_page",
    "audit_svgs",
    "before_after_part",
    "release_example",
    "release_first_page",
    "table_example",
    "table_first_page",
    "write_report",
]

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
ATTRIBUTES = (
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


@dataclass(frozen=True, slots=True)
class ExampleFact:
    """One known fact about the invented person."""

    text: str
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """One record of the lineup, and how many of the known facts fit it."""

    name: str
    fitting: int


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """The example in three steps.

    Attributes
    ----------
    setting
        What the invented facts are about.
    knowledge
        How much is known, in one sentence.
    facts
        The facts that are shown.
    further
        Facts that are known and not shown; empty if all are shown.
    lineup
        The three records that fit best, the invented person's own one first.
    result
        The last step.
    """

    person: str
    setting: str
    knowledge: str
    facts: tuple[ExampleFact, ...]
    further: str
    knows: int
    lineup: tuple[ExampleRecord, ...]
    result: str


def release_example(adversary: AdversaryFindings, data: DataSummary) -> WorkedExample | None:
    """An example with films for an adversary of a release; None if all of the facts are wrong."""
    stars = adversary.value_error if data.has_values else None
    days = adversary.time_error if data.has_times else None
    texts = [
        ", ".join([title, *([count(number, "star", "stars")] * (stars is not None)), *([day] * (days is not None))])
        for title, number, day in FILMS
    ]
    known = ["films that Kim rated" if stars is not None else "films that Kim watched"]
    known += [] if stars is None else ["the stars" if stars == 0 else "roughly how many stars"]
    known += [] if days is None else ["the day" if days == 0 else f"the day to within {_days(days)}"]
    known += [] if adversary.length_error is None else ["how many films there are in all"]
    known += [] if adversary.joined_error is None else ["when the first one was"]
    knowledge = f"{_facts(adversary.knows, 'fact', 'facts')} about Kim: {_listed(known)}"
    return _example(
        adversary.knows,
        adversary.wrong,
        texts,
        setting="films in place of the items of your data",
        knowledge=knowledge,
        words=("record", "film"),
    )


def table_example(adversary: TableAdversaryFindings) -> WorkedExample | None:
    """An example with a survey for an adversary of a table; None if all of the values are wrong."""
    is_rough = any(error.error for error in adversary.errors)
    texts = [
        f"{name}: about {value}" if is_rough and can_be_rough else f"{name}: {value}"
        for name, value, can_be_rough in ATTRIBUTES
    ]
    knowledge = f"{_facts(adversary.knows, 'attribute', 'attributes')} of Kim"
    knowledge += ", numbers only roughly" if is_rough else ", exactly"
    return _example(
        adversary.knows,
        adversary.wrong,
        texts,
        setting="a survey in place of your table",
        knowledge=knowledge,
        words=("row", "answer"),
    )


def _example(
    knows: int, wrong: int, texts: Sequence[str], *, setting: str, knowledge: str, words: tuple[str, str]
) -> WorkedExample | None:
    right = knows - wrong
    if right < 1:
        return None
    shown = min(knows, len(texts))
    shown_wrong = wrong if shown == knows else wrong * shown // knows
    # wrong facts stand in the middle: the adversary does not know which ones they are
    first = (shown - shown_wrong) // 2
    facts = tuple(ExampleFact(text, first <= index < first + shown_wrong) for index, text in enumerate(texts[:shown]))
    if wrong:
        knowledge += f". {count(wrong)} of them {'is' if wrong == 1 else 'are'} wrong"
    record, item = words
    fitting = right, max(1, right * 2 // 3), max(1, right // 2)
    lineup = tuple(
        ExampleRecord(f"{record.capitalize()} {letter}", number) for letter, number in zip("ABC", fitting, strict=True)
    )
    return WorkedExample(
        PERSON,
        setting,
        f"{knowledge}.",
        facts,
        _further(knows - shown, wrong - shown_wrong),
        knows,
        lineup,
        _result(record, item, is_tie=fitting[0] == fitting[1]),
    )


def _result(record: str, item: str, *, is_tie: bool) -> str:
    learned = f"Whoever knows this learns every other {item} in it, under Kim’s name"
    if is_tie:
        return (
            f"All three fit equally well, so the adversary guesses: {record.capitalize()} A. "
            f"One guess in three is right. {learned}."
        )
    return f"{record.capitalize()} A fits best, and it is Kim’s: Kim is identified. {learned}."


def _further(more: int, more_wrong: int) -> str:
    if not more:
        return ""
    return f"and {count(more)} more" + (f", {count(more_wrong)} of them wrong" if more_wrong else "")


def _days(error: float) -> str:
    number = decimal(error).removesuffix(".0")
    return f"{number} {'day' if number == '1' else 'days'}"


def _facts(knows: int, singular: str, plural: str) -> str:
    return count(knows, singular, plural)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# The first page of a report, for a board: the answer, a picture, an example, three cards, the next steps.


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
    findings: AuditFindings | TableFindings, measured: MeasuresAsNamed | TableMeasures | None, record: str
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


# The part of a report that compares a sanitized release or table with its original.


BEFORE, AFTER = "before", "after"


class BeforeAfterPart(NamedTuple):
    """A chart of the rates before and after; its table, and one for the people who are still there."""

    summary: str
    drawing: Drawing
    table: Table
    remaining: Table | None


def before_after_part(comparison: BeforeAfter | None, data: str) -> BeforeAfterPart | None:
    """The chart and the tables of a comparison; None if there is none. `data` is "release" or "table"."""
    if comparison is None:
        return None
    bars = [bar for each in comparison.adversaries for bar in _bars(each)]
    table = _table([_row(each) for each in comparison.adversaries])
    description = f"For each adversary, the share of targets who are identified in the original and in the {data}."
    figure = Figure(
        "People identified before and after sanitizing", description, lambda width: share_bars(bars, width=width), table
    )
    remaining = [_remaining_row(each) for each in comparison.adversaries if each.after_in_release.n]
    return BeforeAfterPart(
        comparison.summary,
        draw_figure(figure),
        table,
        _table(remaining) if comparison.some_missing and remaining else None,
    )


def _bars(each: AdversaryBeforeAfter) -> tuple[ShareBar, ShareBar]:
    return _bar(each.name, BEFORE, each.before), _bar(each.name, AFTER, each.after)


def _bar(panel: str, label: str, rate: Estimate) -> ShareBar:
    return ShareBar(panel, label, rate.value, rate.low, rate.high, main=label == AFTER)


def _table(rows: list[Cells]) -> Table:
    return Table(("adversary", BEFORE, AFTER, "difference in points", "beyond sampling error"), rows)


def _row(each: AdversaryBeforeAfter) -> Cells:
    return _cells(each.name, each.before, each.after, each.difference)


def _remaining_row(each: AdversaryBeforeAfter) -> Cells:
    return _cells(each.name, each.before_in_release, each.after_in_release, each.difference_in_release)


def _cells(name: str, before: Estimate, after: Estimate, difference: Estimate) -> Cells:
    shares = [(estimate_text(rate), interval_text(rate)) for rate in (before, after)]
    is_clear = not difference.low <= 0 <= difference.high
    change = _points(difference.value), f"{_points(difference.low)}\xa0to\xa0{_points(difference.high)}"
    return (name, *shares, change, "yes" if is_clear else "no")


def _points(share: float) -> str:
    """A difference of shares in percentage points, with its sign: −12.5, +0.3, 0."""
    text = f"{100 * share:+.1f}".replace("-", "−")
    return "0" if text[1:] == "0.0" else text


def audit_charts(findings: AuditFindings) -> dict[str, Chart]:
    """The charts of the report by name, in their wide form."""
    figures = audit_figures(printable_texts(findings))
    return {name: figure.draw(WIDE) for name, figure in figures.items()}


def audit_svgs(findings: AuditFindings) -> dict[str, str]:
    """The charts of the report as SVG by name, with their texts for screen readers."""
    figures = audit_figures(printable_texts(findings))
    charts = audit_charts(findings).items()
    return {name: chart.svg_or_note(figures[name].title, figures[name].description) + "\n" for name, chart in charts}


def write_report(findings: AuditFindings, folder: str | os.PathLike[str]) -> Path:
    """Write report.html and the charts into a folder, replacing earlier ones; return the report's path."""
    report, charts_folder = Path(folder) / "report.html", make_folder(Path(folder) / "charts")
    charts = audit_charts(findings)
    figures = audit_figures(printable_texts(findings))
    for name, chart in charts.items():
        chart.write(charts_folder / name, figures[name].title, figures[name].description)
    remove_charts(charts_folder, {*FIGURES} - {*charts})
    write_content(report, audit_page(findings))
    return report


def audit_page(findings: AuditFindings) -> str:
    """The report as HTML, without scripts or external resources. The same findings give the same bytes."""
    shown: AuditFindings = printable_texts(findings)
    return render_page(
        template_text("audit.html"),
        template_text("audit.css"),
        findings=shown,
        main=shown.headline,
        titles=_titles(shown),
        first=release_first_page(shown),
        drawings={name: draw_figure(figure) for name, figure in audit_figures(shown).items()},
        before_after=before_after_part(shown.before_after, "release"),
        threshold_status=threshold_status(shown.threshold),
        measures=_measure_rows(shown),
        attacks=attack_table(shown),
        threshold_at_budget=threshold_text(shown.headline.as_named) if shown.headline else "",
        extremes=group_extremes(shown),
        groups=group_table(shown),
        grid_captions=grid_captions(shown),
        control_sentence=control_sentence(shown),
        settings=_settings(shown),
        readings=[ReadingTable.of(reading) for reading in shown.reading],
        failed=[check for check in shown.trust.checks if not check.passed],
        versions=list(shown.versions.items()),
        advice_section=advice_section(shown.advice) if shown.advice else None,
        step_counts=_step_counts,
        **template_functions(),
    )


def _titles(findings: AuditFindings) -> dict[str, str]:
    settings, main = findings.settings, findings.headline
    mass = {} if main is None else {"mass": main.as_named.lineup_mass}
    return measure_titles(common_threshold(findings), settings.budget, settings.top, **mass)


class MeasureRow(NamedTuple):
    """A row of the table of all measures: for each adversary a number and its interval."""

    title: str
    cells: list[tuple[str, str]]


def _measure_rows(findings: AuditFindings) -> list[MeasureRow]:
    titles, adversaries = _titles(findings), findings.adversaries
    some_missing = findings.original is not None and findings.original.not_in_release > 0
    measures = [measure for measure in MEASURES if some_missing or measure.key != "identified_in_release"]
    rows = [
        MeasureRow(titles[measure.key], [_cell(adversary.as_named, measure) for adversary in adversaries])
        for measure in measures
    ]
    return [row for row in rows if any(cell != ("–", "") for cell in row.cells)]


def _cell(measures: MeasuresAsNamed, measure: Measure) -> tuple[str, str]:
    if measure.unit == "phi":
        return threshold_text(measures), ""
    estimate = getattr(measures, measure.key)
    return estimate_text(estimate, measure.unit), interval_text(estimate, measure.unit)


def _step_counts(counts: Mapping[str, float]) -> str:
    """What a step changed: the remaining records, items and entries, and the step's own counts."""
    sizes = [name for name in ("records", "items", "entries") if f"{name} before" in counts]
    remaining = [
        f"{counts[name]:,} of {counts[f'{name} before']:,} {name} remain"
        for name in sizes
        if counts[name] != counts[f"{name} before"]
    ]
    own_counts = [
        f"{name}: {number:,.4g}" if number % 1 else f"{name}: {number:,.0f}"
        for name, number in counts.items()
        if name.removesuffix(" before") not in sizes
    ]
    return ", ".join([*remaining, *own_counts])


def _settings(findings: AuditFindings) -> list[tuple[str, str]]:
    data, settings, run = findings.data, findings.settings, findings.run
    dates = f"{data.first} to {data.last}" if data.first else "none"
    quick = " (quick audit)" if settings.quick else ""
    rows = [
        ("Data", data.name),
        ("Size", f"{count(data.entries)} entries, {count(data.records)} records, {count(data.items)} items"),
        ("Values", count(data.levels, "different value", "different values") if data.has_values else "none"),
        ("Dates", dates),
        ("Repeated entries", count(data.repeats)),
        ("Median record", f"{decimal(data.median_length).removesuffix('.0')} entries"),
        ("Rows that could not be read", count(data.rows_rejected)),
        ("Fingerprint", data.fingerprint),
        *_original_rows(findings.original),
        ("Adversaries", "the default ladder" if settings.ladder == "default" else settings.ladder),
        ("Headline adversary", settings.headline),
        ("Targets", f"at most {count(settings.targets)} for each adversary{quick}"),
        ("Known facts in the curves", ", ".join(f"{facts:g}" for facts in settings.facts)),
        ("Minimum posterior for a claim (Likelihood)", f"{settings.posterior:g}"),
        ("Minimum eccentricity φ for a claim (paper's attack)", f"{settings.phi:g}"),
        ("False claim budget", percent(settings.budget)),
        ("Threshold", "none" if settings.fail_above is None else percent(settings.fail_above)),
        ("Seed", f"{run.seed}"),
        ("Written", " ".join(filter(None, (run.finished_at, f"by {run.software}")))),
    ]
    return [(title, shorten(text, 200)) for title, text in rows]


def _original_rows(original: Original | None) -> list[tuple[str, str]]:
    if original is None:
        return []
    size = f"{count(original.entries)} entries, {count(original.records)} people, {count(original.items)} items"
    return [
        ("Original", size),
        ("People missing from the release", count(original.not_in_release)),
        ("Fingerprint of the original", original.fingerprint),
    ]
