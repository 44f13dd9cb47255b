"""The grids of an audit as figures: facts known by date error, and by value error."""

import math

from standout.core.formatting import count, estimate_text, interval_text
from standout.evaluate.estimates import Estimate
from standout.findings.audit import AuditFindings
from standout.findings.error_grids import ErrorGrid
from standout.report.figures import Cells, Figure, Table
from standout.report.heat_maps import HeatRow, heat_map

__all__ = ["error_grid_figure", "grid_captions"]

GRID_FIGURES = {"time_error": "date-error", "value_error": "value-error"}
"""Names of the figures."""
GRID_ROWS = {"time_error": "date error", "value_error": "value error"}


def error_grid_figure(varies: str, findings: AuditFindings) -> Figure | None:
    """The grid of one error, if the audit measured it."""
    grid = next((grid for grid in findings.error_grids.grids if grid.varies == varies), None)
    if grid is None:
        return None
    rows = [
        HeatRow(row.label, [_finite(cell.identified) for cell in row.cells], row.is_own) for row in grid.rows
    ]
    columns = [str(cell.facts) for cell in grid.rows[0].cells]
    titles = "known facts about a person", GRID_ROWS[grid.varies]
    table: list[Cells] = [
        (row.label, *((estimate_text(cell.identified), interval_text(cell.identified)) for cell in row.cells))
        for row in grid.rows
    ]
    return Figure(
        grid.title,
        _grid_description(grid),
        lambda width: heat_map(rows, columns, *titles, width),
        Table((GRID_ROWS[grid.varies], *(count(int(facts), "fact", "facts") for facts in columns)), table),
    )


def grid_captions(findings: AuditFindings) -> dict[str, str]:
    """What is fixed in each grid, and how accurate its cells are, by name of the figure."""
    return {GRID_FIGURES[grid.varies]: _grid_caption(grid) for grid in findings.error_grids.grids}


def _grid_caption(grid: ErrorGrid) -> str:
    reach = max(
        (max(share.value - share.low, share.high - share.value) for share in _shares(grid)), default=1.0
    )
    has_own = any(row.is_own for row in grid.rows)
    return " ".join(
        [
            f"Fixed in all cells: {grid.fixed}; the same {count(grid.targets, 'target', 'targets')}."
            if grid.fixed
            else f"The same {count(grid.targets, 'target', 'targets')} in all cells.",
            f"The stronger the colour, the more people are identified. 95\xa0% intervals reach at most "
            f"{100 * reach:.0f} percentage points from the numbers.",
            "Bold: the error of this adversary. Frame: the adversary of the answer." if has_own else "",
        ]
    ).strip()


def _shares(grid: ErrorGrid) -> list[Estimate]:
    shares = [cell.identified for row in grid.rows for cell in row.cells]
    return [share for share in shares if math.isfinite(share.value + share.low + share.high)]


def _finite(share: Estimate) -> float | None:
    return share.value if math.isfinite(share.value) else None


def _grid_description(grid: ErrorGrid) -> str:
    rows = "; ".join(
        f"{row.label}: {', '.join(estimate_text(cell.identified) for cell in row.cells)}" for row in grid.rows
    )
    facts = ", ".join(str(cell.facts) for cell in grid.rows[0].cells)
    return f"{grid.title}. Columns: {facts} known facts. {rows}."
