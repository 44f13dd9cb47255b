"""Counts of a release are those of its entries, however many threads count."""

import numpy as np
import pytest

import standout as so
from standout.attack.release_counts import ReleaseCounts

NOBODY = np.array([-1])


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=20_000, items=300, entries=80_000, seed=5)


@pytest.mark.large
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("cells", [1 << 24, 0])
def test_threads_count_every_entry_once(release, monkeypatch, threads, cells):
    monkeypatch.setattr("standout.attack.release_counts.thread_count", lambda _: threads)
    monkeypatch.setattr("standout.attack.release_counts.MOST_CELLS", cells)
    counts, frame = ReleaseCounts(release), release.to_frame()
    shares = frame["value"].value_counts().sort("value")["count"].to_numpy() / len(frame)
    assert counts.level_shares(NOBODY)[0] == pytest.approx(shares, abs=1e-15)
    assert counts.timed(NOBODY) == len(frame)
    time = release.by_record.time
    low, high = np.array([0, 100, 500]), np.array([99, 100, 2000])
    within = [np.count_nonzero((time >= first) & (time <= last)) for first, last in zip(low, high, strict=True)]
    assert counts.within(low, high, np.full(3, -1)).tolist() == within
    of_items = counts.item_levels(np.arange(3), np.full(3, -1))
    if cells:
        for item, row in enumerate(of_items):
            codes = release.by_record.value[release.by_record.item == item]
            assert row.tolist() == np.bincount(codes, minlength=release.n_levels + 1).tolist()
    else:
        assert of_items is None
