"""Real data sets: the counts that are known, and every entry as another reader gives it."""

import csv
import gzip
from functools import cache

import polars as pl
import pytest

import naive
import standout as so
from standout.core.errors import RejectedRows

pytestmark = [pytest.mark.realdata, pytest.mark.large]

COUNTS = {
    "movielens-latest-small": (100_836, 610, 9_724),
    "movietweetings/2013-11-06": (141_695, 21_081, 12_611),
    "movietweetings/100K/ratings.dat": (100_000, 16_554, 10_506),
    "bitcoin-otc/soc-sign-bitcoinotc.csv": (35_592, 4_814, 5_858),
}


def rows_of(folder, name):
    """(record, item, value, time) of every row, read by Python alone."""
    path = folder / name
    path = next(path.glob("ratings.*")) if path.is_dir() else path
    text = path.read_text(encoding="utf-8")
    rows = naive.cells(text, "::" if path.suffix == ".dat" else ",")
    for record, item, value, time in rows[rows[0][0] == "userId" :]:
        yield record, item, float(value), naive.unix_time(time)


def table(release):
    """{(record, item): (value, time)} by way of the exported frame: these releases are not small."""
    frame = release.to_frame()
    moments = frame["time"].to_physical() if release.clock.unit == "day" else frame["time"].dt.epoch("s") // 60
    return {
        (record, item): (value, time)
        for (record, item, value), time in zip(frame.drop("time").rows(), moments, strict=True)
    }


SMALL = "bitcoin-otc/soc-sign-bitcoinotc.csv"
WITHOUT_HEADER = {SMALL: {"record": 1, "item": 2, "value": 3, "time": 4}}


@pytest.mark.parametrize(
    "name", [name if name == SMALL else pytest.param(name, marks=pytest.mark.slow) for name in COUNTS]
)
def test_counts_and_entries_are_those_of_the_files(realdata, name):
    release = so.read(realdata / name, **WITHOUT_HEADER.get(name, {}))
    assert release.provenance.unused == ()
    assert (release.n_entries, release.n_records, release.n_items) == COUNTS[name]
    wanted = naive.entries(rows_of(realdata, name))
    assert table(release) == wanted
    assert list(release.records) == naive.shortlex({record for record, _ in wanted})
    assert (release.provenance.repeats, release.provenance.rejected) == (0, {})


def test_movielens_reads_the_same_through_polars(realdata):
    frame = pl.read_csv(realdata / "movielens-latest-small" / "ratings.csv")
    release = so.read(realdata / "movielens-latest-small")
    assert so.read(frame).fingerprint == release.fingerprint
    assert so.read(frame.sample(fraction=1, shuffle=True, seed=4)).fingerprint == release.fingerprint
    titles = pl.read_csv(realdata / "movielens-latest-small" / "movies.csv")
    known = dict(zip(titles["movieId"].cast(str), titles["title"], strict=True))
    assert list(release.titles) == [known[item] for item in release.items]


def test_popularity_and_lengths_are_those_of_the_twins(realdata):
    release = so.read(realdata / "movielens-latest-small")
    entries = table(release)
    support, lengths, ranks = naive.support(entries), naive.lengths(entries), naive.ranks(entries)
    assert release.support.tolist() == [support[item] for item in release.items]
    assert release.lengths.tolist() == [lengths[record] for record in release.records]
    assert release.rank.tolist() == [ranks[item] for item in release.items]
    assert so.describe(release).outside_top == naive.outside_top(entries)


def test_movietweetings_has_titles_with_accents(realdata):
    release = so.read(realdata / "movietweetings" / "2013-11-06")
    titles = dict(zip(release.items, release.titles, strict=True))
    path = realdata / "movietweetings" / "2013-11-06" / "movies.dat"
    with path.open(encoding="utf-8", newline="\n") as file:
        known = dict(line.split("::")[:2] for line in file)
    assert {item: known.get(item, "") for item in titles} == titles
    assert any(not title.isascii() for title in titles.values())


UNUSED = {"InvoiceNo": "id", "Description": "text", "UnitPrice": "number", "Country": "quasi-identifier"}
RETAIL = {"encoding": "latin-1", "time_format": "%m/%d/%Y %H:%M", "ignore": ["InvoiceNo", "UnitPrice", "Country"]}


@pytest.mark.slow
def test_online_retail_reads_and_reports_its_rejected_rows(realdata):
    path = realdata / "online-retail" / "online-retail.csv.gz"
    with pytest.raises(RejectedRows, match="135,080 × no record id"):
        so.read(path, **RETAIL)
    release = so.read(path, **RETAIL, time_unit="minute", max_rejects="25%")
    provenance = release.provenance
    assert (provenance.rows, provenance.rejected) == (541_909, {"no record id": 135_080})
    assert provenance.columns == {
        "record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate",
    }  # fmt: skip
    assert {column.name: column.kind for column in provenance.unused} == UNUSED
    assert [column.name for column in provenance.unused if not column.ignored] == ["Description"]
    assert (release.n_records, release.n_items) == (4_372, 3_684)
    assert release.n_entries == 406_829 and provenance.settings["repeats"] == "keep"
    assert int(release.distinct_items.sum()) + provenance.repeats == 406_829
    assert release.levels[0] == -80_995
    assert [str(end)[:7] for end in release.time_range] == ["2010-12", "2011-12"]


@pytest.fixture(scope="module")
def purchases(realdata):
    """(record, item, value, time) of every row with a customer, read by the csv module."""
    minute = cache(lambda text: naive.pattern_time(text, RETAIL["time_format"], "minute"))
    with gzip.open(realdata / "online-retail" / "online-retail.csv.gz", "rt", encoding="latin-1") as file:
        return [
            (row["CustomerID"], row["StockCode"], float(row["Quantity"]), minute(row["InvoiceDate"]))
            for row in csv.DictReader(file)
            if row["CustomerID"]
        ]


@pytest.mark.slow
@pytest.mark.parametrize("repeats", ["last", "first", "max"])
def test_online_retail_keeps_the_right_one_of_each_repeat(realdata, purchases, repeats):
    path = realdata / "online-retail" / "online-retail.csv.gz"
    release = so.read(path, **RETAIL, time_unit="minute", max_rejects="25%", repeats=repeats)
    assert table(release) == naive.entries(purchases, repeats)
