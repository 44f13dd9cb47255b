"""Random targets, and their entries in random order."""

from standout.core.arrays import Ints
from standout.core.checks import whole_number
from standout.core.rng import generator
from standout.release.model import Release

__all__ = ["draw_targets", "shuffled_entries"]


def draw_targets(
    release: Release,
    targets: int | None,
    min_items: int,
    seed: int,
    purpose: str,
    counts: Ints | None = None,
) -> tuple[Ints, int]:
    """Up to `targets` random records with enough entries (None: all), and how many records have too few.

    All records are put in one random order and those with too few entries are skipped, so that another
    `min_items` gives largely the same targets. `counts` is what is counted instead of entries, by record.
    """
    wanted = release.n_records if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(release.n_records)
    eligible = order[(release.lengths if counts is None else counts)[order] >= min_items]
    return eligible[:wanted], release.n_records - len(eligible)


def shuffled_entries(
    release: Release,
    records: Ints,
    seed: int,
    purpose: str,
    count: int | None = None,
    start: Ints | None = None,
) -> list[Ints]:
    """For each record the indices of its entries in random order, at most `count` of them.

    The order depends on (seed, purpose, record) only. `start` says where each record begins, if something
    else than its entries is drawn.
    """
    start = release.by_record.start if start is None else start
    entries = []
    for record in records.tolist():
        draw = generator(seed, purpose, release.records[record])
        entries.append(start[record] + draw.permutation(int(start[record + 1] - start[record]))[:count])
    return entries
