"""A damaged index is never used: not one entry, value or id may differ from what was written."""

import random

import numpy as np
import polars as pl
import pytest
from index_checks import arrays_of, copy_of, damaged_files, forge_column

import standout as so
from standout.data import manifest as integrity
from standout.data import store
from standout.data.labels import Labels, shortlex
from standout.data.manifest import _in_order, checked_meanwhile, release_columns


@pytest.fixture
def large(monkeypatch):
    """Treat every column as too large to be checked at opening."""
    monkeypatch.setattr(store, "SMALL", -1)


def flip(path, name, position=None):
    file = path / f"{name}.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 2 if position is None else position] ^= 1
    file.write_bytes(data)


def test_a_flipped_bit_in_any_small_column_is_refused_at_opening(index, release, copy_index):
    for name in release_columns(release):
        flip(copy_index(release, index), name)
        with pytest.raises(so.StoreError, match=rf"damaged: {name}\.bin does not match its checksum"):
            so.open(index)


@pytest.mark.parametrize("few", [0, integrity.FEW])
def test_a_flipped_bit_in_any_large_column_is_refused_by_check(index, release, copy_index, large, monkeypatch, few):
    """Also if the column is hashed on another thread. A flipped offset is refused at opening."""
    monkeypatch.setattr(integrity, "FEW", few)
    so.open(index).check()
    for name in release_columns(release):
        flip(copy_index(release, index), name)
        with pytest.raises(so.StoreError, match="damaged: "):
            so.open(index).check()


USES = {
    "describe": so.describe,
    "frame": lambda release: release.to_frame(),
    "simulate": lambda release: so.simulate(release, so.Adversary(knows=3), facts=[3], targets=5),
    "audit": lambda release: so.audit(release, targets=5),
    "link": lambda release: so.link(release, release),
    "sanitize": lambda release: so.sanitize(release, ["round-time month"]),
    "sparsity": so.sparsity,
    "unicity": lambda release: so.unicity(release, 2),
    "advise": lambda release: so.advise(release, limit=0.1, targets=5),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["by-record-value", "by-item-word"])
def test_nothing_is_computed_from_a_damaged_column(index, large, use, name):
    flip(index, name, 0)
    release = so.open(index)
    with pytest.raises(so.StoreError, match=rf"damaged: {name}\.bin does not match its checksum"):
        USES[use](release)


def test_a_damaged_original_is_refused_as_well(index, large):
    sanitized = so.sanitize(so.open(index), ["round-time month"])
    flip(index, "by-record-value", 0)
    original = so.open(index)
    with pytest.raises(so.StoreError, match=r"damaged: by-record-value\.bin"):
        so.simulate(copy_of(sanitized, original=original), so.Adversary(knows=3), facts=[3], targets=5)


def test_a_release_from_an_index_with_other_titles_is_not_damaged(index, release):
    opened = so.open(index)
    titled = copy_of(opened, titles=Labels.of(["a title"] * release.n_items))
    assert arrays_of(titled.check()) != arrays_of(opened)


def test_damage_that_is_found_during_the_work_replaces_its_result_and_its_error(index, large):
    flip(index, "by-item-word", 0)
    for error in (None, KeyError):
        with pytest.raises(so.StoreError, match="does not match"), checked_meanwhile(so.open(index)):
            if error is not None:
                raise error


@pytest.mark.parametrize("levels", [[2, 1, 3, 4, 5], [1, 1, 2, 3, 4], [1, 2, 3, 4, np.nan], [1, 2, 3, 4, np.inf]])
def test_levels_that_are_not_finite_and_ascending_are_refused_at_opening(index, release, levels):
    """Even if the checksums match."""
    assert len(release.levels) == 5
    forge_column(index, "levels", np.array(levels, float))
    assert damaged_files(index) == ["manifest.json"]  # its fingerprint
    with pytest.raises(so.StoreError, match="damaged: its values are not distinct and in order"):
        so.open(index)


def test_categories_that_are_equal_are_refused_at_opening(tmp_path):
    frame = pl.DataFrame({"user": ["p", "q"], "item": ["x", "x"], "value": ["aa", "bb"]})
    so.save(so.read(frame, kind="history"), tmp_path / "index")
    forge_column(tmp_path / "index", "level-texts", np.frombuffer(b"aaaa", np.uint8))
    with pytest.raises(so.StoreError, match="damaged: its values are not distinct"):
        so.open(tmp_path / "index")


def test_ids_and_items_that_are_not_in_order_are_refused_by_check(index, release, copy_index):
    """Even if the checksums match."""
    for name in ("record-ids", "item-ids", "by-record-item"):
        column = release_columns(release)[name].copy()
        column[:2] = column[1], column[0]
        forge_column(copy_index(release, index), name, column)
        opened = so.open(index)
        with pytest.raises(so.StoreError, match="damaged: "):
            opened.check()


def test_ids_are_in_order_if_and_only_if_sorting_them_changes_nothing():
    draw = random.Random(5)
    for _ in range(300):
        ids = ["".join(draw.choices("ab", k=draw.choice([0, 1, 2, 2, 3]))) for _ in range(draw.randrange(1, 6))]
        ordered = sorted(set(ids), key=lambda text: shortlex(text.encode()))
        assert _in_order(Labels.of(ordered)) and _in_order(Labels.of(ids)) == (ids == ordered)
