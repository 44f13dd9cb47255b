"""Chart of the unicity of traces: a panel for each bin of time, a curve for each resolution in space."""

from collections.abc import Sequence
from html import escape

from standout.core.foreign_text import printable_lines
from standout.core.formatting import interval_text, percent
from standout.report.charts import Axis, Chart, Point, curves
from standout.theory.unicity_grid import UnicityCell

__all__ = ["unicity_chart", "unicity_page"]


def unicity_chart(cells: Sequence[UnicityCell]) -> Chart:
    """Share of people singled out, by number of known points."""
    points = [
        Point(
            cell.places, cell.points, cell.share.value, cell.share.low, cell.share.high, _panel(cell.time_bin)
        )
        for cell in cells
    ]
    most = max(cell.points for cell in cells)
    low = min(cell.points for cell in cells)
    return curves(
        points, Axis("known points", low, max(most, low + 1), form="d"), Axis("singled out", 0, 1, form=".0%")
    )


def unicity_page(cells: Sequence[UnicityCell]) -> str:
    """HTML page with the chart and its numbers."""
    rows = "".join(
        f"<tr><td>{escape(cell.places)}<td>{escape(cell.time_bin or 'unknown')}<td>{cell.points}"
        f"<td>{percent(cell.share.value)} ({interval_text(cell.share)})<td>{cell.share.n:,}"
        f"<td>{cell.too_few_points:,}</tr>\n"
        for cell in cells
    )
    title = "Unicity by resolution"
    head = "<th>places<th>time<th>points<th>singled out (95 % interval)<th>targets<th>too few points"
    return printable_lines(
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<h1>{title}</h1>\n<p>Share of people whose known points are in no other trace. "
        "A point is a place in a bin of time.</p>\n"
        f"{unicity_chart(cells).svg_or_note(title)}\n<table>\n<tr>{head}</tr>\n{rows}</table>\n</html>\n"
    )


def _panel(time_bin: str | None) -> str:
    return "times unknown" if time_bin is None else f"time by {time_bin}"
