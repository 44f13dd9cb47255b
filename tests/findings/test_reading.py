"""How a release was read, as findings.json, the report and every command say it."""

import polars as pl

import standout as so
from standout.findings.reading import reading_of
from standout.report.page import quasi_identifier_note, reading_rows, reading_sentence

ROWS = """user;film;stars;date
7;Brazil;4,5;2005-03-01
7;Bent;3;2005-03-02
;Brazil;4;2005-03-03
7;Bent;3;2005-03-04
"""


def read(tmp_path, text, **options):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    return reading_of(so.read(path, **options))


def test_a_reading_has_layout_columns_rejects_and_repeats(tmp_path):
    reading = read(tmp_path, ROWS.replace("4,5", "4.5"), max_rejects=1, repeats="last")
    assert (reading.separator, reading.header, reading.rows, reading.rows_rejected) == ("semicolon", True, 4, 1)
    assert [(column.role, column.column) for column in reading.columns] == [
        ("record", "user"), ("item", "film"), ("value", "stars"), ("time", "date"),
    ]  # fmt: skip
    assert (reading.values.type, reading.values.low, reading.values.high) == ("numbers", 3.0, 4.5)
    assert (reading.times.format, reading.times.first, reading.times.last) == (
        "ISO 8601", "2005-03-01", "2005-03-04",
    )  # fmt: skip
    assert [(reason.reason, reason.rows, reason.lines) for reason in reading.rejected] == [
        ("no record id", 1, "line 4")
    ]
    assert (reading.repeated.rows, reading.repeated.merged, reading.repeated.rule) == (1, 1, "last")


def test_categories_are_counted_and_never_listed(tmp_path):
    reading = read(tmp_path, "user,film,rating\n7,Brazil,JaneDoe\n8,Brazil,good\n")
    assert reading.values.levels == 2 and reading.values.low is None
    assert "JaneDoe" not in repr(reading) and "2 categories" in reading_sentence(reading)


def test_the_sentence_says_layout_columns_range_span_and_counts(tmp_path):
    text = "userId,movieId,rating,timestamp\n1,2,0.5,827884800\n1,3,5,1537799250\n"
    assert reading_sentence(read(tmp_path, text)).endswith(
        "header; person = userId, item = movieId, value = rating (numbers 0.5 to 5), "
        "time = timestamp (Unix seconds, UTC, 1996-03-27 to 2018-09-24); 2 rows, 0 rejected, 0 repeated."
    )


def test_details_say_which_is_the_day_and_which_the_month(tmp_path):
    for text, times in [
        ("31/12/2010", "day/month/year (%d/%m/%Y), by day, 2010-12-31 to 2010-12-31"),
        ("12/31/2010 8:26", "month/day/year hour:minute (%m/%d/%Y %H:%M), by day, 2010-12-31 to 2010-12-31"),
        ("1293753600", "Unix seconds, zone UTC, by day, 2010-12-31 to 2010-12-31"),
    ]:
        rows = reading_rows(read(tmp_path, f"user,film,date\n7,Brazil,{text}\n"))
        assert {row.title: row.text for row in rows}["Times"] == times


def test_an_index_says_what_its_source_said(tmp_path):
    (tmp_path / "ratings.csv").write_text(ROWS)
    release = so.read(tmp_path / "ratings.csv", max_rejects=2, value_type="text")
    so.save(release, tmp_path / "index")
    assert reading_of(so.open(tmp_path / "index")) == reading_of(release)


def test_a_synthetic_release_has_no_source():
    reading = reading_of(so.synthesize(records=10, items=10, entries=40, seed=1))
    assert reading.synthetic and "do not exist" in reading_sentence(reading)
    assert [row.title for row in reading_rows(reading)] == ["Source"]


def test_a_quasi_identifier_is_named_as_not_measured():
    frame = pl.DataFrame({"user": ["7"], "film": ["Brazil"]})
    release = so.read(frame)
    assert quasi_identifier_note(reading_of(release)) == ""
    from report import sample_findings

    note = quasi_identifier_note(sample_findings.full().reading[0])
    assert "postcode" in note and "not measured" in note and "device" not in note
