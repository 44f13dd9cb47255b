"""`standout sanitize`: it writes what `so.sanitize` makes, and refuses before it works."""

import json

import polars as pl
import pytest
from sanitizing_data import assert_same

import standout as so

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=60, items=30, entries=700, seed=3)


@pytest.fixture
def source(release, tmp_path):
    path = tmp_path / "data.csv"
    release.to_frame().write_csv(path)
    return path


def test_the_command_writes_the_release_and_shows_each_step(run, release, source, tmp_path):
    out, key = tmp_path / "safer.parquet", tmp_path / "key.csv"
    steps = ["--step", "round-time month", "--step", "drop-rare-items 10", "--step", "perturb-value 1 0.5"]
    outcome = run("sanitize", source, "-o", out, *steps, "--renumber", "--key", key, "--seed", 7)
    assert outcome.code == 0, outcome.err
    assert all(step in outcome.out for step in steps[1::2])
    assert "values changed" in outcome.out
    assert "7" not in {token.strip(".,:") for token in outcome.out.split()}
    safer = so.sanitize(release, *steps[1::2], seed=7, renumber=True)
    assert_same(so.open_sanitized(out, release, key), safer)


def test_json_output_never_has_the_seed(run, source, tmp_path):
    args = ["sanitize", source, "--step", "drop-entries 0.5", "--json"]
    first, second = (run(*args, "-o", tmp_path / f"{name}.index") for name in "ab")
    result, other = json.loads(first.out), json.loads(second.out)
    assert "seed" not in first.out
    assert result["fingerprint"] != other["fingerprint"], "every run draws a new seed"
    assert result["fingerprint"] == so.open(tmp_path / "a.index").fingerprint
    assert result["steps"][0]["step"] == "drop-entries 0.5"
    assert result["steps"][0]["counts"]["entries"] == result["entries"]
    assert result["renumbered"] is False
    assert result["key"] is None


def test_the_command_refuses_before_it_works(run, source, tmp_path):
    out = tmp_path / "safer.csv"
    month = ["--step", "round-time month"]
    for args, reason in (
        ([], "--step is missing"),
        (["--step", "round-tme month"], "there is no step 'round-tme'"),
        (["--step", "sample-records 9999"], "would keep 9,999 of 60 records"),
        ([*month, "--key", out], "must be different files"),
    ):
        outcome = run("sanitize", source, "-o", out, *args)
        assert outcome.code == 1
        assert reason in outcome.err
        assert outcome.err.count("\n") == 1
        assert not out.exists()
    assert run("sanitize", source, "-o", out, *month).code == 0
    again = run("sanitize", source, "-o", out, *month)
    assert again.code == 1
    assert "--force is needed to overwrite" in again.err and "exists already" in again.err
    assert run("sanitize", source, "-o", out, *month, "--force").code == 0


def test_the_original_is_never_overwritten(run, source, tmp_path):
    before = source.read_bytes()
    for paths in (("-o", source), ("-o", tmp_path / "x.csv", "--key", source), ("-o", tmp_path)):
        outcome = run("sanitize", source, *paths, "--step", "drop-entries 0.5", "--force")
        assert outcome.code == 1
        assert "where the original is" in outcome.err
        assert outcome.err.count("\n") == 1
    assert source.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}


def test_the_command_lists_all_steps(run):
    outcome = run("sanitize", "--list-steps")
    assert outcome.code == 0
    assert outcome.out.count("\n") == 2 * 22 + 3
    assert "round-time day | week | month | quarter | year | DAYS | none" in outcome.out


@pytest.mark.slow
@pytest.mark.realdata
def test_real_ratings_come_back_as_they_were_written(realdata, run, tmp_path):
    source, out, key = realdata / "movielens-latest-small", tmp_path / "safer.csv", tmp_path / "key.csv"
    steps = ["--step", "round-time quarter", "--step", "round-value bins 3", "--step", "cluster-records 5"]
    outcome = run("sanitize", source, "-o", out, *steps, "--renumber", "--key", key, "--seed", 3)
    assert outcome.code == 0, outcome.err
    release = so.read(source)
    safer = so.sanitize(release, *steps[1::2], seed=3, renumber=True)
    assert_same(so.open_sanitized(out, release, key), safer)


def test_the_command_shows_entries_in_and_out_and_what_became_of_each(run, release, tmp_path):
    source, out = tmp_path / "data.csv", tmp_path / "safer.csv"
    frame = release.to_frame()
    pl.concat([frame, frame.head(300)]).write_csv(source)
    steps = ["--step", "drop-entries 0.5", "--step", "merge-repeats"]
    args = ["sanitize", source, "-o", out, *steps, "--seed", 3, "--force"]
    outcome = run(*args, "--read", "repeats=keep", "--json")
    result = json.loads(outcome.out)
    entries = 1000
    for report in result["steps"]:
        counts = report["counts"]
        assert counts["entries before"] == entries
        entries = counts["entries"]
        assert counts["entries before"] == entries + counts["entries removed"] + counts["entries merged"]
    assert result["entries"] == entries and result["steps"][1]["counts"]["entries merged"] > 0
    assert result["original"] == {"records": 60, "columns": 0, "items": 30, "entries": 1000, "merged rows": 0}
    text = run(*args, "--read", "repeats=keep").out
    counts = result["steps"][1]["counts"]
    assert "entries in" in text and f"{counts['entries merged']:,} entries merged" in " ".join(text.split())
    merged = run(*args, "--read", "repeats=last")
    assert "300 rows of DATA repeat a record and item and were merged when it was read." in merged.out
    assert json.loads(run(*args, "--read", "repeats=last", "--json").out)["original"]["merged rows"] == 300
