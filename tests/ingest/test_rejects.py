"""Unusable rows: each is counted with its line and reason, and no cell is ever shown."""

import pytest

import standout as so
from conftest import content, outcome, windows
from standout.core.errors import RejectedRows
from standout.ingest.formats import Options
from standout.ingest.read import SourceReader
from standout.ingest.report import Reason


def test_unusable_rows_are_reported_by_line_and_reason(put):
    for size in [1 << 20, 16]:
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


def test_line_numbers_start_again_in_every_file(put):
    first, second = put("user,item,rating\na,x,1\na,y\n"), put("user,item,rating\nb,x\nb,y,z\n")
    ingest = SourceReader(Options(max_rejects=3))
    assert set(content(ingest.read([first, second]))) == {("a", "x")}
    assert sorted((source, line) for source, line, _ in ingest.rejects) == sorted(
        [(str(first), 3), (str(second), 2), (str(second), 3)]
    )


BAD = "user,item\n" + "a,x\n" * 15 + "a\n" * 5


def test_as_many_unusable_rows_as_allowed_are_skipped_and_reported(put):
    for limit in [5, "5", "25%", "25 %", 20, "100%"]:
        provenance = so.read(put(BAD), max_rejects=limit).provenance
        assert (provenance.rows, provenance.rejected, provenance.repeats) == (20, {"too few fields": 5}, 14)


def test_one_more_unusable_row_than_allowed_is_an_error_that_names_the_next_step(put):
    for limit in [0, 4, "24.9%", "0%"]:
        path = put(BAD)
        with pytest.raises(RejectedRows) as error:
            so.read(path, max_rejects=limit)
        message = str(error.value)
        parts = ["5 of 20 rows", "5 × too few fields", "line 17, 18", "max_rejects=5"]
        assert [part for part in parts if part not in message] == []
        assert "\n" not in message


def test_a_limit_must_be_a_number_or_a_share():
    for limit in [-1, "many", "101%", "-1%", "nan%", "", 1.5, None]:
        with pytest.raises(so.ParameterError, match="max_rejects must be"):
            so.read("anything.csv", max_rejects=limit)


def test_a_source_without_usable_rows_is_an_error(put):
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
    "not UTF-8": (f"user,item\n{SECRET},ä\nb,".encode() + b"\xff\n", {}),
    "two orders of day and month": (f"user,item,date\n{SECRET},x,3/4/2005\n{SECRET},y,4/3/2005\n", {}),
    "not ASCII": (f"user,item\n{SECRET},ä\n", {"encoding": "ascii"}),
    "NUL": (f"user,item\n{SECRET},\0\n", {}),
    "repeats": (f"user,item\n{SECRET},{SECRET}\n{SECRET},{SECRET}\n", {"repeats": "error"}),
}


def test_an_error_is_one_line_and_never_shows_a_cell(put):
    for case in LEAKY:
        text, options = LEAKY[case]
        with pytest.raises(so.StandoutError) as error:
            so.read(put(text), **options)
        assert SECRET not in str(error.value)
        assert len(str(error.value).splitlines()) == 1
