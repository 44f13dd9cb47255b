"""The measures of a cell: each follows from the outcomes, and has its baseline."""

import math

import numpy as np
import pytest

import naive
import standout as so
from evaluate.releases import ADVERSARY
from standout.evaluate.claims import rates_within_budget
from standout.evaluate.simulate import simulate
from standout.evaluate.targets import similarities_to_all


def rows_of(simulation, facts):
    table = simulation.table.filter(facts=facts)
    return {(row["measure"], row["setting"]): row for row in table.iter_rows(named=True)}


@pytest.mark.large
def test_every_measure_follows_from_the_outcomes(release):
    settings = {"phi": 0.8, "theta": 0.4, "top": 5, "budget": 0.2}
    simulation = simulate(release, ADVERSARY, facts=[1, 6], targets=80, draws=2, seed=3, **settings)
    n = release.n_records
    for cell in simulation.cells:
        rows, outcomes = rows_of(simulation, cell.facts), cell.outcomes
        estimates = {key: row["estimate"] for key, row in rows.items()}
        assert estimates["identified", ""] == pytest.approx(outcomes.identified.mean())
        assert estimates["in_top", "top=5"] == pytest.approx(outcomes.in_top.mean())
        assert estimates["similar", "theta=0.4"] == pytest.approx(outcomes.similar.mean())
        is_correct = (outcomes.claim_strength >= 0.8) & (outcomes.identified == 1)
        assert estimates["correct_claims", "phi=0.8"] == pytest.approx(is_correct.mean())
        assert estimates["wrong_claims", "phi=0.8"] == pytest.approx(
            ((outcomes.claim_strength >= 0.8) & ~is_correct).mean()
        )
        assert estimates["absent_rejected", "phi=0.8"] == pytest.approx((outcomes.absent_claim_strength < 0.8).mean())
        phi, at_budget = estimates["phi", "absent_claims<=0.2"], "absent_claims<=0.2"
        assert 0.2 - 3 / 80 <= (outcomes.absent_claim_strength >= phi).mean() <= 0.2
        within = rates_within_budget(cell.claim_rates, 0.2)
        assert phi == within.phi
        assert estimates["correct_claims", at_budget] == within.correct_claims.value
        assert estimates["absent_claims", at_budget] == within.absent_claims.value
        assert estimates["bits_left", ""] == pytest.approx(outcomes.bits_left.mean())
        assert estimates["bits_left", "theta=0.4"] == pytest.approx(outcomes.similar_bits_left.mean())
        mixed = -np.log2(np.exp2(-outcomes.bits_left) / 2 + 1 / (2 * n))
        assert estimates["bits_left", "mixed_with_uniform"] == pytest.approx(mixed.mean())
        by_target = zip(outcomes.identified, outcomes.bits_left, strict=True)
        failures = naive.bits_left_of_failures([list(zip(*arrays, strict=True)) for arrays in by_target])
        assert estimates["bits_left", "not identified"] == pytest.approx(failures)
        assert rows["bits_left", "not identified"]["n"] == (outcomes.identified.mean(axis=1) < 1).sum()
        assert estimates["lineup_size", "mass=90 %"] == np.nanmedian(outcomes.lineup_90)
        beyond, right = outcomes.revealed.sum(axis=1), outcomes.revealed_correct.sum(axis=1)
        share = [r / b for r, b in zip(right, beyond, strict=True) if b]
        assert estimates["revealed_correct_share", ""] == pytest.approx(np.mean(share))
        assert rows["revealed_correct_share", ""]["n"] == len(share)
        gaps = cell.calibration()
        weighed = [row["n"] * abs(row["mean_probability"] - row["identified"]) for row in gaps.iter_rows(named=True)]
        assert estimates["calibration_gap", ""] == pytest.approx(sum(weighed) / gaps["n"].sum())
        bias = rows["calibration_bias", ""]
        by_target = (array.mean(axis=1).tolist() for array in (outcomes.best_probability, outcomes.identified))
        slow = naive.calibration_bias(*by_target, t=1.990450)  # 79 degrees of freedom
        assert (bias["low"], bias["estimate"], bias["high"]) == pytest.approx(slow, abs=1e-6)


@pytest.mark.large
@pytest.mark.parametrize("theta", [0.001, 0.1, 1.0])
def test_a_claim_of_a_similar_record_is_correct(release, theta):
    """Definition 3; without θ, only a claim of the right record is correct."""
    simulation = simulate(release, ADVERSARY, facts=2, targets=80, draws=2, seed=3, phi=0.3, theta=theta)
    rows, outcomes = rows_of(simulation, 2), simulation.cell().outcomes
    arrays = (outcomes.claim_strength, outcomes.similar == 1, outcomes.absent_claim_strength)
    targets = [list(zip(*(array[t] for array in arrays), strict=True)) for t in range(80)]
    correct, wrong, _ = naive.claim_shares(targets, 0.3)
    setting = f"phi=0.3, theta={theta:g}"
    assert rows["correct_claims", setting]["estimate"] == pytest.approx(correct)
    assert rows["wrong_claims", setting]["estimate"] == pytest.approx(wrong)
    assert correct >= rows["correct_claims", "phi=0.3"]["estimate"] - 1e-12 and correct + wrong > 0
    equal = (rows["equal_error_rate", setting]["estimate"] for setting in (f"theta={theta:g}", ""))
    assert next(equal) <= next(equal)


@pytest.mark.large
def test_the_baseline_is_that_of_a_random_record(release):
    rows = rows_of(simulate(release, ADVERSARY, facts=6, targets="all", seed=3), 6)
    n = release.n_records
    baseline = {key: row["baseline"] for key, row in rows.items()}
    assert (baseline["identified", ""], baseline["in_top", "top=10"]) == (1 / n, 10 / n)
    assert baseline["bits_left", ""] == math.log2(n) and baseline["bits_gained", ""] == 0
    assert baseline["lineup_size", "mass=90 %"] == math.ceil(0.9 * n)
    assert (baseline["wrong_claims", "phi=1.5"], baseline["absent_claims", "phi=1.5"]) == (1 - 1 / n, 1)
    able = np.flatnonzero(release.lengths >= 6)
    every = np.concatenate([similarities_to_all(release, record, so.Within(value=1, time=14)) for record in able])
    expected = (every >= 0.5).mean()
    reach = 4 * math.sqrt(expected / len(able)) + 1e-3
    assert baseline["similar", "theta=0.5"] == pytest.approx(expected, abs=reach)


@pytest.mark.large
def test_bits_of_a_mixture_are_at_most_one_more(release):
    simulation = simulate(release, ADVERSARY, facts=[1, 6], targets=60, seed=1)
    for facts in (1, 6):
        plain, mixed = (
            simulation.estimate("bits_left", setting, facts=facts).value for setting in ("", "mixed_with_uniform")
        )
        assert mixed <= plain + 1
        assert plain + simulation.estimate("bits_gained", facts=facts).value == pytest.approx(
            math.log2(release.n_records)
        )


@pytest.mark.large
def test_draws_of_one_target_are_one_trial(release):
    simulation = simulate(release, ADVERSARY, targets=30, draws=4)
    assert {simulation.estimate(name).n for name in ("identified", "correct_claims", "bits_left", "absent_claims")} == {
        30
    }
    assert simulation.cell().calibration()["n"].sum() <= 30 + 6  # rounded in each of the bins


@pytest.mark.large
def test_calibration_groups_best_guesses_by_probability(release):
    cell = simulate(release, ADVERSARY, facts=3, targets=150, seed=6).cell()
    table = cell.calibration()
    assert table["n"].sum() == 150
    for row in table.iter_rows(named=True):
        in_group = (cell.outcomes.best_probability >= row["from"]) & (
            cell.outcomes.best_probability < row["to"] + (row["to"] == 1)
        )
        assert row["n"] == in_group.sum()
        assert row["mean_probability"] == pytest.approx(cell.outcomes.best_probability[in_group].mean())
        assert row["identified"] == pytest.approx(cell.outcomes.identified[in_group].mean())
