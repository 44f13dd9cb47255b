"""Synthetic releases: the sizes asked for, the same from the same seed, with long tails."""

import os
import subprocess
import sys

import numpy as np
import pytest

import standout as so
from standout.synthetic import netflix, quick
from standout.synthetic.lengths import lengths, qualifying
from standout.synthetic.popularity import fit, supports, tables
from standout.synthetic.published_statistics import lengths_in_all, support_by_rank
from standout.synthetic.published_statistics import netflix as published

TIMEOUT = 120
SIZES = [
    (1, 1, 1), (1, 7, 7), (7, 1, 7), (5, 4, 20), (4, 5, 19), (3, 9, 9), (9, 3, 9), (40, 30, 40),
    (30, 40, 700), (60, 50, 900), (200, 8, 1_000),
]  # fmt: skip


def content(release):
    return release.to_frame().rows()


@pytest.mark.parametrize(("records", "items", "entries"), SIZES)
@pytest.mark.parametrize("like", ["quick", "netflix", "flat"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_release_has_exactly_the_sizes_asked_for_and_nobody_and_nothing_is_empty(
    records, items, entries, like, seed
):
    release = so.synthesize(like=like, records=records, items=items, entries=entries, seed=seed)
    assert (release.n_records, release.n_items, release.n_entries) == (records, items, entries)
    assert release.support.min() >= 1 and release.lengths.min() >= 1
    assert release.support.sum() == release.lengths.sum() == entries
    rows = content(release)
    assert len({row[:2] for row in rows}) == entries
    assert {row[2] for row in rows} == set(release.levels) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    moments = [row[3] for row in rows]
    assert (min(moments), max(moments)) == release.time_range


@pytest.mark.parametrize("like", ["quick", "netflix", "flat"])
def test_a_synthetic_release_is_in_the_form_that_reading_gives(like):
    release = so.synthesize(like=like, records=60, items=50, entries=900, seed=3)
    assert so.read(release.to_frame()).fingerprint == release.fingerprint


def test_sizes_have_sensible_defaults():
    assert so.synthesize(records=30, items=200, seed=1).n_entries == 30 * 50
    assert so.synthesize(records=3, items=4, seed=1).n_entries == 12
    assert so.synthesize(records=2, items=90, seed=1).n_entries == 100


@pytest.mark.parametrize("like", ["quick", "netflix", "flat"])
def test_the_same_seed_gives_the_same_release_and_another_seed_another_one(like):
    seeds = (5, 5, 6, 0, 2**63 - 1)
    made = [so.synthesize(like=like, records=30, items=20, entries=200, seed=seed) for seed in seeds]
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
    monkeypatch.setattr(quick, "STRIDE", stride)
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
    release = so.synthesize(records=quick.STRIDE + 5, items=30, entries=20 * quick.STRIDE, seed=2)
    assert release.lengths.max() == 30 and release.lengths.min() >= 1
    assert release.n_entries == 20 * quick.STRIDE


@pytest.mark.parametrize(
    "sizes",
    [
        {"records": 0}, {"items": 0}, {"records": -1}, {"items": -5},
        {"records": 3, "items": 4, "entries": 3},
        {"records": 3, "items": 4, "entries": 13}, {"records": 3, "items": 4, "entries": 0},
        {"records": 3, "items": 4, "entries": -1}, {"records": 2.5}, {"items": "9"}, {"entries": 1e9},
        {"like": "imdb"}, {"like": None}, {"threads": 0},
        {"like": "netflix", "records": 3, "items": 4, "entries": 13},
        {"seed": -1}, {"seed": 2**63}, {"seed": 1.5}, {"seed": "7"}, {"seed": True}, {"seed": None},
    ],
    ids=str,
)  # fmt: skip
def test_sizes_and_seeds_that_cannot_be_are_refused(sizes):
    with pytest.raises(so.ParameterError) as caught:
        so.synthesize(**sizes)
    assert next(iter(sizes)) in str(caught.value) or "entries" in str(caught.value)


def test_the_sizes_of_netflix_are_its_own_at_any_number_of_people():
    small = so.synthesize(like="netflix", records=40, seed=1)
    entries, people = published()["sizes"]["entries"], published()["sizes"]["records"]
    assert small.n_entries == -(-40 * entries // people)
    assert small.n_items == (support_by_rank() * 40 / people >= 1).sum()
    with pytest.raises(so.ParameterError, match="entries must be from 100 to 1,000"):
        so.synthesize(like="netflix", records=10, items=100, entries=1_001)


@pytest.mark.parametrize(("stride", "threads"), [(1, 1), (7, 2), (64, 3)])
def test_the_stand_in_is_the_same_in_any_portions_on_any_number_of_threads(monkeypatch, stride, threads):
    sizes = {"like": "netflix", "records": 60, "items": 80, "entries": 900, "seed": 9}
    whole = so.synthesize(**sizes, threads=1)
    monkeypatch.setattr(netflix, "STRIDE", stride)
    assert content(so.synthesize(**sizes, threads=threads)) == content(whole)


def test_titles_are_invented_each_once_and_only_for_the_stand_in():
    release = so.synthesize(like="netflix", records=40, items=500, entries=900, seed=1)
    titles = [release.titles[i] for i in range(500)]
    assert len(set(titles)) == 500 and all(title.strip() for title in titles)
    assert so.synthesize(records=40, items=50, entries=900, seed=1).titles is None
    from standout.synthetic.invented_titles import FIRST, FORMS, SECOND
    from standout.synthetic.invented_titles import titles as many

    count = len(FIRST) * len(SECOND) * len(FORMS) + 5
    found = many(count, seed=2)
    assert len({found[i] for i in range(count)}) == count


def test_lengths_with_what_was_held_back_are_the_published_table():
    people = published()["sizes"]["records"]
    in_all = lengths(people, 17_770, published()["sizes"]["entries"], 4) + qualifying(people, 4)
    entries, records = lengths_in_all()
    counted = np.bincount(in_all, minlength=101)[entries]
    assert (
        np.abs(counted - records).max() <= 0.02 * records.max()
    )  # people are moved by one to meet the total
    assert np.abs(counted.sum() - records.sum()) <= 0.002 * records.sum()


def test_what_was_held_back_is_what_is_published():
    people = published()["sizes"]["records"]
    held = qualifying(people, 4)
    assert held.min() == 0 and held.max() == 9  # "no more than 9 entries"
    assert abs(held.sum() / published()["sizes"]["qualifying"] - 1) < 0.002
    alone = (lengths(people, 17_770, published()["sizes"]["entries"], 4) == 1).sum()
    assert abs(alone - published()["lengths"]["one"]) < 4 * np.sqrt(alone)


def test_an_alias_table_has_the_shares_that_it_was_made_from():
    rank = np.arange(1.0, 51.0)
    weight = 1 / rank
    made = tables(rank, weight)
    for share, keep, other in (
        (made.weight, made.keep, made.other), (made.damped, made.damped_keep, made.damped_other),
    ):  # fmt: skip
        found = keep + np.bincount(other, 1 - keep, len(keep))
        assert found / len(keep) == pytest.approx(share, abs=1e-12)
    assert made.weight == pytest.approx(weight / weight.sum())
    assert (np.diff(made.damped / made.weight) < 0).all()


def test_fitted_weights_give_every_rank_its_support():
    """The twin draws people by the definition: one film after the other, without repeats."""
    draw = np.random.default_rng(3)
    rank, length = np.arange(1.0, 61.0), np.repeat([2.0, 9.0, 30.0], 400)
    head = draw.random(len(length))
    wanted = length.sum() / (rank + 8) / (1 / (rank + 8)).sum()
    made = tables(rank, fit(rank, wanted, length, head))
    found = np.zeros(60)
    for n, taste in zip(length.astype(int), head, strict=True):
        share = taste * made.damped + (1 - taste) * made.weight
        found[draw.choice(60, n, replace=False, p=share)] += 1
    assert (np.abs(found - wanted) < 4 * np.sqrt(wanted)).all()
    assert abs(found[:10].sum() / wanted[:10].sum() - 1) < 0.05


def test_support_that_nobody_could_give_is_given_to_other_items():
    wanted = supports(np.arange(1.0, 11.0), 100, 800)
    assert wanted.sum() == pytest.approx(800) and wanted.max() <= 97


def test_a_flat_release_has_no_structure():
    release = so.synthesize(like="flat", records=300, items=50, entries=3_010, seed=5)
    assert set(release.lengths) == {10, 11}
    expected = 3_010 / 50
    assert ((release.support - expected) ** 2 / expected).sum() < 90  # χ² of 49 degrees: 1 in 3,000
    shares = np.bincount(release.by_record.value, minlength=5) / release.n_entries
    assert np.abs(shares - 0.2).max() < 0.04
    assert abs(release.by_record.time.mean() / release.span - 0.5) < 0.02


@pytest.mark.large
def test_a_tenth_of_the_stand_in_meets_what_is_published():
    """The tolerances are in so.calibration's table, each with what chance adds at this size."""
    found = so.calibration(so.synthesize(like="netflix", records=48_019, seed=1), nearest=0)
    assert found.verdicts["missed"] == 0 and found.verdicts["near"] <= 3, found.table.filter(
        found.table["verdict"] != "met"
    )


@pytest.mark.large
def test_denser_and_sparser_worlds():
    dense = so.synthesize(like="netflix", records=1_000, items=300, entries=90_000, seed=1)
    sparse = so.synthesize(like="netflix", records=1_000, items=3_000, entries=9_000, seed=1)
    assert dense.lengths.mean() == 90 and sparse.lengths.mean() == 9
    for release in (dense, sparse):
        falling = np.sort(release.support)[::-1]
        assert falling[: len(falling) // 10].sum() > 0.2 * release.n_entries
