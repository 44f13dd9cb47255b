"""The measures of a cell: each follows from the outcomes, and has its baseline."""

import math

import numpy as np
import pytest

import standout as so
from evaluate.releases import (
    ADVERSARY,
)
from standout.evaluate.similar_records import similarities_to_all
from standout.evaluate.simulate import simulate


def rows_of(done, facts):
    table = done.table.filter(facts=facts)
    return {(row["measure"], row["setting"]): row for row in table.iter_rows(named=True)}


@pytest.mark.large
def test_every_measure_follows_from_the_outcomes(release):
    asked = {"phi": 0.8, "theta": 0.4, "top": 5, "budget": 0.2}
    done = simulate(release, ADVERSARY, facts=[1, 6], targets=80, draws=2, seed=3, **asked)
    n = release.n_records
    for cell in done.cells:
        rows, seen = rows_of(done, cell.facts), cell.outcomes
        told = {key: row["estimate"] for key, row in rows.items()}
        assert told["identified", ""] == pytest.approx(seen.identified.mean())
        assert told["in_top", "top=5"] == pytest.approx(seen.in_top.mean())
        assert told["similar", "theta=0.4"] == pytest.approx(seen.similar.mean())
        found = (seen.eccentricity >= 0.8) & (seen.identified == 1)
        assert told["correct_claims", "phi=0.8"] == pytest.approx(found.mean())
        assert told["wrong_claims", "phi=0.8"] == pytest.approx(((seen.eccentricity >= 0.8) & ~found).mean())
        assert told["absent_rejected", "phi=0.8"] == pytest.approx((seen.absent_eccentricity < 0.8).mean())
        phi = told["phi", "absent_claims<=0.2"]
        assert 0.2 - 2 / 80 <= (seen.absent_eccentricity >= phi).mean() <= 0.2
        held = (seen.eccentricity >= phi) & (seen.identified == 1)
        assert told["correct_claims", "absent_claims<=0.2"] == pytest.approx(held.mean())
        assert told["bits_left", ""] == pytest.approx(seen.bits_left.mean())
        assert told["bits_left", "theta=0.4"] == pytest.approx(seen.similar_bits_left.mean())
        mixed = -np.log2(np.exp2(-seen.bits_left) / 2 + 1 / (2 * n))
        assert told["bits_left", "mixed_with_uniform"] == pytest.approx(mixed.mean())
        assert told["lineup_size", "mass=90 %"] == np.nanmedian(seen.lineup_90)
        beyond, right = seen.revealed.sum(axis=1), seen.revealed_correct.sum(axis=1)
        share = [r / b for r, b in zip(right, beyond, strict=True) if b]
        assert told["revealed_correct_share", ""] == pytest.approx(np.mean(share))
        assert rows["revealed_correct_share", ""]["n"] == len(share)
        gaps = cell.calibration()
        weighed = [
            row["n"] * abs(row["mean_probability"] - row["identified"]) for row in gaps.iter_rows(named=True)
        ]
        assert told["calibration_gap", ""] == pytest.approx(sum(weighed) / gaps["n"].sum())


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
    every = np.concatenate(
        [similarities_to_all(release, place, so.Within(value=1, time=14)) for place in able]
    )
    expected = (every >= 0.5).mean()
    reach = 4 * math.sqrt(expected / len(able)) + 1e-3
    assert baseline["similar", "theta=0.5"] == pytest.approx(expected, abs=reach)


@pytest.mark.large
def test_bits_of_a_mixture_are_at_most_one_more(release):
    done = simulate(release, ADVERSARY, facts=[1, 6], targets=60, seed=1)
    for facts in (1, 6):
        plain, mixed = (
            done.estimate("bits_left", setting, facts=facts).value for setting in ("", "mixed_with_uniform")
        )
        assert mixed <= plain + 1
        assert plain + done.estimate("bits_gained", facts=facts).value == pytest.approx(
            math.log2(release.n_records)
        )


@pytest.mark.large
def test_draws_of_one_target_are_one_trial(release):
    done = simulate(release, ADVERSARY, targets=30, draws=4)
    assert {
        done.estimate(name).n for name in ("identified", "correct_claims", "bits_left", "absent_claims")
    } == {30}
    assert done.cell().calibration()["n"].sum() <= 30 + 6  # rounded in each of the bins


@pytest.mark.large
def test_calibration_groups_best_guesses_by_probability(release):
    cell = simulate(release, ADVERSARY, facts=3, targets=150, seed=6).cell()
    table = cell.calibration()
    assert table["n"].sum() == 150
    for row in table.iter_rows(named=True):
        here = (cell.outcomes.best_probability >= row["from"]) & (
            cell.outcomes.best_probability < row["to"] + (row["to"] == 1)
        )
        assert row["n"] == here.sum()
        assert row["mean_probability"] == pytest.approx(cell.outcomes.best_probability[here].mean())
        assert row["identified"] == pytest.approx(cell.outcomes.identified[here].mean())
