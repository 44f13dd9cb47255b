"""A small release, and one advice about it that several tests read."""

import pytest

import standout as so
from advising.samples import ADVERSARY, DECOYS

CANDIDATES = ["round-time none", "drop-entries 0.5", ["round-time none", "drop-entries 0.9"], "drop-rare-items 999"]
SETTINGS = {"candidates": CANDIDATES, "targets": 100, "people": 40, "seed": 2, "name": "films"}


@pytest.fixture(scope="session", autouse=True)
def few_decoys():
    """Link with fewer decoys, which takes most of the time of a composition."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.advising.advise.DECOYS", DECOYS)
        yield


@pytest.fixture(scope="session")
def small_release():
    return so.synthesize(records=150, items=80, entries=3_000, seed=7)


@pytest.fixture(scope="session")
def small_advice(small_release):
    return so.advise(small_release, ADVERSARY, 0.4, **SETTINGS)


@pytest.fixture(scope="session")
def small_advice_again(small_release):
    """The same advice, computed once more on one thread."""
    return so.advise(small_release, ADVERSARY, 0.4, threads=1, **SETTINGS)
