"""so.synthesize: releases that are nobody's data."""

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from standout.core import rng
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.build import (
    count_codes,
    drop_unused_codes,
    pack_by_item,
    read_only_entries,
    read_only_levels,
)
from standout.release.labels import Labels
from standout.release.model import RecordEntries, Release, read_only
from standout.release.provenance import Provenance
from standout.synthetic import flat, netflix, quick
from standout.synthetic.invented_titles import titles
from standout.synthetic.lengths import qualifying
from standout.synthetic.published_statistics import netflix as published
from standout.synthetic.published_statistics import support_by_rank

__all__ = ["LIKE", "Like", "held_back_of", "synthesize"]

Like = Literal["quick", "netflix", "flat"]
LIKE = ("quick", "netflix", "flat")


def synthesize(
    *,
    like: Like = "quick",
    records: int | None = None,
    items: int | None = None,
    entries: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Release:
    """A release of exactly so many records, items and entries.

    like      "quick": long tails, ratings, dates in bursts, calibrated on nothing; "netflix": a stand-in for
              the Netflix Prize data, calibrated on its published statistics; "flat": no structure at all
    records   how many people: 10,000, or Netflix's 480,189
    items     how many items: 2,000; or as many of Netflix's 17,770 films as so many people would have rated
    entries   how many entries in all: 50 a record, or Netflix's 209; more make a denser world

    The same sizes and seed give the same release, byte for byte, on any number of threads.

    >>> release = synthesize(records=200, items=100, entries=3_000, seed=1)
    >>> release.n_records, release.n_items, release.n_entries, release.levels.tolist()
    (200, 100, 3000, [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    rng.check_seed(seed)
    if like not in LIKE:
        raise ParameterError(f"like must be {', '.join(LIKE[:-1])} or {LIKE[-1]}, got {like!r}")
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be at least 1, got {threads}")
    whole = items is None
    records, items, entries = _sizes(like, records, items, entries)
    if like == "netflix":
        rank = _ranks(items, whole)
        made = netflix.columns(records, rank, entries, seed, threads or os.cpu_count() or 1, progress)
    else:
        made = (flat if like == "flat" else quick).columns(records, items, entries, seed, progress)
    _leave_none_out(made, items, seed)
    source = {"quick": quick, "netflix": netflix, "flat": flat}[like]
    by_record, levels, clock = drop_unused_codes(made, source.LEVELS, source.CLOCK)
    return Release(
        _numbered(records),
        _numbered(items),
        _frozen(titles(items, seed)) if like == "netflix" else None,
        None if levels is None else read_only_levels(levels),
        clock,
        read_only_entries(by_record),
        pack_by_item(by_record, items, levels, clock, progress),
        Provenance("synthetic", settings={"like": like, "seed": str(seed)}, rows=entries),
    )


def held_back_of(release: Release) -> NDArray[np.int64] | None:
    """How many ratings of each person the stand-in holds back for the contest; None for other data.

    >>> held_back_of(synthesize(records=20, items=10, entries=60)) is None
    True
    """
    made = release.provenance
    if made.format != "synthetic" or made.settings.get("like") != "netflix":
        return None
    return qualifying(release.n_records, int(made.settings["seed"]))


def _sizes(
    like: Like, records: int | None, items: int | None, entries: int | None
) -> tuple[int, int, int]:  # fmt: skip
    """The sizes asked for, or a clear error."""
    for name, size in (("records", records), ("items", items), ("entries", entries)):
        if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
            raise ParameterError(f"{name} must be a whole number, got {size!r}")
    real = published()["sizes"]
    if records is None:
        records = real["records"] if like == "netflix" else 10_000
    if items is None and like == "netflix":
        seen = support_by_rank() * (records / real["records"]) >= 1
        items = max(int(seen.sum()), 1)
    items = 2_000 if items is None else items
    if entries is None:
        wished = -(-real["entries"] * records // real["records"]) if like == "netflix" else 50 * records
        entries = min(max(wished, items), records * items)
    if records < 1 or items < 1 or not max(records, items) <= entries <= records * items:
        raise ParameterError(
            f"entries must be from {max(records, items, 1):,} to {max(records * items, 1):,} "
            f"for {records:,} records and {items:,} items, got {entries:,}"
        )
    return records, items, entries


def _ranks(items: int, whole: bool) -> NDArray[np.float64]:
    """The ranks that items have among Netflix's: the first ones, or spread over all."""
    if whole:
        return np.arange(1.0, items + 1)
    apart = published()["sizes"]["items"] / items
    return np.asarray((np.arange(items) + 0.5) * apart + 0.5)


def _leave_none_out(made: RecordEntries, items: int, seed: int) -> None:
    """Gives each item that nobody has to somebody, in the place of one that others have too."""
    support = count_codes(made.item, items)
    draw = rng.generator(seed, "left out")
    for item in np.flatnonzero(support == 0):
        while True:
            entry = int(draw.integers(len(made.item)))
            if support[made.item[entry]] > 1:
                break
        support[made.item[entry]] -= 1
        support[item] = 1
        made.item[entry] = item
        _in_order(made, int(np.searchsorted(made.start, entry, side="right")) - 1)


def _in_order(made: RecordEntries, record: int) -> None:
    here = slice(*made.start[record : record + 2])
    order = np.argsort(made.item[here], kind="stable")
    for column in made[1:]:
        assert column is not None
        column[here] = column[here][order]


def _numbered(count: int) -> Labels:
    return _frozen(Labels.of(map(str, range(1, count + 1))))


def _frozen(labels: Labels) -> Labels:
    return Labels(read_only(labels.offsets), read_only(labels.data))
