"""Grids of an audit: the share of identified people by number of known facts and by error."""

from dataclasses import dataclass
from typing import Literal

from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate

__all__ = ["ErrorGrid", "ErrorGrids", "ErrorRow", "GridCell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One cell of a grid: one number of known facts with one error.

    Attributes
    ----------
    facts
        Number of known facts.
    identified
        Share of targets whom the strongest attack identifies.
    attack
        Name of the strongest attack. It is chosen for each half of the targets on the other half; both names
        if the halves differ.
    """

    facts: PositiveCount
    identified: Rate
    attack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """The cells with one error.

    Attributes
    ----------
    error
        Largest error of a known date in days, or of a known value; null if it is not known.
    label
        The error in words.
    is_own
        Whether this is the adversary's own error, so that the last cell is the adversary as it is named.
    cells
        The cells in the order of the numbers of facts.
    """

    error: NonNegative | None
    label: str
    is_own: bool
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrid:
    """Share of identified people by number of known facts and by one error of the adversary.

    Attributes
    ----------
    varies
        The error that differs between the rows: of dates or of values.
    title
        What the grid shows.
    fixed
        What is the same in all cells, in a sentence.
    targets
        Number of targets of each cell: the same people in all cells.
    rows
        One row for each error, the smallest first and "not known" last.
    """

    varies: Literal["time_error", "value_error"]
    title: str
    fixed: str
    targets: PositiveCount
    rows: tuple[ErrorRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGrids:
    """How much depends on the number of known facts, and how much on their accuracy.

    Attributes
    ----------
    adversary
        Name of the adversary whose facts and errors vary.
    at_least
        Number of entries that everybody in the grids has at least.
    too_few_items
        Number of people whose records are too short for the grids.
    grids
        A grid for dates and a grid for values, as far as the data has them.
    note
        Why a grid is missing; empty if none is.
    """

    adversary: str
    at_least: PositiveCount
    too_few_items: Count
    grids: tuple[ErrorGrid, ...]
    note: str
