"""`standout synthesize`: the files it writes can be read, and it overwrites no file."""

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
