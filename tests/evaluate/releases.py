"""Small releases for the tests of simulations, and the targets that a simulation draws."""

import warnings
from dataclasses import fields
from datetime import date, timedelta

import numba
import numpy as np
import polars as pl
from hypothesis import assume
from hypothesis import strategies as st

import naive
import standout as so
from standout.core.rng import generator
from standout.evaluate.outcomes import Outcomes

COMPILED = not numba.config.DISABLE_JIT
DAY = date(2005, 3, 1)
SIZES = [1, 3]
OF_COLUMNS = {"anybody", "absent_probability", "absent_anybody"}
"""Outcomes that only attacks on columns have."""
NAMES = [field.name for field in fields(Outcomes) if field.name not in OF_COLUMNS]
ADVERSARY = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)


def released(cells):
    """The release of {(record, item): (value, day)}; values are numbers, or categories."""
    rows = [(*pair, value, None if day is None else DAY + timedelta(days=day)) for pair, (value, day) in cells.items()]
    texts = any(isinstance(value, str) for _, _, value, _ in rows)
    kind = pl.String if texts else pl.Float64
    schema = {"record": pl.String, "item": pl.String, "value": kind, "time": pl.Date}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* have an item that no other entry has", so.ReadingWarning)
        return so.read(frame, value_type="text" if texts else "number", kind="history")


@st.composite
def histories(draw):
    """Entries of a few people, enough of whom have 3 items; some gaps."""
    people, things = "abcdefg"[: draw(st.integers(2, 7))], "uvwxyz"
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(people), st.sampled_from(things)), min_size=6, max_size=30, unique=True)
    )
    value, day = st.sampled_from([1.0, 2.0, 4.0, None]), st.sampled_from([0, 3, 20, 60, None])
    cells = {pair: (draw(value), draw(day)) for pair in pairs}
    assume(max(naive.lengths(cells).values()) >= 3)
    assume(any(cell[0] is not None for cell in cells.values()))
    assume(any(cell[1] is not None for cell in cells.values()))
    return cells


def facts_of(aux):
    return {fact.item: (fact.value, None if fact.time is None else (fact.time - DAY).days) for fact in aux}


def has_room_for_errors(cells):
    """Whether values or days are far enough apart for a wrong fact."""
    columns = [[cell[at] for cell in cells.values() if cell[at] is not None] for at in (0, 1)]
    return any(max(column) - min(column) > 3 for column in columns)


def targets_of(release, seed):
    """The records in the order in which a simulation tries them."""
    return generator(seed, "targets").permutation(release.n_records).tolist()


def same(simulation, other):
    return simulation.table.equals(other.table) and all(
        np.array_equal(getattr(a.outcomes, name), getattr(b.outcomes, name), equal_nan=True)
        for a, b in zip(simulation.cells, other.cells, strict=True)
        for name in NAMES
    )
