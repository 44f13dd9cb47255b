"""Options for tables: which file an option is about, and what a gate requires."""

import polars as pl
import pytest

import standout as so
from standout.cli.reading import Source
from standout.core.progress import no_progress

PEOPLE = "user;age;city\n" + "".join(f"u{i};{20 + i};{('Ulm', 'Jena')[i % 2]}\n" for i in range(12))
VISITS = "who,where,stars\n" + "".join(f"u{i % 9},p{i % 5},{i % 3}\n" for i in range(30)) + "x,p1,2\n"


@pytest.fixture
def people(put):
    return str(put(PEOPLE, "people.csv"))


def test_options_of_histories_are_about_the_history_and_those_of_text_about_the_table(put, people, capsys):
    settings = {"separator": ";", "history_record": "who", "item": ("where",), "value": "stars"}
    source = Source(settings | {"history": str(put(VISITS, "visits.csv"))})
    table = source.read([people], no_progress)
    assert (table.n_records, int((table.lengths > 0).sum())) == (13, 10)
    assert table.provenance.settings["people of the history without a row"] == "1"
    assert "history visits.csv: 31 entries of 10 people" in capsys.readouterr().err


def test_options_of_histories_need_a_history(people):
    with pytest.raises(so.ParameterError, match="item is for histories"):
        Source({"kind": "table", "item": ("city",)}).read([people], no_progress)


def test_a_gate_needs_every_column_in_the_schema(put, people):
    schema = put("[columns.age]\nerror = 3\n", "s.toml")
    source = Source({"schema": str(schema)})
    assert source.read([people], no_progress).column("age").error == 3
    with pytest.raises(so.ColumnError, match="while the schema lacks columns: city"):
        source.read([people], no_progress, strict=True)
    schema.write_text("[columns.age]\nerror = 3\n[columns.city]\nignore = true\n")
    assert source.read([people], no_progress, strict=True).column_names == ("age",)


def test_a_table_is_recognised_or_named(put, people, capsys):
    assert Source({}).read([people], no_progress).columns
    assert "read as a table" in capsys.readouterr().err
    history = str(put(VISITS.replace("who", "user").replace("where", "place"), "visits.csv"))
    assert not Source({}).read([history], no_progress).columns
    assert Source({"kind": "table"}).read([history], no_progress).columns


def test_a_command_about_entries_refuses_a_table_in_one_sentence(people):
    with pytest.raises(so.ParameterError, match="sparsity needs entries"):
        Source({}).read([people], no_progress, purpose="sparsity")


def test_the_table_of_python_is_that_of_the_command_line(people):
    table = Source({"record": False, "missing": ("Ulm",)}).read([people], no_progress)
    assert table.fingerprint == so.read(people, kind="table", record=False, missing=["Ulm"]).fingerprint
    assert (
        table.fingerprint
        == so.read(pl.read_csv(people, separator=";"), kind="table", record=False, missing=["Ulm"]).fingerprint
    )
