"""The key file: private, and refused when damaged."""

import stat

import pytest

import standout as so
from conftest import content
from standout.sanitizing.files import write_sanitized

pytestmark = pytest.mark.once
DAMAGED = [
    "",
    "record\na\n",
    "record,released\na\n",
    "record,released\nnobody,1\n",
    'record,released\n"a,1\n',
    "record,released\n",
    "record,released\nzq00001#x,999\n",
    "record,released\nzq00001#x,1\nzq00001#x,2\n",
]


def test_only_its_owner_can_read_the_key(named_release, tmp_path):
    key = tmp_path / "key.csv"
    safer = so.sanitize(named_release, "sample-records 10", renumber=True, seed=4)
    write_sanitized(safer, tmp_path / "safer.csv", key=key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    rows = [line.split(",") for line in key.read_text().splitlines()]
    assert rows[0] == ["record", "released"]
    assert len(rows) == 11
    old, new = content(named_release), content(safer)
    for record, released in rows[1:]:
        assert {cell[1]: entry for cell, entry in old.items() if cell[0] == record} == {
            cell[1]: entry for cell, entry in new.items() if cell[0] == released
        }


def test_a_damaged_key_is_refused_without_naming_anybody(named_release, tmp_path):
    out, key = tmp_path / "safer.csv", tmp_path / "key.csv"
    write_sanitized(so.sanitize(named_release, renumber=True), out)
    for text in DAMAGED:
        key.write_text(text)
        with pytest.raises(so.SourceError) as caught:
            so.open_sanitized(out, named_release, key)
        assert "zq" not in str(caught.value)
        assert "nobody" not in str(caught.value)
