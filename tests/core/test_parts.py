"""Parts of a release, and functions that run on all of them."""

from itertools import pairwise, product

import pytest

from standout.core.threads import even_parts

pytestmark = pytest.mark.once


def test_parts_are_adjacent_and_cover_all_blocks():
    for n_blocks, count in product([0, 1, 2, 7, 100], [1, 2, 3, 7, 16]):
        parts = even_parts(n_blocks, count)
        assert parts[0].first_block == 0
        assert parts[-1].last_block == n_blocks
        assert all(a.last_block == b.first_block for a, b in pairwise(parts))
        sizes = [part.last_block - part.first_block for part in parts]
        assert len(parts) == max(1, min(count, n_blocks))
        assert max(sizes) - min(sizes) <= 1
