"""A small release with values, dates and titles, and its explorer."""

import pytest
from explorer_client import explorer

import standout as so


@pytest.fixture(scope="session")
def release():
    return so.synthesize(records=300, items=120, entries=6_000, seed=7)


@pytest.fixture(scope="session")
def page(release):
    with explorer(release) as opened:
        yield opened
