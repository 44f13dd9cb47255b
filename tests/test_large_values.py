"""The largest values that are read go through everything: attacks, simulation, sanitizing, linking, audit."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import standout as so

pytestmark = pytest.mark.once

ADVERSARY = so.Adversary(knows=4, wrong=1, value_error=1, time_error=14)


@pytest.fixture(params=[(1.0, 2.0, 1e100), (-1e100, 1.0, 1e100), (5e-324, 1e-300, 1.0), (-1e18, 0.0, 9e18)])
def release(request):
    random = np.random.default_rng(2008)
    rows = [
        (str(r), f"i{i}", random.choice(request.param), date(2005, 1, 1) + timedelta(int(random.integers(60))))
        for r in range(40)
        for i in random.choice(12, size=8, replace=False)
    ]
    return so.read(pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row"), kind="history")


def test_large_and_tiny_values_give_finite_numbers_everywhere(release):
    for value in (*release.levels, 1.7e308, -1.7e308):
        aux = so.Aux([so.Fact("i0", value=float(value))])
        for similarity in (so.Decay(), so.Decay(value_scale=1e-300), so.Within(), so.Equal()):
            assert np.isfinite(so.ScoreboardRH(similarity).attack(release, aux).entropy("0"))
    outcomes = so.simulate(release, ADVERSARY, targets=5).cell().outcomes
    assert np.isfinite(outcomes.bits_left).all() and (outcomes.bits_left >= 0).all()
    so.describe(release)
    for step in ("perturb-value 1", "perturb-value 1e300", "round-value bins 2", "cluster-records 5"):
        safer = so.sanitize(release, step, seed=1)
        assert np.isfinite(so.simulate(safer, ADVERSARY, targets=5).cell().outcomes.bits_left).all()
    rmse = so.utility(release, "perturb-value 1", seed=1).rmse
    assert rmse is None or np.isfinite(rmse.value)
    so.link(release, release)


def test_a_quick_audit_of_large_values_passes_its_checks(release):
    audit = so.audit(release, quick=True, targets=5)
    assert audit.trusted or release.levels[1] < 1e-9  # values that are all but equal make planted records tie
