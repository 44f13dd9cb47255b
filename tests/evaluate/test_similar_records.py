"""Similar records: the search in a large release finds the same ones."""

from dataclasses import replace

import numpy as np
import pytest

import standout as so
from standout.evaluate import targets as similar_records
from standout.evaluate.targets import SimilarRecords


@pytest.mark.large
@pytest.mark.parametrize(
    ("similarity", "theta"), [(so.Present(), 0.28), (so.Present(), 0.56), (so.Within(1, 14), 0.28), (so.Equal(), 0.5)]
)
def test_similar_records_are_the_same_in_large_releases(release, monkeypatch, similarity, theta):
    targets = np.arange(120)
    whole = SimilarRecords(release, similarity, theta).of(targets)
    monkeypatch.setattr("standout.evaluate.targets.LARGE_RELEASE", 0)
    monkeypatch.setattr("standout.evaluate.targets.READ_DIRECTLY", 0)
    monkeypatch.setattr("standout.evaluate.targets.TARGETS_AHEAD", 50)
    search = SimilarRecords(replace(release), similarity, theta)
    bounds = [(0, 40), (40, 80), (80, 120)]
    parts = {
        target: records
        for low, high in bounds
        for target, records in search.of(targets[low:high], search.look_ahead(targets, low, high)).items()
    }
    assert whole.keys() == parts.keys()
    assert all(np.array_equal(whole[target], parts[target]) for target in whole)


@pytest.mark.once
def test_a_release_is_searched_once_for_each_target(release, monkeypatch):
    fresh, searched = replace(release), []
    search = similar_records.nearest_neighbours

    def counting(release, rule, records, **options):
        searched.extend(records.tolist())
        return search(release, rule, records, **options)

    monkeypatch.setattr(similar_records, "LARGE_RELEASE", 0)
    monkeypatch.setattr(similar_records, "READ_DIRECTLY", 0)
    monkeypatch.setattr(similar_records, "nearest_neighbours", counting)
    for targets in (np.arange(60), np.arange(60)[::-1].copy(), np.arange(40, 80)):
        SimilarRecords(fresh, so.Present(), 0.5).of(targets)
    assert sorted(searched) == list(range(80))


@pytest.mark.once
def test_few_targets_are_compared_without_a_search(release, monkeypatch):
    monkeypatch.setattr(similar_records, "LARGE_RELEASE", 0)
    monkeypatch.setattr(similar_records, "nearest_neighbours", None)
    few = SimilarRecords(replace(release), so.Present(), 0.28).of(np.arange(2))
    every = SimilarRecords(release, so.Present(), 0.28).of(np.arange(2))
    assert {target: records.tolist() for target, records in few.items()} == {
        target: records.tolist() for target, records in every.items()
    }
