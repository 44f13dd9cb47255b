"""Fixtures of the tests of linking."""

import polars as pl
import pytest
from linking_data import release_and_profiles

import standout as so


@pytest.fixture(scope="session")
def pair():
    """A release, and profiles of 20 of its people and of 6 absent people; one item is not in the release."""
    release, public = release_and_profiles(36, 18, 330, range(-20, 21), 0.7)
    more = pl.DataFrame({"record": ["p20", "p99"], "item": ["unheard", "unheard"]})
    return so.read(release), so.read(pl.concat([public, more], how="diagonal"))


@pytest.fixture(scope="session")
def larger_pair():
    """A release of 50 people, and profiles of 40 of them and of 10 absent people."""
    return tuple(so.read(side) for side in release_and_profiles(60, 25, 700, [0, 0, 0, 1, -5, 40, 300], 0.8))
