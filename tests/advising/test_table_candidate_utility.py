"""The utility of a candidate for a table equals counts by hand."""

import math
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import naive.table_utility as naive
import standout as so
from advising.tables_to_advise import people_table
from standout.advising.search import ColumnBenchmark

STEPS = (
    (),
    ("round age 10",),
    ("drop-column sex", "round age 5"),
    ("suppress-cells zip 30",),
    ("swap job 0.4", "swap age 0.5"),
    ("drop-rows age job 4",),
)


def plain(column, rows):
    return [column.value(code) for code in column.codes[rows].tolist()]


def information(table, safer):
    """Mean share of the bits of a column that the release shows; steps on levels only."""
    shares = []
    for column in table.columns:
        if column.name not in safer.column_names:
            shares.append(0.0)
            continue
        channel = safer.channels.get(column.name)
        cells = plain(column, np.arange(table.n_records))
        becomes = {
            column.value(code): code if channel is None else int(channel.released[code])
            for code in range(column.n_levels)
        }
        noise = (0.0, 0.0) if channel is None else (channel.replaced, channel.suppressed)
        bits = naive.mutual_information(cells, becomes, *noise)
        shares.append(bits / naive.entropy(cells) * safer.n_records / table.n_records)
    return math.fsum(shares) / len(shares)


def associations(table, safer, pairs):
    """1 − Σ |change| / Σ before, over these pairs."""

    def measure(one, a, b):
        rows = np.arange(one.n_records)
        x, y = plain(one.column(a), rows), plain(one.column(b), rows)
        ordered = [one.column(name).kind == "number" for name in (a, b)]
        if ordered == [True, True]:
            return abs(naive.spearman(x, y))
        if ordered == [False, False]:
            return naive.cramers_v(x, y)
        return naive.correlation_ratio(y, x) if ordered[0] else naive.correlation_ratio(x, y)

    change = before = 0.0
    for a, b in combinations(table.column_names, 2):
        if (a, b) not in pairs:
            continue
        old = measure(table, a, b)
        new = measure(safer, a, b) if a in safer.column_names and b in safer.column_names else 0.0
        change, before = change + abs(new - old), before + old
    return max(1 - change / before, 0)


@pytest.mark.parametrize("steps", STEPS, ids=lambda steps: " + ".join(steps) or "untouched")
def test_information_and_associations_equal_counts_by_hand(steps):
    table = people_table(120)
    safer = so.sanitize(table, *steps, seed=1)
    benchmark = ColumnBenchmark(table, 10_000, 0)
    utility = SimpleNamespace(**benchmark.measures(safer))
    assert np.isclose(utility.information.value, information(table, safer))
    assert np.isclose(utility.associations.value, associations(table, safer, benchmark.before))
    assert utility.kept.value == min(utility.information.value, utility.associations.value)
    assert np.isclose(utility.rows_kept.value, safer.n_records / 120)
    assert steps or math.isclose(utility.kept.value, 1.0)


def test_only_pairs_that_chance_does_not_explain_count():
    for n_rows in (120, 2_000):
        assert set(ColumnBenchmark(people_table(n_rows), n_rows, 0).before) == {("age", "job")}


def test_a_sample_of_the_rows_has_no_interval_and_is_near_the_whole():
    table = people_table(4_000)
    safer = so.sanitize(table, "swap job 0.5", seed=1)
    whole, sample = (SimpleNamespace(**ColumnBenchmark(table, rows, 0).measures(safer)) for rows in (4_000, 2_000))
    assert math.isnan(sample.associations.low) and whole.associations.low == whole.associations.value
    assert abs(whole.associations.value - sample.associations.value) < 0.05


def test_a_table_without_associations_keeps_what_its_cells_keep():
    table = people_table(5_000)
    table = replace(table, columns=table.columns[:3])  # drawn independently
    utility = SimpleNamespace(**ColumnBenchmark(table, 5_000, 0).measures(so.sanitize(table, "round age 20", seed=1)))
    assert utility.associations is None and utility.kept == utility.information
