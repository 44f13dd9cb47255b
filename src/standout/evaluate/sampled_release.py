"""Some of the records of a release, with the people for whom they stand."""

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
    """These records as a release; if it was made from another, the original has whom they stand for."""
    some = subset(release, keep)
    if not isinstance(release, Sanitized):
        return some
    terms, whole = release.mapping, release.original
    there = (terms.representatives >= 0) & keep[np.maximum(terms.representatives, 0)]
    original = subset(whole, there)
    code = np.full(release.n_items + 1, -1)  # the last is for what is gone: -1
    code[_among(release.items, some.items)] = np.arange(some.n_items)
    item = terms.item_codes[_among(whole.items, original.items)]
    value = dict(zip(level_values(whole), terms.released_values, strict=True))
    told = OriginalMapping(
        (np.cumsum(keep) - 1)[terms.representatives[there]],
        code[item],
        tuple(value[level] for level in level_values(original)),
        terms.rounding_periods,
    )
    kept = {field.name: getattr(some, field.name) for field in fields(Release)}
    return replace(release, **kept, original=original, mapping=told)


def _among(labels: Labels, some: Labels) -> NDArray[np.int64]:
    """Where some of the labels stand."""
    return np.array([labels.find(name) for name in some], np.int64)
