"""A sample of a release, together with the people whom its records represent."""

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from standout.facts import level_values
from standout.release.labels import Labels
from standout.release.model import Release
from standout.release.subset import subset
from standout.sanitized import OriginalMapping, Sanitized

__all__ = ["sample_release"]


def sample_release(release: Release, keep: NDArray[np.bool_]) -> Release:
    """The records where `keep` is set; the original keeps the people whom they represent."""
    sample = subset(release, keep)
    if not isinstance(release, Sanitized):
        return sample
    mapping, whole = release.mapping, release.original
    is_represented = (mapping.representatives >= 0) & keep[np.maximum(mapping.representatives, 0)]
    original = subset(whole, is_represented)
    code = np.full(release.n_items + 1, -1)  # the last one is for an item that is gone: -1
    code[_indices(release.items, sample.items)] = np.arange(sample.n_items)
    value = dict(zip(level_values(whole), mapping.released_values, strict=True))
    sample_mapping = OriginalMapping(
        (np.cumsum(keep) - 1)[mapping.representatives[is_represented]],
        code[mapping.item_codes[_indices(whole.items, original.items)]],
        tuple(value[level] for level in level_values(original)),
        mapping.rounding_periods,
    )
    columns = {field.name: getattr(sample, field.name) for field in fields(Release)}
    return replace(release, **columns, original=original, mapping=sample_mapping)


def _indices(labels: Labels, names: Labels) -> NDArray[np.int64]:
    """The index of each name among the labels."""
    return np.array([labels.find(name) for name in names], np.int64)
