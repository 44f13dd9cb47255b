"""kᵐ-anonymity: whatever m items of a person are known, at least k records have them all.

Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data" (2008), by leaving
entries out: without a hierarchy of items there is nothing to generalise them to.
"""

from dataclasses import dataclass

import numpy as np

from standout.core.arrays import offsets
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.sanitizing.draft import Draft, Flags
from standout.sanitizing.km_kernels import by_popularity, walk
from standout.sanitizing.step import Step, StepResult, number
from standout.sanitizing.step_noise import Noise

__all__ = ["KmSuppress"]

MOST_PAIRS, MOST_TRIPLES = 2e11, 2e10
"""Pairs and triples of items within records that are counted: some minutes."""
MOST_COUNTERS = 1 << 28
ITEMS = 64
"""Items that are walked before it is told how far things are."""


@dataclass(frozen=True)
class KmSuppress(Step):
    """Entries are left out until every combination of up to m items that some record has is had by k records.

    Items are taken from the most popular down. An entry stays if every combination of its item with up to
    m - 1 more popular ones that its record has kept is had by k records; those that lose theirs may take
    others of the same item with them, until all that are left agree. What is decided of an item depends on
    more popular ones alone, so one walk over the items is enough, and the guarantee is exact. For m = 3 a
    walk for pairs comes first.

    It is about items: who knows values or dates too is not bound by it.

    >>> str(KmSuppress(k=5, m=2))
    'km-suppress 5 2'
    """

    name = "km-suppress"
    syntax = "K [M]"
    summary = "leave out entries until any M (2) items of a record are had by K records; M = 1, 2 or 3"
    parsers = (number, number)

    k: int
    m: int = 2

    def __post_init__(self) -> None:
        self._set(k=whole_number("k", self.k, 2), m=whole_number("m", self.m, 1))
        if self.m > 3:
            raise ParameterError(f"m must be 1, 2 or 3, got {self.m}")

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        if self.k > draft.n_records:
            raise ParameterError(f"{self}: there are {draft.n_records:,} records, fewer than {self.k:,}")
        why = f"no item is had by {self.k:,} records together with others that are"
        for m in range(min(self.m, 2), self.m + 1):
            draft = draft.kept(self._walk(draft, m, progress), why)
        return StepResult(draft)

    def _walk(self, draft: Draft, m: int, progress: Progress) -> Flags:
        """Which entries stay."""
        if m == 1:
            return np.asarray((draft.support >= self.k)[draft.side.item])
        self._check_work(draft, m)
        start, n = draft.side.start, draft.n_entries
        first = offsets(-np.sort(-draft.support))
        record, entry = np.empty(n, np.uint32), np.empty(n, np.int64)
        by_popularity(start, draft.side.item, draft.rank, first[:-1].copy(), record, entry)
        keep, kept, n_kept = (
            np.zeros(n, np.bool_),
            np.empty(n, np.uint32),
            np.zeros(draft.n_records, np.int64),
        )
        alive, pairs = np.empty(draft.n_records, np.uint32), np.zeros(draft.n_items, np.int32)
        local = np.empty(draft.n_items, np.int64)
        cells = draft.n_items * (draft.n_items - 1) // 2 if m == 3 else 0
        triples = np.zeros(min(cells, MOST_COUNTERS), np.int32)
        for low in range(0, draft.n_items, ITEMS):
            progress(f"counting {'pairs' if m == 2 else 'triples'}", int(first[low]), n)
            high = min(low + ITEMS, draft.n_items)
            fits = walk(
                start, first, record, entry, low, high, self.k, m, keep, kept, n_kept, alive, pairs,
                local, triples,
            )  # fmt: skip
            if not fits:
                raise ParameterError(f"{self}: too many items occur together: leave out rare items first")
        return keep

    def _check_work(self, draft: Draft, m: int) -> None:
        lengths = draft.lengths.astype(np.float64)
        work = float((lengths * (lengths - 1) * (lengths - 2 if m == 3 else 1) / (6 if m == 3 else 2)).sum())
        most = MOST_TRIPLES if m == 3 else MOST_PAIRS
        if work > most:
            raise ParameterError(
                f"{self}: {work:.1g} {'triples' if m == 3 else 'pairs'} of items would be counted, at most "
                f"{most:.0g} are: cap records or leave out items first"
            )
