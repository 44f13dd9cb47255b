"""A figure of a page: a chart in two widths, with its title, its description and its numbers as a table."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from standout.core.text import estimate_text, interval_text
from standout.evaluate.estimates import Estimate
from standout.report.charts import Chart
from standout.report.interval_charts import NARROW, WIDE, ShareBar

if TYPE_CHECKING:
    from markupsafe import Markup

Cells: TypeAlias = tuple[str | tuple[str, str], ...]
"""One row of a table; a pair is a number and its interval."""


class Table(NamedTuple):
    """Numbers as text. The first column names the rows."""

    heads: tuple[str, ...]
    rows: Sequence[Cells]


class Figure(NamedTuple):
    """A chart that can be drawn at any width; `description` is for readers who do not see it."""

    title: str
    description: str
    draw: Callable[[int], Chart]
    table: Table


class Drawing(NamedTuple):
    """A figure with its SVG for wide and for narrow screens."""

    figure: Figure
    wide: "Markup"
    narrow: "Markup"


def draw_figure(figure: Figure) -> Drawing:
    """The figure drawn for both widths."""
    from markupsafe import Markup

    wide, narrow = (
        Markup(figure.draw(width).svg_or_note(figure.title, figure.description)) for width in (WIDE, NARROW)
    )
    return Drawing(figure, wide, narrow)


class View(NamedTuple):
    """A result for a notebook. Remarks say why numbers may not be relied on, or how to see more."""

    headline: str
    figure: Figure
    remarks: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """The numbers of the table, which are not all of the result."""
        return self.figure.table


def share_cell(share: Estimate | None) -> tuple[str, str]:
    """A cell of a table: a share and its interval, which is omitted for a share that was counted."""
    counted = share is not None and not share.low < share.high
    return estimate_text(share), "" if counted else interval_text(share)


def share_bar(panel: str, label: str, share: Estimate, main: bool = True) -> ShareBar:
    """A share with its interval as a bar."""
    value = share.value if math.isfinite(share.value) else None
    return ShareBar(panel, label, value, share.low, share.high, main)
