"""kᵐ-anonymity: at least k records have any m items that an adversary may know of a person.

Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data" (2008). Entries are
removed instead of generalised, because there is no hierarchy of items.
"""

from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Bools, offsets
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.sanitized import ReleaseNoise, StepReport
from standout.sanitizing.draft import Draft
from standout.sanitizing.km_kernels import Counters, EntriesByItem, KeptItems, Rule, group_by_item, walk
from standout.sanitizing.step import Step, StepResult, number
from standout.sanitizing.step_noise import StepNoise

__all__ = ["KmSuppress"]

MOST_PAIRS, MOST_TRIPLES = 2e11, 2e10
"""Largest numbers of pairs and triples of items within records that are counted: some minutes."""
MOST_COUNTERS = 1 << 28
ITEMS = 64
"""Items between two reports of progress."""


@dataclass(frozen=True)
class KmSuppress(Step):
    """Remove entries until at least k records have each combination of up to m items that any record has.

    Items are visited from the most popular down. An entry stays if at least k records have each combination
    of its item with up to m - 1 more popular items that the record has kept. Removing entries may lower the
    counts of others of the same item, so this repeats until nothing changes. The decision on an item depends
    on more popular items only, so one pass over the items is enough and the guarantee is exact. For m = 3, a
    pass for pairs comes first.

    The guarantee is about items: all entries of a record and item stay or go together. It does not hold
    against an adversary who also knows values, dates or how often a person has an item.

    Parameters
    ----------
    k
        Smallest number of records that share a combination, at least 2.
    m
        Largest number of items in a combination: 1, 2 or 3.

    Raises
    ------
    ParameterError
        If a parameter is out of range. Applied to a release: if it has fewer than `k` records, if nothing
        would be left, or if there are too many combinations to count.

    Examples
    --------
    >>> import standout as so
    >>> str(so.KmSuppress(k=5, m=2))
    'km-suppress 5 2'
    """

    name = "km-suppress"
    syntax = "K [M]"
    summary = "remove entries until K records have any M items of a record; M = 1, 2 or 3 (default: 2)"
    parsers = (number, number)

    k: int
    m: int = 2

    def __post_init__(self) -> None:
        self._set(k=whole_number("k", self.k, 2), m=whole_number("m", self.m, 1))
        if self.m > 3:
            raise ParameterError(f"m must be 1, 2 or 3, got {self.m}")

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The share of entries that stay among those of items that stay; most others lose all entries."""
        before = report.counts.get("entries before of items left", report.counts["entries before"])
        return ReleaseNoise(kept=report.counts["entries"] / before)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        """Apply the step to a draft."""
        self._require_records(draft, self.k)
        before = draft
        reason = f"no combination of items is shared by {self.k:,} records"
        for m in range(min(self.m, 2), self.m + 1):
            draft = draft.keep_entries(self._entries_to_keep(draft, m, progress), reason)
        left = before.item_entries[np.isin(before.source_items, draft.source_items)]
        return StepResult(draft, {"entries before of items left": int(left.sum())})

    def _entries_to_keep(self, draft: Draft, m: int, progress: Progress) -> Bools:
        if m == 1:
            return np.asarray((draft.support >= self.k)[draft.by_record.item])
        self._check_work(draft, m)
        entries, kept, counters = _items_by_rank(draft), _nothing_kept(draft), _counters(draft, m)
        for low in range(0, draft.n_items, ITEMS):
            stage = f"counting {'pairs' if m == 2 else 'triples'}"
            progress(stage, int(entries.first[low]), len(entries.record))
            high = min(low + ITEMS, draft.n_items)
            if not walk(entries, kept, counters, Rule(self.k, m), low, high):
                raise ParameterError(f"{self}: too many items occur together: remove rare items first")
        return np.asarray(kept.keep[draft.distinct_index]) if draft.has_repeats else kept.keep

    def _check_work(self, draft: Draft, m: int) -> None:
        lengths = np.diff(draft.distinct.start).astype(np.float64)
        work = float((lengths * (lengths - 1) * (lengths - 2 if m == 3 else 1) / (6 if m == 3 else 2)).sum())
        most = MOST_TRIPLES if m == 3 else MOST_PAIRS
        if work > most:
            raise ParameterError(
                f"{self}: {work:.1g} {'triples' if m == 3 else 'pairs'} of items would be counted, more than "
                f"{most:.0g}: cap records or remove items first"
            )


def _items_by_rank(draft: Draft) -> EntriesByItem:
    """One entry for each record and item, grouped by item."""
    start, item = draft.distinct
    first = offsets(-np.sort(-draft.support))
    record, entry = np.empty(len(item), np.uint32), np.empty(len(item), np.int64)
    group_by_item(start, item, draft.popularity_rank, first[:-1].copy(), record, entry)
    return EntriesByItem(first, record, entry)


def _nothing_kept(draft: Draft) -> KeptItems:
    n = len(draft.distinct.item)
    return KeptItems(
        start=draft.distinct.start,
        items=np.empty(n, np.uint32),
        n_items=np.zeros(draft.n_records, np.int64),
        keep=np.zeros(n, np.bool_),
    )


def _counters(draft: Draft, m: int) -> Counters:
    cells = draft.n_items * (draft.n_items - 1) // 2 if m == 3 else 0
    return Counters(
        alive=np.empty(draft.n_records, np.uint32),
        pairs=np.zeros(draft.n_items, np.int32),
        local=np.empty(draft.n_items, np.int64),
        triples=np.zeros(min(cells, MOST_COUNTERS), np.int32),
    )
