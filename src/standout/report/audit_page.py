"""The report of an audit: findings → one self-contained HTML file, and its charts as files."""

import math
import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from standout.core.files import make_folder, write_content
from standout.core.text import (
    HasInterval,
    count,
    decimal,
    estimate_text,
    interval_text,
    percent,
    printable_texts,
    shorten,
)
from standout.evaluate.estimates import Estimate
from standout.findings.audit import MEASURES, AuditFindings, DataSummary, VerdictPart, measure_titles
from standout.findings.sections import AdversaryFindings, BeforeAfter
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
from standout.report.charts import (
    ACCENT,
    GREY,
    WIDE,
    Cells,
    Drawing,
    Figure,
    Table,
    draw_figure,
    points_cell,
    remove_charts,
    with_interval,
)
from standout.report.page import render_page, template_functions, template_text, threshold_status
from standout.report.pages import advice_section
from standout.report.share_charts import Bar, bar_chart

BEFORE, AFTER = "before", "after"


def audit_svgs(findings: AuditFindings) -> dict[str, str]:
    """The charts of the report as SVG by name, with their texts for screen readers."""
    figures = audit_figures(printable_texts(findings)).items()
    return {name: figure.draw(WIDE).svg_or_note(figure.title, figure.description) + "\n" for name, figure in figures}


def write_report(findings: AuditFindings, folder: str | os.PathLike[str]) -> Path:
    """Write report.html and the charts into a folder, replacing earlier ones; return the report's path."""
    report, charts_folder = Path(folder) / "report.html", make_folder(Path(folder) / "charts")
    figures = audit_figures(printable_texts(findings))
    for name, figure in figures.items():
        figure.draw(WIDE).write(charts_folder / name, figure.title, figure.description)
    remove_charts(charts_folder, {*FIGURES} - {*figures})
    write_content(report, audit_page(findings))
    return report


def audit_page(findings: AuditFindings) -> str:
    """The report as HTML, without scripts or external resources. The same findings give the same bytes."""
    shown: AuditFindings = printable_texts(findings)
    main = shown.headline
    return render_page(
        template_text("audit.html"),
        template_text("audit.css"),
        findings=shown,
        main=main,
        first=first_page(shown),
        drawings={name: draw_figure(figure) for name, figure in audit_figures(shown).items()},
        before_after=before_after_part(shown.before_after),
        threshold_status=threshold_status(shown.threshold),
        measures=_measure_table(shown),
        attacks=attack_table(shown),
        threshold_at_budget=threshold_text(main.as_named) if main else "",
        extremes=group_extremes(shown),
        groups=group_table(shown),
        grid_captions=grid_captions(shown),
        control_sentence=control_sentence(shown),
        population=_population_table(shown),
        disclosure=_disclosure_table(shown),
        settings=_settings(shown),
        advice_section=advice_section(shown.advice) if shown.advice else None,
        step_counts=_step_counts,
        **template_functions(),
    )


def _measure_table(findings: AuditFindings) -> Table:
    """All measures of the strongest attack of each adversary; what nobody measured is left out."""
    settings, adversaries = findings.settings, findings.adversaries
    titles = measure_titles(common_threshold(findings), settings.budget, settings.top)
    some_missing = findings.original is not None and findings.original.not_in_release > 0
    rows: list[Cells] = []
    for measure in MEASURES:
        if measure.unit == "phi":
            cells: Cells = tuple(threshold_text(each.as_named) for each in adversaries)
        else:
            cells = tuple(with_interval(getattr(each.as_named, measure.key), measure.unit) for each in adversaries)
        if (some_missing or measure.key != "identified_in_release") and any(cell != ("–", "") for cell in cells):
            rows.append((titles[measure.key], *cells))
    rows.append(("Targets", *(count(each.as_named.targets) for each in adversaries)))
    return Table(("measure", *(shorten(each.name, 40) for each in adversaries)), rows)


def _population_table(findings: AuditFindings) -> Table | None:
    """Prosecutor and journalist numbers, side by side."""
    people = findings.settings.population
    if people is None:
        return None
    rows: list[Cells] = []
    classes, estimated = findings.classes, findings.population
    if classes is not None and estimated is not None:
        rows = [
            ("Quasi-identifiers: unique rows", percent(classes.unique), with_interval(estimated.unique)),
            ("Quasi-identifiers: mean risk of a row", percent(classes.mean), with_interval(estimated.journalist)),
        ]
    for adversary in findings.adversaries:
        rates, title = adversary.as_named.population, f"{adversary.title}: claimed correctly"
        in_release = with_interval(None if rates is None else rates.in_release)
        rows.append((title, with_interval(adversary.as_named.correct_claims), in_release))
    return Table(("", "in the release (prosecutor)", f"one of {people:,} (journalist)"), rows)


def _disclosure_table(findings: AuditFindings) -> Table | None:
    """A row for each sensitive column: guesses, control, and what classes say."""
    rows: list[Cells] = []
    for each in findings.disclosure:
        found = each.diversity
        classes: Cells = ("–", "–", "–")
        if found is not None:
            distinct = f"{found.distinct:,}", f"entropy {found.entropy:.2f}"
            classes = distinct, percent(found.same_value), f"{found.t_closeness:.2f}"
        guessed = estimate_text(each.guessed), interval_text(each.guessed) or each.note
        rows.append((each.column, guessed, with_interval(each.control), percent(each.baseline), *classes))
    heads = ("sensitive column", "guessed", "for absent people", "commonest value", "l", "value certain", "t")
    return Table(heads, rows) if rows else None


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
    data, settings, run, original = findings.data, findings.settings, findings.run, findings.original
    quick = " (quick audit)" if settings.quick else ""
    rows = [("Data", data.name), ("Records", count(data.records))]
    if data.columns:
        rows += [
            ("Columns", count(data.columns)),
            ("Empty cells", count(data.missing_cells)),
            ("Quasi-identifiers", f"{', '.join(settings.quasi_identifiers)} ({settings.quasi_identifiers_reason})"),
            ("Sensitive columns", ", ".join(settings.sensitive) or "none"),
            ("Population", "none given" if settings.population is None else count(settings.population)),
        ]
    if data.entries:
        rows += [
            ("Entries", f"{count(data.entries)}, of {count(data.items)} items"),
            ("Values", count(data.levels, "different value", "different values") if data.has_values else "none"),
            ("Dates", f"{data.first} to {data.last}" if data.first else "none"),
            ("Repeated entries", count(data.repeats)),
            ("Median record", f"{decimal(data.median_length).removesuffix('.0')} entries"),
        ]
    rows += [("Rows that could not be read", count(data.rows_rejected)), ("Fingerprint", data.fingerprint)]
    if original is not None:
        sizes = {"records": original.records, "columns": original.columns, "entries": original.entries}
        rows += [
            ("Original", ", ".join(f"{count(size)} {name}" for name, size in sizes.items() if size)),
            ("People missing from the release", count(original.not_in_release)),
            ("Fingerprint of the original", original.fingerprint),
        ]
    rows += [
        ("Adversaries", "the default ladder" if settings.ladder == "default" else settings.ladder),
        ("Headline adversary", settings.headline),
        ("Targets", f"at most {count(settings.targets)} for each adversary{quick}"),
        ("Known facts in the curves", ", ".join(f"{facts:g}" for facts in settings.facts)),
        ("Minimum posterior for a claim (Likelihood, exact matching)", f"{settings.posterior:g}"),
        ("Minimum eccentricity φ for a claim (paper's attack)", f"{settings.phi:g}"),
        ("False claim budget", percent(settings.budget)),
        ("Threshold", "none" if settings.fail_above is None else percent(settings.fail_above)),
        ("Seed", f"{run.seed}"),
        ("Written", " ".join(filter(None, (run.finished_at, f"by {run.software}")))),
    ]
    return [(title, shorten(text, 300)) for title, text in rows]


# The part of a report that compares a sanitized release with its original.


class BeforeAfterPart(NamedTuple):
    """A chart of the rates before and after with its table, and a table for the people who are still there."""

    drawing: Drawing
    remaining: Table | None


def before_after_part(comparison: BeforeAfter | None) -> BeforeAfterPart | None:
    """The chart and the tables of a comparison; None if there is none."""
    if comparison is None:
        return None
    bars = [
        Bar(each.name, label, rate.value, rate.low, rate.high, ACCENT if label == AFTER else GREY)
        for each in comparison.adversaries
        for label, rate in ((BEFORE, each.before), (AFTER, each.after))
    ]
    every = [_compared(each.name, each.before, each.after, each.difference) for each in comparison.adversaries]
    remaining = [
        _compared(each.name, each.before_in_release, each.after_in_release, each.difference_in_release)
        for each in comparison.adversaries
        if each.after_in_release.n
    ]
    heads = ("adversary", BEFORE, AFTER, "difference in points", "beyond sampling error")
    figure = Figure(
        "People identified before and after sanitizing",
        "For each adversary, the share of targets who are identified in the original and in the release.",
        partial(bar_chart, bars),
        Table(heads, every),
    )
    has_remaining = comparison.some_missing and remaining
    return BeforeAfterPart(draw_figure(figure), Table(heads, remaining) if has_remaining else None)


def _compared(name: str, before: Estimate, after: Estimate, difference: Estimate) -> Cells:
    is_clear = not difference.low <= 0 <= difference.high
    return name, with_interval(before), with_interval(after), points_cell(difference), "yes" if is_clear else "no"


# The first page, for a board: the answer, a picture, an example, three cards, the next steps.

# A worked example with an invented person: known facts → a lineup of three → one.
#
# All names, titles and values are invented and fixed. Only numbers of the adversary decide how many facts are
# shown, and how precise they are: nothing comes from the data.

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

    `knowledge` says how much is known, `further` which facts are known and not shown. `lineup` has the number of
    fitting facts of three records, the invented person's own one first.
    """

    knowledge: str
    facts: tuple[ExampleFact, ...]
    further: str
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
    knowledge = f"{count(knows, 'fact', 'facts')} about Kim: {known}"
    if wrong:
        knowledge += f". {count(wrong)} of them {'is' if wrong == 1 else 'are'} wrong"
    further = f"and {count(knows - shown)} more" if knows > shown else ""
    if further and wrong > shown_wrong:
        further += f", {count(wrong - shown_wrong)} of them wrong"
    fitting = right, max(1, right * 2 // 3), max(1, right // 2)
    learned = f"Whoever knows this learns every other {'answer' if data.columns else 'film'} in it, under Kim’s name"
    result = f"Record A fits best, and it is Kim’s: Kim is identified. {learned}."
    if fitting[0] == fitting[1]:
        guess = "All three fit equally well, so the adversary guesses: Record A. One guess in three is right."
        result = f"{guess} {learned}."
    lineup = tuple(zip(("Record A", "Record B", "Record C"), fitting, strict=True))
    return WorkedExample(f"{knowledge}.", facts, further, lineup, result)


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


# A picture of people: one dot for each target, coloured if the target is identified.

MOST_DOTS = 1000


class PeopleDots(NamedTuple):
    """Dots for the targets, of whom `identified` are identified, rounded: a tie of t records counts 1/t."""

    dots: int
    coloured: int
    people_per_dot: int
    targets: int
    identified: int


def people_dots(rate: HasInterval, targets: int) -> PeopleDots | None:
    """The dots of a measured share; None if nobody was attacked.

    At most `MOST_DOTS` dots are drawn, so one of them may represent several people. Numbers are rounded, but
    at least one dot is coloured if anybody was identified.
    """
    if targets < 1 or not math.isfinite(rate.value):
        return None

    def rounded(number: float) -> int:
        return math.floor(number + 0.5)

    scales = (step * 10**power for power in range(20) for step in (1, 2, 5))
    scale = next(scale for scale in scales if rounded(targets / scale) <= MOST_DOTS)
    dots = max(1, rounded(targets / scale))
    coloured = max(rounded(rate.value * targets / scale), int(rate.value > 0))
    return PeopleDots(dots, min(coloured, dots), scale, targets, rounded(rate.value * targets))


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
    guessing, baseline = verdict.singling_out.rate.baseline, verdict.inference.rate.baseline
    linked = verdict.linkability
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
    cards = []
    for key, question in QUESTIONS.items():
        part = getattr(verdict, key)
        numbers = (estimate_text(part.rate), interval_text(part.rate)) if key in texts else ("", "")
        cards.append(VerdictCard(question, *numbers, texts.get(key, part.explanation), part))
    return tuple(cards)


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
