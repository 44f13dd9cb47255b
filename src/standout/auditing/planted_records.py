"""Invented records for the self-check: each replaces the entries of one record of the release."""

from dataclasses import replace
from typing import Any

import numpy as np

from standout.core.arrays import Ints, offsets
from standout.core.rng import generator
from standout.facts import KnownFacts
from standout.release.model import RecordEntries, Release, read_only
from standout.release.subset import subset

__all__ = ["planted_release", "records_with_all_facts"]

PLANTED_ITEMS = 16


def planted_release(release: Release, rows: Ints, seed: int) -> Release:
    """The release with invented entries in these rows: random items, values and times.

    If the release has repeats, every invented record has about half of its entries of items that repeat.
    """
    side, lengths = release.by_record, release.lengths
    count = min(PLANTED_ITEMS, release.n_items)
    draws = [generator(seed, "canary", number) for number in range(len(rows))]
    item = [np.sort(draw.permutation(release.n_items)[:count]) for draw in draws]
    value = [draw.integers(max(release.n_levels, 1), size=count) for draw in draws]
    time = [draw.integers(max(release.span, 1), size=count) for draw in draws]
    if release.has_repeats:
        item = [np.sort(draw.choice(items, count)) for items, draw in zip(item, draws, strict=True)]
        order = [np.lexsort(keys) for keys in zip(value, time, item, strict=True)]
        value = [codes[places] for codes, places in zip(value, order, strict=True)]
        time = [codes[places] for codes, places in zip(time, order, strict=True)]
    unchanged = np.ones(release.n_records, np.bool_)
    unchanged[rows] = False
    owner = np.repeat(np.arange(release.n_records), lengths)
    stays = unchanged[owner]
    by_owner = np.argsort(np.concatenate([owner[stays], np.repeat(rows, count)]), kind="stable")

    def column(old: Any, new: list[Any]) -> Any:
        if old is None:
            return None
        invented = np.concatenate(new).astype(old.dtype)
        return read_only(np.concatenate([old[stays], invented])[by_owner])

    start = offsets(np.where(unchanged, lengths, count))
    entries = RecordEntries(
        read_only(start), column(side.item, item), column(side.value, value), column(side.time, time)
    )
    draft = replace(release, by_record=entries, stored_fingerprint=None)
    return subset(draft, np.ones(release.n_records, np.bool_))


def records_with_all_facts(release: Release, known: KnownFacts, rounding: float = 0.0) -> Ints:
    """Number of records that match all known facts, by target; values may differ by rounding errors.

    A record matches a fact if one of its entries does.
    """
    side = release.by_record
    owner = np.repeat(np.arange(release.n_records), release.lengths)
    counts = np.empty(len(known), np.int64)
    for q in range(len(known)):
        facts = range(int(known.first[q]), int(known.first[q + 1]))
        matched = np.zeros(release.n_records, np.int64)
        for i in facts:
            entries = np.flatnonzero(side.item == known.item[i])
            if side.value is not None and known.value[i] >= 0:
                near = _levels_near(release, known.values[known.value[i]], rounding)
                entries = entries[np.isin(side.value[entries], near)]
            if side.time is not None and known.timed[i]:
                entries = entries[side.time[entries] == known.time[i]]
            matched[np.unique(owner[entries])] += 1
        counts[q] = np.count_nonzero(matched == len(facts))
    return counts


def _levels_near(release: Release, value: float | str, rounding: float) -> Ints:
    """Codes of the levels that are equal to a value, up to rounding."""
    if isinstance(release.levels, np.ndarray):
        return np.flatnonzero(np.abs(release.levels - float(value)) <= rounding)
    return np.flatnonzero([level == value for level in release.levels or ()])
