"""A figure of a page: a chart in two widths, with its title, its description and its numbers as a table."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from standout.report.charts import Chart
from standout.report.interval_charts import NARROW, WIDE

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Cells", "Drawing", "Figure", "Table", "draw_figure"]

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
