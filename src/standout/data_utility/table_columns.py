"""What is left of each column of a sanitized table: its marginal, its cells, its information in bits.

marginal change   half of Σ |share of a level in the release − share in the original|, the total variation
                  distance. Levels that were merged are compared merged: the original goes through the map of
                  the steps first. Emptied values count as changed, and a dropped column has 1.
cells kept        share of the original's known cells whose row shows the same value
bits              entropy of a cell, an empty one counted as a value, H(X). A released cell says I(X; Y) of
                  it, the mutual information by what is known of the steps, times the share of rows left.
"""

from dataclasses import dataclass

import numpy as np

from standout.core import elementary
from standout.core.arrays import Bools, Floats
from standout.table_sanitizing.level_change import same_values
from standout.table_sanitizing.row_classes import stacked_cells
from standout.tables.column import Column
from standout.tables.model import Channel, SanitizedTable

__all__ = ["ColumnUtility", "column_utilities"]


@dataclass(frozen=True, slots=True)
class ColumnUtility:
    """What is left of one column; all numbers are counts over the whole table, or follow from the steps.

    Attributes
    ----------
    name : str
        The column.
    is_dropped : bool
        Whether the release lacks it.
    marginal_change : float
        Total variation distance of the released and the original marginal, from 0 to 1.
    cells, cells_kept : int
        Number of known cells of the original, and of those that the release shows unchanged.
    bits_before, bits_kept : float
        Entropy of a cell of the original, and what a released row says about it.
    """

    name: str
    is_dropped: bool
    marginal_change: float
    cells: int
    cells_kept: int
    bits_before: float
    bits_kept: float


def column_utilities(safer: SanitizedTable) -> tuple[ColumnUtility, ...]:
    """What is left of each column of the original."""
    return tuple(_column_utility(safer, column) for column in safer.original.columns)


def _column_utility(safer: SanitizedTable, old: Column) -> ColumnUtility:
    cells, before = int(np.count_nonzero(~old.is_missing)), _bits(old)
    if old.name not in safer.names:
        return ColumnUtility(old.name, True, 1.0, cells, 0, before, 0.0)
    new = safer.column(old.name)
    channel = safer.channels.get(old.name, Channel(np.arange(old.n_levels)))
    is_same = _is_same(old.rows(safer.original_row), new)
    kept = int(np.count_nonzero(is_same & ~new.is_missing))
    rows_left = safer.n_rows / safer.original.n_rows
    bits = before * kept / max(cells, 1) if old.starts is not None else _shown_bits(old, new, channel)
    return ColumnUtility(
        old.name, False, _marginal_change(old, new, channel), cells, kept, before, rows_left * bits
    )


def _is_same(old: Column, new: Column) -> Bools:
    """Whether each cell has the same value in both columns."""
    if old.starts is None:
        return np.asarray(np.append(same_values(old, new), new.missing)[old.codes] == new.codes)
    number = stacked_cells(old, new)
    return np.asarray(number[: old.n_rows] == number[old.n_rows :])


def _marginal_change(old: Column, new: Column, channel: Channel) -> float:
    """Total variation distance; emptied values have a place of their own, which no released cell has."""
    place = np.where(channel.released == new.missing, new.n_levels + 1, channel.released)
    place = np.append(place, new.n_levels)
    before = np.bincount(place, old.counts, new.n_levels + 2)
    after = np.append(new.counts, 0)
    return float(np.abs(before / max(before.sum(), 1) - after / max(after.sum(), 1)).sum()) / 2


def _shares(column: Column) -> Floats:
    return np.asarray(column.counts / max(int(column.counts.sum()), 1), np.float64)


def _surprise(share: Floats) -> Floats:
    """−p · log2 p; 0 for p = 0."""
    return np.asarray(-share * elementary.log2(np.where(share > 0, share, 1.0)))


def _bits(column: Column) -> float:
    """Entropy of a cell. Of a set: sum of the entropies of its members."""
    if column.starts is None:
        return float(_surprise(_shares(column)).sum())
    present = np.asarray(column.counts[:-1] / column.n_rows, np.float64)
    return float((_surprise(present) + _surprise(1.0 - present)).sum())


def _shown_bits(old: Column, new: Column, channel: Channel) -> float:
    """I(X; Y) = H(Y) − H(Y | X) of an original cell X and the released one Y.

    Y is empty with probability `suppressed`, else with probability `replaced` anybody's value, else X's own.
    """
    share, lost, drawn = _shares(old), channel.suppressed, channel.replaced
    own = np.append(channel.released, new.missing)
    anybody = np.bincount(own, share, new.n_levels + 1)
    noise = np.asarray((1.0 - lost) * drawn * anybody, np.float64)
    noise[new.missing] += lost
    released = np.asarray(noise + (1.0 - lost) * (1.0 - drawn) * anybody, np.float64)
    certain = np.asarray(noise[own] + (1.0 - lost) * (1.0 - drawn), np.float64)
    given_x = float(_surprise(noise).sum()) - _surprise(noise)[own] + _surprise(certain)
    return max(float(_surprise(released).sum()) - float((share * given_x).sum()), 0.0)
