"""`standout synthesize`: the files it writes can be read, and it overwrites no file."""

import json

import pytest
from command_line import file_names

import standout as so


def test_synthesize_writes_files_that_can_be_read(run, tmp_path):
    expected = so.synthesize(records=30, items=20, entries=200, seed=5).fingerprint
    for name in ("made.csv", "made.parquet", "made"):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        path = folder / name
        command = ("synthesize", "--records", 30, "--items", 20, "--entries", 200, "--seed", 5, "-o", path)
        outcome = run(*command)
        assert (outcome.code, outcome.err) == (0, "") and "200 entries of 30 records" in outcome.out
        again = run(*command)  # an index is replaced; a file, which may be anything, is not
        assert again.code == (0 if name == "made" else 1) and (name == "made" or "exists" in again.err)
        assert so.read(path).fingerprint == expected
        assert file_names(folder) == [name] and path.stat().st_mode & 0o077 == 0


def test_options_that_contradict_each_other_are_one_line_errors(run, tmp_path):
    for options, message in (
        ((), "--output"),
        (("--check",), "--check needs --like netflix, got --like quick"),
        (("--like", "flat", "--check"), "--check needs --like netflix, got --like flat"),
        (("--like", "netflix", "--check", "--records", 999), "at least 1,000 records"),
        (("--like", "netflix", "--check", "-o", tmp_path / "missing" / "made"), "its folder does not exist"),
    ):
        outcome = run("synthesize", *options)
        assert outcome.code == 1 and message in outcome.err and outcome.err.count("\n") == 1
    assert run("synthesize", "--like", "nothing", "-o", tmp_path / "made").code == 2
    assert not [*tmp_path.iterdir()]


def test_json_describes_the_release_that_was_written(run, tmp_path):
    sizes = ("--records", 60, "--items", 20, "--entries", 200, "--seed", 5, "--json")
    output = json.loads(run("synthesize", "--like", "flat", *sizes, "-o", tmp_path / "made").out)
    release = so.open(tmp_path / "made")
    assert release.fingerprint == output["fingerprint"] and "calibration" not in output
    assert (output["like"], output["seed"], output["output"]) == ("flat", 5, str(tmp_path / "made"))
    assert (output["records"], output["items"], output["entries"]) == (60, 20, 200)
    same = so.synthesize(like="flat", records=60, items=20, entries=200, seed=5)
    assert release.fingerprint == same.fingerprint


@pytest.mark.large
def test_check_prints_the_calibration(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command = ("synthesize", "--like", "netflix", "--records", 1_000, "--seed", 3, "--check", "--nearest", 40)
    release = so.synthesize(like="netflix", records=1_000, seed=3)
    calibration = so.calibration(release, nearest=40, seed=3)
    outcome = run(*command)
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line.split() for line in outcome.out.splitlines()]
    assert str(calibration) in outcome.out
    assert f"not written: {release.n_entries:,} entries of 1,000 records" in outcome.out
    for row in calibration.statistics:
        assert any(line[:-4] == row.statistic.split() and line[-1] == row.verdict for line in lines)
    assert "…" not in outcome.out and all(len(line) <= 80 for line in outcome.out.splitlines())
    output = json.loads(run(*command, "--json", "-o", tmp_path / "made.index").out)
    assert output["calibration"] == calibration.table.to_dicts()
    assert output["fingerprint"] == release.fingerprint == so.open(tmp_path / "made.index").fingerprint
