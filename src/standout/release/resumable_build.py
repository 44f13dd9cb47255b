"""The work folder of an index that is built in steps, which the next run of the same command can resume.

The folder is next to the target, private and locked, as that of any index being built. Once it has a file
`resume`, a killed run leaves it for the next run of the same command on the same sources; a different build
of the same target removes it. An error removes it at once.
"""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from standout.core.checkpoint_files import read_checkpoint, write_checkpoint
from standout.core.new_folders import NewFolder, remove_folder, unfinished_folders
from standout.core.work_folders import RESUME, is_resumable
from standout.release.index_writer import IndexWriter, begin_build, check_target, index_path, write_error

__all__ = ["ResumableBuild", "open_resumable_build"]

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
