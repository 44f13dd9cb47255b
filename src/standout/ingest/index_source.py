"""`so.index`: read a source and write it as an index, in memory that the user can limit."""

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standout.cluster.workers import on_client
from standout.core.errors import ReadingWarning, SourceError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.data.code_blocks import MemoryPlan
from standout.data.release import Release
from standout.data.sharded_index import BuildSettings, open_resumable_build, write_entries
from standout.data.store import open_index
from standout.ingest.collector import SourceEntries
from standout.ingest.diagnosis import PYTHON, reading_warnings
from standout.ingest.options import Options
from standout.ingest.read import SourceReader
from standout.ingest.remote import is_remote
from standout.ingest.sources import expand_paths

__all__ = ["index", "write_index"]

Source = str | Path | list[str | Path]


@with_progress
@on_client
def index(
    source: Any,
    output: str | Path,
    *,
    shards: int | None = None,
    memory: int | str | None = None,
    titles: str | Path | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
    **options: Any,
) -> Release:
    """Read a source and write it as an index, in shards if memory would not suffice otherwise.

    An index in shards is used like any other, and has the same fingerprint. A build that is killed leaves the
    old index or none; the same call resumes it with the shards that are finished.

    Parameters
    ----------
    source : path, URL, list of them, or frame
        What `read` takes.
    output : str or Path
        Folder of the index. It must be new, empty, or an index, which is replaced.
    shards : int, optional
        Number of shards; default: none if memory suffices, otherwise as few as fit. A shard has at least one
        block of 8,192 records, so there may be fewer.
    memory : int or str, optional
        Bytes of memory that the build may use, such as "500MB", "4GB" or "2GiB"; default: 60 % of what is
        available. All ids are held in memory.
    titles : path, optional
        File with titles of the items.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).
    client : distributed.Client, optional
        Its workers read the files, if the source has several that they find at the same paths. It changes no
        result. Default: this process reads them.
    **options
        Options of `read`.

    Returns
    -------
    Release
        The release in the index.

    Raises
    ------
    ParameterError
        If an option is not allowed, or `memory` is too small for the ids.
    SourceError
        If the source cannot be read.
    StoreError
        If the index cannot be written, for example because the disk is full.

    Examples
    --------
    >>> import polars as pl, standout as so, tempfile
    >>> frame = pl.DataFrame({"user": ["007", "7"], "film": ["Brazil", "Bent"], "stars": [4.5, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = so.index(frame, f"{folder}/films.index", memory="1GB")
    ...     release.n_records, release.fingerprint == so.read(frame).fingerprint
    (2, True)
    """
    reader = SourceReader(Options(**options), progress)
    write_index(reader, source, output, BuildSettings(shards, memory), titles)
    release = open_index(output)
    for message in reading_warnings(release, PYTHON):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return release


def write_index(
    reader: SourceReader,
    source: Any,
    output: str | Path,
    settings: BuildSettings,
    titles: str | Path | None = None,
    after_reading: Callable[[], None] = lambda: None,
) -> None:
    """Read a source and write it as an index; `after_reading` is called between the two."""
    about = _identity(source, titles, reader.options, settings)
    with open_resumable_build(output, about) as build:

        def read(memory: MemoryPlan) -> SourceEntries | Release:
            reader.memory = memory
            try:
                return reader.collect(source, titles)
            finally:
                after_reading()

        write_entries(build, settings, read, reader.progress)


def _identity(source: Any, titles: str | Path | None, options: Options, settings: BuildSettings) -> str | None:
    """Everything that an index depends on; None if the source cannot be recognised in the next run."""
    if not isinstance(source, (str, Path, list, tuple)):
        return None
    given = [source] if isinstance(source, (str, Path)) else list(source)
    given += [] if titles is None else [titles]
    if any(is_remote(path) for path in given):
        return None
    try:
        files = [_file_identity(file) for path in expand_paths(given) for file in _files(Path(str(path)))]
    except (OSError, SourceError):
        return None  # the reader explains it
    chosen = {name: repr(getattr(options, name)) for name in sorted(options.changed())}
    return json.dumps([files, chosen, titles is not None, settings.shards, settings.memory])


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names)


def _file_identity(path: Path) -> list[str | int]:
    status = path.stat()
    return [str(path.absolute()), status.st_size, status.st_mtime_ns, status.st_ino]
