"""The entry that represents an item of a person: one fact for each item.

A person who bought bread thirty times is not known thirty times better: purchases of one item are not
independent. In linking, a profile therefore has one fact for each item, its latest entry, and so have decoys.
"""

import numpy as np

from standout.core.arrays import Bools
from standout.release.model import Release

__all__ = ["latest_entries"]


def latest_entries(release: Release) -> Bools | None:
    """Return which entries, by record, are the latest of their record and item; None: all are.

    Without a time, an entry counts only if no entry of the item has one. In a tie the highest value counts.
    """
    if not release.has_repeats:
        return None
    start, item, _, time = release.check().by_record
    ends = np.append(item[1:] != item[:-1], True)
    ends[start[1:][release.lengths > 0] - 1] = True
    if time is None:
        return ends
    timed = np.asarray(time < release.span)
    begin = np.append(0, np.flatnonzero(ends)[:-1] + 1)
    never_timed = np.repeat(~timed[begin], np.diff(np.append(begin, len(ends))))
    followed = np.append(timed[1:], False) & ~ends  # entries without a time are the last ones of an item
    return np.asarray(np.where(never_timed, ends, timed & ~followed))
