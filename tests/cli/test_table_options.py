"""Options for tables: which file an option is about, and what a gate requires."""

import polars as pl
import pytest

import standout as so
from standout.cli.source_options import SourceOptions
from standout.cli.table_options import TableOptions
from standout.core.progress import no_progress

PEOPLE = "user;age;city\n" + "".join(f"u{i};{20 + i};{('Ulm', 'Jena')[i % 2]}\n" for i in range(12))
VISITS = "who,where,stars\n" + "".join(f"u{i % 9},p{i % 5},{i % 3}\n" for i in range(30)) + "x,p1,2\n"


@pytest.fixture
def people(put):
    return str(put(PEOPLE, "people.csv"))


def test_options_of_histories_are_about_the_history_and_those_of_text_about_the_table(put, people, capsys):
    source = SourceOptions(
        separator=";", record="who", item=("where",), value="stars", given=("--separator", "--record")
    )
    table = TableOptions(history=str(put(VISITS, "visits.csv"))).read([people], source, no_progress)
    assert (table.n_records, int((table.lengths > 0).sum())) == (13, 10)
    assert table.provenance.settings["people of the history without a row"] == "1"
    assert "history visits.csv: 31 entries of 10 people" in capsys.readouterr().err


def test_options_of_histories_need_a_history(people):
    with pytest.raises(so.ParameterError, match="--item is for histories"):
        TableOptions().read([people], SourceOptions(item=("city",), given=("--item",)), no_progress)


def test_a_gate_needs_every_column_in_the_schema(put, people):
    schema = put("[columns.age]\nerror = 3\n", "s.toml")
    options = TableOptions(schema=schema)
    assert options.read([people], SourceOptions(), no_progress).column("age").error == 3
    with pytest.raises(so.ColumnError, match="while the schema lacks columns: city"):
        options.read([people], SourceOptions(), no_progress, strict=True)
    schema.write_text("[columns.age]\nerror = 3\n[columns.city]\nignore = true\n")
    assert options.read([people], SourceOptions(), no_progress, strict=True).column_names == ("age",)


def test_a_table_is_recognised_or_named(put, people, capsys):
    assert TableOptions().is_for([people], SourceOptions())
    assert "read as a table" in capsys.readouterr().err
    history = str(put(VISITS.replace("who", "user").replace("where", "place"), "visits.csv"))
    assert not TableOptions().is_for([history], SourceOptions())
    assert TableOptions(is_table=True).is_for([history], SourceOptions())


def test_the_read_table_of_python_is_that_of_the_command_line(people):
    table = TableOptions(no_id=True, missing=("Ulm",)).read([people], SourceOptions(), no_progress)
    assert table.fingerprint == so.read(people, record=False, missing=["Ulm"]).fingerprint
    assert table.fingerprint == so.read(pl.read_csv(people, separator=";"), record=False, missing=["Ulm"]).fingerprint
