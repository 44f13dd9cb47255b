"""The result of table_risk: which columns it uses, and its tables."""

import pytest
from risk_cases import table

import standout as so

ROWS = [("a", 1.0, "x"), ("a", 2.0, "y"), ("b", 1.0, "x"), ("a", 1.0, "x")]
KINDS = ["category", "number", "category"]


def test_quasi_identifiers_are_those_named_else_those_declared_else_all_that_are_not_sensitive():
    plain = table(ROWS, KINDS)
    declared = table(ROWS, KINDS, ["quasi-identifier", "other", "sensitive"])
    secret = table(ROWS, KINDS, ["other", "other", "sensitive"])
    assert so.table_risk(declared, ["1"]).columns.quasi_identifiers == ("1",)
    assert so.table_risk(declared).columns.quasi_identifiers == ("0",)
    assert so.table_risk(declared).columns.sensitive == ("2",)
    assert so.table_risk(secret).columns.quasi_identifiers == ("0", "1")
    assert so.table_risk(plain).columns.quasi_identifiers == ("0", "1", "2")
    assert "no column is declared" in so.table_risk(plain).columns.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quasi_identifiers": []}, "at least one column"),
        ({"quasi_identifiers": "0"}, "list of column names"),
        ({"quasi_identifiers": ["0", "0"]}, "twice"),
        ({"quasi_identifiers": ["0"], "sensitive": ["0"]}, "not both"),
        ({"sensitive": ["0", "1", "2"]}, "all columns"),
        ({"missing": "never"}, "equal, any"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_contradictory_parameters_are_refused(options, message):
    with pytest.raises(so.ParameterError, match=message):
        so.table_risk(table(ROWS, KINDS), **options)


def test_every_measure_is_a_row_of_the_frame_with_its_interval():
    frame = so.table_risk(table(ROWS, KINDS), ["0", "1"]).to_frame()
    rows = {(row["measure"], row["setting"]): row["estimate"] for row in frame.iter_rows(named=True)}
    assert rows["k", ""] == 1
    assert rows["unique", ""] == 0.5
    assert rows["marketer risk", ""] == 0.75
    assert (frame["low"] <= frame["estimate"]).all() and (frame["estimate"] <= frame["high"]).all()
