"""The stand-in that is made in files is the one that is made in memory."""

import numpy as np
import pytest

import standout as so
from standout.core.errors import ParameterError
from standout.paper import synthesize as synthetic

BLOCK = 1 << 13
SIZES = {"records": 3 * BLOCK + 40, "entries": 60_000}
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def whole():
    return so.synthesize(like="netflix", seed=4, **SIZES)


@pytest.mark.parametrize(("threads", "in_files"), [(1, True), (2, True), (2, False)])
def test_a_release_made_in_files_is_the_same(tmp_path, monkeypatch, whole, threads, in_files):
    monkeypatch.setattr(synthetic, "PER_ENTRY", 10**9 if in_files else 1)
    release = synthetic.synthesize_index(tmp_path / "index", seed=4, threads=threads, **SIZES)
    assert release.check().fingerprint == whole.fingerprint
    assert release.provenance == whole.provenance and list(release.titles) == list(whole.titles)
    np.testing.assert_array_equal(release.by_record.time, whole.by_record.time)
    np.testing.assert_array_equal(release.support, whole.support)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_items_that_nobody_has_are_given_to_the_same_people_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic, "PER_ENTRY", 10**9)
    sizes = {"records": 2 * BLOCK, "items": 9_000, "entries": 2 * BLOCK + 3_000}
    release = synthetic.synthesize_index(tmp_path / "index", seed=1, **sizes)
    assert release.check().fingerprint == so.synthesize(like="netflix", seed=1, **sizes).fingerprint
    assert (release.support > 0).all()


@pytest.mark.parametrize("like", ["quick", "flat"])
def test_other_data_is_written_too(tmp_path, like):
    release = synthetic.synthesize_index(tmp_path / "index", like=like, records=500, seed=2)
    assert release.fingerprint == so.synthesize(like=like, records=500, seed=2).fingerprint


def test_a_scale_multiplies_the_people():
    assert synthetic.scaled_records(10) == 4_801_890 and synthetic.scaled_records(0.01) == 4_802
    for scale in (0, -1, True, "10", float("nan"), 10**9):
        with pytest.raises(ParameterError, match="scale must be a number above 0"):
            synthetic.scaled_records(scale)
