"""Readings of nearest neighbours equal those of so.sparsity."""

import pytest

import standout as so
from standout.paper import readings as neighbour_readings
from standout.paper.figures import AttackRunner

pytestmark = pytest.mark.once


def test_readings_of_neighbours_equal_those_of_sparsity(release, monkeypatch):
    monkeypatch.setattr(neighbour_readings, "POOL_SIZES", (10, 20, 100))
    monkeypatch.setattr(neighbour_readings, "MINIMUM_RATINGS", (5, 10_000))
    readings = neighbour_readings.readings_of_neighbours(AttackRunner(release, seed=2, threads=1))
    measured = {(reading.reading, reading.panel, reading.label): reading.measured for reading in readings}

    def at_least_30_percent(number):
        return measured[neighbour_readings.NEIGHBOUR_READINGS[number], "sets", "at least 0.30"]

    assert at_least_30_percent(1) == so.sparsity(release, over="first").survival(0.3).value
    long_records = so.sparsity(release).nearest[release.lengths >= 5]
    assert at_least_30_percent(5) == (long_records >= 0.3).mean()
    assert at_least_30_percent(2) * 10 == pytest.approx(round(at_least_30_percent(2) * 10))
    assert len({reading.reading for reading in readings}) == 5  # no pool of 100, nobody with 10,000 ratings
