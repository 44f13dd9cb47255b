"""The result of table_risk: which columns it uses, and its tables."""

import polars as pl
import pytest
from risk_cases import table

import standout as so

ROWS = [("a", 1.0, "x"), ("a", 2.0, "y"), ("b", 1.0, "x"), ("a", 1.0, "x")]
KINDS = ["category", "number", "category"]


def test_quasi_identifiers_are_those_named_else_those_declared_else_all_that_are_not_sensitive():
    plain = table(ROWS, KINDS)
    declared = table(ROWS, KINDS, ["quasi-identifier", "other", "sensitive"])
    secret = table(ROWS, KINDS, ["other", "other", "sensitive"])
    assert so.classes(declared, ["1"]).columns.quasi_identifiers == ("1",)
    assert so.classes(declared).columns.quasi_identifiers == ("0",)
    assert so.classes(declared).columns.sensitive == ("2",)
    assert so.classes(secret).columns.quasi_identifiers == ("0", "1")
    assert so.classes(plain).columns.quasi_identifiers == ("0", "1", "2")
    assert "no column is declared" in so.classes(plain).columns.reason


def test_contradictory_parameters_are_refused():
    for options, message in [
        ({"quasi_identifiers": []}, "at least one column"),
        ({"quasi_identifiers": "0"}, "list of column names"),
        ({"quasi_identifiers": ["0", "0"]}, "twice"),
        ({"quasi_identifiers": ["0"], "sensitive": ["0"]}, "not both"),
        ({"sensitive": ["0", "1", "2"]}, "all columns"),
        ({"missing": "never"}, "equal, any"),
        ({"seed": -1}, "seed must be"),
    ]:
        with pytest.raises(so.ParameterError, match=message):
            so.classes(table(ROWS, KINDS), **options)


def test_every_measure_is_a_row_of_the_frame_with_its_interval():
    frame = so.classes(table(ROWS, KINDS), ["0", "1"]).to_frame()
    rows = {(row["measure"], row["setting"]): row["estimate"] for row in frame.iter_rows(named=True)}
    assert rows["k", ""] == 1
    assert rows["unique", ""] == 0.5
    assert rows["marketer risk", ""] == 0.75
    assert (frame["low"] <= frame["estimate"]).all() and (frame["estimate"] <= frame["high"]).all()


def test_a_result_has_a_part_for_every_question():
    rows = [*ROWS, ("b", 2.0, "y"), ("b", 2.0, "x")]
    declared = table(rows, KINDS, ["quasi-identifier", "quasi-identifier", "sensitive"])
    risk = so.classes(declared, population=60, seed=3)
    assert risk.population.fraction == 0.1
    assert risk.keys.searched == ("0", "1")
    assert [share.size for share in risk.minimal_sets] == [1, 2]
    assert [found.column for found in risk.disclosures] == ["2"]
    assert so.classes(declared).population is None
    frame = risk.to_frame()
    assert {"unique in the population", "unique by the best 2", "t-closeness"} <= set(frame["measure"])
    assert (frame["low"] <= frame["estimate"]).all() and (frame["estimate"] <= frame["high"]).all()
    tables = risk.tables
    assert (
        tables["class_sizes"]["rows"].sum()
        == tables["class_sizes"].select((pl.col("size") * pl.col("classes")).sum()).item()
    )
    assert tables["column_sets"]["size"].to_list() == [1, 2]


def test_what_missing_cells_mean_changes_the_counted_classes_only():
    rows = [("a", None), ("a", 1.0), ("b", 1.0), (None, 2.0)]
    equal, wild = (
        so.classes(table(rows, ["category", "number"]), population=100, missing=missing, seed=1)
        for missing in ("equal", "any")
    )
    assert wild.identity.unique.value < equal.identity.unique.value == 1
    assert wild.population == equal.population and wild.keys == equal.keys
    assert "classes" not in wild.tables["class_sizes"].columns


def test_a_result_is_the_same_for_every_number_of_threads():
    rows = [(str(i % 3), float(i % 5), "xy"[i % 2]) for i in range(30)]
    first, second = (
        so.classes(table(rows, KINDS), sensitive=["2"], population=99, threads=threads).to_frame() for threads in (1, 2)
    )
    assert first.equals(second)


def test_a_declared_sensitive_column_without_values_reveals_nothing_but_a_named_one_is_refused():
    declared = table([("a", None), ("b", None)], ["category", "number"], ["other", "sensitive"])
    risk = so.classes(declared)
    assert risk.disclosures == () and risk.columns.quasi_identifiers == ("0", "1")
    with pytest.raises(so.ParameterError, match="has no values"):
        so.classes(declared, sensitive=["1"])
