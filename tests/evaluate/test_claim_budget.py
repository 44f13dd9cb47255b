"""Claims within a budget: φ is chosen on other targets, and the intervals cover what they say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from evaluate.claim_populations import POPULATIONS, population
from evaluate.test_claim_rates import trades
from standout.evaluate.claims import ClaimRates, rates_within_budget

SAMPLES = 300
BUDGET = 0.01


def triples(trade):
    """The targets as the slow twin takes them."""
    arrays = (trade.claim_strength, trade.identified == 1.0, trade.absent_claim_strength)
    return [list(zip(*(array[t].tolist() for array in arrays), strict=True)) for t in range(len(arrays[0]))]


@given(trades(), st.sampled_from([0.0, 0.01, 0.1, 0.34, 0.5, 0.99]))
def test_rates_within_a_budget_equal_their_slow_twin(trade, budget):
    within = rates_within_budget(trade, budget)
    phi, correct, absent = naive.shares_within_budget(triples(trade), budget)
    assert within.phi == pytest.approx(phi)
    assert within.correct_claims.value == pytest.approx(correct)
    assert within.absent_claims.value == pytest.approx(absent)
    interval = within.correct_claims.low, within.correct_claims.high
    assert interval == pytest.approx(naive.correct_claims_interval(triples(trade), budget), abs=1e-9)
    for estimate in (within.correct_claims, within.absent_claims):
        assert 0 <= estimate.low <= estimate.value + 1e-12 and estimate.value - 1e-12 <= estimate.high <= 1


@given(trades(), st.randoms(use_true_random=False))
def test_the_order_of_targets_does_not_matter(trade, shuffler):
    order = list(range(len(trade.claim_strength)))
    shuffler.shuffle(order)
    names = ("claim_strength", "identified", "absent_claim_strength")
    shuffled = replace(trade, **{name: getattr(trade, name)[order] for name in names})
    for estimate, again in zip(
        rates_within_budget(trade, 0.3)[1:], rates_within_budget(shuffled, 0.3)[1:], strict=True
    ):
        assert (again.low, again.high) == pytest.approx((estimate.low, estimate.high))


def test_no_target_decides_about_its_own_claim():
    """The strongest absent target is claimed at the φ of all others, though at none that it helps choose."""
    absent = np.arange(50.0)[:, None]
    within = rates_within_budget(ClaimRates(absent, np.ones((50, 1)), absent), 0.01)
    assert within.phi > 49 and within.absent_claims.value == within.correct_claims.value == 1 / 50


def test_too_few_targets_for_the_budget_leave_no_lower_limit():
    present, absent = np.full((100, 1), 9.0), np.linspace(0, 1, 100)[:, None]
    within = rates_within_budget(ClaimRates(present, np.ones((100, 1)), absent), 0.01)
    assert within.correct_claims.value == 1 and within.correct_claims.low == 0


def samples_of(name, n):
    """The rates of samples of n targets; the truths about each, and the share at exactly the budget."""
    rng = np.random.default_rng([n, POPULATIONS.index(name)])
    people = population(name)
    at_budget = people.correct_claims(people.phi_for(BUDGET))
    rows = []
    for _ in range(SAMPLES):
        chosen = rng.integers(0, len(people.present), n)
        within = rates_within_budget(people.sample(chosen), BUDGET)
        truth = people.correct_claims(within.phi), people.absent_claims(within.phi)
        rows.append((*truth, *(getattr(e, end) for e in within[1:] for end in ("low", "high"))))
    return np.array(rows).T, at_budget


@pytest.mark.once
@pytest.mark.parametrize("n", [100, 500, 2000])
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_within_a_budget_cover_the_truth(name, n):
    """In 95 % of samples, or in more: with few targets the interval of correct claims begins at 0."""
    (correct, absent, low, high, absent_low, absent_high), at_budget = samples_of(name, n)
    most = 0.99 if n >= 500 else 1.0
    for truth in (at_budget, correct.mean()):
        assert 0.92 <= ((low <= truth) & (truth <= high)).mean() <= most
    assert 0.92 <= ((low <= correct) & (correct <= high)).mean()
    assert 0.92 <= ((absent_low <= absent) & (absent <= absent_high)).mean() <= 0.99
    assert absent.mean() <= BUDGET * 1.1  # the budget is kept on average


@pytest.mark.once
def test_the_limits_of_correct_claims_hold_where_strengths_tie_at_their_ceiling():
    """2 % of the absent reach the ceiling, so no φ below it keeps to the budget: nothing can be claimed."""
    people = population("ties")
    assert people.correct_claims(people.phi_for(BUDGET)) == 0
    rng = np.random.default_rng(5)
    lows = [
        rates_within_budget(people.sample(rng.integers(0, len(people.present), n)), BUDGET).correct_claims.low
        for n in [100] * 100 + [1000] * 100
    ]
    assert np.mean(np.array(lows) == 0) >= 0.95
