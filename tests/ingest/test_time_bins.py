"""Bins of time: a time becomes the beginning of its bin on the wall clock of the release."""

from datetime import datetime, timedelta

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import standout as so
from standout.ingest.times import TimeBin

WIDTHS = [
    ("minute", 1, "minute", "minute"), ("15min", 15, "minute", "minute"), ("90 min", 90, "minute", "minute"),
    ("hour", 1, "hour", "hour"), ("6h", 6, "hour", "hour"), ("120min", 120, "minute", "hour"),
    ("day", 1, "day", "day"), ("2d", 2, "day", "day"), ("24h", 24, "hour", "day"),
    ("week", 1, "week", "day"), ("2 weeks", 2, "week", "day"), ("month", 1, "month", "day"),
]  # fmt: skip
moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda moment: moment.replace(microsecond=0))


def times(release):
    return [release.record_at(i).entries[0].time for i in range(release.n_records)]


@given(st.lists(moments, min_size=1, max_size=8), st.sampled_from(WIDTHS))
@example([datetime(1969, 12, 28, 23, 59), datetime(1969, 12, 29), datetime(1970, 1, 1)], WIDTHS[9])
def test_a_time_becomes_the_beginning_of_its_bin(given, width):
    text, count, kind, unit = width
    frame = pl.DataFrame({"user": [f"{i}" for i in range(len(given))], "item": ["x"] * len(given), "time": given})
    release = so.read(frame, time_bin=text)
    expected = [naive.time_bin(moment, count, kind) for moment in given]
    assert release.clock.unit == unit
    assert times(release) == [moment.date() if unit == "day" else moment for moment in expected]
    assert release.provenance.settings["time bin"] == str(TimeBin.of(text))


def test_bins_are_those_of_the_wall_clock_of_the_zone(put):
    path = put("user,item,time\na,x,2005-07-01T22:30:00Z\n")  # half past midnight in Berlin
    release = so.read(path, time_bin="day", zone="Europe/Berlin")
    assert times(release) == [datetime(2005, 7, 2).date()]


def test_missing_times_stay_missing(put):
    release = so.read(put("user,item,time\na,x,\nb,x,2005-07-01\n"), time_bin="week")
    assert times(release) == [None, datetime(2005, 6, 27).date()]


@given(st.sampled_from(WIDTHS), st.sampled_from(WIDTHS), st.integers(0, 3_000))
def test_rounding_to_a_nested_bin_first_changes_nothing(fine, wide, minutes):
    first, second = TimeBin.of(fine[0]), TimeBin.of(wide[0])
    moment = datetime(2005, 2, 27, 12) + timedelta(minutes=7 * minutes)
    rounded = naive.time_bin(naive.time_bin(moment, *fine[1:3]), *wide[1:3])
    if first.nests_in(second):
        assert rounded == naive.time_bin(moment, *wide[1:3])


def test_a_width_that_is_none_is_explained():
    for width in ["fortnight", "0h", "-1h", "1.5h", "", "2 months", "m", "99999999d", 6]:
        with pytest.raises(so.ParameterError, match="time_bin must be minute, hour"):
            TimeBin.of(width)


def test_another_unit_than_that_of_the_bins_is_an_error(put):
    path = put("user,item,time\na,x,2005-07-01\n")
    with pytest.raises(so.ParameterError, match="time_unit must be left out with a time_bin of 6 hours"):
        so.read(path, time_bin="6h", time_unit="day")
    assert so.read(path, time_bin="6h", time_unit="hour").clock.unit == "hour"


def test_bins_without_times_are_an_error(put):
    with pytest.raises(so.ColumnError, match="no column is recognised as the time, for time_bin="):
        so.read(put("user,item\na,x\n"), time_bin="day")
