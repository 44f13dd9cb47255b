"""Odd tables (two rows, empty columns, one level, empty sets) are audited, and the audit trusts itself."""

import numpy as np
import pytest

import standout as so
from standout.core.errors import ParameterError
from standout.data.column import ColumnSimilarity, code_dtype
from standout.report.audit_page import audit_page

pytestmark = pytest.mark.large  # whole audits; their kernels have tests of their own
KINDS = ("number", "category", "ordered", "boolean", "set", "date")


def odd_column(draw, name, rows):
    kind = str(draw.choice(KINDS))
    n_levels = 2 if kind == "boolean" else int(draw.choice([0, 1, 2, 4, 30]))
    settings = {"role": str(draw.choice(["quasi-identifier", "other", "other"]))}
    if kind == "set":
        sizes = draw.integers(0, min(n_levels, 3) + 1, rows)
        members = [np.sort(draw.choice(n_levels, size, replace=False)) if size else [] for size in sizes]
        codes, settings["starts"] = np.concatenate(members), np.append(0, np.cumsum(sizes))
    else:
        codes = draw.integers(0, max(n_levels, 1), rows)
        codes[draw.random(rows) < draw.choice([0, 0, 0.2, 0.9, 1])] = n_levels
    levels = ("false", "true") if kind == "boolean" else tuple(f"v{level}" for level in range(n_levels))
    if kind in ("number", "date"):
        levels = np.sort(draw.choice(100, n_levels, replace=False)).astype(float)
        settings |= {"similarity": ColumnSimilarity("decay", 3.0), "error": float(draw.choice([0, 5]))}
    return so.Column(name, kind, levels, codes.astype(code_dtype(n_levels)), **settings)


def odd_table(seed):
    draw = np.random.default_rng(seed)
    rows = int(draw.choice([2, 3, 5, 30]))
    return so.Release.of_columns(tuple(odd_column(draw, f"c{j}", rows) for j in range(int(draw.integers(1, 8)))))


@pytest.mark.parametrize("seed", range(10))
def test_odd_tables_are_audited_and_trusted(seed):
    table = odd_table(seed)
    people = table.n_records * 3
    try:
        result = so.audit(table, targets=8, facts=[1, 2, 4], threads=1, seed=seed, population=people)
    except ParameterError as error:
        assert "no adversary of the ladder applies" in str(error)
        return
    assert [check.name for check in result.findings.trust.checks if not check.passed] == []
    assert audit_page(result.findings)


def test_a_table_of_one_row_is_refused():
    table = so.Release.of_columns((so.Column("age", "number", np.array([34.0]), np.zeros(1, np.uint8)),))
    with pytest.raises(ParameterError, match="at least 2 rows"):
        so.audit(table)
