"""Whether the first line of a table has names: a row of data is never taken for a header."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.ingest.formats import Options
from standout.ingest.roles import has_header

ROW = st.tuples(st.integers(18, 90).map(str), st.sampled_from(["f", "m"]), st.sampled_from(["a", "b", "c"]))


@given(st.lists(ROW, min_size=20, max_size=50))
def test_names_above_rows_are_a_header_and_a_row_is_none(rows):
    assert has_header([("years", "kind", "letter"), *rows], Options(kind="table"))
    assert not has_header(rows, Options(kind="table"))


@given(st.lists(st.tuples(st.sampled_from("fm"), st.sampled_from("abc")), min_size=40, max_size=50))
def test_a_row_of_texts_is_not_taken_for_names(rows):
    with suppress(so.ColumnError):  # the user decides
        assert not has_header(rows, Options(kind="table"))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("age", "sex"), ("30", "f")], True),
        ([("", "income"), ("1", "5000"), ("2", "6000"), ("3", "100")] + [("4", "7")] * 9, True),
        ([("2019", "2020"), ("1", "2")], False),
        ([("age", "age"), *[("1", "2")] * 9], True),  # an error: the names must differ
        ([("age", "", ""), *[("1", "2", "3")] * 9], True),
    ],
)
def test_known_names_and_words_above_numbers_are_a_header(rows, expected):
    assert has_header(rows, Options(kind="table")) is expected


def test_years_among_names_are_for_the_user_to_decide():
    rows = [("person", "2019"), *[(str(i), str(i * i)) for i in range(20)]]
    with pytest.raises(so.ColumnError, match="header=True or header=False"):
        has_header(rows, Options(kind="table"))
    assert not has_header([("unknown", "2019"), *rows[1:]], Options(kind="table"))
