"""Delimited text: every cell arrives as it was written, whatever the separator, quotes and line ends."""

import gzip
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_texts import HEADER, KEPT, NUMBERED, PLAIN, TABLE, TEXT, joined

import naive
import standout as so
from conftest import content, outcome, windows


def test_any_separator_reads_with_and_without_a_header(put):
    for separator in [",", "\t", ";", "|", " ", "::", "§", "||", "<->", "→→", "ab::"]:
        for header in [True, False]:
            for size in [1 << 20, 5]:
                path = put(joined([HEADER, *TABLE] if header else TABLE, separator))
                with windows(size):
                    named = {} if header else NUMBERED
                    assert content(so.read(path, separator=separator, **named)) == KEPT


def test_usual_separators_are_recognised(put):
    for separator in [",", "\t", ";", "|", " ", "::"]:
        for header in [True, False]:
            path = put(joined([HEADER, *TABLE] if header else TABLE, separator))
            assert content(so.read(path, **({} if header else NUMBERED))) == KEPT


def test_an_invalid_separator_is_refused():
    for separator in ["", "\n", 'a"', "\r\n"]:
        with pytest.raises(so.ParameterError, match="separator must be"):
            so.read("anything.csv", separator=separator)


def test_an_invalid_quote_is_refused():
    for quote in ["''", "\n", "é"]:
        with pytest.raises(so.ParameterError, match="quote must be"):
            so.read("anything.csv", quote=quote)


def test_a_quote_is_not_the_separator():
    with pytest.raises(so.ParameterError):
        so.read("anything.csv", separator="|", quote="|")


def test_a_file_without_a_recognised_separator_is_refused(put):
    with pytest.raises(so.SourceError, match="separator="):
        so.read(put("one\ntwo\nthree\n"))


def test_line_ends_quotes_and_blank_lines_do_not_change_the_release(put):
    for text, options in [
        (TEXT.replace("\n", "\r\n"), {}),
        (TEXT.removesuffix("\n"), {}),
        (TEXT.replace("\n", "\r\n").removesuffix("\n"), {}),
        ("\ufeff" + TEXT, {}),
        ('\ufeff"user","item","rating"\n' + TEXT.split("\n", 1)[1], {}),
        (TEXT.replace("\n", "\n\n"), {}),
        ("\n\r\n" + TEXT.replace("\n", "\r\n\r\n"), {}),
        (TEXT.replace("a,", '"a",').replace("4", '"4"'), {}),
        (TEXT.replace("a,", "'a',"), {"quote": "'"}),
        (TEXT.replace(",", "::"), {"separator": "::"}),
    ]:
        for size in [1 << 20, 1, 7]:
            with windows(size):
                release = so.read(put(text), **options)
            assert content(release) == PLAIN
            assert release.fingerprint == so.read(put(TEXT)).fingerprint


def test_lines_that_end_in_cr_alone_are_read_or_refused_but_never_merged(put):
    with suppress(so.SourceError):
        assert set(content(so.read(put("user,item\ra,x\rb,y\r")))) == {("a", "x"), ("b", "y")}


def test_quotes_protect_separators_line_ends_and_quotes(put):
    text = 'user,item\n"a,b","x\ny"\n"say ""hi""",""""\n5" disk,a"b"\n'
    wanted = {("a,b", "x\ny"), ('say "hi"', '"'), ('5" disk', 'a"b"')}
    for size in (1 << 20, 2, 3, 11):
        with windows(size):
            assert set(content(so.read(put(text)))) == wanted


def test_without_a_quote_character_quotes_are_text(put):
    path = put('user,item\n"a,"b"\n"a","b"\n')
    assert set(content(so.read(path, quote=""))) == {('"a', '"b"'), ('"a"', '"b"')}


def test_the_line_of_a_quote_that_is_not_closed_is_reported(put):
    for size in [1 << 20, 8]:
        with windows(size), pytest.raises(so.SourceError, match=r"line 4 .*quote="):
            so.read(put('user,item\na,"x\ny"\nb,"z\nc,d\n'))


alphabet = st.sampled_from(list('ab0 ,;|\t"\n\r:é→😀'))


names = st.text(alphabet, min_size=1, max_size=12)


values = st.sampled_from(["", "1", "2.0", "-3", "+0.5", "1e2", " 4 "])


dates = st.sampled_from(["", "2005-03-01", "1969-12-31", "2004-02-29"])


rows_of_text = st.lists(st.tuples(names, names, values, dates), min_size=1, max_size=8)


sizes = st.integers(16, 64)


def written(rows, separator, end, draw):
    """A delimited text: cells in quotes where they must be and sometimes where they need not, blank lines."""

    def cell(text):
        must = text.startswith('"') or any(mark in text for mark in (separator, "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if must or draw.random() < 0.3 else text

    return "".join(separator.join(map(cell, row)) + end + (end if draw.random() < 0.2 else "") for row in rows)


@given(rows_of_text, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.randoms(), sizes)
def test_windows_of_any_size_give_the_same_rows_as_the_csv_module(put, rows, separator, end, draw, size):
    text = written([HEADER, *rows], separator, end, draw)
    twin = naive.cells(text, separator)
    assert twin[1:] == [list(row) for row in rows]
    wanted = naive.entries(
        (record, item, naive.number(value), naive.day(date) if date else None) for record, item, value, date in twin[1:]
    )
    with windows(size):
        assert content(so.read(put(text), separator=separator, repeats="last")) == wanted


@given(
    st.lists(st.lists(st.text("ab:é", max_size=5), min_size=1, max_size=3), min_size=1, max_size=8),
    st.sampled_from(["::", ":a", "é:", "→"]),
    sizes,
)
def test_long_separators_give_the_same_rows_as_splitting(put, rows, separator, size):
    text = joined([("user", "item"), *rows], separator)
    lines = dict(enumerate(text.split("\n"), 1))
    good = {line: tuple(text.split(separator)) for line, text in lines.items() if line > 1}
    good = {line: row for line, row in good.items() if len(row) == 2 and all(row)}
    with windows(size):
        kept, bad = outcome(put(text + f"last{separator}one\n"), separator=separator)
    assert set(kept) == {*good.values(), ("last", "one")}
    assert set(bad) == {line for line, text in lines.items() if line > 1 and text and line not in good}


@given(st.text(st.sampled_from(list('ab,"\n\r\n,é')), max_size=80), sizes)
def test_the_size_of_the_window_changes_nothing_whatever_the_text(put, text, size):
    path = put("user,item,note\n" + text)

    def read_all():
        try:
            return outcome(path)
        except so.SourceError as error:
            return str(error)

    whole = read_all()
    with windows(size):
        assert read_all() == whole


@pytest.mark.large
def test_rows_on_the_edge_of_a_real_window_stay_whole(put):
    for compressed in [False, True]:
        seed = 11
        draw = random.Random(seed)
        pairs = [(f"u{draw.randrange(9_000)}", f"film,{i // 2}" * draw.randrange(1, 9)) for i in range(60_000)]
        text = "user,item\n" + "".join(f'{user},"{item}"\n' for user, item in pairs)
        assert len(text) > 2 << 20
        data = text.encode()
        frame = so.read(put(gzip.compress(data) if compressed else data)).to_frame()
        assert sorted(frame.rows()) == sorted(set(pairs))


def test_column_names_are_listed_if_they_are_certainly_names(put):
    with pytest.raises(so.ColumnError, match="the columns are customer, thing, rating"):
        so.read(put("customer,thing,rating\na,b,1\n"), record="person")
