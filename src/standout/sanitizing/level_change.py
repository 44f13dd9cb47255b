"""A change of a column's levels: which new level each old one becomes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.data.column import Column, ColumnKind, ColumnSimilarity, Hierarchy, code_dtype
from standout.data.release import Levels


@dataclass(frozen=True, eq=False)
class LevelChange:
    """New levels of a column, and the new code of each old level; `len(levels)` for an emptied one."""

    kind: ColumnKind
    levels: Levels
    code: Ints
    hierarchy: Hierarchy | None = None

    @property
    def lookup(self) -> "np.ndarray[Any, np.dtype[Any]]":
        """New code of each old code, the one of a missing cell included."""
        n_levels = len(self.levels)
        return np.append(self.code, n_levels).astype(code_dtype(n_levels))


def merge_numbers(kind: ColumnKind, numbers: Floats) -> LevelChange:
    """Each level of a number or date becomes this number; equal ones become one level."""
    levels, code = np.unique(numbers, return_inverse=True)
    return LevelChange(kind, levels, code.astype(np.int64))


def merge_labels(column: Column, group: Ints, labels: tuple[str, ...], height: int = 0) -> LevelChange:
    """Each level becomes the label of its group; groups with the same label become one level.

    `height` is the height of these groups in the column's hierarchy; 0 if they are not part of it.
    """
    used, position = np.unique(group, return_inverse=True)
    first: dict[str, int] = {}
    new_code = np.array([first.setdefault(labels[place], len(first)) for place in used.tolist()], np.int64)
    code = new_code[position]
    kind: ColumnKind = column.kind if column.kind in ("category", "ordered", "set") else "ordered"
    kind = "category" if column.kind == "boolean" else kind
    return LevelChange(kind, tuple(first), code, _higher(column, code, len(first), height))


def _higher(column: Column, code: Ints, n_levels: int, height: int) -> Hierarchy | None:
    """The hierarchy above this height, over the new levels; None if nothing is left of it."""
    tree = column.hierarchy
    if tree is None or height == 0 or height >= tree.height or (np.diff(code) < 0).any():
        return None
    first_level = np.searchsorted(code, np.arange(n_levels))
    return Hierarchy(tree.labels[height:], tree.groups[height:, first_level])


def recode(column: Column, change: LevelChange) -> Column:
    """The column with new levels. A set has each of its members once."""
    codes, starts = change.lookup[column.codes], column.starts
    if starts is not None:
        row = np.repeat(np.arange(column.n_rows), np.diff(starts))
        is_kept = codes < len(change.levels)
        width = len(change.levels) + 1
        cells = np.unique(row[is_kept] * width + codes[is_kept])
        codes = (cells % width).astype(codes.dtype)
        starts = offsets(np.bincount(cells // width, minlength=column.n_rows))
    return replace(
        column,
        kind=change.kind,
        levels=change.levels,
        codes=codes,
        starts=starts,
        hierarchy=change.hierarchy,
        similarity=_similarity(column, change),
    )


def _similarity(column: Column, change: LevelChange) -> ColumnSimilarity:
    """The similarity of the old column, if the new one can have it."""
    old = column.similarity
    if old.name == "hierarchy" and change.hierarchy is None:
        return ColumnSimilarity()
    if old.name in ("within", "decay") and isinstance(change.levels, tuple):
        return ColumnSimilarity("ordered")
    return old


def compact(column: Column, is_used: Bools | None = None) -> tuple[Column, LevelChange]:
    """The column with these levels only, and the new code of each level; the others count as emptied.

    Default: the levels that occur.
    """
    is_used = column.counts[:-1] > 0 if is_used is None else is_used
    kept = np.flatnonzero(is_used)
    code = np.where(is_used, np.cumsum(is_used) - 1, len(kept)).astype(np.int64)
    levels: Levels
    if isinstance(column.levels, tuple):
        levels = tuple(column.levels[level] for level in kept.tolist())
    else:
        levels = column.levels[kept]
    tree = column.hierarchy
    if tree is not None:
        tree = Hierarchy(tree.labels, tree.groups[:, kept]) if len(kept) else None
    change = LevelChange(column.kind, levels, code, tree)
    return (column, change) if is_used.all() else (recode(column, change), change)


def same_values(column: Column, other: Column) -> Ints:
    """For each level of a column, the code of the same value in the other column; -1: it is not there."""
    if isinstance(column.levels, tuple) or isinstance(other.levels, tuple):
        if not (isinstance(column.levels, tuple) and isinstance(other.levels, tuple)):
            return np.full(column.n_levels, -1, np.int64)
        code_of = {level: code for code, level in enumerate(other.levels)}
        return np.array([code_of.get(level, -1) for level in column.levels], np.int64)
    if column.kind != other.kind or not other.n_levels:
        return np.full(column.n_levels, -1, np.int64)
    place = np.minimum(np.searchsorted(other.levels, column.levels), other.n_levels - 1)
    return np.where(other.levels[place] == column.levels, place, -1)


def with_levels_of(column: Column, other: Column) -> Column:
    """The cells of a column in the codes of another one; a value that the other lacks is left out."""
    code = same_values(column, other)
    change = LevelChange(other.kind, other.levels, np.where(code < 0, other.n_levels, code), other.hierarchy)
    return replace(recode(column, change), similarity=other.similarity)
