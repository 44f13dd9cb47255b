"""`so.synthesize`: synthetic releases."""

from types import ModuleType
from typing import Any, Literal

import numpy as np

from standout.core import rng
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.suggestions import not_one_of
from standout.core.threads import thread_count
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
from standout.synthetic import flat_generator, netflix_generator, quick_generator
from standout.synthetic.invented_titles import invented_titles
from standout.synthetic.published_statistics import published, published_support
from standout.synthetic.record_lengths import qualifying_entries

__all__ = ["LIKE", "Like", "qualifying_of_standin", "synthesize"]

Like = Literal["quick", "netflix", "flat"]
LIKE = ("quick", "netflix", "flat")
MOST_CODES, MOST_ENTRIES = (1 << 31) - 1, 1 << 40
"""Largest numbers of records or items, and of entries."""
GENERATORS: dict[str, ModuleType] = {
    "quick": quick_generator,
    "netflix": netflix_generator,
    "flat": flat_generator,
}


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
    """Make a synthetic release with exactly these numbers of records, items and entries.

    The same sizes and seed give the same release, byte for byte, for any number of threads.

    Parameters
    ----------
    like
        "quick": long tails, ratings, and dates in bursts, not calibrated on any data. "netflix": a stand-in
        for the Netflix Prize data, calibrated on its published statistics (docs/standin.md). "flat": no
        structure.
    records
        Number of records; default: 10,000, or 480,189 with like="netflix".
    items
        Number of items; default: 2,000. With like="netflix", the default is the number of Netflix's 17,770
        films that this number of people would have rated.
    entries
        Number of entries; default: 50 per record, or 209 with like="netflix". More entries make a denser
        release.
    seed
        Seed of every random draw.
    threads
        Number of threads; default: all cores.
    progress
        Called with the stage, the work done and the total.

    Returns
    -------
    Release
        A release with ratings from 1 to 5 and days. Every record and every item has at least one entry.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or if the numbers of records, items and entries contradict each other.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=200, items=100, entries=3_000, seed=1)
    >>> release.n_records, release.n_items, release.n_entries, release.levels.tolist()
    (200, 100, 3000, [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    rng.check_seed(seed)
    if like not in LIKE:
        raise ParameterError(not_one_of("like", like, LIKE))
    threads = thread_count(threads)
    n_records, n_items, n_entries = _sizes(like, records, items, entries)
    if like == "netflix":
        ranks = _ranks(n_items, first_ones=items is None)
        columns = netflix_generator.generate_entries(n_records, ranks, n_entries, seed, threads, progress)
    else:
        columns = GENERATORS[like].generate_entries(n_records, n_items, n_entries, seed, progress)
    _give_unused_items(columns, n_items, seed)
    by_record, levels, clock = drop_unused_codes(columns, GENERATORS[like].LEVELS, GENERATORS[like].CLOCK)
    return Release(
        records=_numbers(n_records),
        items=_numbers(n_items),
        titles=_read_only_labels(invented_titles(n_items, seed)) if like == "netflix" else None,
        levels=None if levels is None else read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(by_record),
        by_item=pack_by_item(by_record, n_items, levels, clock, progress),
        provenance=Provenance("synthetic", settings={"like": like, "seed": str(seed)}, rows=n_entries),
    )


def qualifying_of_standin(release: Release) -> Ints | None:
    """Number of ratings of each person that the stand-in held back for the contest; None for other data.

    >>> qualifying_of_standin(synthesize(records=20, items=10, entries=60)) is None
    True
    """
    provenance = release.provenance
    if provenance.format != "synthetic" or provenance.settings.get("like") != "netflix":
        return None
    return qualifying_entries(release.n_records, int(provenance.settings["seed"]))


def _sizes(like: Like, records: int | None, items: int | None, entries: int | None) -> tuple[int, int, int]:
    """(records, items, entries) with defaults filled in, checked."""
    for name, size, most in (
        ("records", records, MOST_CODES),
        ("items", items, MOST_CODES),
        ("entries", entries, MOST_ENTRIES),
    ):
        _check_size(name, size, most)
    sizes = published()["sizes"]
    if records is None:
        records = sizes["records"] if like == "netflix" else 10_000
    if items is None:
        items = _items_rated_by(records) if like == "netflix" else 2_000
    if entries is None:
        usual = -(-sizes["entries"] * records // sizes["records"]) if like == "netflix" else 50 * records
        entries = min(max(usual, items), records * items)
    if records < 1 or items < 1 or not max(records, items) <= entries <= records * items:
        raise ParameterError(
            f"entries must be from {max(records, items, 1):,} to {max(records * items, 1):,} "
            f"for {records:,} records and {items:,} items, got {entries:,}"
        )
    return records, items, entries


def _check_size(name: str, size: Any, most: int) -> None:
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        raise ParameterError(f"{name} must be a whole number, got {size!r}")
    if size is not None and size > most:
        raise ParameterError(f"{name} must be at most {most:,}, got a number of {size.bit_length()} bits")


def _items_rated_by(records: int) -> int:
    """Number of Netflix's films that this number of people would have rated."""
    support = published_support() * (records / published()["sizes"]["records"])
    return max(int((support >= 1).sum()), 1)


def _ranks(items: int, first_ones: bool) -> Floats:
    """Ranks of the items among Netflix's films: the first ones, or spread over all."""
    if first_ones:
        return np.arange(1.0, items + 1)
    distance = published()["sizes"]["items"] / items
    return np.asarray((np.arange(items) + 0.5) * distance + 0.5)


def _give_unused_items(columns: RecordEntries, items: int, seed: int) -> None:
    """Give each item without entries to a random record, instead of an item that others have too."""
    support = count_codes(columns.item, items)
    draw = rng.generator(seed, "left out")
    for item in np.flatnonzero(support == 0):
        while True:
            entry = int(draw.integers(len(columns.item)))
            if support[columns.item[entry]] > 1:
                break
        support[columns.item[entry]] -= 1
        support[item] = 1
        columns.item[entry] = item
        _sort_record(columns, int(np.searchsorted(columns.start, entry, side="right")) - 1)


def _sort_record(columns: RecordEntries, record: int) -> None:
    """Sort the entries of a record by item."""
    entries = slice(*columns.start[record : record + 2])
    order = np.argsort(columns.item[entries], kind="stable")
    for column in columns[1:]:
        assert column is not None
        column[entries] = column[entries][order]


def _numbers(count: int) -> Labels:
    return _read_only_labels(Labels.of(map(str, range(1, count + 1))))


def _read_only_labels(labels: Labels) -> Labels:
    return Labels(read_only(labels.offsets), read_only(labels.data))
