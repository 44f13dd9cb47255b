"""The index on disk: it returns what was saved, and damage is found and named."""

import os
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from index_checks import arrays_of, check_holds, damaged_files, forge_column, run_python

import standout as so
from standout.data.entries import word_bits, word_type
from standout.data.labels import Labels
from standout.data.manifest import release_columns
from standout.data.release import code_type


def odd_releases():
    day = pl.Series([None, 12_000, 13_000], dtype=pl.Int32).cast(pl.Date)
    bare = {"user": ["007", "7", "🙂"], "item": ["a|b", " ", "é"]}
    yield "neither", so.read(pl.DataFrame(bare), kind="history")
    yield "categories", so.read(pl.DataFrame({**bare, "value": ["good", None, "ünïque"]}), kind="history")
    yield "numbers", so.read(pl.DataFrame({**bare, "value": [0.5, None, -2.0]}), kind="history")
    yield "times", so.read(pl.DataFrame({**bare, "time": day}), kind="history")
    yield (
        "all missing",
        so.read(pl.DataFrame({**bare, "value": [None] * 3, "time": day}).with_columns(time=None), time=False),
    )
    titled = so.read(pl.DataFrame(bare), kind="history")
    yield "titles", replace(titled, titles=Labels.of(["Brazil", "", "Amélie"]))


def test_an_index_holds_the_entries_of_its_release(tmp_path):
    for kind, release in odd_releases():
        (tmp_path / kind).mkdir()
        path = tmp_path / kind / "index"
        so.save(release, path)
        stored = so.open(path)
        check_holds(path, release)
        assert stored.provenance == release.provenance and stored.clock == release.clock
        assert [stored.record_at(i) for i in range(3)] == [release.record_at(i) for i in range(3)]
        assert stored.to_frame().equals(release.to_frame())
        assert (stored.titles and list(stored.titles)) == (release.titles and list(release.titles))
        assert not any(array.flags.writeable for array in stored.by_record if array is not None)
        assert not stored.records.data.flags.writeable


def test_an_index_is_readable_by_its_owner_only(release, tmp_path):
    """Whatever the umask."""
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


def test_verify_names_the_file_with_a_flipped_byte(index, release, copy_index):
    for name in release_columns(release):
        file = copy_index(release, index) / f"{name}.bin"
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        assert f"{name}.bin" in damaged_files(index)
        assert set(damaged_files(index)) <= {f"{name}.bin", "manifest.json"}


@pytest.mark.parametrize("change", ["truncated", "longer", "empty", "missing", "a folder"])
def test_a_column_of_another_size_is_named_and_refused(index, release, copy_index, change):
    for name in release_columns(release):
        file = copy_index(release, index) / f"{name}.bin"
        data = file.read_bytes()
        file.unlink()
        if change == "a folder":
            file.mkdir()
        elif change != "missing":
            file.write_bytes({"truncated": data[:-1], "longer": data + b"\0", "empty": b""}[change])
        with pytest.raises(so.StoreError, match=rf"damaged: {name}\.bin") as caught:
            so.open(index)
        assert "\n" not in str(caught.value)
        assert f"{name}.bin" in damaged_files(index)


def test_offsets_that_do_not_match_are_named_and_refused(index, release, copy_index):
    for start in ("by-record-start", "by-item-start", "by-item-run", "record-id-offsets", "item-id-offsets"):
        array = release_columns(release)[start].copy()
        array[1] = array[-1] + 1
        forge_column(copy_index(release, index), start, array)
        with pytest.raises(so.StoreError, match=rf"damaged: {start}\.bin"):
            so.open(index)


def test_runs_that_contradict_each_other_are_named_and_refused(wide, copy_index, tmp_path):
    """The error names the wrong file or one that contradicts it, even if the checksums match."""
    for name, position, change in [
        ("by-item-start", 1, 1),
        ("by-item-run", 1, 1),
        ("by-item-run", 1, -1),
        ("by-item-block", 0, 1),
        ("by-item-block", 1, 1),
        ("by-item-block", 1, -1),
        ("by-item-block", 3, 200),
        ("by-item-edge", 1, 4),
        ("by-item-edge", 1, 2**40),
        ("by-item-edge", 2, 1),
        ("by-item-edge", 4, -1),
    ]:
        path, array = copy_index(wide, tmp_path / "index"), release_columns(wide)[name].copy()
        array[position] = int(array[position]) + change
        forge_column(path, name, array)
        message = r"damaged: by-item-(run|block|edge)\.bin contradicts the other files; run standout verify"
        with pytest.raises(so.StoreError, match=message) as caught:
            so.open(path)
        assert name in str(caught.value) or name in ("by-item-start", "by-item-run")


def first_of(release, block):
    """The position of the first word of item 0 in a block."""
    return 0 if block == 0 else int(release.by_item.end[block - 1])


WORDS = {
    "a record beyond the last": (1, lambda word, low: word % low + 8 * low),
    "a bit above the position": (0, lambda word, low: word + 8_192 * low),
    "the highest bit": (0, lambda word, low: word | 1 << 31),
    "a kind of neither bank": (0, lambda word, low: 12 << 5),
    "a time beyond the last": (0, lambda word, low: 20),
    "a time where there is none": (0, lambda word, low: (6 << 5) + 1),
}


def test_an_invalid_word_is_detected_before_a_loop_over_all_entries(wide, copy_index, tmp_path):
    by_item = wide.by_item
    assert (by_item.value_bits, by_item.time_bits, len(wide.levels), wide.clock.span) == (4, 5, 5, 20)
    for change, (block, changed) in WORDS.items():
        path = copy_index(wide, tmp_path / "index")
        so.open(path).check()
        word, position = by_item.word.copy(), first_of(wide, block)
        word[position] = changed(int(word[position]), 1 << (by_item.value_bits + by_item.time_bits))
        forge_column(path, "by-item-word", word)
        release = so.open(path)
        for use in (release.check, release.to_frame, lambda release=release: so.describe(release)):
            with pytest.raises(so.StoreError, match="an entry points nowhere; run standout verify"):
                use()
        assert release.item("1") == wide.item("1")
        if block == 1 or "highest" in change:
            with pytest.raises(so.StoreError, match="an entry points nowhere"):
                release.item("0")


USES = """
import sys
import standout as so

for path in sys.argv[1:]:
    release = so.open(path)
    uses = {
        "record": lambda: [release.record_at(i) for i in range(release.n_records)],
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
            sys.stderr.write(f"{path} {name}: {error!r}; ")
"""


def test_invalid_codes_are_an_error_or_a_gap_but_never_a_crash(release, copy_index, tmp_path):
    names = ["by-record-item", "by-record-value", "by-record-time", "by-item-word"]
    for name in names:
        path = copy_index(release, tmp_path / name)
        column = release_columns(release)[name]
        forge_column(path, name, np.full(len(column), np.iinfo(column.dtype).max, column.dtype))
    finished = run_python(USES, *(tmp_path / name for name in names))
    assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["nothing", "file", "empty folder", "foreign folder"])
def test_a_path_that_is_no_index_is_refused_by_name(tmp_path, kind):
    path = tmp_path / "thing"
    if kind == "file":
        path.write_text("data")
    elif kind != "nothing":
        path.mkdir()
        if kind == "foreign folder":
            (path / "notes.txt").write_text("data")
    for use in (so.open, damaged_files):
        with pytest.raises(so.StoreError, match="is not an index") as caught:
            use(path)
        assert str(path) in str(caught.value)


def test_an_old_index_is_replaced_while_a_reader_keeps_the_old_content(index, release, other):
    reader = so.open(index)
    so.save(other, index)
    check_holds(index, other)
    assert arrays_of(reader) == arrays_of(release)
    assert reader.record_at(3) == release.record_at(3)


def test_an_index_can_be_written_onto_itself(index, release):
    so.save(so.open(index), index)
    check_holds(index, release)


def test_verify_names_the_damaged_file_and_no_other(index):
    file = index / "by-record-value.bin"
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    assert damaged_files(index) == [file.name]


def test_a_survey_is_not_saved_without_its_columns(tmp_path):
    survey = so.Release.of_columns((so.Column("sex", "category", ("f", "m"), np.array([0, 1], np.uint8)),))
    with pytest.raises(so.ParameterError, match="an index holds entries only"):
        so.save(survey, tmp_path / "survey.index")
    assert not (tmp_path / "survey.index").exists()
