"""Put ids in their canonical order: shortlex, by length and then by bytes."""

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.release import build_kernels
from standout.release.labels import Labels
from standout.release.model import read_only

__all__ = ["id_bytes", "rank_used", "select_labels", "shortlex_order"]


PER_ID = 64
"""Bytes for each id while a release is built: its count, length, order, rank and offsets."""


def id_bytes(*labels: Labels) -> int:
    """Bytes of memory that ids take while a release is built, without the table that gave them codes."""
    return sum(3 * int(ids.offsets[-1]) + PER_ID * len(ids) for ids in labels)


def shortlex_order(labels: Labels) -> NDArray[np.int64]:
    """Positions of the labels in shortlex order: by length, then by bytes; sorted one length at a time."""
    lengths = np.diff(labels.offsets)
    order = np.argsort(lengths, kind="stable")
    bounds = np.searchsorted(lengths[order], np.arange(lengths.max(initial=0) + 2))
    for length in np.unique(lengths):
        group = order[bounds[length] : bounds[length + 1]]
        if length:
            texts = select_labels(labels, group).data.view(f"S{length}")
            group[:] = group[np.argsort(texts, kind="stable")]
    return order


def rank_used(
    labels: Labels, counts: NDArray[np.int64]
) -> tuple[Labels, NDArray[np.uint32], NDArray[np.int64]]:
    """Return the used labels in shortlex order, the new code of each old one, and the old of each new."""
    order = shortlex_order(labels)
    order = order[counts[order] > 0]
    rank = np.zeros(len(labels), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return select_labels(labels, order), rank, order


def select_labels(labels: Labels, order: NDArray[np.int64]) -> Labels:
    """Return some labels in the given order."""
    lengths = np.diff(labels.offsets)[order]
    text_offsets = offsets(lengths)
    data = np.empty(text_offsets[-1], np.uint8)
    build_kernels.copy_texts(labels.offsets, labels.data, order, data)
    return Labels(read_only(text_offsets), read_only(data))
