"""Differences to the original are those of plain loops over dicts."""

import math

import numpy as np
import pytest
from utility_data import histories

import naive
import standout as so
from standout.sanitizing.recommender import RecommenderBenchmark, hold_out
from standout.sanitizing.utility import _item_pairs

pytestmark = pytest.mark.once
STEPS = [so.steps.DropEntries(0.4), so.steps.PerturbValue(1, 0.5), so.steps.DropTopItems(2)]


@pytest.fixture(scope="module")
def bench(release):
    return RecommenderBenchmark(hold_out(release, 30, 4))


@pytest.fixture(scope="module")
def before(bench):
    return histories(bench.holdout.rest)


@pytest.fixture(scope="module")
def after(bench):
    return histories(so.sanitize(bench.holdout.rest, *STEPS, seed=4))


@pytest.fixture(scope="module")
def result(release):
    return so.utility(release, *STEPS, people=30, seed=4)


def test_popularity_is_compared_by_shares_and_ranks(release, before, after, result):
    supports = [
        [sum(item in history for history in some.values()) for item in release.items] for some in (before, after)
    ]
    shares = [[count / sum(support) for count in support] for support in supports]
    change = sum(abs(a - b) for a, b in zip(*shares, strict=True)) / 2
    assert result.popularity_change.value == pytest.approx(change)
    ranks = [[(sum(o < c for o in s) + sum(o <= c for o in s) + 1) / 2 for c in s] for s in supports]
    assert result.popularity_correlation.value == pytest.approx(np.corrcoef(*ranks)[0, 1])


def test_kept_entries_and_differences_of_values_are_means_over_people(release, bench, before, after, result):
    people = [release.records[index] for index in bench.holdout.people]
    kept = {person: [i for i in before[person] if i in after.get(person, {})] for person in people}
    shares = [len(kept[person]) / len(before[person]) for person in people]
    assert result.entries_kept.value == pytest.approx(np.mean(shares))
    differences = [
        np.mean([abs(after[person][item] - before[person][item]) for item in items])
        for person, items in kept.items()
        if items
    ]
    assert result.value_difference.value == pytest.approx(np.mean(differences))
    assert result.time_difference.value == 0


def test_similarity_change_is_the_root_mean_square_of_cosine_differences(release, bench, before, after, result):
    pairs = [(release.items[a], release.items[b]) for a, b in zip(*_item_pairs(bench.holdout.rest, 4), strict=True)]
    assert len({*pairs}) == len(pairs) > 50
    changes = [naive.cosine(after, *pair) - naive.cosine(before, *pair) for pair in pairs]
    assert result.similarity_change.value == pytest.approx(math.sqrt(np.mean(np.square(changes))))
