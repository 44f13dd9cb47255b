"""Pairs of people and records: their similarity, in one go and in slices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import standout as so
from evaluate.releases import ADVERSARY, COMPILED, histories, released
from standout.evaluate.targets import pair_similarities, revealed_items, similarities_to_all


@settings(max_examples=40 if COMPILED else 10)
@given(histories(), st.sampled_from([so.Within(1, 14), so.Present(), so.Decay(), so.Equal()]))
def test_similarities_of_pairs_equal_the_slow_twin(cells, similarity):
    release = released(cells)
    n = release.n_records
    first, second = np.divmod(np.arange(n * n), n)
    slow = [so.record_similarity(release, release.records[a], release.records[b], similarity)
            for a, b in zip(first, second, strict=True)]  # fmt: skip
    assert pair_similarities(release, first, second, similarity) == pytest.approx(slow)
    assert np.concatenate([similarities_to_all(release, a, similarity) for a in range(n)]) == pytest.approx(slow)


def test_comparing_in_slices_changes_nothing(release, monkeypatch):
    first, second = np.arange(40), np.arange(40)[::-1].copy()
    known = ADVERSARY.observe_all(release, np.flatnonzero(release.lengths >= 6)[:40])
    whole = revealed_items(release, first, second, known, so.Within())
    monkeypatch.setattr("standout.evaluate.targets.ENTRIES_AT_ONCE", 50)
    for a, b in zip(whole, revealed_items(release, first, second, known, so.Within()), strict=True):
        assert np.array_equal(a, b)
