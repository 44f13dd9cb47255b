"""Bits of dates are unbiased for items with few entries."""

import math
from datetime import date, timedelta

import numba
import numpy as np
import polars as pl
import pytest

import standout as so
from standout.paper.calibration import date_bits

FILMS = 12 if numba.config.DISABLE_JIT else 40


def test_bits_of_dates_are_unbiased_for_films_with_few_ratings():
    """Days are uniform over a long period, of which the window covers a 40th: log2 40 bits."""
    draw = np.random.default_rng(3)
    rows = [
        (str(i), str(film), date(2000, 1, 1) + timedelta(int(day)))
        for film in range(FILMS)
        for i, day in enumerate(draw.integers(0, 1160, 100))
    ]
    release = so.read(pl.DataFrame(rows, schema=["user", "item", "time"], orient="row"))
    assert date_bits(release, np.arange(FILMS), 14).mean() == pytest.approx(math.log2(40), abs=0.15)


def test_bits_of_dates_count_entries_where_people_have_a_film_several_times():
    """Ten entries of two people: more than the records that have the film."""
    rows = [(str(i % 2), "film", date(2000, 1, 1) + timedelta(30 * i)) for i in range(10)]
    release = so.read(pl.DataFrame(rows, schema=["user", "item", "time"], orient="row"), repeats="keep")
    expected = sum(1 / k for k in range(1, 10)) / math.log(2)  # none of the 9 others is as near
    assert date_bits(release, np.arange(1), 14)[0] == pytest.approx(expected)
