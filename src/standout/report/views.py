"""Results in notebooks: HTML without scripts, and Altair charts. `core.result_views` calls this module.

The chart is an image in the page (a data URL), because notebooks that are not trusted show neither style
sheets nor inline SVG, and because the ids in two inline SVGs would collide.
"""

import base64
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from standout.attack.verdict import Verdict
from standout.core.foreign_text import printable_texts, shorten
from standout.evaluate.comparison import Comparison
from standout.evaluate.lineup_answer import LineupAnswer
from standout.evaluate.simulation import Simulation
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings
from standout.findings.links import LinkFindings
from standout.findings.table_advice import TableAdviceFindings
from standout.findings.table_audit import TableFindings
from standout.release.model import Release
from standout.report import attack_views, data_views, findings_views
from standout.report.drawing import DrawingError
from standout.report.html_page import render_part, template_text
from standout.report.interval_charts import WIDE
from standout.report.view import View
from standout.tables.model import Table
from standout.theory.sparsity import Sparsity
from standout.theory.unicity import Unicity
from standout.theory.unicity_grid import UnicityGrid

if TYPE_CHECKING:
    import altair as alt

__all__ = ["altair_chart", "notebook_html", "view_of"]

PADDING = {"left": 40, "top": 8, "right": 40, "bottom": 8}
"""Space around a picture: an image cuts labels off that are wider in the reader's font than in ours."""
LONGEST = 300
"""Longer texts of a cell are cut."""


@singledispatch
def view_of(result: Any) -> View:
    """What a notebook shows of a result."""
    raise TypeError(f"there is no view of {type(result).__name__}")


view_of.register(Release, data_views.release_view)
view_of.register(Table, data_views.table_view)
view_of.register(Verdict, attack_views.verdict_view)
view_of.register(LineupAnswer, attack_views.lineup_view)
view_of.register(Simulation, attack_views.simulation_view)
view_of.register(Comparison, attack_views.comparison_view)
view_of.register(Sparsity, attack_views.sparsity_view)
view_of.register(Unicity, attack_views.unicity_view)
view_of.register(UnicityGrid, attack_views.unicity_grid_view)
view_of.register(AuditFindings, findings_views.audit_view)
view_of.register(TableFindings, findings_views.table_audit_view)
view_of.register(LinkFindings, findings_views.links_view)
view_of.register(AdviceFindings, findings_views.advice_view)
view_of.register(TableAdviceFindings, findings_views.advice_view)


def altair_chart(result: Any) -> "alt.TopLevelMixin":
    """The chart of a result."""
    return view_of(result).figure.draw(WIDE).altair()


def notebook_html(result: Any) -> str:
    """A headline, remarks, a small table and a chart. All texts are escaped and printable."""
    view = view_of(result)
    figure, table = view.figure, view.table
    chart = figure.draw(WIDE)
    chart.spec["config"] |= {"padding": PADDING}
    try:
        svg = chart.svg(figure.title, figure.description)
        picture = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    except DrawingError:
        picture = ""
    rows = [[_cut(cell) for cell in row] for row in table.rows]
    return render_part(
        template_text("notebook.html"),
        headline=view.headline,
        remarks=view.remarks,
        heads=table.heads,
        rows=rows,
        title=figure.title,
        description=printable_texts(shorten(figure.description, LONGEST)),
        picture=picture,
    )


def _cut(cell: str | tuple[str, str]) -> tuple[str, str]:
    text, ends = (cell, "") if isinstance(cell, str) else cell
    return shorten(text, LONGEST), ends
