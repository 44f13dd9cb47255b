"""JSON lines and JSON arrays: the same release as from the same data in CSV, and never read as CSV."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content
from standout.ingest.sources import zstd

ROWS = [
    {"user": "007", "item": "a", "rating": 4, "time": "2005-03-01"},
    {"user": 7, "item": "a", "rating": 0.5, "time": "2005-03-02"},
    {"time": None, "item": 'b {\\"', "user": "7"},
]
CSV = 'user,item,rating,time\n007,a,4,2005-03-01\n7,a,0.5,2005-03-02\n7,"b {\\""",,\n'


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_json_lines_and_arrays_are_the_release_that_their_csv_is(put):
    twin = so.read(put(CSV))
    texts = {
        "a.jsonl": lines(ROWS),
        "b.txt": "\n" + lines(ROWS).replace("\n", "\r\n \n"),
        "c.csv": "\ufeff" + lines(ROWS).rstrip(),
        "d.json": json.dumps(ROWS),
        "e.json": json.dumps(ROWS, indent=2) + "\n\n",
    }
    for name, text in texts.items():
        for pack in (bytes, gzip.compress, zstd.compress):
            release = so.read(put(pack(text.encode()), name))
            assert content(release) == content(twin)
            kind = "JSON array" if name in ("d.json", "e.json") else "JSON lines"
            assert release.provenance.format == kind
            assert release.provenance.columns == twin.provenance.columns
            assert release.provenance.rows == 3


def test_json_in_another_encoding_is_read(put):
    text = lines([{"user": "Zoë", "item": "a"}, {"user": "y", "item": "b"}]).replace("\\u00eb", "ë")
    assert so.read(put(text.encode("latin-1"), "a.jsonl"), encoding="latin-1").record("Zoë")
    wide = put(text.encode("utf-16"), "b.jsonl")
    assert so.read(wide, encoding="utf-16").record("Zoë")
    with pytest.raises(so.SourceError, match="JSON in UTF-16: add encoding='utf-16'"):
        so.read(wide)


cells = st.text(max_size=6).filter(lambda text: text.strip() and "\0" not in text) | st.integers(0, 10**30)
objects = st.lists(st.tuples(cells, cells, st.none() | st.integers(-5, 5)), min_size=1, max_size=20)


@given(objects, st.booleans())
def test_lines_and_arrays_give_the_release_of_their_rows(tmp_path_factory, rows, pretty):
    rows = [row for row in rows if all(str(cell).isprintable() for cell in row)] or [("u", "i", None)]
    wanted = naive.entries((str(user), str(item), value, None) for user, item, value in rows)
    made = [{"user": user, "item": item, "rating": value, "x": {"y": [item]}} for user, item, value in rows]
    path = tmp_path_factory.mktemp("json") / "data [1]*"
    for text in (lines(made), json.dumps(made, indent=1 if pretty else None, ensure_ascii=False)):
        path.write_text(text, encoding="utf-8")
        assert content(so.read([path], kind="history", ignore="x", repeats="last")) == wanted


def test_a_name_is_no_pattern(tmp_path):
    for name in ("a*.jsonl", "ab.jsonl"):
        (tmp_path / name).write_text(lines(ROWS))
    assert so.read(tmp_path / "a*.jsonl").provenance.rows == 3


def test_a_field_that_appears_late_is_a_column(put):
    rows = [{"user": str(i), "item": "a"} for i in range(3000)]
    rows.append({"user": "x", "item": "a", "time": "2005-03-01"})
    release = so.read(put(lines(rows), "late.jsonl"))
    assert release.provenance.columns["time"] == "time"
    assert release.n_entries == 3001


def test_nested_fields_are_refused_only_if_they_are_used(put):
    rows = [{"user": "u", "item": {"id": 1}, "note": "s", "x": [1]}, {"user": "v", "item": {"id": 2}, "x": {"y": 1}}]
    path = put(lines([*rows, {"user": "v", "note": "t"}][::-1][1:]), "nested.jsonl")
    with pytest.raises(so.ColumnError, match="'item' has nested fields: choose another column"):
        so.read(path)
    assert so.read(path, item="note", max_rejects=1, ignore=["item", "x"]).n_entries == 1


def test_json_of_another_shape_is_refused_and_not_read_as_csv(put):
    for text in [
        json.dumps({"data": ROWS}, indent=1),
        lines(ROWS) + "[1, 2]\n",
        lines(ROWS) + '{"user": \n',
        lines(ROWS) + "user,item\n",
        json.dumps([*ROWS, 3]),
        json.dumps([ROWS]),
        json.dumps(ROWS)[:-1],
        json.dumps(ROWS) + "x",
        "[{}",
        "[{},]",
        "[]",
        "{}\n",
    ]:
        with pytest.raises((so.SourceError, so.ColumnError)) as error:
            so.read(put(text, "data.json"))
        assert "007" not in str(error.value)


def test_a_damaged_line_is_named_and_its_content_is_not(put):
    rows = [{"user": f"u{i}", "item": "a"} for i in range(200)]
    for bad in ["3", '"secret"', '["secret"]', '{"user": "secret"', '{"user": "secret"} x', "null"]:
        with pytest.raises(so.SourceError, match="line 201 is not a JSON object") as error:
            so.read(put(lines(rows) + bad + "\n", "data.jsonl"))
        assert "secret" not in str(error.value)


def test_braces_in_csv_are_no_json(put):
    assert so.read(put("{3F25-04E0},x\n{3F25-04E1},y\n"), header=False, record=1, item=2).n_records == 2
