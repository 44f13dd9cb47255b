"""Figures of attacks show what simulations give; each attack runs once."""

import pytest

import standout as so
from standout.paper import figures
from standout.paper.figures import AttackRunner, all_figures
from standout.paper.published import Setting, bars

pytestmark = pytest.mark.once

BY_KEY = {figure.key: figure for figure in all_figures()}
NO_DATES = Setting(2, 3, 0.0, None, None, None, "values")


def test_a_figure_of_attacks_shows_what_simulations_give(release):
    rows = BY_KEY["1"].compute(AttackRunner(release, targets=5, seed=4)).rows
    for bar, row in [*zip(bars("1"), rows, strict=True)][::2]:
        simulation = so.simulate(release, bar.setting.adversary, targets=5, seed=4, absent=False)
        assert (row.measured, row.paper) == (simulation.estimate("identified").value, bar.paper)
        assert (row.too_few_items, row.ours.n) == (simulation.cells[0].too_few_items, 5)


def test_a_figure_of_attacks_shows_what_the_bayesian_attack_reaches_on_the_same_targets(release):
    rows = BY_KEY["1"].compute(AttackRunner(release, targets=5, seed=4)).rows
    for bar, row in [*zip(bars("1"), rows, strict=True)][::3]:
        simulation = so.simulate(
            release, bar.setting.adversary, attack=so.Likelihood(), targets=5, seed=4, absent=False
        )
        assert row.likelihood == simulation.estimate("identified")
    claims = BY_KEY["2"].compute(AttackRunner(release, targets=4, seed=4)).rows
    simulation = so.simulate(release, bars("2")[0].setting.adversary, attack=so.Likelihood(), targets=4, seed=4)
    assert claims[0].likelihood.value == simulation.estimate("correct_claims", "posterior=0.95").value
    assert claims[6].likelihood.value == simulation.estimate("absent_rejected", "posterior=0.95").value


def test_bits_have_the_deviation_between_targets(release):
    row = BY_KEY["3"].compute(AttackRunner(release, targets=5, seed=4)).rows[0]
    simulation = so.simulate(release, bars("3")[0].setting.adversary, targets=5, seed=4, absent=False)
    assert row.measured == simulation.estimate("bits_gained").value
    assert row.spread == pytest.approx(simulation.cells[0].outcomes.bits_left.std(ddof=1))


def test_absent_targets_are_rejected_at_the_phi_of_the_paper(release):
    rows = BY_KEY["2"].compute(AttackRunner(release, targets=4, seed=4)).rows
    simulation = so.simulate(release, bars("2")[0].setting.adversary, targets=4, seed=4)
    assert rows[0].measured == simulation.estimate("correct_claims", "phi=1.5").value
    assert rows[6].measured == simulation.estimate("absent_rejected", "phi=1.5").value


def test_an_attack_runs_once_even_if_several_figures_show_it(release, monkeypatch):
    adversaries = []

    def count(release, adversary, **options):
        adversaries.append((adversary, type(options["attack"])))
        return so.simulate(release, adversary, **options)

    monkeypatch.setattr(figures, "simulate", count)
    runner = AttackRunner(release, targets=2)
    for key in ("1", "3", "6", "11"):
        BY_KEY[key].compute(runner)
    impossible = 4  # the second attack is not tried where the first one is not possible
    assert len(adversaries) == len(set(adversaries)) == 2 * (6 + 6 + 5) - impossible


def test_an_attack_that_is_not_possible_has_a_reason(release):
    rows = BY_KEY["4"].compute(AttackRunner(release, targets=3)).rows
    assert all(row.measured is None and "no record can be a target" in row.note for row in rows)


@pytest.mark.parametrize(("columns", "missing"), [(2, "values"), (3, "dates")])
def test_attacks_need_values_and_dates(put, columns, missing):
    entries = [(person, item, 1 + (person + item) % 5) for person in range(9) for item in range(4)]
    header = ("record", "item", "value")[:columns]
    text = "\n".join(",".join(map(str, row[:columns])) for row in (header, *entries)) + "\n"
    runner = AttackRunner(so.read(put(text)), targets=2)
    assert {row.note for row in BY_KEY["1"].compute(runner).rows} == {f"the data has no {missing}"}
    assert {point.series for point in BY_KEY["12"].compute(runner).points} == {"ours", "paper"}
    without_dates = runner.run(NO_DATES)
    if columns == 2:
        assert without_dates == "the data has no values"
    else:
        assert len(without_dates.cells) == 1
