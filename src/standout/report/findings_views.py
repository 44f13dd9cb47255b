"""Audits, links and advice in notebooks. They show findings, which name nobody."""

from collections.abc import Sequence
from functools import partial

from standout.core.foreign_text import printable_texts
from standout.core.formatting import count, decimal, estimate_text, interval_text, percent
from standout.evaluate.estimates import Estimate
from standout.findings.answer_line import HasAnswer
from standout.findings.audit import AuditFindings
from standout.findings.links import LinkFindings
from standout.findings.measure_titles import measure_titles
from standout.findings.table_audit import TableFindings
from standout.report.advice_page import AnyAdvice, advice_figure, advice_table
from standout.report.attack_table import common_threshold
from standout.report.audit_charts import FIGURES
from standout.report.figures import Cells, Figure, Table
from standout.report.interval_charts import ShareBar, share_bars
from standout.report.linking_page import figures as link_figures
from standout.report.table_charts import TABLE_FIGURES
from standout.report.view import View, share_bar, share_cell

__all__ = ["advice_view", "audit_view", "links_view", "table_audit_view"]

MOST_ROWS = 12


def audit_view(findings: AuditFindings) -> View:
    """The answer, and what each adversary achieves."""
    findings = printable_texts(findings)
    titles = measure_titles(common_threshold(findings), findings.settings.budget, findings.settings.top)
    measures = ("identified", "correct_claims_at_budget")
    rows: list[Cells] = [
        (
            adversary.title,
            f"{adversary.as_named.facts:,}",
            *(share_cell(getattr(adversary.as_named, measure)) for measure in measures),
        )
        for adversary in findings.adversaries
    ]
    table = Table(("adversary", "known facts", *(titles[measure] for measure in measures)), rows)
    shares = [(adversary.title, adversary.as_named.identified) for adversary in findings.adversaries]
    chart = FIGURES["success"](findings) or _adversaries(shares)
    return View(findings.answer.sentence, chart._replace(table=table), _remarks(findings))


def table_audit_view(findings: TableFindings) -> View:
    """The answer, and what each adversary achieves."""
    findings = printable_texts(findings)
    shares = [(adversary.title, adversary.as_named.identified) for adversary in findings.adversaries]
    rows: list[Cells] = [
        (adversary.title, f"{adversary.knows:,}", share_cell(adversary.as_named.identified))
        for adversary in findings.adversaries
    ]
    table = Table(("adversary", "known attributes", "identified"), rows)
    chart = TABLE_FIGURES["success"](findings) or _adversaries(shares)
    return View(findings.answer.sentence, chart._replace(table=table), _remarks(findings))


def _adversaries(shares: Sequence[tuple[str, Estimate]]) -> Figure:
    bars = [share_bar("", title, share) for title, share in shares]
    text = "; ".join(f"{title}: {estimate_text(share)}" for title, share in shares)
    return Figure(
        "What each adversary achieves",
        f"Identified people. {text}.",
        partial(share_bars, bars),
        Table((), ()),
    )


def _remarks(findings: AuditFindings | TableFindings) -> tuple[str, ...]:
    """Why the answer may not be relied on, its interval, and the threshold."""
    remarks = []
    if not findings.trust.trusted:
        remarks.append("The audit failed its own checks: do not trust its numbers.")
    if not findings.complete:
        remarks.append("The audit was interrupted.")
    answer: HasAnswer = findings
    rate = answer.answer.rate
    if interval := interval_text(rate):
        remarks.append(f"95 % interval: {interval}, from {count(rate.n, 'target', 'targets')}.")
    if findings.threshold.exceeded is not None:
        remarks.append(findings.threshold.explanation)
    return tuple(remarks)


def links_view(findings: LinkFindings) -> View:
    """What was claimed, and what the claims are worth."""
    figures = link_figures(findings)
    figure = figures.get(findings.settings.by) or next(iter(figures.values()), None)
    claimed = ShareBar("", "profiles with a claim", findings.claims / max(findings.profiles, 1))
    figure = figure or Figure("Claims", "", partial(share_bars, [claimed]), Table((), ()))
    false = findings.likely_false_claims
    rows: list[Cells] = [
        ("Profiles", count(findings.profiles)),
        ("Profiles with items of the release", count(findings.profiles_with_facts)),
        ("Claims", count(findings.claims)),
        ("Claims that are likely false", "no decoys" if false is None else decimal(false)),
    ]
    if findings.truth is not None:
        truth = findings.truth
        rows += [
            ("Precision: claims that are correct", share_cell(truth.precision)),
            ("Recall: people of the release who are claimed correctly", share_cell(truth.recall)),
            ("Absent people who are claimed", share_cell(truth.absent_claims)),
        ]
    remarks = () if findings.complete else ("Linking was interrupted.",)
    headline = (
        f"{count(findings.claims, 'claim', 'claims')} for {count(findings.profiles, 'profile', 'profiles')}"
    )
    return View(headline, figure._replace(table=Table(("", "number"), rows)), (*remarks, findings.summary))


def advice_view(advice: AnyAdvice) -> View:
    """The recommendation, and the candidates of the frontier."""
    advice = printable_texts(advice)
    table = advice_table(advice)
    short = Table(table.heads[:4], [row[:4] for row in table.rows[:MOST_ROWS]])
    best = advice.recommended
    nothing = f"Nothing is recommended: no candidate is proven to meet the limit of {percent(advice.limit)}"
    headline = f"Recommended: {best.name}" if best else nothing
    remarks = [] if advice.complete else ["The search was interrupted."]
    more = len(table.rows) - MOST_ROWS
    if more > 0:
        remarks.append(f"The first {MOST_ROWS} candidates of the frontier; there are {more} more.")
    return View(headline, advice_figure(advice)._replace(table=short), (*remarks, advice.summary))
