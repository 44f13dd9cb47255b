"""Laws of `compare`: the same targets and facts for every attack, and differences with honest intervals."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from naive.paired import bonett_price, coverage
from standout.evaluate.estimates import paired_difference

pytestmark = pytest.mark.once

RELEASE = so.synthesize(records=300, items=80, entries=6_000, seed=3)
ADVERSARIES = {"dated": so.Adversary(knows=4, wrong=1, value_error=1, time_error=14), "few": so.Adversary(knows=1)}
ATTACKS = {"paper": so.ScoreboardRH(), "no dates": so.ScoreboardRH(time_scale=None), "1A": so.Scoreboard()}


@pytest.fixture(scope="module")
def comparison():
    return so.compare(RELEASE, ADVERSARIES, ATTACKS, facts=1, targets=60, seed=5)


@given(st.lists(st.sampled_from([(1, 1), (1, 0), (0, 1), (0, 0)]), min_size=1, max_size=60))
def test_the_interval_is_that_of_the_paper_by_bonett_and_price(pairs):
    first, second = (np.array(column, float) for column in zip(*pairs, strict=True))
    difference = paired_difference(first, second)
    only_first, only_second = pairs.count((1, 0)), pairs.count((0, 1))
    assert (difference.low, difference.high) == pytest.approx(bonett_price(only_first, only_second, len(pairs)))
    assert difference.value == pytest.approx((only_first - only_second) / len(pairs))
    assert difference.low <= difference.value <= difference.high


@pytest.mark.parametrize(("n", "lowest"), [(20, 0.92), (50, 0.93)])
def test_the_interval_covers_the_difference_in_nearly_95_percent_of_samples(n, lowest):
    cases = [(a / 20, b / 20) for a in range(21) for b in range(a + 1) if a + b <= 20]
    covered = [coverage(p12, p21, n) for p12, p21 in cases]
    assert min(covered) > lowest and np.mean(covered) > 0.945


def test_partial_success_counts_in_part_and_nothing_at_all_is_not_certain():
    tied = paired_difference(np.array([0.5, 0.25, 1.0]), np.array([0.5, 0.75, 0.0]))
    assert tied.value == pytest.approx((0.0 - 0.5 + 1.0) / 3)
    same = paired_difference(np.ones(100), np.ones(100))
    assert same.value == 0.0 and same.low < -0.01 and same.high > 0.01
    assert (paired_difference(np.empty(0), np.empty(0)).low, same.n) == (-1.0, 100)


def test_every_row_is_what_a_simulation_of_its_own_gives(comparison):
    for name, attack in ATTACKS.items():
        simulation = so.simulate(RELEASE, ADVERSARIES, attack=attack, facts=1, targets=60, seed=5, absent=False)
        for adversary in ADVERSARIES:
            row, cell = comparison.row(name, adversary), simulation.cell(adversary)
            assert row.identified == simulation.estimate("identified", adversary=adversary)
            assert row.said == pytest.approx(cell.outcomes.best_probability.mean())
            assert row.gap.value == pytest.approx(row.said - row.identified.value)


def test_differences_are_those_of_the_rates(comparison):
    for row in comparison.rows:
        reference = comparison.row("paper", row.adversary)
        difference = row.identified.value - reference.identified.value
        assert row.difference.value == pytest.approx(difference)
        assert row.only_this - row.only_baseline == pytest.approx(60 * difference)
        assert row.difference.low <= row.difference.value <= row.difference.high
    assert comparison.row("paper", "dated").difference.value == 0.0


def test_another_baseline_turns_the_differences_around(comparison):
    other = so.compare(RELEASE, ADVERSARIES, ATTACKS, baseline="1A", facts=1, targets=60, seed=5)
    for adversary in ADVERSARIES:
        one, turned = comparison.row("1A", adversary).difference, other.row("paper", adversary).difference
        assert (turned.value, turned.low, turned.high) == pytest.approx((-one.value, -one.high, -one.low))


def test_a_comparison_is_a_table_and_text(comparison, tmp_path):
    assert comparison.table.shape == (6, 20)
    assert comparison.table["attack"].to_list()[:3] == list(ATTACKS)
    comparison.to_csv(tmp_path / "rows.csv")
    assert pl.read_csv(tmp_path / "rows.csv").height == 6
    text = str(comparison)
    assert text.count("identified") == 6 and text.count("dated; 1 fact, n = 60") == 1
    assert repr(comparison) == "<Comparison: 3 attacks, 2 adversaries, 60 targets>"


def test_attacks_without_names_are_named_after_their_classes():
    comparison = so.compare(
        RELEASE, so.Adversary(knows=1), [so.ScoreboardRH(), so.ScoreboardRH(so.Present())], targets=5
    )
    assert [row.attack for row in comparison.rows] == ["ScoreboardRH", "ScoreboardRH #2"]


def test_wrong_parameters_are_refused(comparison):
    for attacks in ([], {}, "paper", {"a": 3}, [so.ScoreboardRH], {1: so.ScoreboardRH()}, None):
        with pytest.raises(so.ParameterError, match="attack"):
            so.compare(RELEASE, ADVERSARIES, attacks, targets=5)
    with pytest.raises(so.ParameterError, match="baseline must be one of paper, no dates, 1A, got 'other'"):
        so.compare(RELEASE, ADVERSARIES, ATTACKS, baseline="other", targets=5)
    for which in ({}, {"attack": "other"}):
        with pytest.raises(so.NotFoundError, match="row fits"):
            comparison.row(**which)
