"""Make a column of the cells of a source."""

from dataclasses import replace

import numpy as np

from standout.core.arrays import Ints
from standout.tables.column import Column, code_dtype
from standout.tables.column_defaults import default_error, default_role, default_similarity
from standout.tables.column_types import CellLevels
from standout.tables.distinct_cells import DistinctCells

__all__ = ["make_column"]


def make_column(name: str, cells: DistinctCells, levels: CellLevels) -> Column:
    """Give each row its level, and the column the usual similarity, error and role."""
    column = _set_column(name, cells, levels) if levels.kind == "set" else _plain_column(name, cells, levels)
    return replace(
        column,
        similarity=default_similarity(column),
        error=default_error(column),
        role=default_role(name),
    )


def _plain_column(name: str, cells: DistinctCells, levels: CellLevels) -> Column:
    n_levels = len(levels.levels)
    code = np.append(np.where(levels.codes < 0, n_levels, levels.codes), n_levels).astype(
        code_dtype(n_levels)
    )
    return Column(name, levels.kind, levels.levels, code[cells.codes])


def _set_column(name: str, cells: DistinctCells, levels: CellLevels) -> Column:
    """Put together the members of each row; a cell that is empty has none."""
    kind = code_dtype(len(levels.levels))
    if cells.starts is not None:
        return Column(name, "set", levels.levels, cells.codes.astype(kind), cells.starts)
    assert levels.starts is not None
    starts = np.append(levels.starts, levels.starts[-1])  # an empty cell has no members
    rows = np.asarray(cells.codes, np.int64)
    counts = np.diff(starts)[rows]
    row_starts: Ints = np.append(0, np.cumsum(counts)).astype(np.int64)
    position = np.arange(row_starts[-1]) + np.repeat(starts[rows] - row_starts[:-1], counts)
    return Column(name, "set", levels.levels, levels.codes[position].astype(kind), row_starts)
