"""kᵐ-anonymity: the same entries as the slow twin keeps, and the guarantee holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sanitizing_data import drawn_rows, releases, table

import naive
import standout as so
from conftest import content


@given(releases(least=8), st.integers(2, 4), st.integers(1, 2))
def test_at_least_k_records_have_any_m_items_of_a_record(release, k, m):
    entries = content(release)
    expected = naive.km_suppress(entries, k, m)
    if not expected or k > release.n_records:
        with pytest.raises(so.ParameterError, match=r"nothing would be left|fewer than"):
            so.sanitize(release, so.steps.KmSuppress(k, m))
        return
    safer = so.sanitize(release, so.steps.KmSuppress(k, m))
    assert content(safer) == {cell: entries[cell] for cell in expected}
    assert naive.fewest_records(expected, m) >= k


def test_a_removed_entry_may_cause_others_to_be_removed():
    for seed in range(15):
        release = table(list(drawn_rows(seed, records=30, items=8, share=0.5)))
        expected = naive.km_suppress(content(release), 4, 2)
        assert expected
        assert set(content(so.sanitize(release, so.steps.KmSuppress(4, 2)))) == expected


@pytest.mark.parametrize(("k", "m"), [(15, 1), (5, 2)])
def test_the_guarantee_holds_on_more_data(k, m):
    release = table(list(drawn_rows(m, records=40, items=12, share=0.3)))
    safer = so.sanitize(release, so.steps.KmSuppress(k, m))
    assert naive.fewest_records(content(safer), m) >= k
    assert safer.n_entries < release.n_entries


def test_too_many_combinations_are_refused_before_they_are_counted(monkeypatch, small_release):
    monkeypatch.setattr("standout.sanitizing.k_steps.MOST_PAIRS", 3)
    with pytest.raises(so.ParameterError, match="pairs of items would be counted"):
        so.sanitize(small_release, "km-suppress 2 2")
