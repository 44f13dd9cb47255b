"""Held-out entries: what a recommender is tested on, and the release without them that it learns from."""

from dataclasses import dataclass, replace

import numpy as np

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.release.build import drop_unused_codes, pack_by_item, read_only_entries, read_only_levels
from standout.release.distinct_items import first_entries
from standout.release.model import Codes, RecordEntries, Release

__all__ = ["HeldOutEntries", "hold_out", "level_numbers"]

LEAST_ITEMS = 5
"""Smallest number of items of a test person."""
MOST_HELD_OUT, PART = 5, 5
"""At most 5 items of a person are held out, and at most one in 5."""


@dataclass(frozen=True, eq=False, slots=True)
class HeldOutEntries:
    """Entries of some people, and the release without them, with the same indices of records and items.

    All entries of a person and item are held out together, as one.

    people   indices of the people
    person   for each held-out item, the index of its person in `people`
    item     the item
    value    its value as a number, the mean of several; NaN if it has none
    """

    rest: Release
    people: Ints
    person: Ints
    item: Ints
    value: Floats


def hold_out(release: Release, people: int, seed: int) -> HeldOutEntries:
    """Hold out entries of randomly drawn people; the result depends on the seed and the release only.

    Every item keeps at least one record: nothing can be learned about an item that nobody else has. All items
    of a person are equally likely to be held out, however often the person has them.
    """
    eligible, _ = draw_targets(release.check(), None, LEAST_ITEMS, seed, "utility")
    drawn_people = eligible[release.distinct_items[eligible] >= LEAST_ITEMS][:people]
    is_first = first_entries(release.by_record)
    support, entries, person = release.support.copy(), [], []
    for index, order in enumerate(shuffled_entries(release, drawn_people, seed, "utility entries")):
        held_out = 0
        most = min(MOST_HELD_OUT, int(release.distinct_items[drawn_people[index]]) // PART)
        for entry in order[is_first[order]].tolist():
            item = release.by_record.item[entry]
            if held_out == most:
                break
            if support[item] > 1:
                support[item] -= 1
                held_out += 1
                entries.append(entry)
                person.append(index)
    if not entries:
        raise ParameterError(
            f"utility needs people with at least {LEAST_ITEMS} items, and items that others have too: "
            "this release has none"
        )
    entry = np.array(entries)
    tested, person_index = np.unique(np.array(person), return_inverse=True)
    group = np.cumsum(is_first) - 1
    is_held_out = np.isin(group, group[entry]) if release.has_repeats else _mark(entry, release.n_entries)
    return HeldOutEntries(
        rest=_without(release, is_held_out),
        people=drawn_people[tested],
        person=person_index,
        item=release.by_record.item[entry].astype(np.int64),
        value=_mean_values(release, entry, group) if release.has_repeats else _values(release, entry),
    )


def level_numbers(release: Release) -> Floats:
    """Return the number of each value code, and NaN for the code of a missing value; categories are NaN."""
    levels = release.levels
    numbers = levels if isinstance(levels, np.ndarray) else np.full(release.n_levels, np.nan)
    return np.append(numbers, np.nan)


def _values(release: Release, entries: Ints) -> Floats:
    """Values of entries as numbers."""
    column = release.by_record.value
    codes = np.full(len(entries), release.n_levels) if column is None else column[entries].astype(np.int64)
    return np.asarray(level_numbers(release)[codes])


def _mean_values(release: Release, first: Ints, group: Ints) -> Floats:
    """Mean of the known values of each group of entries that begins with one of `first`; NaN without any."""
    size = np.bincount(group)[group[first]]
    entry = np.arange(size.sum()) + np.repeat(first - np.cumsum(size) + size, size)
    value, index = _values(release, entry), np.repeat(np.arange(len(first)), size)
    known = ~np.isnan(value)
    count = np.bincount(index, known, len(first))
    total = np.bincount(index, np.where(known, value, 0.0), len(first))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _mark(entries: Ints, count: int) -> Bools:
    marks = np.zeros(count, np.bool_)
    marks[entries] = True
    return marks


def _without(release: Release, is_held_out: Bools) -> Release:
    """Return the release without these entries; every record and every item keeps at least one."""
    by_record, keep = release.by_record, ~is_held_out
    rest = RecordEntries(
        offsets(keep)[by_record.start],
        by_record.item[keep],
        _column(by_record.value, keep),
        _column(by_record.time, keep),
    )
    rest, levels, clock = drop_unused_codes(rest, release.levels, release.clock)
    return replace(
        release,
        levels=read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(rest),
        by_item=pack_by_item(rest, release.n_items, levels, clock),
        stored_fingerprint=None,
    )


def _column(column: Codes | None, keep: Bools) -> Codes | None:
    return None if column is None else column[keep]
