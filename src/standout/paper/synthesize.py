"""`so.synthesize`: synthetic releases, in memory or as an index."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from standout._version import __version__
from standout.core import rng
from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError, not_one_of, whole_number
from standout.core.jit import Array, Int, kernel, subroutine
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.threads import memory_limit, thread_count
from standout.data.build import IN_MEMORY, MemoryPlan, count_codes, drop_unused_codes, pack_by_item
from standout.data.labels import Clock, Labels, Provenance
from standout.data.release import RecordEntries, Release
from standout.data.store import is_index, open_index, open_index_writer, save
from standout.paper.netflix import (
    CLOCK,
    LEVELS,
    draw_entries,
    empty_entries,
    fit_lengths,
    qualifying_entries,
    record_lengths,
)
from standout.paper.published import data_file, published, published_support

Like = Literal["quick", "netflix", "flat"]
MOST_CODES, MOST_ENTRIES = (1 << 31) - 1, 1 << 40
"""Largest numbers of records or items, and of entries."""
STRIDE = 1 << 14
CLOCKS = {
    "quick": Clock("day", (date(1999, 12, 1) - date(1970, 1, 1)).days, 2_223),
    "netflix": CLOCK,
    "flat": Clock("day", (date(2000, 1, 1) - date(1970, 1, 1)).days, 2_000),
}
FLAT_SPAN, QUICK_SPAN = CLOCKS["flat"].span, CLOCKS["quick"].span


def release_sizes(like: Like, records: int | None, items: int | None, entries: int | None) -> tuple[int, int, int]:
    """(records, items, entries) with defaults filled in, checked."""
    if like not in get_args(Like):
        raise ParameterError(not_one_of("like", like, get_args(Like)))
    given = {"records": records, "items": items, "entries": entries}
    for (name, size), most in zip(given.items(), (MOST_CODES, MOST_CODES, MOST_ENTRIES), strict=True):
        if size is not None and whole_number(name, size, 1) > most:
            raise ParameterError(f"{name} must be at most {most:,}, got a number of {size.bit_length()} bits")
    sizes, is_standin = published()["sizes"], like == "netflix"
    if records is None:
        records = int(sizes["records"]) if is_standin else 10_000
    if items is None:  # the stand-in has those of Netflix's films that this number of people would have rated
        rated = int((published_support() * (records / sizes["records"]) >= 1).sum())
        items = max(rated, 1) if is_standin else 2_000
    if entries is None:
        usual = -(-sizes["entries"] * records // sizes["records"]) if is_standin else 50 * records
        entries = min(max(usual, items), records * items)
    if not max(records, items) <= entries <= records * items:
        raise ParameterError(
            f"entries must be from {max(records, items):,} to {records * items:,} "
            f"for {records:,} records and {items:,} items, got {entries:,}"
        )
    return records, items, entries


# Flat: a release without any structure, as a control in tests.
#
# Record lengths differ by at most one entry. Items, values and days are drawn uniformly.


def _flat_entries(
    records: int, items: int, entries: int, seed: int, progress: Progress, memory: MemoryPlan
) -> RecordEntries:
    """Entries by record; some items may have none."""
    length, longer = divmod(entries, records)
    start = np.arange(records + 1) * length + np.minimum(np.arange(records + 1), longer)
    columns, stream = empty_entries(start, items, FLAT_SPAN, memory), rng.key(seed, "flat")
    for low in range(0, records, STRIDE):
        progress("making records", low, records)
        _fill_flat(stream, low, min(low + STRIDE, records), items, columns)
    return columns


@kernel
def _fill_flat(stream: np.uint64, low: Int, high: Int, items: Int, columns: Any) -> None:
    """Fill the records low … high - 1. Floyd's method draws n different items in n draws."""
    start, item, value, time = columns
    last_record = np.zeros(items, np.int64)
    for record in range(low, high):
        key, mark = rng.mix(stream, np.uint64(record)), record - low + 1
        begin, end = start[record], start[record + 1]
        n = end - begin
        for i in range(n):
            u = rng.uniform(key, np.uint64(3 * i))
            drawn = np.int64(u * (items - n + i + 1))
            if last_record[drawn] == mark:
                drawn = items - n + i
            last_record[drawn] = mark
            item[begin + i] = drawn
            value[begin + i] = np.int64(rng.uniform(key, np.uint64(3 * i + 1)) * 5)
            time[begin + i] = np.int64(rng.uniform(key, np.uint64(3 * i + 2)) * FLAT_SPAN)
        item[begin:end].sort()


# Quick: the shape of real releases, not calibrated on any data set, for demonstrations, tests and benchmarks.
#
# Popularity and record lengths have long tails, ratings depend on person and item, dates come in bursts.


SPREAD = 1.25
"""Deviation of log lengths: mean ÷ median = e^(SPREAD² / 2), as for subscribers of a film service."""
HEAD = 0.03
"""Popularity falls as 1 / (rank + HEAD·items)²."""
DENSE = 4
"""Records with more than items ÷ DENSE entries are drawn by `_draw_dense`."""


def _quick_entries(
    records: int, items: int, entries: int, seed: int, progress: Progress, memory: MemoryPlan
) -> RecordEntries:
    """Entries by record; every item has at least one."""
    draw = rng.generator(seed, "synthetic", "lengths")
    start = offsets(fit_lengths(np.exp(SPREAD * draw.standard_normal(records)), items, entries, draw))
    columns, draw = empty_entries(start, items, QUICK_SPAN, memory), rng.generator(seed, "synthetic", "items")
    by_rank = draw.permutation(items).astype(np.uint32)
    appeal = draw.standard_normal(items)
    # one entry is reserved for every item, so that each item has at least one
    reserved = np.sort(draw.choice(entries, items, replace=False, shuffle=False))
    record_of = np.searchsorted(start, reserved, side="right") - 1
    given = draw.permutation(items).astype(np.uint32)
    given_start = np.searchsorted(record_of, np.arange(records + 1))
    tables = by_rank, appeal, given_start, given, np.zeros(items, np.int64)
    stream = rng.key(seed, "synthetic", "records")
    for low in range(0, records, STRIDE):
        progress("making records", low, records)
        _fill_quick(stream, low, min(low + STRIDE, records), tables, columns)
    return columns


@kernel
def _fill_quick(stream: np.uint64, low: Int, high: Int, tables: Any, columns: Any) -> None:
    """Fill the records low … high - 1; every draw depends only on the seed and the record.

    tables: the item of each popularity rank, the appeal of each item, the items that are given to each record
    in advance, and the last record (+ 1) that drew each item, to draw no item twice.
    """
    by_rank, appeal, given_start, given, last_record = tables
    start, item, value, time = columns
    for record in range(low, high):
        key = rng.mix(stream, np.uint64(record))
        begin, end = start[record], start[record + 1]
        at = begin
        for i in range(given_start[record], given_start[record + 1]):
            last_record[given[i]] = record + 1
            item[at] = given[i]
            at += 1
        if end - begin > len(by_rank) // DENSE:
            _draw_dense(key, by_rank, last_record, record + 1, item[at:end])
        else:
            _draw_sparse(key, by_rank, last_record, record + 1, item[at:end])
        item[begin:end].sort()
        _draw_ratings(key, appeal, item[begin:end], value[begin:end])
        _draw_dates(key, time[begin:end])


@subroutine
def _draw_sparse(key: np.uint64, by_rank: Array, last_record: Array, mark: Int, out: Array) -> None:
    """Draw items by popularity until enough are new; 1 / (rank + q)² has a closed inverse."""
    n_items = len(by_rank)
    q = HEAD * n_items
    most = n_items / (q + n_items)
    n, draw = 0, 0
    while n < len(out):
        u = rng.uniform(key, np.uint64(draw)) * most
        draw += 1
        drawn = by_rank[min(int(q * u / (1 - u)), n_items - 1)]
        if last_record[drawn] != mark:
            last_record[drawn] = mark
            out[n] = drawn
            n += 1


@subroutine
def _draw_dense(key: np.uint64, by_rank: Array, last_record: Array, mark: Int, out: Array) -> None:
    """Take the items with the shortest exponential waiting times: the same distribution, no rejections."""
    n_items = len(by_rank)
    q = HEAD * n_items
    waiting = np.empty(n_items, np.float64)
    for rank in range(n_items):
        u = rng.uniform(key, np.uint64(rank))
        is_new = last_record[by_rank[rank]] != mark
        waiting[rank] = -np.log(1 - u) * (rank + q) ** 2 if is_new else np.inf
    first = np.argsort(waiting)
    for n in range(len(out)):
        out[n] = by_rank[first[n]]
        last_record[out[n]] = mark


@subroutine
def _draw_ratings(record_key: np.uint64, appeal: Array, item: Array, value: Array) -> None:
    """Draw ratings 1 to 5 (codes 0 to 4) from the person's mood, the item's appeal, and noise."""
    key = rng.mix(record_key, np.uint64(1 << 40))
    mood = _bell(key, 0)
    for i in range(len(item)):
        stars = 3.6 + 0.45 * mood + 0.4 * appeal[item[i]] + 0.9 * _bell(key, 4 * (i + 1))
        value[i] = min(max(int(np.floor(stars + 0.5)), 1), 5) - 1


@subroutine
def _bell(key: np.uint64, draw: Int) -> float:
    """Sum of four uniform numbers, nearly normal with deviation 1."""
    total = 0.0
    for i in range(4):
        total += rng.uniform(key, np.uint64(draw + i))
    return (total - 2.0) * 1.7320508075688772


@subroutine
def _draw_dates(record_key: np.uint64, time: Array) -> None:
    """Draw dates in bursts: people join late in the period and come back several times."""
    key = rng.mix(record_key, np.uint64(1 << 41))
    joined = int(QUICK_SPAN * rng.uniform(key, np.uint64(0)) ** 0.3)
    visits = 1 + int(len(time) ** 0.6)
    for i in range(len(time)):
        visit = int(visits * rng.uniform(key, np.uint64(2 * i + 1)) ** 2)
        later = rng.uniform(key, np.uint64((1 << 32) + visit)) ** 1.5 if visit > 0 else 0.0
        time[i] = joined + int((QUICK_SPAN - 1 - joined) * later)


# All kinds.


def invented_titles(count: int, seed: int) -> Labels:
    """Different titles, `count` of them."""
    words = tomllib.loads(data_file("titles.toml"))
    first, second, forms = words["first"], words["second"], words["forms"]
    plain = len(first) * len(second) * len(forms)
    titles = []
    for number in rng.generator(seed, "titles").permutation(max(plain, count))[:count].tolist():
        sequel, combination = divmod(number, plain)
        form, pair = divmod(combination, len(first) * len(second))
        title = forms[form].format(first[pair // len(second)], second[pair % len(second)])
        for vowel in "AEIU":
            title = title.replace(f"A {vowel}", f"An {vowel}")
        titles.append(f"{title} {sequel + 1}" if sequel else title)
    return Labels.of(titles)


def give_unused_items(columns: RecordEntries, items: int, seed: int) -> None:
    """Give each item without entries to a random record, instead of an item that others have too, in place."""
    support, draw = count_codes(columns.item, items), rng.generator(seed, "left out")
    for item in np.flatnonzero(support == 0):
        while True:
            position = int(draw.integers(len(columns.item)))
            if support[columns.item[position]] > 1:
                break
        support[columns.item[position]] -= 1
        support[item] = 1
        columns.item[position] = item
        record = int(np.searchsorted(columns.start, position, side="right")) - 1
        entries = slice(*columns.start[record : record + 2])
        order = np.argsort(columns.item[entries], kind="stable")
        for column in columns[1:]:
            assert column is not None
            column[entries] = column[entries][order]


@with_progress
def synthesize(
    *,
    like: Like = "quick",
    records: int | None = None,
    items: int | None = None,
    entries: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Release:
    """Make a synthetic release with exactly these numbers of records, items and entries.

    The same sizes and seed give the same release, byte for byte, for any number of threads. It has ratings
    from 1 to 5 and days, and every record and every item has at least one entry.

    Parameters
    ----------
    like
        "quick": long tails, ratings, and dates in bursts, not calibrated on any data. "netflix": a stand-in
        for the Netflix Prize data, calibrated on its published statistics. "flat": no structure.
    records
        Number of records; default: 10,000, or 480,189 with like="netflix".
    items
        Number of items; default: 2,000. With like="netflix", the default is the number of Netflix's 17,770
        films that this number of people would have rated.
    entries
        Number of entries; default: 50 per record, or 209 with like="netflix".

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=200, items=100, entries=3_000, seed=1)
    >>> release.n_records, release.n_items, release.n_entries, release.levels.tolist()
    (200, 100, 3000, [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    sizes = release_sizes(like, records, items, entries)
    return _made(like, sizes, items is None, seed, threads, progress, IN_MEMORY)


def _made(
    like: Like,
    sizes: tuple[int, int, int],
    first_items: bool,
    seed: int,
    threads: int | None,
    progress: Progress,
    memory: MemoryPlan,
) -> Release:
    """Make a release; the arrays of its entries are where `memory` puts them."""
    rng.check_seed(seed)
    n_records, n_items, n_entries = sizes
    threads = thread_count(threads)
    if like == "netflix":
        lengths, ranks = record_lengths(*sizes, seed), np.arange(1.0, n_items + 1)
        if not first_items:  # spread over all of Netflix's films
            ranks = np.asarray((np.arange(n_items) + 0.5) * (published()["sizes"]["items"] / n_items) + 0.5)
        columns = draw_entries(lengths, ranks, seed, threads, progress, memory)
    else:
        columns = (_quick_entries if like == "quick" else _flat_entries)(*sizes, seed, progress, memory)
    give_unused_items(columns, n_items, seed)
    by_record, levels, clock = drop_unused_codes(columns, LEVELS, CLOCKS[like], memory)
    records, item_ids = (Labels.of(map(str, range(1, count + 1))) for count in (n_records, n_items))
    return Release(
        records=records,
        items=item_ids,
        titles=invented_titles(n_items, seed) if like == "netflix" else None,
        levels=levels,
        clock=clock,
        by_record=by_record,
        by_item=pack_by_item(by_record, n_items, levels, clock, progress, memory),
        provenance=Provenance("synthetic", settings={"like": like, "seed": str(seed)}, rows=n_entries),
    )


def is_standin(release: Release) -> bool:
    """Whether a release is a stand-in for the Netflix Prize data, of any size."""
    provenance = release.provenance
    return provenance.format == "synthetic" and provenance.settings.get("like") == "netflix"


def qualifying_of_standin(release: Release) -> Ints | None:
    """Number of ratings of each person that the stand-in held back for the contest; None for other data."""
    if not is_standin(release):
        return None
    return qualifying_entries(release.n_records, int(release.provenance.settings["seed"]))


def open_or_make_standin(
    folder: Path, records: int | None, seed: int = 0, threads: int | None = None, progress: Progress = no_progress
) -> Release:
    """The stand-in with this number of people, read from an index in the folder, or made and saved there."""
    records = records or int(published()["sizes"]["records"])
    path = folder / f"standin-{records}-{seed}-{__version__}.index"
    if not is_index(path):
        save(synthesize(like="netflix", records=records, seed=seed, threads=threads, progress=progress), path, progress)
    return open_index(path).check()


# As an index, also if memory does not hold the release.


PER_PERSON, PER_ENTRY = 250, 20
"""Bytes of memory for each person's traits, and for each entry of a release that is made in memory."""


def scaled_records(scale: float) -> int:
    """Number of people of a stand-in with this many times the people of the Netflix Prize data."""
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale <= 1000:
        raise ParameterError(f"scale must be a number above 0, up to 1000, got {scale!r:.100}")
    return max(1, round(scale * int(published()["sizes"]["records"])))


@with_progress
def synthesize_index(
    output: str | Path,
    *,
    like: Like = "netflix",
    records: int | None = None,
    items: int | None = None,
    entries: int | None = None,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Release:
    """Make the release of `synthesize` as an index; what does not fit into `memory` is in files meanwhile."""
    limit, sizes = memory_limit(memory), release_sizes(like, records, items, entries)
    with open_index_writer(output) as index:
        plan = MemoryPlan(limit, index.folder, ids=PER_PERSON * sizes[0])
        plan.on_disk = PER_ENTRY * sizes[2] > plan.left
        index.write(_made(like, sizes, items is None, seed, threads, progress, plan), progress)
    return open_index(output)
