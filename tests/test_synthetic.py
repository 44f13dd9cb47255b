"""Synthetic releases: the sizes asked for, the same from the same seed, with long tails."""

import os
import subprocess
import sys

import numpy as np
import pytest

import standout as so
from standout.release import synthetic

TIMEOUT = 120
SIZES = [
    (1, 1, 1), (1, 7, 7), (7, 1, 7), (5, 4, 20), (4, 5, 19), (3, 9, 9), (9, 3, 9), (40, 30, 40),
    (30, 40, 700), (60, 50, 900), (200, 8, 1_000),
]  # fmt: skip


def content(release):
    return release.to_frame().rows()


@pytest.mark.parametrize(("records", "items", "entries"), SIZES)
@pytest.mark.parametrize("seed", [0, 7])
def test_a_release_has_exactly_the_sizes_asked_for_and_nobody_and_nothing_is_empty(
    records, items, entries, seed
):
    release = so.synthesize(records=records, items=items, entries=entries, seed=seed)
    assert (release.n_records, release.n_items, release.n_entries) == (records, items, entries)
    assert release.support.min() >= 1 and release.lengths.min() >= 1
    assert release.support.sum() == release.lengths.sum() == entries
    rows = content(release)
    assert len({row[:2] for row in rows}) == entries
    assert {row[2] for row in rows} == set(release.levels) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    moments = [row[3] for row in rows]
    assert (min(moments), max(moments)) == release.time_range


def test_a_synthetic_release_is_in_the_form_that_reading_gives():
    release = so.synthesize(records=60, items=50, entries=900, seed=3)
    assert so.read(release.to_frame()).fingerprint == release.fingerprint


def test_sizes_have_sensible_defaults():
    assert so.synthesize(records=30, items=200, seed=1).n_entries == 30 * 50
    assert so.synthesize(records=3, items=4, seed=1).n_entries == 12
    assert so.synthesize(records=2, items=90, seed=1).n_entries == 100


def test_the_same_seed_gives_the_same_release_and_another_seed_another_one():
    made = [so.synthesize(records=30, items=20, entries=200, seed=seed) for seed in (5, 5, 6, 0, 2**63 - 1)]
    assert content(made[0]) == content(made[1])
    assert made[0].fingerprint == made[1].fingerprint
    assert len({release.fingerprint for release in made}) == 4


def test_the_compiler_changes_nothing():
    code = (
        "import standout as so; print(so.synthesize(records=50, items=40, entries=600, seed=9).fingerprint)"
    )
    off = "0" if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else "1"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": off}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    assert done.stdout.strip() == so.synthesize(records=50, items=40, entries=600, seed=9).fingerprint


@pytest.mark.parametrize("stride", [1, 7, 64])
def test_records_made_in_other_portions_are_the_same(monkeypatch, stride):
    whole = so.synthesize(records=50, items=40, entries=600, seed=9)
    monkeypatch.setattr(synthetic, "STRIDE", stride)
    assert so.synthesize(records=50, items=40, entries=600, seed=9).fingerprint == whole.fingerprint


@pytest.mark.large
def test_popularity_and_lengths_have_long_tails():
    release = so.synthesize(records=4_000, items=2_000, entries=200_000, seed=11)
    for sizes in (release.support, release.lengths):
        falling = np.sort(sizes)[::-1]
        assert (
            falling[: len(falling) // 10].sum() > 0.3 * falling.sum()
        )  # the top tenth has far more than a tenth
        assert sizes.mean() > 1.3 * np.median(sizes)
    assert release.rank[np.argmax(release.support)] == 1
    shares = np.bincount(release.by_record.value, minlength=5) / release.n_entries
    assert shares.argmax() + 1 in (3, 4) and shares.min() > 0.005


@pytest.mark.large
def test_more_records_than_one_portion_and_dense_ones_among_them():
    release = so.synthesize(records=synthetic.STRIDE + 5, items=30, entries=20 * synthetic.STRIDE, seed=2)
    assert release.lengths.max() == 30 and release.lengths.min() >= 1
    assert release.n_entries == 20 * synthetic.STRIDE


@pytest.mark.parametrize(
    "sizes",
    [
        {"records": 0}, {"items": 0}, {"records": -1}, {"items": -5},
        {"records": 3, "items": 4, "entries": 3},
        {"records": 3, "items": 4, "entries": 13}, {"records": 3, "items": 4, "entries": 0},
        {"records": 3, "items": 4, "entries": -1}, {"records": 2.5}, {"items": "9"}, {"entries": 1e9},
        {"seed": -1}, {"seed": 2**63}, {"seed": 1.5}, {"seed": "7"}, {"seed": True}, {"seed": None},
    ],
    ids=str,
)  # fmt: skip
def test_sizes_and_seeds_that_cannot_be_are_refused(sizes):
    with pytest.raises(so.ParameterError) as caught:
        so.synthesize(**sizes)
    assert next(iter(sizes)) in str(caught.value) or "entries" in str(caught.value)
