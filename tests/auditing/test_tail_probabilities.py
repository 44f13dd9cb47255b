"""Tail probabilities: equal to sums over all cases."""

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.evaluate.estimates import beta_binomial_tail, binomial_tail

pytestmark = pytest.mark.once


@given(st.integers(0, 8), st.integers(0, 8), st.floats(0, 1))
def test_the_tail_of_a_binomial_is_the_sum_of_its_probabilities(hits, n, chance):
    slow = sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(hits, n + 1))
    assert binomial_tail(hits, n, chance) == pytest.approx(slow, abs=1e-9)


@given(st.integers(0, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))
def test_the_tail_of_a_beta_binomial_counts_orders(hits, n, a, b):
    """In how many orders of old and new numbers do so many new ones exceed the a-th highest old one?"""
    old, above = a + b - 1, []
    for new in combinations(range(old + n), n):  # ranks of the new numbers, the highest first
        olds = [rank for rank in range(old + n) if rank not in new]
        above.append(sum(rank < olds[a - 1] for rank in new))
    assert beta_binomial_tail(hits, n, a, b) == pytest.approx(sum(k >= hits for k in above) / len(above))
