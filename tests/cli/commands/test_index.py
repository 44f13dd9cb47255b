"""`standout index`: what it writes and prints, and what it refuses."""

import json

from command_line import file_names, undocumented

import standout as so
from standout.data import build as code_blocks

RATINGS = "user,item,rating,date\np,x,4,2005-03-01\np,y,3.5,2005-03-02\nq,x,,2005-03-09\nq,x,5,2005-03-08\n"


def test_index_prints_how_the_source_was_read_and_how_many_rows_were_merged(run, tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    outcome = run("--verbose", "index", tmp_path / "ratings.csv", "-o", tmp_path / "index", "--read", "repeats=last")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.read.startswith("Read ratings.csv: CSV")
    release = so.open(tmp_path / "index")
    for part in ("3 entries", "2 records", "2 items", "2005-03-01 to 2005-03-09", release.fingerprint):
        assert part in outcome.out
    for part in ("ratings.csv", "user", "rating", "date", "zone UTC", "1 were dropped", "missing in 1"):
        assert part in outcome.read
    assert file_names(tmp_path) == ["index", "ratings.csv"]


def test_index_prints_sizes_as_json(run, tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    folder = tmp_path / "index"
    content = json.loads(run("index", tmp_path / "ratings.csv", "-o", folder, "--json", "--read", "repeats=last").out)
    assert (content["records"], content["items"], content["entries"]) == (2, 2, 3)
    assert content["fingerprint"] == so.open(folder).fingerprint
    assert content["bytes"] == sum(file.stat().st_size for file in folder.iterdir())
    assert content["read"]["repeated"] == {"rows": 1, "merged": 1, "rule": "last"}
    assert content["read"]["values"]["missing"] == 1
    assert undocumented("index", content) == []


def test_several_sources_a_glob_and_an_index_can_be_indexed(run, tmp_path):
    (tmp_path / "a.csv").write_text("user,item\np,x\n")
    (tmp_path / "b.csv").write_text("user,item\nq,y\n")
    assert run("index", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "two").code == 0
    assert run("index", tmp_path / "?.csv", "-o", tmp_path / "glob").code == 0
    assert run("index", tmp_path / "two", "-o", tmp_path / "copy").code == 0
    assert len({so.open(tmp_path / name).fingerprint for name in ("two", "glob", "copy")}) == 1
    assert so.open(tmp_path / "two").n_records == 2


def test_an_index_that_memory_does_not_hold_is_printed_like_any_other(run, tmp_path, monkeypatch):
    lines = "".join(f"p{number},x,1\n" for number in range(9_000))
    (tmp_path / "ratings.csv").write_text(f"user,item,rating\n{lines}")
    whole = run("index", tmp_path / "ratings.csv", "-o", tmp_path / "index").out
    monkeypatch.setattr(code_blocks, "PER_ENTRY", 10**6)
    monkeypatch.setattr(code_blocks, "SMALLEST_BLOCK", 1)
    outcome = run("index", tmp_path / "ratings.csv", "-o", tmp_path / "index", "--memory", "1GB")
    assert (outcome.code, outcome.err, outcome.out) == (0, "", whole)
    content = json.loads(run("index", tmp_path / "index", "-o", tmp_path / "copy", "--json").out)
    assert undocumented("index", content) == [] and content["fingerprint"] == so.open(tmp_path / "index").fingerprint
    assert file_names(tmp_path) == ["copy", "index", "ratings.csv"]


def test_a_memory_that_cannot_work_is_refused_by_its_option(run, tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    for option, value, message in (
        ("--memory", "much", "--memory must be a size such as 500MB, 4GB or 2GiB, got 'much'"),
        ("--memory", "10MB", "--memory must be at least "),
    ):
        outcome = run("index", tmp_path / "ratings.csv", "-o", tmp_path / "index", option, value)
        assert outcome.code == 1 and message in outcome.err and outcome.err.count("\n") == 1
    assert file_names(tmp_path) == ["ratings.csv"]
