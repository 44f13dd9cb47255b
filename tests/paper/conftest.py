"""Shared by the tests of the paper: small and random releases, and a folder of the Netflix Prize."""

from datetime import date, timedelta

import numba
import numpy as np
import polars as pl
import pytest

import standout as so
from standout.paper.calibration import Survey

COMPILED = not numba.config.DISABLE_JIT
RECORDS = 160 if COMPILED else 120
ITEMS = 450
RARE = (200, 400)
LAST_DAY = date(2005, 12, 31)
FILMS = {
    "mv_0000001.txt": "1:\n6,3,2005-09-06\n7,5,2005-05-13\n007,1,2005-05-14\n",
    "mv_0000002.txt": "2:\n6,4,2005-09-05\n7,2,2004-01-01\n",
}


@pytest.fixture(scope="session")
def release():
    return so.synthesize(records=40, items=30, entries=320, seed=3)


@pytest.fixture
def prize(tmp_path):
    """A folder of the contest with two films."""
    folder = tmp_path / "prize"
    folder.mkdir()
    for name, text in FILMS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def compare_everything(monkeypatch):
    """compare_everything(scale): compare small releases by all statistics, as if they had this scale."""
    monkeypatch.setattr("standout.paper.calibration.MINIMUM_RECORDS", 1)
    monkeypatch.setattr("standout.paper.calibration.MINIMUM_RATINGS", 0)
    monkeypatch.setattr("standout.paper.calibration.RARE", RARE)

    def set_scale(scale):
        monkeypatch.setattr(Survey, "scale", property(lambda survey: scale))

    return set_scale


@pytest.fixture(scope="session")
def random_release():
    """random_release(columns, missing, records): long and short records, some values and times missing."""
    return _random_release


def _random_release(columns=("value", "time"), missing=0.0, records=RECORDS, seed=2006):
    draw, rows = np.random.default_rng(seed), []
    popularity = 1 / (np.arange(ITEMS) + 5)
    for record in range(records):
        length = [1, 9, 35][record] if record < 3 else 2 + int(draw.exponential(12))
        joined = int(draw.integers(1500))
        for item in draw.choice(ITEMS, length, False, popularity / popularity.sum()):
            value = None if draw.random() < missing else float(draw.choice(5, p=[0.1, 0.1, 0.3, 0.3, 0.2]) + 1)
            later = int(draw.exponential(20) if draw.random() < 0.8 else 0)
            day = date(2001, 11, 22) + timedelta(joined + later)
            rows.append((str(record), str(item), value, None if draw.random() < missing else day))
    rows += [("0", str(item), 3.0, LAST_DAY) for item in range(ITEMS)]  # every item and the last day are there
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return so.read(frame.select("record", "item", *columns))
