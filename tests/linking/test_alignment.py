"""Profiles as facts in the codes of a release."""

import math

import numpy as np
import pytest
from linking_data import aligned_profiles, data

import standout as so
from standout.know.facts import Aux, Fact, encode_auxes
from standout.linking.align import align
from standout.linking.decoys import Profiles

pytestmark = pytest.mark.once

RELEASE_ROWS = [
    ("a", "1", 1.0, "2005-03-01 10:00"),
    ("a", "2", 5.0, "2005-03-05 23:59"),
    ("a", "3", None, "2005-04-01 00:00"),
    ("b", "2", 3.0, None),
    ("b", "3", 4.0, "2006-01-01 12:00"),
    ("c", "1", 2.0, "2005-03-02 00:00"),
]
PUBLIC_ROWS = [
    ("x", "1", 4.0, "2005-03-02 13:45"),
    ("x", "2", 10.0, None),
    ("x", "9", 1.0, "2005-03-03 00:00"),
    ("y", "3", None, "2004-12-31 23:59"),
    ("y", "2", 7.0, "2005-03-06 00:00"),
    ("z", "9", 2.0, None),
]
UNITS = ["day", "hour", "minute"]


def facts_in_words(alignment, public):
    """The facts of every profile, through the public interface."""
    values = dict(zip(public.levels.tolist(), alignment.value.tolist(), strict=True))
    for position in range(public.n_records):
        entries = public.record_at(position).entries
        shared = [entry for entry in entries if entry.item in alignment.release.items]
        yield Aux([Fact(e.item, None if e.value is None else values[e.value], e.time) for e in shared])


def test_facts_equal_those_given_in_words_for_all_clocks():
    for ours in UNITS:
        for theirs in UNITS:
            release, public = data(RELEASE_ROWS, time_unit=ours), data(PUBLIC_ROWS, time_unit=theirs)
            alignment = align(release, public)
            known = Profiles(release, public, alignment).known(np.arange(3))
            expected = encode_auxes(release, facts_in_words(alignment, public))
            for name in ("first", "item", "time", "timed", "length", "joined"):
                assert getattr(known, name).tolist() == getattr(expected, name).tolist(), (name, ours, theirs)
            values = [[None if at < 0 else side.values[at] for at in side.value] for side in (known, expected)]
            assert values[0] == values[1] and not known.filtered and not known.names
            one, other = (so.ScoreboardRH().attacks(release, side) for side in (known, expected))
            assert [v.scores.tolist() for v in one] == [v.scores.tolist() for v in other]


def test_a_value_between_levels_keeps_its_distance_to_them():
    release = data([("a", "1", 1.0), ("b", "1", 5.0), ("c", "2", 3.0)])
    public = data([("x", "1", 6.0), ("x", "2", 10.0), ("y", "2", 1.0)])
    value = 1 + 5 * 4 / 9
    scores = so.ScoreboardRH().attacks(release, aligned_profiles(release, public).known(np.array([0])))[0].scores
    expected = [math.exp(-abs(level - value) / 1.5) / math.log(2) for level in (1, 5)]
    assert scores[:2] == pytest.approx(expected)


def test_facts_of_profiles_in_any_order_and_of_none():
    profiles = aligned_profiles(data(RELEASE_ROWS), data(PUBLIC_ROWS))
    known = profiles.known(np.array([1, 0, 1]))
    assert known.first.tolist() == [0, 2, 4, 6] and known.item[:2].tolist() == known.item[4:].tolist()
    assert len(profiles.known(np.array([], np.int64))) == 0
    assert profiles.known(np.array([2])).first.tolist() == [0, 0]


def test_a_date_far_outside_the_release_counts_as_a_limited_distance():
    release = data([("a", "1", 1.0, "2005-03-01"), ("b", "1", 2.0, "2005-03-31")])
    dates = ("1905-03-01", "2090-03-01", "2006-03-01")
    public = data([(name, "1", 1.0, day) for name, day in zip("xyz", dates, strict=True)])
    assert aligned_profiles(release, public).known(np.arange(3)).time.tolist() == [-1000, 1031, 365]
