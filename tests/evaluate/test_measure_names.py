"""Measures by name: typos are named."""

import pytest

import standout as so

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def simulation():
    release = so.synthesize(records=60, items=40, entries=900, seed=7)
    return so.simulate(release, so.Adversary(knows=4), targets=20, seed=1)


@pytest.mark.parametrize(
    ("typed", "meant"), [("identifed", "identified"), ("correct claims", "correct_claims"), ("Bits_Left", "bits_left")]
)
def test_a_mistyped_measure_is_answered_with_the_closest_one(simulation, typed, meant):
    with pytest.raises(so.NotFoundError, match=f"no measure '{typed}'; did you mean '{meant}'"):
        simulation.estimate(typed)


def test_a_measure_that_resembles_none_is_answered_with_all(simulation):
    with pytest.raises(so.NotFoundError, match="no measure 'xyz'; there are identified, in_top"):
        simulation.estimate("xyz")


def test_an_unknown_setting_is_answered_with_the_settings_of_the_measure(simulation):
    with pytest.raises(so.NotFoundError, match=r"'in_top' with setting 'top=99'.*top=10"):
        simulation.estimate("in_top", "top=99")
