"""Tables are told from histories."""

import polars as pl
import pytest

import standout as so
from standout.ingest.formats import Options
from standout.ingest.read import SourceReader


def looks_like_table(source, options=None):
    """Why a source is read as a table; "" if it is not, or cannot be read."""
    reader = SourceReader(options or Options())
    try:
        reader.read(source)
    except so.StandoutError:
        return ""
    return reader.table.reason if reader.table else ""


SURVEY = {"age": [30, 40, 50, 30], "sex": list("fmfm"), "smoker": ["yes", "no", "no", "no"]}
HISTORY = {"user": list("aabb"), "film": list("wxyz"), "stars": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (SURVEY, True),
        ({"id": list("abcd"), **SURVEY}, True),
        ({"patient_id": list("abcd"), **SURVEY}, True),
        ({"patient_id": list("aabb"), **SURVEY}, False),  # people repeat, so a column must be the item
        ({"patient_id": list("abcd"), "title": ["Mr", "Ms", "Ms", "Mr"], **SURVEY}, True),
        ({"case_no": list("abcd"), **SURVEY}, True),
        ({"case_no": list("aabb"), **SURVEY}, False),
        ({**SURVEY, "case_no": list("aabb")}, True),  # a code, as of a region
        (HISTORY, False),
        ({"user": list("abcd"), "film": list("wxyz")}, False),
        ({"film": list("wxyz"), **SURVEY}, False),
    ],
)
def test_a_table_has_several_columns_and_one_row_per_person(columns, expected, tmp_path):
    frame = pl.DataFrame(columns)
    assert bool(looks_like_table(frame)) == expected
    frame.write_csv(tmp_path / "a.csv")
    assert bool(looks_like_table([str(tmp_path / "a.csv")], Options(header=True))) == expected


def test_options_of_histories_and_sources_that_cannot_be_read_mean_no_table(tmp_path):
    frame = pl.DataFrame(SURVEY)
    assert not looks_like_table(frame, Options(item="age"))
    assert not looks_like_table(str(tmp_path / "missing.csv"))
    assert not looks_like_table(frame.to_arrow())  # may be a stream, which can be read once
    assert not looks_like_table(7)


@pytest.mark.parametrize("name", ["u.data", "ratings.csv", "visits.csv"])
def test_histories_without_a_header_are_no_tables(name, put):
    path = put("".join(f"{i % 9}\t{i % 7}\t{i % 5}\t{881250949 + i}\n" for i in range(60)), name)
    assert not looks_like_table(path)
