"""The release that the tests of utility share."""

import pytest

import standout as so


@pytest.fixture(scope="session")
def release():
    return so.synthesize(records=60, items=40, entries=900, seed=7)
