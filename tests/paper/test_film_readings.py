"""Readings of wrong films: films that are missing from the data leave only the right facts."""

import pytest

import standout as so
from standout.paper.figures import AttackRunner
from standout.paper.readings import FILM_READINGS, readings_of_films

pytestmark = pytest.mark.once


def test_films_that_are_missing_from_the_data_leave_only_the_right_facts(release):
    readings = readings_of_films(AttackRunner(release, targets=12, seed=2))
    assert [reading.reading for reading in readings] == [name for name in FILM_READINGS for _ in range(5)]
    measured = {(reading.reading, reading.label): reading.measured for reading in readings}
    adversary = so.Adversary(knows=4, value_error=1, time_error=14)
    right_facts_only = so.simulate(release, adversary, targets=12, absent=False, seed=2)
    assert measured[FILM_READINGS[2], "4 of 8"] == right_facts_only.estimate("identified").value
    for by_popularity, equally_likely in zip(readings[:5], readings[5:10], strict=True):
        assert by_popularity.paper == equally_likely.paper and by_popularity.label == equally_likely.label
