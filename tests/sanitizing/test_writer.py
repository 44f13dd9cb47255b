"""Sanitized outputs as files: whole or not there, with their sidecar, without old ids, and back again."""

import json
import signal
import stat
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import standout as so
from conftest import content
from standout.sanitizing.sidecar import sidecar_path

pytestmark = pytest.mark.once
NAMES = ["safer.csv", "safer.parquet", "safer.index", "safer"]
STEPS = [
    "round-time month",
    "drop-rare-items 3",
    "perturb-value 1 0.5",
    "round-value bins 2",
    "round-value liked 3",
]
TIMEOUT = 120


@pytest.fixture(scope="module")
def release():
    """Records with ids that would be noticed anywhere."""
    made = so.synthesize(records=60, items=30, entries=700, seed=3)
    frame = made.to_frame().with_columns(record=pl.lit("zq") + pl.col("record").str.zfill(5) + pl.lit("#x"))
    return so.read(frame)


def assert_same(one, other):
    assert one.fingerprint == other.fingerprint
    assert one.step_reports == other.step_reports
    assert one.renumbered == other.renumbered
    assert np.array_equal(one.mapping.representatives, other.mapping.representatives)
    assert np.array_equal(one.mapping.item_codes, other.mapping.item_codes)
    assert one.mapping.released_values == other.mapping.released_values
    assert one.mapping.rounding_periods == other.mapping.rounding_periods


def written(folder):
    """Every byte of every file."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("renumber", [False, True])
def test_what_is_written_is_opened_with_the_same_terms(release, tmp_path, name, renumber):
    made = so.sanitize(release, *STEPS, seed=5, renumber=renumber)
    told = so.write_sanitized(made, tmp_path / name, key=tmp_path / "key.csv")
    assert told == tmp_path / f"{name}.sanitized.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, told.name, "key.csv"])
    assert_same(so.open_sanitized(tmp_path / name, release, tmp_path / "key.csv"), made)
    if renumber:
        with pytest.raises(so.ParameterError, match="has new ids"):
            so.open_sanitized(tmp_path / name, release)
    else:
        assert_same(so.open_sanitized(tmp_path / name, release), made)


@pytest.mark.parametrize(
    "steps",
    [
        [], ["round-time none", "round-value none"], ["randomized-response 2 items"], ["cluster-records 4"],
        ["perturb-time 14"], ["drop-entries 0.5", "sample-records 20", "cap-records 5"], ["km-suppress 3 2"],
        ["round-value bins 3", "randomized-response 1", "round-value edges 2.5 3.5"], ["drop-items 1 2"],
        ["round-time week", "perturb-time 7", "round-time quarter"],
    ],
    ids=" · ".join,
)  # fmt: skip
def test_every_step_comes_back(release, tmp_path, steps):
    made = so.sanitize(release, *steps, seed=2, renumber=True)
    so.write_sanitized(made, tmp_path / "safer.csv", key=tmp_path / "key.csv")
    assert_same(so.open_sanitized(tmp_path / "safer.csv", release, tmp_path / "key.csv"), made)


def test_categories_and_minutes_come_back(tmp_path):
    frame = pl.DataFrame(
        {
            "record": ["a", "a", "b", "c"],
            "item": ["x,1", "y", 'q"', "y"],
            "value": ["1", "02", None, "2"],
            "time": ["2005-03-31 23:30", None, "2005-04-01 00:10", "2005-04-02 10:00"],
        }
    )
    release = so.read(frame, value_type="text", time_unit="minute", zone="Europe/Berlin")
    for name in NAMES:
        made = so.sanitize(release, "perturb-time 0.5", "perturb-value none 0.5", seed=1)
        so.write_sanitized(made, tmp_path / name)
        again = so.open_sanitized(tmp_path / name, release)
        assert_same(again, made)
        assert again.clock == made.clock


def test_a_chain_of_outputs_comes_back_to_the_first_original(release, tmp_path):
    first = so.sanitize(release, "drop-rare-items 3", seed=1, renumber=True)
    second = so.sanitize(first, "round-value bins 2", "cluster-records 3", seed=1, renumber=True)
    so.write_sanitized(second, tmp_path / "safer.csv", key=tmp_path / "key.csv")
    again = so.open_sanitized(tmp_path / "safer.csv", release, tmp_path / "key.csv")
    assert_same(again, second)
    third = so.sanitize(again, "round-time year", seed=1)
    assert_same(third, so.sanitize(second, "round-time year", seed=1))


def test_one_record_for_several_needs_its_key(release, tmp_path):
    made = so.sanitize(release, "cluster-records 4")
    so.write_sanitized(made, tmp_path / "safer.csv")
    with pytest.raises(so.ParameterError, match="one record for several"):
        so.open_sanitized(tmp_path / "safer.csv", release)


@pytest.mark.parametrize(
    ("otherwise", "words"),
    [
        ({"value": False}, "values"), ({"time": False}, "times"), ({"zone": "America/Los_Angeles"}, "times"),
        ({"value_type": "text"}, "values"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", ["drop-rare-items 3", "round-time month", "round-value bins 2"])
def test_an_original_that_is_read_otherwise_is_refused(release, tmp_path, otherwise, words, step):
    """What is known of people would be lost, and they would seem safer than they are."""
    frame = release.to_frame()
    named = {"record": "record", "item": "item", "value": "value", "time": "time"}
    so.write_sanitized(so.sanitize(so.read(frame, **named), step), tmp_path / "safer.csv")
    with pytest.raises(so.SourceError, match=f"has {words} that the original lacks"):
        so.open_sanitized(tmp_path / "safer.csv", so.read(frame, **named | otherwise))
    without = "round-value none" if words == "values" else "round-time none"
    so.write_sanitized(so.sanitize(so.read(frame, **named), without), tmp_path / "bare.csv")
    so.open_sanitized(tmp_path / "bare.csv", so.read(frame, **named | otherwise))


def test_titles_of_the_original_are_there_again(put, tmp_path):
    release = so.read(
        put("record,item\na,1\na,2\nb,2\nb,3\n"), titles=put("item,title\n1,A\n2,B\n3,C\n", "titles.csv")
    )
    made = so.sanitize(release, "drop-items 1")
    for name in NAMES:
        so.write_sanitized(made, tmp_path / name)
        assert list(so.open_sanitized(tmp_path / name, release).titles) == ["B", "C"]


# ----------------------------------------------------------------- what must not be in it


@pytest.mark.parametrize("name", NAMES)
def test_old_ids_are_in_no_byte_of_the_output_when_ids_are_new(release, tmp_path, name):
    folder = tmp_path / "out"
    folder.mkdir()
    seed = 987654321987654321
    made = so.sanitize(release, "round-time month", "cluster-records 3", seed=seed, renumber=True)
    so.write_sanitized(made, folder / name, key=tmp_path / "key.csv")
    content = written(folder)
    assert b"zq" not in content
    assert b"#x" not in content
    assert str(seed).encode() not in content
    assert release.fingerprint.encode() not in content
    assert b"the original's ids are not in it" in content
    key = (tmp_path / "key.csv").read_text()
    assert all(one in key for one in release.records)
    if name == "safer.parquet":
        assert not any("zq" in one for one in pl.read_parquet(folder / name)["record"])


def test_ids_that_were_kept_are_said_to_be(release, tmp_path):
    so.write_sanitized(so.sanitize(release, "round-time month"), tmp_path / "safer.csv")
    assert "records have the original's ids" in sidecar_path(tmp_path / "safer.csv").read_text()


def test_the_index_does_not_say_where_the_original_lies(tmp_path):
    path = tmp_path / "secret-place.csv"
    so.synthesize(records=9, items=5, entries=20, seed=1).to_frame().write_csv(path)
    made = so.sanitize(so.read(path), "round-time month", seed=1)
    so.write_sanitized(made, tmp_path / "safer.index")
    assert (
        b"secret-place"
        not in written(tmp_path / "safer.index") + sidecar_path(tmp_path / "safer.index").read_bytes()
    )


def test_the_key_is_its_owners_alone(release, tmp_path):
    made = so.sanitize(release, "sample-records 10", renumber=True, seed=4)
    so.write_sanitized(made, tmp_path / "safer.csv", key=tmp_path / "key.csv")
    assert stat.S_IMODE((tmp_path / "key.csv").stat().st_mode) == 0o600
    rows = [line.split(",") for line in (tmp_path / "key.csv").read_text().splitlines()]
    assert rows[0] == ["record", "released"]
    assert len(rows) == 11
    old, new = content(release), content(made)
    for record, released in rows[1:]:
        assert {cell[1]: e for cell, e in old.items() if cell[0] == record} == {
            cell[1]: e for cell, e in new.items() if cell[0] == released
        }


# ----------------------------------------------------------------- what does not belong together


def test_another_original_another_key_and_a_changed_output_are_noticed(release, tmp_path):
    out = tmp_path / "safer.csv"
    made = so.sanitize(release, "round-time month", seed=1, renumber=True)
    so.write_sanitized(made, out, key=tmp_path / "key.csv")
    other = so.sanitize(release, "round-time month", seed=2, renumber=True)
    so.write_sanitized(other, tmp_path / "other.csv", key=tmp_path / "other-key.csv")
    with pytest.raises(
        so.SourceError, match="not made from this original, or the key belongs to another output"
    ):
        so.open_sanitized(out, release, tmp_path / "other-key.csv")
    smaller = so.sanitize(release, "drop-top-items 1")
    with pytest.raises(so.SourceError, match="not made from this original"):
        so.open_sanitized(out, smaller, tmp_path / "key.csv")
    moved = release.to_frame().with_columns(
        record=pl.col("record").replace({"zq00001#x": "zq00002#x", "zq00002#x": "zq00001#x"})
    )
    with pytest.raises(so.SourceError, match="not made from this original"):
        so.open_sanitized(out, so.read(moved), tmp_path / "key.csv")
    out.write_text(out.read_text().replace("-01-01", "-02-01"))
    with pytest.raises(so.SourceError, match="does not match its sidecar"):
        so.open_sanitized(out, release, tmp_path / "key.csv")


DAMAGED = [
    "", "record\na\n", "record,released\na\n", "record,released\nnobody,1\n", 'record,released\n"a,1\n',
    "record,released\n", "record,released\nzq00001#x,999\n", "record,released\nzq00001#x,1\nzq00001#x,2\n",
]  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_key_is_an_error_that_names_nobody(release, tmp_path, text):
    so.write_sanitized(so.sanitize(release, renumber=True), tmp_path / "safer.csv")
    (tmp_path / "key.csv").write_text(text)
    with pytest.raises(so.SourceError) as caught:
        so.open_sanitized(tmp_path / "safer.csv", release, tmp_path / "key.csv")
    assert "zq" not in str(caught.value)
    assert "nobody" not in str(caught.value)


BAD_BINS = {"step": "round-value bins 2", "counts": {}, "bins": {"edges": [1], "tells": [1]}}
CHANGES = [
    {"version": 9}, {"format": "x"}, {"done": [{"step": 3}]}, {"renumbered": 1}, {"original": {}},
    {"done": [BAD_BINS]}, {"done": [{"step": "unheard-of", "counts": {}}]}, {"value": 3},
]  # fmt: skip


@pytest.mark.parametrize("change", ["{", "[]", "null", *CHANGES], ids=str)
def test_a_damaged_sidecar_is_an_error_of_ours(release, tmp_path, change):
    told = so.write_sanitized(so.sanitize(release), tmp_path / "safer.csv")
    whole = json.loads(told.read_text())
    told.write_text(change if isinstance(change, str) else json.dumps(whole | change))
    with pytest.raises(so.StandoutError):
        so.open_sanitized(tmp_path / "safer.csv", release)
    told.unlink()
    with pytest.raises(so.SourceError, match="cannot be read"):
        so.open_sanitized(tmp_path / "safer.csv", release)


# ----------------------------------------------------------------- whole or not there


@pytest.mark.parametrize("name", NAMES)
def test_what_is_there_is_replaced_by_force_only(release, tmp_path, name):
    out = tmp_path / name
    first, second = (so.sanitize(release, words) for words in ("round-time month", "round-time year"))
    so.write_sanitized(first, out)
    with pytest.raises(so.ParameterError, match="exists already"):
        so.write_sanitized(second, out)
    assert_same(so.open_sanitized(out, release), first)
    so.write_sanitized(second, out, force=True)
    assert_same(so.open_sanitized(out, release), second)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, f"{name}.sanitized.json"])


def test_places_that_cannot_be_are_refused(release, tmp_path):
    made = so.sanitize(release)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    (tmp_path / "plain").write_text("mine")
    refused = [
        {"path": tmp_path / "mine", "force": True}, {"path": tmp_path / "plain", "force": True},
        {"path": tmp_path / "nowhere" / "safer.csv"}, {"path": tmp_path / "a.csv", "key": tmp_path / "a.csv"},
        {"path": tmp_path / "a.csv", "key": tmp_path / "a.csv.sanitized.json"},
        {"path": tmp_path / "a.csv", "key": tmp_path / "plain"},
        {"path": tmp_path / "a.csv", "key": tmp_path / "mine", "force": True},
        {"path": "."}, {"path": "/"}, {"path": tmp_path / ("x" * 300 + ".csv")},
        {"path": tmp_path / "nul\0.csv"}, {"path": tmp_path / "a.csv", "key": tmp_path / ("x" * 300)},
    ]  # fmt: skip
    for places in refused:
        with pytest.raises(so.ParameterError):
            so.write_sanitized(made, **places)
    with pytest.raises(so.ParameterError, match=r"standout\.sanitize"):
        so.write_sanitized(release, tmp_path / "a.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "plain"}


def test_a_key_in_the_output_would_go_with_the_old_one(release, tmp_path):
    made = so.sanitize(release, renumber=True)
    so.write_sanitized(made, tmp_path / "safer")
    with pytest.raises(so.ParameterError, match="is inside the output"):
        so.write_sanitized(made, tmp_path / "safer", key=tmp_path / "safer" / "key.csv", force=True)
    assert_same(so.open_sanitized(tmp_path / "safer", release, _key(made, tmp_path)), made)


def _key(made, folder):
    so.write_sanitized(made, folder / "again.csv", key=folder / "key.csv")
    return folder / "key.csv"


def test_what_is_no_sidecar_is_replaced_by_force_only(release, tmp_path):
    made, told = so.sanitize(release, "round-time month"), tmp_path / "safer.csv.sanitized.json"
    told.write_text("mine")
    with pytest.raises(so.ParameterError, match="not a sidecar"):
        so.write_sanitized(made, tmp_path / "safer.csv")
    assert told.read_text() == "mine"
    so.write_sanitized(made, tmp_path / "safer.csv", force=True)
    (tmp_path / "safer.csv").unlink()  # as a killed run leaves it
    so.write_sanitized(made, tmp_path / "safer.csv")
    (tmp_path / "other.csv.sanitized.json").mkdir()
    with pytest.raises(so.ParameterError, match="not a sidecar"):
        so.write_sanitized(made, tmp_path / "other.csv", force=True)


KILLED = """
import os, signal, sys
import standout as so
import standout.sanitizing.writer as write
out, moment = sys.argv[1:]
release = so.synthesize(records=60, items=30, entries=700, seed=3)
made = so.sanitize(release, "round-time year", seed=1)
def die(*args, **more): os.kill(os.getpid(), signal.SIGKILL)
def dying(function):
    def run(*args, **more):
        function(*args, **more)
        die()
    return run
if moment == "writing":
    import standout.release.export as export, standout.release.index_writer as building
    export._write_csv = building._write_column = die
elif moment == "written":
    write.write_table, write.save = dying(write.write_table), dying(write.save)
elif moment == "moved":
    write.write_atomically = die
elif moment == "told":
    write.write_atomically = dying(write.write_atomically)
so.write_sanitized(made, out, force=True)
"""


@pytest.mark.parametrize("name", ["safer.csv", "safer.index"])
@pytest.mark.parametrize("moment", ["writing", "written", "moved", "told"])
@pytest.mark.parametrize("there", [False, True])
def test_whenever_it_is_killed_an_output_is_whole_and_has_its_own_sidecar(tmp_path, name, moment, there):
    out = tmp_path / name
    release = so.synthesize(records=60, items=30, entries=700, seed=3)
    if there:
        so.write_sanitized(so.sanitize(release, "round-time month", seed=1), out)
    command = [sys.executable, "-c", KILLED, str(out), moment]
    done = subprocess.run(command, timeout=TIMEOUT, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert out.exists() == (there and moment in ("writing", "written"))
    if out.exists():
        assert so.open_sanitized(out, release).step_reports[0].step == "round-time month"
    so.write_sanitized(so.sanitize(release, "round-time week", seed=1), out, force=True)
    assert so.open_sanitized(out, release).step_reports[0].step == "round-time week"
    assert {path.name for path in tmp_path.iterdir()} == {name, f"{name}.sanitized.json"}


KEYED = """
import os, signal, sys
import standout as so
import standout.sanitizing.writer as write
def die(*args): wrote(*args), os.kill(os.getpid(), signal.SIGKILL)
wrote, write.write_key = write.write_key, die
release = so.synthesize(records=60, items=30, entries=700, seed=3)
so.write_sanitized(so.sanitize(release, renumber=True), sys.argv[1], key=sys.argv[2], force=True)
"""


def test_no_output_has_the_key_of_another_when_it_is_killed(tmp_path):
    out, key = tmp_path / "safer.csv", tmp_path / "key.csv"
    release = so.synthesize(records=60, items=30, entries=700, seed=3)
    so.write_sanitized(so.sanitize(release, renumber=True), out, key=key)
    before = key.read_bytes()
    command = [sys.executable, "-c", KEYED, str(out), str(key)]
    assert subprocess.run(command, timeout=TIMEOUT, check=False).returncode == -signal.SIGKILL
    assert key.read_bytes() != before
    assert not out.exists()


def test_an_output_that_cannot_be_told_of_stays_as_it_was(release, tmp_path, monkeypatch):
    out = tmp_path / "safer.csv"
    first = so.sanitize(release, "round-time month")
    so.write_sanitized(first, out)

    def full(*args, **more):
        raise so.StandoutError("no space")

    monkeypatch.setattr("standout.sanitizing.writer.write_atomically", full)
    with pytest.raises(so.StandoutError, match="no space"):
        so.write_sanitized(so.sanitize(release, "round-time year"), out, force=True)
    assert_same(so.open_sanitized(out, release), first)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["safer.csv", "safer.csv.sanitized.json"]


# ----------------------------------------------------------------- the command


@pytest.fixture
def source(release, tmp_path):
    path = tmp_path / "data.csv"
    release.to_frame().write_csv(path)
    return path


def test_the_command_writes_and_says_what_each_step_did(run, release, source, tmp_path):
    out, key = tmp_path / "safer.parquet", tmp_path / "key.csv"
    steps = ["--step", "round-time month", "--step", "drop-rare-items 10", "--step", "perturb-value 1 0.5"]
    done = run("sanitize", source, "-o", out, *steps, "--renumber", "--key", key, "--seed", 7)
    assert done.code == 0, done.err
    assert all(step in done.out for step in steps[1::2])
    assert "values changed" in done.out
    made = so.sanitize(release, *steps[1::2], seed=7, renumber=True)
    assert_same(so.open_sanitized(out, release, key), made)
    assert "7" not in {token.strip(".,:") for token in done.out.split()}


def test_the_command_tells_machines_and_never_the_seed(run, source, tmp_path):
    args = ["sanitize", source, "--step", "drop-entries 0.5", "--json"]
    first, second = (run(*args, "-o", tmp_path / f"{n}.index") for n in "ab")
    told, other = json.loads(first.out), json.loads(second.out)
    assert "seed" not in first.out
    assert told["fingerprint"] != other["fingerprint"], "the seed is drawn anew each time"
    assert told["fingerprint"] == so.open(tmp_path / "a.index").fingerprint
    assert told["steps"][0]["step"] == "drop-entries 0.5"
    assert told["steps"][0]["counts"]["entries"] == told["entries"]
    assert told["renumbered"] is False
    assert told["key"] is None


def test_the_command_refuses_before_it_works(run, source, tmp_path):
    out = tmp_path / "safer.csv"
    for args, why in (
        ([], "--step is missing"),
        (["--step", "round-tme month"], "there is no step 'round-tme'"),
        (["--step", "sample-records 9999"], "would keep 9,999 of 60 records"),
        (["--step", "round-time month", "--key", out], "must be different files"),
    ):
        done = run("sanitize", source, "-o", out, *args)
        assert done.code == 1
        assert why in done.err
        assert done.err.count("\n") == 1
        assert not out.exists()
    assert run("sanitize", source, "-o", out, "--step", "round-time month").code == 0
    again = run("sanitize", source, "-o", out, "--step", "round-time month")
    assert again.code == 1
    assert "exists already" in again.err
    assert run("sanitize", source, "-o", out, "--step", "round-time month", "--force").code == 0


def test_the_command_lists_all_steps(run):
    done = run("sanitize", "--list-steps")
    assert done.code == 0
    assert done.out.count("\n") == 26
    assert "round-time day | week | month | quarter | year | DAYS days | none" in done.out


@pytest.mark.realdata
def test_real_ratings_go_there_and_back(realdata, run, tmp_path):
    source, out, key = realdata / "movielens-latest-small", tmp_path / "safer.csv", tmp_path / "key.csv"
    steps = ["--step", "round-time quarter", "--step", "round-value bins 3", "--step", "cluster-records 5"]
    done = run("sanitize", source, "-o", out, *steps, "--renumber", "--key", key, "--seed", 3)
    assert done.code == 0, done.err
    release = so.read(source)
    assert_same(
        so.open_sanitized(out, release, key), so.sanitize(release, *steps[1::2], seed=3, renumber=True)
    )


@pytest.mark.once
def test_the_original_is_never_written_over(run, tmp_path):
    data, key = tmp_path / "data.csv", tmp_path / "key.csv"
    so.synthesize(records=20, items=10, entries=80, seed=1).to_frame().write_csv(data)
    before = data.read_bytes()
    for places in (("-o", data), ("-o", tmp_path / "x.csv", "--key", data), ("-o", tmp_path)):
        told = run("sanitize", data, *places, "--step", "drop-entries 0.5", "--force")
        assert told.code == 1 and "where the original is" in told.err and told.err.count("\n") == 1
    assert data.read_bytes() == before and not key.exists()
    assert {file.name for file in tmp_path.iterdir()} == {"data.csv"}
