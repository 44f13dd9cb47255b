"""Bits of dates are unbiased for items with few entries."""

import math
from datetime import date, timedelta

import numba
import numpy as np
import polars as pl
import pytest

import standout as so
from standout.synthetic.marginals import date_bits

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
