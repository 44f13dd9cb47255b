"""What a profile and a record have in common, compared with loops and dicts."""

import numpy as np
import polars as pl
import pytest
from linking_data import aligned_profiles, data, entries_of, facts_of

import naive
import standout as so
from standout.linking.records import TIMES, VALUES, Agreement, EvidenceModel

pytestmark = pytest.mark.once


def test_counts_equal_those_of_loops(larger_pair):
    release, public = larger_pair
    profiles, entries = aligned_profiles(release, public), entries_of(release)
    chosen = np.arange(6)
    query, record = np.repeat(chosen, 5), np.tile(np.arange(3, 8), 6)
    counts = Agreement(release).counts(profiles.known(chosen), query, record)
    for row, q, r in zip(counts.tolist(), query.tolist(), record.tolist(), strict=True):
        facts = facts_of(release, public, public.records[q])
        assert row == pytest.approx(naive.agreement(entries, facts, release.records[r]))


def test_strangers_are_two_people_with_the_same_item(larger_pair):
    release, entries = larger_pair[0], entries_of(larger_pair[0])
    step = naive.step_of(entries)
    counts = Agreement(release).stranger_counts(seed=1)
    values, days, n = [0.0] * 4, [0.0] * 7, 0
    for (owner, item), (value, time) in entries.items():
        others = [cells for (person, its), cells in entries.items() if its == item and person != owner]
        for other_value, other_time in others:
            distance, weight = abs(value - other_value), 1 / len(others)
            values[0 if distance == 0 else 1 if distance <= step else 2 if distance <= 2 * step else 3] += weight
            days[naive.days_apart(time, other_time)] += weight
        n += bool(others)
    assert counts[VALUES] / counts[VALUES].sum() == pytest.approx(np.array(values) / n, abs=0.02)
    assert counts[TIMES] / counts[TIMES].sum() == pytest.approx(np.array(days) / n, abs=0.02)


def test_distances_that_cannot_occur_are_not_expected():
    """If all values are equal, agreement means nothing; of two values the same one suggests one person."""
    for values, possible in (
        ([1.0, 1.0, 1.0, 1.0], [0]),
        ([0.0, 1.0, 1.0, 0.0], [0, 1]),
        ([1.0, 2.0, 3.0, 3.0], [0, 1, 2]),
        ([1.0, 2.0, 3.0, 5.0], [0, 1, 2, 3]),
        (["a", "b", "c", "a"], [0, 3]),
    ):
        agreement = Agreement(data([(f"{r}", f"i{k}", values[(r + k) % 4]) for r in range(40) for k in range(5)]))
        assert np.flatnonzero(agreement.possible[VALUES]).tolist() == possible
        model = EvidenceModel.prior(agreement.stranger_counts(seed=1), agreement.possible)
        if len(possible) == 1:
            assert model.values == pytest.approx([0, 0, 0, 0], abs=1e-3)
        else:
            assert model.values[0] > 0 > model.values[possible[-1]]


def test_categories_are_equal_or_different():
    rows = [(f"{r}", f"i{k}", "abc"[(r + k) % 3]) for r in range(30) for k in range(r % 4, 12, 3)]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    known = aligned_profiles(release, release).known(np.array([4]))
    counts = Agreement(release).counts(known, np.zeros(30, np.int64), np.arange(30))
    entries, facts = entries_of(release), facts_of(release, release, release.records[4])
    for record, row in zip(release.records, counts.tolist(), strict=True):
        shared = [(cells[0], entries[record, i][0]) for i, cells in facts.items() if (record, i) in entries]
        equal = sum(one == other for one, other in shared)
        assert row[VALUES] == [equal, 0, 0, len(shared) - equal]
