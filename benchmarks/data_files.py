"""A synthetic release with Netflix's shape: as an index, as MovieLens CSV and as Netflix Prize text."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import standout as so
from standout.data.build import drop_unused_codes, pack_by_item
from standout.data.entries import unpack_item
from standout.data.labels import SECONDS, Clock, TimeUnit
from standout.data.release import Levels, RecordEntries

__all__ = ["csv_file", "index_file", "netflix_file", "release_of", "with_levels", "with_times"]

RECORDS, ITEMS, ENTRIES = 480_189, 17_770, 100_480_507
PIECE = 20_000


def release_of(entries: int) -> so.Release:
    """A release with Netflix's shape and this number of entries: fewer people, the same films."""
    records = max(1, round(RECORDS * entries / ENTRIES))
    return so.synthesize(records=records, items=ITEMS, entries=entries, seed=2006)


def index_file(folder: Path, entries: int) -> Path:
    """The release as an index; it is made if there is no valid one."""
    path = folder / f"release-{entries}.index"
    try:
        so.open(path)
    except so.StoreError:
        so.save(release_of(entries), path)
    return path


def with_times(release: so.Release, unit: TimeUnit) -> so.Release:
    """The same entries with a random hour or minute: 53 thousand different times, or 3 million."""
    time, clock, parts = release.by_record.time, release.clock, SECONDS["day"] // SECONDS[unit]
    assert time is not None and clock is not None
    drawn = np.random.default_rng(1).integers(0, parts, len(time), np.uint32)
    finer = Clock(unit, clock.origin * parts, clock.span * parts)
    return _repacked(release, release.by_record._replace(time=time * np.uint32(parts) + drawn), clock=finer)


def with_levels(release: so.Release, count: int) -> so.Release:
    """The same entries with finer random values, on `count` levels from 1 to 6, in words of 64 bits."""
    value, between = release.by_record.value, count // release.n_levels
    assert value is not None
    finer = np.random.default_rng(1).integers(0, between, len(value), np.uint16)
    levels = 1 + np.arange(between * release.n_levels) / between
    value = value * np.uint16(between) + finer
    return _repacked(release, release.by_record._replace(value=value), levels=levels)


def _repacked(
    release: so.Release, by_record: RecordEntries, levels: Levels | None = None, clock: Clock | None = None
) -> so.Release:
    by_record, used_levels, clock = drop_unused_codes(
        by_record, release.levels if levels is None else levels, clock or release.clock
    )
    return replace(
        release,
        levels=used_levels,
        clock=clock,
        by_record=by_record,
        by_item=pack_by_item(by_record, release.n_items, used_levels, clock),
        stored=None,
    )


def csv_file(folder: Path, entries: int) -> Path:
    """userId,movieId,rating,timestamp by person, with a random second of the day."""
    path = folder / f"ratings-{entries}.csv"
    if path.exists():
        return path
    release = release_of(entries)
    draw = np.random.default_rng(1)
    with path.open("wb") as file:
        for low in range(0, release.n_records, PIECE):
            rows = _rows(release, low, min(low + PIECE, release.n_records), draw)
            rows.write_csv(file, include_header=low == 0)
    return path


def _rows(release: so.Release, low: int, high: int, draw: np.random.Generator) -> pl.DataFrame:
    side, clock = release.by_record, release.clock
    assert side.value is not None and side.time is not None and clock is not None
    entries = slice(int(side.start[low]), int(side.start[high]))
    day = side.time[entries].astype(np.int64) + clock.origin
    return pl.DataFrame(
        {
            "userId": np.repeat(np.arange(low, high) + 1, release.lengths[low:high]),
            "movieId": side.item[entries].astype(np.int64) + 1,
            "rating": side.value[entries].astype(np.float64) + 1,
            "timestamp": day * 86_400 + draw.integers(0, 86_400, len(day)),
        }
    )


def netflix_file(folder: Path, entries: int) -> Path:
    """The same entries by film: `17:`, then customer,rating,YYYY-MM-DD, customers in random order."""
    path = folder / f"combined_data_{entries}.txt"
    if path.exists():
        return path
    release = release_of(entries)
    clock = release.clock
    assert clock is not None
    with path.open("wb") as file:
        for film in range(release.n_items):
            customer, rating, day = unpack_item(release.by_item, film, release.n_levels, release.span)
            order = np.random.default_rng(film).permutation(len(customer))
            days = pl.Series(day[order].astype(np.int32) + clock.origin).cast(pl.Date)
            rows = pl.DataFrame({"customer": customer[order] + 1, "rating": rating[order] + 1, "date": days})
            file.write(f"{film + 1}:\n".encode())
            rows.write_csv(file, include_header=False)
    return path
