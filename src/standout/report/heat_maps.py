"""Heat maps of shares: a cell for each row and column, with its number in it; wide, or narrow for a phone.

The number is in the cell, so that the map is as good in black and white. Cells are the accent colour in five
strengths, and their numbers are in the colours of text and paper, so that they can be read in dark mode too.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from standout.core.foreign_text import shorten
from standout.core.formatting import percent
from standout.report.charts import ACCENT, INK, Chart
from standout.report.interval_charts import FONT_SIZE, WIDE

__all__ = ["HeatRow", "heat_map"]

STRENGTHS = ((0.1, 0.05), (0.25, 0.18), (0.5, 0.34), (0.75, 0.5))
"""Strength of the colour of shares below each bound; from the last one on it is full."""
LABEL_WIDTH, NARROW_LABEL_WIDTH, LONGEST_LABEL = 118, 84, 24
MARGIN = 40
WIDEST_CELL, CELL_HEIGHT = 92, 34


class HeatRow(NamedTuple):
    """One row: its name, its shares (None: not measured), and whether it is the subject of the map."""

    label: str
    shares: Sequence[float | None]
    main: bool = False


def heat_map(
    rows: Sequence[HeatRow], columns: Sequence[str], x_title: str, y_title: str, width: int = WIDE
) -> Chart:
    """A cell for each row and column. The last cell of the main row has a frame."""
    label_width = LABEL_WIDTH if width == WIDE else NARROW_LABEL_WIDTH
    cell_width = (width - label_width - MARGIN) / len(columns)
    cells = [
        _cell(y, x, share, is_framed=row.main and x == len(columns) - 1)
        for y, row in enumerate(rows)
        for x, share in enumerate(row.shares)
    ]
    names = [
        {"y": y, "label": shorten(row.label, LONGEST_LABEL), "weight": row.main} for y, row in enumerate(rows)
    ]
    inner_width, height = cell_width * len(columns), CELL_HEIGHT * len(rows)
    x = alt.X(
        "x:O",
        title=x_title,
        scale=alt.Scale(paddingInner=0.04, paddingOuter=0.02),
        axis=alt.Axis(
            orient="top",
            labelExpr=f"{[*columns]!r}[datum.value]",
            labelAngle=0,
            ticks=False,
            domain=False,
            labelPadding=5,
            titlePadding=7,
            titleAnchor="start",
        ),
    )
    y = alt.Y("y:O", axis=None, scale=alt.Scale(paddingInner=0.07, paddingOuter=0.03))
    base = alt.Chart(alt.InlineData(values=cells)).encode(x=x, y=y)
    layers = [
        base.mark_rect(color=ACCENT).encode(opacity=alt.Opacity("strength:Q", scale=None, legend=None)),
        *_numbers(base, cells),
        *_frame(base, cells),
        *_names(names, y),
        _title(y_title, label_width),
    ]
    return Chart(alt.layer(*layers, width=inner_width, height=height))


def _cell(y: int, x: int, share: float | None, is_framed: bool) -> dict[str, Any]:
    strength = 0.0 if share is None else next((of for below, of in STRENGTHS if share < below), 1.0)
    number = "–" if share is None else percent(share)
    return {"x": x, "y": y, "strength": strength, "number": number, "framed": is_framed}


def _numbers(base: Any, cells: Sequence[dict[str, Any]]) -> list[Any]:
    """Numbers: in the colour of the paper on full cells, in that of text on the others."""
    layers = []
    for colour, test in (("white", "datum.strength == 1"), (INK, "datum.strength < 1")):
        if any((cell["strength"] == 1) == (colour == "white") for cell in cells):
            text = base.transform_filter(test).mark_text(fontSize=FONT_SIZE, color=colour)
            layers.append(text.encode(text="number:N"))
    return layers


def _frame(base: Any, cells: Sequence[dict[str, Any]]) -> list[Any]:
    if not any(cell["framed"] for cell in cells):
        return []
    return [base.transform_filter("datum.framed").mark_rect(filled=False, stroke=INK, strokeWidth=2.2)]


def _names(names: Sequence[dict[str, Any]], y: alt.Y) -> list[Any]:
    """Names of the rows, left of the cells; the subject is bold and in the accent colour."""
    layers = []
    for is_main, colour, weight in ((False, INK, "normal"), (True, ACCENT, "bold")):
        rows = [name for name in names if name["weight"] is is_main]
        if rows:
            style: dict[str, Any] = {"align": "right", "dx": -8, "fontSize": FONT_SIZE, "fontWeight": weight}
            text = alt.Chart(alt.InlineData(values=rows)).mark_text(color=colour, **style)
            layers.append(text.encode(x=alt.value(0), y=y, text="label:N"))
    return layers


def _title(text: str, label_width: float) -> Any:
    """The title of the rows, above their names."""
    mark = alt.Chart(alt.InlineData(values=[{}])).mark_text(
        align="left", fontSize=12, color=INK, dx=-label_width, dy=-14
    )
    return mark.encode(x=alt.value(0), y=alt.value(0), text=alt.value(text))
