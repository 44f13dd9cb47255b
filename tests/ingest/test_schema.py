"""Schemas: what they change, what they refuse, and that a written schema reads the same table."""

import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from naive import tables as naive
from standout.ingest.schema import hierarchy_rows

FRAME = pl.DataFrame(
    {
        "id": [f"r{i}" for i in range(12)],
        "zip": ["01097", "01099", "10115", "10117"] * 3,
        "age": [20, 25, 31, 39, 44, 52, 58, 61, 67, 70, 78, 83],
        "mood": ["down", "up", "so-so"] * 4,
        "pain": ["low", "medium", "high", "?"] * 3,
        "seen": ["1.2.2020", "31.12.2020", "-"] * 4,
        "tags": ["a;b", "b", "c;a", None] * 3,
    }
)


def read(**columns):
    others = {name: {} for name in FRAME.columns if name not in ("id", *columns)}
    return so.read(FRAME, schema=others | columns)


def test_a_written_schema_reads_the_same_table(tmp_path):
    table = read(
        zip={"hierarchy": "prefix", "role": "sensitive", "error": 2},
        age={"hierarchy": [5, 10, 20], "similarity": "within", "scale": 3},
        mood={"kind": "ordered", "levels": ["down", "so-so", "up"], "error": 0},
        seen={"attribute": "pain"},
    )
    so.Schema.of(table).write(tmp_path / "schema.toml")
    again = so.read(FRAME, schema=tmp_path / "schema.toml")
    assert again.fingerprint == table.fingerprint
    for one, other in zip(table.columns, again.columns, strict=True):
        assert (one.similarity, one.error, one.role, one.attribute) == (
            other.similarity, other.error, other.role, other.attribute,
        )  # fmt: skip
        assert (one.hierarchy is None) == (other.hierarchy is None)
        assert one.hierarchy is None or hierarchy_rows(one) == hierarchy_rows(other)
    assert "schema.toml" in again.provenance.settings["schema"]


def test_the_schema_of_the_documentation_can_be_read(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()
    (tmp_path / "s.toml").write_text(text.split("```toml\n")[1].split("```")[0])
    schema = so.Schema.read(tmp_path / "s.toml")
    assert schema.id == "patient_id" and schema.columns["age"].hierarchy == (5.0, 10.0, 20.0)


def test_a_schema_file_explains_every_key(tmp_path):
    so.Schema.of(so.read(FRAME, kind="table")).write(tmp_path / "s.toml")
    comments = [line for line in (tmp_path / "s.toml").read_text().splitlines() if line.startswith("#")]
    assert {line[2:].split()[0] for line in comments if line[2:3].strip()} >= {*so.ColumnSchema.__dataclass_fields__}


def test_what_does_not_fit_is_an_error_that_names_the_column_and_no_cell():
    for columns, message in [
        ({"nobody": {}}, "no column 'nobody'"),
        ({"age": {"knd": "number"}}, "unknown key 'knd'; did you mean 'kind'"),
        ({"age": {"kind": "integer"}}, "kind must be one of number"),
        ({"age": {"error": "two"}}, "error must be a number"),
        ({"age": {"error": -1}}, "error must be a finite number ≥ 0"),
        ({"age": {"error": math.inf}}, "error must be a number below 1e300"),
        ({"age": {"similarity": "decay", "scale": 0}}, "scale must be a finite number > 0"),
        ({"zip": {"error": 1}}, "values have no distances"),
        ({"zip": {"similarity": "decay"}}, "needs numbers or dates"),
        ({"zip": {"similarity": "hierarchy"}}, "needs a hierarchy"),
        ({"zip": {"similarity": "ordered"}}, "needs an order"),
        ({"zip": {"scale": 2}}, "scale must be given for within and decay only"),
        ({"age": {"hierarchy": [5, 7]}}, "each a multiple of the one before"),
        ({"zip": {"hierarchy": [5, 10]}}, "bands are for numbers"),
        ({"tags": {"hierarchy": "prefix", "kind": "set"}}, "which has no hierarchy"),
        ({"zip": {"hierarchy": 5}}, "hierarchy must be the path"),
        ({"zip": {"hierarchy": "missing.csv"}}, "missing.csv cannot be read"),
        ({"mood": {"kind": "ordered"}}, "has no evident order"),
        ({"mood": {"levels": ["down", "up"]}}, "4 of 12 cells are not one of its levels"),
        ({"mood": {"kind": "boolean"}}, "cannot be read as boolean"),
        ({"pain": {"kind": "number"}}, "9 of 12 cells are not a number"),
        ({"seen": {"date_format": "%Y"}}, "8 of 12 cells are not a date"),
        ({"mood": {"ignore": "yes"}}, "ignore must be true or false"),
        ({"mood": {"missing": "up"}}, "missing must be a list of texts"),
        ({"mood": {"missing": ["\udcff"]}}, "missing must be texts in UTF-8"),
    ]:
        with pytest.raises(so.StandoutError, match=message) as caught:
            read(**columns)
        assert repr(next(iter(columns))) in str(caught.value) or "missing.csv" in message
        cells = {cell for name in ("zip", "mood", "seen") for cell in FRAME[name].unique().to_list()} - {"-"}
        assert not any(cell in str(caught.value) for cell in cells - {"down", "up"})


def test_columns_that_the_schema_lacks_cause_a_warning():
    with pytest.warns(so.ReadingWarning, match=r"lacks 5 of 6 columns \(zip, "):
        table = so.read(FRAME, schema={"age": {"error": 5}})
    assert table.column("age").error == 5.0
    assert table.provenance.settings["columns that the schema lacks"].startswith("zip, mood")


def test_missing_texts_and_ignored_columns_are_those_of_the_schema():
    table = read(mood={"missing": ["so-so"]}, pain={"ignore": True}, seen={"missing": ["-"]})
    assert table.column("mood").counts.tolist() == [4, 4, 4] and "pain" not in table.column_names
    assert table.column("seen").kind == "date" and table.column("seen").counts[-1] == 4
    assert so.read(FRAME, missing=["up"]).column("mood").levels == ("down", "so-so")


def test_a_file_of_groups_puts_the_categories_of_a_group_side_by_side(tmp_path):
    (tmp_path / "h.csv").write_text("so-so;b;any\nup;a;any\ndown;b;any\nother;c;any\n")
    (tmp_path / "s.toml").write_text('id = "id"\n[columns.mood]\nhierarchy = "h.csv"\n')
    with pytest.warns(so.ReadingWarning, match="lacks"):
        column = so.read(FRAME, schema=tmp_path / "s.toml").column("mood")
    assert column.levels == ("up", "down", "so-so") and column.similarity.name == "hierarchy"
    assert column.hierarchy.labels == (("a", "b"), ("any",)) and column.error == 0
    assert column.to_series().to_list() == FRAME["mood"].to_list()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("up;a\ndown;b\n", r"1 of 3 values \(4 cells\) are not in h.csv"),
        ("up;a;x\ndown;a;y\nso-so;b;y\n", "are part of several groups"),
        ("up;a\ndown\nso-so;b\n", "equally many in all rows"),
    ],
)
def test_a_file_of_groups_must_be_a_tree_over_all_values(text, message, tmp_path):
    (tmp_path / "h.csv").write_text(text)
    schema = so.Schema.of_dict({"mood": {"hierarchy": "h.csv"}}, folder=tmp_path)
    with pytest.raises(so.SourceError, match=message):
        so.read(FRAME, schema=schema)


@given(st.lists(st.text("0123456789", min_size=2, max_size=5), min_size=2, max_size=12, unique=True))
def test_prefixes_are_those_of_the_slow_twin(codes):
    frame = pl.DataFrame({"zip": codes, "n": range(len(codes))})
    column = so.read(frame, schema={"zip": {"hierarchy": "prefix"}, "n": {}}).column("zip")
    rows = naive.prefix_rows(codes)
    assert {row[0]: list(row[1:]) for row in hierarchy_rows(column)} == {row[0]: row[1:] for row in rows}
    for code, level in enumerate(column.levels):
        heights = [naive.lowest_common_height(rows, level, other) for other in column.levels]
        expected = [1 - height / column.hierarchy.height for height in heights]
        assert column.hierarchy.similarities(code).tolist() == pytest.approx(expected)


@given(st.lists(st.integers(-50, 120), min_size=2, max_size=20, unique=True))
def test_bands_are_those_of_the_slow_twin(numbers):
    frame = pl.DataFrame({"age": numbers})
    column = so.read(frame, record=False, schema={"age": {"kind": "number", "hierarchy": [5, 10]}}).columns[0]
    for height, width in enumerate((5, 10), 1):
        groups = column.hierarchy.group_of(height)
        lows = [naive.band(number, width) for number in sorted(numbers)]
        assert [column.hierarchy.labels[height - 1][group] for group in groups] == [
            f"{low}-{low + width - 1}" for low in lows
        ]
