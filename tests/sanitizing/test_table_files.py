import json
import stat

import numpy as np
import polars as pl
import pytest
from sanitizing_tables import random_table, rows_of, values
from test_sanitize_table import STEPS, same

import standout as so
from naive import table_sanitizing as naive
from standout.core.errors import ParameterError, SourceError
from standout.core.json_files import dump_with_checksum
from standout.data.column import Column
from standout.data.release import Release
from standout.sanitizing.files import write_sanitized

pytestmark = pytest.mark.once


def written(tmp_path, table, steps=STEPS, name="safer.csv", seed=5):
    safer = so.sanitize(table, steps, seed=seed)
    write_sanitized(safer, tmp_path / name, key=tmp_path / "key.csv")
    return safer


@pytest.mark.parametrize("name", ["safer.csv", "safer.parquet"])
@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_an_opened_table_equals_the_one_that_was_written(tmp_path, name, has_ids, seed):
    table = random_table(seed=seed)
    table = table if has_ids else Release.of_columns(table.columns)
    steps = [*STEPS, "generalize born month", "swap has 0.5", "suppress-cells has 10"]
    safer = written(tmp_path, table, steps, name, seed)
    again = so.open_sanitized(tmp_path / name, table, tmp_path / "key.csv")
    same(again, safer)
    for column in safer.columns:
        assert values(again.column(column.name)) == values(column)
        assert again.column(column.name).kind == column.kind
        assert again.column(column.name).role == column.role
        assert again.column(column.name).similarity == column.similarity


def test_steps_can_be_continued_after_opening(tmp_path):
    table = random_table(seed=1)
    written(tmp_path, table, STEPS[:4])
    again = so.open_sanitized(tmp_path / "safer.csv", table, tmp_path / "key.csv")
    same(so.sanitize(again, STEPS[4:], seed=5), so.sanitize(table, STEPS, seed=5))


def test_the_written_cells_are_those_of_the_table_in_a_random_order(tmp_path):
    table = random_table(n_rows=40, seed=2, missing=0)
    written(tmp_path, table, ["round age 5", "suppress-to-k zip size 3"])
    frame = pl.read_csv(tmp_path / "safer.csv")
    assert frame["id"].to_list() == list(range(1, frame.height + 1))
    assert set(frame["age"]) == {naive.rounded(age, 5) for age in values(table.column("age"))}
    assert naive.smallest_class(frame.select("zip", "size").rows()) >= 3


def test_sidecar_has_counts_and_no_cell_and_no_id(tmp_path):
    table = random_table(seed=2)
    safer = written(tmp_path, table)
    text = (tmp_path / "safer.csv.sanitized.json").read_text()
    content = json.loads(text)
    assert [report["step"] for report in content["steps"]] == STEPS
    assert (content["original"]["records"], content["original"]["columns"]) == (60, 6)
    assert content["records"] == safer.n_records
    assert "person" not in text and "tiny" not in text
    assert not [level for level in table.column("zip").levels if f'"{level}"' in text]


def test_only_the_owner_can_read_the_key_and_it_names_each_released_row(tmp_path):
    table = random_table(seed=2)
    safer = written(tmp_path, table)
    assert stat.S_IMODE((tmp_path / "key.csv").stat().st_mode) == 0o600
    key = pl.read_csv(tmp_path / "key.csv", infer_schema=False)
    assert key.columns == ["record", "released"]
    row_of = {id_: row for row, id_ in enumerate(table.records)}
    pairs = {int(released) - 1: row_of[record] for record, released in key.rows()}
    assert [pairs[row] for row in range(safer.n_records)] == safer.original_row.tolist()


def test_a_table_cannot_be_opened_without_its_key(tmp_path):
    table = random_table()
    written(tmp_path, table)
    with pytest.raises(ParameterError, match="key is needed, the key file of"):
        so.open_sanitized(tmp_path / "safer.csv", table)


def test_a_changed_output_key_or_original_is_refused(tmp_path):
    table = random_table(seed=3)
    written(tmp_path, table, ["round age 5"])
    path, key = tmp_path / "safer.csv", tmp_path / "key.csv"
    with pytest.raises(SourceError, match=r"this original|the original lacks"):
        so.open_sanitized(path, random_table(seed=4), key)
    with pytest.raises(SourceError, match="not made from this original"):
        so.open_sanitized(path, random_table(n_rows=61, seed=3), key)
    lines = key.read_text().splitlines()
    pairs = [line.split(",") for line in lines[1:]]
    moved = [f"{pairs[place - 1][0]},{pair[1]}" for place, pair in enumerate(pairs)]
    key.write_text("\n".join([lines[0], *moved]) + "\n")
    with pytest.raises(SourceError, match="the key belongs to another output"):
        so.open_sanitized(path, table, key)
    key.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(SourceError, match="is not the key"):
        so.open_sanitized(path, table, key)
    key.write_text("\n".join(lines) + "\n")
    so.open_sanitized(path, table, key)
    cells = path.read_text().splitlines()
    path.write_text("\n".join([cells[0], *cells[2:], cells[1]]) + "\n")
    with pytest.raises(SourceError, match="does not match its sidecar"):
        so.open_sanitized(path, table, key)
    path.write_text("\n".join([cells[0], "1,99,,,,,"]) + "\n")
    with pytest.raises(SourceError, match="values that the original lacks"):
        so.open_sanitized(path, table, key)


def test_a_damaged_sidecar_is_refused(tmp_path):
    table = random_table()
    written(tmp_path, table, ["drop-rows size 4"])
    sidecar = tmp_path / "safer.csv.sanitized.json"
    content = json.loads(sidecar.read_text())
    content["steps"][0]["counts"]["records before"] += 1
    for changed in (json.dumps(content).encode(), dump_with_checksum(content)):
        sidecar.write_bytes(changed)
        with pytest.raises(SourceError, match="is damaged"):
            so.open_sanitized(tmp_path / "safer.csv", table, tmp_path / "key.csv")


def test_a_table_is_written_as_csv_or_parquet_only(tmp_path):
    with pytest.raises(ParameterError, match=r"must end in \.csv or \.parquet"):
        write_sanitized(so.sanitize(random_table()), tmp_path / "index")


def test_an_existing_output_is_overwritten_with_force_only(tmp_path):
    safer = written(tmp_path, random_table())
    with pytest.raises(ParameterError, match="exists already"):
        write_sanitized(safer, tmp_path / "safer.csv")
    write_sanitized(safer, tmp_path / "safer.csv", key=tmp_path / "key.csv", force=True)


def test_fractions_negative_numbers_and_texts_with_quotes_survive_a_csv_file(tmp_path):
    numbers = np.array([-1.5e-7, 0.1, 1 / 3, 2.0**60])
    texts = ('a "b", c', "line\nbreak", "ä;|", "1e5")
    codes = np.array([0, 1, 2, 3, 4], np.uint8)
    sets = Column("s", "set", ("a|b", "c"), np.array([0, 1, 1], np.uint8), np.array([0, 2, 2, 3, 3, 3]))
    table = Release.of_columns((Column("x", "number", numbers, codes), Column("t", "category", texts, codes), sets))
    safer = written(tmp_path, table, [])
    again = so.open_sanitized(tmp_path / "safer.csv", table, tmp_path / "key.csv")
    assert rows_of(again, ["x", "t", "s"]) == rows_of(safer, ["x", "t", "s"])


def test_files_of_other_kinds_are_refused_with_what_is_wrong(tmp_path):
    table, release = random_table(), so.synthesize(records=10, items=10, entries=40, seed=7)
    written(tmp_path, table, ["round age 5"])
    write_sanitized(so.sanitize(release, "round-time month"), tmp_path / "release.csv")
    key = tmp_path / "key.csv"
    with pytest.raises(SourceError, match="not made from this original"):
        so.open_sanitized(tmp_path / "safer.csv", release)
    with pytest.raises(SourceError, match="not made from this original"):
        so.open_sanitized(tmp_path / "release.csv", table, key)
    with pytest.raises(SourceError, match="cannot be read"):
        so.open_sanitized(tmp_path / "nothing.csv", table, key)
    with pytest.raises(SourceError, match="cannot be read"):
        so.open_sanitized(tmp_path / "safer.csv", table, tmp_path / "nothing.csv")
    for content, reason in ((b"\xff", "UTF-8"), (b"a,b,c\n", "is not a key file")):
        key.write_bytes(content)
        with pytest.raises(SourceError, match=reason):
            so.open_sanitized(tmp_path / "safer.csv", table, key)
    (tmp_path / "safer.csv").unlink()
    with pytest.raises(SourceError, match="cannot be read"):
        so.open_sanitized(tmp_path / "safer.csv", table, key)


def test_members_that_contain_the_separator_are_written_as_parquet_only(tmp_path):
    members = Column("s", "set", ("a;b|c,d", "e"), np.array([0, 1], np.uint8), np.array([0, 1, 2]))
    safer = so.sanitize(Release.of_columns((members,)), seed=0)
    with pytest.raises(ParameterError, match="write a Parquet file"):
        write_sanitized(safer, tmp_path / "safer.csv")
    assert list(tmp_path.iterdir()) == []
    write_sanitized(safer, tmp_path / "safer.parquet", key=tmp_path / "key.csv")
    again = so.open_sanitized(tmp_path / "safer.parquet", safer.original, tmp_path / "key.csv")
    assert values(again.column("s")) == values(safer.column("s"))
