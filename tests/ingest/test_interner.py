"""Ids are opaque text, whatever their form."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_texts import joined

import naive
import standout as so
from conftest import content
from standout.ingest import tokens as intern

names_of_ids = st.one_of(
    st.text("07", min_size=1, max_size=20), st.text("ab ", min_size=1, max_size=9), st.integers(0).map(str)
)


@given(st.lists(st.tuples(names_of_ids, names_of_ids), min_size=1, max_size=60))
def test_ids_are_opaque_text(put, pairs):
    release = so.read(put("user,item\n" + joined(pairs)))
    assert set(content(release)) == set(pairs)
    assert list(release.records) == naive.shortlex({record for record, _ in pairs})
    assert list(release.items) == naive.shortlex({item for _, item in pairs})


def test_ids_keep_every_digit_and_space(put):
    ids = ["7", "007", "07", " 7", "7 ", "7.0", "+7", "1234567", "12345678", "123456é", "1234567é"]
    ids += ["12345678901234567890", "12345678901234567891", "x" * 5_000, "x" * 4_999 + "y"]
    release = so.read(put("user,item\n" + "".join(f"{label},i\n" for label in ids)))
    assert set(release.records) == set(ids)
    assert all(release.record(label).support == ("i",) for label in ids)


@pytest.mark.large
def test_a_hundred_thousand_ids_stay_apart(put):
    pairs = [(f"{i:x}" * (1 + i % 3), f"item-{i % 50_021}") for i in range(100_000)]
    release = so.read(put("user,item\n" + joined(pairs)))
    assert sorted(release.to_frame().rows()) == sorted(set(pairs))


@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="the hash is compiled in")
def test_ids_with_the_same_hash_stay_apart(put, monkeypatch):
    monkeypatch.setattr(intern, "_slot", lambda key: np.int64(1023))
    monkeypatch.setattr(intern, "_key", lambda buffer, start, end: intern.LONG)
    ids = [f"{kind}{i}" for kind in ("longer-than-seven-", "also-longer-than-") for i in range(40)]
    assert set(so.read(put("user,item\n" + "".join(f"{label},12345678\n" for label in ids))).records) == set(ids)
