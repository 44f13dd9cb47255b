"""Unused columns: what the provenance says about them, and the warnings."""

import polars as pl
import pytest

import standout as so
from standout.data.labels import UnusedColumn
from standout.ingest.report import overlooked


def unused(release):
    return {column.name: (column.kind, column.ignored) for column in release.provenance.unused}


def test_every_role_has_a_reason(put):
    text = "user,item,Film-Rating,visit_date\na,x,4,2005-03-01\n"
    assert so.read(put(text), item="item").provenance.reasons == {
        "record": "its name is well known",
        "item": "named by the user",
        "value": "its name and its cells look like a value",
        "time": "its name and its cells look like a time",
    }
    ratings = so.read(put("1\t31\t3\t881250949\n2\t31\t4\t881250950\n", "u.data"))
    assert set(ratings.provenance.reasons.values()) == {"its place in a MovieLens file"}
    assert ratings.provenance.unused == ()


def test_a_name_that_is_less_well_known_needs_cells_that_fit(put):
    release = so.read(
        put("user,item,play_time,created,item score\na,x,12,soon,good\n"), kind="history", ignore="play_time"
    )
    assert set(release.provenance.columns) == {"record", "item"}
    assert unused(release) == {"play_time": ("number", True), "created": ("text", False), "item score": ("text", False)}


def test_columns_that_compete_for_a_role_are_not_guessed_in_silence(put):
    for header, role, names in [
        ("user_id,customer_id,item", "record", ("user_id", "customer_id")),
        ("user,artist,track", "item", ("artist", "track")),
        ("asin,user,product_id", "item", ("asin", "product_id")),
    ]:
        first, second = names
        options = f"{role}='{first}' or {role}='{second}'"
        message = f"columns '{first}' and '{second}' may each be the {role}: choose with {options}"
        path = put(f"{header}\na,b,c\n")
        with pytest.raises(so.ColumnError, match=message):
            so.read(path)
        assert so.read(path, ignore=second).provenance.columns[role] == first
    with pytest.warns(so.ReadingWarning, match="column 'session_id' looks like an id and is not used"):
        release = so.read(put("session_id,user_id,movie_id,title\ns,u,m,t\n"), kind="history")
    assert release.provenance.columns == {"record": "user_id", "item": "movie_id"}
    assert unused(release) == {"session_id": ("id", False), "title": ("text", False)}
    with pytest.warns(so.ReadingWarning, match=r'add time="day" \(instead of timestamp\), or ignore="day"'):
        so.read(put("user,item,day,timestamp\na,x,2005-03-01,881250949\n"), kind="history")


def test_a_column_without_a_clear_name_is_named_by_its_number(put):
    for text, options, number in [
        (",userId,movieId\n0,1,2\n1,1,3\n", {}, 1),
        ("userId,movieId,tag,tag\n1,2,a,7\n", {}, 4),
        ("a,x,5\nb,x,4\n", {"record": 1, "item": 2, "header": False}, 3),
        ("alice,milk,5\nbob,milk,4\n", {"record": "alice", "item": 2, "header": None}, 3),
    ]:
        use = rf"add value={number}, or ignore={number}"
        message = f"column {number} looks like a number and is not used: {use}"
        path = put(text)
        with pytest.warns(so.ReadingWarning, match=message):
            so.read(path, **options)
        assert unused(so.read(path, **options, ignore=number))[f"column {number}"] == ("number", True)


def test_an_ignored_column_exists_and_has_no_role(put):
    path = put("user,item,rating,date\na,x,4,2005-03-01\n")
    for ignore, message in [("when", "'when' not found"), (9, "ignore must be a column number from 1 to 4, got 9")]:
        with pytest.raises(so.ColumnError, match=message):
            so.read(path, ignore=ignore)
    with pytest.raises(so.ColumnError, match="'rating' has a role and cannot be ignored"):
        so.read(path, ignore="rating", value="rating")
    release = so.read(path, ignore=["rating"], time=False)
    assert unused(release) == {"rating": ("number", True), "date": ("date", True)}


def test_columns_that_are_empty_at_first_are_not_taken_for_harmless(put):
    rows = "".join(f"u{i},x,\n" for i in range(80)) + "u0,y,2005-03-01\n"
    with pytest.warns(so.ReadingWarning, match="column 'later' is empty in the first rows"):
        so.read(put(f"user,item,later\n{rows}"))


def test_frames_have_the_same_kinds(put, tmp_path):
    frame = pl.DataFrame(
        {
            "user": ["a", "b"],
            "item": ["x", "x"],
            "at": [None, None],
            "price": [2.5, None],
            "tags": [["a"], ["b"]],
            "colour": ["red", "blue"],
            "sex": ["f", "m"],
        },
        schema_overrides={"at": pl.Datetime},
    )
    frame.write_parquet(tmp_path / "a.parquet")
    wanted = {"at": "date", "price": "number", "tags": "nested", "colour": "text", "sex": "quasi-identifier"}
    for source in [frame, frame.lazy(), frame.to_pandas(), tmp_path / "a.parquet"]:
        kinds = unused(so.read(source, kind="history", ignore=["at", "price", "tags", "sex"]))
        assert {name: kind for name, (kind, _) in kinds.items()} == wanted
        assert [name for name, (_, ignored) in kinds.items() if not ignored] == ["colour"]


def test_an_index_keeps_its_unused_columns_and_what_is_waived(put, tmp_path):
    with pytest.warns(so.ReadingWarning):
        so.save(so.read(put("user,item,moment\na,x,2005-03-01\n")), tmp_path / "index")
    with pytest.warns(so.ReadingWarning, match='add time="moment"'):
        release = so.read(tmp_path / "index")
    assert release.provenance.unused == (UnusedColumn("moment", "date"),)
    waived = so.read(tmp_path / "index", ignore="moment")
    assert waived.provenance.unused == (UnusedColumn("moment", "date", ignored=True),)
    assert waived.fingerprint == release.fingerprint
    with pytest.raises(so.ColumnError, match="'user' is not an unused column of the index"):
        so.read(tmp_path / "index", ignore="user")


def test_a_coordinate_is_offered_the_roles_that_its_name_allows(put):
    both = "latitude={0} or longitude={0} with grid=0.01"
    for name, use in [
        ("lat", 'latitude="lat" with grid=0.01'),
        ("start_lng", 'longitude="start_lng" with grid=0.01'),
        ("Breitengrad", 'latitude="Breitengrad" with grid=0.01'),
        ("coord", both.format('"coord"')),
    ]:
        with pytest.warns(so.ReadingWarning) as warnings:
            so.read(put(f"user,item,{name}\na,x,1.25\nb,x,2.5\n"))
        ignore = f'ignore="{name}"'
        assert str(warnings[0].message).endswith(f"is not used: add {use}, or {ignore}")


def test_a_nested_column_is_not_passed_over(put):
    path = put('{"user": "a", "item": "x", "geo": {"lat": 1.5}}\n{"user": "b", "item": "x", "geo": [2]}\n', "a.jsonl")
    frame = pl.DataFrame({"user": ["a", "b"], "item": ["x", "x"], "geo": [[1.5], None]})
    for source in (path, frame):
        with pytest.warns(
            so.ReadingWarning, match=r"column 'geo' has nested or binary data and is not used: .* ignore=.geo."
        ):
            release = so.read(source)
        with pytest.raises(so.ColumnError, match="overlooked: 'geo' has nested or binary data"):
            so.audit(release, quick=True, fail_above=0.5)
        assert not overlooked(so.read(source, ignore="geo").provenance)


def test_items_that_nobody_shares_and_items_of_coordinates_are_a_warning(put):
    text = "user,item\n" + "".join(f"u{i % 9},i{i}\n" for i in range(100))
    with pytest.warns(so.ReadingWarning, match="100 of 100 entries have an item that no other entry has"):
        so.read(put(text))
    so.read(put(text.replace("i99", "i1").replace("i8", "i2")))
    places = "user;lat;lon\n" + "".join(f"u{i % 9};{50 + i / 999:.4f};13.25{i}\n" for i in range(200))
    with pytest.warns(so.ReadingWarning, match=r"the items look like coordinates: .* grid=0.01"):
        so.read(put(places), item=["lat", "lon"])
