"""The index on disk: what was written comes back, or it is said why not; a build is whole or not there."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import polars as pl
import pytest

import standout as so
from standout.core import exchange
from standout.release.flat_arrays import release_columns
from standout.release.index_writer import open_index_writer
from standout.release.labels import Labels
from standout.release.model import code_type
from standout.release.postings import word_bits, word_type

TIMEOUT = 120


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=40, items=30, entries=300, seed=1)


@pytest.fixture(scope="module")
def other():
    return so.synthesize(records=50, items=20, entries=200, seed=2)


@pytest.fixture
def index(release, tmp_path):
    so.save(release, tmp_path / "index")
    return tmp_path / "index"


def content(release):
    return {name: (array.dtype.str, array.tobytes()) for name, array in release_columns(release).items()}


def damaged(path):
    return [file for file, whole in so.verify(path) if not whole]


def check_holds(path, release):
    """The path opens as this release, is whole, and nothing else lies beside it."""
    assert so.open(path).fingerprint == release.fingerprint
    assert content(so.open(path)) == content(release)
    assert damaged(path) == []
    check_alone(path)


def check_alone(path):
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def edited(path, change):
    """Writes the manifest anew, changed, with a checksum that fits."""
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    rest = {key: part for key, part in manifest.items() if key != "checksum"}
    manifest["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (path / "manifest.json").write_text(json.dumps(manifest))


def odd_releases():
    day = pl.Series([None, 12_000, 13_000], dtype=pl.Int32).cast(pl.Date)
    bare = {"user": ["007", "7", "🙂"], "item": ["a|b", " ", "é"]}
    yield "neither", so.read(pl.DataFrame(bare))
    yield "categories", so.read(pl.DataFrame({**bare, "value": ["good", None, "ünïque"]}))
    yield "numbers", so.read(pl.DataFrame({**bare, "value": [0.5, None, -2.0]}))
    yield "times", so.read(pl.DataFrame({**bare, "time": day}))
    yield (
        "all missing",
        so.read(pl.DataFrame({**bare, "value": [None] * 3, "time": day}).with_columns(time=None), time=False),
    )
    titled = so.read(pl.DataFrame(bare))
    yield "titles", replace(titled, titles=Labels.of(["Brazil", "", "Amélie"]))


@pytest.mark.parametrize("kind", ["neither", "categories", "numbers", "times", "all missing", "titles"])
def test_an_index_holds_what_the_release_holds(kind, tmp_path):
    release = dict(odd_releases())[kind]
    so.save(release, tmp_path / "index")
    again = so.open(tmp_path / "index")
    check_holds(tmp_path / "index", release)
    assert again.provenance == release.provenance and again.clock == release.clock
    assert [again.record_at(i) for i in range(3)] == [release.record_at(i) for i in range(3)]
    assert again.to_frame().equals(release.to_frame())
    assert (again.titles and list(again.titles)) == (release.titles and list(release.titles))
    assert not any(array.flags.writeable for array in again.by_record if array is not None)
    assert not again.records.data.flags.writeable


@pytest.mark.parametrize("left_over", [False, True])
def test_an_index_is_readable_by_its_owner_only(release, tmp_path, left_over):
    """Whatever the umask, and whatever the modes of the folder that a killed build left."""
    if left_over:
        left = tmp_path / ".index.building"
        left.mkdir()
        (left / "by-record-item.bin").write_bytes(b"x" * 10_000)
        left.chmod(0o755)
        (left / "by-record-item.bin").chmod(0o644)
    before = os.umask(0)
    try:
        so.save(release, tmp_path / "index")
    finally:
        os.umask(before)
    check_holds(tmp_path / "index", release)
    assert (tmp_path / "index").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "index").iterdir()} == {0o600}


def test_an_entry_takes_5_bytes_by_record_and_4_by_item_at_the_size_of_netflix():
    items, levels, days = 17_770, 5, 2_243
    assert sum(code_type(count).itemsize for count in (items, levels + 1, days + 1)) == 5
    assert word_type(*word_bits(levels, days, gaps=True)).itemsize == 4


def test_a_column_file_is_its_array_and_nothing_else(index, release):
    for name, array in release_columns(release).items():
        assert (index / f"{name}.bin").read_bytes() == array.tobytes()


COLUMNS = sorted(release_columns(so.synthesize(records=3, items=3, entries=5, seed=1)))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_flipped_byte_is_found_by_verify_which_names_the_file(index, name):
    file = index / f"{name}.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert f"{name}.bin" in damaged(index)
    assert set(damaged(index)) <= {f"{name}.bin", "manifest.json"}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("change", ["truncated", "longer", "empty", "missing", "a folder"])
def test_a_column_of_another_size_is_named_and_refused(index, name, change):
    file = index / f"{name}.bin"
    data = file.read_bytes()
    file.unlink()
    if change == "a folder":
        file.mkdir()
    elif change != "missing":
        file.write_bytes({"truncated": data[:-1], "longer": data + b"\0", "empty": b""}[change])
    with pytest.raises(so.StoreError, match=rf"damaged: {name}\.bin") as caught:
        so.open(index)
    assert "\n" not in str(caught.value)
    assert f"{name}.bin" in damaged(index)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "damaged: its manifest.json is not JSON"),
        (b"\xff\xfe", "damaged: its manifest.json is not JSON"),
        (b"[" * 100_000, "damaged: its manifest.json is not JSON"),
        (b'{"format": "standout index", "version": 2}', "damaged: its manifest.json"),
        (b'{"format": "standout index", "version": "2"}', "damaged: its manifest.json"),
        (b'{"format": "standout index", "version": true}', "damaged: its manifest.json"),
        (b'{"format": "standout index", "version": 0}', "damaged: its manifest.json"),
        (b'{"format": "standout index"}', "damaged: its manifest.json"),
        (b'{"format": "standout index", "version": 3}', "newer Standout"),
        (b'{"format": "standout index", "version": 1}', "older Standout"),
        (b'{"manifest_version": 3, "name": "an extension"}', "not a Standout index"),
        (b"[1, 2]", "not a Standout index"),
        (b"null", "not a Standout index"),
    ],
)
def test_a_foreign_or_newer_manifest_is_named_and_refused(index, text, message):
    (index / "manifest.json").write_bytes(text)
    for use in (so.open, damaged):
        with pytest.raises(so.StoreError, match=message) as caught:
            use(index)
        assert str(index) in str(caught.value)


def test_a_cut_or_edited_manifest_is_refused(index):
    text = (index / "manifest.json").read_text()
    fingerprint = json.loads(text)["fingerprint"]
    for changed in (
        text[:-20],
        text.replace(fingerprint, "0" * 32),
        text.replace('"entries": 300', '"entries": 299'),
    ):
        assert changed != text
        (index / "manifest.json").write_text(changed)
        with pytest.raises(so.StoreError, match=r"damaged: its manifest\.json"):
            so.open(index)


def test_a_newer_index_is_told_as_such_whatever_else_is_in_it(index):
    edited(index, lambda manifest: manifest.update(version=manifest["version"] + 1, columns="elsewhere"))
    with pytest.raises(so.StoreError, match="newer Standout"):
        so.open(index)


def test_an_older_index_is_told_as_such_and_can_be_written_anew(index, release):
    edited(index, lambda manifest: manifest.update(version=1, columns="elsewhere"))
    for use in (so.open, damaged):
        with pytest.raises(so.StoreError) as caught:
            use(index)
        assert str(caught.value) == (
            f"{index} was written by an older Standout (format 1, this version reads 2): "
            "index the source again"
        )
    so.save(release, index)
    check_holds(index, release)


MENDED = {
    "no columns": lambda manifest: manifest.pop("columns"),
    "columns are a list": lambda manifest: manifest.update(columns=[1]),
    "a column more": lambda manifest: manifest["columns"].update(
        {"by-item-record": manifest["columns"]["by-item-block"]}
    ),
    "a column's entry is a text": lambda manifest: manifest["columns"].update({"by-item-word": "x"}),
    "file elsewhere": lambda manifest: manifest["columns"]["by-item-word"].update(
        file="../index/by-item-word.bin"
    ),
    "absolute file": lambda manifest: manifest["columns"]["by-item-word"].update(file=os.devnull),
    "file is a number": lambda manifest: manifest["columns"]["by-item-word"].update(file=0),
    "object type": lambda manifest: manifest["columns"]["by-item-word"].update(type="object"),
    "unknown type": lambda manifest: manifest["columns"]["by-item-word"].update(type="no such"),
    "signed type": lambda manifest: manifest["columns"]["by-item-word"].update(type="int32"),
    "signed blocks": lambda manifest: manifest["columns"]["by-item-block"].update(type="int8"),
    "runs in half the bytes": lambda manifest: manifest["columns"]["by-item-run"].update(
        type="int32", length=2 * manifest["columns"]["by-item-run"]["length"]
    ),
    "ends in half the bytes": lambda manifest: manifest["columns"]["by-item-end"].update(
        type="uint16", length=2 * manifest["columns"]["by-item-end"]["length"]
    ),
    "words twice as wide": lambda manifest: manifest["columns"]["by-item-word"].update(
        type="uint64", length=manifest["columns"]["by-item-word"]["length"] // 2
    ),
    "no words": lambda manifest: manifest.pop("words"),
    "words are a list": lambda manifest: manifest.update(words=[3, 13]),
    "words with a third part": lambda manifest: manifest["words"].update(record_bits=13),
    "more bits for values": lambda manifest: manifest["words"].update(value_bits=5),
    "fewer bits for values": lambda manifest: manifest["words"].update(value_bits=2),
    "bits in text": lambda manifest: manifest["words"].update(value_bits="3"),
    "bits with a point": lambda manifest: manifest["words"].update(value_bits=3.0),
    "more bits for times": lambda manifest: manifest["words"].update(time_bits=14),
    "no bits for times": lambda manifest: manifest["words"].update(time_bits=0),
    "negative span": lambda manifest: manifest["clock"].update(span=-1),
    "span with a point": lambda manifest: manifest["clock"].update(span=float(manifest["clock"]["span"])),
    "levels without values": lambda manifest: manifest["columns"].pop("by-record-value"),
    "values without levels": lambda manifest: manifest["columns"].pop("levels"),
    "offsets of levels without texts": lambda manifest: manifest["columns"].update(
        {"level-offsets": manifest["columns"].pop("levels") | {"file": "level-offsets.bin", "type": "int64"}}
    ),
    "fractional codes": lambda manifest: manifest["columns"]["by-record-start"].update(type="float64"),
    "wider type": lambda manifest: manifest["columns"]["by-record-item"].update(type="uint64"),
    "size is a text": lambda manifest: manifest["columns"]["by-item-word"].update(bytes="many"),
    "fewer entries": lambda manifest: manifest.update(entries=299),
    "records are a text": lambda manifest: manifest.update(records="40"),
    "more items": lambda manifest: manifest.update(items=31),
    "clock is a list": lambda manifest: manifest.update(clock=[]),
    "clock of weeks": lambda manifest: manifest["clock"].update(unit="week"),
    "clock with a pendulum": lambda manifest: manifest["clock"].update(pendulum=1),
    "clock in text": lambda manifest: manifest["clock"].update(origin="1970"),
    "clock beyond the calendar": lambda manifest: manifest["clock"].update(origin=10**12),
    "no clock": lambda manifest: manifest.update(clock=None),
    "no story": lambda manifest: manifest.update(read=None),
    "another story": lambda manifest: manifest["read"].update(hearsay=1),
    "fingerprint is a number": lambda manifest: manifest.update(fingerprint=1),
    "no checksum of a column": lambda manifest: manifest["columns"]["by-item-word"].pop("sha256"),
}


@pytest.mark.parametrize("change", MENDED)
def test_a_manifest_that_makes_no_sense_is_refused_though_its_checksum_fits(index, change):
    edited(index, MENDED[change])
    with pytest.raises(so.StoreError) as caught:
        so.open(index)
    assert str(index) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in COLUMNS if name.startswith("by-")])
def test_a_manifest_without_a_column_is_refused(index, name):
    edited(index, lambda manifest: manifest["columns"].pop(name))
    with pytest.raises(so.StoreError, match="damaged: ") as caught:
        so.open(index)
    assert str(index) in str(caught.value)


@pytest.mark.parametrize(
    "start", ["by-record-start", "by-item-start", "by-item-run", "record-id-offsets", "item-id-offsets"]
)
def test_offsets_that_do_not_fit_are_named_and_refused(index, release, start):
    array = release_columns(release)[start].copy()
    array[1] = array[-1] + 1
    (index / f"{start}.bin").write_bytes(array.tobytes())
    with pytest.raises(so.StoreError, match=rf"damaged: {start}\.bin"):
        so.open(index)


@pytest.fixture(scope="module")
def wide():
    """A release of two blocks of records, the second with 8 of them; some entries have no time."""
    people = list(map(str, range(8_200)))
    day = pl.Series([None if i % 3 else i % 20 for i in range(8_200)], dtype=pl.Int32).cast(pl.Date)
    item, value = [str(i % 2) for i in range(8_200)], [i % 5 for i in range(8_200)]
    return so.read(pl.DataFrame({"user": people, "item": item, "value": value, "time": day}))


def put(path, name, array):
    (path / f"{name}.bin").write_bytes(array.tobytes())


@pytest.mark.parametrize(
    ("name", "place", "change"),
    [
        ("by-item-start", 1, 1),
        ("by-item-run", 1, 1),
        ("by-item-run", 1, -1),
        ("by-item-block", 0, 1),
        ("by-item-block", 1, 1),
        ("by-item-block", 1, -1),
        ("by-item-block", 3, 200),
        ("by-item-end", 0, 4),
        ("by-item-end", 0, 2**31),
        ("by-item-end", 1, 1),
        ("by-item-end", 3, -1),
    ],
)
def test_runs_that_do_not_fit_are_named_and_refused(wide, tmp_path, name, place, change):
    """Named is the file that is wrong, or one that does not fit it: which one it is, only verify can know."""
    so.save(wide, tmp_path / "index")
    array = release_columns(wide)[name].copy()
    array[place] = int(array[place]) + change
    put(tmp_path / "index", name, array)
    with pytest.raises(
        so.StoreError,
        match=r"damaged: by-item-(run|block|end)\.bin contradicts the other files; run standout verify",
    ) as caught:
        so.open(tmp_path / "index")
    assert name in str(caught.value) or name in ("by-item-start", "by-item-run")
    assert damaged(tmp_path / "index") == [f"{name}.bin"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("by-record-value", "columns have different lengths"),
        ("by-item-word", "columns have different lengths"),
        ("by-item-run", r"by-item-run\.bin contradicts"),
        ("by-item-block", r"by-item-run\.bin contradicts"),
        ("by-item-end", r"by-item-end\.bin contradicts"),
    ],
)
def test_a_shorter_column_is_refused_though_the_manifest_knows_its_length(index, release, name, message):
    array = release_columns(release)[name][:-1]
    put(index, name, array)
    edited(index, lambda manifest: manifest["columns"][name].update(length=len(array), bytes=array.nbytes))
    with pytest.raises(so.StoreError, match=message):
        so.open(index)


def first_of(release, block):
    """The position of the first word of item 0 in a block."""
    return 0 if block == 0 else int(release.by_item.end[block - 1])


WORDS = {
    "a record beyond the last": (1, lambda word, low: word % low + 8 * low),
    "a bit above the place": (0, lambda word, low: word + 8_192 * low),
    "the highest bit": (0, lambda word, low: word | 1 << 31),
    "a kind of neither bank": (0, lambda word, low: 12 << 5),
    "a time beyond the last": (0, lambda word, low: 20),
    "a time where there is none": (0, lambda word, low: (6 << 5) + 1),
}


@pytest.mark.parametrize("change", WORDS)
def test_a_word_that_points_nowhere_is_found_by_what_walks_all_entries(wide, tmp_path, change):
    by_item, (block, changed) = wide.by_item, WORDS[change]
    assert (by_item.value_bits, by_item.time_bits, len(wide.levels), wide.clock.span) == (4, 5, 5, 20)
    so.save(wide, tmp_path / "index")
    so.open(tmp_path / "index").check()
    word, at = by_item.word.copy(), first_of(wide, block)
    word[at] = changed(int(word[at]), 1 << (by_item.value_bits + by_item.time_bits))
    put(tmp_path / "index", "by-item-word", word)
    release = so.open(tmp_path / "index")
    for use in (release.check, release.to_frame, lambda: so.describe(release)):
        with pytest.raises(so.StoreError, match="an entry points nowhere; run standout verify"):
            use()
    assert damaged(tmp_path / "index") == ["by-item-word.bin"]
    assert release.item("1") == wide.item("1")
    if block == 1 or "highest" in change:
        with pytest.raises(so.StoreError, match="an entry points nowhere"):
            release.item("0")


USES = """
import sys
import standout as so

release = so.open(sys.argv[1])
people = range(release.n_records)
uses = {
    "record": lambda: [release.record_at(i) for i in people],
    "item": lambda: [release.item(name) for name in release.items],
    "check": release.check,
    "frame": release.to_frame,
    "describe": lambda: so.describe(release),
}
for name, use in uses.items():
    try:
        use()
    except so.StoreError as error:
        assert "damaged" in str(error), error
    except Exception as error:
        sys.stderr.write(f"{name}: {error!r}; ")
"""


@pytest.mark.parametrize("name", ["by-record-item", "by-record-value", "by-record-time", "by-item-word"])
def test_codes_that_point_nowhere_are_an_error_or_a_gap_but_never_a_crash(index, release, name):
    (index / f"{name}.bin").write_bytes(b"\xff" * release_columns(release)[name].nbytes)
    assert f"{name}.bin" in damaged(index)
    done = run_python(USES, index)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["nothing", "file", "empty folder", "foreign folder"])
def test_what_is_no_index_is_refused_by_name(tmp_path, kind):
    path = tmp_path / "thing"
    if kind == "file":
        path.write_text("data")
    elif kind != "nothing":
        path.mkdir()
        if kind == "foreign folder":
            (path / "notes.txt").write_text("data")
    for use in (so.open, damaged):
        with pytest.raises(so.StoreError, match="is not an index") as caught:
            use(path)
        assert str(path) in str(caught.value)


def tree(path):
    """Everything at a path, names and contents."""
    if path.is_symlink():
        return path.readlink()
    if path.is_file():
        return path.read_bytes()
    return {inside.name: tree(inside) for inside in path.iterdir()}


def foreign_targets(folder):
    (folder / "file").write_text("notes")
    (folder / "folder").mkdir()
    (folder / "folder" / "notes.txt").write_text("notes")
    (folder / "extension").mkdir()
    (folder / "extension" / "manifest.json").write_text('{"manifest_version": 3}')
    (folder / "extension" / "worker.js").write_text("run()")
    (folder / "link").symlink_to(folder / "folder")
    (folder / "dangling").symlink_to(folder / "nowhere")


@pytest.mark.parametrize(
    "name", ["file", "folder", "extension", "link", "dangling", "missing/index", "file/index"]
)
def test_a_target_that_is_no_index_is_refused_and_untouched(release, tmp_path, name):
    foreign_targets(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(so.StoreError) as caught:
        so.save(release, tmp_path / name)
    assert tree(tmp_path) == before
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_that_is_too_long_is_a_clear_error(release, tmp_path, length):
    with pytest.raises(so.StoreError):
        so.save(release, tmp_path / ("x" * length))
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_building_folder_is_not_followed(release, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "letters.txt").write_text("dear")
    (tmp_path / ".index.building").symlink_to(home)
    with pytest.raises(so.StoreError):
        so.save(release, tmp_path / "index")
    assert tree(home) == {"letters.txt": b"dear"}


@pytest.mark.parametrize("old", [False, True])
def test_a_foreign_folder_beside_the_target_is_left_alone(release, tmp_path, old):
    if old:
        so.save(release, tmp_path / "index")
    (tmp_path / ".index.old").mkdir()
    (tmp_path / ".index.old" / "letters.txt").write_text("dear")
    with suppress(so.StoreError):
        so.save(release, tmp_path / "index")
    assert tree(tmp_path / ".index.old") == {"letters.txt": b"dear"}


def test_an_empty_folder_becomes_an_index(release, tmp_path):
    (tmp_path / "index").mkdir()
    so.save(release, tmp_path / "index")
    check_holds(tmp_path / "index", release)


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_came_to_the_target_during_a_build_is_left_alone(release, tmp_path, kind):
    path = tmp_path / "index"
    with pytest.raises(so.StoreError, match="exists and is not"), open_index_writer(path) as place:
        if kind == "file":
            path.write_text("dear")
        elif kind == "folder":
            path.mkdir()
            (path / "letters.txt").write_text("dear")
        else:
            path.symlink_to(tmp_path)
        before = tree(path)
        place.write(release)
    assert tree(path) == before
    check_alone(path)


def test_an_old_index_is_replaced_and_a_reader_keeps_what_it_opened(index, release, other):
    reader = so.open(index)
    so.save(other, index)
    check_holds(index, other)
    assert content(reader) == content(release)
    assert reader.record_at(3) == release.record_at(3)


def test_an_index_can_be_written_onto_itself(index, release):
    so.save(so.open(index), index)
    check_holds(index, release)


def test_where_folders_cannot_change_places_at_once_the_old_index_is_replaced_too(index, other, monkeypatch):
    monkeypatch.setattr(exchange, "_exchange_at_once", lambda one, two: False)
    so.save(other, index)
    check_holds(index, other)


def test_a_second_build_at_the_same_place_is_told_so(index, release, other):
    with open_index_writer(index) as place:
        with pytest.raises(so.BuildRunning, match=f"another process is building {index}: wait"):
            so.save(other, index)
        place.write(release)
    check_holds(index, release)
    so.save(other, index)
    check_holds(index, other)


def test_a_second_process_is_told_that_a_build_is_running(index, release):
    with open_index_writer(index) as place:
        done = run_python(CHILD, index, "write", 99)
        place.write(release)
    assert "BuildRunning" in done.stderr
    check_holds(index, release)


@pytest.mark.parametrize("begins", ["before", "after"])
@pytest.mark.parametrize(
    ("moment", "nth"),
    [
        ("write", 1),
        ("fsync", 17),
        ("_exchange_at_once", 1),
        ("rmtree", 1),
        ("rename", 1),
        ("rename", 2),
        ("rename", 3),
    ],
)
def test_a_second_build_at_any_moment_is_refused_or_whole(
    index, release, other, monkeypatch, moment, nth, begins
):
    """A build of `other` begins before or after a step of a build of `release`, and ends after it."""
    owner = {"_exchange_at_once": exchange, "rmtree": shutil}.get(moment, os)
    if moment == "rename":  # three of them, where folders cannot change places at once
        monkeypatch.setattr(exchange, "_exchange_at_once", lambda one, two: False)
    real, second = getattr(owner, moment), ExitStack()
    calls, begun = [], []

    def begin():
        with suppress(so.BuildRunning):
            begun.append(second.enter_context(open_index_writer(index)))

    def step(*args, **kwargs):
        calls.append(args)
        if len(calls) == nth and begins == "before":
            begin()
        result = real(*args, **kwargs)
        if len(calls) == nth and begins == "after":
            begin()
        return result

    monkeypatch.setattr(owner, moment, step)
    so.save(release, index)
    assert len(calls) >= nth
    with second:
        for place in begun:
            place.write(other)
    assert so.open(index).fingerprint in {release.fingerprint, *[other.fingerprint for _ in begun]}
    assert damaged(index) == []
    check_alone(index)


class OwnError(Exception):
    """Somebody's own error inside a build."""


@pytest.mark.parametrize("error", [OwnError, KeyboardInterrupt, SystemExit, so.SourceError, MemoryError])
@pytest.mark.parametrize("old", [True, False])
def test_a_build_that_fails_leaves_the_old_index_or_nothing(tmp_path, release, error, old):
    path = tmp_path / "index"
    if old:
        so.save(release, path)
    before = tree(tmp_path)
    with pytest.raises(error), open_index_writer(path):
        raise error
    assert tree(tmp_path) == before


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize(
    ("name", "call"),
    [("posix_fallocate", 1), ("posix_fallocate", 5), ("write", 1), ("write", 9), ("fsync", 3)],
)
def test_a_full_disk_is_a_clear_error_and_leaves_nothing(
    tmp_path, release, other, monkeypatch, old, code, name, call
):
    path, calls, real = tmp_path / "index", [], getattr(os, name)
    if old:
        so.save(other, path)
    before = tree(tmp_path)

    def full(*args):
        calls.append(args)
        if len(calls) >= call:
            raise OSError(code, os.strerror(code))
        return real(*args)

    monkeypatch.setattr(os, name, full)
    with pytest.raises(
        so.StoreError, match="cannot be written" if code == errno.EIO else "not enough disk space"
    ) as caught:
        so.save(release, path)
    monkeypatch.undo()
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)
    assert tree(tmp_path) == before


@contextmanager
def mounted(folder, size):
    """A file system of this size at the folder; skips where that is not allowed."""
    folder.mkdir()
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("mounting a small file system needs Linux and root")
    options = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(options, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=TIMEOUT)


def test_a_disk_that_is_really_full_is_a_clear_error_and_leaves_the_old_index(tmp_path, release):
    folder = tmp_path / "disk"
    with mounted(folder, 256 * 1024):
        so.save(release, folder / "index")
        large = so.synthesize(records=2_000, items=2_000, entries=20_000, seed=3)
        with pytest.raises(so.StoreError, match="not enough disk space"):
            so.save(large, folder / "index")
        check_holds(folder / "index", release)


# Builds that are killed. A child builds `other` at the path and kills itself in its n-th call of a function.

CHILD = """
import os, signal, sys
import standout as so
from standout.core import exchange

path, name, nth = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = 0

def deadly(real):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == nth and name != "_exchange_at_once":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*args, **kwargs)
        if calls == nth:  # the two have changed places
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

release = so.synthesize(records=50, items=20, entries=200, seed=2)
owner = exchange if name == "_exchange_at_once" else os
setattr(owner, name, deadly(getattr(owner, name)))
so.save(release, path)
"""
KILLS = [
    ("posix_fallocate", 9), ("write", 1), ("write", 8), ("write", 15), ("fsync", 1), ("fsync", 15),
    ("fsync", 16), ("fsync", 17), ("_exchange_at_once", 1), ("unlink", 1), ("unlink", 5), ("rmdir", 1),
]  # fmt: skip


def run_python(code, *args):
    command = [sys.executable, "-W", "error", "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)


@pytest.mark.parametrize(("name", "nth"), KILLS)
def test_a_build_killed_at_any_moment_leaves_the_old_index_or_the_new_one(
    tmp_path, release, other, name, nth
):
    path = tmp_path / "index"
    so.save(release, path)
    assert run_python(CHILD, path, name, nth).returncode == -signal.SIGKILL
    assert so.open(path).fingerprint in (release.fingerprint, other.fingerprint)
    assert damaged(path) == []
    so.save(release, path)
    check_holds(path, release)


@pytest.mark.parametrize(("name", "nth"), [("write", 3), ("fsync", 15), ("rename", 1)])
def test_a_first_build_killed_at_any_moment_leaves_nothing_in_its_place(tmp_path, release, name, nth):
    path = tmp_path / "index"
    assert run_python(CHILD, path, name, nth).returncode == -signal.SIGKILL
    assert not path.exists()
    so.save(release, path)
    check_holds(path, release)


def test_the_next_build_recovers_where_folders_cannot_change_places_at_once(
    tmp_path, release, other, monkeypatch
):
    """Killed between its three renames, a build leaves the old index beside the path, as .NAME.old."""
    path = tmp_path / "index"
    so.save(release, path)
    path.rename(tmp_path / ".index.old")
    monkeypatch.setattr(exchange, "_exchange_at_once", lambda one, two: False)
    so.save(other, path)
    so.save(release, path)
    assert so.open(path).fingerprint == release.fingerprint
    assert damaged(path) == []
    check_alone(path)


TERMINATED = """
import os, sys

def waiting(file):
    print("writing", flush=True)
    sys.stdin.readline()

os.fsync = waiting
sys.argv[0] = "standout"
from standout.cli import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("old", [True, False])
def test_a_terminated_build_leaves_nothing_behind(tmp_path, release, number, old):
    source, path = tmp_path / "source.csv", tmp_path / "out" / "index"
    path.parent.mkdir()
    source.write_text("user,item\np,x\n")
    if old:
        so.save(release, path)
    before = tree(path.parent)
    command = [sys.executable, "-c", TERMINATED, "index", str(source), "-o", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "writing\n"
            child.send_signal(number)
            _, errors = child.communicate(timeout=TIMEOUT)
        finally:
            child.kill()
    assert child.returncode not in (0, None) and "Traceback" not in errors
    assert tree(path.parent) == before


def test_verify_names_the_damaged_file_and_no_other(index):
    file = index / "by-record-value.bin"
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    assert damaged(index) == [file.name]
