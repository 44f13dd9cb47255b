"""The stand-in for the Netflix Prize data, which cannot be had any more: made once, kept as an index."""

from pathlib import Path

from standout._version import __version__
from standout.core.progress import Progress, no_progress
from standout.paper.paper_results import PEOPLE
from standout.release.index_writer import is_index
from standout.release.model import Release
from standout.release.store import open_index, save
from standout.synthetic.synthesize import synthesize

__all__ = ["standin"]


def standin(
    folder: Path,
    records: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Release:
    """The stand-in of so many people, taken up from the folder or made and kept there.

    What it depends on is in its name: other records, another seed or version make another one.
    """
    path = folder / f"standin-{records or PEOPLE}-{seed}-{__version__}.index"
    if not is_index(path):
        made = synthesize(
            like="netflix", records=records or PEOPLE, seed=seed, threads=threads, progress=progress
        )
        save(made, path, progress)
    return open_index(path)
