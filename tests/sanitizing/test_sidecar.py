"""The sidecar: readable by everybody, refused when damaged."""

import json
from pathlib import Path

import pytest

import standout as so
from standout.sanitizing.sidecar import sidecar_path

pytestmark = pytest.mark.once
BAD_BINS = {"step": "round-value bins 2", "counts": {}, "bins": {"edges": [1], "tells": [1]}}
DAMAGED = [
    "{",
    "[]",
    "null",
    {"version": 9},
    {"format": "x"},
    {"done": [{"step": 3}]},
    {"renumbered": 1},
    {"original": {}},
    {"done": [BAD_BINS]},
    {"done": [{"step": "unheard-of", "counts": {}}]},
    {"value": 3},
]


def test_a_damaged_sidecar_is_refused(named_release, tmp_path):
    out = tmp_path / "safer.csv"
    sidecar = so.write_sanitized(so.sanitize(named_release), out)
    content = json.loads(sidecar.read_text())
    for change in DAMAGED:
        sidecar.write_text(change if isinstance(change, str) else json.dumps(content | change))
        with pytest.raises(so.StandoutError):
            so.open_sanitized(out, named_release)
    sidecar.unlink()
    with pytest.raises(so.SourceError, match="cannot be read"):
        so.open_sanitized(out, named_release)


def test_the_file_has_the_keys_of_version_1(named_release, tmp_path):
    """Files of earlier versions of Standout stay readable."""
    safer = so.sanitize(named_release, "round-value bins 2")
    content = json.loads(so.write_sanitized(safer, tmp_path / "safer.csv").read_text())
    keys = ["format", "version", "written by", "ids", "fingerprint", "renumbered", "original", "value"]
    assert list(content) == [*keys, "time_unit", "zone", "done"]
    assert list(content["done"][0]) == ["step", "counts", "bins"]
    assert list(content["done"][0]["bins"]) == ["edges", "tells"]
    assert list(content["original"])[:3] == ["records", "items", "entries"]


def test_the_sidecar_says_that_ids_were_kept(named_release, tmp_path):
    so.write_sanitized(so.sanitize(named_release, "round-time month"), tmp_path / "safer.csv")
    assert "records have the original's ids" in sidecar_path(tmp_path / "safer.csv").read_text()


def test_every_path_has_a_sidecar_path(tmp_path, monkeypatch):
    """`standout audit .` looks for the sidecar of the working folder."""
    monkeypatch.chdir(tmp_path)
    assert sidecar_path(Path("safer.csv")) == Path("safer.csv.sanitized.json")
    assert sidecar_path(Path()) == tmp_path.with_name(f"{tmp_path.name}.sanitized.json")
    assert sidecar_path(Path("/")) == Path("/.sanitized.json")
