"""The sidecar: readable by everybody, refused when damaged."""

import json
from pathlib import Path

import pytest

import standout as so
from standout.core.json_files import dump_with_checksum
from standout.sanitizing.files import sidecar_path, write_sanitized

pytestmark = pytest.mark.once
BAD_BINS = {"step": "round-value bins 2", "counts": {}, "bins": {"edges": [1], "values": [1]}}
DAMAGED = [
    "{",
    "[]",
    "null",
    {"version": 9},
    {"format": "x"},
    {"steps": [{"step": 3}]},
    {"renumbered": 1},
    {"original": {}},
    {"steps": [BAD_BINS]},
    {"steps": [{"step": "unheard-of", "counts": {}}]},
    {"value": 3},
]


def test_a_damaged_sidecar_is_refused(named_release, tmp_path):
    out = tmp_path / "safer.csv"
    sidecar = write_sanitized(so.sanitize(named_release), out)
    content = json.loads(sidecar.read_text())
    for change in DAMAGED:
        changed = change.encode() if isinstance(change, str) else dump_with_checksum(content | change)
        sidecar.write_bytes(changed)
        with pytest.raises(so.StandoutError):
            so.open_sanitized(out, named_release)
    sidecar.unlink()
    with pytest.raises(so.SourceError, match="cannot be read"):
        so.open_sanitized(out, named_release)


def test_a_sidecar_whose_steps_were_changed_is_refused(named_release, tmp_path):
    """The attack would assume less noise than there is, and the risk would look lower."""
    out = tmp_path / "safer.csv"
    sidecar = write_sanitized(so.sanitize(named_release, "perturb-time 3"), out)
    so.open_sanitized(out, named_release)
    sidecar.write_text(sidecar.read_text().replace("perturb-time 3", "perturb-time 1"))
    with pytest.raises(so.SourceError, match="damaged"):
        so.open_sanitized(out, named_release)


def test_the_file_has_the_keys_of_version_3(named_release, tmp_path):
    safer = so.sanitize(named_release, "round-value bins 2")
    content = json.loads(write_sanitized(safer, tmp_path / "safer.csv").read_text())
    keys = ["format", "version", "written by", "ids", "fingerprint", "renumbered", "records", "original", "columns"]
    assert list(content) == [*keys, "value", "time_unit", "zone", "inert", "steps", "checksum"]
    assert list(content["steps"][0]) == ["step", "counts", "bins"]
    assert list(content["steps"][0]["bins"]) == ["edges", "values"]
    assert list(content["original"])[:4] == ["records", "columns", "items", "entries"]


def test_the_sidecar_says_that_ids_were_kept(named_release, tmp_path):
    write_sanitized(so.sanitize(named_release, "round-time month"), tmp_path / "safer.csv")
    assert "records have the original's ids" in sidecar_path(tmp_path / "safer.csv").read_text()


def test_every_path_has_a_sidecar_path(tmp_path, monkeypatch):
    """`standout audit .` looks for the sidecar of the working folder."""
    monkeypatch.chdir(tmp_path)
    assert sidecar_path(Path("safer.csv")) == Path("safer.csv.sanitized.json")
    assert sidecar_path(Path()) == tmp_path.with_name(f"{tmp_path.name}.sanitized.json")
    assert sidecar_path(Path("/")) == Path("/.sanitized.json")
