"""Parts of a release, and functions that run on all of them."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from standout.core.threads import LocalExecutor, Part, attach_executor, even_parts, executor_of

pytestmark = pytest.mark.once


@pytest.mark.parametrize("n_blocks", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 16])
def test_parts_are_adjacent_and_cover_all_blocks(n_blocks, count):
    parts = even_parts(n_blocks, count)
    assert parts[0].first_block == 0
    assert parts[-1].last_block == n_blocks
    assert all(a.last_block == b.first_block for a, b in pairwise(parts))
    sizes = [part.last_block - part.first_block for part in parts]
    assert len(parts) == max(1, min(count, n_blocks))
    assert max(sizes) - min(sizes) <= 1


def first_block_and(release, part, number):
    return release.name, part.first_block, number


def test_results_are_in_the_order_of_the_parts_for_each_batch():
    release = SimpleNamespace(name="r")
    executor = LocalExecutor(release, [Part(0, 2), Part(2, 5)])
    assert executor.map(first_block_and, 7) == [("r", 0, 7), ("r", 2, 7)]
    batches = list(executor.map_batches(first_block_and, [(1,), (2,)]))
    assert batches == [[("r", 0, 1), ("r", 2, 1)], [("r", 0, 2), ("r", 2, 2)]]
    assert list(executor.map_batches(first_block_and, [])) == []


def test_an_executor_belongs_to_a_release_until_it_is_detached():
    release, other = SimpleNamespace(), SimpleNamespace()
    executor = LocalExecutor(release, even_parts(3, 2))
    attach_executor(release, executor)
    assert executor_of(release) is executor
    assert executor_of(other) is None
    attach_executor(release, None)
    assert executor_of(release) is None
