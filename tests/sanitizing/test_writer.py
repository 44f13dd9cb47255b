"""Outputs as files: complete or absent, and without anything that must stay private."""

import signal
import subprocess
import sys

import polars as pl
import pytest
from sanitizing_data import assert_same

import standout as so
from standout.core.files import sweep
from standout.sanitizing.files import sidecar_path, write_sanitized

pytestmark = pytest.mark.once
NAMES = ["safer.csv", "safer.parquet", "safer.index", "safer"]
TIMEOUT = 120


def all_bytes(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# ----------------------------------------------------------------- what must stay private


@pytest.mark.parametrize("name", NAMES)
def test_old_ids_and_the_seed_occur_nowhere_when_ids_are_new(named_release, tmp_path, name):
    folder, key, seed = tmp_path / "out", tmp_path / "key.csv", 987654321987654321
    folder.mkdir()
    safer = so.sanitize(named_release, "round-time month", "cluster-records 3", seed=seed, renumber=True)
    write_sanitized(safer, folder / name, key=key)
    written = all_bytes(folder)
    for secret in (b"zq", b"#x", str(seed).encode(), named_release.fingerprint.encode()):
        assert secret not in written
    assert b"the original's ids are not in it" in written
    assert all(record in key.read_text() for record in named_release.records)
    if name == "safer.parquet":
        assert not any("zq" in record for record in pl.read_parquet(folder / name)["record"])


def test_the_index_does_not_say_where_the_original_is(tmp_path):
    path, out = tmp_path / "secret-place.csv", tmp_path / "safer.index"
    so.synthesize(records=9, items=5, entries=20, seed=1).to_frame().write_csv(path)
    write_sanitized(so.sanitize(so.read(path), "round-time month", seed=1), out)
    assert b"secret-place" not in all_bytes(out) + sidecar_path(out).read_bytes()


# ----------------------------------------------------------------- overwriting


@pytest.mark.parametrize("name", NAMES)
def test_an_output_is_overwritten_with_force_only(named_release, tmp_path, name):
    out = tmp_path / name
    first, second = (so.sanitize(named_release, words) for words in ("round-time month", "round-time year"))
    write_sanitized(first, out)
    with pytest.raises(so.ParameterError, match="exists already"):
        write_sanitized(second, out)
    assert_same(so.open_sanitized(out, named_release), first)
    write_sanitized(second, out, force=True)
    assert_same(so.open_sanitized(out, named_release), second)
    assert {path.name for path in tmp_path.iterdir()} == {name, f"{name}.sanitized.json"}


def test_paths_that_cannot_be_written_are_refused(named_release, tmp_path):
    safer = so.sanitize(named_release)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    (tmp_path / "plain").write_text("mine")
    out, long = tmp_path / "a.csv", "x" * 300
    refused = [
        {"path": tmp_path / "mine", "force": True},
        {"path": tmp_path / "plain", "force": True},
        {"path": tmp_path / "nowhere" / "safer.csv"},
        {"path": out, "key": out},
        {"path": out, "key": tmp_path / "a.csv.sanitized.json"},
        {"path": out, "key": tmp_path / "plain"},
        {"path": out, "key": tmp_path / "mine", "force": True},
        {"path": out, "key": tmp_path / long},
        {"path": "."},
        {"path": "/"},
        {"path": tmp_path / f"{long}.csv"},
        {"path": tmp_path / "nul\0.csv"},
    ]
    for paths in refused:
        with pytest.raises(so.ParameterError):
            write_sanitized(safer, **paths)
    with pytest.raises(so.ParameterError, match=r"standout\.sanitize"):
        write_sanitized(named_release, out)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "plain"}


def test_a_key_inside_the_output_is_refused(named_release, tmp_path):
    """It would be removed together with the old output."""
    safer, out, key = so.sanitize(named_release, renumber=True), tmp_path / "safer", tmp_path / "key.csv"
    write_sanitized(safer, out)
    with pytest.raises(so.ParameterError, match="is inside the output"):
        write_sanitized(safer, out, key=out / "key.csv", force=True)
    write_sanitized(safer, tmp_path / "again.csv", key=key)
    assert_same(so.open_sanitized(out, named_release, key), safer)


def test_a_file_that_is_not_a_sidecar_is_overwritten_with_force_only(named_release, tmp_path):
    out = tmp_path / "safer.csv"
    safer, sidecar = so.sanitize(named_release, "round-time month"), sidecar_path(out)
    sidecar.write_text("mine")
    with pytest.raises(so.ParameterError, match="force is needed"):
        write_sanitized(safer, out)
    assert sidecar.read_text() == "mine"
    write_sanitized(safer, out, force=True)
    (tmp_path / "other.csv.sanitized.json").mkdir()
    with pytest.raises(so.ParameterError, match=r"other\.csv\.sanitized\.json"):
        write_sanitized(safer, tmp_path / "other.csv", force=True)


# ----------------------------------------------------------------- complete or absent

KILLED = """
import os, signal, sys
import standout as so
import standout.sanitizing.files as writer
from standout.sanitizing.files import write_sanitized
out, moment = sys.argv[1:]
release = so.synthesize(records=60, items=30, entries=700, seed=3)
safer = so.sanitize(release, "round-time year", seed=1)
def die(*args, **more): os.kill(os.getpid(), signal.SIGKILL)
def then_die(function):
    def run(*args, **more):
        function(*args, **more)
        die()
    return run
if moment == "while writing":
    import standout.data.export as export, standout.data.store as store
    export.to_frame = store.array_bytes = die
elif moment == "after writing":
    writer.write_table, writer.save = then_die(writer.write_table), then_die(writer.save)
elif moment == "before publishing":
    writer.publish = die
elif moment == "while publishing":
    from pathlib import Path
    publish = writer.publish
    def kill_in_publish(parts):  # saving an index renames as well
        Path.rename = then_die(Path.rename)
        publish(parts)
    writer.publish = kill_in_publish
write_sanitized(safer, out, force=True)
"""
MOMENTS = ["while writing", "after writing", "before publishing", "while publishing"]


def check_killed_run(folder, name, moment, exists):
    """Kill a run at this moment: an output that exists is complete, and the next run succeeds."""
    out = folder / name
    release = so.synthesize(records=60, items=30, entries=700, seed=3)
    if exists:
        write_sanitized(so.sanitize(release, "round-time month", seed=1), out)
    command = [sys.executable, "-c", KILLED, str(out), moment]
    process = subprocess.run(command, timeout=TIMEOUT, check=False, capture_output=True)
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    assert out.exists() == (exists and moment != "while publishing")
    sweep(folder)
    assert out.exists() == exists
    assert sidecar_path(out).exists() == exists
    if exists:
        assert so.open_sanitized(out, release).step_reports[0].step == "round-time month"
    write_sanitized(so.sanitize(release, "round-time week", seed=1), out, force=exists)
    assert so.open_sanitized(out, release).step_reports[0].step == "round-time week"
    assert {path.name for path in folder.iterdir()} == {name, f"{name}.sanitized.json"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_output_is_complete_or_absent_when_a_run_is_killed(tmp_path, moment):
    check_killed_run(tmp_path, "safer.index" if moment == "after writing" else "safer.csv", moment, exists=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["safer.csv", "safer.index"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("exists", [False, True])
def test_every_output_is_complete_or_absent_when_a_run_is_killed(tmp_path, name, moment, exists):
    check_killed_run(tmp_path, name, moment, exists)


KILLED_AFTER_KEY = """
import os, signal, sys
import standout as so
from pathlib import Path
from standout.sanitizing.files import write_sanitized
def die(old, new):
    rename(old, new)
    if str(new) == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
release = so.synthesize(records=60, items=30, entries=700, seed=3)
safer = so.sanitize(release, renumber=True)
rename, Path.rename = Path.rename, die
write_sanitized(safer, sys.argv[1], key=sys.argv[2], force=sys.argv[3] == "force")
"""


@pytest.mark.parametrize("exists", [False, True])
def test_no_output_has_the_key_of_another_when_a_run_is_killed(tmp_path, exists):
    out, key = tmp_path / "safer.csv", tmp_path / "private" / "key.csv"
    key.parent.mkdir()
    release = so.synthesize(records=60, items=30, entries=700, seed=3)
    if exists:
        write_sanitized(so.sanitize(release, renumber=True), out, key=key)
    before = key.read_bytes() if exists else b""
    command = [sys.executable, "-c", KILLED_AFTER_KEY, str(out), str(key), "force" if exists else ""]
    assert subprocess.run(command, timeout=TIMEOUT, check=False).returncode == -signal.SIGKILL
    assert not out.exists()
    assert key.exists()
    assert key.read_bytes() != before
    sweep(key.parent)  # both folders become what they were, whichever is used first
    assert key.exists() == out.exists() == exists
    safer = so.sanitize(release, renumber=True)
    write_sanitized(safer, out, key=key, force=exists)
    assert_same(so.open_sanitized(out, release, key), safer)
    assert {path.name for path in tmp_path.iterdir()} == {out.name, sidecar_path(out).name, "private"}
    assert [path.name for path in key.parent.iterdir()] == ["key.csv"]


@pytest.mark.parametrize("name", ["safer.csv", "safer"])
def test_files_of_the_user_with_similar_names_stay(named_release, tmp_path, name):
    out = tmp_path / name
    stem, suffix = out.stem, out.suffix
    mine = [f".{stem}.old{suffix}", f".{stem}.new{suffix}", f".{name}.new", ".standout-notes.part"]
    for file in mine:
        (tmp_path / file).write_text("mine")
    for force in (False, True):
        write_sanitized(so.sanitize(named_release), out, force=force)
    assert all((tmp_path / file).read_text() == "mine" for file in mine)


def test_an_output_stays_as_it_was_when_its_sidecar_cannot_be_written(named_release, tmp_path, monkeypatch):
    out = tmp_path / "safer.csv"
    first = so.sanitize(named_release, "round-time month")
    write_sanitized(first, out)

    def disk_full(*args, **more):
        raise so.StandoutError("no space")

    monkeypatch.setattr("standout.sanitizing.files.write_atomically", disk_full)
    with pytest.raises(so.StandoutError, match="no space"):
        write_sanitized(so.sanitize(named_release, "round-time year"), out, force=True)
    assert_same(so.open_sanitized(out, named_release), first)
    assert {path.name for path in tmp_path.iterdir()} == {"safer.csv", "safer.csv.sanitized.json"}
