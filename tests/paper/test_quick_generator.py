"""Quick releases have long tails; the order of the work changes nothing."""

import numpy as np
import pytest

import standout as so
from standout.paper import synthesize as quick_generator


@pytest.mark.parametrize("stride", [1, 7, 64])
def test_the_size_of_a_portion_changes_nothing(monkeypatch, stride):
    whole = so.synthesize(records=50, items=40, entries=600, seed=9)
    monkeypatch.setattr(quick_generator, "STRIDE", stride)
    assert so.synthesize(records=50, items=40, entries=600, seed=9).fingerprint == whole.fingerprint


@pytest.mark.large
def test_popularity_and_lengths_have_long_tails():
    release = so.synthesize(records=4_000, items=2_000, entries=200_000, seed=11)
    for sizes in (release.support, release.lengths):
        falling = np.sort(sizes)[::-1]
        assert falling[: len(falling) // 10].sum() > 0.3 * falling.sum()  # the top tenth has more than 30 %
        assert sizes.mean() > 1.3 * np.median(sizes)
    assert release.rank[np.argmax(release.support)] == 1
    shares = np.bincount(release.by_record.value, minlength=5) / release.n_entries
    assert shares.argmax() + 1 in (3, 4) and shares.min() > 0.005


@pytest.mark.large
def test_several_portions_with_dense_records():
    records = quick_generator.STRIDE + 5
    release = so.synthesize(records=records, items=30, entries=20 * quick_generator.STRIDE, seed=2)
    assert release.lengths.max() == 30 and release.lengths.min() >= 1
    assert release.n_entries == 20 * quick_generator.STRIDE
