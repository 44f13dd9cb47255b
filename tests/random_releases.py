"""Random releases from rows, shared by the tests of nearest neighbours and of sparsity."""

from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl

import standout as so
from standout.data.build import arrange
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping

FIRST = pd.Timestamp("2005-01-01")


def read_rows(rows, repeats="last"):
    """The release of rows (record, item, value or None, day or None)."""
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "day": pl.Int32}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    start = int(FIRST.timestamp()) // 86_400
    return so.read(
        frame.with_columns(time=(pl.col("day") + start).cast(pl.Date)).drop("day"), repeats=repeats, kind="history"
    )


def random_rows(records, items, seed, length=6, missing=0.0, levels=5, days=20):
    """Rows of a random release; popular items are likelier, and some values and days may be missing."""
    draw = np.random.default_rng(seed)
    chance = 1 / np.arange(3, items + 3)
    rows = []
    for record in range(records):
        count = min(items, 1 + draw.poisson(draw.exponential(length)))
        for item in np.sort(draw.choice(items, count, replace=False, p=chance / chance.sum())):
            value = None if draw.random() < missing else float(draw.integers(1, levels + 1))
            day = None if draw.random() < missing else int(draw.integers(days))
            rows.append((f"{record}", f"{item}", value, day))
    return rows


def sanitized_rows(original, rows, columns, **parts):
    """A sanitized table whose row j is row rows[j] of the original, with new ids and the same entries."""
    arranged = arrange(original, rows)
    fields_of = {field.name: getattr(arranged, field.name) for field in fields(so.Release)}
    fields_of |= {"columns": columns, "has_ids": original.has_ids} | parts
    representatives = np.full(original.n_records, -1)
    representatives[rows] = np.arange(len(rows))
    mapping = OriginalMapping(representatives, np.arange(original.n_items), level_values(original))
    return so.Sanitized(**fields_of, original=original, mapping=mapping, renumbered=True)
