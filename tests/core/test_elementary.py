"""exp, log and powers: the result for a number is the same wherever it stands."""

import math
from itertools import product

import numpy as np
import pytest

from standout.core import elementary

NAMES = ["exp", "exp2", "expm1", "log", "log1p", "log2"]
LONG = elementary.SHORT + 100


def numbers(name):
    """Numbers of all sizes for which the function has a finite result."""
    draw = np.random.default_rng(2008)
    far = draw.exponential(30, LONG)
    return np.concatenate([far[: LONG // 2], far[LONG // 2 :] / 1e6]) * (-1 if name.startswith("exp") else 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_depends_neither_on_its_place_nor_on_the_length_of_the_array(name):
    function, x = getattr(elementary, name), numbers(name)
    one_by_one = [getattr(math, name)(number) for number in x.tolist()]
    assert function(x).tolist() == one_by_one
    assert np.concatenate([function(x[:7]), function(x[7:])]).tolist() == one_by_one
    assert function(x[::-1]).tolist() == one_by_one[::-1]
    assert function(x.reshape(-1, 2)).ravel().tolist() == one_by_one


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_numpy_but_for_the_last_digits(name):
    x = numbers(name)
    np.testing.assert_array_max_ulp(getattr(elementary, name)(x), getattr(np, name)(x), maxulp=4)


def test_out_of_range_gives_infinity_or_nan_and_no_error():
    for length, (name, x, expected) in product(
        [1, LONG],
        [
            ("exp", 1e4, math.inf),
            ("exp", -math.inf, 0.0),
            ("exp2", 2e3, math.inf),
            ("expm1", 1e4, math.inf),
            ("log", 0.0, -math.inf),
            ("log", -1.0, math.nan),
            ("log2", 0.0, -math.inf),
            ("log2", 2.0**40, 40.0),
            ("log1p", -1.0, -math.inf),
            ("log1p", -2.0, math.nan),
            ("exp", math.nan, math.nan),
        ],
    ):
        results = getattr(elementary, name)(np.full(length, x))
        assert np.array_equal(results, np.full(length, expected), equal_nan=True)


def test_powers_are_those_of_math_and_pair_up():
    base, exponent = np.abs(numbers("log")), np.random.default_rng(1).uniform(0, 3, LONG)
    expected = [math.pow(a, b) for a, b in zip(base.tolist(), exponent.tolist(), strict=True)]
    assert elementary.power(base, exponent).tolist() == expected
    assert elementary.power(base[:9], exponent[:9]).tolist() == expected[:9]
    assert elementary.power(base, 1.7).tolist() == [math.pow(a, 1.7) for a in base.tolist()]
    assert elementary.power(1e300, [2.0, 0.0]).tolist() == [math.inf, 1.0]


def test_a_weighted_sum_of_a_row_does_not_depend_on_the_other_rows():
    draw = np.random.default_rng(2008)
    rows, weights = draw.random((300, 7)), draw.random(7)
    sums = elementary.weighted_sum(rows, weights)
    np.testing.assert_array_max_ulp(sums, rows @ weights, maxulp=8)
    assert sums.tolist() == [float(elementary.weighted_sum(row[None], weights)[0]) for row in rows]
    assert elementary.weighted_sum(rows.reshape(10, 30, 7), weights).ravel().tolist() == sums.tolist()
