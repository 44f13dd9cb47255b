"""The manifest of an index: one that is damaged, foreign, older or newer is refused with the reason."""

import json
import os

import pytest
from index_checks import check_holds, damaged_files, edit_manifest, forge_column

import standout as so
from standout.data.manifest import release_columns

UNUSABLE = [
    (b"", "damaged: its manifest.json is not JSON"),
    (b"\xff\xfe", "damaged: its manifest.json is not JSON"),
    (b"[" * 100_000, "damaged: its manifest.json is not JSON"),
    (b'{"format": "standout index", "version": 4}', "damaged: its manifest.json"),
    (b'{"format": "standout index", "version": "4"}', "damaged: its manifest.json"),
    (b'{"format": "standout index", "version": true}', "damaged: its manifest.json"),
    (b'{"format": "standout index", "version": 0}', "damaged: its manifest.json"),
    (b'{"format": "standout index"}', "damaged: its manifest.json"),
    (b'{"format": "standout index", "version": 5}', "newer Standout"),
    (b'{"format": "standout index", "version": 1}', "older Standout"),
    (b'{"manifest_version": 3, "name": "an extension"}', "not a Standout index"),
    (b"[1, 2]", "not a Standout index"),
    (b"null", "not a Standout index"),
]


def test_a_manifest_that_is_unusable_foreign_or_of_another_version_is_refused(index):
    for text, message in UNUSABLE:
        (index / "manifest.json").write_bytes(text)
        for use in (so.open, damaged_files):
            with pytest.raises(so.StoreError, match=message) as caught:
                use(index)
            assert str(index) in str(caught.value)


def test_a_cut_or_edited_manifest_is_refused(index):
    text = (index / "manifest.json").read_text()
    fingerprint = json.loads(text)["fingerprint"]
    for changed in (text[:-20], text.replace(fingerprint, "0" * 32), text.replace('"entries": 300', '"entries": 299')):
        assert changed != text
        (index / "manifest.json").write_text(changed)
        with pytest.raises(so.StoreError, match=r"damaged: its manifest\.json"):
            so.open(index)


def test_a_newer_index_is_recognised_whatever_else_it_contains(index):
    edit_manifest(index, lambda manifest: manifest.update(version=manifest["version"] + 1, columns="elsewhere"))
    with pytest.raises(so.StoreError, match="newer Standout"):
        so.open(index)


def test_an_older_index_is_recognised_and_can_be_overwritten(index, release):
    edit_manifest(index, lambda manifest: manifest.update(version=1, columns="elsewhere"))
    for use in (so.open, damaged_files):
        with pytest.raises(so.StoreError) as caught:
            use(index)
        assert str(caught.value) == (
            f"{index} was written by an older Standout (format 1, this version reads 4): index the source again"
        )
    so.save(release, index)
    check_holds(index, release)


CONTRADICTIONS = {
    "no columns": lambda manifest: manifest.pop("columns"),
    "columns are a list": lambda manifest: manifest.update(columns=[1]),
    "a column more": lambda manifest: manifest["columns"].update(
        {"by-item-record": manifest["columns"]["by-item-block"]}
    ),
    "a column's entry is a text": lambda manifest: manifest["columns"].update({"by-item-word": "x"}),
    "a file": lambda manifest: manifest["columns"]["by-item-word"].update(file=os.devnull),
    "object type": lambda manifest: manifest["columns"]["by-item-word"].update(type="object"),
    "unknown type": lambda manifest: manifest["columns"]["by-item-word"].update(type="no such"),
    "signed type": lambda manifest: manifest["columns"]["by-item-word"].update(type="int32"),
    "signed blocks": lambda manifest: manifest["columns"]["by-item-block"].update(type="int8"),
    "runs in half the bytes": lambda manifest: manifest["columns"]["by-item-run"].update(
        type="int32", length=2 * manifest["columns"]["by-item-run"]["length"]
    ),
    "edges in half the bytes": lambda manifest: manifest["columns"]["by-item-edge"].update(
        type="int32", length=2 * manifest["columns"]["by-item-edge"]["length"]
    ),
    "words twice as wide": lambda manifest: manifest["columns"]["by-item-word"].update(
        type="uint64", length=manifest["columns"]["by-item-word"]["length"] // 2
    ),
    "no gaps": lambda manifest: manifest.pop("gaps"),
    "gaps are a list": lambda manifest: manifest.update(gaps=[]),
    "gaps are a number": lambda manifest: manifest.update(gaps=0),
    "gaps that need wider words": lambda manifest: manifest.update(gaps=True, clock=manifest["clock"] | {"span": 0}),
    "negative span": lambda manifest: manifest["clock"].update(span=-1),
    "span with a point": lambda manifest: manifest["clock"].update(span=float(manifest["clock"]["span"])),
    "levels without values": lambda manifest: manifest["columns"].pop("by-record-value"),
    "values without levels": lambda manifest: manifest["columns"].pop("levels"),
    "offsets of levels without texts": lambda manifest: manifest["columns"].update(
        {"level-offsets": manifest["columns"].pop("levels") | {"file": "level-offsets.bin", "type": "int64"}}
    ),
    "fractional codes": lambda manifest: manifest["columns"]["by-record-start"].update(type="float64"),
    "wider type": lambda manifest: manifest["columns"]["by-record-item"].update(type="uint64"),
    "size is a text": lambda manifest: manifest["columns"]["by-item-word"].update(length="many"),
    "fewer entries": lambda manifest: manifest.update(entries=299),
    "records are a text": lambda manifest: manifest.update(records="40"),
    "more items": lambda manifest: manifest.update(items=31),
    "clock is a list": lambda manifest: manifest.update(clock=[]),
    "clock of weeks": lambda manifest: manifest["clock"].update(unit="week"),
    "clock with a pendulum": lambda manifest: manifest["clock"].update(pendulum=1),
    "clock in text": lambda manifest: manifest["clock"].update(origin="1970"),
    "clock beyond the calendar": lambda manifest: manifest["clock"].update(origin=10**12),
    "no clock": lambda manifest: manifest.update(clock=None),
    "no provenance": lambda manifest: manifest.update(read=None),
    "an unknown field of the provenance": lambda manifest: manifest["read"].update(hearsay=1),
    "fingerprint is a number": lambda manifest: manifest.update(fingerprint=1),
    "no checksum of a column": lambda manifest: manifest["columns"]["by-item-word"].pop("sha256"),
}


def test_a_manifest_that_contradicts_itself_is_refused_even_with_a_valid_checksum(index, release, copy_index):
    for name, change in CONTRADICTIONS.items():
        edit_manifest(copy_index(release, index), change)
        with pytest.raises(so.StoreError) as caught:
            so.open(index)
        assert str(index) in str(caught.value) and "\n" not in str(caught.value), name


def test_a_manifest_without_a_column_is_refused(index, release, copy_index):
    for name in (name for name in release_columns(release) if name.startswith("by-")):
        edit_manifest(copy_index(release, index), lambda manifest, name=name: manifest["columns"].pop(name))
        with pytest.raises(so.StoreError, match="damaged: ") as caught:
            so.open(index)
        assert str(index) in str(caught.value)


def test_a_shorter_column_is_refused_even_if_the_manifest_has_its_length(index, release, copy_index):
    for name in ("by-record-value", "by-item-word", "by-item-run", "by-item-block", "by-item-edge"):
        forge_column(copy_index(release, index), name, release_columns(release)[name][:-1])
        with pytest.raises(so.StoreError, match=r"damaged: its manifest\.json contradicts itself"):
            so.open(index)
