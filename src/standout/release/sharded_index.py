"""Write an index: whole if memory suffices, otherwise in shards that are built one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from standout.core.errors import SourceError
from standout.core.memory_sizes import memory_limit
from standout.core.progress import Progress
from standout.release import build_kernels
from standout.release.code_blocks import MemoryPlan
from standout.release.coded_entries import CodedEntries, rank_entries
from standout.release.id_ranks import id_bytes
from standout.release.index_writer import IndexWriter
from standout.release.labels import Labels
from standout.release.model import Codes, RecordEntries, Release, code_type
from standout.release.plan_files import load_plan, save_plan
from standout.release.provenance import Provenance
from standout.release.record_groups import ColumnSizes
from standout.release.repeats import Repeats, repeated_rows
from standout.release.resumable_build import ResumableBuild
from standout.release.shard_parts import PartitionedRows
from standout.release.shard_plan import ShardPlan, check_shards, choose_bounds
from standout.release.sharded_build import ChangeEntries, ShardedBuild, ShardRows

__all__ = ["BuildSettings", "EntriesToBuild", "ReleaseRows", "write_entries", "write_release", "write_shards"]

BLOCKS, ROWS = "blocks", "rows"


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Number of shards (None: as few as memory needs), and bytes of memory (None: a share of what is free).

    >>> BuildSettings(shards=4, memory="2GiB").limit
    2147483648
    """

    shards: int | None = None
    memory: int | str | None = None

    def __post_init__(self) -> None:
        check_shards(self.shards)
        if self.memory is not None:
            memory_limit(self.memory)

    @property
    def limit(self) -> int:
        """Bytes that the build may use."""
        return memory_limit(self.memory)

    def memory_plan(self, folder: Path) -> MemoryPlan:
        """How a build in a work folder uses memory."""
        return MemoryPlan(self.limit, folder / BLOCKS)


class EntriesToBuild(Protocol):
    """Entries of a source, as `ingest.source_entries` has them."""

    @property
    def coded(self) -> CodedEntries:
        """Blocks of codes, and what they mean."""

    @property
    def provenance(self) -> Provenance:
        """How the source was read."""

    @property
    def repeats(self) -> Repeats:
        """Which of several rows with the same record and item to keep."""

    def build(self, progress: Progress) -> Release:
        """Build the release in memory."""

    def titles_of(self, items: Labels) -> Labels | None:
        """Title of each item."""


def write_entries(
    build: ResumableBuild,
    settings: BuildSettings,
    read: Callable[[MemoryPlan], EntriesToBuild | Release],
    progress: Progress,
) -> None:
    """Write the index of a source that `read` reads, unless a killed build has read it already."""
    plan = None if build.state is None else load_plan(build.folder, build.state)
    rows = PartitionedRows(build.folder / ROWS)
    if plan is None:
        entries = read(settings.memory_plan(build.folder))
        if isinstance(entries, Release):
            write_release(build, entries, settings.shards, progress)
            return
        if settings.shards is None and not entries.coded.blocks.spills:
            write_release(build, entries.build(progress), None, progress)
            return
        plan = _partition(build, rows, entries, settings, progress)
    write_shards(build, plan, rows, progress)


def _partition(
    build: ResumableBuild,
    rows: PartitionedRows,
    entries: EntriesToBuild,
    settings: BuildSettings,
    progress: Progress,
) -> ShardPlan:
    """Decide on the shards, and divide the rows among them; a killed build resumes from here."""
    ranked, coded = rank_entries(entries.coded), entries.coded
    lengths = np.diff(ranked.start)
    ids = id_bytes(coded.records, coded.items)
    room = MemoryPlan(settings.limit, build.folder).left(ids)
    plan = ShardPlan(
        records=ranked.records,
        items=ranked.items,
        titles=entries.titles_of(ranked.items),
        lengths=lengths.astype(code_type(int(lengths.max()) + 1)),
        sizes=ranked.sizes,
        bounds=choose_bounds(lengths, settings.shards, room),
        repeats=entries.repeats,
        provenance=entries.provenance,
    )
    rows.write(coded.blocks, ranked.codes, plan, progress)
    build.resume_from(save_plan(build.folder, plan))
    return plan


def write_release(build: ResumableBuild, release: Release, shards: int | None, progress: Progress) -> None:
    """Write the index of a release: whole, or in shards."""
    if shards is None:
        build.index.mkdir(mode=0o700)
        IndexWriter(build.target, build.index).write(release, progress)
        return
    plan = ShardPlan(
        records=release.records,
        items=release.items,
        titles=release.titles,
        lengths=release.lengths,
        sizes=ColumnSizes(release.n_items, release.levels, release.clock),
        bounds=choose_bounds(release.lengths, shards, 0),
        repeats="keep",
        provenance=release.provenance,
        is_built=True,
    )
    write_shards(build, plan, ReleaseRows(release), progress)


@dataclass(frozen=True, slots=True)
class ReleaseRows:
    """The shards of a release that is built."""

    release: Release

    def entries(self, plan: ShardPlan, shard: int, progress: Progress) -> tuple[RecordEntries, int]:
        """Copy the entries of a shard; also return how many repeat an earlier one."""
        low, high = plan.bounds[shard], plan.bounds[shard + 1]
        start, item, value, time = self.release.by_record
        part = slice(int(start[low]), int(start[high]))
        copied = RecordEntries(
            start[low : high + 1] - start[low], item[part].copy(), _copy(value, part), _copy(time, part)
        )
        return copied, int(build_kernels.count_repeats(copied.start, copied.item))

    def discard(self, shard: int) -> None:
        """Nothing to remove."""


def _copy(column: Codes | None, part: slice) -> Codes | None:
    return None if column is None else column[part].copy()


def write_shards(
    build: ResumableBuild,
    plan: ShardPlan,
    rows: ShardRows,
    progress: Progress,
    change: ChangeEntries | None = None,
) -> None:
    """Build and write all shards that are not written yet, then the index around them.

    `change` changes the sorted entries of all shards.
    """
    shards = ShardedBuild(plan, rows, build.folder, build.about or "")
    whole = shards.sort(progress)
    if plan.repeats == "error" and whole.repeated:
        raise SourceError(repeated_rows(whole.repeated))
    if change is not None:
        shards = shards.changed(change)
    raise NotImplementedError
