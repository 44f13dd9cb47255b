"""`so.index`: read a source and write it as an index, in memory that the user can limit."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standout.cluster.workers import on_client
from standout.core.errors import ReadingWarning
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.threads import memory_limit
from standout.data.build import MemoryPlan
from standout.data.release import Release
from standout.data.store import open_index, open_index_writer
from standout.ingest.diagnosis import PYTHON, reading_warnings
from standout.ingest.options import Options
from standout.ingest.read import SourceReader


@with_progress
@on_client
def index(
    source: Any,
    output: str | Path,
    *,
    memory: int | str | None = None,
    titles: str | Path | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
    **options: Any,
) -> Release:
    """Read a source and write it as an index, also if memory does not hold its entries.

    What does not fit is in files next to the index while it is built. A build that is killed leaves the old index
    or none.

    Parameters
    ----------
    source : path, URL, list of them, or frame
        What `read` takes.
    output : str or Path
        Folder of the index. It must be new, empty, or an index, which is replaced.
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
    reader = SourceReader(Options(**{"kind": "history"} | options), progress)
    write_index(reader, source, output, memory, titles)
    release = open_index(output)
    for message in reading_warnings(release, PYTHON):
        warnings.warn(message, ReadingWarning, stacklevel=2)
    return release


def write_index(
    reader: SourceReader,
    source: Any,
    output: str | Path,
    memory: int | str | None = None,
    titles: str | Path | None = None,
    after_reading: Callable[[], None] = lambda: None,
) -> None:
    """Read a source and write it as an index; `after_reading` is called between the two."""
    limit = memory_limit(memory)
    with open_index_writer(output) as index:
        reader.memory = MemoryPlan(limit, index.folder)
        try:
            content = reader.collect(source, titles)
        finally:
            after_reading()
        release = content if isinstance(content, Release) else content.build(reader.progress)
        index.write(release, reader.progress)
