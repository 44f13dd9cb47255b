"""Entries that are held out: the question that a recommender is asked, and what is left to learn from."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.release.build import drop_unused_codes, pack_by_item, read_only_entries, read_only_levels
from standout.release.model import Codes, RecordEntries, Release

__all__ = ["HeldOutEntries", "hold_out", "numbers"]

LEAST, EACH, PART = 5, 5, 5
"""Of people with at least LEAST entries at most EACH are held out, and no more than one in PART."""


@dataclass(frozen=True, eq=False, slots=True)
class HeldOutEntries:
    """Some people's entries, and the release without them: the same records and items at the same places.

    people   places of the people
    person   for each entry that is held out the place among `people` of whose it is
    item     its item
    value    its value as a number; NaN where it has none
    """

    rest: Release
    people: Ints
    person: Ints
    item: Ints
    value: Floats


def hold_out(release: Release, people: int, seed: int) -> HeldOutEntries:
    """Entries of so many people, drawn at random; what is held out depends on seed and release only.

    An item keeps at least one entry: of what nobody else has nothing can be learned from any release.
    """
    places, _ = draw_targets(release.check(), people, LEAST, seed, "utility")
    left, entries, person = release.support.copy(), [], []
    for at, order in enumerate(shuffled_entries(release, places, seed, "utility entries")):
        taken = 0
        for entry in order.tolist():
            item = release.by_record.item[entry]
            if taken == min(EACH, len(order) // PART):
                break
            if left[item] > 1:
                left[item] -= 1
                taken += 1
                entries.append(entry)
                person.append(at)
    if not entries:
        raise ParameterError(f"no person has at least {LEAST} entries, and items that others have too")
    asked, whose = np.array(entries), np.array(person)
    of, person_of = np.unique(whose, return_inverse=True)
    item = release.by_record.item[asked].astype(np.int64)
    value = numbers(release)[_code(release, asked)]
    return HeldOutEntries(_without(release, asked), places[of], person_of, item, value)


def numbers(release: Release) -> Floats:
    """The number of each value code, and NaN for the code of what has none; categories are not numbers."""
    levels = release.levels
    told = levels if isinstance(levels, np.ndarray) else np.full(release.n_levels, np.nan)
    return np.append(told, np.nan)


def _code(release: Release, entries: Ints) -> Ints:
    column = release.by_record.value
    return np.full(len(entries), release.n_levels) if column is None else column[entries].astype(np.int64)


def _without(release: Release, entries: Ints) -> Release:
    """The release without these entries; every record and every item keeps at least one."""
    side, kept = release.by_record, np.ones(release.n_entries, np.bool_)
    kept[entries] = False
    start = offsets(kept)[side.start]
    groups = RecordEntries(start, side.item[kept], _kept(side.value, kept), _kept(side.time, kept))
    groups, levels, clock = drop_unused_codes(groups, release.levels, release.clock)
    return replace(
        release, levels=read_only_levels(levels), clock=clock, by_record=read_only_entries(groups),
        by_item=pack_by_item(groups, release.n_items, levels, clock), stored_fingerprint=None,
    )  # fmt: skip


def _kept(column: Codes | None, kept: NDArray[np.bool_]) -> Codes | None:
    return None if column is None else column[kept]
