"""A table and a history of the same people are one release."""

import polars as pl
import pytest

import standout as so

PEOPLE = pl.DataFrame({"user": ["a", "b", "c"], "age": [30, 40, 50], "tags": ["x;y", "x", "y;z"]})
RATINGS = pl.DataFrame({"user": ["c", "c", "a", "d"], "film": ["1", "2", "1", "3"], "rating": [1, 2, 3, 4]})


def test_rows_and_records_are_joined_by_id_and_nobody_is_left_out(tmp_path):
    RATINGS.write_csv(tmp_path / "r.csv")
    table = so.read(PEOPLE, history=tmp_path / "r.csv", history_options={"record": "user"})
    assert list(table.records) == ["a", "b", "c", "d"] and table.n_records == 4
    assert [table.record(record).support for record in "abcd"] == [("1",), (), ("1", "2"), ("3",)]
    assert all(column.is_missing[3] and not column.is_missing[:3].any() for column in table.columns)
    assert table.provenance.settings["rows without a history"] == "1"
    assert table.provenance.settings["people of the history without a row"] == "1"


def test_a_release_that_was_read_before_can_be_the_history():
    release = so.read(RATINGS.filter(pl.col("user") != "d"))
    table = so.read(PEOPLE, history=release)
    assert table.n_records == 3 and table.n_entries == release.n_entries


@pytest.mark.parametrize(
    ("people", "options", "message"),
    [
        (PEOPLE.drop("user"), {"history": RATINGS}, "name their column with record="),
        (PEOPLE.with_columns(user=pl.Series(["x", "y", "z"])), {"history": RATINGS}, "no id of the table"),
        (PEOPLE, {"history": RATINGS, "history_options": {"rows": 1}}, "options of so.read, got 'rows'"),
        (PEOPLE, {"history_options": {}}, "set history as well"),
    ],
)
def test_a_history_that_cannot_be_joined_is_an_error(people, options, message):
    with pytest.raises(so.StandoutError, match=message):
        so.read(people, **options, kind="table")
