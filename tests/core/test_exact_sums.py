"""Sums in fixed point: exact in merging, and precise."""

import math

import numpy as np
import pytest

from standout.core.jit import kernel
from standout.core.parts import add_to_sum, exact_sums, merged_sums, sum_unit, sum_value, sum_values

EXPONENTS = [-280, -40, 0, 7, 61, 280]


@kernel
def kernel_sum(terms, unit, sums):
    for i in range(len(terms)):
        add_to_sum(sums, np.int64(0), np.int64(1), terms[i], unit)
    return sum_value(sums, np.int64(0), np.int64(1), unit)


def random_terms(seed, exponent, n=300):
    """Terms of all sizes below 2^exponent, some of them 0 or the bound itself."""
    rng = np.random.default_rng(seed)
    terms = rng.random(n) * 2.0 ** (exponent - rng.integers(0, 60, n))
    terms[rng.random(n) < 0.1] = 0.0
    terms[rng.random(n) < 0.1] = 2.0**exponent
    return terms


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_order_and_grouping_of_terms_do_not_change_a_bit(exponent):
    terms, unit = random_terms(1, exponent), sum_unit(exponent)
    whole = exact_sums(terms, unit)
    assert np.array_equal(exact_sums(np.random.default_rng(2).permutation(terms), unit), whole)
    for parts in (2, 3, 7, 100):
        words = np.array([exact_sums(part, unit) for part in np.array_split(terms, parts)])
        assert np.array_equal(merged_sums(words), whole)
        left = merged_sums(np.array([merged_sums(words[:1]), merged_sums(words[1:])]))
        right = merged_sums(np.array([merged_sums(words[:-1]), words[-1]]))
        assert np.array_equal(left, whole)
        assert np.array_equal(right, whole)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_sum_is_as_precise_as_double_precision(exponent):
    terms, unit = random_terms(3, exponent), sum_unit(exponent)
    assert sum_values(exact_sums(terms, unit), unit) == pytest.approx(math.fsum(terms), rel=4e-16)
    small = terms[terms > 0].min()
    one = exact_sums(np.array([small]), unit)
    assert abs(float(sum_values(one, unit)) - small) <= 2.0 ** (exponent - 100)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_kernel_and_its_twin_give_the_same_words(exponent):
    terms, unit = random_terms(4, exponent), sum_unit(exponent)
    sums = np.zeros((1, 2, 2), np.int64)
    value = kernel_sum(terms, float(unit), sums)
    assert np.array_equal(sums[0, 1], exact_sums(terms, unit))
    assert not sums[0, 0].any()
    assert value == sum_values(sums[0, 1], unit)


@pytest.mark.once
def test_negative_terms_cancel_exactly():
    terms = np.random.default_rng(5).standard_normal(1000)
    assert not exact_sums(np.concatenate([terms, -terms]), sum_unit(4)).any()


def test_terms_beyond_the_bound_count_as_the_bound():
    terms, sums = np.array([1.0, 3.0, np.inf, np.nan]), np.zeros((1, 2, 2), np.int64)
    assert kernel_sum(terms, float(sum_unit(0)), sums) == 4.0
    assert np.array_equal(sums[0, 1], exact_sums(terms, sum_unit(0)))


@pytest.mark.once
def test_there_is_room_for_millions_of_terms():
    words = np.broadcast_to(exact_sums(np.array([1.0 - 2.0**-53]), sum_unit(0)), (1 << 22, 2))
    assert sum_values(merged_sums(words), sum_unit(0)) == (1 << 22) * (1.0 - 2.0**-53)
