"""Times: Unix numbers, ISO text and patterns become whole units on the wall clock of one zone."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content, outcome
from standout.core.errors import RejectedRows
from standout.data.build_kernels import TIME_BIAS
from standout.data.labels import Labels
from standout.ingest.report import Reason
from standout.ingest.times import TimeReader

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"]
CHANGES = [  # clocks go forward, back, by half an hour, over a whole day, by odd seconds
    "2005-03-27T01:00Z", "2005-10-30T01:00Z", "2005-04-03T07:00Z", "2005-10-30T06:00Z", "2011-10-01T15:30Z",
    "2012-03-31T15:00Z", "2011-12-30T10:00Z", "1945-05-24T00:00Z", "1985-12-31T18:30Z", "1987-10-25T02:31Z",
    "1950-01-01T00:00Z", "2038-01-19T03:14Z", "2080-03-31T01:00Z",
]  # fmt: skip
FIRST, LAST = datetime(1900, 1, 2, tzinfo=UTC), datetime(2099, 12, 30, tzinfo=UTC)
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}

units = st.sampled_from(["day", "hour", "minute"])
zones = st.sampled_from(ZONES)
moments = st.one_of(
    st.integers(int(FIRST.timestamp()), int(LAST.timestamp())),
    st.builds(
        lambda change, near: int(datetime.fromisoformat(change).timestamp()) + near,
        st.sampled_from(CHANGES),
        st.integers(-7_300, 7_300),
    ),
)


def read(texts, unit="day", zone="UTC", form=None):
    """(units, status) of some texts."""
    reader, labels, status = TimeReader(unit, zone, form), Labels.of(list(texts)), np.zeros(len(texts), np.uint8)
    codes = reader.read(labels.data, labels.offsets[:-1], labels.offsets[1:], status)
    if reader.coded:
        time, of_code = reader.resolve()
        status, codes = np.maximum(status, of_code[codes]), time[codes]
    return [int(code) - TIME_BIAS if code else None for code in codes], status.tolist()


@given(st.lists(moments, min_size=1, max_size=20), units, zones)
@example([int(datetime.fromisoformat(change).timestamp()) for change in CHANGES], "minute", "Europe/Berlin")
def test_unix_seconds_become_the_wall_clock_of_the_zone(seconds, unit, zone):
    texts = [str(second) for second in seconds]
    wanted = [naive.unix_time(text, 1, unit, zone) for text in texts]
    assert read(texts, unit, zone, "s") == (wanted, [0] * len(texts))


def test_a_zone_applies_in_distant_years_too():
    for text in ["1850-07-01T04:57:00Z", "1850-07-01T04:55:00Z", "2099-01-01T22:30:00Z", "2099-07-01T22:30:00Z"]:
        for zone in ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca"]:
            assert read([text], "minute", zone) == ([naive.iso_time(text, "minute", zone)], [0])


@given(moments, st.sampled_from(list(PER_SECOND)), st.integers(0, 999_999_999), units)
@example(1_112_486_027, "ns", 123_456_789, "minute")
@example(-1, "ns", 0, "minute")
def test_smaller_units_are_rounded_down_to_the_second(second, form, rest, unit):
    text = str(second * PER_SECOND[form] + rest % PER_SECOND[form])
    assert read([text], unit, form=form) == ([naive.unix_time(text, PER_SECOND[form], unit)], [0])


def test_fractions_and_negative_times_are_rounded_down():
    for form in PER_SECOND:
        for text in ["0", "-0", "+60", "59.999", "60.", "-0.5", "-1", "-60.0", "-60.001", "-59.9", " 61 ", "0061"]:
            wanted = naive.unix_time(text, PER_SECOND[form], "minute")
            assert read([text], "minute", form=form) == ([wanted], [0])


def test_unix_seconds_and_milliseconds_are_distinguished():
    texts = ["1112486027", "1112486027000"]
    day = naive.unix_time(texts[0])
    assert read(texts[:1]) == read(texts[1:]) == ([day], [0])
    assert read(texts) == ([day, None], [0, Reason.OTHER_TIME_FORMAT])
    assert read(texts[::-1]) == ([day, None], [0, Reason.OTHER_TIME_FORMAT])


def test_a_number_that_is_no_time_is_out_of_range():
    for form in [None, "s", "ms", "us", "ns"]:
        for text in ["9" * 30, "-" + "9" * 30, "99999999999999999999"]:
            assert read([text], form=form) == ([None], [Reason.TIME_OUT_OF_RANGE])


def test_a_unix_time_that_is_no_number_is_unreadable():
    for text in ["1e9", "1 2", "--1", "-", ".", ".5x", "0x10", "12a", "nan", "١٢", "86400Z"]:
        assert read([text], form="s") == ([None], [Reason.UNREADABLE_TIME])


def iso_text(moment, separator, precision, shift):
    date, clock = moment.isoformat(timespec="microseconds").split("T")
    return date if precision == 0 else date + separator + clock[:precision] + shift


datetimes = st.datetimes(datetime(1, 1, 3), datetime(5999, 12, 30))
shifts = st.sampled_from(["", "Z", "+00", "+01:00", "-0330", "+05:45", "-23:59", "+14"])


@given(datetimes, st.sampled_from("T "), st.sampled_from([0, 5, 8, 10, 12, 15]), shifts, units)
def test_iso_dates_and_datetimes_are_read_as_the_datetime_module_reads_them(moment, separator, precision, shift, unit):
    text = iso_text(moment, separator, precision, shift)
    assert read([text, f" {text} "], unit) == ([naive.iso_time(text, unit)] * 2, [0, 0])


@given(moments, shifts.filter(bool), units, zones)
def test_an_iso_time_with_a_zone_is_moved_and_one_without_is_not(second, shift, unit, zone):
    text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    moved, kept = naive.iso_time(text + shift, unit, zone), naive.iso_time(text, unit)
    assert read([text + shift, text], unit, zone) == ([moved, kept], [0, 0])


def test_an_iso_date_that_is_none_is_unreadable():
    for text in [
        "2005-02-29",
        "2005-00-01",
        "2005-13-01",
        "2005-01-00",
        "2005-04-31",
        "1900-02-29",
        "0000-01-01",
        "2005-1-1",
        "2005-01-01x",
        "2005-01-01T",
        "2005-01-01T1",
        "2005-01-01T24:00",
        "2005-01-01T10:60",
        "2005-01-01T10:00:61",
        "2005-01-01T10:00+",
        "2005-01-01T10:00+1",
        "2005-01-01T10:00+24:00",
        "2005-01-01T10:00+01:60",
        "2005-01-01T10:00+01:",
        "2005-01-01T10:00ZZ",
        "2005-01-01T10:00 CET",
        "2005/01/01",
        "20050101",
        "-2005-01-01",
        "２００５-01-01",
        "2005-01-01T10-00",
        "2005-01-01T10:00:",
        "2005-01-01T10:00:0",
        "12005-01-01",
        "1112486027",
    ]:
        assert read(["2004-02-29", text]) == ([naive.day("2004-02-29"), None], [0, Reason.UNREADABLE_TIME])


def test_every_day_of_the_calendar_is_a_day_and_no_other_is():
    texts = [f"{year}-{month:02}-{day:02}" for year in (1900, 1999, 2000, 2004, 2100)
             for month in range(14) for day in range(33)]  # fmt: skip
    wanted = []
    for text in texts:
        try:
            wanted.append(naive.day(text))
        except ValueError:
            wanted.append(None)
    assert read(texts, form="iso")[0] == wanted


def test_a_leap_second_belongs_to_its_minute():
    assert read(["2005-12-31T23:59:60Z"], "minute") == read(["2005-12-31T23:59:59Z"], "minute")


def test_times_beyond_the_range_of_minutes_are_out_of_range():
    out = ([None], [Reason.TIME_OUT_OF_RANGE])
    assert read(["9999-12-31"], "minute") == out
    assert read(["9999-12-31"], "hour")[1] == [0]
    times, status = read(["31.12.9999", "01.01.2000"], "minute", form="%d.%m.%Y")
    assert times == [None, naive.iso_time("2000-01-01", "minute")]
    assert status[0] and not status[1]


PATTERNS = [
    "%d.%m.%Y", "%m/%d/%Y %H:%M", "%d %b %Y", "%Y%m%d%H", "%Y-%m-%dT%H:%M:%S%z", "%a, %d %b %Y %H:%M:%S %z",
]  # fmt: skip


@given(
    st.lists(moments, min_size=1, max_size=5), st.sampled_from(PATTERNS), units,
    st.sampled_from(ZONES[:3]),
)  # fmt: skip
def test_a_declared_pattern_is_read_as_strptime_reads_it(seconds, pattern, unit, zone):
    texts = [datetime.fromtimestamp(second, UTC).strftime(pattern) for second in seconds] * 2
    wanted = [naive.pattern_time(text, pattern, unit, zone) for text in texts]
    assert read(texts, unit, zone, pattern) == (wanted, [0] * len(texts))


def test_text_that_does_not_fit_the_pattern_is_unreadable():
    for text in ["30.02.2005", "1.13.2005", "2005-01-01", "01.01.05x", "é"]:
        assert read(["28.02.2005", text], form="%d.%m.%Y")[1] == [0, Reason.UNREADABLE_TIME]


def test_dates_in_eight_digits_are_recognised():
    assert read(["20050301", "19991231", "20050230"]) == (
        [naive.day("2005-03-01"), naive.day("1999-12-31"), None],
        [0, 0, Reason.UNREADABLE_TIME],
    )
    assert read(["20050301", "1112486027"])[0] == [naive.unix_time("20050301"), naive.unix_time("1112486027")]


def test_a_blank_time_is_a_missing_one_in_every_format():
    for form in [None, "s", "iso", "%d.%m.%Y"]:
        for blank in ["", " ", "   "]:
            assert read([blank, blank], form=form) == ([None, None], [0, 0])


def test_a_format_that_is_not_recognised_is_to_be_declared(put):
    for text in ["soon", "03/01/2005", "March 2005", "12:30"]:
        with pytest.raises(RejectedRows, match="time_format="):
            so.read(put(f"user,item,time\na,b,{text}\n"))


def test_a_time_format_that_is_none_is_refused():
    for form in ["seconds", "d", "", "YYYY-MM-DD"]:
        with pytest.raises(so.ParameterError, match="time_format must be"):
            so.read("anything.csv", time_format=form)


def test_a_zone_that_is_none_is_refused():
    for zone in ["Europe/Nowhere", "CEST+", "", "../UTC", "/etc/passwd", "a\0b", "Asia"]:
        with pytest.raises(so.ParameterError, match="zone must be"):
            so.read("anything.csv", zone=zone)


def test_a_time_unit_that_is_none_is_refused():
    for unit in ["week", "", "second"]:
        with pytest.raises(so.ParameterError, match="time_unit must be"):
            so.read("anything.csv", time_unit=unit)


def test_the_zone_decides_the_day_and_is_in_the_provenance(put):
    path = put("user,item,time\na,x,2005-03-01T23:30:00Z\nb,x,2005-03-01T23:30:00\n")
    first, second = naive.day("2005-03-01"), naive.day("2005-03-02")
    release = so.read(path, zone="Europe/Berlin")
    assert content(release) == {("a", "x"): (None, second), ("b", "x"): (None, first)}
    assert release.clock.zone == "Europe/Berlin"
    assert release.provenance.settings["zone"].startswith("Europe/Berlin")
    assert content(so.read(path)) == {("a", "x"): (None, first), ("b", "x"): (None, first)}


def test_a_release_holds_times_in_the_requested_unit(put):
    for unit in ["day", "hour", "minute"]:
        release = so.read(put("user,item,time\na,x,2005-03-01 23:31:29\na,y,1969-12-31 23:59:59\n"), time_unit=unit)
        assert content(release) == {
            ("a", "x"): (None, naive.iso_time("2005-03-01 23:31:29", unit)),
            ("a", "y"): (None, naive.iso_time("1969-12-31 23:59:59", unit)),
        }
        assert release.clock.unit == release.provenance.settings["time unit"] == unit


def test_mixed_formats_are_counted_not_guessed(put):
    rows = ["2005-03-01", "1109635200", "03/01/2005", "2005-03-01T10:00:00+01:00", "20050301"]
    text = "user,item,time\n" + "".join(f"u{i},x,{time}\n" for i, time in enumerate(rows))
    kept, bad = outcome(put(text))
    assert set(kept) == {("u0", "x"), ("u3", "x")}
    assert set(bad) == {3, 4, 6}


def test_a_format_is_recognised_behind_rows_without_a_time(put):
    text = "user,item,time\n" + "".join(f"u{i},x,\n" for i in range(300)) + "v,x,2005-03-01\n"
    assert content(so.read(put(text)))["v", "x"] == (None, naive.day("2005-03-01"))


def test_a_column_of_blank_times_is_a_release_without_times(put):
    release = so.read(put("user,item,time\na,x,\nb,x,\n"))
    assert (release.time_range, release.provenance.without_time) == (None, 2)
