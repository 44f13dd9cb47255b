"""Levels and codes are those of the slow twin, whatever the cells are."""

from datetime import date, timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from naive import tables as naive
from standout.ingest.cells import distinct_cells
from standout.ingest.kinds import levels_of, make_column, spread
from standout.ingest.schema import ColumnSchema

EMPTY = st.sampled_from([None, "", " ", "?", "NA", "n/a"])
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: repr(round(x, 2)))
WORDS = st.sampled_from(["a", " a", "b ", "Ä", "two words", "none", "0x", "unknown"])
DATES = st.integers(-30_000, 30_000).map(lambda n: (date(1970, 1, 1) + timedelta(days=n)).isoformat())


def column_of(texts, **wish):
    cells = distinct_cells(pl.Series("c", texts, dtype=pl.String))
    return make_column("c", cells, levels_of("c", cells, ColumnSchema(**wish)))


def lists(cells):
    return st.lists(st.one_of(cells, EMPTY), min_size=1, max_size=30)


@given(lists(NUMBERS))
def test_numbers_are_encoded_as_by_the_slow_twin(texts):
    column = column_of(texts, kind="number")
    levels, codes = naive.encoded(texts, lambda text: float(text) + 0.0)
    assert column.levels.tolist() == levels and column.codes.tolist() == codes


@given(lists(DATES))
def test_dates_are_encoded_as_by_the_slow_twin(texts):
    column = column_of(texts, kind="date", date_format="iso")
    levels, codes = naive.encoded(texts, naive.day)
    assert column.levels.tolist() == levels and column.codes.tolist() == codes


@given(lists(WORDS))
def test_categories_are_encoded_as_by_the_slow_twin(texts):
    column = column_of(texts, kind="category")
    levels, codes = naive.encoded(texts, str)
    assert list(column.levels) == levels and column.codes.tolist() == codes


@given(lists(st.lists(st.sampled_from("abcd"), min_size=1).map(";".join)))
def test_sets_are_encoded_as_by_the_slow_twin(texts):
    column = column_of(texts, kind="set", separator=";")
    members, codes = naive.encoded_sets(texts, ";")
    rows = [column.codes[a:b].tolist() for a, b in zip(column.starts, column.starts[1:], strict=False)]
    assert list(column.levels) == members and rows == codes
    assert column.counts[-1] == sum(not own for own in codes)


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5), st.floats(-9, 9)), min_size=1))
def test_typed_cells_give_the_same_codes_as_their_texts(cells):
    typed = distinct_cells(pl.Series("c", cells, dtype=pl.Float64))
    column = make_column("c", typed, levels_of("c", typed, ColumnSchema(kind="number")))
    levels, codes = naive.encoded(
        [None if cell is None else repr(float(cell)) for cell in cells], lambda t: float(t) + 0.0
    )
    assert column.levels.tolist() == levels and column.codes.tolist() == codes


@given(st.lists(st.integers(0, 50), min_size=3, max_size=40))
def test_the_spread_is_between_the_10th_and_the_90th_percentile(numbers):
    frame = pl.DataFrame({"age": numbers})
    column = so.read(frame, schema={"age": {"kind": "number"}}).columns[0] if len({*numbers}) > 1 else None
    expected = naive.percentile_spread(numbers)
    if column is not None and expected > 0:
        assert spread(column) == expected


def test_the_kind_follows_from_the_cells():
    for cells, kind, levels in [
        (["yes", "no", "Yes"], "boolean", ["false", "true"]),
        (["j", "n", "j"], "boolean", ["false", "true"]),
        (["0", "1", "0"], "boolean", ["false", "true"]),
        (["m", "f", "m"], "category", ["f", "m"]),
        (["1", "2", "unknown"], "number", [1.0, 2.0]),
        (["1,5", "2,25", "3"], "number", [1.5, 2.25, 3.0]),
        (["1,500", "2,250,000", "3"], "number", [3.0, 1500.0, 2250000.0]),
        (["1.234.567,5", "1.000,25", "7"], "number", [7.0, 1000.25, 1234567.5]),
        (["−3", "4.5"], "number", [-3.0, 4.5]),
        (["$5", "$7.50", "$9"], "number", [5.0, 7.5, 9.0]),
        (["5 %", "7 %", "9 %"], "number", [5.0, 7.0, 9.0]),
        (["1e3", "-2", "+4"], "number", [-2.0, 4.0, 1000.0]),
        (["01234", "10115", "99999"], "category", ["01234", "10115", "99999"]),
        (["123456789", "987654321", "123123123"], "category", ["123123123", "123456789", "987654321"]),
        (["31.12.2010", "1.2.2011"], "date", [14974.0, 15006.0]),
        (["20101231", "20110201", "20110202"], "date", [14974.0, 15006.0, 15007.0]),
        (["2010-12", "2011-02"], "date", [14944.0, 15006.0]),
        (["low", "high", "medium"], "ordered", ["low", "medium", "high"]),
        (["1 - never", "5 - always", "3 - sometimes"], "ordered", ["1 - never", "3 - sometimes", "5 - always"]),
        (["20-29", "<20", "30+"], "ordered", ["<20", "20-29", "30+"]),
        (["100s", "20s", "0s"], "ordered", ["0s", "20s", "100s"]),
        (["inf", "1", "2"], "category", ["1", "2", "inf"]),
        (["Smith, Jane", "Jones, Tim"], "category", ["Jones, Tim", "Smith, Jane"]),
        (["a|b", "a", "b|c|a", "c"], "set", ["a", "b", "c"]),
        (["DE", "NA", *"FR IT ES PT GB US PL CZ AT CH".split()], "category", None),  # noqa: SIM905
    ]:
        column = column_of(cells)
        assert column.kind == kind
        assert levels is None or list(column.levels) == levels
        assert column.counts[-1] == cells.count("unknown")


def test_a_kind_that_does_not_fit_is_an_error_without_a_cell():
    for texts, kind in product([["1", "x"], ["2020-01-01", "x"], ["yes", "x"]], ["number", "date", "boolean", "set"]):
        frame = pl.DataFrame({"c": texts, "d": [1, 2]})
        with pytest.raises(so.ColumnError, match="column 'c'") as caught:
            so.read(frame, schema={"c": {"kind": kind}, "d": {}})
        assert "x'" not in str(caught.value) and "2020" not in str(caught.value)


def test_lists_of_a_frame_are_sets():
    frame = pl.DataFrame({"tags": [["b", "a", "b"], [], None, ["c"]], "n": [1, 2, 3, 4]})
    column = so.read(frame, kind="table").column("tags")
    assert column.kind == "set" and column.levels == ("a", "b", "c")
    assert np.diff(column.starts).tolist() == [2, 0, 0, 1] and column.codes.tolist() == [0, 1, 2]


def test_lists_of_lists_are_refused():
    with pytest.raises(so.ColumnError, match="'c' has nested or binary data"):
        distinct_cells(pl.Series("c", [[[1], [2]], [[3]]]))


def test_the_character_that_separates_members_is_refused_in_one():
    with pytest.raises(so.ColumnError, match=r"'c' has members with the control character U\+001F"):
        distinct_cells(pl.Series("c", [["a", "b\x1fc"], ["a"]]))
