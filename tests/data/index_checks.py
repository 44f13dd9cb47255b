"""Helpers of the tests of the index: what it holds, which files are damaged, and other processes."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import standout as so
from standout.data.manifest import release_columns

TIMEOUT = 120


def arrays_of(release):
    """Return the type and bytes of every array of a release."""
    return {name: (array.dtype.str, array.tobytes()) for name, array in release_columns(release).items()}


def damaged_files(path):
    """Return the files of an index that do not match their checksums."""
    return [file for file, intact in so.verify(path) if not intact]


def check_holds(path, release):
    """The index opens as this release, is intact, and its folder has nothing else."""
    assert so.open(path).fingerprint == release.fingerprint
    assert arrays_of(so.open(path)) == arrays_of(release)
    assert damaged_files(path) == []
    check_alone(path)


def check_alone(path):
    """The folder of a path has nothing else."""
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def edit_manifest(path, change):
    """Change the manifest and give it a valid checksum."""
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    rest = {key: part for key, part in manifest.items() if key != "checksum"}
    manifest["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (path / "manifest.json").write_text(json.dumps(manifest))


def write_column(path, name, array):
    """Replace the file of a column."""
    (path / f"{name}.bin").write_bytes(array.tobytes())


def forge_column(path, name, array):
    """Replace the file of a column, and let the manifest match it."""
    write_column(path, name, array)
    column = {"sha256": hashlib.sha256(array.tobytes()).hexdigest(), "length": len(array)}
    edit_manifest(path, lambda manifest: manifest["columns"][name].update(column))


def tree(path):
    """Return everything at a path: names and contents."""
    if path.is_symlink():
        return path.readlink()
    if path.is_file():
        return path.read_bytes()
    return {inside.name: tree(inside) for inside in path.iterdir()}


def run_python(code, *args):
    """Run code in another process, with warnings as errors."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)


def copy_of(release, **changes):
    """Return a release with some other fields."""
    return replace(release, **changes)
