"""Laws that hold for every step: reproducible, canonical, and linked to the original."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sanitizing_data import (
    ALL,
    FIXED,
    RANDOM,
    START,
    assert_facts_match_release,
    assert_same,
    assert_same_mapping,
    drawn_rows,
    table,
)

import naive
import standout as so
from conftest import content
from standout.data.labels import Bins
from standout.data.manifest import release_columns
from standout.know.sanitized import Period


def test_the_output_equals_a_release_read_from_its_entries(small_release):
    for words in ALL:
        safer = so.sanitize(small_release, words, seed=3)
        again = so.read(safer.to_frame(), value_type="auto")
        assert safer.fingerprint == again.fingerprint, words
        ours, theirs = release_columns(safer), release_columns(again)
        assert ours.keys() == theirs.keys()
        assert all(ours[name].dtype == theirs[name].dtype for name in ours), words
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours), words
        for name in ("without_value", "without_time"):
            assert getattr(safer.provenance, name) == getattr(again.provenance, name), words


def test_the_input_does_not_change_and_threads_do_not_matter(small_release):
    before = content(small_release)
    for words in ALL:
        first, second = (so.sanitize(small_release, words, seed=9, threads=threads) for threads in (1, 2))
        assert first.original is small_release
        assert_same(first, second)
    assert content(small_release) == before


def test_another_seed_gives_another_release(large_release):
    for words in RANDOM:
        first, second = (so.sanitize(large_release, words, seed=seed) for seed in (1, 2))
        assert first.fingerprint != second.fingerprint, words


def test_the_order_of_rows_does_not_matter():
    rows = list(drawn_rows(4))
    mixed = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    plain, shuffled = table(rows), table(mixed)
    for words in ALL:
        first, second = (so.sanitize(release, words, seed=3) for release in (plain, shuffled))
        assert first.fingerprint == second.fingerprint, words


@pytest.mark.parametrize("words", ["perturb-time 14 1", "drop-entries 0.25", "cap-records 3", "perturb-value 1 0.5"])
def test_the_noise_of_a_record_does_not_depend_on_other_records(words):
    rows = list(drawn_rows(4))
    two_records = [row for row in rows if row[0] in ("r1", "r3")]
    levels = [("x", str(i), value, START) for i, value in enumerate((1.0, 2.0, 3.5, 4.0, 5.0))]
    whole, part = (content(so.sanitize(table([*some, *levels]), words, seed=3)) for some in (rows, two_records))
    assert {cell: entry for cell, entry in whole.items() if cell[0] in ("r1", "r3")} == {
        cell: entry for cell, entry in part.items() if cell[0] != "x"
    }


def test_two_calls_with_one_seed_equal_one_call():
    release = table(list(drawn_rows(6, records=30)))
    steps = ["drop-entries 0.2", "perturb-value 1 0.5", "round-time month", "drop-entries 0.2"]
    once = so.sanitize(release, *steps, seed=4)
    twice = so.sanitize(so.sanitize(release, *steps[:2], seed=4), *steps[2:], seed=4)
    assert twice.original is release
    assert_same(once, twice)


def test_a_repeated_step_draws_again():
    release = table([(f"r{r}", str(i), 1.0, START) for r in range(40) for i in range(30)])
    safer = so.sanitize(release, "drop-entries 0.5", "drop-entries 0.5", seed=4)
    assert abs(safer.n_entries - 300) < 5 * math.sqrt(1200 * 3 / 16)


def test_bad_steps_and_seeds_are_refused(small_release):
    with pytest.raises(so.ParameterError, match="a step must be a Step"):
        so.sanitize(small_release, 3)
    with pytest.raises(so.ParameterError, match="seed"):
        so.sanitize(small_release, seed=-1)
    assert so.sanitize(small_release).fingerprint == small_release.fingerprint


def test_steps_that_need_values_or_times_refuse_a_release_without_them():
    no_times, no_values = table([("a", "1", 1.0)], times=False), table([("a", "1", None, START)], values=None)
    for words in ("perturb-time 3", "round-time month", "round-time none"):
        with pytest.raises(so.ParameterError, match="the release has no times"):
            so.sanitize(no_times, words)
    for words in ("perturb-value 1", "round-value bins 2", "round-value none", "randomized-response 1"):
        with pytest.raises(so.ParameterError, match="the release has no values"):
            so.sanitize(no_values, words)


def test_without_a_seed_every_call_draws_a_new_one(small_release):
    """A default seed that everybody knows would reveal new ids and noise."""
    first, second = (so.sanitize(small_release, "perturb-value none", renumber=True) for _ in range(2))
    assert not np.array_equal(first.mapping.representatives, second.mapping.representatives)
    assert content(first) != content(second)


def test_counts_are_the_sizes_before_and_after_each_step(small_release):
    safer = so.sanitize(small_release, "drop-rare-items 3", "cluster-records 3")
    first, second = (report.counts for report in safer.step_reports)
    assert (first["records before"], first["entries before"]) == (small_release.n_records, small_release.n_entries)
    assert all(first[name] == second[f"{name} before"] for name in ("records", "items", "entries"))
    sizes = second["records"], second["items"], second["entries"]
    assert sizes == (safer.n_records, safer.n_items, safer.n_entries)


# ----------------------------------------------------------------- mapping from the original


@given(st.lists(st.sampled_from([w for w in FIXED if w != "drop-items 3 4"]), max_size=5), st.data())
def test_translated_facts_equal_the_released_entries(steps, data):
    release = table(list(drawn_rows(data.draw(st.integers(0, 5)))))
    safer = release
    for words in steps:
        try:
            safer = so.sanitize(safer, words)
        except so.ParameterError as error:
            assert "has no" in str(error)
    if safer is not release:
        assert safer.original is release
        assert_facts_match_release(safer)
        assert_mapping_is_by_id(safer)


def assert_mapping_is_by_id(safer):
    original, mapping = safer.original, safer.mapping
    for old, new, indices in (
        (original.records, safer.records, mapping.representatives),
        (original.items, safer.items, mapping.item_codes),
    ):
        assert [new.find(name) for name in old] == [None if at < 0 else at for at in indices.tolist()]


def test_levels_that_vanished_are_still_mapped():
    rows = [("a", "1", 1.0, START), ("b", "1", 2.0, START), ("b", "2", 3.0, START), ("c", "1", 4.0, START)]
    fewer = so.sanitize(table(rows), "drop-rare-items 2")
    assert fewer.levels.tolist() == [1, 2, 4]
    assert fewer.mapping.released_values == (1, 2, 3, 4)
    binned = so.sanitize(fewer, so.steps.RoundValue("edges", (2.5, 3.5)))
    assert binned.mapping.released_values == (1.5, 1.5, 3, 4)
    assert binned.levels.tolist() == [1.5, 4]
    assert binned.step_reports[-1].bins == Bins((2.5, 3.5), (1.5, 3, 4))
    liked = so.sanitize(binned, so.steps.RoundValue("liked", 3))
    assert liked.mapping.released_values == (0, 0, 1, 1)
    assert so.sanitize(liked, "round-value none").mapping.released_values == (None,) * 4


def test_noise_does_not_change_the_mapping(small_release):
    noise = ["perturb-value 1 1", "perturb-time 14 1", "randomized-response 1"]
    assert_same_mapping(so.sanitize(small_release, *noise, seed=1), so.sanitize(small_release))


def test_rounding_periods_follow_each_other(small_release):
    weekly = so.sanitize(small_release, "round-time week")
    safer = so.sanitize(weekly, "round-time 30", "round-time quarter")
    assert safer.mapping.rounding_periods == (Period("week"), Period("day", 30), Period("quarter"))
    assert_facts_match_release(safer)


def test_removing_all_categories_leaves_a_release_without_values():
    rows = [(record, item, None, None) for record in "ab" for item in "12"]
    safer = so.sanitize(table([*rows, ("c", "3", "x", START)], "text"), "drop-rare-items 2")
    assert safer.fingerprint == so.read(safer.to_frame()).fingerprint
    assert safer.n_levels == safer.span == 0


# ----------------------------------------------------------------- new ids


@pytest.mark.parametrize("words", [[], ["drop-entries 0.3"], ["cluster-records 3"]])
def test_new_ids_are_numbers_in_a_random_order(small_release, words):
    plain, new = (so.sanitize(small_release, *words, seed=5, renumber=renumber) for renumber in (False, True))
    assert list(new.records) == [str(i + 1) for i in range(plain.n_records)]
    assert new.renumbered and not plain.renumbered
    before, after = plain.mapping.representatives, new.mapping.representatives
    assert np.array_equal(before >= 0, after >= 0)
    new_id = {plain.records[before[i]]: new.records[after[i]] for i in np.flatnonzero(after >= 0)}
    assert len(new_id) == plain.n_records
    assert content(new) == {(new_id[r], item): entry for (r, item), entry in content(plain).items()}
    assert [new_id[record] for record in plain.records] != list(new.records)
    assert new.fingerprint == so.read(new.to_frame()).fingerprint


def test_each_order_of_new_ids_is_equally_likely():
    release = table([("a", "1", 1.0, START), ("b", "1", 1.0, START), ("c", "1", 1.0, START)])
    orders = Counter(
        tuple(so.sanitize(release, seed=seed, renumber=True).mapping.representatives.tolist()) for seed in range(300)
    )
    assert len(orders) == 6
    assert all(abs(count - 50) < 5 * math.sqrt(50) for count in orders.values())


def test_a_later_step_keeps_the_mark_of_new_ids():
    release = table(list(drawn_rows(2)))
    safer = so.sanitize(so.sanitize(release, seed=1, renumber=True), "round-time month")
    assert safer.renumbered
    assert_facts_match_release(safer)


# ----------------------------------------------------------------- real data


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.large
def test_steps_on_real_ratings(realdata):
    movielens = so.read(realdata / "movielens-latest-small")
    for words in [*ALL[:-1], "km-suppress 5 2", "cluster-records 10"]:
        safer = so.sanitize(movielens, words, seed=1, renumber=True)
        assert safer.fingerprint == so.read(safer.to_frame()).fingerprint, words
        if words in FIXED:
            assert_facts_match_release(safer)
        if words.startswith("km"):
            _, k, m = words.split()
            assert naive.fewest_records(content(safer), int(m)) >= int(k), words
