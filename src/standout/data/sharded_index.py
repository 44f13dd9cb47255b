"""Write an index: whole if memory suffices, otherwise in shards that are built one by one."""

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import SourceError
from standout.core.files import NewFolder, remove_folder, unfinished_folders
from standout.core.json_files import read_checkpoint, write_checkpoint
from standout.core.memory import STEP, memory_limit
from standout.core.progress import Progress, no_progress
from standout.core.work_folders import RESUME, is_resumable
from standout.data.build import CodedEntries, id_bytes, rank_entries
from standout.data.code_blocks import MemoryPlan
from standout.data.flat_arrays import array_bytes, fingerprint_from_digests
from standout.data.index_files import (
    IndexWriter,
    NewColumn,
    begin_build,
    check_target,
    columns_to_write,
    index_path,
    write_columns,
    write_error,
    write_manifest,
)
from standout.data.labels import Labels, Provenance
from standout.data.manifest import CATALOGUE, JOINED, LEADS, MANIFEST, Column, Manifest, Shard, shard_folder
from standout.data.release import Release, code_type
from standout.data.repeats import Repeats, repeated_rows
from standout.data.shards import (
    ChangeEntries,
    PartitionedRows,
    ShardedBuild,
    ShardPlan,
    ShardRows,
    check_shards,
    choose_bounds,
    load_plan,
    save_plan,
)
from standout.data.subset import record_range

__all__ = [
    "BuildSettings",
    "EntriesToBuild",
    "ResumableBuild",
    "build_shards",
    "copy_index",
    "join_shards",
    "open_resumable_build",
    "write_entries",
    "write_release",
    "write_shard",
    "write_shards",
]

# Write an index in shards: each shard is a normal index in a folder of its own, then the common catalogue.
#
#     folder/shard-0000/ …   write_shard, in any order; a shard is complete when it has a manifest
#     folder/                join_shards, after all shards
#
# The folder is a private one, which `IndexWriter.publish` then moves to its target.


PIECE = 1 << 24


def write_shard(folder: Path, release: Release, first_entry: int, progress: Progress = no_progress) -> int:
    """Write one shard, and return its size in bytes; an unfinished one in the same folder is removed.

    Parameters
    ----------
    folder : Path
        Folder of the shard, named by `shard_folder`.
    release : Release
        The records of the shard, with codes from 0 on, and all items, levels, times and word bits of the
        whole release.
    first_entry : int
        Number of entries of all shards before.
    progress : callable, optional
        Called with (stage, done, total).
    """
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    columns = columns_to_write(release)
    for name in LEADS & columns.keys():
        lead = first_entry * columns[name].type.itemsize % STEP
        columns[name] = columns[name]._replace(lead=lead)
    written = write_columns(folder, columns, progress)
    digests = {name: column.sha256 for name, column in written.items()}
    manifest = Manifest.of(release, written, fingerprint_from_digests(digests, release.clock))
    return sum(column.lead + column.bytes for column in written.values()) + write_manifest(folder, manifest)


def join_shards(folder: Path, provenance: Provenance, progress: Progress = no_progress) -> int:
    """Write the catalogue and the manifest of all shards in a folder; return their size in bytes.

    The fingerprint is that of the same release without shards. Columns are read in pieces for it.
    """
    manifests = list(_manifests(folder))
    parts = [manifest for manifest, _ in manifests]
    first, repeats = parts[0], any(part.repeats for part in parts)
    columns = {name: NewColumn.of(_read(folder, 0, column)) for name, column in _catalogue(first).items()}
    starts = [_read(folder, number, part.columns["by-item-start"]) for number, part in enumerate(parts)]
    columns["by-item-start"] = NewColumn.of(np.sum(starts, axis=0))
    if repeats:
        columns["by-item-support"] = NewColumn.of(
            np.sum([_support(folder, number, part) for number, part in enumerate(parts)], axis=0)
        )
    written = write_columns(folder, columns, no_progress)
    joined = {name: _joined_digest(folder, parts, name, progress) for name in first.columns if name in JOINED}
    digests = {name: column.sha256 for name, column in written.items()} | joined
    manifest = Manifest(
        fingerprint=fingerprint_from_digests(digests, first.clock),
        records=sum(part.records for part in parts),
        items=first.items,
        entries=sum(part.entries for part in parts),
        repeats=repeats,
        clock=first.clock,
        words=first.words,
        read=provenance,
        columns=written,
        shards=tuple(_shards(manifests)),
        joined=joined,
    )
    return sum(column.bytes for column in written.values()) + write_manifest(folder, manifest)


def write_shards(folder: Path, release: Release, bounds: Sequence[int], progress: Progress = no_progress) -> int:
    """Write a release in shards; return their size in bytes. Shard s begins at record bounds[s]."""
    size = 0
    for number, (low, high) in enumerate(pairwise(bounds)):
        first_entry = int(release.by_record.start[low])
        shard = record_range(release, low, high)
        size += write_shard(folder / shard_folder(number), shard, first_entry, progress)
    return size + join_shards(folder, release.provenance, progress)


def _manifests(folder: Path) -> Iterator[tuple[Manifest, str]]:
    """Yield the manifest of each shard and its SHA-256."""
    for number in count():
        path = folder / shard_folder(number)
        if not path.exists():
            return
        content = (path / MANIFEST).read_bytes()
        yield Manifest.from_json(content, path), hashlib.sha256(content).hexdigest()


def _shards(manifests: Sequence[tuple[Manifest, str]]) -> Iterator[Shard]:
    first_record = 0
    for number, (manifest, sha256) in enumerate(manifests):
        yield Shard(shard_folder(number), first_record, manifest.records, manifest.entries, sha256)
        first_record += manifest.records


def _catalogue(manifest: Manifest) -> dict[str, Column]:
    """The columns that all shards have alike."""
    names = CATALOGUE - {"by-item-start", "by-item-support"}
    return {name: column for name, column in manifest.columns.items() if name in names}


def _read(folder: Path, number: int, column: Column) -> NDArray[Any]:
    """Read a column of a shard into memory."""
    path = folder / shard_folder(number) / column.file
    return np.fromfile(path, np.dtype(column.type).newbyteorder("<"), offset=column.lead)


def _support(folder: Path, number: int, manifest: Manifest) -> NDArray[np.int64]:
    """Number of records of a shard that have each item."""
    if manifest.repeats:
        return _read(folder, number, manifest.columns["by-item-support"])
    return np.diff(_read(folder, number, manifest.columns["by-item-start"]))


def _joined_digest(folder: Path, parts: Sequence[Manifest], name: str, progress: Progress) -> str:
    """SHA-256 of a column of all shards, one after another; offsets continue those of the shard before."""
    digest, end = hashlib.sha256(), 0
    for number, part in enumerate(parts):
        progress("fingerprint", number, len(parts))
        column = part.columns[name]
        if name in ("record-id-offsets", "by-record-start"):
            offsets = _read(folder, number, column) + end
            digest.update(array_bytes(offsets[1 if number else 0 :].astype("<i8", copy=False)))
            end = int(offsets[-1])
        else:
            with (folder / shard_folder(number) / column.file).open("rb") as file:
                file.seek(column.lead)
                while piece := file.read(PIECE):
                    digest.update(piece)
    return digest.hexdigest()


# The work folder of an index that is built in steps, which the next run of the same command can resume.
#
# The folder is next to the target, private and locked, as that of any index being built. Once it has a file
# `resume`, a killed run leaves it for the next run of the same command on the same sources; a different build
# of the same target removes it. An error removes it at once.


INDEX = "index"


@dataclass(slots=True)
class ResumableBuild:
    """An index being built in steps.

    `about` is everything that the steps depend on. `state` is what an earlier run of the same command wrote
    with `resume_from`; None if there was none.
    """

    target: Path
    folder: Path
    about: str | None
    state: bytes | None = None

    @property
    def index(self) -> Path:
        """Folder of the new index, until it is published."""
        return self.folder / INDEX

    def clear(self) -> None:
        """Remove what an earlier run left, because it cannot be used."""
        self.state = None
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def resume_from(self, state: bytes) -> None:
        """Let the next run resume from here, if the sources can be recognised."""
        if self.about is not None:
            write_checkpoint(self.folder / RESUME, self.about, state)

    def touch(self) -> None:
        """Note that the work goes on: unfinished work is kept for some days."""
        if self.about is not None:
            os.utime(self.folder / RESUME)

    def publish(self) -> None:
        """Move the complete index to its target; there is nothing to resume from then on."""
        (self.folder / RESUME).unlink(missing_ok=True)
        IndexWriter(self.target, self.index).publish()


@contextmanager
def open_resumable_build(path: str | Path, about: str | None) -> Iterator[ResumableBuild]:
    """Yield a new build, or one that was killed; the target is checked and locked before the long work."""
    target = index_path(path)
    try:
        check_target(target)
        folder, state = _resumed(target, begin_build(target, resumable=True), about)
    except OSError as error:
        raise write_error(error, target, None) from error
    try:
        yield ResumableBuild(target, folder.path, about, state)
    except OSError as error:
        remove_folder(folder)
        raise write_error(error, target, None) from error
    except (KeyboardInterrupt, SystemExit):
        if not is_resumable(folder.path):
            remove_folder(folder)
        else:
            os.close(folder.lock)
        raise
    except BaseException:
        remove_folder(folder)
        raise
    else:
        remove_folder(folder)


def _resumed(target: Path, own: NewFolder, about: str | None) -> tuple[NewFolder, bytes | None]:
    """Return the folder and state of a killed run that can be resumed, or the new folder; remove others."""
    chosen, state = own, None
    try:
        for folder in unfinished_folders(target, own):
            found = _state(folder.path, about) if state is None else None
            if found is None:
                remove_folder(folder)
            else:
                remove_folder(own)
                chosen, state = folder, found
    except BaseException:
        remove_folder(chosen)
        raise
    return chosen, state


def _state(folder: Path, about: str | None) -> bytes | None:
    if about is None or not is_resumable(folder):
        return None
    with warnings.catch_warnings():  # it is not said that the folder is of another command: that is usual
        warnings.simplefilter("ignore", RuntimeWarning)
        return read_checkpoint(folder / RESUME, about, bytes)


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
    build: ResumableBuild, rows: PartitionedRows, entries: EntriesToBuild, settings: BuildSettings, progress: Progress
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
    build: ResumableBuild, plan: ShardPlan, rows: ShardRows, progress: Progress, change: ChangeEntries | None = None
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
