"""The clock of a release: codes of moments and back."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from standout.data.labels import SECONDS, Clock

# The clock.


CODES = st.integers(-100_000, 100_000)


ORIGINS = {"day": 12_000, "hour": 12_000 * 24 + 5, "minute": 12_000 * 1440 + 61}


@pytest.mark.parametrize("unit", SECONDS)
@given(code=CODES, before=st.booleans())
def test_a_code_is_that_of_its_moment(unit, code, before):
    clock = Clock(unit, -ORIGINS[unit] if before else ORIGINS[unit], span=10)
    moment = clock.moment(code)
    assert clock.encode(moment) == code
    assert type(moment) is (date if unit == "day" else datetime)
    assert clock.decode(code) == (moment if code < 10 else None)


@pytest.mark.parametrize("unit", SECONDS)
@given(moment=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), origin=CODES)
def test_a_moment_is_rounded_down_to_its_unit_before_1970_too(unit, moment, origin):
    clock = Clock(unit, origin, span=10)
    assert clock.encode(moment) == naive.units(moment, unit) - origin
    start = clock.moment(clock.encode(moment))
    start = start if unit != "day" else datetime(start.year, start.month, start.day)
    assert timedelta(0) <= moment - start < timedelta(seconds=SECONDS[unit])


def test_the_code_after_the_last_means_that_there_is_no_time():
    clock = Clock("day", 0, span=10)
    assert [clock.decode(code) for code in (9, 10)] == [date(1970, 1, 10), None]
    assert clock.moment(10) == date(1970, 1, 11)


def test_a_date_is_its_first_hour_or_minute():
    assert Clock("hour", 0, 1).encode(date(1970, 1, 2)) == 24
    assert Clock("minute", 0, 1).encode(date(1969, 12, 31)) == -1440
    assert Clock("day", 0, 1).encode(datetime(1969, 12, 31, 23, 59, 59)) == -1


@pytest.mark.parametrize("unit", ["second", "days", "", None])
def test_a_clock_has_a_unit_that_there_is(unit):
    with pytest.raises(so.ParameterError, match="time_unit must be day, hour or minute, got "):
        Clock(unit, 0, 1)
