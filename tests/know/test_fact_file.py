"""Facts read from a CSV file."""

from datetime import date, datetime
from itertools import product

import pytest
from fact_cases import DAY, SECRET, read

import standout as so

FACTS = (so.Fact("7", 4.0, DAY), so.Fact("8", 1.5), so.Fact("Brazil", None, datetime(2005, 3, 1, 20, 15)), so.Fact("9"))


TABLE = "item,value,time\n7,4,2005-03-01\n8,1.5,\nBrazil,,2005-03-01T20:15\n9,,\n"


def test_facts_are_read_from_a_table(put):
    aux = read(put, TABLE)
    assert aux.facts == FACTS and aux.length is aux.joined is None
    assert type(aux.facts[0].time) is date and type(aux.facts[2].time) is datetime


def test_a_table_may_have_any_usual_csv_form(put):
    for text in [
        "time,item,value\n2005-03-01,7,4\n,8,1.5\n2005-03-01T20:15,Brazil,\n,9,\n",
        TABLE.replace("item,value,time", "ITEM, Value ,Time"),
        TABLE.replace("\n", "\r\n"),
        TABLE.replace("\n", "\n\n"),
        TABLE.removesuffix("\n"),
        "\ufeff" + TABLE,
        '"item","value","time"\n"7","4","2005-03-01"\n"8",1.5,""\nBrazil,"",2005-03-01T20:15\n9,,\n',
        TABLE.replace(",4,", ", 4 ,").replace("2005-03-01\n", " 2005-03-01 \n").replace("9,,", "9, , "),
        TABLE.replace("T20:15", " 20:15:00"),
    ]:
        assert read(put, text).facts == FACTS


def test_value_and_time_columns_are_optional(put):
    assert read(put, "item\n7\n8\n").facts == (so.Fact("7"), so.Fact("8"))
    assert read(put, "time,item\n2005-03-01,7\n").facts == (so.Fact("7", None, DAY),)
    assert read(put, "item,value\n7,4\n").facts == (so.Fact("7", 4.0),)
    assert read(put, "item\n").facts == ()


def test_errors_of_facts_are_read_from_a_table(put):
    table = "item,value,time,value_error,time_error,doubt\n7,4,2005-03-01,1,14,0.5\n8,1.5,,0, , 0 \n9,,,,,\n"
    assert read(put, table).facts == (
        so.Fact("7", 4.0, DAY, 1, 14, 0.5),
        so.Fact("8", 1.5, value_error=0, doubt=0),
        so.Fact("9"),
    )


def test_a_bad_error_of_a_fact_is_named_by_its_line(put):
    for (cell, allowed), text in product(
        [("value_error", "≥ 0"), ("time_error", "from 0 to 36,525 days"), ("doubt", "from 0 to below 1")],
        ["-1", "nan", "inf", "1e9999", SECRET],
    ):
        with pytest.raises(so.SourceError, match=f"line 2: {cell} must be a number {allowed}, or blank") as error:
            read(put, f"item,{cell}\n7,{text}\n")
        assert SECRET not in str(error.value)


def test_items_are_kept_as_they_are_written(put):
    aux = read(put, 'item\n007\n"Good, the Bad and the Ugly, The"\n"say ""hi"""\n1.0\nAmélie\n')
    assert [fact.item for fact in aux] == ["007", "Good, the Bad and the Ugly, The", 'say "hi"', "1.0", "Amélie"]


def test_a_value_that_is_not_a_number_is_text(put):
    values = [fact.value for fact in read(put, "item,value\na,dvd\nb,-3\nc,1e3\nd,4 stars\ne,.5\n")]
    assert values == ["dvd", -3.0, 1000.0, "4 stars", 0.5]


BAD_LINES = [
    (f"7,4,{SECRET}", "a time must be written like 2005-03-01 or 2005-03-01T20:15"),
    (f"{SECRET},4,2005-02-30", "a time must be written like"),
    (f"{SECRET},4,2005-03-01T25:00", "a time must be written like"),
    (f"{SECRET},4,1109635200", "a time must be written like"),
    (f"{SECRET},nan,", "a value must be finite"),
    (f"{SECRET},-inf,", "a value must be finite"),
    (f"{SECRET},1e999,", "a value must be finite"),
    (f",4,2005-03-01{SECRET}"[:13], "the item is missing"),
    ("  ,4,", "the item is missing"),
    (f"{SECRET},4", "more or fewer cells than the first"),
    (SECRET, "more or fewer cells than the first"),
    (f"{SECRET},4,2005-03-01,{SECRET}", "more or fewer cells than the first"),
    (f"{SECRET},4,,", "more or fewer cells than the first"),
]  # fmt: skip


def test_a_bad_line_is_named_by_its_number_and_not_by_its_content(put):
    for line, complaint in BAD_LINES:
        with pytest.raises(so.SourceError, match=rf"aux\.csv, line 3: .*{complaint}") as caught:
            read(put, f"item,value,time\n1,4,\n{line}\n2,4,\n")
        assert SECRET not in str(caught.value) and "\n" not in str(caught.value)


def test_the_number_of_a_line_counts_blank_lines_and_line_ends_in_quotes(put):
    with pytest.raises(so.SourceError, match="line 7: the item is missing"):
        read(put, 'item,value\n\n1,4\n"two\nlines",4\n\n,4\n')


def test_a_file_may_name_an_item_twice(put):
    aux = read(put, "item,value\n7,4\n8,1\n7,3\n7,3\n")
    assert [(fact.item, fact.value) for fact in aux] == [("7", 4), ("8", 1), ("7", 3), ("7", 3)]


def test_the_first_line_names_the_columns(put):
    for head in [
        "movie,value",
        "value,time",
        f"item,{SECRET}",
        "",
        "\n\n",
        "7,4,2005-03-01",
        "item;value",
        "item,value,time,",
        "item,item",
        "item,value,Value",
    ]:
        with pytest.raises(so.SourceError, match=r"aux\.csv: the first line must name the columns: item ") as caught:
            read(put, f"{head}\n" if head else "")
        assert SECRET not in str(caught.value)


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(so.SourceError, match=r"nothing\.csv cannot be read: No such file"):
        so.Aux.read(tmp_path / "nothing.csv")
    with pytest.raises(so.SourceError, match="cannot be read: Is a directory"):
        so.Aux.read(str(tmp_path))


@pytest.mark.parametrize("content", [
    b"item,value\n7,\xff\xfe4\n", b"\xff\xfei\x00t\x00", "item\nAmélie\n".encode("latin-1"),
    b"item\n" + b"7\n" * 9_000 + b"\xff\n",
], ids=["value", "utf-16", "latin-1", "late"])  # fmt: skip
def test_a_file_that_is_not_utf_8_is_refused(put, content):
    with pytest.raises(so.SourceError, match=r"aux\.csv is not a CSV file in UTF-8") as caught:
        read(put, content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ['item\n"7\n', f'item\n"7"{SECRET}\n'])
def test_unbalanced_quotes_are_refused(put, text):
    with pytest.raises(so.SourceError, match=r"aux\.csv.*CSV") as caught:
        read(put, text)
    assert SECRET not in str(caught.value)
