"""Build the shards of a release one by one, in memory that depends on the largest shard and on the ids.

Each shard is sorted and counted; the counts of all shards decide what depends on the whole release (see
`sorted_shards`); then each shard is packed by item and written. A killed build is resumed with the shards
that are finished.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from standout.core.checkpoint_files import read_checkpoint, write_checkpoint
from standout.core.progress import Progress
from standout.release.build import (
    WholeRelease,
    built_provenance,
    pack_by_item,
    read_only_entries,
    read_only_levels,
)
from standout.release.clock import Clock
from standout.release.model import Levels, RecordEntries, Release
from standout.release.provenance import Provenance
from standout.release.repeats import Repeats, apply_rule
from standout.release.shard_plan import ShardPlan
from standout.release.sorted_shards import RecordChange, ShardCounts, SortedShard, count_shard, total_counts
from standout.release.used_codes import UsedCodes

__all__ = ["ChangeEntries", "ShardRows", "ShardedBuild", "Whole"]


CHANGES = "changes"
ChangeEntries = Callable[[list[RecordEntries]], list[RecordChange]]
"""Changes the entries of all shards in place and returns what has changed."""


class ShardRows(Protocol):
    """Where the rows of a shard come from."""

    def entries(self, plan: ShardPlan, shard: int, progress: Progress) -> tuple[RecordEntries, int]:
        """Rows of a shard by record and item, and how many have the record and item of an earlier row."""

    def discard(self, shard: int) -> None:
        """The rows of a shard are not needed any more."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What the counts of all shards decide.

    `repeated` is the number of repeated rows, and `entries` has the number of entries of each shard.
    """

    rule: Repeats
    repeated: int
    used: UsedCodes
    entries: tuple[int, ...]
    provenance: Provenance

    @property
    def levels(self) -> Levels | None:
        """Levels in use."""
        return read_only_levels(self.used.used_levels)

    @property
    def clock(self) -> Clock | None:
        """Clock of the times in use."""
        return self.used.used_clock

    @property
    def shape(self) -> WholeRelease:
        """What the words by item depend on."""
        return WholeRelease(self.used.has_gaps, self.rule == "keep" and self.repeated > 0)


@dataclass(frozen=True, slots=True)
class ShardedBuild:
    """The shards of one release; files of unfinished ones are in `folder`, and depend on `about`."""

    plan: ShardPlan
    rows: ShardRows
    folder: Path
    about: str
    changes: tuple[RecordChange, ...] = ()

    def changed(self, change: ChangeEntries) -> "ShardedBuild":
        """Return the build with changes to the sorted entries of all shards; a killed build keeps them."""
        path = self.folder / CHANGES

        def parse(content: bytes) -> tuple[RecordChange, ...]:
            return tuple(RecordChange(*part) for part in json.loads(content))

        changes = read_checkpoint(path, self.about, parse)
        if changes is None:
            changes = tuple(change([self._sorted(shard).mapped() for shard in range(self.plan.n_shards)]))
            write_checkpoint(path, self.about, json.dumps(changes).encode())
        return replace(self, changes=changes)

    def sort(self, progress: Progress) -> Whole:
        """Sort and count all shards that are not sorted yet."""
        counts = [self._sorted_counts(shard, progress) for shard in range(self.plan.n_shards)]
        rule, repeated, parts = total_counts(counts, self.plan.repeats)
        used = UsedCodes.merged(parts)
        provenance = self.plan.provenance
        if not self.plan.is_built:
            provenance = built_provenance(provenance, rule, repeated, used)
        return Whole(rule, repeated, used, tuple(part.entries for part in parts), provenance)

    def release(self, shard: int, whole: Whole, progress: Progress) -> Release:
        """Build one shard: its own records, all items, and the levels, clock and words of the whole."""
        plan, levels, clock = self.plan, whole.levels, whole.clock
        by_record = self._sorted(shard).read()
        for change in self.changes:
            if change.shard == shard:
                change.apply(by_record)
        by_record = apply_rule(by_record, whole.rule, whole.repeated > 0, plan.sizes.missing)
        by_record = whole.used.recode(by_record)
        return Release(
            records=plan.shard_records(shard),
            items=plan.items,
            titles=plan.titles,
            levels=levels,
            clock=clock,
            by_record=read_only_entries(by_record),
            by_item=pack_by_item(by_record, len(plan.items), levels, clock, progress, whole.shape),
            provenance=whole.provenance,
        )

    def finish(self, shard: int) -> None:
        """Remove the entries of a shard that is written."""
        self._sorted(shard).discard()

    def releases(self, whole: Whole, progress: Progress) -> Iterator[Release]:
        """Build all shards, one after another."""
        for shard in range(self.plan.n_shards):
            yield self.release(shard, whole, self.stage("building", shard, progress))

    def stage(self, name: str, shard: int, progress: Progress) -> Progress:
        """Progress under the name of a shard."""
        title = f"{name} shard {shard + 1} of {self.plan.n_shards}"
        return lambda stage, done, total: progress(title, done, total)

    def _sorted_counts(self, shard: int, progress: Progress) -> ShardCounts:
        plan, shard_files = self.plan, self._sorted(shard)
        counts = shard_files.counts(plan.sizes)
        if counts is None:
            by_record, repeated = self.rows.entries(plan, shard, self.stage("sorting", shard, progress))
            counts = count_shard(by_record, repeated, plan.repeats, plan.sizes)
            shard_files.write(by_record, counts)
        self.rows.discard(shard)
        return counts

    def _sorted(self, shard: int) -> SortedShard:
        return SortedShard(self.folder / f"sorted-{shard:04d}", f"{self.about} shard {shard}")
