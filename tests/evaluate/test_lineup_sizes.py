"""Sizes of lineups: the shortest that hold a share of the probability."""

import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from standout.evaluate import outcomes as module

SCORES = st.one_of(st.sampled_from([0.0, -math.inf, 1.0, 1.5, 40.0]), st.floats(1e-3, 40.0), st.floats(1e-310, 1e-305))


def sizes_of(scores, scale):
    candidates = scores[scores > -np.inf]
    verdict = SimpleNamespace(candidates=len(candidates), scores=scores, highest=float(candidates.max()), scale=scale)
    return module._lineup_size(verdict).tolist()


def shares(scores, scale):
    """Cumulated probabilities, the most probable first."""
    candidates = scores[scores > -np.inf]
    weight = sorted((math.exp((x - candidates.max()) / scale) for x in candidates), reverse=True)
    total = math.fsum(weight)
    return [math.fsum(weight[:n]) / total for n in range(len(weight) + 1)]


@given(st.lists(SCORES, min_size=1, max_size=60), st.floats(0.05, 20.0))
def test_a_lineup_is_the_shortest_that_holds_its_share(scores, scale):
    scores = np.array([*scores, 0.0])
    held = shares(scores, scale)
    for size, mass in zip(sizes_of(scores, scale), module.MASSES, strict=True):
        assert held[int(size)] >= mass - 1e-9 and held[int(size) - 1] < mass + 1e-9


@pytest.mark.once
def test_many_equal_scores_are_counted_one_by_one():
    scores = np.random.default_rng(1).choice([0.0, 0.5, 0.5000001, 3.0], 1_000)
    distribution = dict(enumerate(np.diff(shares(scores, 1.3))))
    assert sizes_of(scores, 1.3) == [naive.lineup_size(distribution, mass) for mass in module.MASSES]


@pytest.mark.once
@pytest.mark.parametrize("attack", [so.ScoreboardRH(), so.Likelihood()])
def test_threads_change_no_size_of_a_lineup(attack, monkeypatch):
    monkeypatch.setattr("standout.attack.queries.KEPT_SCORES", 200)  # so that threads empty what is kept
    draws = np.random.default_rng(2)
    people, items = draws.integers(100, size=3_000).astype(str), draws.integers(30, size=3_000).astype(str)
    frame = pl.DataFrame({"record": people, "item": items, "value": draws.integers(1, 4, size=3_000)})
    release = so.read(frame, repeats="keep")
    known = so.Adversary(knows=3).observe_all(release, np.arange(12), 1, draws=2)
    sizes = [
        module.lineup_sizes(attack.nested(release, known, [1, 2, 3]), 6, 3, draws=2, threads=threads)
        for threads in (1, 4)
    ]
    np.testing.assert_array_equal(*sizes)
    assert np.isnan(sizes[0]).sum() == 3 * (12 * 2 * 3 - 6 * 3)
