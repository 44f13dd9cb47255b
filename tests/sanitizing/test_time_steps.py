"""Steps that change times: rounding is exact, noise is uniform."""

import math
from collections import Counter
from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sanitizing_data import START, assert_facts_match_release, releases, table

import naive
import standout as so
from conftest import content

EPOCH = date(1970, 1, 1)


@given(releases(), st.sampled_from(["day", "week", "month", "quarter", "year", 30, 7]))
def test_times_are_rounded_down_to_their_period(release, to):
    step = so.steps.RoundTime(to)
    if release.time_range is None:
        with pytest.raises(so.ParameterError, match="has no times"):
            so.sanitize(release, step)
        return
    safer = so.sanitize(release, step)
    period = (to, 1) if isinstance(to, str) else ("day", to)

    def rounded(time):
        return None if time is None else (naive.period_start(EPOCH + timedelta(time), *period) - EPOCH).days

    expected = {cell: (value, rounded(time)) for cell, (value, time) in content(release).items()}
    assert content(safer) == expected
    changed = sum(expected[cell] != entry for cell, entry in content(release).items())
    assert safer.step_reports[0].counts["times changed"] == changed


def test_rounding_turns_hours_into_days():
    frame = pl.DataFrame(
        {
            "record": ["a", "a", "b", "b"],
            "item": ["1", "2", "1", "2"],
            "time": ["2005-03-31 23:30", "2005-04-01 00:10", None, "1969-12-31 10:00"],
        }
    )
    safer = so.sanitize(so.read(frame, time_unit="hour"), "round-time month")
    assert [entry.time for entry in safer.record("a").entries] == [date(2005, 3, 1), date(2005, 4, 1)]
    assert [entry.time for entry in safer.record("b").entries] == [None, date(1969, 12, 1)]
    assert safer.clock.unit == "day"
    assert safer.fingerprint == so.read(safer.to_frame()).fingerprint
    assert_facts_match_release(safer)


def test_round_time_none_removes_all_times(small_release):
    safer = so.sanitize(small_release, "round-time none")
    assert safer.clock is None
    assert {cell: (value, None) for cell, (value, _) in content(small_release).items()} == content(safer)


@pytest.mark.parametrize("probability", [1.0, 0.4])
def test_shifts_are_uniform_within_their_bounds(large_release, probability):
    safer = so.sanitize(large_release, so.steps.PerturbTime(5, probability), seed=2)
    old, new = content(large_release), content(safer)
    assert old.keys() == new.keys()
    assert all(old[cell][0] == new[cell][0] for cell in old)
    shifts, n = Counter(new[cell][1] - old[cell][1] for cell in old), len(old)
    assert set(shifts) == set(range(-5, 6))
    for shift, count in shifts.items():
        share = probability / 11 + (shift == 0) * (1 - probability)
        assert abs(count - n * share) < 5 * math.sqrt(n * share * (1 - share))
    assert safer.step_reports[0].counts["times changed"] == n - shifts[0]
    assert safer.span > large_release.span


def test_a_missing_time_stays_missing_and_the_clock_grows():
    release = table([("a", "1", 1.0, None), ("b", "1", 2.0, START), ("b", "2", 2.0, START)])
    times = set()
    for seed in range(40):
        safer = so.sanitize(release, "perturb-time 2", seed=seed)
        assert safer.record("a").entries[0].time is None
        times |= {entry.time for entry in safer.record("b").entries}
    assert times == {START + timedelta(shift) for shift in range(-2, 3)}


def test_a_shift_of_half_a_day_needs_a_clock_of_hours():
    release = table([("a", "1", 1.0, START)])
    with pytest.raises(so.ParameterError, match=r"times by day, so days must be larger than 0\.5"):
        so.sanitize(release, so.steps.PerturbTime(0.5))
    hourly = so.read(release.to_frame(), time_unit="hour")
    origins = {so.sanitize(hourly, so.steps.PerturbTime(0.5), seed=seed).clock.origin for seed in range(60)}
    assert max(origins) - hourly.clock.origin <= 12
    assert len(origins) > 12


def test_times_do_not_leave_the_calendar():
    release = table([("a", "1", 1.0, date(9999, 12, 30))])
    with pytest.raises(so.ParameterError, match="would leave the calendar"):
        so.sanitize(release, "perturb-time 30")
