"""The Prize: the paper's 1.14 %, what a root of a mean of squares does, and one is the other's inverse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.measure import bounds

READINGS = [{"relative": relative, "linear": linear} for relative in (False, True) for linear in (False, True)]


def test_the_papers_number_is_its_linear_reading_of_a_hundredth_of_rmse():
    share = bounds.prize_share(0.01, 0.87, linear=True)
    assert share == pytest.approx(0.01 / 0.87)
    assert math.floor(share * 1e4) / 1e4 == 0.0114  # cut off; rounded it would be 1.15 %


def test_one_per_cent_means_four_different_shares():
    shares = [bounds.prize_share(0.01, **reading) for reading in READINGS]
    assert shares == pytest.approx([0.0228563, 0.0114943, 0.0199, 0.01], abs=1e-7)


def test_the_rmse_of_known_and_unknown_subscribers_follows_from_the_share():
    errors = [0.87] * 9_000 + [0.0] * 1_000
    rmse = math.sqrt(math.fsum(error**2 for error in errors) / len(errors))
    assert 0.87 - bounds.prize_improvement(0.1) == pytest.approx(rmse)
    assert 1 - bounds.prize_improvement(0.1, relative=True) == pytest.approx(rmse / 0.87)


@pytest.mark.parametrize("reading", READINGS, ids=str)
@given(known=st.floats(0, 1), rmse=st.floats(1e-3, 1e3))
def test_share_and_improvement_are_inverse(reading, known, rmse):
    gained = bounds.prize_improvement(known, rmse, **reading)
    assert bounds.prize_share(gained, rmse, **reading) == pytest.approx(known, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_knowing_nobody_changes_nothing_and_knowing_all_leaves_no_error(reading):
    assert bounds.prize_share(0, 0.9, **reading) == bounds.prize_improvement(0, 0.9, **reading) == 0
    assert bounds.prize_improvement(1, 0.9, **reading) == (1 if reading["relative"] else 0.9)
    assert bounds.prize_share(bounds.prize_improvement(1, 0.9, **reading), 0.9, **reading) == 1


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: bounds.prize_share(0.9, 0.87), "improvement must be a number from 0 to 0.87, got 0.9"),
        (lambda: bounds.prize_share(-0.1), "improvement must be a number from 0 to 0.87, got -0.1"),
        (lambda: bounds.prize_share(1.1, relative=True), "improvement must be a number from 0 to 1, got 1.1"),
        (lambda: bounds.prize_share("0.1"), "improvement must be a number from 0 to 0.87, got '0.1'"),
        (lambda: bounds.prize_share(0.0, 0), "rmse must be a finite number above 0, got 0"),
        (lambda: bounds.prize_share(0.0, math.inf), "rmse must be a finite number above 0, got inf"),
        (lambda: bounds.prize_improvement(math.nan), "share must be a number from 0 to 1, got nan"),
        (lambda: bounds.prize_improvement(True), "share must be a number from 0 to 1, got True"),
        (lambda: bounds.prize_improvement(0.5, -1), "rmse must be a finite number above 0, got -1"),
    ],
)
def test_invalid_arguments_are_refused_by_name(ask, message):
    with pytest.raises(so.ParameterError) as error:
        ask()
    assert str(error.value) == message
