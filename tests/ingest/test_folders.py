"""Several files and folders: one release, files of one kind, and one file for each person."""

import gzip
import json

import polars as pl
import pytest

import standout as so
from conftest import content
from standout.core.errors import RejectedRows
from standout.ingest.sources import zstd

TRACES = {"anna": ["x,5", "y,6"], "bert": ["x,7"], "carl": ["z,8", "x,9", "y,1"]}


def write(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def wanted():
    rows = [(name, *line.split(",")) for name, lines in TRACES.items() for line in lines]
    return {(record, item): (float(value), None) for record, item, value in rows}


def csv(lines, header="item,value\n"):
    return header + "".join(f"{line}\n" for line in lines)


def test_a_folder_is_all_its_data_files_in_the_order_of_their_paths(tmp_path):
    header = "user,item,rating\n"
    folder = write(
        tmp_path,
        {
            "b/1.csv": f"{header}a,x,1\n",
            "b/0.csv.gz": gzip.compress(f"{header}a,x,2\n".encode()),
            "a.csv.zst": zstd.compress(f"{header}a,x,3\n".encode()),
            "c.CSV": "rating,user,item\n4,a,x\n",
            "README.txt": "about",
            "LICENSE": "law",
            "notes.md": "more",
            ".hidden.json": "{}",
            ".cache/x.parquet": "",
            "_SUCCESS": "",
        },
    )
    assert content(so.read(folder)) == {("a", "x"): (4.0, None)}
    release = so.read(folder, repeats="first")
    assert content(release) == {("a", "x"): (3.0, None)}
    assert release.provenance.rows == 4
    assert release.provenance.settings["skipped files"] == "6"
    assert release.provenance.files == ("a.csv.zst", "0.csv.gz", "1.csv", "c.CSV")


def test_a_folder_of_different_kinds_lists_them(tmp_path):
    write(tmp_path, {"a.csv": "user,item\na,b\n", "b.csv": "x", "c.json": "[]", "d": "x", "e.csv.gz": "x"})
    with pytest.raises(so.SourceError, match=r"different kinds \(3 × \.csv, 1 × \.json, 1 × no ending\)"):
        so.read(tmp_path)


def test_files_with_the_same_ending_and_different_formats_are_refused(tmp_path):
    pl.DataFrame({"user": ["a"], "item": ["b"]}).write_parquet(tmp_path / "b.data")
    write(tmp_path, {"a.data": "user,item\na,b\n"})
    with pytest.raises(so.SourceError, match="different formats with the same ending"):
        so.read(tmp_path)


def test_tables_of_a_folder_may_have_their_columns_in_another_order(tmp_path):
    rows = [{"user": "a", "item": "x", "rating": 1}, {"rating": 2, "item": "y", "user": "b"}]
    for kind in ("parquet", "jsonl", "arrow"):
        folder = tmp_path / kind
        folder.mkdir()
        for i, row in enumerate(rows):
            frame, path = pl.DataFrame(row), folder / f"{i}.{kind}"
            {"parquet": frame.write_parquet, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc}[kind](path)
        assert content(so.read(folder)) == {("a", "x"): (1.0, None), ("b", "y"): (2.0, None)}
        pl.DataFrame({"user": ["c"], "item": ["x"]}).write_parquet(folder / "x")
        with pytest.raises(so.SourceError, match=r"different formats|other columns"):
            so.read([folder / f"0.{kind}", folder / "x"])


def test_a_file_with_other_columns_is_named(tmp_path):
    for i, row in enumerate([{"user": "a", "item": "x"}, {"user": "a", "item": "x", "time": "2005-03-01"}]):
        (tmp_path / f"{i}.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(so.SourceError, match=r"1\.jsonl has other columns than .*0\.jsonl"):
        so.read(tmp_path)
    write(tmp_path / "csv", {"0.csv": "user,item\na,x\n", "1.csv": "user,item,time\na,x,2005-03-01\n"})
    with pytest.raises(so.SourceError, match=r"1\.csv has another layout than the first file"):
        so.read(tmp_path / "csv")


@pytest.mark.parametrize("header", ["item,value\n", ""])
def test_each_file_is_one_record_whose_id_is_in_its_path(tmp_path, header):
    columns = {} if header else {"item": 1, "value": 2}
    flat = {f"new_{name}.txt": csv(lines, header) for name, lines in TRACES.items()}
    deep = {
        f"{name}/Trajectory/{i}.plt": csv([line], header)
        for name, lines in TRACES.items()
        for i, line in enumerate(lines)
    }
    for name, files, pattern in [
        ("flat", flat, "new_(.*)[.]txt"),
        ("deep", deep, "^([a-z]+)/"),
        ("whole", deep, "^[a-z]+"),
    ]:
        folder = write(tmp_path / name, files)
        release = so.read(folder, record_from_name=pattern, **columns)
        assert content(release) == wanted()
        assert release.provenance.columns["record"] == "the file name"
        assert release.provenance.files == (f"{len(files)} files",)
        assert release.provenance.settings["record from name"] == pattern
    paths = sorted((tmp_path / "flat").iterdir())
    assert content(so.read(paths, record_from_name="new_(.*)[.]", **columns)) == wanted()
    assert content(so.read(str(tmp_path / "deep/*/*/*"), record_from_name="^([a-z]+)", **columns)) == wanted()


def test_each_parquet_or_json_file_can_be_one_record(tmp_path):
    for name, lines in TRACES.items():
        rows = [line.split(",") for line in lines]
        frame = pl.DataFrame({"item": [row[0] for row in rows], "value": [float(row[1]) for row in rows]})
        for kind, write_frame in [("parquet", frame.write_parquet), ("jsonl", frame.write_ndjson)]:
            (tmp_path / kind).mkdir(exist_ok=True)
            write_frame(tmp_path / kind / f"{name}.{kind}")
    for kind in ("parquet", "jsonl"):
        assert content(so.read(tmp_path / kind, record_from_name="(.*)[.]")) == wanted()


def test_files_without_an_id_in_their_name_are_counted_and_not_named(tmp_path):
    folder = write(tmp_path, {f"new_{name}.txt": csv(lines) for name, lines in TRACES.items()})
    with pytest.raises(so.SourceError, match=r"1 of 3 files .* record_from_name=") as error:
        so.read(folder, record_from_name="new_(anna|carl)")
    assert "bert" not in str(error.value)
    with pytest.raises(so.SourceError, match="all 3 files would be the same record"):
        so.read(folder, record_from_name="new")
    with pytest.raises(so.SourceError, match="3 of 3 files"):
        so.read(folder, record_from_name="()")
    with pytest.raises(so.ParameterError, match="record_from_name must be a regular expression"):
        so.read(folder, record_from_name="(")
    with pytest.raises(so.ParameterError, match="record and record_from_name cannot both be set"):
        so.read(folder, record="user", record_from_name="new_(.*)")


def test_lines_are_skipped_and_line_numbers_count_them(tmp_path, monkeypatch):
    geolife = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track\r\n0\r\n"
    lines = ["39.98,116.31,0,492,39744.1,2008-10-23,02:53:04", "39.98,116.32,0,492,39744.1,2008-10-23,02:53:10"]
    text = geolife + "".join(f"{line}\r\n" for line in lines)
    folder = write(tmp_path, {"000/T/1.plt": text, "001/T/1.plt": text})
    options = {
        "record_from_name": "^([0-9]+)/",
        "item": [1, 2],
        "time": 6,
        "skip_lines": 6,
        "header": False,
        "ignore": [3, 4, 5, 7],
    }
    for head in (1 << 18, 64):
        monkeypatch.setattr("standout.ingest.sources.HEAD", head)
        release = so.read(folder, **options)
        assert release.n_records == 2
        assert release.n_entries == 4
    with pytest.raises(RejectedRows, match="line 8"):
        write(tmp_path, {"001/T/1.plt": text.replace("116.32,0,492", "116.32,0,492,9")})
        so.read(folder, **options)
    with pytest.raises(so.SourceError, match="fewer lines than skip_lines"):
        so.read(folder, **{**options, "skip_lines": 100})
    for bad in (-1, 1.5, True):
        with pytest.raises(so.ParameterError, match="skip_lines must be a whole number"):
            so.read(folder, skip_lines=bad)


def test_a_further_file_that_begins_with_a_header_is_refused(tmp_path):
    folder = write(tmp_path, {"a.csv": "1,2\n3,4\n", "b.csv": "user,item\n5,6\n"})
    with pytest.raises(so.SourceError, match="another layout"):
        so.read(folder, record=1, item=2)


def test_progress_over_many_files_never_goes_back(tmp_path):
    folder = write(tmp_path, {f"{i:03}.csv": f"user,item\n{i},x\n" for i in range(50)})
    steps = []
    so.read(folder, progress=lambda stage, done, total: steps.append((stage, done / total)))
    shares = [share for stage, share in steps if stage == "reading"]
    assert shares == sorted(shares)
    assert shares[-1] == 1
