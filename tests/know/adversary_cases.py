"""Small releases and helpers for tests of adversaries."""

from collections import Counter
from datetime import date
from functools import cache

import numpy as np
import polars as pl

import standout as so

SEED = 2008


CHOICES = ["any", so.outside_top(20), "rarest", "popular", "recent", "burst"]


FIRST = date(2005, 1, 1)


def released(rows, kind="number", unit="day"):
    """The release of rows (record, item, value, time); kind or unit None: there is no such column."""
    moment = {"day": pl.Date, None: pl.Null}.get(unit, pl.Datetime("us"))
    value = {"number": pl.Float64, "text": pl.String, None: pl.Null}[kind]
    schema = {"record": pl.String, "item": pl.String, "value": value, "time": moment}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.drop(*(name for name, of in schema.items() if of == pl.Null))
    return so.read(frame, value_type=kind or "auto", time_unit=unit or "day", kind="history")


def told(release):
    """[{item: (value, time)} for every record]."""
    records = (release.record_at(place) for place in range(release.n_records))
    return [{entry.item: entry[1:] for entry in record.entries} for record in records]


def drawn(adversary, release, record, seeds):
    """What is known of one record, once for each seed."""
    place = release.record(record).index
    return [adversary.observe_all(release, [place], seed).aux(release, 0) for seed in range(seeds)]


def assert_shares(draws, shares):
    """The draws come in these shares: Pearson's statistic is within five deviations of what it should be."""
    counts, total = Counter(draws), sum(shares.values())
    assert counts.keys() <= shares.keys()
    expected = {outcome: len(draws) * share / total for outcome, share in shares.items()}
    assert min(expected.values()) > 5, "too few draws for a test"
    statistic = sum((counts[outcome] - mean) ** 2 / mean for outcome, mean in expected.items())
    freedom = len(shares) - 1
    assert statistic <= freedom + 5 * np.sqrt(2 * freedom)


def assert_uniform(draws, outcomes):
    assert_shares(draws, dict.fromkeys(outcomes, 1))


@cache
def crowd():
    """People of up to 150 items: nobody has them all."""
    frame = so.synthesize(records=300, items=400, entries=12_000, seed=7).to_frame()
    return so.read(frame.filter(pl.len().over("record") <= 150), kind="history")


def person(cells, others=(), **options):
    """A release of one person "p" with {item: (value, time)}, and of others who have single items."""
    rows = [("p", item, *cell) for item, cell in cells.items()]
    rows += [(f"q{i}", item, None, None) for i, item in enumerate(others)]
    return released(rows, **options)
