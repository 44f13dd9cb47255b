"""Places: the id of a square or a geohash is that of exact arithmetic, from text and from frames."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content, place_ids
from standout.core.errors import RejectedRows
from standout.ingest.places import Geohash, Grid
from standout.ingest.report import Reason

STEPS = ["0.01", "0.1", "0.001", "0.25", "0.0005", "1", "5", "0.7", "0.0000001", "0.03", "90"]


def degrees(limit):
    """Texts of numbers up to a little beyond the limit, many of them on the edges of squares."""
    edges = st.integers(-limit * 20 - 40, limit * 20 + 40).map(lambda n: naive.decimal(Fraction(n, 20), 2))
    fine = st.decimals(-limit, limit, places=9, allow_nan=False).map(lambda n: f"{n:f}")
    floats = st.floats(-limit - 1, limit + 1, allow_nan=False).map(repr)
    odd = st.sampled_from(["", " ", "x", "1e", "1e-", ".", "-", "+.5", "5.", " 7.25 ", "nan", "inf", "1,5", "1e400"])
    return st.one_of(edges, fine, floats, odd)


@given(st.lists(st.tuples(degrees(90), degrees(180)), min_size=1, max_size=20), st.sampled_from(STEPS))
@example([("-0.005", "0.0049"), ("90", "180"), ("-90", "-180"), ("-1e-30", "179.99")], "0.01")
@example([("89.999999999999999999", "1"), ("90.0000000000000000000001", "1"), ("1e1", "-1.8E2")], "0.01")
@example([("1" * 400, "1"), ("1", "0" * 400 + "1"), ("0." + "0" * 400 + "1", "1e-999")], "0.01")
def test_a_square_is_that_of_exact_fractions(places, step):
    found = place_ids(Grid(step), *zip(*places, strict=True))
    assert found == [naive.square(*place, step) for place in places]


@pytest.mark.parametrize(
    ("latitude", "longitude", "published"),
    [
        ("57.64911", "10.40744", "u4pruydqqvj8"),
        ("42.605", "-5.603", "ezs42"),
        ("48.669", "-4.329", "gbsuv"),
        ("37.7749", "-122.4194", "9q8yyk8ytpxr"),
        ("-25.382708", "-49.265506", "6gkzwgjzn820"),
        ("52.205", "0.119", "u120fxw"),
    ],
)
def test_published_geohashes_are_found(latitude, longitude, published):
    for letters in range(1, len(published) + 1):
        assert place_ids(Geohash(letters), [latitude], [longitude]) == [published[:letters]]


@given(
    st.lists(st.tuples(st.integers(-9000, 9000), st.integers(-18000, 18000)), min_size=1, max_size=20),
    st.integers(1, 12),
)
@example([(9000, 18000), (-9000, -18000), (0, 0), (4500, 9000)], 12)
def test_a_geohash_is_that_of_exact_bisection(places, letters):
    texts = [(f"{north / 100}", f"{east / 100}") for north, east in places]
    found = place_ids(Geohash(letters), *zip(*texts, strict=True))
    assert found == [naive.geohash(*text, letters) for text in texts]


@pytest.mark.parametrize("step", ["0.0000001", "0.000001", "0.01"])
def test_numbers_of_squares_ascend_with_latitude_then_longitude(step):
    grid, ends = Grid(step), [(-90, -180), (-90, "179.9999999"), ("-1e-9", 0), (0, 0), (90, -180), (90, "179.9999999")]
    ids = place_ids(grid, *(list(map(str, column)) for column in zip(*ends, strict=True)))
    numbers = grid.cell_numbers(ids, grid).tolist()
    assert numbers == sorted(set(numbers))


def test_both_ends_of_the_longitudes_are_one_meridian():
    for cells in (Grid("0.01"), Geohash(8)):
        west, east = place_ids(cells, ["10", "10"], ["-180", "180"])
        assert west == east


def test_unusable_coordinates_have_their_own_reasons(put):
    path = put("user,lat,lon\na,1,1\na,,1\na,north,1\na,91,1\na,1,181\nb,1,1\n")
    with pytest.raises(RejectedRows) as error:
        so.read(path, grid=0.01)
    for reason, lines in ((15, "line 3"), (16, "line 4"), (17, "line 5, 6")):
        assert f"{Reason(reason).description} ({lines})" in str(error.value)
    release = so.read(path, grid=0.01, max_rejects=4)
    assert content(release) == {("a", "1.00,1.00"): (None, None), ("b", "1.00,1.00"): (None, None)}


def test_text_and_frames_give_the_same_places(put):
    frame = pl.DataFrame(
        {"user": ["a", "b", "c"], "lat": [37.755, 1e-5, -0.005], "lng": [-122.4, 2.0, 180.0], "day": ["2005-01-01"] * 3}
    )
    text = put(frame.write_csv())
    for how in ({"grid": 0.01}, {"grid": "0.010"}, {"geohash": 7}):
        release = so.read(frame, **how)
        assert content(release) == content(so.read(text, **how))
        assert release.provenance.columns == {
            "record": "user", "latitude": "lat", "longitude": "lng", "time": "day"
        }  # fmt: skip
    assert [entry.item for entry in so.read(frame, grid=0.01).record("c").entries] == ["-0.01,-180.00"]


def test_coordinates_are_found_by_name_or_given_by_number(put):
    named = put("user,x,y\na,2,1\n")
    release = so.read(named, grid=1, latitude="y", longitude="x")
    numbered = put("2 1 a 0 1211018404\n2 1 b 0 1211018405\n")
    assert list(release.items) == ["1,2"]
    options = {"record": 3, "latitude": 1, "longitude": 2, "time": 5, "value": False, "ignore": 4}
    assert list(so.read(numbered, grid=1, **options).items) == ["2,1"]


def test_wrong_options_for_places_are_explained(put):
    for options, message in [
        ({"grid": 0.01, "header": True}, "no column is recognised as the latitude"),
        ({"grid": 0}, "grid must be from 0.0000001 to 90 degrees, got 0"),
        ({"grid": "wide"}, "grid must be"),
        ({"grid": 0.1234567891}, "at most 9 decimal places"),
        ({"geohash": 13}, "geohash must be a number of letters from 1 to 12, got 13"),
        ({"geohash": True}, "geohash must be"),
        ({"grid": 1, "geohash": 3}, "exclude each other"),
        ({"latitude": "x"}, "latitude is used only with grid or geohash"),
        ({"longitude": "x"}, "longitude is used only with grid or geohash"),
        ({"grid": 1, "item": "x"}, "item must be left out with grid"),
        ({"grid": 1, "latitude": "x", "longitude": "x"}, "two roles"),
    ]:
        with pytest.raises(so.StandoutError) as error:
            so.read(put("user,x,y\na,2,1\n"), **options)
        assert message in str(error.value)


def test_swapped_columns_are_recognised(put):
    rows = "".join(f"a,-122.{i},37.{i}\n" for i in range(9))
    with pytest.raises(so.ColumnError, match="look swapped"):
        so.read(put("user,lat,lon\n" + rows), grid=0.01)
    release = so.read(put("user,lat,lon\n" + rows), grid=0.1, latitude="lon", longitude="lat")
    assert release.n_items == 9
