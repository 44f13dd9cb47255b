"""Select some records of a release."""

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
    """Return a release of some records, in canonical form: as if only their entries had been read.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> subset(release, np.arange(100) % 4 == 0).n_records
    25
    """
    if keep.shape != (release.n_records,) or not keep.any():
        raise ParameterError(
            f"keep must be {release.n_records:,} truth values with at least one True, one for each record"
        )
    entries, lengths = release.check().by_record, release.lengths
    selected = np.repeat(keep, lengths)
    items, item = np.unique(entries.item[selected], return_inverse=True)
    groups = RecordEntries(
        offsets(lengths[keep]),
        item.astype(code_type(len(items))),
        _select(entries.value, selected),
        _select(entries.time, selected),
    )
    groups, levels, clock = drop_unused_codes(groups, release.levels, release.clock)
    return Release(
        records=select_labels(release.records, np.flatnonzero(keep)),
        items=select_labels(release.items, items),
        titles=None if release.titles is None else select_labels(release.titles, items),
        levels=read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(groups),
        by_item=pack_by_item(groups, len(items), levels, clock),
        provenance=release.provenance,
    )


def _select(column: Codes | None, selected: NDArray[np.bool_]) -> Codes | None:
    return None if column is None else column[selected]


def select_labels(labels: Labels, positions: NDArray[np.integer[Any]]) -> Labels:
    """Return the labels at some positions."""
    texts = [labels.raw(int(position)) for position in positions]
    return Labels(read_only(offsets([len(text) for text in texts])), np.frombuffer(b"".join(texts), np.uint8))
