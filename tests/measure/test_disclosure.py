"""Attribute disclosure: every number is that of its slow twin."""

import math

import pytest
from hypothesis import assume, given
from risk_cases import CELLS, table, tables

import naive
import standout as so
from standout.measure.classes import ORDERED_KINDS, attribute_disclosure


def split(case):
    """Quasi-identifiers and the last column as the sensitive one; it must have values."""
    rows, kinds = case
    assume(len(kinds) > 1 and any(row[-1] is not None for row in rows))
    return rows, kinds, table(rows, kinds), range(len(kinds) - 1), len(kinds) - 1


@given(tables(max_rows=14, max_columns=3))
def test_l_diversity_and_certain_values_are_those_of_the_slow_twins(case):
    rows, _, risk_table, known, secret = split(case)
    found = attribute_disclosure(risk_table, risk_table.column_names[:-1], risk_table.column_names[-1])
    assert found.distinct_l == naive.distinct_l(rows, known, secret)
    assert found.entropy_l == pytest.approx(naive.entropy_l(rows, known, secret), rel=1e-9)
    assert found.recursive_c == pytest.approx(naive.recursive_c(rows, known, secret), rel=1e-12)
    assert found.certain.value == pytest.approx(naive.rows_with_certain_value(rows, known, secret))
    in_groups = naive.rows_with_certain_value(rows, known, secret, smallest=2)
    assert found.certain_in_groups.value == pytest.approx(in_groups)
    assert found.known_rows == sum(row[secret] is not None for row in rows)


@given(tables(max_rows=14, max_columns=3))
def test_closeness_is_the_distance_over_ranks_for_ordered_kinds_and_half_the_sum_for_others(case):
    rows, kinds, risk_table, known, secret = split(case)
    found = attribute_disclosure(risk_table, risk_table.column_names[:-1], risk_table.column_names[-1])
    order = CELLS[kinds[-1]].index if kinds[-1] in ORDERED_KINDS else None
    assert found.t == pytest.approx(naive.closeness(rows, known, secret, order), abs=1e-12)


@given(tables(max_rows=14, max_columns=3))
def test_right_guesses_with_and_without_the_targets_own_row_are_those_of_the_slow_twins(case):
    rows, _, risk_table, known, secret = split(case)
    found = attribute_disclosure(risk_table, risk_table.column_names[:-1], risk_table.column_names[-1])
    assert found.guess.value == pytest.approx(naive.guess_from_class(rows, known, secret))
    assert found.guess_from_others.value == pytest.approx(naive.guess_from_others(rows, known, secret))
    assert found.guess.baseline == pytest.approx(naive.guess_from_class(rows, (), secret))
    assert found.guess_from_others.low <= found.guess_from_others.value <= found.guess_from_others.high
    assert found.guess.value >= found.guess.baseline - 1e-12
    assert found.guess.value >= found.guess_from_others.value - 1e-12


def test_a_random_sensitive_value_is_certain_for_unique_rows_but_not_guessed_from_others():
    rows = [(float(i), "ab"[i % 2]) for i in range(10)]
    found = attribute_disclosure(table(rows, ["number", "category"]), ["0"], "1")
    assert found.guess.value == found.certain.value == 1
    assert found.guess_from_others.value == found.certain_in_groups.value == 0
    assert math.isinf(found.recursive_c)


def test_a_missing_sensitive_value_does_not_hide_that_the_others_agree():
    rows = [("a", "x"), ("a", "x"), ("a", None), ("b", "x"), ("b", "y")]
    found = attribute_disclosure(table(rows, ["category", "category"]), ["0"], "1")
    assert found.distinct_l == 1 and found.certain.value == 0.5 and found.known_rows == 4


def test_a_sensitive_column_without_values_or_among_the_known_ones_is_refused():
    with pytest.raises(so.ParameterError, match="no values"):
        attribute_disclosure(table([("a", None)], ["category", "category"]), ["0"], "1")
    with pytest.raises(so.ParameterError, match="must not be"):
        attribute_disclosure(table([("a", "b")], ["category", "category"]), ["0"], "0")
