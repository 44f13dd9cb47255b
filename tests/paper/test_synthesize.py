"""Synthetic releases have the requested sizes and depend only on the seed."""

import os
import subprocess
import sys

import pytest

import standout as so
from standout.paper.published import published, published_support

TIMEOUT = 120
LIKE = ("quick", "netflix", "flat")
SIZES = (
    (1, 1, 1),
    (1, 7, 7),
    (7, 1, 7),
    (5, 4, 20),
    (4, 5, 19),
    (3, 9, 9),
    (9, 3, 9),
    (40, 30, 40),
    (30, 40, 700),
    (60, 50, 900),
    (200, 8, 1_000),
)


def rows_of(release):
    return release.to_frame().rows()


@pytest.mark.parametrize("like", LIKE)
def test_a_release_has_the_requested_sizes_and_no_empty_record_or_item(like):
    for number, (records, items, entries) in enumerate(SIZES):
        release = so.synthesize(like=like, records=records, items=items, entries=entries, seed=7 * (number % 2))
        assert (release.n_records, release.n_items, release.n_entries) == (records, items, entries)
        assert release.support.min() >= 1 and release.lengths.min() >= 1
        assert release.support.sum() == release.lengths.sum() == entries
        rows = rows_of(release)
        assert len({row[:2] for row in rows}) == entries
        assert {row[2] for row in rows} == set(release.levels) <= {1.0, 2.0, 3.0, 4.0, 5.0}
        times = [row[3] for row in rows]
        assert (min(times), max(times)) == release.time_range


@pytest.mark.parametrize("like", LIKE)
def test_a_synthetic_release_has_the_form_of_one_that_was_read(like):
    release = so.synthesize(like=like, records=60, items=50, entries=900, seed=3)
    assert so.read(release.to_frame()).fingerprint == release.fingerprint


def test_sizes_have_defaults():
    assert so.synthesize(records=30, items=200, seed=1).n_entries == 30 * 50
    assert so.synthesize(records=3, items=4, seed=1).n_entries == 12
    assert so.synthesize(records=2, items=90, seed=1).n_entries == 100


def test_the_defaults_of_the_stand_in_follow_the_netflix_prize_data():
    release = so.synthesize(like="netflix", records=40, seed=1)
    entries, people = published()["sizes"]["entries"], published()["sizes"]["records"]
    assert release.n_entries == -(-40 * entries // people)
    assert release.n_items == (published_support() * 40 / people >= 1).sum()


@pytest.mark.parametrize("like", LIKE)
def test_the_same_seed_gives_the_same_release_and_another_seed_another_one(like):
    seeds = (5, 5, 6, 0, 2**63 - 1)
    releases = [so.synthesize(like=like, records=30, items=20, entries=200, seed=seed) for seed in seeds]
    assert rows_of(releases[0]) == rows_of(releases[1])
    assert releases[0].fingerprint == releases[1].fingerprint
    assert len({release.fingerprint for release in releases}) == 4


def test_the_compiler_changes_nothing():
    code = "import standout as so; print(so.synthesize(records=50, items=40, entries=600, seed=9).fingerprint)"
    off = "0" if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else "1"
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": off},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    assert process.stdout.strip() == so.synthesize(records=50, items=40, entries=600, seed=9).fingerprint


def test_parameters_out_of_range_are_rejected():
    small = {"records": 3, "items": 4}
    for wrong, name in (
        ({"records": 0}, "records must be a whole number ≥ 1"),
        ({"items": 0}, "items must be a whole number ≥ 1"),
        ({"records": -1}, "records must be a whole number ≥ 1"),
        ({"items": -5}, "items must be a whole number ≥ 1"),
        (small | {"entries": 3}, "entries must be from 4 to 12"),
        (small | {"entries": 13}, "entries"),
        (small | {"entries": 0}, "entries"),
        (small | {"entries": -1}, "entries"),
        (small | {"entries": 13, "like": "netflix"}, "entries"),
        ({"records": 10, "items": 100, "entries": 1_001, "like": "netflix"}, "from 100 to 1,000"),
        ({"records": 2.5}, "records"),
        ({"records": 10**19}, "records must be at most"),
        ({"records": 20, "items": 10**19, "entries": 10**19}, "items must be at most"),
        ({"records": 10**6, "items": 10**9, "entries": 10**14}, "entries must be at most"),
        ({"items": "9"}, "items"),
        ({"entries": 1e9}, "entries"),
        ({"like": "imdb"}, "like must be one of quick, netflix, flat"),
        ({"like": None}, "like"),
        ({"threads": 0}, "threads"),
        *(({"seed": seed}, "seed") for seed in (-1, 2**63, 1.5, "7", True, None)),
    ):
        with pytest.raises(so.ParameterError, match=name):
            so.synthesize(**wrong)
