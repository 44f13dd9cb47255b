"""Test entries of the contest: read from its file, or drawn."""

import gzip
import math

import numpy as np
import pytest

import standout as so
from standout.paper.figures import draw_qualifying
from standout.paper.reproduce import count_qualifying, find_qualifying

pytestmark = pytest.mark.once

QUALIFYING = "1:\n6,2005-12-01\n8,2005-12-02\n2:\n6,2005-12-03\n007,2005-12-04\n"


def test_people_with_few_ratings_have_few_test_entries():
    lengths = np.repeat(np.arange(1, 31), 2_000)
    drawn = draw_qualifying(lengths, seed=1)
    assert (drawn >= 0).all() and drawn.max() == 9
    for n in range(1, 31):
        most = min(9, math.floor(0.75 * n + 0.5))
        counts = drawn[lengths == n]
        tolerance = 4 * math.sqrt(most * 2 / 9 / 2_000)
        assert counts.max() <= most and abs(counts.mean() - most * 2 / 3) < tolerance
    assert (draw_qualifying(lengths, seed=1) == drawn).all()


@pytest.mark.parametrize("name", ["qualifying.txt", "qualifying.txt.gz"])
def test_test_entries_are_counted_by_person(prize, name):
    path = prize / name
    path.write_bytes(gzip.compress(QUALIFYING.encode()) if path.suffix == ".gz" else QUALIFYING.encode())
    release = so.read(prize)
    assert find_qualifying(prize) == find_qualifying(prize / "mv_0000001.txt") == path
    counts = dict(zip(release.records, count_qualifying(path, release), strict=True))
    assert counts == {"6": 2, "7": 0, "007": 1}


def test_a_file_that_is_not_a_qualifying_file_is_rejected(put, prize):
    release = so.read(prize)
    for text in ("6,2005-12-01\n", "1:\n6 2005-12-01\n", "1:\n,2005-12-01\n", "1:\n\xe9\n"):
        with pytest.raises(so.SourceError, match=r"line|cannot be read"):
            count_qualifying(put(text, "qualifying.txt"), release)


def test_a_missing_file_is_an_error(prize, tmp_path):
    assert find_qualifying(prize) is None
    with pytest.raises(so.SourceError, match="cannot be read: No such file"):
        count_qualifying(tmp_path / "nothing.txt", so.read(prize))
