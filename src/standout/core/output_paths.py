"""Try output paths before long work: where a file or folder cannot be written, say so at once."""

import errno
import os
import stat
from pathlib import Path

from standout.core.errors import ParameterError
from standout.core.files import try_folder

__all__ = ["check_csv_name", "check_output_file", "check_output_files"]

OTHER_FORMATS = (".arrow", ".duckdb", ".html", ".json", ".jsonl", ".parquet", ".sqlite", ".toml", ".xlsx")
REASONS = {
    errno.ELOOP: "its links form a loop",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENOENT: "its folder does not exist",
    errno.ENOTDIR: "its folder is a file",
    errno.EACCES: "you may not write to its folder",
    errno.EPERM: "you may not write to its folder",
    errno.EROFS: "its folder is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EFBIG: "the limit of the size of files (ulimit -f) is too small",
}


def check_output_file(path: Path, option: str = "") -> None:
    """Refuse a path that no file can be written to: a file is made in its folder and removed again.

    Parameters
    ----------
    path
        File that will be written.
    option
        Option that names the path, for the message.

    Raises
    ------
    ParameterError
        If the folder does not exist, is read-only or is full, if the name is too long, if links form a loop,
        or if the path is a folder or a device.

    Examples
    --------
    >>> check_output_file(Path("/"))
    Traceback (most recent call last):
    standout.core.errors.ParameterError: '/' cannot be written: it is a folder; choose another path
    """
    try:
        _check_kind(path)
        try_folder(path.parent)
    except (OSError, ValueError) as error:
        subject = f"{option} {str(path)!r}" if option else repr(str(path))
        raise ParameterError(f"{subject} cannot be written: {_reason(error)}; choose another path") from error


def check_output_files(folder: Path, *names: str) -> None:
    """Refuse a folder in which one of these files cannot be written; they may be in folders of it."""
    for name in names:
        path = folder / name
        if path.parent.is_dir():
            check_output_file(path)
        elif path.parent.exists():
            raise ParameterError(f"{path.parent} is a file, but a folder will be written there: move it")


def check_csv_name(path: Path, option: str) -> None:
    """Refuse the name of another format for a file that is written as CSV."""
    if path.suffix.lower() in OTHER_FORMATS:
        raise ParameterError(f"{option} is written as CSV: choose a name that ends in .csv, got {path.name!r}")


def _check_kind(path: Path) -> None:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - follows links, and tells why it cannot
    except FileNotFoundError:
        path.parent.stat()
        return
    if stat.S_ISDIR(mode):
        raise ValueError("it is a folder")
    is_stream = path.is_symlink() and str(path.readlink()).startswith("/proc/")  # /dev/stdout
    if is_stream or not stat.S_ISREG(mode):
        raise ValueError("it is a device or a pipe, not a file")


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return REASONS.get(error.errno or 0, error.strerror or str(error))
    return "its name has a zero byte" if "null" in str(error) else str(error)
