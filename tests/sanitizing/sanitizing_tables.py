"""Small random tables with a column of each type, and their cells as plain values."""

import numpy as np

from standout.data.column import Column, ColumnSimilarity, Hierarchy, code_dtype
from standout.data.labels import Labels
from standout.data.release import Release
from standout.sanitizing.draft import compact

SIZES = ("tiny", "small", "medium", "large")


def zip_hierarchy(codes):
    """Prefixes of ZIP codes of 3 digits."""
    heights = [[code[:2] + "*" for code in codes], [code[0] + "**" for code in codes], ["***"] * len(codes)]
    labels = [tuple(dict.fromkeys(height)) for height in heights]
    groups = [[names.index(name) for name in height] for names, height in zip(labels, heights, strict=True)]
    return Hierarchy(tuple(labels), np.array(groups))


def cells(draw, n_rows, n_levels, missing):
    """Codes in which rare levels exist, and some cells are empty."""
    share = 1 / np.arange(1, n_levels + 1)
    codes = draw.choice(n_levels, n_rows, p=share / share.sum())
    codes = np.append(np.arange(min(n_levels, n_rows)), codes)[:n_rows]
    return np.where(draw.random(n_rows) < missing, n_levels, codes).astype(code_dtype(n_levels))


def random_table(n_rows=60, seed=0, missing=0.1):
    """A table with a number, a category with a hierarchy, ordered levels, a date, a boolean and a set."""
    draw = np.random.default_rng(seed)
    ages, zips = np.arange(17.0, 97.0, 3.0), tuple(f"{code}" for code in range(100, 400, 23))
    members = [np.sort(draw.choice(4, draw.integers(4), replace=False)) for _ in range(n_rows)]
    starts = np.append(0, np.cumsum([len(row) for row in members]))

    def column(name, kind, levels, role="quasi-identifier", **more):
        codes = cells(draw, n_rows, len(levels), missing)
        return Column(name, kind, levels, codes, role=role, **more)

    days = np.arange(12_000.0, 13_000.0, 41.0)
    columns = (
        column("age", "number", ages, similarity=ColumnSimilarity("decay", 5.0)),
        column("zip", "category", zips, hierarchy=zip_hierarchy(zips), attribute="home"),
        column("size", "ordered", SIZES, similarity=ColumnSimilarity("ordered"), attribute="home"),
        column("born", "date", days),
        column("owner", "boolean", ("false", "true"), role="sensitive"),
        Column("has", "set", ("a", "b", "c", "d"), np.concatenate(members).astype(np.uint8), starts),
    )
    ids = Labels.of(f"person {row}" for row in range(n_rows))
    return Release.of_columns(tuple(compact(column)[0] for column in columns), ids=ids)


def values(column):
    """The cells of a column as plain values; None is an empty cell, and a set is a frozenset."""
    if column.starts is None:
        return [column.value(code) for code in column.codes.tolist()]
    rows = np.split(column.codes, column.starts[1:-1])
    return [frozenset(column.levels[code] for code in row.tolist()) or None for row in rows]


def rows_of(table, names):
    """The cells of some columns, row by row."""
    return list(zip(*(values(table.column(name)) for name in names), strict=True))


def in_original_order(safer, name):
    """Cells of a column, by the rows of the original; "removed" where the row is gone."""
    found = ["removed"] * safer.original.n_records
    for row, value in zip(safer.original_row.tolist(), values(safer.column(name)), strict=True):
        found[row] = value
    return found
