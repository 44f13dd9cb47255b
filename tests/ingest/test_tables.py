"""Tables are read from any source, with the type of each column."""

import gzip
import sqlite3
import warnings
from datetime import date

import numpy as np
import polars as pl
import pytest

import standout as so

ROWS = 40
PEOPLE = pl.DataFrame(
    {
        "patient_id": [f"p{i:03}" for i in range(ROWS)],
        "age": [20 + i for i in range(ROWS)],
        "sex": ["f", "m"] * (ROWS // 2),
        "zip": [f"{i % 7:05}" for i in range(ROWS)],
        "smoker": ["yes", "no", "no", "?"] * (ROWS // 4),
        "visit": [date(2020, 1, 1 + i % 28) for i in range(ROWS)],
        "pain": ["low", "medium", "high", None] * (ROWS // 4),
        "weight": [60 + i / 4 for i in range(ROWS)],
        "allergies": ["nuts;milk", "nuts", None, "milk;eggs;nuts"] * (ROWS // 4),
        "colour": ["red", "green", "unknown", "blue"] * (ROWS // 4),
    }
)
KINDS = {
    "age": "number", "sex": "category", "zip": "category", "smoker": "boolean", "visit": "date",
    "pain": "ordered", "weight": "number", "allergies": "set", "colour": "category",
}  # fmt: skip


def kinds(table):
    return {column.name: column.kind for column in table.columns}


def write_sqlite(path):
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE people ({', '.join(PEOPLE.columns)})")
        rows = PEOPLE.with_columns(pl.col("visit").cast(pl.String)).rows()
        database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * PEOPLE.width)})", rows)
    database.close()
    return path


SOURCES = {
    "frame": lambda folder: PEOPLE,
    "lazy": lambda folder: PEOPLE.lazy(),
    "pandas": lambda folder: PEOPLE.to_pandas(),
    "arrow": lambda folder: PEOPLE.to_arrow(),
    "csv": lambda folder: (PEOPLE.write_csv(folder / "p.csv"), folder / "p.csv")[1],
    "tabs": lambda folder: (PEOPLE.write_csv(folder / "p.csv", separator="\t"), folder / "p.csv")[1],
    "parquet": lambda folder: (PEOPLE.write_parquet(folder / "p.parquet"), folder / "p.parquet")[1],
    "feather": lambda folder: (PEOPLE.write_ipc(folder / "p.arrow"), folder / "p.arrow")[1],
    "json": lambda folder: (PEOPLE.write_ndjson(folder / "p.json"), folder / "p.json")[1],
    "sqlite": lambda folder: write_sqlite(folder / "p.db"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_table(source, tmp_path):
    table = so.read(SOURCES[source](tmp_path), kind="table")
    assert kinds(table) == KINDS
    assert list(table.records) == PEOPLE["patient_id"].to_list()
    assert table.fingerprint == so.read(PEOPLE, kind="table").fingerprint
    assert table.provenance.rows == ROWS and table.provenance.columns == {"record": "patient_id"}


def test_cells_come_back_as_they_were():
    frame = so.read(PEOPLE, kind="table").to_frame()
    same = ["patient_id", "age", "sex", "zip", "visit", "pain", "weight", "colour"]
    assert frame.select(same).equals(PEOPLE.select(same))
    assert frame["smoker"].to_list() == ["true", "false", "false", None] * (ROWS // 4)
    assert frame["allergies"].to_list() == [["milk", "nuts"], ["nuts"], None, ["eggs", "milk", "nuts"]] * (ROWS // 4)


def test_packed_text_in_another_encoding_is_read(tmp_path):
    text = "id;größe;ort\n" + "".join(f"{i};1,{i};Köln {i % 3}\n" for i in range(20))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode("cp1252")))
    table = so.read(tmp_path / "a.csv.gz", kind="table")
    assert kinds(table) == {"größe": "number", "ort": "category"}
    assert table.column("größe").levels.tolist() == sorted(float(f"1.{i}") for i in range(20) if i % 10 or not i)
    assert table.provenance.settings["encoding"] == "Windows-1252"


@pytest.mark.parametrize("text", ['6" pipe', 'x "y" z', '"a,b"', '"a""b"', '"two\nlines"'])
def test_quotes_are_read_as_a_history_reads_them(text, tmp_path):
    lines = "".join(f"{i},{text if i == 3 else f't{i % 4}'}\n\n" for i in range(12))
    (tmp_path / "a.csv").write_text(f"id,tool\n{lines}")
    table = so.read(tmp_path / "a.csv", kind="table")
    plain = text[1:-1].replace('""', '"') if text.startswith('"') else text
    assert table.n_records == 12 and table.to_frame()["tool"][3] == plain


@pytest.mark.parametrize("separator", ["§", "::", "→→"])
def test_a_separator_of_several_bytes_gives_the_same_table(separator, tmp_path):
    lines = [("id", "tool"), *((str(i), f"t{i % 4}") for i in range(12))]
    tables = []
    for sign in (separator, ","):
        (tmp_path / "a.csv").write_text("".join(f"{sign.join(line)}\n" for line in lines))
        tables.append(so.read(tmp_path / "a.csv", separator=sign, kind="table"))
    assert tables[0].fingerprint == tables[1].fingerprint


@pytest.mark.parametrize("line", ["7", "7,8,9"])
def test_rows_with_a_wrong_number_of_fields_are_an_error_with_their_lines(line, tmp_path):
    (tmp_path / "a.csv").write_text(f"id,age\n1,30\n{line}\n3,40\n")
    with pytest.raises(so.SourceError, match=r"1 of 3 rows are unusable.*line 3"):
        so.read(tmp_path / "a.csv", kind="table")


def test_the_first_line_has_names_or_the_user_decides(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("30,f\n31,m\n32,f\n")
    assert so.read(path, kind="table").column_names == ("column 1", "column 2")
    path.write_text("blue,cat\ngreen,dog\nred,cow\n")
    with pytest.raises(so.ColumnError, match="header=True or header=False"):
        so.read(path, kind="table")
    assert so.read(path, header=True, kind="table").column_names == ("blue", "cat")


def test_an_id_is_recognised_only_if_no_two_rows_share_it():
    ages = [30, 30, 40, 50, 60]
    unique = so.read(pl.DataFrame({"user": list("abcde"), "age": ages}), kind="table")
    assert list(unique.records) == list("abcde")
    with pytest.warns(so.ReadingWarning, match="2 of 5 rows share it with another row"):
        shared = so.read(pl.DataFrame({"user": list("aacde"), "age": ages}), kind="table")
    assert not shared.has_ids and shared.column_names == ("user", "age")
    with pytest.raises(so.ColumnError, match="2 of 5 rows share their id"):
        so.read(pl.DataFrame({"user": list("aacde"), "age": ages}), record="user", kind="table")


def test_row_numbers_in_the_first_column_are_the_id_and_an_exact_income_is_not():
    numbers = list(range(1, 8))
    table = so.read(pl.DataFrame({"": numbers, "income": [n * 1111 for n in numbers]}), kind="table")
    assert list(table.records) == [str(n) for n in numbers] and table.column_names == ("income",)
    assert so.read(pl.DataFrame({"income": [n * 1111 for n in numbers]}), kind="table").has_ids is False
    assert so.read(pl.DataFrame({"id": numbers, "age": numbers}), record=False).has_ids is False


def test_ignored_columns_are_left_out_and_named():
    table = so.read(PEOPLE, ignore=["zip", 3], kind="table")
    assert not {"zip", "sex"} & {*table.column_names}
    assert [column.name for column in table.provenance.unused if column.ignored] == ["sex", "zip"]


def test_empty_cells_are_counted_for_each_column():
    table = so.read(PEOPLE, kind="table")
    assert table.provenance.column_notes["smoker"].endswith("10 empty cells: 10 × ?")
    assert table.provenance.column_notes["pain"].endswith("10 empty cells")
    assert table.column("colour").counts.tolist() == [10, 10, 10, 10, 0]  # unknown is a category


def test_doubtful_columns_cause_a_warning_without_a_cell():
    for name, cells, message in [
        ("contact", [f"a{i}@b.org" for i in range(9)], "looks like an e-mail address"),
        ("surname", [f"Name{chr(65 + i)}" for i in range(9)], "looks like a name or address"),
        ("nothing", [None] * 9, "no values"),
        ("constant", ["x"] * 9, "the same value in all rows"),
        ("age", ["20", "30", "40", "refused", *"12345"], "1 of 9 cells are not numbers"),
        ("day", ["3/4/2005", "4/3/2005", *["5/5/2005"] * 7], "its dates have no common format"),
        ("born", ["25/12/2004"] * 3 + ["12/25/2004"] * 4 + ["2004-12-25"] * 2, "its dates have no common format"),
        ("left", ["2004-12-25"] * 8 + ["25/12/2004"], "its dates have no common format"),
        ("seen", ["2020-01-01 10:30", *["2020-01-02 00:00"] * 8], "times of day are left out"),
    ]:
        frame = pl.DataFrame({name: pl.Series(cells, dtype=pl.String), "n": range(9)})
        with pytest.warns(so.ReadingWarning, match=message) as caught:
            so.read(frame, kind="table")
        assert not any(cell in str(one.message) for one in caught for cell in cells if cell and len(cell) > 1)


@pytest.mark.parametrize("schema", [{"kind": "date"}, {"kind": "date", "date_format": "%d/%m/%Y"}])
def test_dates_in_several_formats_are_an_error_without_a_cell(schema):
    frame = pl.DataFrame({"born": ["25/12/2004", "2004-12-25", "2003-01-31", "03/04/2005"], "n": range(4)})
    with pytest.raises(so.SourceError) as error:
        so.read(frame, schema={"born": schema})
    assert "cells are not a date in one format" in str(error.value)
    assert "date_format" in str(error.value) and "2004" not in str(error.value)


def test_files_of_one_layout_are_one_table(tmp_path):
    for name, part in (("a", PEOPLE.head(15)), ("b", PEOPLE.tail(25))):
        part.write_csv(tmp_path / f"{name}.csv")
    assert so.read(tmp_path / "*.csv", kind="table").fingerprint == so.read(PEOPLE, kind="table").fingerprint
    PEOPLE.drop("sex").write_csv(tmp_path / "c.csv")
    with pytest.raises(so.SourceError, match="other columns"):
        so.read(tmp_path / "*.csv", kind="table")


def test_reading_is_silent_where_nothing_is_doubtful():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = so.read(PEOPLE, kind="table")
    assert np.isclose(table.column("age").error, 2.0)


def test_ignored_columns_are_not_read_at_all(put):
    path = put('{"id": 1, "age": 30, "visits": [1, 2]}\n{"id": 2, "age": 31, "visits": []}\n', "a.json")
    with pytest.raises(so.ColumnError, match="nested"):
        so.read(path, kind="table")
    assert so.read(path, ignore="visits", kind="table").column_names == ("age",)
    nested = pl.DataFrame({"age": [30, 31], "where": [{"x": 1}, {"x": 2}]})
    assert so.read(nested, ignore="where", kind="table").column_names == ("age",)


def test_rows_that_stand_together_in_small_groups_may_be_one_person_and_are_warned_about():
    person = np.repeat(np.arange(40) * 7 + 1000, 3)
    frame = pl.DataFrame({"zper": person, "visits": np.arange(120) % 5})
    with pytest.warns(so.ReadingWarning, match="column 'zper' stand together, 40 groups of 3.0 rows"):
        so.read(frame, kind="table")
