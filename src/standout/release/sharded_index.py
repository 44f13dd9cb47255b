"""Write an index: whole if memory suffices, otherwise in shards that are built one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from standout.core.arrays import offsets
from standout.core.errors import SourceError
from standout.core.memory_sizes import memory_limit
from standout.core.progress import Progress
from standout.release.code_blocks import MemoryPlan
from standout.release.coded_entries import CodedEntries, rank_entries
from standout.release.id_ranks import id_bytes
from standout.release.index_writer import IndexWriter
from standout.release.labels import Labels
from standout.release.manifest import MANIFEST, shard_folder
from standout.release.model import Release, code_type
from standout.release.plan_files import load_plan, save_plan
from standout.release.provenance import Provenance
from standout.release.repeats import Repeats, repeated_rows
from standout.release.resumable_build import ResumableBuild, open_resumable_build
from standout.release.shard_parts import PartitionedRows
from standout.release.shard_plan import ShardPlan, check_shards, choose_bounds
from standout.release.shard_writer import join_shards, write_shard, write_shards
from standout.release.sharded_build import ChangeEntries, ShardedBuild, ShardRows

__all__ = ["BuildSettings", "EntriesToBuild", "build_shards", "copy_index", "write_entries", "write_release"]

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
        build.clear()
        entries = read(settings.memory_plan(build.folder))
        if isinstance(entries, Release):
            write_release(build, entries, settings.shards, progress)
            return
        if settings.shards is None and not entries.coded.blocks.spills:
            write_release(build, entries.build(progress), None, progress)
            return
        plan = _partition(build, rows, entries, settings, progress)
    build_shards(build, plan, rows, progress)


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
    limit = settings.limit
    room = MemoryPlan(limit, build.folder).left(ids)
    plan = ShardPlan(
        records=ranked.records,
        items=ranked.items,
        titles=entries.titles_of(ranked.items),
        lengths=lengths.astype(code_type(int(lengths.max()) + 1)),
        sizes=ranked.sizes,
        bounds=choose_bounds(lengths, settings.shards, room, limit=limit),
        repeats=entries.repeats,
        provenance=entries.provenance,
    )
    rows.write(coded.blocks, ranked.codes, plan, progress)
    build.resume_from(save_plan(build.folder, plan))
    return plan


def write_release(build: ResumableBuild, release: Release, shards: int | None, progress: Progress) -> None:
    """Write the index of a release: whole, or in shards."""
    build.index.mkdir(mode=0o700)
    if shards is None:
        IndexWriter(build.target, build.index).write(release, progress)
        return
    write_shards(build.index, release, choose_bounds(release.lengths, shards, 0), progress)
    build.publish()


def copy_index(release: Release, output: str | Path, settings: BuildSettings, progress: Progress) -> None:
    """Write a release as an index: in shards if their number is given."""
    with open_resumable_build(output, None) as build:
        write_release(build, release, settings.shards, progress)


def build_shards(
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
    build.index.mkdir(mode=0o700, exist_ok=True)
    for shard, first_entry in enumerate(offsets(whole.entries)[:-1].tolist()):
        folder = build.index / shard_folder(shard)
        if not (folder / MANIFEST).exists():
            stage = shards.stage("building", shard, progress)
            write_shard(folder, shards.release(shard, whole, stage), first_entry, stage)
        shards.finish(shard)
        build.touch()
    join_shards(build.index, whole.provenance, progress)
    build.publish()
