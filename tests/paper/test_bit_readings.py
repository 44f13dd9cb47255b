"""Readings of bits gained equal those of the slow twin, for the targets of the attack."""

import numpy as np
import pytest

import naive
import standout as so
from conftest import content
from standout.paper import readings
from standout.paper import readings as bit_readings
from standout.paper.comparison import Setting
from standout.paper.figures import AttackRunner

pytestmark = pytest.mark.once

EXACT = Setting(2, 3, 0.0, 14.0, None, None, "values")
NO_DATES = Setting(2, 3, 0.0, None, None, None, "values")


@pytest.mark.parametrize("setting", [EXACT, NO_DATES])
def test_readings_of_bits_equal_those_of_the_slow_twin(release, setting):
    runner = AttackRunner(release, targets=6, seed=2, threads=1)
    targets = runner.cell(setting).targets
    known = setting.adversary.observe_all(release, targets, runner.seed)
    left = bit_readings.bits_left(runner, setting, targets, known)
    entries = content(release)
    for q, target in enumerate(targets):
        facts = {
            fact.item: (fact.value, None if fact.time is None else naive.day(fact.time.isoformat()))
            for fact in known.aux(release, q)
        }
        expected = naive.bits_left_in_readings(
            entries,
            facts,
            target=release.records[target],
            right=2,
            value=0,
            time=setting.time_error,
            lineup_size=bit_readings.LINEUP,
        )
        assert left[:, q] == pytest.approx(expected)


def test_readings_are_about_the_targets_of_the_attack(release):
    runner = AttackRunner(release, targets=6, seed=2)
    cell = runner.cell(EXACT)
    known = EXACT.adversary.observe_all(release, cell.targets, runner.seed)
    verdicts = so.ScoreboardRH().attacks(release, known)
    bits = [verdict.entropy(release.records[target]) for verdict, target in zip(verdicts, cell.targets, strict=True)]
    assert bits == pytest.approx(cell.outcomes.bits_left[:, 0].tolist())


def test_wrong_ratings_drawn_from_all_levels_may_be_right(release):
    runner = AttackRunner(release, targets=30, seed=2)
    targets = runner.cell(NO_DATES).targets
    known = NO_DATES.adversary.observe_all(release, targets, runner.seed)
    codes = bit_readings._true_values(release, np.repeat(targets, 3), known.item)
    assert np.count_nonzero(known.value != codes) == len(targets)  # one of three is wrong
    entries, levels = content(release), release.levels.tolist()
    assert [levels[code] for code in codes] == [
        entries[release.records[targets[index // 3]], release.items[item]][0] for index, item in enumerate(known.item)
    ]
    left = bit_readings._bits_left_with_any_ratings(runner, targets, known)
    assert len(left) == len(targets) and (left > 0).all()


def test_every_reading_is_computed_for_every_bar_and_its_fit_summarises_the_differences(release):
    computed = bit_readings.readings_of_bits(AttackRunner(release, targets=3, seed=2), "3")
    assert len(computed) == 6 * len(bit_readings.BIT_READINGS)
    assert list(dict.fromkeys(reading.reading for reading in computed)) == list(bit_readings.BIT_READINGS)
    fit, differences = readings.fits(computed)[0], [reading.difference for reading in computed[:6]]
    assert fit.mean == pytest.approx(np.mean(np.abs(differences))) and fit.cells == 6
    assert fit.bias == pytest.approx(np.mean(differences))
    assert fit.worst == pytest.approx(max(map(abs, differences)))
