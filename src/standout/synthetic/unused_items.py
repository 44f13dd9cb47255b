"""Every item of a synthetic release has an entry: items that nobody has drawn are given to somebody."""

from collections.abc import Sequence

import numpy as np

from standout.core import rng
from standout.core.arrays import offsets
from standout.release.build import count_codes
from standout.release.model import RecordEntries

__all__ = ["give_unused_items"]


def give_unused_items(parts: Sequence[RecordEntries], items: int, seed: int) -> list[tuple[int, int]]:
    """Give each item without entries to a random record, instead of an item that others have too.

    The parts of a release are changed in place. Returns the part and the record of each change.
    """
    support = np.sum([count_codes(part.item, items) for part in parts], axis=0)
    start = offsets([len(part.item) for part in parts])
    draw, changed = rng.generator(seed, "left out"), []
    for item in np.flatnonzero(support == 0):
        while True:
            entry = int(draw.integers(start[-1]))
            number = int(np.searchsorted(start, entry, side="right")) - 1
            part, position = parts[number], entry - int(start[number])
            if support[part.item[position]] > 1:
                break
        support[part.item[position]] -= 1
        support[item] = 1
        part.item[position] = item
        record = int(np.searchsorted(part.start, position, side="right")) - 1
        _sort_record(part, record)
        changed.append((number, record))
    return changed


def _sort_record(columns: RecordEntries, record: int) -> None:
    """Sort the entries of a record by item."""
    entries = slice(*columns.start[record : record + 2])
    order = np.argsort(columns.item[entries], kind="stable")
    for column in columns[1:]:
        assert column is not None
        column[entries] = column[entries][order]
