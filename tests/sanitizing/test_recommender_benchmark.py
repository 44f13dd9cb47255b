"""The recommender and its results are those of the slow twin."""

import numpy as np
import pytest
from utility_data import held_out_values, histories

import naive
import standout as so
from standout.sanitizing import recommender
from standout.sanitizing import recommender as recommender_benchmark
from standout.sanitizing.recommender import RecommenderBenchmark, calibrated_values, hold_out, probability_in_top

pytestmark = pytest.mark.once
FACTORS = 5
STEPS = {
    "nothing": [],
    "liked": [so.steps.RoundValue("liked", 4)],
    "no values": [so.steps.RoundValue("none")],
    "noise": [so.steps.PerturbValue(2, 0.5), so.steps.DropEntries(0.3)],
    "sampled": [so.steps.SampleRecords(0.5), so.steps.DropTopItems(3)],
    "rare": [so.steps.DropRareItems(below=12)],
    "clusters": [so.steps.ClusterRecords(3)],
}


def mean_original_values(safer, original):
    """{released level: mean of the original values that it replaces}."""
    replaced = {}
    for history in original.values():
        for value in history.values():
            level = safer.mapping.released_values[list(safer.original.levels).index(value)]
            replaced.setdefault(level, []).append(value)
    return {level: sum(values) / len(values) for level, values in replaced.items()}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("small", [1024, 10])
def test_the_recommender_equals_its_slow_twin(release, name, small, monkeypatch):
    monkeypatch.setattr(recommender, "FACTORS", FACTORS)
    monkeypatch.setattr(recommender, "SMALL", small)
    bench = RecommenderBenchmark(hold_out(release, 30, 1))
    safer = so.sanitize(bench.holdout.rest, *STEPS[name], seed=3)
    original = histories(bench.holdout.rest)
    means = mean_original_values(safer, original)
    published = {
        record: {item: None if value is None else means[value] for item, value in history.items()}
        for record, history in histories(safer).items()
    }
    questions = held_out_values(bench.holdout, release)
    expected = naive.recommender_results(original, published, questions, (1.0, 5.0), FACTORS)
    result = bench.result(safer)
    np.testing.assert_allclose([result.hits, result.popular_hits, result.squared], expected, atol=1e-7)


def test_a_level_becomes_the_mean_of_the_values_that_it_replaces(release):
    liked = so.sanitize(release, so.steps.RoundValue("liked", 4), seed=1)
    values = release.to_frame()["value"]
    high, low = values.filter(values >= 4).mean(), values.filter(values < 4).mean()
    np.testing.assert_allclose(calibrated_values(liked), [low, high, np.nan])
    noisy = so.sanitize(release, so.steps.PerturbValue(1, 0.9), seed=1)
    np.testing.assert_allclose(calibrated_values(noisy), [1, 2, 3, 4, 5, np.nan])


def test_tied_items_share_the_remaining_ranks():
    scores = np.array([[9.0, *[5.0] * 20, -np.inf, 1.0]])
    probability = probability_in_top(scores, np.zeros(4, np.int64), np.array([0, 3, 21, 22]))
    assert probability.tolist() == [1.0, 9 / 20, 0.0, 0.0]


def test_the_size_of_batches_changes_no_number(release, monkeypatch):
    plain = RecommenderBenchmark(hold_out(release, 40, 2)).untouched
    monkeypatch.setattr(recommender_benchmark, "BATCH", 7)
    again = RecommenderBenchmark(hold_out(release, 40, 2)).untouched
    np.testing.assert_allclose(plain.hits, again.hits, atol=1e-12)
