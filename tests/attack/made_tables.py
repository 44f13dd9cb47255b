"""Random tables with columns of every kind, as the package and as the slow twin see them."""

import numpy as np

from random_releases import sanitized_rows
from standout.data.column import Column, ColumnSimilarity, Hierarchy, code_dtype
from standout.data.release import Release
from standout.know.sanitized import Channel

GROUPS = np.array([[0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])


def cells_of(column):
    """The cells of a column as plain Python values."""
    levels = list(column.levels) if isinstance(column.levels, tuple) else column.levels.tolist()
    if column.starts is not None:
        return [
            [levels[code] for code in column.codes[a:b]]
            for a, b in zip(column.starts[:-1], column.starts[1:], strict=True)
        ]
    return [None if code == column.missing else levels[code] for code in column.codes.tolist()]


def as_twin(column, error):
    """The column as the slow twin takes it."""
    twin = {
        "kind": column.kind,
        "levels": list(column.levels) if isinstance(column.levels, tuple) else column.levels.tolist(),
        "cells": cells_of(column),
        "error": error,
        "similarity": (column.similarity.name, column.similarity.scale),
    }
    if column.hierarchy is not None:
        twin["groups"] = column.hierarchy.groups.tolist()
    return twin


def drawn(draw, rows, n_levels, missing=0.1):
    codes = draw.integers(0, n_levels, rows)
    codes[draw.random(rows) < missing] = n_levels
    return codes.astype(code_dtype(n_levels))


def made_table(rows=60, seed=0):
    """A table with a number, a date, an ordered, a boolean, two category columns, a set and a wide number."""
    draw = np.random.default_rng(seed)
    ages = np.array([20.0, 21, 22, 25, 30, 31, 40, 60, 82, 83])
    wide = np.sort(draw.choice(5000, 300, replace=False)).astype(float)
    sizes = draw.integers(0, 4, rows)
    members = [np.sort(draw.choice(6, size, replace=False)) for size in sizes]
    region = Hierarchy(tuple(tuple(map(str, range(max(g) + 1))) for g in GROUPS), GROUPS)
    columns = [
        Column("age", "number", ages, drawn(draw, rows, 10),
               similarity=ColumnSimilarity("decay", 3.0), error=2.0),
        Column("born", "date", np.array([0.0, 5, 9, 40]), drawn(draw, rows, 4),
               similarity=ColumnSimilarity("within", 5.0), error=5.0),
        Column("grade", "ordered", ("low", "middle", "high", "top"), drawn(draw, rows, 4),
               similarity=ColumnSimilarity("ordered"), error=1.0),
        Column("member", "boolean", ("false", "true"), drawn(draw, rows, 2)),
        Column("job", "category", tuple("abcdefg"), drawn(draw, rows, 7)),
        Column("region", "category", tuple("vwxyz"), drawn(draw, rows, 5), hierarchy=region,
               similarity=ColumnSimilarity("hierarchy"), error=1.0),
        Column("ills", "set", tuple("ABCDEF"), np.concatenate(members).astype(np.uint8),
               starts=np.append(0, np.cumsum(sizes))),
        Column("income", "number", wide, drawn(draw, rows, 300),
               similarity=ColumnSimilarity("decay", 40.0), error=25.0),
    ]  # fmt: skip
    return Release.of_columns(tuple(columns))


def released_table(table, seed=0):
    """The table with ages in bands, some jobs suppressed, some grades exchanged, and rows shuffled."""
    draw = np.random.default_rng(seed)
    bands = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3, 3])
    channels = {
        "age": Channel(bands),
        "job": Channel(np.array([0, 1, 2, 3, 5, 5, 4]), suppressed=0.2),
        "grade": Channel(np.arange(4), replaced=0.3),
    }
    order = draw.permutation(table.n_records)[: table.n_records - 4]
    released = {
        "age": (np.array([22.0, 31.0, 50.0, 82.5]), 0.0),
        "job": (tuple("abcdg"), 0.2),
        "grade": (table.column("grade").levels, 0.0),
    }
    columns = []
    for column in table.columns:
        if column.name == "born":
            continue
        part = column.rows(order)
        if column.name in released:
            levels, emptied = released[column.name]
            mapping = np.append(channels[column.name].released, len(levels))
            codes = mapping[part.codes]
            codes[draw.random(len(order)) < emptied] = len(levels)
            if column.name == "grade":
                swapped = np.flatnonzero(draw.random(len(order)) < 0.3)
                codes[swapped] = codes[draw.permutation(swapped)]
            part = Column(column.name, column.kind, levels, codes.astype(np.uint8), similarity=column.similarity)
        columns.append(part)
    return sanitized_rows(table, order, tuple(columns), channels=channels)
