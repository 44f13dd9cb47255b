"""What a fact adds to records with few and with many entries of its item, by the kernel."""

from datetime import date, timedelta

import numba
import numpy as np
import polars as pl
import pytest

import standout as so
from standout.attack.fact_kernels import RepeatedParts, fill_parts

FIRST, DAYS = date(2005, 1, 1), 120
ATTACKS = {
    "paper": so.ScoreboardRH(),
    "thresholds": so.ScoreboardRH(so.Within(value=1, time=14)),
    "likelihood": so.Likelihood(so.Adversary(knows=2, wrong=1, value_error=1, time_error=14)),
}


@numba.njit
def parts_of_fact(postings, tables, facts, rule, fact, low, high, out):
    return fill_parts(postings, tables, facts, rule, fact, low, high, 0, out)


@pytest.fixture(scope="module")
def visits():
    """Records with 1 to 40 entries of an item, and some with 90, in random order; some values are missing."""
    draw = np.random.default_rng(3)
    counts = draw.permutation([*range(1, 41), 2, 2, 3, 7, 8, 33, 90, 33, 91])
    record = np.repeat(np.arange(len(counts)), counts)
    value = [
        None if missing else float(x)
        for x, missing in zip(draw.integers(1, 6, len(record)), draw.random(len(record)) < 0.1, strict=True)
    ]
    return so.read(
        pl.DataFrame(
            {
                "record": record.astype(str),
                "item": ["bread"] * len(record),
                "value": value,
                "time": [FIRST + timedelta(days=int(day)) for day in draw.integers(0, DAYS, len(record))],
            }
        ),
        repeats="keep",
    )


@pytest.mark.parametrize("name", ATTACKS)
def test_the_part_of_a_record_is_that_of_all_its_entries_however_many_it_has(visits, name):
    auxes = [so.Aux([so.Fact("bread", float(day % 5 + 1), FIRST + timedelta(days=day))]) for day in (0, 50, 119)]
    queries, out = ATTACKS[name]._queries(visits, auxes, [None] * 3), RepeatedParts.allocate(repeats=True)
    single = int(visits.by_item.single[0])
    for fact in range(3):
        n = parts_of_fact(
            visits.by_item, queries.kernel_tables, queries.facts, queries.rule, fact, single, visits.n_entries, out
        )
        several = np.flatnonzero(visits.lengths > 1)
        assert sorted(out.position[:n].tolist()) == several.tolist()
        expected = queries.scores(fact)[out.position[:n]]
        assert out.part[:n] == pytest.approx(expected, rel=1e-5, abs=1e-5)
        if "likelihood" in name:
            assert out.entries[:n].tolist() == visits.lengths[out.position[:n]].tolist()
