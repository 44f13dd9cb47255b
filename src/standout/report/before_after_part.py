"""The part of a report that compares a sanitized release or table with its original."""

from typing import NamedTuple

from standout.core.formatting import estimate_text, interval_text
from standout.evaluate.estimates import Estimate
from standout.findings.before_after import AdversaryBeforeAfter, BeforeAfter
from standout.report.figures import Cells, Drawing, Figure, Table, draw_figure
from standout.report.interval_charts import ShareBar, share_bars

__all__ = ["BeforeAfterPart", "before_after_part"]

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
    description = (
        f"For each adversary, the share of targets who are identified in the original and in the {data}."
    )
    figure = Figure(
        "People identified before and after sanitizing",
        description,
        lambda width: share_bars(bars, width=width),
        table,
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
