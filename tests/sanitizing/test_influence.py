"""Intervals of paired differences and ratios."""

import math

import numpy as np
import pytest

from standout.evaluate.estimates import mean
from standout.sanitizing.recommender import InfluenceEstimate

pytestmark = pytest.mark.once


def test_intervals_are_those_of_the_jackknife():
    draw = np.random.default_rng(5)
    a, b, c = draw.gamma(2, size=(3, 400))
    b, c = b + a, c + 3

    def share(keep):
        baseline, before, after = (math.sqrt(values[keep].mean()) for values in (c, a, b))
        return (baseline - after) / (baseline - before)

    baseline, before, after = (InfluenceEstimate.mean(values).root() for values in (c, a, b))
    estimate = ((baseline - after) / (baseline - before)).estimate()
    people = np.arange(400)
    left_one_out = np.array([share(people != i) for i in people])
    error = math.sqrt(399 / 400 * ((left_one_out - left_one_out.mean()) ** 2).sum())
    assert estimate.value == pytest.approx(share(people >= 0))
    assert estimate.width == pytest.approx(1.966 * error, rel=0.01)


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(5).gamma(2, size=400)
    estimate = InfluenceEstimate.mean(values).estimate()
    assert (estimate.low, estimate.high) == pytest.approx((mean(values).low, mean(values).high))
