"""Flat releases have no structure."""

import numpy as np

import standout as so


def test_a_flat_release_has_no_structure():
    release = so.synthesize(like="flat", records=300, items=50, entries=3_010, seed=5)
    assert set(release.lengths) == {10, 11}
    expected = 3_010 / 50
    assert ((release.support - expected) ** 2 / expected).sum() < 90  # χ² with 49 degrees: 1 in 3,000
    shares = np.bincount(release.by_record.value, minlength=5) / release.n_entries
    assert np.abs(shares - 0.2).max() < 0.04
    assert abs(release.by_record.time.mean() / release.span - 0.5) < 0.02
