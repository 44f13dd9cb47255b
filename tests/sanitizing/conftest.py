"""Releases that several tests of sanitizing share."""

import polars as pl
import pytest
from sanitizing_data import drawn_rows, table

import standout as so


@pytest.fixture(scope="session")
def small_release():
    """14 records with gaps in values and times."""
    return table(list(drawn_rows(1)))


@pytest.fixture(scope="session")
def large_release():
    """5,000 entries with values and times: enough for statistics."""
    return so.synthesize(records=150, items=80, entries=5_000, seed=5)


@pytest.fixture(scope="session")
def named_release():
    """60 records with ids that are easy to find in any file."""
    frame = so.synthesize(records=60, items=30, entries=700, seed=3).to_frame()
    ids = pl.lit("zq") + pl.col("record").str.zfill(5) + pl.lit("#x")
    return so.read(frame.with_columns(record=ids))


@pytest.fixture(scope="session")
def release():
    """The release that the tests of utility share."""
    return so.synthesize(records=60, items=40, entries=900, seed=7)
