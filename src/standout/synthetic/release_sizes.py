"""Numbers of records, items and entries of a synthetic release, and its ids."""

from typing import Any, Literal

import numpy as np

from standout.core.arrays import Floats
from standout.core.errors import ParameterError
from standout.core.suggestions import not_one_of
from standout.release.labels import Labels
from standout.release.model import read_only
from standout.synthetic.published_statistics import published, published_support

__all__ = ["LIKE", "Like", "item_ranks", "number_labels", "read_only_labels", "release_sizes"]

Like = Literal["quick", "netflix", "flat"]
LIKE = ("quick", "netflix", "flat")
MOST_CODES, MOST_ENTRIES = (1 << 31) - 1, 1 << 40
"""Largest numbers of records or items, and of entries."""


def release_sizes(
    like: Like, records: int | None, items: int | None, entries: int | None
) -> tuple[int, int, int]:
    """(records, items, entries) with defaults filled in, checked."""
    if like not in LIKE:
        raise ParameterError(not_one_of("like", like, LIKE))
    for name, size, most in (
        ("records", records, MOST_CODES),
        ("items", items, MOST_CODES),
        ("entries", entries, MOST_ENTRIES),
    ):
        _check_size(name, size, most)
    sizes = published()["sizes"]
    if records is None:
        records = sizes["records"] if like == "netflix" else 10_000
    if items is None:
        items = _items_rated_by(records) if like == "netflix" else 2_000
    if entries is None:
        usual = -(-sizes["entries"] * records // sizes["records"]) if like == "netflix" else 50 * records
        entries = min(max(usual, items), records * items)
    if records < 1 or items < 1 or not max(records, items) <= entries <= records * items:
        raise ParameterError(
            f"entries must be from {max(records, items, 1):,} to {max(records * items, 1):,} "
            f"for {records:,} records and {items:,} items, got {entries:,}"
        )
    return records, items, entries


def _check_size(name: str, size: Any, most: int) -> None:
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        raise ParameterError(f"{name} must be a whole number, got {size!r}")
    if size is not None and size > most:
        raise ParameterError(f"{name} must be at most {most:,}, got a number of {size.bit_length()} bits")


def _items_rated_by(records: int) -> int:
    """Number of Netflix's films that this number of people would have rated."""
    support = published_support() * (records / published()["sizes"]["records"])
    return max(int((support >= 1).sum()), 1)


def item_ranks(items: int, first_ones: bool) -> Floats:
    """Ranks of the items among Netflix's films: the first ones, or spread over all."""
    if first_ones:
        return np.arange(1.0, items + 1)
    distance = published()["sizes"]["items"] / items
    return np.asarray((np.arange(items) + 0.5) * distance + 0.5)


def number_labels(count: int) -> Labels:
    """The ids 1 … count."""
    return read_only_labels(Labels.of(map(str, range(1, count + 1))))


def read_only_labels(labels: Labels) -> Labels:
    """Labels with read-only arrays."""
    return Labels(read_only(labels.offsets), read_only(labels.data))
