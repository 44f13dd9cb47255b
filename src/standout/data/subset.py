"""Select some records of a release."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.data.build import drop_unused_codes, pack_by_item, read_only_entries, read_only_levels, select_labels
from standout.data.labels import Labels
from standout.data.release import Codes, RecordEntries, Release, code_type


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


def select_rows(release: Release, rows: Ints) -> Release:
    """The release with these records, in this order; items, levels and times stay."""
    arranged = arrange(release, rows)
    columns = tuple(column.rows(rows) for column in release.columns)
    return replace(arranged, columns=columns, records=_unordered(release.records, rows), has_ids=release.has_ids)


def arrange(release: Release, position: Ints) -> Release:
    """The entries of the records at these positions, in this order; -1 is a record without entries.

    Columns are left out, and ids are row numbers.
    """
    old, there = release.by_record, position >= 0
    lengths = np.where(there, release.lengths[position], 0)
    start = offsets(lengths)
    source = np.arange(start[-1]) + np.repeat(np.where(there, old.start[position], 0) - start[:-1], lengths)
    item, value, time = (None if codes is None else codes[source] for codes in old[1:])
    assert item is not None
    entries = read_only_entries(RecordEntries(start, item, value, time))
    return replace(
        release,
        records=Labels.of(map(str, range(1, len(position) + 1))),
        by_record=entries,
        by_item=pack_by_item(entries, release.n_items, release.levels, release.clock),
        stored_fingerprint=None,
        stored_columns=None,
        columns=(),
        has_ids=False,
    )


def _unordered(labels: Labels, positions: Ints) -> Labels:
    return replace(select_labels(labels, positions), ordered=False)


def _select(column: Codes | None, selected: NDArray[np.bool_]) -> Codes | None:
    return None if column is None else column[selected]
