"""The theorems and altered entries where records have items several times."""

from collections import Counter
from datetime import date
from functools import partial

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from random_releases import FIRST, random_rows, read_rows
from standout.measure import bounds
from standout.measure.bounds import BY_ENTRIES, _shuffled_facts, matching_sets
from standout.measure.sparsity import altered

COMPILED = not numba.config.DISABLE_JIT
SEED = 2008
SIMILARITIES = [
    (so.Present(), naive.present),
    (so.Within(1, 3), partial(naive.within, value=1, time=3)),
    (so.Within(0, None), partial(naive.within, value=0, time=None)),
]
CELLS = st.tuples(
    st.sampled_from("abcdef"),
    st.sampled_from("uvwx"),
    st.sampled_from([None, 1.0, 2.0, 5.0]),
    st.sampled_from([None, 0, 1, 2, 9]),
)
ROWS = st.lists(CELLS, min_size=2, max_size=30).filter(
    lambda rows: all(any(row[column] is not None for row in rows) for column in (2, 3))
)


def known_facts(release, target, m):
    """(item, (value, day)) of the first m facts about a target."""
    known = _shuffled_facts(release, np.array([target]), m, SEED)
    facts = [known.fact(release, i) for i in range(m)]
    return [(fact.item, (fact.value, fact.time and (fact.time - FIRST.date()).days)) for fact in facts]


@settings(max_examples=60 if COMPILED else 10)
@given(ROWS, st.integers(1, 3), st.sampled_from(SIMILARITIES), st.sampled_from([1.0, 0.3]))
def test_matching_records_with_repeats_equal_the_slow_twin(rows, m, pair, alpha):
    (similarity, twin), release, entries = pair, read_rows(rows, "keep"), naive.visits(rows)
    found = matching_sets(release, similarity, alpha, m, targets=None, seed=SEED, threads=1)
    n_items = Counter(record for record, _ in entries)
    assert len(found.sets) == sum(count >= m for count in n_items.values())
    assert found.too_few_items == sum(count < m for count in n_items.values())
    for matching in found.sets:
        target, facts = release.records[matching.target], known_facts(release, matching.target, m)
        assert len({item for item, _ in facts}) == m
        assert all(cell in entries[target, item] for item, cell in facts)
        matches = [
            record
            for record in naive.shortlex(n_items)
            if all(
                max((twin(cell, other) for other in entries.get((record, item), [])), default=0) >= alpha
                for item, cell in facts
            )
        ]
        assert [release.records[record] for record in matching.record] == matches
        for over in ("first", "union"):
            slow = [naive.record_similarity(entries, target, other, twin, over) for other in matches]
            assert matching.similarity[over].tolist() == pytest.approx(slow, rel=1e-12)


def test_every_item_is_equally_likely_to_be_known_and_every_entry_of_it():
    release = read_rows([("7", "b", 1.0, day) for day in range(5)] + [("7", "c", 1.0, 0)], "keep")
    first = [
        _shuffled_facts(release, np.array([0]), 1, seed).fact(release, 0) for seed in range(300 if COMPILED else 90)
    ]
    n_b = sum(fact.item == "b" for fact in first)
    assert 0.35 < n_b / len(first) < 0.65
    assert len({fact.time for fact in first if fact.item == "b"}) == 5


@pytest.mark.once
def test_the_theorems_hold_with_repeats():
    rows = random_rows(120, 40, SEED, length=15)
    visits = rows + [(record, item, value, (day + 5) % 20) for record, item, value, day in rows[::2]]
    release = read_rows(visits, "keep")
    checks = bounds.check(release, epsilon=0.05, delta=0.8, targets=60, samples=4, seed=SEED)
    assert release.has_repeats
    for row in checks:
        assert row.settings.over != "first" or row.holds is not False or row.statement.endswith("(premise)")
    noted = bounds.check(
        release, epsilon=0.05, delta=0.8, targets=30, samples=2, seed=SEED,
        adversary=so.Adversary(value_error=0, time_error=0),
    )  # fmt: skip
    about_facts = [row for row in noted if row.settings.m and "premise" not in row.statement]
    assert all(BY_ENTRIES in row.note and row.holds is not False for row in about_facts)


@settings(max_examples=60 if COMPILED else 15)
@given(ROWS, st.lists(CELLS, max_size=8), st.sampled_from([0, 1, None]), st.sampled_from([0, 2, None]))
def test_altered_entries_with_repeats_equal_the_slow_twin(rows, history, value, time):
    release = read_rows([*rows, ("a", "u", 1.0, 0), ("a", "u", 2.0, 1)], "keep")
    record = [row[1:] for row in [*rows, ("a", "u", 1.0, 0), ("a", "u", 2.0, 1)] if row[0] == "a"]
    facts = [
        so.Fact(item, level, None if day is None else date.fromordinal(FIRST.date().toordinal() + day))
        for _, item, level, day in history
    ]
    result = altered(release, "a", facts, value, time)
    counts = result.shared, result.values, result.times, result.changed, result.missing, result.extra
    assert counts == naive.altered_counts([row[1:] for row in history], record, value, time)


def test_a_record_with_repeats_is_an_unaltered_copy_of_itself():
    release = read_rows([("7", "b", float(day), day) for day in range(5)] + [("9", "b", 1.0, 0)], "keep")
    result = altered(release, "7", release.record("7"))
    assert (result.shared, result.changed, result.missing, result.extra) == (5, 0, 0, 0)
