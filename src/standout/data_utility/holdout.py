"""Held-out entries: what a recommender is tested on, and the release without them that it learns from."""

from dataclasses import dataclass, replace

import numpy as np

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.release.build import drop_unused_codes, pack_by_item, read_only_entries, read_only_levels
from standout.release.model import Codes, RecordEntries, Release

__all__ = ["HeldOutEntries", "hold_out", "level_numbers"]

LEAST_ENTRIES = 5
"""Smallest number of entries of a test person."""
MOST_HELD_OUT, PART = 5, 5
"""At most 5 entries of a person are held out, and at most one in 5."""


@dataclass(frozen=True, eq=False, slots=True)
class HeldOutEntries:
    """Entries of some people, and the release without them, with the same indices of records and items.

    people   indices of the people
    person   for each held-out entry, the index of its person in `people`
    item     its item
    value    its value as a number; NaN if it has none
    """

    rest: Release
    people: Ints
    person: Ints
    item: Ints
    value: Floats


def hold_out(release: Release, people: int, seed: int) -> HeldOutEntries:
    """Hold out entries of randomly drawn people; the result depends on the seed and the release only.

    Every item keeps at least one entry: nothing can be learned about an item that nobody else has.
    """
    drawn_people, _ = draw_targets(release.check(), people, LEAST_ENTRIES, seed, "utility")
    support, entries, person = release.support.copy(), [], []
    for index, order in enumerate(shuffled_entries(release, drawn_people, seed, "utility entries")):
        held_out = 0
        for entry in order.tolist():
            item = release.by_record.item[entry]
            if held_out == min(MOST_HELD_OUT, len(order) // PART):
                break
            if support[item] > 1:
                support[item] -= 1
                held_out += 1
                entries.append(entry)
                person.append(index)
    if not entries:
        raise ParameterError(
            f"utility needs people with at least {LEAST_ENTRIES} entries and items that others have too: "
            "this release has none"
        )
    entry = np.array(entries)
    tested, person_index = np.unique(np.array(person), return_inverse=True)
    return HeldOutEntries(
        rest=_without(release, entry),
        people=drawn_people[tested],
        person=person_index,
        item=release.by_record.item[entry].astype(np.int64),
        value=level_numbers(release)[_level_codes(release, entry)],
    )


def level_numbers(release: Release) -> Floats:
    """Return the number of each value code, and NaN for the code of a missing value; categories are NaN."""
    levels = release.levels
    numbers = levels if isinstance(levels, np.ndarray) else np.full(release.n_levels, np.nan)
    return np.append(numbers, np.nan)


def _level_codes(release: Release, entries: Ints) -> Ints:
    column = release.by_record.value
    return np.full(len(entries), release.n_levels) if column is None else column[entries].astype(np.int64)


def _without(release: Release, entries: Ints) -> Release:
    """Return the release without these entries; every record and every item keeps at least one."""
    by_record, keep = release.by_record, np.ones(release.n_entries, np.bool_)
    keep[entries] = False
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
