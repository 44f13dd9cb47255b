"""φ, false claims, and how many are expected."""

import math
from dataclasses import replace

import numpy as np
import pytest

import naive
from standout.linking.decoys import DecoyStrengths, absent_share

pytestmark = pytest.mark.once


def some_decoys(seed=1, decoys=200):
    """Decoys of two kinds; several of the second kind belong to one person."""
    draw = np.random.default_rng(seed)
    kind, person = draw.integers(0, 2, decoys), np.arange(decoys)
    person[kind == 1] = draw.integers(0, 60, int((kind == 1).sum()))
    return DecoyStrengths(kind, person, np.round(draw.normal(1, 3, decoys), 1))


def strongest(decoys):
    return naive.strongest_decoys(decoys.kind.tolist(), decoys.person.tolist(), decoys.strength.tolist())


def test_a_false_claim_is_the_share_of_people_with_a_decoy_at_least_as_strong():
    decoys, strengths = some_decoys(), np.round(np.random.default_rng(2).normal(1, 4, 60), 1)
    for strength, share in zip(strengths.tolist(), decoys.false_claim(strengths).tolist(), strict=True):
        least = strength - 1e-4 * abs(strength)
        shares = [(1 + sum(s >= least for s in kind)) / (1 + len(kind)) for kind in strongest(decoys)]
        assert share == pytest.approx(max(shares))


def test_phi_is_the_smallest_at_which_decoys_keep_to_the_budget_with_confidence():
    decoys = some_decoys(decoys=400)
    for budget in (0.02, 0.05, 0.1, 0.5):
        phis = []
        for kind in strongest(decoys):
            claimed = {phi: sum(s > phi for s in kind) for phi in (-100.0, *kind)}
            fits = [phi for phi, n in claimed.items() if naive.wilson_high(n, len(kind)) <= budget]
            phis.append(max(min(fits or kind[-1:]), 0.0))
        assert decoys.phi(budget) == pytest.approx(max(phis), rel=1e-4, abs=1e-4)
        assert decoys.phi(budget) >= max(phis)


def test_too_few_decoys_allow_no_claim_and_just_enough_only_claims_above_all_decoys():
    decoys = some_decoys(decoys=12)
    assert decoys.phi(0.01) == math.inf and decoys.expected_claims(math.inf, 30) == 0.0
    enough = DecoyStrengths(np.zeros(120, int), np.arange(120), np.arange(120.0))
    assert enough.phi(0.01) == pytest.approx(119, rel=1e-4) and enough.phi(0.01) > 119


def test_expected_claims_are_the_share_of_claimed_decoys_times_the_profiles():
    decoys = some_decoys()
    shares = [(1 + sum(s >= 3 for s in kind)) / (1 + len(kind)) for kind in strongest(decoys)]
    assert decoys.expected_claims(3.0, 40) == pytest.approx(40 * max(shares))


def test_a_tie_is_never_an_expected_claim():
    decoys = DecoyStrengths(np.zeros(4, int), np.arange(4), np.array([0.0, 0.0, 0.0, 2.0]))
    assert decoys.expected_claims(0.0, 50) == pytest.approx(50 * 2 / 5)  # as at any φ up to 2


def test_strengths_within_the_slack_are_equal():
    decoys = replace(some_decoys(), slack=0.01)
    most = decoys.strength.max()
    near, above = decoys.false_claim(np.array([1.009 * most, 1.02 * most]))
    assert above < near


def test_the_absent_share_is_twice_the_share_of_false_claims_above_one_half():
    assert absent_share(np.array([0.001] * 90 + [0.6] * 5 + [0.4] * 5)) == pytest.approx(0.1)
    assert absent_share(np.ones(4)) == 1.0 and absent_share(np.empty(0)) == 0.0
