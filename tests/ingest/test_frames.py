"""Frames and Parquet: the same release as from the same data in text."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content, outcome
from standout.core.errors import RejectedRows
from standout.ingest.report import Reason

CSV = "user,item,rating,time\n007,a,4,2005-03-01\n7,a,0.5,2005-03-02\n7,b,,\n"
TABLE = {
    "user": ["007", "7", "7"],
    "item": ["a", "a", "b"],
    "rating": [4.0, 0.5, None],
    "time": [date(2005, 3, 1), date(2005, 3, 2), None],
}
PEOPLE = {"user": ["u", "v"], "item": ["i", "j"]}


def polars_lazy(table):
    return pl.LazyFrame(table)


def pandas_dates(table):
    return pd.DataFrame(table).assign(time=pd.to_datetime(pd.Series(table["time"])))


def pandas_categories(table):
    return pandas_dates(table).astype({"user": "category", "item": "category", "rating": "category"})


def polars_categories(table):
    return pl.DataFrame(table).with_columns(pl.col("user", "item").cast(pl.Categorical))


def test_a_frame_is_the_release_that_its_csv_is(put):
    for made in [pl.DataFrame, polars_lazy, pd.DataFrame, pandas_dates, pandas_categories, polars_categories]:
        release, twin = so.read(made(TABLE)), so.read(put(CSV))
        assert content(release) == content(twin)
        assert release.fingerprint == twin.fingerprint
        assert release.provenance.format == "frame"
        assert release.provenance.columns == twin.provenance.columns


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=9).filter(bool)
rows = st.lists(
    st.tuples(
        cells,
        cells,
        st.none() | st.floats(-1e6, 1e6, allow_nan=False),
        st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31)),
    ),
    min_size=1,
    max_size=12,
)


@given(rows)
def test_every_text_number_and_date_comes_back_from_every_kind_of_frame(rows):
    table = dict(zip(("user", "item", "rating", "time"), map(list, zip(*rows, strict=True)), strict=True))
    wanted = naive.entries(
        (record, item, value, None if day is None else naive.day(day.isoformat())) for record, item, value, day in rows
    )
    frame = pl.DataFrame(table, schema={"user": str, "item": str, "rating": float, "time": pl.Date})
    assert content(so.read(frame, kind="history", repeats="last")) == wanted
    assert content(so.read(pd.DataFrame(table).astype({"rating": float}), kind="history", repeats="last")) == wanted


@pytest.mark.parametrize("kind", ["file", "name without an end", "folder", "nested folder", "glob", "list"])
def test_parquet_is_read_from_files_folders_and_globs(put, tmp_path, kind):
    frame = pl.DataFrame(TABLE)
    folder = tmp_path / "year=2005" if kind == "nested folder" else tmp_path
    folder.mkdir(exist_ok=True)
    if kind in ("file", "name without an end"):
        source = tmp_path / ("data.parquet" if kind == "file" else "data")
        frame.write_parquet(source)
    else:
        files = [folder / "0.parquet", folder / "1.parquet"]
        frame[:1].write_parquet(files[0])
        frame[1:].write_parquet(files[1])
        source = {"glob": str(folder / "*.parquet"), "list": files}.get(kind, tmp_path)
    release = so.read(source)
    assert release.fingerprint == so.read(put(CSV)).fingerprint
    assert release.provenance.format == "Parquet"


def test_parquet_that_is_damaged_is_refused(put, tmp_path):
    pl.DataFrame(TABLE).write_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    for cut in (4, 8, 30, len(whole) // 2, len(whole) - 9, len(whole) - 4, len(whole) - 1):
        with pytest.raises(so.SourceError):
            so.read(put(whole[:cut], "cut.parquet"))


def test_parquet_files_of_different_columns_are_refused(tmp_path):
    pl.DataFrame(TABLE).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"who": [1], "what": [2]}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(so.SourceError):
        so.read(tmp_path)


def test_a_folder_without_data_says_so(tmp_path):
    (tmp_path / "README.txt").write_text("nothing")
    with pytest.raises(so.SourceError, match="no data files"):
        so.read(tmp_path)


@pytest.mark.parametrize("kinds", [("csv", "parquet"), ("parquet", "csv")])
def test_sources_of_different_formats_are_refused(put, tmp_path, kinds):
    pl.DataFrame(TABLE).write_parquet(tmp_path / "data.parquet")
    sources = {"csv": put(CSV), "parquet": tmp_path / "data.parquet"}
    with pytest.raises(so.SourceError, match="different formats"):
        so.read([sources[kind] for kind in kinds])


def test_ids_stay_whole_where_some_are_missing():
    for ids, wanted in [
        (pd.Series([7, None, 12]), ["7", None, "12"]),
        (pd.Series([7, None, 12], dtype="Int64"), ["7", None, "12"]),
        (pd.Series([7, 9_007_199_254_740_993, 12]), ["7", "9007199254740993", "12"]),
        (pd.Series(["7", None, "007"]), ["7", None, "007"]),
        (pd.Series(["7", np.nan, "007"], dtype="category"), ["7", None, "007"]),
        (pd.Series([7, "x", None], dtype=object), ["7", "x", None]),
        (pd.Series(["x", 7, pd.NA], dtype=object), ["x", "7", None]),
        (pd.Series(["x", "", "y"]), ["x", None, "y"]),
        (pl.Series([7.0, float("nan"), 12.0]), ["7", None, "12"]),
        (pl.Series([2**64 - 1, None, 1], dtype=pl.UInt64), ["18446744073709551615", None, "1"]),
        (pl.Series(["x", None, "y"], dtype=pl.Enum(["x", "y"])), ["x", None, "y"]),
    ]:
        kept, bad = outcome(type(ids.to_frame())({"user": ids, "item": ["0", "1", "2"]}))
        assert set(kept) == {(label, str(i)) for i, label in enumerate(wanted) if label is not None}
        assert bad == {i: Reason.NO_RECORD for i, label in enumerate(wanted, 1) if label is None}


def test_ids_with_fractions_are_refused():
    for made in [pl.DataFrame, pd.DataFrame]:
        with pytest.raises(so.ColumnError, match="'user' has decimals: it cannot be a person"):
            so.read(made({"user": [1.5, 2.0], "item": ["a", "b"]}))
        with pytest.raises(so.ColumnError, match="'item' has fractions"):
            so.read(made({"user": ["a", "b"], "item": [1.5, 2.0]}))


def test_a_number_too_large_for_an_id_is_not_taken_for_a_missing_one():
    for huge in [1e20, -1e300, float("inf")]:
        for made in [pl.DataFrame, pd.DataFrame]:
            with pytest.raises(so.ColumnError, match="ids must be"):
                so.read(made({"user": [huge, 2.0], "item": ["a", "b"]}))


MOMENTS = [datetime(2005, 3, 26, 22, 59, 59), datetime(2005, 3, 27, 1), datetime(1969, 12, 31, 23, 59, 59, 9)]


def test_datetimes_are_moved_from_their_zone_to_the_declared_one():
    for resolution, column_zone, zone in [
        ("ms", None, "UTC"),
        ("ms", "UTC", "UTC"),
        ("us", "Asia/Kathmandu", "Europe/Berlin"),
        ("ns", None, "Europe/Berlin"),
    ]:
        times = [moment if column_zone is None else moment.replace(tzinfo=UTC) for moment in MOMENTS]
        walls = (
            times if column_zone is None else [time.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for time in times]
        )
        wanted = {("u", str(i)): (None, naive.units(wall, "minute")) for i, wall in enumerate(walls)}
        column = pl.Series(MOMENTS, dtype=pl.Datetime(resolution))
        series = pd.Series(MOMENTS).astype(f"datetime64[{resolution}]")
        if column_zone is not None:
            column = column.dt.replace_time_zone("UTC").dt.convert_time_zone(column_zone)
            series = series.dt.tz_localize("UTC").dt.tz_convert(column_zone)
        people = {"user": ["u"] * 3, "item": ["0", "1", "2"]}
        for frame in (pl.DataFrame(people | {"time": column}), pd.DataFrame(people | {"time": series})):
            assert content(so.read(frame, zone=zone, time_unit="minute")) == wanted


def test_times_may_be_numbers_texts_or_dates_and_may_be_missing():
    for times in [
        [86_400, None],
        [86_400.5, None],
        ["1970-01-02", None],
        [86_400_000, None],
        [date(1970, 1, 2), None],
        [datetime(1970, 1, 2, 5), None],
        ["86400", ""],
    ]:
        for made in [pl.DataFrame, pd.DataFrame]:
            form = "ms" if times[0] == 86_400_000 else None
            release = so.read(made(PEOPLE | {"time": times}), time_format=form)
            assert content(release) == {("u", "i"): (None, 1), ("v", "j"): (None, None)}


def test_a_date_beyond_the_range_of_minutes_is_rejected():
    frame = pl.DataFrame(PEOPLE | {"time": [date(9999, 1, 1), date(2005, 1, 1)]})
    assert outcome(frame, time_unit="minute")[1] == {1: Reason.TIME_OUT_OF_RANGE}
    assert outcome(frame)[1] == {}


def test_values_of_any_type_become_numbers_or_categories():
    for values, wanted in [
        (pl.Series([4, None]), 4.0),
        (pl.Series([4.5, None], dtype=pl.Float32), 4.5),
        (pl.Series(["4", None]), 4.0),
        (pl.Series(["4", "  "]), 4.0),
        (pl.Series(["good", None]), "good"),
        (pl.Series(["good", None], dtype=pl.Categorical), "good"),
        (pl.Series([True, None]), "true"),
        (pl.Series(["4.50", None]).cast(pl.Decimal(10, 2)), 4.5),
        (pl.Series([1e100, None]), 1e100),
        (pl.Series([-1e-7, None]), -1e-7),
        (pl.Series([None, None]), None),
    ]:
        release = so.read(pl.DataFrame(PEOPLE | {"rating": values}))
        assert content(release) == {("u", "i"): (wanted, None), ("v", "j"): (None, None)}


def test_nan_is_a_bad_value_in_polars_and_a_missing_one_in_pandas():
    values = [4.0, float("nan")]
    assert outcome(pl.DataFrame(PEOPLE | {"rating": values}))[1] == {2: Reason.NOT_FINITE}
    assert outcome(pd.DataFrame(PEOPLE | {"rating": values}))[1] == {}
    assert outcome(pd.DataFrame(PEOPLE | {"rating": [4.0, float("inf")]}))[1] == {2: Reason.NOT_FINITE}


def test_rejects_are_counted_in_rows():
    frame = pl.DataFrame({"user": ["u", None, "v"], "item": ["i", "i", None], "rating": [1, 2, 3]})
    assert outcome(frame)[1] == {2: Reason.NO_RECORD, 3: Reason.NO_ITEM}
    with pytest.raises(RejectedRows, match=r"2 of 3 rows .*\(row 2\).*\(row 3\)"):
        so.read(frame)


def test_batches_are_put_together(monkeypatch):
    monkeypatch.setattr("standout.ingest.frames.ROWS", 7)
    users, items = [f"u{i % 13}" for i in range(100)], [f"i{i // 2}" for i in range(100)]
    assert set(content(so.read(pl.DataFrame({"user": users, "item": items})))) == set(zip(users, items, strict=True))
    users[50] = users[99] = None
    assert set(outcome(pl.DataFrame({"user": users, "item": items}))[1]) == {51, 100}


def test_columns_are_named_or_given_by_their_place_in_any_order():
    for made in [pl.DataFrame, pl.LazyFrame, pd.DataFrame]:
        table = made({"what": ["i1", "i2"], "stars": [1, 2], "note": ["x", "y"], "who": ["u1", "u2"]})
        wanted = {("u1", "i1"): (1.0, None), ("u2", "i2"): (2.0, None)}
        assert content(so.read(table, record="who", item="what", value="stars")) == wanted
        assert content(so.read(table, record=4, item=1, value=2)) == wanted
        joined = so.read(table, record=4, item=["what", "note"])
        assert set(content(joined)) == {("u1", "i1|x"), ("u2", "i2|y")}


def test_a_pandas_frame_may_have_any_names():
    frame = pd.DataFrame([["u", "i", "j"]], columns=["x", "x", 3])
    assert set(content(so.read(frame, record=1, item=2))) == {("u", "i")}
    assert set(content(so.read(frame, record=1, item="3"))) == {("u", "j")}


def test_a_frame_without_rows_says_so():
    for made in [pl.DataFrame, pl.LazyFrame, pd.DataFrame]:
        with pytest.raises(so.SourceError, match="no rows"):
            so.read(made({"user": [], "item": []}))


def test_parquet_without_rows_says_so(tmp_path):
    pl.DataFrame({"user": [], "item": []}, schema={"user": str, "item": str}).write_parquet(tmp_path / "0.parquet")
    with pytest.raises(so.SourceError, match="no rows"):
        so.read(tmp_path)


def test_a_frame_with_unrecognised_columns_is_refused():
    for made in [pl.DataFrame, pl.LazyFrame, pd.DataFrame]:
        with pytest.raises(so.ColumnError, match="record="):
            so.read(made({"a": [1], "b": [2]}))
        with pytest.raises(so.ColumnError, match="record="):
            so.read(made({}))


def test_a_frame_that_holds_no_histories_is_refused_in_one_line():
    for frame in [
        pl.DataFrame({"user": [["a"]], "item": ["x"]}),
        pl.DataFrame({"user": [{"a": 1}], "item": ["x"]}),
        pl.DataFrame({"user": [b"\xff"], "item": ["x"]}),
        pl.DataFrame({"user": pl.Series([object()], dtype=pl.Object), "item": ["x"]}),
        pl.DataFrame({"user": ["a"], "item": ["x"], "time": [timedelta(1)]}),
        pl.DataFrame({"user": ["a"], "item": ["x"], "rating": [[1]]}),
        pd.DataFrame({"user": [1j], "item": ["x"]}),
        pd.DataFrame({"user": [["a"]], "item": ["x"]}),
        pd.DataFrame({"user": ["a"], "item": ["x"], "time": pd.period_range("2000", periods=1)}),
        pd.DataFrame({"user": ["\ud800"], "item": ["x"]}, dtype=object),
        pl.scan_csv("nowhere.csv"),
        pl.LazyFrame({"user": ["a"], "item": ["x"]}).select("user", pl.col("item").cast(pl.Int64)),
    ]:
        with pytest.raises(so.SourceError) as error:
            so.read(frame)
        assert len(str(error.value).splitlines()) == 1


def test_an_error_of_polars_shows_no_cell():
    frame = pl.LazyFrame({"user": ["Zebediah"], "item": ["x"]}).with_columns(pl.col("user").cast(pl.Int64))
    with pytest.raises(so.SourceError) as error:
        so.read(frame)
    assert "Zebediah" not in str(error.value)


def test_titles_may_come_from_a_file(put):
    release = so.read(pl.DataFrame(PEOPLE), titles=put("id,title\ni,The Item\n", "names.csv"))
    assert list(release.titles) == ["The Item", ""]
