"""Places in which things go wrong: how a command is started there, and whether this machine can make them."""

import os
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["PLACES", "Place", "is_available"]


class Place(NamedTuple):
    """How to start a command: words before it, the environment, and a shell's redirections after it.

    `before` is a line of shell that is run in the folder first. In all of them, {folder} is the folder.
    """

    title: str
    wrap: tuple[str, ...] = ()
    before: str = ""
    redirect: str = ""
    environment: Mapping[str, str] = MappingProxyType({})
    needs: str = ""


OWN_MOUNTS = ("unshare", "-m", "sh", "-c")
NO_PRIVILEGES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
PLACES = {
    "": Place("an ordinary folder"),
    "full": Place(
        "a full disk", (*OWN_MOUNTS, 'mount -t tmpfs -o size=4k none place && exec "$@"', "sh"), needs="mount"
    ),
    "read-only": Place(
        "a read-only disk",
        (*OWN_MOUNTS, 'mount --bind place place && mount -o remount,ro,bind place && exec "$@"', "sh"),
        needs="mount",
    ),
    "no permission": Place("a folder without permission to write", NO_PRIVILEGES, "chmod 500 place", needs="setpriv"),
    "unreadable": Place(
        "files without permission to read",
        NO_PRIVILEGES,
        "chmod 000 people.csv table.csv people.index",
        needs="setpriv",
    ),
    "size limit": Place("a limit of 1 kB for files", ("bash", "-c", 'ulimit -f 1; exec "$@"', "bash")),
    "stdout full": Place("standard output is a full device", redirect="> /dev/full"),
    "stdout closed": Place("standard output is closed", redirect=">&-"),
    "stderr closed": Place("standard error is closed", redirect="2>&-"),
    "latin-1": Place("standard output in Latin-1", environment={"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}),
    "ascii": Place("standard output in ASCII", environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}),
    "no home": Place("no home folder", environment={"HOME": "/nonexistent", "XDG_CACHE_HOME": ""}),
    "cache read-only": Place(
        "a cache that cannot be written",
        NO_PRIVILEGES,
        "mkdir cache; chmod 500 cache",
        environment={"NUMBA_CACHE_DIR": "{folder}/cache", "HOME": "/nonexistent"},
        needs="setpriv",
    ),
    "cache full": Place(
        "a full disk for the cache",
        (*OWN_MOUNTS, 'mount -t tmpfs -o size=64k none cache && exec "$@"', "sh"),
        "mkdir cache",
        environment={"NUMBA_CACHE_DIR": "{folder}/cache"},
        needs="mount",
    ),
    "no temporary files": Place(
        "a folder for temporary files that cannot be written",
        NO_PRIVILEGES,
        "mkdir temporary; chmod 500 temporary",
        environment={"TMPDIR": "{folder}/temporary"},
        needs="setpriv",
    ),
    "bad epoch": Place("a SOURCE_DATE_EPOCH out of range", environment={"SOURCE_DATE_EPOCH": "9" * 30}),
    "little memory": Place("1.5 GB of address space", ("bash", "-c", 'ulimit -v 1500000; exec "$@"', "bash")),
}

TESTS: dict[str, Callable[[], list[str]]] = {
    "mount": lambda: [*OWN_MOUNTS, "mount -t tmpfs -o size=12k none /mnt", "sh"],
    "setpriv": lambda: [*NO_PRIVILEGES, "true"],
    "": lambda: ["true"],
}


@cache
def is_available(need: str) -> bool:
    """Whether this machine can make such a place."""
    try:
        works = subprocess.run(TESTS[need](), capture_output=True, check=False).returncode == 0
    except OSError:
        return False
    return works and not (need == "setpriv" and os.geteuid() == 0 and not _permissions_bind())


def _permissions_bind() -> bool:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "place").mkdir(mode=0o500)
        command = [*NO_PRIVILEGES, "touch", f"{folder}/place/file"]
        return subprocess.run(command, capture_output=True, check=False).returncode != 0
