"""Small tables for the tests of risk measures, from lists of rows as the slow twins use them."""

import numpy as np
from hypothesis import strategies as st

from standout.data.column import Column, code_dtype
from standout.data.release import Release

CELLS = {
    "category": ["a", "b", "c"],
    "number": [1.0, 2.0, 7.5],
    "ordered": ["low", "mid", "high"],
    "boolean": ["false", "true"],
    "set": [frozenset("x"), frozenset("y"), frozenset("xy"), frozenset("xyz")],
}
ORDERS = {"ordered": ["low", "mid", "high"]}


def column(name, kind, cells, role="other"):
    """A column of these cells; None is missing."""
    if kind == "set":
        levels = sorted({member for cell in cells for member in cell or ()})
        members = [sorted(levels.index(member) for member in cell or ()) for cell in cells]
        starts = np.cumsum([0, *map(len, members)])
        codes = np.array([code for row in members for code in row], code_dtype(len(levels)))
        return Column(name, kind, tuple(levels), codes, starts, role=role)
    known = {cell for cell in cells if cell is not None}
    levels = [level for level in ORDERS[kind] if level in known] if kind in ORDERS else sorted(known)
    codes = [len(levels) if cell is None else levels.index(cell) for cell in cells]
    values = np.array(levels) if kind in ("number", "date") else tuple(levels)
    return Column(name, kind, values, np.array(codes, code_dtype(len(levels))), role=role)


def table(rows, kinds, roles=None):
    """A table of rows of cells; its columns are called 0, 1, …"""
    roles = roles or ["other"] * len(kinds)
    cells = list(zip(*rows, strict=True))
    return Release.of_columns(
        tuple(column(str(i), *each) for i, each in enumerate(zip(kinds, cells, roles, strict=True)))
    )


@st.composite
def tables(draw, max_rows=12, max_columns=4, kinds=tuple(CELLS), missing=True):
    """Rows of cells and the kinds of their columns."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_columns))
    gap = [None] if missing else []
    row = st.tuples(*[st.sampled_from(CELLS[kind] + gap) for kind in chosen])
    return draw(st.lists(row, min_size=1, max_size=max_rows)), chosen
