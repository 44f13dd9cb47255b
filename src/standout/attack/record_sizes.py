"""How likely a record is to give a known fact about one of its items, by how the adversary chooses items.

A fact about item i comes from each entry that record r has of it with probability weight(i) / size(r), and
from anywhere with probability anywhere(i). Entries are drawn: |r| counts them, and e(i) is the number of
entries of item i, which is |supp(i)| unless some record has it several times. Supports count records.

    any, rarest, recent, burst   1 / |r|                        e(i) / entries
    outside_top(k)               1 / |entries of r outside|     e(i) / entries outside
    popular                      |supp(i)| / Σ |supp| over r    |supp(i)| · e(i) / Σ |supp| over all entries

The last two are the chances of one draw; that entries are not drawn twice is neglected.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from standout.attack.kernels.query_arrays import RecordSizes
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.jit import Array, kernel
from standout.observation import Choice
from standout.release.model import Release

__all__ = ["ChoiceModel", "choice_model"]

CLASSES_PER_E = 256
"""Sums of supports are rounded to this many classes per factor of e: by at most 0.2 %."""


@dataclass(frozen=True, eq=False)
class ChoiceModel:
    """chosen[code[r]] is size(r), 0 if nothing in r is chosen; `entries` is its sum over all records.

    weight(i) / anywhere(i) = entries / e(i) in all three cases, where `entries` are the release's entries,
    those outside the most popular items, or Σ |supp| over all entries. Without an excluded record, its own
    size is subtracted from it. `choice` is how the adversary chooses.
    """

    code: Ints
    chosen: Floats
    entries: float
    choice: Choice

    @cached_property
    def size(self) -> Floats:
        """The distinct sizes, at least 1: a fact may be about an item that is never chosen."""
        return np.maximum(self.chosen, 1.0)

    def entries_without(self, exclude: Ints) -> Floats:
        """`entries` of the release without each excluded record (-1: none)."""
        own = np.where(exclude >= 0, self.chosen[self.code[np.maximum(exclude, 0)]], 0.0)
        return np.maximum(self.entries - own, 1.0)

    def of(self, record: Ints) -> Floats:
        """size(r) of these records."""
        return self.size[self.code[record]]

    def detached(self) -> "ChoiceModel":
        """The same without the sizes of records, which `choice_model` finds again by `choice`."""
        return replace(self, code=np.empty(0, np.int64))

    def for_kernels(self) -> RecordSizes:
        """The sizes in single precision."""
        return RecordSizes(self.code.astype(np.uint16), (1.0 / self.size).astype(np.float32))


def choice_model(release: Release, choice: Choice | str) -> ChoiceModel:
    """The sizes of all records for adversaries who choose items in this way; kept with the release."""
    name, top = (choice.name, choice.top) if isinstance(choice, Choice) else (choice, 0)
    key = f"_sizes {name} {top}" if name in ("popular", "outside_top") else "_sizes"
    kept = vars(release).get(key)
    if kept is None:
        kept = vars(release)[key] = _choice_model(release, name, top)
    assert isinstance(kept, ChoiceModel)
    return kept


def _choice_model(release: Release, name: str, top: int) -> ChoiceModel:
    by_record, total, choice = release.by_record, np.zeros(release.n_records), Choice(name, top)
    if name == "outside_top":
        _sum_weights(by_record.start, by_record.item, (release.rank > top).astype(np.int64), total)
        return _classes(choice, total, float(total.sum()))
    if name == "popular":
        _sum_weights(by_record.start, by_record.item, release.support, total)
        rounded = elementary.exp(np.rint(elementary.log(total) * CLASSES_PER_E) / CLASSES_PER_E)
        return _classes(choice, rounded, float(release.support.astype(np.float64) @ release.item_entries))
    lengths = release.lengths
    occurs = np.bincount(lengths) > 0  # counts instead of sorting millions of lengths
    code = np.append(0, np.cumsum(occurs))[lengths]
    return ChoiceModel(code, np.flatnonzero(occurs).astype(np.float64), float(release.n_entries), choice)


@kernel
def _sum_weights(start: Array, item: Array, weight: Array, total: Array) -> None:
    """total[r] = Σ weight(i) over the entries of record r."""
    for record in range(len(total)):
        for entry in range(start[record], start[record + 1]):
            total[record] += np.float64(weight[item[entry]])


def _classes(choice: Choice, size: Ints | Floats, entries: float) -> ChoiceModel:
    distinct, code = np.unique(size, return_inverse=True)
    return ChoiceModel(code.astype(np.int64), distinct.astype(np.float64), entries, choice)
