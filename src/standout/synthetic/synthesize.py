"""`so.synthesize`: synthetic releases."""

from types import ModuleType

from standout.core import rng
from standout.core.arrays import Ints
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.threads import thread_count
from standout.release.build import (
    drop_unused_codes,
    pack_by_item,
    read_only_entries,
    read_only_levels,
)
from standout.release.model import Release
from standout.release.provenance import Provenance
from standout.synthetic import flat_generator, netflix_generator, quick_generator
from standout.synthetic.invented_titles import invented_titles
from standout.synthetic.record_lengths import qualifying_entries
from standout.synthetic.release_sizes import (
    LIKE,
    Like,
    item_ranks,
    number_labels,
    read_only_labels,
    release_sizes,
)
from standout.synthetic.unused_items import give_unused_items

__all__ = ["LIKE", "Like", "qualifying_of_standin", "synthesize"]

GENERATORS: dict[str, ModuleType] = {
    "quick": quick_generator,
    "netflix": netflix_generator,
    "flat": flat_generator,
}


@with_progress
def synthesize(
    *,
    like: Like = "quick",
    records: int | None = None,
    items: int | None = None,
    entries: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Release:
    """Make a synthetic release with exactly these numbers of records, items and entries.

    The same sizes and seed give the same release, byte for byte, for any number of threads.

    Parameters
    ----------
    like
        "quick": long tails, ratings, and dates in bursts, not calibrated on any data. "netflix": a stand-in
        for the Netflix Prize data, calibrated on its published statistics (docs/standin.md). "flat": no
        structure.
    records
        Number of records; default: 10,000, or 480,189 with like="netflix".
    items
        Number of items; default: 2,000. With like="netflix", the default is the number of Netflix's 17,770
        films that this number of people would have rated.
    entries
        Number of entries; default: 50 per record, or 209 with like="netflix". More entries make a denser
        release.
    seed
        Seed of every random draw.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Release
        A release with ratings from 1 to 5 and days. Every record and every item has at least one entry.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or if the numbers of records, items and entries contradict each other.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=200, items=100, entries=3_000, seed=1)
    >>> release.n_records, release.n_items, release.n_entries, release.levels.tolist()
    (200, 100, 3000, [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    rng.check_seed(seed)
    n_records, n_items, n_entries = release_sizes(like, records, items, entries)
    threads = thread_count(threads)
    if like == "netflix":
        ranks = item_ranks(n_items, first_ones=items is None)
        columns = netflix_generator.generate_entries(n_records, ranks, n_entries, seed, threads, progress)
    else:
        columns = GENERATORS[like].generate_entries(n_records, n_items, n_entries, seed, progress)
    give_unused_items([columns], n_items, seed)
    by_record, levels, clock = drop_unused_codes(columns, GENERATORS[like].LEVELS, GENERATORS[like].CLOCK)
    return Release(
        records=number_labels(n_records),
        items=number_labels(n_items),
        titles=read_only_labels(invented_titles(n_items, seed)) if like == "netflix" else None,
        levels=None if levels is None else read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(by_record),
        by_item=pack_by_item(by_record, n_items, levels, clock, progress),
        provenance=Provenance("synthetic", settings={"like": like, "seed": str(seed)}, rows=n_entries),
    )


def qualifying_of_standin(release: Release) -> Ints | None:
    """Number of ratings of each person that the stand-in held back for the contest; None for other data.

    >>> qualifying_of_standin(synthesize(records=20, items=10, entries=60)) is None
    True
    """
    provenance = release.provenance
    if provenance.format != "synthetic" or provenance.settings.get("like") != "netflix":
        return None
    return qualifying_entries(release.n_records, int(provenance.settings["seed"]))
