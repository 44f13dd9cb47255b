"""Two workers that the tests share."""

import pytest

from standout.cluster.workers import local_workers


@pytest.fixture(scope="session")
def pool():
    """A pool of two Dask workers on this machine."""
    with local_workers(2) as workers:
        yield workers
