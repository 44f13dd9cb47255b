"""Releases and indexes that the tests of the index share."""

import shutil

import polars as pl
import pytest

import standout as so


@pytest.fixture(scope="session")
def release():
    """A small release."""
    return so.synthesize(records=40, items=30, entries=300, seed=1)


@pytest.fixture(scope="session")
def other():
    """Another release, of other sizes."""
    return so.synthesize(records=50, items=20, entries=200, seed=2)


@pytest.fixture(scope="session")
def wide():
    """A release of two blocks of records, the second with 8 of them; some entries have no time."""
    records = list(map(str, range(8_200)))
    day = pl.Series([None if i % 3 else i % 20 for i in range(8_200)], dtype=pl.Int32).cast(pl.Date)
    item, value = [str(i % 2) for i in range(8_200)], [i % 5 for i in range(8_200)]
    return so.read(pl.DataFrame({"user": records, "item": item, "value": value, "time": day}), kind="history")


@pytest.fixture(scope="session")
def copy_index(tmp_path_factory):
    """copy_index(release, path) writes an index without waiting for the disk: each release is saved once."""
    saved = {}

    def copy(release, path):
        if id(release) not in saved:
            saved[id(release)] = tmp_path_factory.mktemp("saved") / "index", release
            so.save(release, saved[id(release)][0])
        shutil.rmtree(path, ignore_errors=True)
        return shutil.copytree(saved[id(release)][0], path)

    return copy


@pytest.fixture
def index(release, copy_index, tmp_path):
    """An index of `release` in a folder of its own."""
    return copy_index(release, tmp_path / "index")
