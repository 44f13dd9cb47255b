"""Date patterns: concluded only where the texts prove them."""

from datetime import date, timedelta

import pytest

import standout as so
from standout.core.errors import RejectedRows
from standout.ingest.times import recognise_pattern

PATTERNS = [
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p", "%d %b %Y", "%d-%b-%y", "%B %d, %Y", "%b %d, %Y %H:%M",
    "%Y.%m.%d %H:%M:%S.%f", "%a, %d %b %Y %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %z %Y",
    "%d/%b/%Y:%H:%M:%S %z", "%m/%d/%y", "%Y%m%d%H%M", "%Y%m%d%H%M%S",
]  # fmt: skip
DAYS = [date(2010, 11, 28) + timedelta(days=i) for i in range(60)]


def rows_of(texts):
    return "user,item,date\n" + "".join(f'u{i},x,"{text}"\n' for i, text in enumerate(texts))


def test_every_common_pattern_is_recognised_and_read_to_the_right_day(put):
    for pattern in PATTERNS:
        texts = [day.strftime(pattern.replace("%z", "+0000")) for day in DAYS]
        release = so.read(put(rows_of(texts)))
        assert release.provenance.settings["time format"] == pattern
        assert [release.record(f"u{i}").entries[0].time for i in range(60)] == DAYS


def test_a_date_that_decides_may_be_anywhere_in_the_file(put):
    early = ["3/4/2005"] * 3000
    for last, day in [("3/31/2005", date(2005, 3, 4)), ("31/3/2005", date(2005, 4, 3))]:
        release = so.read(put(rows_of([*early, last])))
        assert release.record("u0").entries[0].time == day


def test_dates_that_fit_two_orders_are_an_error_with_both_steps(put):
    with pytest.raises(RejectedRows) as error:
        so.read(put(rows_of(["3/4/2005", "4/5/2005"])), max_rejects="100%")
    assert [step.parameters for step in error.value.next_steps] == [
        {"time_format": "%d/%m/%Y"}, {"time_format": "%m/%d/%Y"},
    ]  # fmt: skip
    assert "day first: time_format='%d/%m/%Y'" in str(error.value) and "month first" in str(error.value)


def test_dates_that_are_the_same_in_both_orders_are_no_problem(put):
    release = so.read(put(rows_of(["3/3/2005", "4/4/2005"])))
    assert [str(moment) for moment in release.time_range] == ["2005-03-03", "2005-04-04"]


def test_dates_in_two_orders_are_an_error_with_both_choices(put):
    texts = ["3/31/2005"] * 5 + ["3/30/2005", "31/3/2005", "31/3/2005"]
    with pytest.raises(RejectedRows, match="fits several patterns") as error:
        so.read(put(rows_of(texts)), max_rejects=3)
    first = error.value.next_steps[0].parameters
    assert first == {"time_format": "%m/%d/%Y"}
    assert so.read(put(rows_of(texts)), max_rejects=2, **first).n_entries == 6


@pytest.mark.parametrize("given", [{}, {"time_format": "iso"}, {"time_format": "%d/%m/%Y"}])
def test_times_in_several_formats_are_an_error_without_a_cell(put, given):
    texts = ["03/04/2005", "2005-04-03", "25/12/2004", "2005-04-03", "25/12/2004", "1104537600"]
    with pytest.raises(RejectedRows, match="time_format=…") as error:
        so.read(put(rows_of(texts)), **given)
    assert not any(text in str(error.value) for text in texts)


def test_cells_that_are_no_dates_are_rejected_and_the_rest_is_read(put):
    release = so.read(put(rows_of(["n/a", "31/3/2005", "unknown", "1/3/2005", "2/3/2005"])), max_rejects=2)
    assert release.n_entries == 3 and release.provenance.rejected_lines == {
        "time is not recognised (set time_format=…)": "line 2, 4"
    }


def test_texts_that_are_no_dates_have_no_pattern():
    for texts in [["hello", "x"], ["192.168.1.1"], ["12:30", "12:40"], [""], [], ["1.5.7x"]]:
        assert recognise_pattern(texts) == (None, ())


def test_deferred_dates_are_rounded_to_bins(put):
    release = so.read(put(rows_of(["3/4/2005", "3/31/2005"])), time_bin="month")
    assert [str(moment) for moment in release.time_range] == ["2005-03-01", "2005-03-01"]
