"""A reader gets the old index or the new one, whenever it is replaced."""

import pytest
from index_checks import arrays_of, check_alone, damaged_files

import standout as so
from standout.data import store
from standout.data.store import _open_file, is_index

FILES = 14
"""Files that opening an index opens: the manifest and the columns."""


@pytest.fixture
def replace_before(monkeypatch, index, other):
    """replace_before(nth) saves `other` at the path of the index before a reader opens its nth file."""

    def arrange(nth):
        calls = []

        def opening(folder, name):
            calls.append(name)
            if len(calls) == nth:
                so.save(other, index)
            return _open_file(folder, name)

        monkeypatch.setattr(store, "_open_file", opening)
        return calls

    return arrange


@pytest.mark.parametrize("nth", range(1, FILES + 1))
def test_an_index_replaced_during_opening_opens_as_the_new_one(index, other, replace_before, nth):
    calls = replace_before(nth)
    assert arrays_of(so.open(index).check()) == arrays_of(other)
    assert len(calls) > FILES
    check_alone(index)


@pytest.mark.parametrize("nth", [1, 2, FILES])
def test_an_index_replaced_during_verification_is_intact(index, replace_before, nth):
    calls = replace_before(nth)
    assert damaged_files(index) == []
    assert len(calls) > FILES


def test_an_index_replaced_after_the_first_file_was_verified_is_intact(index, other):
    checks = so.verify(index)
    assert next(checks)[1]
    so.save(other, index)
    assert all(intact for _, intact in checks)


def test_an_index_is_recognised_while_it_is_replaced(index, replace_before):
    calls = replace_before(1)
    assert is_index(index) and len(calls) > 1


def test_a_file_that_is_missing_is_damage_also_if_the_index_is_behind_a_link(index, tmp_path):
    (tmp_path / "link").symlink_to(index)
    assert is_index(tmp_path / "link")
    (index / "by-item-word.bin").unlink()
    for path in (index, tmp_path / "link"):
        with pytest.raises(so.StoreError, match=r"damaged: by-item-word\.bin is missing"):
            so.open(path)
        assert damaged_files(path) == ["by-item-word.bin"]
