"""The report of an advice: how many people are identified after each candidate, and what utility is left."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple, TypeAlias

from standout.core.foreign_text import printable_texts, shorten
from standout.core.formatting import count, estimate_text, interval_text, percent
from standout.evaluate.estimates import Estimate
from standout.findings.advice import AdviceFindings, CandidateFindings
from standout.findings.table_advice import TableAdviceFindings, TableCandidateFindings
from standout.report.figures import Cells, Drawing, Figure, Table, draw_figure
from standout.report.frontier_chart import CandidateMark, FrontierChart
from standout.report.html_page import render_page, template_text

__all__ = ["AdviceSection", "AnyAdvice", "advice_figure", "advice_page", "advice_section", "advice_table"]

AnyAdvice: TypeAlias = AdviceFindings | TableAdviceFindings
AnyCandidate: TypeAlias = CandidateFindings | TableCandidateFindings
HEADS = (
    "candidate",
    "identified",
    "identified in the release",
    "utility kept",
    "top-10 hit rate",
    "RMSE",
    "stage",
)
TABLE_HEADS = (
    "candidate",
    "identified",
    "identified in the table",
    "utility kept",
    "information",
    "associations",
    "stage",
)


UNPROVEN_HEADS = (
    "candidate",
    "identified",
    "utility kept",
    "targets so far",
    "targets needed at least",
    "targets that prove it 9 times out of 10",
)


class AdviceSection(NamedTuple):
    """The chart and the table of the frontier; the chart's own table has all candidates.

    `unproven` has the candidates below the limit if none is proven to be; None if there are none.
    """

    drawing: Drawing
    table: Table
    unproven: Table | None


def advice_page(advice: AnyAdvice) -> str:
    """The report as HTML, without scripts or external resources. The same advice gives the same bytes."""
    shown: AnyAdvice = printable_texts(advice)
    return render_page(
        template_text("advice.html"),
        template_text("audit.css"),
        advice=shown,
        section=advice_section(shown),
        is_table=isinstance(shown, TableAdviceFindings),
        shorten=shorten,
        percent=percent,
        count=count,
    )


def advice_section(advice: AnyAdvice) -> AdviceSection:
    """The part of a page that shows the candidates."""
    return AdviceSection(draw_figure(advice_figure(advice)), advice_table(advice), _unproven_table(advice))


def advice_table(advice: AnyAdvice) -> Table:
    """The data as they are and the frontier, with the numbers of the chart."""
    return _table(advice.rows, numbered=True)


def advice_figure(advice: AnyAdvice) -> Figure:
    """The chart of the candidates; its table has all of them."""
    rows: Sequence[AnyCandidate] = advice.rows
    marks = [_mark(str(number), candidate, advice) for number, candidate in enumerate(rows, 1)]
    on_frontier = [candidate.frontier or candidate.stage == "fresh" for candidate in rows]
    hidden = (candidate for candidate in advice.candidates if candidate.steps and not candidate.frontier)
    chart = FrontierChart(
        frontier=list(compress(marks, on_frontier)),
        others=[_mark("", candidate, advice) for candidate in hidden],
        recommended=[mark for mark, candidate in zip(marks, rows, strict=True) if candidate.stage == "fresh"],
        untouched=[] if on_frontier[0] else marks[:1],
        limit=advice.limit,
    )
    table = _table(advice.candidates, numbered=False)
    description = _description(advice, [mark.y for mark in chart.frontier])
    return Figure("People identified and utility kept", description, chart.draw, table)


def _description(advice: AnyAdvice, rates: Sequence[float]) -> str:
    data = "table" if isinstance(advice, TableAdviceFindings) else "release"
    return (
        f"{count(advice.n_candidates, 'candidate', 'candidates')} and the {data} as it is. {len(rates)} "
        f"of them are on the frontier, where {percent(max(rates))} down to {percent(min(rates))} of the "
        f"people are identified. The limit is {percent(advice.limit)}."
    )


def _unproven_table(advice: AnyAdvice) -> Table | None:
    """The candidates with a rate below the limit that is not proven, and how many targets would prove it."""
    if advice.unproven is None:
        return None
    rows = [
        (
            each.name,
            (percent(each.rate.value, fine=True), interval_text(each.rate)),
            _share(None if each.kept is None else _within_0_and_1(each.kept)),
            count(each.targets),
            count(each.targets_needed),
            count(each.targets_advised),
        )
        for each in advice.unproven.candidates
    ]
    return Table(UNPROVEN_HEADS, rows)


def _mark(number: str, candidate: AnyCandidate, advice: AnyAdvice) -> CandidateMark:
    kept = candidate.utility.kept or Estimate(1.0, 1.0, 1.0, 0)
    x, y = _within_0_and_1(kept), _within_0_and_1(candidate.rate(advice.among))
    return CandidateMark(number, x.value, x.low, x.high, y.value, y.low, y.high)


def _within_0_and_1(estimate: Estimate) -> Estimate:
    """A share without the parts of its interval below 0 or above 1; an unknown end becomes the value."""
    numbers = (estimate.value, estimate.low, estimate.high)
    finite = (number if math.isfinite(number) else estimate.value for number in numbers)
    value, low, high = (min(max(number, 0.0), 1.0) for number in finite)
    return replace(estimate, value=value, low=low, high=high)


def _table(candidates: Sequence[AnyCandidate], numbered: bool) -> Table:
    """The candidates, if wanted with their numbers in the chart."""
    rows = [
        _cells(candidate, f"{number}. " if numbered else "") for number, candidate in enumerate(candidates, 1)
    ]
    is_table = any(isinstance(candidate, TableCandidateFindings) for candidate in candidates)
    return Table(TABLE_HEADS if is_table else HEADS, rows)


def _cells(candidate: AnyCandidate, number: str) -> Cells:
    kept = candidate.utility.kept
    return (
        number + candidate.name,
        _share(candidate.identified),
        _share(candidate.identified_in_release),
        _share(None if kept is None else _within_0_and_1(kept)),
        *_measures(candidate),
        candidate.stage,
    )


def _measures(candidate: AnyCandidate) -> Cells:
    """The parts of the utility, as HEADS or TABLE_HEADS name them."""
    if isinstance(candidate, TableCandidateFindings):
        parts = candidate.utility
        return tuple(_share(part) for part in (parts.information, parts.associations))
    rmse = candidate.utility.rmse
    error = "–" if rmse is None else (f"{rmse.value:.3f}", f"{rmse.low:.3f}\xa0to\xa0{rmse.high:.3f}")
    return _share(candidate.utility.hit_rate), error


def _share(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return estimate_text(None), interval_text(None)
    is_counted = not estimate.low < estimate.high
    return estimate_text(estimate), "" if is_counted else interval_text(estimate)
