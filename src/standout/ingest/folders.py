"""The data files of a folder, which must be of one kind."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from standout.core.errors import SourceError
from standout.ingest.remote import RemotePath
from standout.ingest.sources import SourcePath

__all__ = ["FolderFiles", "folder_files"]

NO_DATA = re.compile(r"(readme|licen[cs]e|copying|changelog)([._-].*)?|.*\.md", re.IGNORECASE)
COMPRESSED = (".gz", ".zst", ".zstd", ".zip")


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """Data files of a folder in the order of their paths, and how many other files were skipped."""

    files: tuple[tuple[SourcePath, str], ...]
    skipped: int


def folder_files(folder: SourcePath) -> FolderFiles:
    """Return the data files of a folder and of the folders in it, each with its path below the folder.

    Hidden files (a name that begins with . or _), README and LICENSE files and *.md are skipped.
    """
    found = _remote(folder) if isinstance(folder, RemotePath) else _local(folder)
    files = tuple((path, relative) for relative, path in sorted(found.items()) if not _is_skipped(relative))
    _check_files(folder, files)
    kinds = Counter(_kind(relative) for _, relative in files)
    if not files:
        raise SourceError(f"{folder} has no data files: name a file, or another folder")
    if len(kinds) > 1:
        listed = ", ".join(f"{count:,} × {kind}" for kind, count in kinds.most_common(8))
        raise SourceError(
            f"{folder} has files of different kinds ({listed}{', …' if len(kinds) > 8 else ''}): "
            "name the files to read, for example with a pattern such as 'folder/*.csv'"
        )
    return FolderFiles(files, len(found) - len(files))


def _check_files(folder: SourcePath, files: tuple[tuple[SourcePath, str], ...]) -> None:
    """Refuse a folder with pipes, sockets or devices: reading may never end, skipping hides data."""
    odd = sum(isinstance(path, Path) and path.exists() and not path.is_file() for path, _ in files)
    if odd:
        what = "is a pipe, a socket or a device" if odd == 1 else "are pipes, sockets or devices"
        raise SourceError(
            f"{folder} has {len(files):,} files, and {odd:,} of them {what}: move such files "
            "elsewhere, or name the files to read"
        )


def _local(folder: Path) -> dict[str, SourcePath]:
    found: dict[str, SourcePath] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            found[path.relative_to(folder).as_posix()] = path
    return found


def _remote(folder: RemotePath) -> dict[str, SourcePath]:
    return {str(path.relative_to(folder)): path for path in folder.find()}


def _is_skipped(relative: str) -> bool:
    parts = PurePosixPath(relative).parts
    return any(part.startswith((".", "_")) for part in parts) or NO_DATA.fullmatch(parts[-1]) is not None


def _kind(relative: str) -> str:
    """Ending of a file's name, without that of its compression."""
    name = PurePosixPath(relative)
    if name.suffix.lower() in COMPRESSED and name.with_suffix("").suffix:
        name = name.with_suffix("")
    return name.suffix.lower() or "no ending"
