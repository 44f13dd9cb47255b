"""An index in shards opens as the release that was saved, and damage to a shard is named."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_checks import arrays_of, check_alone, check_holds, damaged_files, edit_manifest, forge_column, tree

import standout as so
from random_releases import random_rows, read_rows
from standout.core import memory as address_ranges
from standout.data import file_checks, index_columns
from standout.data import index_files as index_folder
from standout.data.index_files import open_file
from standout.data.postings import Postings, unpack_item
from standout.data.sharded_index import write_shard, write_shards

SHARDS = (1, 2, 3, 16)
KINDS = {
    "plain": {},
    "no values": {"drop": "value"},
    "no times": {"drop": "time"},
    "gaps": {"missing": 0.3},
    "repeats": {"repeats": "keep"},
    "repeats in one place": {"repeats": "keep", "rows": 1},
    "repeats and gaps": {"repeats": "keep", "missing": 0.3},
}


def example(kind, records=37):
    """A small release of a kind."""
    given = KINDS[kind]
    rows = random_rows(records, 9, seed=3, missing=given.get("missing", 0.0))
    if "repeats" in given:
        rows += [(*row[:3], (row[3] or 0) + 1) for row in rows[:: 2 if "rows" not in given else len(rows)]]
    frame = read_rows(rows, repeats=given.get("repeats", "last")).to_frame()
    return so.read(frame.drop(given.get("drop", [])), repeats=given.get("repeats", "last"))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Do not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 2 records, so that small releases have many."""
    monkeypatch.setattr("standout.data.postings.BLOCK_BITS", 1)
    return 2


def save_shards(release, path, shards):
    so.save(release, path, shards=shards)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_in_shards_opens_as_it_was(kind, small_blocks, tmp_path):
    release = example(kind)
    so.save(release, tmp_path / "plain")
    for shards in SHARDS:
        path = save_shards(release, tmp_path / f"shards {shards}", shards)
        joined = so.open(path).check()
        assert joined.fingerprint == release.fingerprint
        assert arrays_of(joined) == arrays_of(release)
        assert damaged_files(path) == []
        assert (
            len(joined.stored_columns.shards) == len(list(path.glob("shard-*"))) == min(shards, -(-37 // small_blocks))
        )
        for item in range(release.n_items):
            ours, theirs = (unpack_item(one.by_item, item, one.n_levels, one.span) for one in (joined, release))
            assert all(map(np.array_equal, ours, theirs))
        so.save(joined, tmp_path / "again")
        assert tree(tmp_path / "again") == tree(tmp_path / "plain")
        so.save(joined, tmp_path / "again", shards=shards)
        assert tree(tmp_path / "again") == tree(path)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_runs_point_to_the_words_of_an_item_wherever_they_are(kind, small_blocks, tmp_path):
    release = example(kind)
    joined = so.open(save_shards(release, tmp_path / "index", 3)).by_item
    assert not np.array_equal(joined.begin, release.by_item.begin)
    assert [part.dtype for part in joined if isinstance(part, np.ndarray)] == [
        part.dtype for part in release.by_item if isinstance(part, np.ndarray)
    ]
    for run in range(len(joined.begin)):
        ours, theirs = (side.word[side.begin[run] : side.end[run]] for side in (joined, release.by_item))
        assert np.array_equal(ours, theirs)
    for name in set(Postings._fields) - {"begin", "end", "single", "word"}:
        assert np.array_equal(getattr(joined, name), getattr(release.by_item, name)), name
    if release.has_repeats:
        assert np.array_equal(joined.end - joined.single, release.by_item.end - release.by_item.single)


@pytest.mark.parametrize("kind", ["plain", "repeats and gaps"])
def test_without_mapping_the_release_is_the_same(kind, small_blocks, tmp_path, monkeypatch):
    release = example(kind)
    path = save_shards(release, tmp_path / "index", 3)
    monkeypatch.setattr(address_ranges, "_can_map", lambda: False)
    assert arrays_of(so.open(path).check()) == arrays_of(release)
    assert arrays_of(so.open(path / "shard-0001").check())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bounds_give_the_same_release(tmp_path_factory, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.data.postings.BLOCK_BITS", 1)
        release = example(data.draw(st.sampled_from(list(KINDS))), data.draw(st.integers(1, 12)))
        blocks = range(2, release.n_records, 2)
        inner = data.draw(st.sets(st.sampled_from(blocks))) if blocks else set()
        folder = tmp_path_factory.mktemp("shards")
        write_shards(folder, release, [0, *sorted(inner), release.n_records])
        assert arrays_of(so.open(folder).check()) == arrays_of(release)
        assert so.open(folder).fingerprint == release.fingerprint and damaged_files(folder) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_shard_is_an_index_of_its_records_with_all_items(kind, small_blocks, tmp_path):
    release = example(kind)
    path, records = save_shards(release, tmp_path / "index", 3), []
    for folder in sorted(path.glob("shard-*")):
        shard = so.open(folder).check()
        assert list(shard.items) == list(release.items) and shard.n_levels == release.n_levels
        assert shard.clock == release.clock and damaged_files(folder) == []
        for record in shard.records:
            assert shard.record(record).entries == release.record(record).entries
        counts = {item: sum(item in shard.record(record).support for record in shard.records) for item in shard.items}
        assert dict(zip(shard.items, shard.support.tolist(), strict=True)) == counts
        so.save(shard, tmp_path / "copy")
        assert so.open(tmp_path / "copy").fingerprint == shard.fingerprint
        records += shard.records
    assert records == list(release.records)


def test_a_small_release_gets_fewer_shards_and_says_so(release, tmp_path):
    with pytest.warns(UserWarning, match="40 records are written in 1 shard instead of 4, because"):
        so.save(release, tmp_path / "index", shards=4)
    assert so.open(tmp_path / "index").fingerprint == release.fingerprint
    assert [folder.name for folder in (tmp_path / "index").glob("shard-*")] == ["shard-0000"]
    for shards in (0, -1, 1.5, True, "2"):
        with pytest.raises(so.ParameterError, match="shards must be a whole number"):
            so.save(release, tmp_path / "index", shards=shards)


def test_shards_replace_an_index_and_an_index_replaces_shards(release, other, index):
    so.save(other, index, shards=1)
    check_holds(index, other)
    so.save(release, index)
    check_holds(index, release)


def test_a_failed_build_of_shards_leaves_the_old_index(release, wide, index, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("standout.data.sharded_index.join_shards", fail)
    with pytest.raises(so.StoreError, match="not enough disk space"):
        so.save(wide, index, shards=2)
    check_holds(index, release)


def test_a_shard_has_a_manifest_only_if_it_is_complete(wide, tmp_path, monkeypatch):
    def kill(file, content):
        os.write(file, content[:9])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("standout.data.index_files.write_all", kill)
        write_shard(tmp_path / "shard-0000", wide, 0)
    assert not (tmp_path / "shard-0000" / "manifest.json").exists()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", lambda path, target: kill(1, b""))
        write_shard(tmp_path / "shard-0000", wide, 0)
    assert not (tmp_path / "shard-0000" / "manifest.json").exists()
    write_shard(tmp_path / "shard-0000", wide, 0)
    check_holds(tmp_path / "shard-0000", wide)


# Damage.


@pytest.fixture(scope="module")
def saved(wide, tmp_path_factory):
    """An index of two shards."""
    path = tmp_path_factory.mktemp("saved") / "index"
    so.save(wide, path, shards=2)
    return path


@pytest.fixture
def sharded(saved, tmp_path):
    """A copy of the index to damage."""
    return shutil.copytree(saved, tmp_path / "index")


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def columns_of(path):
    return sorted(str(file.relative_to(path)) for file in path.rglob("*.bin"))


def test_a_damaged_file_of_a_shard_is_named_and_nothing_is_reported(saved, tmp_path, monkeypatch):
    for name in columns_of(saved):
        path = shutil.copytree(saved, tmp_path / name.replace("/", "-"))
        flip(path / name)
        with pytest.raises(so.StoreError, match=rf"is damaged: {name} does not match its checksum; run"):
            so.open(path)
        with monkeypatch.context() as patch:
            patch.setattr(index_columns, "SMALL", -1)
            with pytest.raises(so.StoreError, match=r"is damaged: .*(contradicts|does not match|in order)"):
                so.open(path).check()
        assert damaged_files(path) == [name]


def test_large_damaged_columns_of_entries_are_named_by_the_check(sharded, monkeypatch):
    monkeypatch.setattr(index_columns, "SMALL", -1)
    for name in ("by-record-value", "by-item-word"):
        flip(sharded / "shard-0001" / f"{name}.bin")
        release = so.open(sharded)
        for use in (release.check, release.to_frame, lambda release=release: so.describe(release)):
            with pytest.raises(so.StoreError, match=rf"damaged: shard-0001/{name}\.bin does not match"):
                use()
        flip(sharded / "shard-0001" / f"{name}.bin")


def test_a_file_that_is_missing_or_cut_is_named(saved, tmp_path):
    for name in columns_of(saved):
        path = shutil.copytree(saved, tmp_path / name.replace("/", "-"))
        size = (path / name).stat().st_size
        os.truncate(path / name, size - 1)
        with pytest.raises(so.StoreError, match=rf"is damaged: {name} has {size - 1:,} bytes instead of {size:,}"):
            so.open(path)
        (path / name).unlink()
        with pytest.raises(so.StoreError, match=rf"is damaged: {name} is missing or cannot be read"):
            so.open(path)
        assert damaged_files(path) == [name]


def test_a_missing_or_changed_shard_is_named(sharded):
    manifest = sharded / "shard-0001" / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b"standout", b"Standout", 1))
    for problem in ("does not match its checksum", "is missing or cannot be read"):
        with pytest.raises(so.StoreError, match=rf"is damaged: shard-0001/manifest\.json {problem}"):
            so.open(sharded)
        assert damaged_files(sharded) == ["shard-0001/manifest.json"]
        manifest.unlink(missing_ok=True)
    shutil.rmtree(sharded / "shard-0001")
    with pytest.raises(so.StoreError, match="is damaged: shard-0001 is missing or cannot be read"):
        so.open(sharded)
    assert damaged_files(sharded) == ["shard-0001/manifest.json"]


def test_shards_of_another_index_are_refused(sharded, tmp_path, wide):
    frame = wide.to_frame()
    so.save(so.read(frame.with_columns(value=pl.col("value") * 2)), tmp_path / "other", shards=2)
    shutil.rmtree(sharded / "shard-0001")
    shutil.copytree(tmp_path / "other" / "shard-0001", sharded / "shard-0001")
    with pytest.raises(so.StoreError, match=r"shard-0001/manifest\.json does not match its checksum"):
        so.open(sharded)


def test_a_lead_that_is_not_zero_is_damage(sharded):
    manifest = json.loads((sharded / "shard-0001" / "manifest.json").read_text())
    lead = manifest["columns"]["by-record-value"]["lead"]
    assert lead == 8_192
    file = sharded / "shard-0001" / "by-record-value.bin"
    content = bytearray(file.read_bytes())
    content[lead - 1] = 1
    file.write_bytes(content)
    assert damaged_files(sharded) == ["shard-0001/by-record-value.bin"]
    assert so.open(sharded).check().fingerprint  # it lies below the shard before, which is copied over it


def reseal(path, number):
    """Let the manifest of the index match the changed manifest of a shard."""
    digest = hashlib.sha256((path / f"shard-{number:04}" / "manifest.json").read_bytes()).hexdigest()
    edit_manifest(path, lambda manifest: manifest["shards"][number].update(sha256=digest))


FORGED = {
    "another lead": lambda shard: shard["columns"]["by-record-item"].update(lead=3),
    "a lead where none may be": lambda shard: shard["columns"]["by-item-word"].update(lead=3),
    "fewer records": lambda shard: shard.update(records=shard["records"] - 1),
    "other bits": lambda shard: shard["words"].update(value_bits=3),
    "another clock": lambda shard: shard["clock"].update(origin=5),
    "no values": lambda shard: [shard["columns"].pop(name) for name in ("levels", "by-record-value")],
    "other items": lambda shard: shard["columns"]["item-ids"].update(sha256="0" * 64),
}


@pytest.mark.parametrize("forged", FORGED)
def test_forged_shards_do_not_fit(sharded, forged):
    edit_manifest(sharded / "shard-0001", FORGED[forged])
    reseal(sharded, 1)
    with pytest.raises(so.StoreError, match="damaged"):
        so.open(sharded)


WRONG = {
    "another folder": lambda shards: shards[1].update(folder="../index"),
    "another first record": lambda shards: shards[1].update(first_record=8_193),
    "fewer entries": lambda shards: shards[1].update(entries=shards[1]["entries"] - 1),
    "a missing shard": lambda shards: shards.pop(),
    "the other order": lambda shards: shards.reverse(),
    "a fraction": lambda shards: shards[0].update(records=8_192.0),
    "another field": lambda shards: shards[0].update(color="red"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_manifest_whose_shards_contradict_it_is_refused(sharded, wrong):
    edit_manifest(sharded, lambda manifest: WRONG[wrong](manifest["shards"]))
    with pytest.raises(so.StoreError, match=r"its manifest\.json contradicts itself"):
        so.open(sharded)
    with pytest.raises(so.StoreError, match=r"its manifest\.json contradicts itself"):
        damaged_files(sharded)


def test_forged_runs_of_a_shard_are_found_before_anything_is_read(sharded, wide):
    shard = so.open(sharded / "shard-0001")
    for name, column in (("by-item-end", shard.by_item.end.astype(np.uint32)), ("by-item-start", shard.by_item.start)):
        changed = column.copy()
        changed[-1] += 1
        forge_column(sharded / "shard-0001", name, changed)
        reseal(sharded, 1)
        with pytest.raises(so.StoreError, match=r"damaged: (shard-0001: by-item-|by-item-start)"):
            so.open(sharded)


@pytest.mark.parametrize("nth", range(1, 40, 3))
def test_a_sharded_index_replaced_during_opening_opens_as_the_new_one(sharded, release, monkeypatch, nth):
    calls = []

    def opening(folder, name):
        calls.append(name)
        if len(calls) == nth:
            so.save(release, sharded)
        return open_file(folder, name)

    for module in (index_folder, index_columns, file_checks):
        monkeypatch.setattr(module, "open_file", opening)
    monkeypatch.setattr("standout.data.joined.open_file", opening)
    opened = so.open(sharded).check()
    if len(calls) >= nth:
        assert arrays_of(opened) == arrays_of(release)
        check_alone(sharded)


def test_an_open_index_in_shards_stays_readable_when_it_is_replaced(sharded, wide, release):
    joined = so.open(sharded)
    so.save(release, sharded)
    assert arrays_of(joined.check()) == arrays_of(wide)
