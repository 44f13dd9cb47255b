"""Similar records: the search in a large release finds the same ones."""

import numpy as np
import pytest

import standout as so
from standout.evaluate.similar_records import SimilarRecords


@pytest.mark.large
@pytest.mark.parametrize(
    ("similarity", "theta"),
    [(so.Present(), 0.28), (so.Present(), 0.56), (so.Within(1, 14), 0.28), (so.Equal(), 0.5)],
)
def test_similar_records_are_the_same_in_large_releases(release, monkeypatch, similarity, theta):
    targets = np.arange(120)
    whole = SimilarRecords(release, similarity, theta).of(targets, 0, 120)
    monkeypatch.setattr("standout.evaluate.similar_records.LARGE_RELEASE", 0)
    monkeypatch.setattr("standout.evaluate.similar_records.TARGETS_AHEAD", 50)
    search = SimilarRecords(release, similarity, theta)
    parts = search.of(targets, 0, 40) | search.of(targets, 40, 80) | search.of(targets, 80, 120)
    assert whole.keys() == parts.keys()
    assert all(np.array_equal(whole[target], parts[target]) for target in whole)
