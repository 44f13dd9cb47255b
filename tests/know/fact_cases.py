"""Small releases and files of facts, shared by the tests of facts."""

from dataclasses import replace
from datetime import date, timedelta

import polars as pl

import standout as so
from standout.data.labels import Labels

DAY = date(2005, 3, 1)
SECRET = "S3CR3T"


def released(rows, kind="number", unit="day", titles=None):
    """Read rows (record, item, value, time); without a column if kind or unit is None."""
    moment = {"day": pl.Date, None: pl.Null}.get(unit, pl.Datetime("us"))
    value = {"number": pl.Float64, "text": pl.String, None: pl.Null}[kind]
    schema = {"record": pl.String, "item": pl.String, "value": value, "time": moment}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.drop(*(name for name, of in schema.items() if of == pl.Null))
    release = so.read(frame, value_type=kind or "auto", time_unit=unit or "day", kind="history")
    if titles is None:
        return release
    return replace(release, titles=Labels.of(titles.get(item, "") for item in release.items))


FILMS = {"7": "Brazil (1985)", "8": "Bent (1997)", "9": "Matrix, The (1999)"}


ROWS = [("p", "7", 4.0, DAY), ("p", "8", 1.0, DAY + timedelta(days=9)), ("q", "9", 5.0, DAY), ("q", "7", 2.0, None)]


def read(put, text, name="aux.csv", **options):
    return so.Aux.read(put(text, name, **options))
