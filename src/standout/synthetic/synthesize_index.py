"""`so.synthesize_index`: write synthetic releases as an index, also if memory does not hold them."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from standout.core import rng
from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.threads import thread_count
from standout.release.model import RecordEntries, Release
from standout.release.provenance import Provenance
from standout.release.record_groups import ColumnSizes
from standout.release.resumable_build import open_resumable_build
from standout.release.shard_plan import ShardPlan, choose_bounds
from standout.release.sharded_index import BuildSettings, build_shards, write_release
from standout.release.sorted_shards import RecordChange
from standout.release.store import open_index
from standout.synthetic.invented_titles import invented_titles
from standout.synthetic.netflix_generator import CLOCK, LEVELS, Histories
from standout.synthetic.published_statistics import published
from standout.synthetic.record_lengths import record_lengths
from standout.synthetic.release_sizes import (
    Like,
    item_ranks,
    number_labels,
    read_only_labels,
    release_sizes,
)
from standout.synthetic.synthesize import synthesize
from standout.synthetic.unused_items import give_unused_items

__all__ = ["scaled_records", "synthesize_index"]

PER_PERSON, PER_ENTRY, PROGRAM = 250, 14, 10**9
"""Bytes of memory for each person's traits and for each entry of a shard, and for everything else."""
IN_MEMORY = 16
"""Bytes for each entry of a release that is made in memory."""


def scaled_records(scale: float) -> int:
    """Number of people of a stand-in with this many times the people of the Netflix Prize data.

    >>> scaled_records(10)
    4801890
    """
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale <= 1000:
        raise ParameterError(f"scale must be a number above 0, up to 1000, got {scale!r:.100}")
    return max(1, round(scale * int(published()["sizes"]["records"])))


@with_progress
def synthesize_index(
    output: str | Path,
    *,
    like: Like = "netflix",
    records: int | None = None,
    items: int | None = None,
    entries: int | None = None,
    seed: int = 0,
    shards: int | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Release:
    """Make a synthetic release and write it as an index, in shards if memory would not suffice otherwise.

    The release is that of `synthesize` with the same parameters, whatever the number of shards. The stand-in
    for the Netflix Prize data is made shard by shard. A call that is killed is resumed by the same call.

    Parameters
    ----------
    output
        Folder of the index. It must be new, empty, or an index, which is replaced.
    like, records, items, entries, seed
        As in `synthesize`.
    shards
        Number of shards; default: none if memory suffices, otherwise as few as fit.
    memory
        Bytes of memory that may be used, such as "4GB"; default: 60 % of what is available.
    threads, progress
        As in `synthesize`.

    Returns
    -------
    Release
        The release in the index.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or `memory` does not suffice.
    StoreError
        If the index cannot be written.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.synthesize_index(f"{folder}/demo", records=300, items=90, entries=5_000, shards=1).n_records
    300
    """
    rng.check_seed(seed)
    sizes = release_sizes(like, records, items, entries)
    settings, count = BuildSettings(shards, memory), thread_count(threads)
    about = json.dumps(["synthesize", like, *sizes, items is None, seed, shards, memory])
    is_small = shards is None and sizes[2] * IN_MEMORY + PROGRAM // 2 <= settings.limit
    with open_resumable_build(output, about) as build:
        if like != "netflix" or is_small:
            release = synthesize(
                like=like,
                records=records,
                items=items,
                entries=entries,
                seed=seed,
                threads=threads,
                progress=progress,
            )
            write_release(build, release, shards, progress)
        else:
            standin = _StandIn(*sizes, items is None, seed, count)
            bounds = standin.bounds(settings) if build.state is None else tuple(json.loads(build.state))
            build.resume_from(json.dumps(bounds).encode())
            build_shards(build, standin.plan(bounds), standin, progress, standin.changes)
    return open_index(output)


@dataclass(frozen=True)
class _StandIn:
    """The stand-in for the Netflix Prize data, one shard after another."""

    n_records: int
    n_items: int
    n_entries: int
    first_items: bool
    seed: int
    threads: int

    @cached_property
    def lengths(self) -> Ints:
        return record_lengths(self.n_records, self.n_items, self.n_entries, self.seed)

    @cached_property
    def histories(self) -> Histories:
        return Histories.draw(self.lengths, item_ranks(self.n_items, self.first_items), self.seed)

    def bounds(self, settings: BuildSettings) -> tuple[int, ...]:
        limit = settings.limit
        room = limit - PROGRAM - PER_PERSON * self.n_records
        return choose_bounds(self.lengths, settings.shards, room, limit=limit, per_entry=PER_ENTRY)

    def plan(self, bounds: tuple[int, ...]) -> ShardPlan:
        return ShardPlan(
            records=number_labels(self.n_records),
            items=number_labels(self.n_items),
            titles=read_only_labels(invented_titles(self.n_items, self.seed)),
            lengths=self.lengths,
            sizes=ColumnSizes(self.n_items, LEVELS, CLOCK),
            bounds=bounds,
            repeats="keep",
            provenance=Provenance(
                "synthetic", settings={"like": "netflix", "seed": str(self.seed)}, rows=self.n_entries
            ),
            is_built=True,
        )

    def entries(self, plan: ShardPlan, shard: int, progress: Progress) -> tuple[RecordEntries, int]:
        """Draw the entries of a shard; none repeats."""
        low, high = plan.bounds[shard], plan.bounds[shard + 1]
        return self.histories.entries(low, high, self.threads, progress), 0

    def discard(self, shard: int) -> None:
        """Nothing to remove."""

    def changes(self, parts: list[RecordEntries]) -> list[RecordChange]:
        """Changes that give each item an entry; the parts are changed in place."""
        changed = give_unused_items(parts, self.n_items, self.seed)
        return [RecordChange.of(number, parts[number], record) for number, record in sorted(set(changed))]
