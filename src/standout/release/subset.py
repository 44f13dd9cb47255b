"""Some of the records of a release, as a release."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.release.build import drop_unused_codes, pack_by_item, read_only_entries, read_only_levels
from standout.release.labels import Labels
from standout.release.model import Codes, RecordEntries, Release, code_type, read_only

__all__ = ["select_labels", "subset"]


def subset(release: Release, keep: NDArray[np.bool_]) -> Release:
    """The release without the other records, in canonical form: the same as read from their entries alone.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> subset(release, np.arange(100) % 4 == 0).n_records
    25
    """
    if keep.shape != (release.n_records,) or not keep.any():
        raise ParameterError("a part of a release has at least one of its records")
    side, lengths = release.check().by_record, release.lengths
    taken = np.repeat(keep, lengths)
    items, other = np.unique(side.item[taken], return_inverse=True)
    start = offsets(lengths[keep])
    groups = RecordEntries(
        start, other.astype(code_type(len(items))), _taken(side.value, taken), _taken(side.time, taken)
    )
    groups, levels, clock = drop_unused_codes(groups, release.levels, release.clock)
    return Release(
        select_labels(release.records, np.flatnonzero(keep)),
        select_labels(release.items, items),
        None if release.titles is None else select_labels(release.titles, items),
        read_only_levels(levels),
        clock,
        read_only_entries(groups),
        pack_by_item(groups, len(items), levels, clock),
        release.provenance,
    )


def _taken(column: Codes | None, taken: NDArray[np.bool_]) -> Codes | None:
    return None if column is None else column[taken]


def select_labels(labels: Labels, places: NDArray[np.integer[Any]]) -> Labels:
    """The labels at these places."""
    texts = [labels.raw(int(place)) for place in places]
    return Labels(read_only(offsets([len(text) for text in texts])), np.frombuffer(b"".join(texts), np.uint8))
