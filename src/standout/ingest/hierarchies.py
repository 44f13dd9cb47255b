"""Make hierarchies: from a CSV file, from the prefixes of codes, or from bands of numbers."""

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import ColumnError, ParameterError, SourceError
from standout.data.column import Column, Hierarchy, code_dtype
from standout.ingest.tokens import WINDOWS

HierarchySource = str | tuple[float, ...] | tuple[tuple[str, ...], ...]
"""prefix, the path of a CSV file, the widths of bands, or rows: a value, then its groups, narrow to wide."""
PREFIX, REST = "prefix", "*"
LONGEST_CODE = 32


def with_hierarchy(column: Column, source: HierarchySource, folder: Path) -> Column:
    """Give a column a hierarchy; categories are put in the order of its groups.

    >>> column = Column("zip", "category", ("01097", "01099", "10115"), np.array([2, 0, 1], np.uint8))
    >>> hierarchy = with_hierarchy(column, "prefix", Path()).hierarchy
    >>> hierarchy.labels[2]
    ('01***', '10***')
    """
    if column.kind in ("set", "boolean", "date"):
        raise ColumnError(f"column {column.name!r} is a {column.kind}, which has no hierarchy: leave it out")
    if source == PREFIX:
        return _with_rows(column, _prefix_rows(column), "its prefixes")
    if isinstance(source, str):
        path = folder / source
        return _with_rows(column, read_rows(path), f"{path.name}")
    if source and isinstance(source[0], tuple):
        rows = [row for row in source if isinstance(row, tuple)]
        return _with_rows(column, rows, "the hierarchy")
    return replace(column, hierarchy=_bands(column, [float(width) for width in source]))  # type: ignore[arg-type]


def hierarchy_rows(column: Column) -> tuple[tuple[str, ...], ...]:
    """The hierarchy of a column as rows: a value, then the names of its groups."""
    assert column.hierarchy is not None
    groups, labels = column.hierarchy.groups, column.hierarchy.labels
    return tuple(
        (level, *(names[group] for names, group in zip(labels, groups[:, code], strict=True)))
        for code, level in enumerate(_level_texts(column))
    )


def read_rows(path: Path) -> list[tuple[str, ...]]:
    """Rows of a CSV file: a value, then its groups from narrow to wide; commas or semicolons, no header."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}; check hierarchy in the schema") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode(WINDOWS, "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    separator = ";" if lines and ";" in lines[0] else ","
    rows = [tuple(cell.strip() for cell in row) for row in csv.reader(lines, delimiter=separator)]
    if not rows or len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
        raise SourceError(
            f"{path} must have a value and its groups in each row, and equally many in all rows, separated "
            "by commas or semicolons"
        )
    return rows


def _prefix_rows(column: Column) -> list[tuple[str, ...]]:
    """Each text with its prefixes, from the longest to none: 01099, 0109*, 010** and so on."""
    texts = _level_texts(column)
    longest = max(map(len, texts), default=0)
    if longest > LONGEST_CODE:
        raise ColumnError(
            f"column {column.name!r} has texts of {longest} characters: prefixes are for codes of up to {LONGEST_CODE}"
        )
    return [(text, *(text[:kept] + REST * (longest - kept) for kept in range(longest - 1, -1, -1))) for text in texts]


def _with_rows(column: Column, rows: Sequence[tuple[str, ...]], source: str) -> Column:
    groups_of = {row[0]: row[1:] for row in rows}
    texts = _level_texts(column)
    absent = [code for code, text in enumerate(texts) if text not in groups_of]
    if absent:
        cells = int(column.counts[absent].sum())
        raise ColumnError(
            f"column {column.name!r}: {len(absent):,} of {column.n_levels:,} values ({cells:,} cells) are "
            f"not in {source}: add a row for each of them"
        )
    paths = [groups_of[text] for text in texts]
    _check_nested(column.name, paths, source)
    order = sorted(range(len(texts)), key=lambda code: (*paths[code][::-1], texts[code]))
    if column.kind != "category":
        if _split_groups([paths[code] for code in range(len(texts))]):
            raise ColumnError(
                f"column {column.name!r} is {column.kind}, and {source} has groups that are not neighbours "
                'in its order: change them, or set kind = "category"'
            )
        order = list(range(len(texts)))
    return replace(_reordered(column, order), hierarchy=_hierarchy([paths[code] for code in order]))


def _hierarchy(paths: Sequence[tuple[str, ...]]) -> Hierarchy:
    """Groups in the order in which they first occur, which puts those of one group side by side."""
    heights = len(paths[0]) if paths else 0
    labels, groups = [], np.zeros((heights, len(paths)), np.int64)
    for height in range(heights):
        names = list(dict.fromkeys(path[height] for path in paths))
        place = {name: number for number, name in enumerate(names)}
        groups[height] = [place[path[height]] for path in paths]
        labels.append(tuple(names))
    return Hierarchy(tuple(labels), groups)


def _check_nested(name: str, paths: Sequence[tuple[str, ...]], source: str) -> None:
    """Raise an error if a group is part of two wider groups."""
    for height in range(len(paths[0]) - 1 if paths else 0):
        wider = {(path[height], path[height + 1]) for path in paths}
        split = len(wider) - len({group for group, _ in wider})
        if split:
            raise ColumnError(
                f"column {name!r}: {split:,} groups at height {height + 1} of {source} are part of several "
                f"groups at height {height + 2}: each group must be part of one"
            )


def _split_groups(paths: Sequence[tuple[str, ...]]) -> bool:
    for height in range(len(paths[0]) if paths else 0):
        names = [path[height] for path in paths]
        runs = sum(a != b for a, b in pairwise(names)) + 1
        if runs > len(set(names)):
            return True
    return False


def _bands(column: Column, widths: list[float]) -> Hierarchy:
    """Bands of numbers: [5, 10, 20] puts 23 into 20 – 24, 20 – 29 and 20 – 39."""
    if column.kind != "number" or not isinstance(column.levels, np.ndarray):
        raise ColumnError(f"column {column.name!r} is a {column.kind}: bands are for numbers")
    positive = bool(widths) and all(0 < width < math.inf for width in widths)
    if not positive or not all(wide > narrow and (wide / narrow).is_integer() for narrow, wide in pairwise(widths)):
        raise ParameterError(
            f"hierarchy of column {column.name!r} must have widths > 0, each a multiple of the one before"
        )
    whole = bool((column.levels == np.floor(column.levels)).all()) and float(widths[0]).is_integer()
    labels, groups = [], []
    for width in widths:
        lower, group = np.unique(np.floor(column.levels / width), return_inverse=True)
        labels.append(tuple(_band(low * width, width, whole) for low in lower.tolist()))
        groups.append(group)
    return Hierarchy(tuple(labels), np.array(groups, np.int64).reshape(len(widths), column.n_levels))


def _band(low: float, width: float, whole: bool) -> str:
    if whole:
        return f"{int(low)}" if width == 1 else f"{int(low)}-{int(low + width - 1)}"
    return f"[{low:g}, {low + width:g})"


def _level_texts(column: Column) -> list[str]:
    """Levels as the texts of a file; whole numbers have no decimal point."""
    if isinstance(column.levels, tuple):
        return list(column.levels)
    return [f"{int(level)}" if level.is_integer() else f"{level!r}" for level in column.levels.tolist()]


def _reordered(column: Column, order: list[int]) -> Column:
    """The column with its levels in another order."""
    if order == list(range(column.n_levels)) or not isinstance(column.levels, tuple):
        return column
    new: Ints = np.empty(column.n_levels + 1, np.int64)
    new[order] = np.arange(column.n_levels)
    new[-1] = column.missing
    codes = new.astype(code_dtype(column.n_levels))[column.codes]
    return replace(column, levels=tuple(column.levels[code] for code in order), codes=codes)
