"""Places that are known imprecisely: scores equal the slow twin, and a reach of 0 metres is Algorithm 1B."""

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from standout.know.facts import encode_auxes
from standout.know.similarity import NearbyPlaces, distances

COMPILED = not numba.config.DISABLE_JIT
rows = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from([-89.95, -0.05, 0.05, 0.25, 89.95]),
        st.sampled_from([-179.95, -0.05, 0.05, 0.15, 179.95]),
        st.sampled_from(["2008-05-17", "2008-05-18", "2008-05-25", None]),
    ),
    min_size=1,
    max_size=20,
)
similarities = st.sampled_from(
    [so.PlacesWithin(0), so.PlacesWithin(15_000), so.PlacesWithin(300_000), so.PlaceDecay(9_000)]
)


def frame_of(rows):
    schema = {"user": pl.String, "lat": pl.Float64, "lon": pl.Float64, "time": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def place_similarity(similarity, metres):
    if isinstance(similarity, so.PlacesWithin):
        return float(metres <= similarity.metres)
    return naive.decay_of_place(metres, similarity.metres)


@settings(max_examples=30 if COMPILED else 10)
@given(rows, similarities, st.data())
def test_scores_equal_the_slow_twin(given, places, draw):
    given = [*given, ("e", 0.05, 0.05, "2008-05-17")]
    release = so.read(frame_of(given), grid="0.1", repeats="keep", time_format="iso")
    entries = [(user, naive.square(str(lat), str(lon), "0.1"), time) for user, lat, lon, time in given]
    dated = [(item, time) for _, item, time in entries if time is not None]
    facts = draw.draw(
        st.lists(
            st.sampled_from(dated or [(entries[0][1], None)]), min_size=1, max_size=3, unique_by=lambda fact: fact[0]
        )
    )
    aux = so.Aux([so.Fact(item, time=time and np.datetime64(time).item()) for item, time in facts])
    known = encode_auxes(release, [aux])
    (scores,) = so.PlaceScoreboard(places, so.Within(None, 3)).scores(release, known)
    expected = naive.place_scores(entries, facts, 0.1, 3, lambda metres: place_similarity(places, metres))
    assert dict(zip(release.records, scores.tolist(), strict=True)) == pytest.approx(expected, abs=1e-6)
    without = [entry for entry in entries if entry[0] != "e"]
    if without:
        gone = np.array([release.records.find("e")])
        (scores,) = so.PlaceScoreboard(places, so.Within(None, 3)).scores_without(release, known, gone)
        expected = naive.place_scores(without, facts, 0.1, 3, lambda metres: place_similarity(places, metres))
        found = dict(zip(release.records, scores.tolist(), strict=True))
        assert {record: found[record] for record in expected} == pytest.approx(expected, abs=1e-6)


def test_a_reach_of_zero_metres_is_algorithm_1b():
    draw = np.random.default_rng(1)
    n = 300
    frame = pl.DataFrame(
        {
            "user": [f"u{i}" for i in draw.integers(0, 30, n)],
            "lat": 37.7 + draw.integers(0, 5, n) / 100 + 0.005,
            "lon": -122.4 + draw.integers(0, 5, n) / 100 + 0.005,
            "time": [f"2008-05-{d:02}" for d in draw.integers(1, 28, n)],
        }
    )
    release = so.read(frame, grid=0.01, repeats="keep")
    sim = so.Within(None, 3)
    known = so.Adversary(knows=3, value_error=None, time_error=2).observe_all(release, list(range(10)))
    ours = so.PlaceScoreboard(so.PlacesWithin(0), sim).attacks(release, known)
    papers = so.ScoreboardRH(sim).attacks(release, known)
    for mine, theirs in zip(ours, papers, strict=True):
        assert set(mine.tied) == set(theirs.tied)
        assert mine.eccentricity == pytest.approx(theirs.eccentricity, abs=1e-5)


def test_a_place_that_nobody_visited_matches_its_neighbours():
    release = so.read(frame_of([("a", 1.05, 1.05, None), ("b", 5.05, 5.05, None)]).drop("time"), grid="0.1")
    aux = so.Aux([so.Fact("1.1,1.0")])
    assert so.PlaceScoreboard(so.PlacesWithin(20_000)).attack(release, aux).best == "a"
    assert so.PlaceScoreboard(so.PlacesWithin(5_000)).attack(release, aux).ties == 2
    assert so.PlaceScoreboard().attack(release, so.Aux([so.Fact("nowhere")])).ties == 2


@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 20_000_000))
def test_the_search_by_latitude_finds_every_place_within_reach(latitude, longitude, metres):
    corners = sorted((lat + 0.5, lon + 0.5) for lat in range(-90, 90, 18) for lon in range(-180, 180, 24))
    nearby = NearbyPlaces(np.arange(len(corners)), *np.array(corners).T)
    found, _ = nearby.within(latitude, longitude, metres)
    everything = distances(latitude, longitude, nearby.latitude, nearby.longitude)
    assert set(found.tolist()) == set(nearby.item[everything <= metres].tolist())
    centre = float(nearby.latitude[0]), float(nearby.longitude[0])
    assert everything[0] == pytest.approx(naive.great_circle((latitude, longitude), centre), abs=0.5)


def test_releases_without_places_and_wrong_parameters_are_refused():
    release = so.synthesize(records=10, items=5, entries=20, seed=1)
    with pytest.raises(so.ParameterError, match="release must have places"):
        so.PlaceScoreboard().attack(release, so.Aux([so.Fact("1")]))
    for wrong in (-1, float("nan"), True, "500"):
        with pytest.raises(so.ParameterError, match="metres must be a finite number"):
            so.PlacesWithin(wrong)
    with pytest.raises(so.ParameterError, match="metres must be a finite number > 0"):
        so.PlaceDecay(0)
    with pytest.raises(so.ParameterError, match="places must be a PlaceSimilarity"):
        so.PlaceScoreboard(500)
