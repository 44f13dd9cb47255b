"""The release that most tests of simulations attack."""

import pytest

import standout as so


@pytest.fixture(scope="session")
def release():
    """400 people with 22 items on average."""
    return so.synthesize(records=400, items=150, entries=9_000, seed=3)
