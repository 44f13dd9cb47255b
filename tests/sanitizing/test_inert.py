"""Sanitized CSV files for spreadsheets: no cell is a formula, and all are read back exactly."""

import csv
import json

import polars as pl
import pytest
from sanitizing_data import assert_same

import naive
import standout as so
from standout.core.json_files import dump_with_checksum
from standout.data.export import exact, exact_text, inert, inert_text
from standout.sanitizing.files import sidecar_path, write_sanitized

pytestmark = pytest.mark.once
TEXTS = ["=1+1", "'=1+1", "''=1", "+a", "-3", "@x", "＝1", "\tt", "\r", "\nn", "'Round", "7", "a=1", "it's"]
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@pytest.fixture
def hostile():
    rows = len(TEXTS) * 3
    cells = {"user": TEXTS * 3, "item": [TEXTS[(7 * n) % len(TEXTS)] for n in range(rows)]}
    values = {"value": [TEXTS[(3 * n) % len(TEXTS)] for n in range(rows)], "date": ["2020-01-31"] * rows}
    return so.read(pl.DataFrame(cells | values), value_type="text", repeats="keep")


@pytest.fixture
def table(tmp_path):
    rows = {"=id": [f"={n}" for n in range(28)], "-town": TEXTS * 2, "age": [n - 5 for n in range(28)]}
    return so.read(pl.DataFrame(rows), record="=id", kind="table")


def cells(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [cell for row in csv.reader(file) for cell in row]


def is_number(cell):
    return cell.removeprefix("-").replace(".", "", 1).isdigit()


def test_the_escape_is_that_of_the_twin_and_is_undone_exactly():
    frame = pl.DataFrame({"text": [*TEXTS, None], "number": range(len(TEXTS) + 1)})
    escaped = [naive.escaped_cell(text) for text in TEXTS]
    assert inert(frame)["text"].to_list() == [*escaped, None]
    assert [inert_text(text) for text in TEXTS] == escaped
    assert exact(inert(frame)).equals(frame)
    assert [exact_text(text) for text in escaped] == TEXTS
    assert [exact_text(text) for text in TEXTS if inert_text(text) == text] == ["'Round", "7", "a=1", "it's"]


def test_a_history_without_a_formula_is_read_back_exactly(hostile, tmp_path):
    safer, out = so.sanitize(hostile, "round-time month"), tmp_path / "safer.csv"
    write_sanitized(safer, out)
    assert "=1+1" in cells(out)  # without --inert, cells stay as they are
    assert json.loads(sidecar_path(out).read_bytes())["inert"] is False
    assert_same(so.open_sanitized(out, hostile), safer)
    write_sanitized(safer, out, force=True, inert=True)
    assert not [cell for cell in cells(out) if cell.startswith(STARTS)]
    assert json.loads(sidecar_path(out).read_bytes())["inert"] is True
    assert_same(so.open_sanitized(out, hostile), safer)


def test_a_table_without_a_formula_is_read_back_exactly(table, tmp_path):
    safer, out, key = so.sanitize(table, "round age 5", seed=1), tmp_path / "safer.csv", tmp_path / "key.csv"
    write_sanitized(safer, out, key=key, inert=True)
    assert not [cell for cell in cells(out) if cell.startswith(STARTS) and not is_number(cell)]
    assert json.loads(sidecar_path(out).read_bytes())["inert"] is True
    again = so.open_sanitized(out, table, key)
    assert again.to_frame().equals(safer.to_frame())
    assert again.fingerprint == safer.fingerprint


@pytest.mark.parametrize("name", ["safer.parquet", "safer"])
def test_inert_is_refused_where_no_spreadsheet_reads(hostile, tmp_path, name):
    with pytest.raises(so.ParameterError, match="inert is for CSV files only"):
        write_sanitized(so.sanitize(hostile), tmp_path / name, inert=True)
    assert list(tmp_path.iterdir()) == []


def test_a_sidecar_that_does_not_say_whether_cells_are_inert_is_damaged(hostile, tmp_path):
    out = tmp_path / "safer.csv"
    write_sanitized(so.sanitize(hostile), out, inert=True)
    sidecar = sidecar_path(out)
    content = json.loads(sidecar.read_bytes())
    sidecar.write_bytes(dump_with_checksum(content | {"inert": "yes"}))
    with pytest.raises(so.SourceError, match="damaged"):
        so.open_sanitized(out, hostile)
    sidecar.write_bytes(dump_with_checksum(content | {"inert": False}))
    with pytest.raises(so.SourceError, match="does not match its sidecar"):
        so.open_sanitized(out, hostile)
    sidecar.write_text(json.dumps(content))
    out.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(so.SourceError):
        so.open_sanitized(out, hostile)
