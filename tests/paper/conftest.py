"""Shared by the tests of the paper: a small release, and a folder of the Netflix Prize."""

import pytest

import standout as so

FILMS = {
    "mv_0000001.txt": "1:\n6,3,2005-09-06\n7,5,2005-05-13\n007,1,2005-05-14\n",
    "mv_0000002.txt": "2:\n6,4,2005-09-05\n7,2,2004-01-01\n",
}


@pytest.fixture(scope="session")
def release():
    return so.synthesize(records=40, items=30, entries=320, seed=3)


@pytest.fixture
def prize(tmp_path):
    """A folder of the contest with two films."""
    folder = tmp_path / "prize"
    folder.mkdir()
    for name, text in FILMS.items():
        (folder / name).write_text(text)
    return folder
