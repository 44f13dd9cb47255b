"""Small CSV files that people edit."""

import csv

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from standout.data.export import exact_text, inert

pytestmark = pytest.mark.once

ODD = ["=1", "'=2", "+3", "@4", "＝5", "6", "=cmd()", "'=quoted (1999)", "-Minus- Man (1999)"]
ODD += ['He said "no", twice\nand left', "Plain; with, both", "'Round Midnight (1986)"]


@given(st.lists(st.text(), min_size=1))
def test_escaped_texts_are_read_back_exactly_and_none_is_a_formula(texts):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    assert [exact_text(naive.escaped_cell(text)) for text in texts] == texts
    assert not any(naive.escaped_cell(text)[:1] in {*"=+-@\t\r\n＝＋－＠"} for text in texts if text)


def test_cells_are_escaped_like_the_slow_ones(tmp_path):
    texts = [*ODD, "''=", "a=b", "'", "", "\tx", "-"]
    inert(pl.DataFrame({"text": texts})).write_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == [naive.escaped_cell(text) for text in texts]
