"""Delimited text: every cell arrives as it was written, every row that cannot be used is counted."""

import gzip
import io
import random
import re
import zipfile
from contextlib import suppress

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content, outcome, windows
from standout.ingest import interner as intern
from standout.ingest.options import Options
from standout.ingest.read import SourceReader
from standout.ingest.rejects import Reason
from standout.ingest.sources import zstd

TABLE = [("7", "a", "4", "2005-03-01"), ("007", "a", "0.5", "2005-03-02"), ("7", "b", "", "")]
KEPT = {
    ("7", "a"): (4.0, naive.day("2005-03-01")),
    ("007", "a"): (0.5, naive.day("2005-03-02")),
    ("7", "b"): (None, None),
}
HEADER = ("user", "item", "rating", "date")
TEXT = "user,item,rating\na,x,4\nb,x,3\nb,y,5\n"
PLAIN = {("a", "x"): (4.0, None), ("b", "x"): (3.0, None), ("b", "y"): (5.0, None)}


def joined(rows, separator=",", end="\n"):
    return "".join(separator.join(row) + end for row in rows)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " ", "::", "§", "||", "<->", "→→", "ab::"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("size", [1 << 20, 5])
def test_any_separator_reads_with_and_without_a_header(put, separator, header, size):
    path = put(joined([HEADER, *TABLE] if header else TABLE, separator))
    with windows(size):
        assert content(so.read(path, separator=separator)) == KEPT


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " ", "::"])
@pytest.mark.parametrize("header", [True, False])
def test_usual_separators_are_recognised(put, separator, header):
    path = put(joined([HEADER, *TABLE] if header else TABLE, separator))
    assert content(so.read(path)) == KEPT


@pytest.mark.parametrize("separator", ["", "\n", 'a"', "\r\n"])
def test_a_separator_that_cannot_be_one_is_refused(separator):
    with pytest.raises(so.ParameterError, match="separator must be"):
        so.read("anything.csv", separator=separator)


@pytest.mark.parametrize("quote", ["''", "\n", "é"])
def test_a_quote_that_cannot_be_one_is_refused(quote):
    with pytest.raises(so.ParameterError, match="quote must be"):
        so.read("anything.csv", quote=quote)


def test_a_quote_is_not_the_separator():
    with pytest.raises(so.ParameterError):
        so.read("anything.csv", separator="|", quote="|")


def test_a_file_in_which_no_separator_fits_says_so(put):
    with pytest.raises(so.SourceError, match="--separator"):
        so.read(put("one\ntwo\nthree\n"))


@pytest.mark.parametrize(
    ("text", "options"),
    [
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
    ],
    ids=["crlf", "no end", "crlf, half an end", "bom", "bom and quotes", "blank lines", "blank crlf lines",
         "quotes", "other quotes", "long separator"],
)  # fmt: skip
@pytest.mark.parametrize("size", [1 << 20, 1, 7])
def test_the_way_a_file_is_written_changes_nothing(put, text, options, size):
    with windows(size):
        release = so.read(put(text), **options)
    assert content(release) == PLAIN
    assert release.fingerprint == so.read(put(TEXT)).fingerprint


def test_lines_that_end_as_on_an_old_mac_are_read_or_refused_never_merged(put):
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


@pytest.mark.parametrize("size", [1 << 20, 8])
def test_a_quote_left_open_is_named_by_its_line(put, size):
    with windows(size), pytest.raises(so.SourceError, match=r"line 4 .*--quote"):
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

    return "".join(
        separator.join(map(cell, row)) + end + (end if draw.random() < 0.2 else "") for row in rows
    )


@given(rows_of_text, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.randoms(), sizes)
def test_reads_what_the_csv_module_reads_in_windows_of_any_size(put, rows, separator, end, draw, size):
    text = written([HEADER, *rows], separator, end, draw)
    twin = naive.cells(text, separator)
    assert twin[1:] == [list(row) for row in rows]
    wanted = naive.entries(
        (record, item, naive.number(value), naive.day(date) if date else None)
        for record, item, value, date in twin[1:]
    )
    with windows(size):
        assert content(so.read(put(text), separator=separator)) == wanted


@given(
    st.lists(st.lists(st.text("ab:é", max_size=5), min_size=1, max_size=3), min_size=1, max_size=8),
    st.sampled_from(["::", ":a", "é:", "→"]),
    sizes,
)
def test_reads_what_splitting_reads_where_the_separator_is_long(put, rows, separator, size):
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

    def told():
        try:
            return outcome(path)
        except so.SourceError as error:
            return str(error)

    whole = told()
    with windows(size):
        assert told() == whole


@pytest.mark.large
@pytest.mark.parametrize("compressed", [False, True])
def test_rows_on_the_edge_of_a_real_window_stay_whole(put, compressed):
    seed = 11
    draw = random.Random(seed)
    pairs = [(f"u{draw.randrange(9_000)}", f"film,{i}" * draw.randrange(1, 9)) for i in range(60_000)]
    text = "user,item\n" + "".join(f'{user},"{item}"\n' for user, item in pairs)
    assert len(text) > 2 << 20
    data = text.encode()
    frame = so.read(put(gzip.compress(data) if compressed else data)).to_frame()
    assert sorted(frame.rows()) == sorted(set(pairs))


@pytest.mark.parametrize("size", [1 << 20, 16])
def test_rows_that_cannot_be_used_are_named_by_line_and_reason(put, size):
    text = (
        "user,item,rating,date\n"
        "a,x,1,2005-03-01\n"
        "a,y,1\n"  # 3
        "\n"
        "a,z,1,2005-03-01,more\n"  # 5
        '"b\nb",x,2,2005-03-01\n'
        ",x,1,2005-03-01\n"  # 8
        'a,"",1,2005-03-01\n'  # 9
        '"a"b,x,1,2005-03-01\n'  # 10
        "c,x,good,2005-03-01\n"  # 11
        "c,y,NaN,2005-03-01\n"  # 12
        "c,z,-inf,2005-03-01\n"  # 13
        "d,x,1,2005-02-29\n"  # 14
        "d,y,1,1109635200\n"  # 15
        "d,z,1,01.03.2005\n"  # 16
        "  \n"  # 17
        "e,x,3,2005-03-04"
    )
    with windows(size):
        kept, bad = outcome(put(text))
    assert set(kept) == {("a", "x"), ("b\nb", "x"), ("e", "x")}
    assert {line: reason for line, reason in bad.items() if line not in (14, 15, 16)} == {
        3: Reason.TOO_FEW_FIELDS,
        5: Reason.TOO_MANY_FIELDS,
        8: Reason.NO_RECORD,
        9: Reason.NO_ITEM,
        10: Reason.STRAY_QUOTE,
        11: Reason.NOT_A_NUMBER,
        12: Reason.NOT_FINITE,
        13: Reason.NOT_FINITE,
        17: Reason.TOO_FEW_FIELDS,
    }
    assert {bad[line] for line in (14, 15, 16)} <= {Reason.UNREADABLE_TIME, Reason.OTHER_TIME_FORMAT}


def test_lines_are_counted_anew_in_every_file(put):
    one, other = put("user,item,rating\na,x,1\na,y\n"), put("user,item,rating\nb,x\nb,y,z\n")
    ingest = SourceReader(Options(max_rejects=3))
    assert set(content(ingest.read([one, other]))) == {("a", "x")}
    assert sorted((source, line) for source, line, _ in ingest.rejects) == sorted(
        [(str(one), 3), (str(other), 2), (str(other), 3)]
    )


BAD = "user,item\n" + "a,x\n" * 15 + "a\n" * 5


@pytest.mark.parametrize("limit", [5, "5", "25%", "25 %", 20, "100%"])
def test_as_many_rejects_as_allowed_are_let_through_and_reported(put, limit):
    told = so.read(put(BAD), max_rejects=limit).provenance
    assert (told.rows, told.rejected, told.repeats) == (20, {"too few fields": 5}, 14)


@pytest.mark.parametrize("limit", [0, 4, "24.9%", "0%"])
def test_one_reject_more_than_allowed_is_an_error_that_says_how_to_look(put, limit):
    path = put(BAD)
    with pytest.raises(so.RejectedRows) as error:
        so.read(path, max_rejects=limit)
    told = str(error.value)
    parts = ["5 of 20 rows", "5 × too few fields", "line 17, 18", "sed -n 17p", str(path), "--max-rejects 5"]
    assert [part for part in parts if part not in told] == []
    assert "\n" not in told


@pytest.mark.parametrize("limit", [-1, "many", "101%", "-1%", "nan%", "", 1.5, None])
def test_a_limit_that_is_no_number_or_share_is_refused(limit):
    with pytest.raises(so.ParameterError, match="max_rejects must be"):
        so.read("anything.csv", max_rejects=limit)


def test_when_no_row_is_left_there_is_no_release(put):
    with pytest.raises(so.SourceError, match="2 of 2 rows are unusable"):
        so.read(put("user,item\na\nb\n"), separator=",", max_rejects="100%")


SECRET = "Zebediah"
LEAKY = {
    "ragged": (f"user,item\n{SECRET}\n", {}),
    "no number": (f"user,item,rating\na,b,1\na,c,{SECRET}\n", {}),
    "no time": (f"user,item,date\na,b,2005-01-01\na,c,{SECRET}\n", {}),
    "no such column": (f"{SECRET},x{SECRET}\n{SECRET}a,b\n", {"record": "user"}),
    "first row taken for a header": (f"{SECRET},film\nbob,5\n", {}),
    "no header, many columns": (f"{SECRET},2,3,4,5\n{SECRET},2,3,4,5\n", {}),
    "no separator": (f"{SECRET}\n{SECRET}\n", {}),
    "open quote": (f'user,item\n"{SECRET},b\n', {}),
    "stray quote": (f'user,item\n"{SECRET}"{SECRET},b\n', {}),
    "not UTF-8": (f"user,item\n{SECRET},ä\n".encode("latin-1"), {}),
    "not ASCII": (f"user,item\n{SECRET},ä\n", {"encoding": "ascii"}),
    "NUL": (f"user,item\n{SECRET},\0\n", {}),
    "repeats": (f"user,item\n{SECRET},{SECRET}\n{SECRET},{SECRET}\n", {"repeats": "error"}),
}


@pytest.mark.parametrize("case", LEAKY)
def test_an_error_is_one_line_and_never_shows_a_cell(put, case):
    text, options = LEAKY[case]
    with pytest.raises(so.StandoutError) as error:
        so.read(put(text), **options)
    assert SECRET not in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_names_of_columns_are_listed_where_they_surely_are_names(put):
    with pytest.raises(so.ColumnError, match="the columns are customer, thing, rating"):
        so.read(put("customer,thing,rating\na,b,1\n"), record="person")


def compressed(kind, data):
    """The data, half by half where the format allows it."""
    half = len(data) // 2
    if kind == "gz":
        return gzip.compress(data)
    if kind == "multi gz":
        return gzip.compress(data[:half]) + gzip.compress(b"") + gzip.compress(data[half:])
    if kind == "zst":
        return zstd.compress(data)
    if kind == "multi zst":
        return zstd.compress(data[:half]) + zstd.compress(data[half:])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.mkdir("folder")
        made.writestr("folder/data.csv", data)
    return archive.getvalue()


@pytest.mark.parametrize("kind", ["gz", "multi gz", "zst", "multi zst", "zip"])
@pytest.mark.parametrize("name", ["data.csv", "data.bin"])
def test_compressed_text_reads_whatever_its_name(put, kind, name):
    with windows(16):
        assert content(so.read(put(compressed(kind, TEXT.encode()), name))) == PLAIN


@pytest.mark.parametrize("kind", ["gz", "zst", "zip"])
def test_compressed_text_that_is_cut_off_anywhere_is_refused(put, kind):
    whole = compressed(kind, TEXT.encode())
    for cut in range(len(whole)):
        with pytest.raises(so.SourceError):
            so.read(put(whole[:cut]))


@pytest.mark.parametrize(("kind", "word"), [("gz", "truncated"), ("zst", "truncated"), ("zip", "damaged")])
def test_a_long_file_that_is_cut_off_says_so(put, kind, word):
    seed = 3
    noise = "".join(f"u{random.Random(seed + i).random()},x,1\n" for i in range(20_000))
    whole = compressed(kind, (TEXT + noise).encode())
    with pytest.raises(so.SourceError, match=word):
        so.read(put(whole[:-20] if kind == "zip" else whole[: len(whole) * 3 // 4]))


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_rubbish_behind_compressed_text_is_refused(put, kind):
    with pytest.raises(so.SourceError, match="damaged"):
        so.read(put(compressed(kind, TEXT.encode()) + b"rubbish"))


def test_a_zip_of_several_files_asks_which(put):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("one.csv", TEXT)
        made.writestr("two.csv", TEXT.replace("a", "c"))
    path = put(archive.getvalue())
    with pytest.raises(so.SourceError, match=r"--member \(one.csv, two.csv\)"):
        so.read(path)
    with pytest.raises(so.SourceError, match="--member"):
        so.read(path, member="three.csv")
    assert content(so.read(path, member="one.csv")) == PLAIN
    with pytest.raises(so.ParameterError, match="member"):
        so.read(put(TEXT), member="one.csv")


ACCENTS = "user,item\nJosé,Amélie\nMüller,Šum\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "UTF8", "utf-16", "utf-16-le", "cp1250"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_text_in_a_declared_encoding_is_the_same_text(put, encoding, packed):
    path = put(packed(ACCENTS.encode(encoding)))
    with windows(16):
        assert set(content(so.read(path, encoding=encoding))) == {("José", "Amélie"), ("Müller", "Šum")}


def test_latin_1_reads_when_it_is_declared(put):
    path = put("user§item\nJosé§Amélie\n".encode("latin-1"))
    assert set(content(so.read(path, encoding="latin-1", separator="§"))) == {("José", "Amélie")}


@pytest.mark.parametrize("size", [1 << 20, 16])
@pytest.mark.parametrize("bad", ["é".encode("latin-1"), b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_bytes_that_are_not_utf_8_are_named_by_their_line(put, size, bad, end):
    text = "user,item\na,é\n\nb,x\n".encode() + b"c," + bad + end
    with windows(size), pytest.raises(so.SourceError, match=r"line 5 is not UTF-8.*--encoding"):
        so.read(put(text))


@pytest.mark.parametrize("options", [{}, {"record": "user", "item": "item"}, {"record": 1, "item": 2}])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_that_is_not_declared_is_recognised_as_such(put, options, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    with pytest.raises(so.SourceError, match="utf-16"):
        so.read(put((mark + TEXT).encode(encoding)), **options)


@pytest.mark.parametrize(
    ("encoding", "cell"),
    [("ascii", "é"), ("utf-16", "é"), ("utf-32", "é"), ("cp1252", "\x81"), ("utf-7", "é"), ("utf-7", "+2AA-"),
     ("unicode-escape", "\\ud800"), ("undefined", "e")],
)  # fmt: skip
def test_a_wrong_encoding_is_an_error_of_the_source(put, encoding, cell):
    with pytest.raises(so.SourceError, match="encoding"):
        so.read(put(f"user,item\na,b\na,{cell}\n"), encoding=encoding)


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex", ""])
def test_an_unknown_encoding_is_refused(put, encoding):
    with pytest.raises(so.ParameterError, match="encoding must be"):
        so.read(put(TEXT), encoding=encoding)


@pytest.mark.parametrize("text", [TEXT + "c,\0,1\n", TEXT + "\0", "\0" + TEXT, TEXT.encode("utf-16-le")])
def test_nul_bytes_are_refused(put, text):
    with windows(16), pytest.raises(so.SourceError, match="NUL"):
        so.read(put(text))


@pytest.mark.parametrize(
    "text", ["", "\n", " \r\n\n", "\ufeff", gzip.compress(b"", mtime=0), zstd.compress(b"")]
)
def test_an_empty_file_says_so(put, text):
    with pytest.raises(so.SourceError, match="is empty"):
        so.read(put(text))


@pytest.mark.parametrize(
    ("text", "options"),
    [("user,item\n", {}), ("user,item", {}), ("u,i\n", {"record": "u", "item": "i"}),
     ("u,i\n\n\r\n", {"header": True, "record": 1, "item": 2})],
)  # fmt: skip
def test_a_header_without_rows_says_so(put, text, options):
    with pytest.raises(so.SourceError, match="header and no rows"):
        so.read(put(text), **options)


def test_a_row_that_never_ends_is_refused(put, monkeypatch):
    monkeypatch.setattr("standout.ingest.window.LONGEST_ROW", 64)
    with windows(16), pytest.raises(so.SourceError, match="line 3 is longer than"):
        so.read(put("user,item\na,b\nc," + "d" * 100 + "\n"))


@pytest.mark.parametrize("source", ["nowhere.csv", "no*where.csv", ["nowhere.csv"], "", "a\0b", "\udcff"])
def test_a_source_that_is_not_there_is_an_error_of_the_source(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(so.SourceError):
        so.read(source)


@pytest.mark.parametrize("source", [[], 5, None, b"data.csv", [5], object()])
def test_what_can_be_no_source_is_refused(source):
    with pytest.raises(so.StandoutError):
        so.read(source)


def test_several_files_and_globs_are_one_release(tmp_path):
    for i, line in enumerate(TEXT.splitlines()[1:]):
        (tmp_path / f"part-{i}.csv").write_text(f"user,item,rating\n{line}\n")
    files = sorted(tmp_path.iterdir())
    for source in (str(tmp_path / "part-*.csv"), files, [tmp_path / "part-[01].csv", str(files[2])]):
        release = so.read(source)
        assert content(release) == PLAIN
        assert release.provenance.files == ("part-0.csv", "part-1.csv", "part-2.csv")


def test_a_file_whose_name_looks_like_a_glob_is_the_file(put):
    assert content(so.read(str(put(TEXT, "a[1]*.csv")))) == PLAIN


def test_between_equal_times_the_later_file_is_the_last(put):
    files = [put(f"user,item,rating\na,x,{stars}\n") for stars in (3, 5, 4)]
    assert content(so.read(files)) == {("a", "x"): (4.0, None)}
    assert content(so.read(files, repeats="first")) == {("a", "x"): (3.0, None)}


@pytest.mark.parametrize(
    "other", ["item,user,rating\nx,a,4\n", "user;item;rating\na;x;4\n", "a,x,4\n", "user,item\na,x\n"]
)
def test_files_that_are_laid_out_differently_are_refused(put, other):
    with pytest.raises(so.SourceError, match="has another layout than"):
        so.read([put(TEXT), put(other)])


def test_several_columns_form_an_item_and_never_merge(put):
    rows = [("a|b", "c"), ("a", "b|c"), ("a\\", "b|c"), ("a\\|b", "c"), ("a", "|b|c"), ("a", ""), ("", "a")]
    rows += [("a|", ""), ("a\\|", ""), ("\\", "\\"), ("|", "|")]
    text = "user,place,hour\n" + "".join(f"u,{place},{hour}\n" for place, hour in rows)
    release = so.read(put(text), item=["place", "hour"])
    assert release.n_items == len(set(rows))
    assert release.provenance.columns["item"] == "place + hour"
    assert set(content(so.read(put(text), item=["hour", "place"]))) != set(content(release))


def test_an_item_whose_columns_are_all_empty_is_missing(put):
    assert outcome(put("user,a,b\nu,x,y\nu,,\n"), item=["a", "b"])[1] == {3: Reason.NO_ITEM}


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
    release = so.read(put("user,item\n" + "".join(f"{one},i\n" for one in ids)))
    assert set(release.records) == set(ids)
    assert all(release.record(one).support == ("i",) for one in ids)


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
    assert set(so.read(put("user,item\n" + "".join(f"{one},12345678\n" for one in ids))).records) == set(ids)


repeated_rows = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("xyz"),
        st.sampled_from([None, -1.0, 0.5, 3.0]),
        st.sampled_from([None, -1, 0, 12_000, 12_001]),
    ),
    min_size=1,
    max_size=25,
)


@given(repeated_rows, st.sampled_from(["last", "first", "max"]), sizes)
def test_one_entry_of_each_repeat_is_kept_and_the_others_are_counted(put, rows, repeats, size):
    text = "user,item,rating,time\n" + "".join(
        f"{user},{item},{'' if value is None else value},{'' if day is None else day * 86_400}\n"
        for user, item, value, day in rows
    )
    with windows(size):
        release = so.read(put(text), repeats=repeats, time_format="s")
    wanted = naive.entries(rows, repeats)
    told = release.provenance
    assert content(release) == wanted
    assert (told.rows, told.repeats) == (len(rows), len(rows) - len(wanted))
    assert told.without_value == sum(value is None for value, _ in wanted.values())
    assert told.without_time == sum(time is None for _, time in wanted.values())


def test_repeats_can_be_an_error_that_names_their_lines(put):
    assert content(so.read(put(TEXT), repeats="error")) == PLAIN
    with pytest.raises(so.SourceError, match=r"2 rows repeat .*line 6, .*line 8\)"):
        so.read(put(TEXT + "\na,x,5\nc,x,5\nb,x,5\n"), repeats="error")
    with pytest.raises(so.SourceError, match=r"1 rows repeat .*line 7\)"):
        so.read(put(TEXT + "c,x,bad\nd\nb,x,5\n"), repeats="error", max_rejects=2)


def test_an_unknown_rule_for_repeats_is_refused(put):
    with pytest.raises(so.ParameterError, match="last, first, max or error"):
        so.read(put(TEXT), repeats="newest")


@given(repeated_rows, st.randoms())
def test_the_order_of_rows_does_not_matter(put, rows, draw):
    rows = [(*pair, *rest) for pair, rest in naive.entries(rows).items()]
    texts = []
    for _ in range(2):
        texts.append(joined([[str(cell if cell is not None else "") for cell in row] for row in rows]))
        draw.shuffle(rows)
    options = {"header": False, "time_format": "s", "record": 1, "item": 2, "value": 3, "time": 4}
    one, other = (so.read(put(text), **options) for text in texts)
    assert one.fingerprint == other.fingerprint
    assert content(one) == content(other)


def test_a_value_or_a_time_may_be_missing_from_any_entry(put):
    release = so.read(put(joined([HEADER, *TABLE])))
    assert content(release) == KEPT
    assert (release.provenance.without_value, release.provenance.without_time) == (1, 1)


@pytest.mark.parametrize("left_out", [{"value": False}, {"time": False}, {"value": False, "time": False}])
@pytest.mark.parametrize("header", [True, False])
def test_values_and_times_are_left_out_on_request_and_only_they(put, left_out, header):
    release = so.read(put(joined([HEADER, *TABLE] if header else TABLE)), **left_out)
    assert content(release) == {
        pair: (None if "value" in left_out else value, None if "time" in left_out else time)
        for pair, (value, time) in KEPT.items()
    }
    assert (release.levels is None, release.clock is None) == ("value" in left_out, "time" in left_out)


def test_what_was_recognised_is_told(put):
    told = so.read(put(joined([HEADER, *TABLE], "\t"))).provenance
    assert told.format == "delimited text"
    assert told.files == ("data.csv",)
    assert told.columns == {"record": "user", "item": "item", "value": "rating", "time": "date"}
    assert told.settings.items() >= {
        ("separator", "tab"), ("header", "yes"), ("time format", "ISO 8601"), ("time unit", "day"),
        ("repeats", "last"),
    }  # fmt: skip
    assert "UTC" in told.settings["zone"]


parts = st.text("a|\\", max_size=4)


@given(st.sets(st.tuples(parts, parts).filter(any), min_size=1, max_size=12))
@example({("a\\", "b|c"), ("a|b\\", "c")})
def test_items_of_several_columns_never_merge_and_are_spelled_in_one_way(pairs):
    rows = sorted(pairs)
    frame = pl.DataFrame([("p", *row) for row in rows], schema=["user", "one", "two"], orient="row")
    release = so.read(frame, item=["one", "two"])
    escaped = ["|".join(re.sub(r"([|\\])", r"\\\1", part) for part in row) for row in rows]
    assert set(release.items) == set(escaped) and release.n_entries == len(rows)
