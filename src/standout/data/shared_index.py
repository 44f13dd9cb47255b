"""A release as workers know it: the path of an index that all of them can read, and its fingerprint."""

import socket
from pathlib import Path
from typing import NamedTuple

from standout.core.errors import StoreError
from standout.data.manifest import MANIFEST
from standout.data.release import Release
from standout.data.store import open_index

__all__ = ["SharedIndex"]

BOOT = Path("/proc/sys/kernel/random/boot_id")
_OPENED: "dict[SharedIndex, Release]" = {}
MOST_OPENED = 4
"""Number of indexes that a worker keeps open."""


class SharedIndex(NamedTuple):
    """An index for workers: its path, its fingerprint, and which file on which machine was checked."""

    path: str
    fingerprint: str
    checked: tuple[str, int, int]

    @classmethod
    def of(cls, release: Release) -> "SharedIndex | None":
        """The index that a release was opened from; None if it is in memory only or was changed since."""
        stored = release.stored_columns
        if type(release) is not Release or release.stored_fingerprint is None or stored is None:
            return None
        path = str(Path(stored.path).absolute())
        return cls(path, release.stored_fingerprint, _file_identity(path))

    @staticmethod
    def size(release: Release) -> int:
        """Bytes of the columns of an open index."""
        columns = release.stored_columns
        return 0 if columns is None else sum(column.nbytes for column in columns.arrays.values())

    def open(self) -> Release:
        """The release. A process opens it once, and checks it unless it is the very files checked before.

        Raises
        ------
        StoreError
            If there is no such index here, it is damaged, or it is another release.
        """
        release = _OPENED.get(self)
        if release is None:
            release = self._open()
            while len(_OPENED) >= MOST_OPENED:
                _OPENED.pop(next(iter(_OPENED)))
            _OPENED[self] = release
        return release

    def _open(self) -> Release:
        release = open_index(self.path)
        if release.fingerprint != self.fingerprint:
            raise StoreError(
                f"{self.path} is another release than the one to work on: its fingerprint differs; give all "
                "workers the same index at the same path"
            )
        return release if _file_identity(self.path) == self.checked else release.check()


def _file_identity(path: str) -> tuple[str, int, int]:
    """The running machine, and device and number of the manifest: equal for the same file only."""
    try:
        machine = BOOT.read_text(encoding="ascii").strip()
    except OSError:
        machine = socket.gethostname()
    try:
        status = (Path(path) / MANIFEST).stat()
    except OSError:
        return machine, 0, 0
    return machine, status.st_dev, status.st_ino
