"""A subset of a release equals the release that is read from its entries."""

from datetime import date, timedelta

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import standout as so
from conftest import content
from standout.data.build import subset

COMPILED = not numba.config.DISABLE_JIT
DAYS = [date(2005, 3, 1) + timedelta(days=step) for step in (0, 2, 14, 40)]
RECORDS = st.sampled_from(["9", "10", "2", "007", "7", "é"])
ITEMS = st.sampled_from(["b", "aa", "31", "4", "5"])


@st.composite
def releases(draw):
    """A small release with gaps, perhaps without values or without times."""
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    pairs = draw(st.lists(st.tuples(RECORDS, ITEMS), min_size=1, max_size=24, unique=True))
    value, time = st.sampled_from([1.0, 2.0, 5.0, None]), st.sampled_from([*DAYS, None])
    frame = pl.DataFrame([(*pair, draw(value), draw(time)) for pair in pairs], schema=schema, orient="row")
    assume(frame["value"].count() and frame["time"].count())
    return so.read(frame.drop(draw(st.sets(st.sampled_from(["value", "time"])))), kind="history")


@settings(max_examples=40 if COMPILED else 10)
@given(st.data())
def test_a_subset_equals_the_release_read_from_its_entries(given):
    release = given.draw(releases())
    keep = np.array(given.draw(st.lists(st.booleans(), min_size=release.n_records, max_size=release.n_records)))
    assume(keep.any())
    part, names = subset(release, keep), [release.records[index] for index in np.flatnonzero(keep)]
    assert content(part) == {pair: cells for pair, cells in content(release).items() if pair[0] in names}
    assert list(part.records) == names
    read_anew = so.read(release.to_frame().filter(pl.col("record").is_in(names)), kind="history")
    assert part.fingerprint == read_anew.fingerprint
    for record in names:
        assert part.record(record).entries == release.record(record).entries
    for item in part.items:
        assert set(part.item(item).support) == set(release.item(item).support) & set(names)


def test_a_subset_without_records_is_refused():
    release = so.synthesize(records=9, items=5, entries=20, seed=1)
    for keep in (np.zeros(release.n_records, bool), np.ones(3, bool)):
        with pytest.raises(so.ParameterError, match="at least one True"):
            subset(release, keep)
