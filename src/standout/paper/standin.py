"""The stand-in for the Netflix Prize data, which is no longer available: made once, then reused."""

from pathlib import Path

from standout._version import __version__
from standout.core.progress import Progress, no_progress
from standout.data.index_files import is_index
from standout.data.release import Release
from standout.data.store import open_index, save
from standout.paper.comparison_rows import PEOPLE
from standout.paper.synthesize import synthesize

__all__ = ["open_or_make_standin"]


def open_or_make_standin(
    folder: Path,
    records: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Release:
    """The stand-in with this number of people; default: as many as in the paper.

    It is read from an index in the folder. If there is none, it is made and saved there. Records, seed and
    version are part of the index's name.
    """
    path = folder / f"standin-{records or PEOPLE}-{seed}-{__version__}.index"
    if not is_index(path):
        release = synthesize(like="netflix", records=records or PEOPLE, seed=seed, threads=threads, progress=progress)
        save(release, path, progress)
    return open_index(path).check()
