"""The stand-in agrees with the published statistics; threads and portions change nothing."""

import numpy as np
import pytest

import standout as so
from standout.paper import netflix


@pytest.mark.parametrize(("stride", "threads"), [(1, 1), (7, 2), (64, 3)])
def test_portions_and_threads_change_nothing(monkeypatch, stride, threads):
    sizes = {"like": "netflix", "records": 60, "items": 80, "entries": 900, "seed": 9}
    whole = so.synthesize(**sizes, threads=1)
    monkeypatch.setattr(netflix, "STRIDE", stride)
    assert so.synthesize(**sizes, threads=threads).fingerprint == whole.fingerprint


@pytest.mark.large
def test_a_small_stand_in_agrees_with_the_published_statistics():
    """The tolerances include the sampling error at this size."""
    calibration = so.calibration(so.synthesize(like="netflix", records=4_000, seed=1), nearest=0)
    assert calibration.verdicts["missed"] == 0 and calibration.verdicts["near"] <= 3, calibration.table.filter(
        calibration.table["verdict"] != "met"
    )


@pytest.mark.large
@pytest.mark.slow
def test_a_tenth_of_the_stand_in_agrees_with_the_published_statistics():
    calibration = so.calibration(so.synthesize(like="netflix", records=48_019, seed=1), nearest=0)
    assert calibration.verdicts["missed"] == 0 and calibration.verdicts["near"] <= 3, calibration.table.filter(
        calibration.table["verdict"] != "met"
    )


@pytest.mark.large
def test_stand_ins_can_be_denser_and_sparser():
    dense = so.synthesize(like="netflix", records=1_000, items=300, entries=90_000, seed=1)
    sparse = so.synthesize(like="netflix", records=1_000, items=3_000, entries=9_000, seed=1)
    assert dense.lengths.mean() == 90 and sparse.lengths.mean() == 9
    for release in (dense, sparse):
        falling = np.sort(release.support)[::-1]
        assert falling[: len(falling) // 10].sum() > 0.2 * release.n_entries
