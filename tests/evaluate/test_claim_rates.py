"""Claim rates: counts at any φ, the φ for a budget, and the equal error rate."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from evaluate.releases import ADVERSARY, released
from standout.attack.verdict import NO_CLAIM
from standout.evaluate.claims import ClaimRates, ClaimThreshold
from standout.evaluate.simulate import simulate


@st.composite
def trades(draw):
    n, k = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    number = st.sampled_from([NO_CLAIM, 0.0, 0.3, 0.7, 1.5, 1.5, 4.0])
    claim, absent = (np.array(draw(st.lists(number, min_size=n * k, max_size=n * k))).reshape(n, k) for _ in "ab")
    right = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n * k, max_size=n * k))).reshape(n, k)
    return ClaimRates(claim, np.where(claim < 0, 0.5, right), absent)


@given(trades(), st.sampled_from([0.0, 0.3, 1.0, 1.5, 9.0]))
def test_rates_at_phi_count_the_claims(trade, phi):
    shares, n = trade.at(phi), trade.claim_strength.size
    pairs = list(zip(trade.claim_strength.ravel(), trade.identified.ravel(), strict=True))
    assert shares.correct_claims.value == pytest.approx(sum(c >= phi and r == 1 for c, r in pairs) / n)
    assert shares.wrong_claims.value == pytest.approx(sum(c >= phi and r < 1 for c, r in pairs) / n)
    assert shares.no_claim.value == pytest.approx(sum(c < phi for c, _ in pairs) / n)
    assert shares.absent_claims.value == pytest.approx(sum(trade.absent_claim_strength.ravel() >= phi) / n)
    assert shares.correct_claims.n == len(trade.claim_strength)


@given(trades(), st.sampled_from([0.0, 0.01, 0.1, 0.34, 0.5, 0.99]))
def test_phi_for_a_budget_is_the_smallest_that_keeps_it_with_one_more_target(trade, budget):
    phi, n = trade.phi_for(budget), len(trade.claim_strength)

    def with_one_more(at):
        return (trade.at(at).absent_claims.value * n + 1) / (n + 1)

    assert with_one_more(phi) <= max(budget, 1 / (n + 1)) + 1e-9
    for lower in [0.0, *trade.absent_claim_strength[trade.absent_claim_strength >= 0]]:
        assert lower >= phi * (1 - 2e-5) or with_one_more(lower) > budget


@given(trades())
def test_no_other_phi_is_better_than_that_of_the_equal_error_rate(trade):
    phi, error = trade.equal_error_rate()

    def worst(at):
        return max(1 - trade.at(at).correct_claims.value, trade.at(at).absent_claims.value)

    assert worst(phi) == pytest.approx(error)
    assert all(worst(at) >= error - 1e-12 for at in np.linspace(0, 5, 101))


@given(trades())
def test_the_curve_falls_with_phi_and_its_parts_add_up_to_1(trade):
    curve = trade.curve()
    assert curve["phi"][0] == 0
    for name in ("correct_claims", "wrong_claims", "absent_claims"):
        assert (curve[name].diff().drop_nulls() <= 1e-12).all()
    assert np.allclose(curve["correct_claims"] + curve["wrong_claims"] + curve["no_claim"], 1)
    last = curve.row(-1, named=True)
    assert (last["correct_claims"], last["wrong_claims"], last["absent_claims"], last["no_claim"]) == (0, 0, 0, 1)
    for row in curve.iter_rows(named=True):
        assert row["correct_claims"] == pytest.approx(trade.at(row["phi"]).correct_claims.value)


def test_without_absent_targets_there_are_no_false_claims(release):
    simulation = simulate(release, ADVERSARY, targets=10, absent=False)
    assert not {"absent_claims", "absent_rejected", "equal_error_rate", "phi"} & set(simulation.table["measure"])
    for ask in (simulation.cell().claim_rates.equal_error_rate, partial(simulation.cell().claim_rates.phi_for, 0.01)):
        with pytest.raises(so.ParameterError, match="no absent targets were attacked"):
            ask()


def test_a_chosen_phi_ignores_the_difference_of_one_record():
    """Items of two people each, of whom the other stands out as far as anybody can when the target goes; and
    items of one, who stands out as far in one record more."""
    cells = {(f"p{i:03}", f"x{j}"): (1.0, 0) for j in range(50) for i in (2 * j, 2 * j + 1)}
    cells |= {(f"q{i:03}", f"own{i}"): (1.0, 0) for i in range(100)}
    release = released(cells)
    cell = simulate(release, so.Adversary(knows=1), targets="all").cell()
    trade = cell.claim_rates
    assert ((trade.absent_claim_strength > 0).mean(), (trade.claim_strength > 0).mean()) == (0.5, 0.5)
    assert 0 < trade.claim_strength.max() / trade.absent_claim_strength.max() - 1 < 0.01
    assert trade.at(trade.phi_for(0.01)).correct_claims.value == 0
    posteriors = replace(cell, threshold=ClaimThreshold("posterior", 0.95)).claim_rates
    assert posteriors.at(posteriors.phi_for(0.01)).correct_claims.value > 0
