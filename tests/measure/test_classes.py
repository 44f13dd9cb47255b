"""Equivalence classes and what is counted of them are those of the slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_cases import column, table, tables

import naive
import standout as so
from standout.data.release import Release
from standout.measure import equivalence as classes_module
from standout.measure.equivalence import MISSING, cell_codes, equivalence_classes, identity_risk, matching_rows


@given(tables())
def test_rows_are_in_one_class_exactly_if_all_their_cells_are_equal(case):
    rows, kinds = case
    risk_table = table(rows, kinds)
    classes = equivalence_classes(risk_table, risk_table.column_names)
    for i, row in enumerate(rows):
        assert [bool(number == classes.number[i]) for number in classes.number] == [row == x for x in rows]
    assert classes.counts[classes.number].tolist() == naive.class_sizes(rows, range(len(kinds)))
    assert sorted(set(classes.number.tolist())) == list(range(len(classes.counts)))


@given(tables(), st.sampled_from(MISSING))
def test_as_many_rows_agree_as_the_slow_twin_counts_whatever_missing_cells_mean(case, missing):
    rows, kinds = case
    risk_table = table(rows, kinds)
    sizes = matching_rows(risk_table, risk_table.column_names, missing)
    assert sizes.tolist() == naive.class_sizes(rows, range(len(kinds)), missing)


@given(tables())
def test_a_missing_cell_that_agrees_with_everything_never_makes_a_row_stand_out_more(case):
    rows, kinds = case
    risk_table = table(rows, kinds)
    names = risk_table.column_names
    assert (matching_rows(risk_table, names, "any") >= matching_rows(risk_table, names, "equal")).all()


@given(tables(max_columns=6), st.integers(1, 40))
def test_classes_do_not_depend_on_when_partial_keys_are_numbered(case, largest):
    rows, kinds = case
    risk_table = table(rows, kinds)
    whole = equivalence_classes(risk_table, risk_table.column_names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes_module, "LARGEST_KEY", largest)
        parts = equivalence_classes(risk_table, risk_table.column_names)
    assert (whole.number == parts.number).all() and (whole.counts == parts.counts).all()


@given(tables(), st.sampled_from(MISSING))
def test_k_uniqueness_and_prosecutor_risk_are_those_of_the_slow_twins(case, missing):
    rows, kinds = case
    columns, risk_table = range(len(kinds)), table(rows, kinds)
    risk = identity_risk(risk_table, risk_table.column_names, missing)
    assert risk.k == naive.k_anonymity(rows, columns, missing)
    assert risk.unique.value == naive.share_of_rows(rows, columns, lambda f: f == 1, missing)
    assert risk.mean.value == pytest.approx(naive.marketer_risk(rows, columns, missing), rel=1e-12)
    assert risk.highest.value == 1 / risk.k
    for limit, share in risk.smaller:
        assert share.value == naive.share_of_rows(rows, columns, lambda f, s=limit: f < s, missing)
    for limit, share in risk.above:
        assert share.value == naive.share_of_rows(rows, columns, lambda f, t=limit: 1 / f > t, missing)
    assert sum(size.rows for size in risk.sizes) == risk.n_rows == len(rows)
    assert risk.unique.low == risk.unique.value == risk.unique.high


@given(tables())
def test_marketer_risk_is_the_number_of_classes_divided_by_the_number_of_rows(case):
    rows, kinds = case
    risk_table = table(rows, kinds)
    classes = equivalence_classes(risk_table, risk_table.column_names)
    risk = identity_risk(risk_table, risk_table.column_names)
    assert risk.mean.value == pytest.approx(len(classes.counts) / len(rows), rel=1e-12)


def test_a_risk_of_exactly_the_threshold_is_not_above_it():
    risk = identity_risk(Release.of_columns((column("a", "category", ["x"] * 5),)), ["a"])
    assert dict(risk.above)[0.2].value == 0
    assert dict(risk.above)[0.1].value == 1


def test_sets_of_equal_members_are_one_value_and_subsets_are_not():
    cells = [frozenset("ab"), frozenset("a"), frozenset("ab"), None, frozenset("b")]
    codes, n_codes = cell_codes(column("likes", "set", cells))
    assert codes.tolist() == [0, 1, 0, 2, 3] and n_codes == 4


def test_many_columns_of_many_levels_need_more_than_64_bits_and_are_still_exact():
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 40, (300, 20))
    cells[:100] = cells[100:200]
    risk_table = table([tuple(map(float, row)) for row in cells], ["number"] * 20)
    classes = equivalence_classes(risk_table, risk_table.column_names)
    assert len(classes.counts) == 200 and (classes.counts == 1).sum() == 100


def test_too_many_patterns_of_missing_cells_are_refused(monkeypatch):
    monkeypatch.setattr(classes_module, "MOST_COMPARISONS", 5)
    with pytest.raises(so.ParameterError, match="3 such patterns: name fewer"):
        matching_rows(table([("a", "b"), (None, "b"), ("a", None)], ["category"] * 2), ["0", "1"], "any")


def test_unknown_columns_and_conventions_are_refused():
    risk_table = table([("a",)], ["category"])
    with pytest.raises(so.ParameterError, match="columns must name at least one"):
        equivalence_classes(risk_table, [])
    with pytest.raises(so.NotFoundError, match="no column 'zip'"):
        equivalence_classes(risk_table, ["zip"])
    with pytest.raises(so.ParameterError, match="missing must be one of equal, any"):
        matching_rows(risk_table, ["0"], "none")
