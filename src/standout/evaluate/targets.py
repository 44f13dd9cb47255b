"""Whom to try: records drawn at random, and their entries in random order."""

from standout.core.arrays import Ints
from standout.core.checks import whole_number
from standout.core.rng import generator
from standout.release.model import Release

__all__ = ["draw_targets", "shuffled_entries"]


def draw_targets(
    release: Release, targets: int | None, least: int, seed: int, purpose: str
) -> tuple[Ints, int]:
    """Places of `targets` records that have at least `least` items, and how many records have fewer.

    All of them if there are no more, or for None. All records stand in one random order, from which those
    with too few items are left out: with another `least` the targets are largely the same people.
    """
    wanted = release.n_records if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(release.n_records)
    enough = order[release.lengths[order] >= least]
    return enough[:wanted], release.n_records - len(enough)


def shuffled_entries(
    release: Release, records: Ints, seed: int, purpose: str, most: int | None = None
) -> list[Ints]:
    """For each record where its entries stand by record, in random order; the first `most` of them.

    Every order depends on (seed, purpose, record) only.
    """
    start = release.by_record.start
    found = []
    for record in records.tolist():
        draw = generator(seed, purpose, release.records[record])
        found.append(start[record] + draw.permutation(int(release.lengths[record]))[:most])
    return found
