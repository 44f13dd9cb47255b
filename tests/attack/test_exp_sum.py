"""Sums of exponentials, and what depends on them, are right to a millionth."""

import math
from functools import partial

import numba
import numpy as np
import pytest

import naive
import standout as so
from attack_cases import COMPILED, Data
from standout.attack.sum_kernels import exp_sum, exp_sum_of_zeros

MILLIONTH = 1e-6


@numba.njit
def mass(scores, low, high, highest, scale):
    return exp_sum(scores, low, high, highest, scale, np.float32(np.inf))


@pytest.mark.parametrize("heights", [0.01, 0.1, 1, 3, 10, 20, 40, 80, 300])
@pytest.mark.parametrize("zeros", [0, 0.95])
def test_sums_of_exponentials_are_right_to_a_millionth(heights, zeros):
    """heights = how many σ the highest score is above 0."""
    random = np.random.default_rng(2008)
    for n in (1, 3, 7, 127, 129, 384) if COMPILED else (1, 3, 7, 129):
        for size in random.uniform(0.01, 20, 9):
            scores = (size * random.random(n) * (random.random(n) >= zeros)).astype(np.float32)
            scores[n // 2] = size
            highest, low = float(scores[n // 2]), min(3, n // 2)
            scale = heights / highest
            expected = np.exp((scores[low:].astype(np.float64) - highest) * scale).sum()
            assert mass(scores, low, n, highest, scale) == pytest.approx(expected, rel=MILLIONTH)


@pytest.mark.parametrize("heights", [3, 10, 20])
def test_sums_over_people_of_whom_nothing_is_known_are_right_to_a_millionth(heights):
    for size in np.random.default_rng(2008).uniform(0.01, 20, 30):
        highest = float(np.float32(size))
        total = mass(np.zeros(300, np.float32), 0, 300, highest, heights / highest)
        assert total == pytest.approx(300 * math.exp(-heights), rel=MILLIONTH)


@numba.njit
def mass_of_zeros(n, highest, scale):
    return exp_sum_of_zeros(n, highest, scale)


@pytest.mark.parametrize("n", [1, 2, 5, 31] + [8191, 8192] * COMPILED)
def test_the_sum_over_zeros_is_known_without_adding_them(n):
    for size, heights in np.random.default_rng(7).uniform(0.01, 90, (30, 2)):
        highest, scale = float(np.float32(size)), heights / size
        zeros = np.zeros(n, np.float32)
        assert mass_of_zeros(n, highest, scale) == mass(zeros, 0, n, highest, scale)


def test_scores_of_no_candidates_add_nothing_to_a_sum_of_exponentials():
    scores = np.array([1, -1e30, 0.5, -1e30], np.float32)
    assert mass(scores, 0, 4, 1.0, 2.0) == pytest.approx(1 + math.exp(-1), rel=1e-6)


@pytest.mark.parametrize("n", [3, 40, 1_300])
def test_bits_and_the_mass_left_over_are_right_to_a_millionth(n):
    rows = [(str(i), "b", 4.0, None) for i in range(n // 2)]
    rows += [(str(i), "aa", 1.0, None) for i in range(n)]
    made = Data([*rows, ("0", "c", 1.0, None)], unit=None)
    aux = so.Aux([so.Fact("b", value=4), so.Fact("aa", value=3), so.Fact("c", value=1)])
    verdict = so.ScoreboardRH().attack(made.read(), aux)
    chances = naive.probabilities(made.scores(aux, naive.decay, naive.weight))
    exactly = partial(pytest.approx, rel=MILLIONTH, abs=1e-9)
    for record in ("0", str(n - 1)):
        assert verdict.probability(record) == exactly(chances[record])
        assert verdict.entropy(record) == exactly(naive.entropy(chances, record))
    assert verdict.lineup(1).outside == exactly(1 - chances["0"])
