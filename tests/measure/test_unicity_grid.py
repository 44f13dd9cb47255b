"""Unicity of traces: who is singled out is whom the slow twin singles out, at every resolution."""

from datetime import datetime, timedelta

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from conftest import place_ids
from standout.core.rng import generator
from standout.evaluate.estimates import rate
from standout.ingest.places import Geohash, Grid
from standout.ingest.times import TimeBin

COMPILED = not numba.config.DISABLE_JIT
SEED = 2013
START = datetime(2008, 5, 16, 22)
WIDTHS = {"hour": (1, "hour"), "6 hours": (6, "hour"), "day": (1, "day"), "week": (1, "week"), "month": (1, "month")}
rows = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 60)),
    min_size=1,
    max_size=40,
)


def frame_of(rows):
    """Traces near the equator and the meridian, where squares change sign."""
    return pl.DataFrame(
        {
            "user": [row[0] for row in rows],
            "lat": [f"{row[1] * 0.04:.3f}" for row in rows],
            "lon": [f"{row[2] * 0.04:.3f}" for row in rows],
            "time": [START + timedelta(hours=row[3]) for row in rows],
        }
    )


def traces_of(frame, step, width):
    """{person: points in the order of the draw}: by latitude, longitude and time."""
    traces = {}
    for user, lat, lon, time in frame.rows():
        corner = naive.square(lat, lon, step)
        when = None if width is None else naive.time_bin(time, *WIDTHS[width])
        traces.setdefault(user, set()).add((tuple(map(float, corner.split(","))), when))
    return {user: sorted(points, key=str_key) for user, points in traces.items()}


def str_key(point):
    return point[0], point[1] or START


def share_by_twin(traces, people, count, most):
    """The share of people whom the first `count` of `most` drawn points single out."""
    eligible = [person for person in people if len(traces[person]) >= most]
    unique = 0
    for person in eligible:
        order = generator(SEED, "unicity grid", person).permutation(len(traces[person]))
        known = [traces[person][i] for i in order[:count]]
        sets = {name: set(points) for name, points in traces.items()}
        unique += naive.has_unique_points(sets, person, known)
    return unique, len(eligible)


@settings(max_examples=40 if COMPILED else 8)
@given(
    rows,
    st.sampled_from([["0.02", "0.1"], ["0.05", "0.02"], ["1"]]),
    st.sampled_from([[], ["hour", "week"], ["6 hours", "month", "day"]]),
)
def test_unicity_at_each_resolution_equals_the_slow_twin(given, grids, bins):
    frame = frame_of(given)
    result = so.unicity_grid(frame, grids=grids, time_bins=bins, points=[1, 3, 2], targets=None, seed=SEED)
    expected = [(grid, width, k) for grid in grids for width in bins or [None] for k in (1, 3, 2)]
    assert [(cell.places, cell.time_bin, cell.points) for cell in result.cells] == [
        (f"{grid}°", width, k) for grid, width, k in expected
    ]
    people = sorted(set(frame["user"]))
    for cell, (grid, width, k) in zip(result.cells, expected, strict=True):
        unique, n = share_by_twin(traces_of(frame, grid, width), people, k, 3)
        assert cell.share == rate(unique, n, 1 / len(people))
        assert cell.too_few_points == len(people) - n


@settings(max_examples=20 if COMPILED else 5)
@given(rows)
def test_a_coarser_resolution_of_a_release_is_that_of_its_source(given):
    frame = frame_of(given)
    how = {"time_bins": ["day"], "points": [1, 2], "seed": SEED}
    release = so.read(frame, grid=0.01, time_bin="hour", repeats="keep")
    assert so.unicity_grid(release, grids=[0.05], **how).cells == so.unicity_grid(frame, grids=[0.05], **how).cells
    hashed = so.read(frame, geohash=8, time_bin="hour", repeats="keep")
    assert so.unicity_grid(hashed, geohashes=[4], **how).cells == so.unicity_grid(frame, geohashes=[4], **how).cells


def test_visits_at_other_times_are_points_of_their_own():
    frame = pl.DataFrame(
        {
            "user": list("aabb"),
            "lat": [1.0] * 4,
            "lon": [1.0] * 4,
            "time": ["2008-05-17T01:00", "2008-05-17T05:00", "2008-05-17T01:00", "2008-05-17T09:00"],
        }
    )
    one, two = so.unicity_grid(frame, grids=[1], time_bins=["hour"], points=[1, 2]).cells
    assert two.share.value == 1 and one.share.value < 1 and two.share.n == 2
    (day,) = so.unicity_grid(frame, grids=[1], time_bins=["day"], points=[1]).cells
    assert day.share.value == 0


@pytest.mark.parametrize("cells", [Grid("0.01"), Grid("0.7"), Geohash(1), Geohash(5), Geohash(8)])
def test_the_centre_of_a_place_is_in_the_place(cells):
    generate = np.random.default_rng(0)
    latitudes, longitudes = generate.uniform(-89, 89, 50), generate.uniform(-179, 179, 50)
    ids = place_ids(cells, list(map(repr, latitudes.tolist())), list(map(repr, longitudes.tolist())))
    centres = cells.centres(ids)
    assert place_ids(cells, *(list(map(repr, column)) for column in centres.T.tolist())) == ids


def test_wrong_resolutions_are_explained():
    for options, message in [
        ({}, "grids or geohashes must be given"),
        ({"grids": [1], "geohashes": [3]}, "not both"),
        ({"grids": [0.001]}, "source has places of 0.01°, which do not nest in 0.001°"),
        ({"grids": [1], "time_bins": ["hour"]}, "source has times by 6 hours, which do not nest in hour"),
        ({"grids": [1], "points": []}, "points must be"),
        ({"grids": [1], "points": [0]}, "points must be"),
        ({"grids": [1], "targets": 0}, "targets must be"),
    ]:
        release = so.read(frame_of([("a", 1, 1, 1)]), grid=0.01, time_bin="6h")
        with pytest.raises(so.ParameterError, match=message):
            so.unicity_grid(release, **options)


def test_a_release_without_places_is_refused():
    with pytest.raises(so.ParameterError, match="must have places"):
        so.unicity_grid(so.synthesize(records=10, items=5, entries=20, seed=1), grids=[1])


def test_bins_nest_as_documented():
    assert TimeBin.of("hour").nests_in(TimeBin.of("month"))
    assert not TimeBin.of("week").nests_in(TimeBin.of("month"))
    assert not TimeBin.of("7d").nests_in(TimeBin.of("week"))
