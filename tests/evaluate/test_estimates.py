"""Numbers with their uncertainty: the textbook's values, and intervals that cover as often as they say."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.evaluate.estimates import Estimate, difference, mean, median, rate, student, weighted_mean

RUNS = 4_000


def test_students_t_is_the_one_in_the_tables():
    for freedom, confidence, t in [
        (1, 0.95, 12.7062),
        (2, 0.9, 2.91999),
        (4, 0.99, 4.60409),
        (9, 0.95, 2.26216),
        (30, 0.95, 2.04227),
        (120, 0.99, 2.61742),
        (299, 0.95, 1.96793),
        (301, 0.95, 1.96788),
        (10**6, 0.95, 1.96),
    ]:
        assert student(freedom, confidence) == pytest.approx(t, rel=2e-4)


def test_students_density_between_the_ends_has_the_confidence_as_its_integral():
    for freedom, confidence in product([1, 2, 3, 7, 40, 250], [0.5, 0.95, 0.999]):
        t = student(freedom, confidence)
        log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
        x = np.linspace(0, math.atan(t), 20_001)  # x = tan u, so that long tails need no more points
        density = np.exp(log_scale - (freedom + 1) / 2 * np.log1p(np.tan(x) ** 2 / freedom)) / np.cos(x) ** 2
        simpson = (density[0] + density[-1] + 4 * density[1:-1:2].sum() + 2 * density[2:-1:2].sum()) / 3
        assert 2 * simpson * (x[1] - x[0]) == pytest.approx(confidence, rel=1e-8)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_of_wilsons_interval_solve_its_equation(case):
    successes, n = case
    estimate, z = rate(successes, n), 1.959963984540054
    assert estimate.value == successes / n
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    for end, open_end in ((estimate.low, successes == 0), (estimate.high, successes == n)):
        if not open_end:  # |p̂ − p| = z √(p(1 − p)/n)
            assert abs(estimate.value - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), abs=1e-9)
    assert (estimate.low == 0) == (successes == 0)
    assert (estimate.high == 1) == (successes == n)


def test_wilsons_intervals_cover():
    for n, share in product([100, 400], [0.05, 0.3, 0.5, 0.9]):
        draws = np.random.default_rng(17).binomial(n, share, RUNS)
        estimates = [rate(int(k), n) for k in draws]
        assert 0.93 <= np.mean([estimate.low <= share <= estimate.high for estimate in estimates]) <= 0.97


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("shape", ["normal", "uniform", "gamma"])
def test_students_intervals_cover(shape, n):
    draw = np.random.default_rng(18)
    sample = {"normal": draw.normal, "uniform": draw.uniform, "gamma": lambda size: draw.gamma(4, size=size)}[shape]
    middle = {"normal": 0.0, "uniform": 0.5, "gamma": 4.0}[shape]
    estimates = [mean(row) for row in sample(size=(RUNS, n))]
    assert 0.93 <= np.mean([estimate.low <= middle <= estimate.high for estimate in estimates]) <= 0.97


@pytest.mark.parametrize("n", [50, 251, 1_200])
def test_intervals_of_medians_cover_whatever_the_distribution(n):
    estimates = [median(row) for row in np.random.default_rng(19).exponential(size=(RUNS // 4, n))]
    covered = np.mean([estimate.low <= math.log(2) <= estimate.high for estimate in estimates])
    assert 0.93 <= covered <= 0.98  # steps of whole numbers: a little more than asked, never less


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("bias", [-0.1, 0.0, 0.02])
@pytest.mark.parametrize("certainty", ["spread", "high"])
def test_intervals_of_a_paired_difference_cover(certainty, bias, n):
    """What a guess says it is right with, minus whether it is; even where hardly any guess is wrong."""
    rng = np.random.default_rng(n)
    shape = (4, 2) if certainty == "spread" else (60, 1)
    everybody = rng.beta(*shape, size=10**6)
    truth = (everybody - np.clip(everybody - bias, 0, 1)).mean()
    said = rng.choice(everybody, size=(RUNS // 4, n))
    right = (rng.random(said.shape) < np.clip(said - bias, 0, 1)).astype(float)
    covered = 0
    for numbers, successes in zip(said, right, strict=True):
        correlation = float(np.corrcoef(numbers, successes)[0, 1]) if successes.std() > 0 else 0.0
        estimate = difference(mean(numbers), rate(successes.sum(), n), correlation)
        assert estimate.value == pytest.approx((numbers - successes).mean())
        covered += estimate.low <= truth <= estimate.high
    assert 0.92 <= covered / len(said)


@pytest.mark.parametrize("n", [50, 400])
def test_intervals_of_a_weighted_mean_cover(n):
    """Weights of ties: 0 for a right guess, 1 for a wrong one, 1/2 for a tie of two."""
    rng = np.random.default_rng(n)
    weights = rng.choice([0.0, 0.5, 1.0], size=(RUNS // 4, n), p=[0.5, 0.2, 0.3])
    numbers = rng.gamma(4.0, size=weights.shape) + 2 * (weights == 0.5)
    truth = 4 + 2 * 0.1 / 0.4
    estimates = [weighted_mean(*rows) for rows in zip(numbers, weights, strict=True)]
    assert 0.92 <= np.mean([e.low <= truth <= e.high for e in estimates]) <= 0.98


@given(st.lists(st.tuples(st.floats(0, 20), st.sampled_from([0.0, 1.0])), min_size=1, max_size=9))
def test_a_mean_with_weights_0_and_1_is_that_of_the_numbers_with_weight_1(pairs):
    numbers, weights = zip(*pairs, strict=True)
    plain, weighted = mean([x for x, w in pairs if w]), weighted_mean(numbers, weights)
    assert (weighted.value, weighted.n) == (pytest.approx(plain.value), plain.n)
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high), abs=1e-6)


def test_a_difference_of_something_unknown_is_unknown():
    unknown = difference(mean([0.5]), rate(1, 1))
    assert (unknown.low, unknown.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("n", [1, 5, 6, 9, 30, 99])
def test_the_ends_of_a_medians_interval_are_the_innermost_that_cover(n):
    def outside(k):
        """The chance that fewer than k of n fair coins show heads."""
        return sum(Fraction(math.comb(n, i), 2**n) for i in range(k))

    estimate = median(np.arange(1, n + 1))
    k = max(k for k in range(n) if outside(k) <= Fraction(1, 40))
    assert (estimate.low, estimate.high) == ((k, n + 1 - k) if k else (-math.inf, math.inf))
    assert estimate.value == (n + 1) / 2


def test_of_nothing_nothing_is_known():
    assert rate(0, 0) == Estimate(0.0, 0.0, 1.0, 0)
    assert mean([]) == Estimate(0.0, -math.inf, math.inf, 0)
    assert mean([3.0]) == Estimate(3.0, -math.inf, math.inf, 1)
    assert median([]) == Estimate(0.0, -math.inf, math.inf, 0)
    assert mean([2.0, 2.0]) == Estimate(2.0, 2.0, 2.0, 2)


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (float("nan"), 5)])
def test_successes_are_at_most_all(successes, n):
    with pytest.raises(so.ParameterError, match="successes must be from 0 to n"):
        rate(successes, n)
