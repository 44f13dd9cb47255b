"""`standout schema`: the table for people, the file for the user to change, the JSON for machines."""

import json

import polars as pl
import pytest
from command_line import check_error, undocumented

import standout as so

SURVEY = "id,age,sex,smoker,city\n" + "".join(
    f"p{i},{20 + 3 * i},{'fm'[i % 2]},{('yes', 'no', '?')[i % 3]},{('Ulm', 'Jena')[i % 2]}\n" for i in range(18)
)


@pytest.fixture
def survey(put):
    return put(SURVEY, "survey.csv")


def test_schema_shows_and_writes_what_was_inferred(run, survey, tmp_path):
    outcome = run("schema", survey, "-o", tmp_path / "s.toml")
    assert outcome.code == 0 and "Wrote" in outcome.err
    assert outcome.read.startswith("Read survey.csv: table; CSV, UTF-8, comma, header; person = id; 4 columns")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert rows[0] == ["column", "kind", "levels", "missing", "range", "similarity", "error", "role"]
    assert rows[1] == ["age", "number", "18", "0", "20", "–", "71", "decay", "4", "2", "quasi-identifier"]
    assert rows[3][:4] == ["smoker", "boolean", "2", "6"]
    assert so.read(survey, schema=tmp_path / "s.toml").fingerprint == so.read(survey, kind="table").fingerprint


def test_an_existing_file_is_replaced_only_on_request(run, survey, tmp_path):
    (tmp_path / "s.toml").write_text("mine")
    check_error(run("schema", survey, "-o", tmp_path / "s.toml"))
    assert (tmp_path / "s.toml").read_text() == "mine"
    assert run("schema", survey, "-o", tmp_path / "s.toml", "--overwrite").code == 0


def test_json_has_every_documented_key_and_follows_the_schema(run, survey, tmp_path):
    (tmp_path / "s.toml").write_text('id = "id"\n[columns.age]\nerror = 7\n[columns.city]\nignore = true\n')
    content = json.loads(run("schema", survey, "--schema", tmp_path / "s.toml", "--json").out)
    assert not undocumented("schema", content)
    assert {column["name"]: column["error"] for column in content["columns"]} == {"age": 7, "sex": 0, "smoker": 0}


def test_verbose_says_how_each_column_was_read(run, survey):
    read = run("--verbose", "schema", survey, "--read", "ignore=city").read
    words = " ".join(read.split())
    assert "smoker boolean (all cells are words for yes or no); 6 empty cells: 6 × ?" in words
    assert "Ignored columns city (" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--record", "name"), "column 'name' not found"),
        (("--record", "sex"), "18 of 18 rows share their id"),
        (("--schema", "missing.toml"), "missing.toml cannot be read"),
        (("--read", "ignore=9"), "ignore must be a column number from 1 to 5"),
    ],
)
def test_errors_are_one_line(run, survey, options, message):
    outcome = run("schema", survey, *options)
    check_error(outcome)
    assert message in outcome.err


def test_describe_shows_the_columns_of_a_table(run, survey):
    assert json.loads(run("describe", survey, "--json").out)["columns"]
    with pytest.raises(so.ColumnError, match="it is a table: add kind='table'"):
        so.read(pl.read_csv(survey), kind="history")
