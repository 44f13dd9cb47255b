"""Eccentricities of profiles equal those of direct attacks."""

import numpy as np
import pytest

import standout as so
from standout.core.rng import generator
from standout.paper import figures as profile_figure
from standout.paper.figures import AttackRunner
from standout.paper.published import Setting

pytestmark = pytest.mark.once


def test_eccentricities_of_profiles_equal_those_of_direct_attacks(release, monkeypatch):
    setting = Setting(4, 4, 1.0, 14.0, None, None, "values")
    monkeypatch.setattr(profile_figure, "PROFILES", {"some": setting})
    result = profile_figure.profile_eccentricities(AttackRunner(release, targets=10, seed=2))
    adversary = setting.adversary
    order = generator(2, "targets").permutation(release.n_records)
    present, absent = [], []
    for target in order[adversary.eligible(release, order)][:10].tolist():
        name = release.records[target]
        aux = adversary.observe(release, name, seed=2)
        present.append(so.ScoreboardRH().attack(release, aux).eccentricity)
        absent.append(so.ScoreboardRH().attack(release, aux, exclude=name).eccentricity)
    expected = [np.median(present), np.quantile(present, 0.1), np.median(absent), np.quantile(absent, 0.9)]
    assert [row.measured for row in result.rows] == pytest.approx(expected, rel=1e-4)
    shares = {(point.series, point.x): point.y for point in result.points}
    assert shares["present", 0] == 1.0 and shares["absent", 60] == 0.0


def test_profiles_with_dates_need_dates(release, monkeypatch):
    setting = Setting(4, 4, 1.0, 14.0, None, None, "values")
    monkeypatch.setattr(profile_figure, "PROFILES", {"some": setting})
    without_dates = so.read(release.to_frame().drop("time"))
    result = profile_figure.profile_eccentricities(AttackRunner(without_dates, targets=5))
    assert [row.note for row in result.rows] == ["the data has no dates"] and not result.points
