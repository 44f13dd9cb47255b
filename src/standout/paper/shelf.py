"""What was worked out before, with the same settings: a file for each figure."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout.errors import StandoutError
from standout.release.private import private_file

__all__ = ["Shelf", "folder_at", "written"]


def folder_at(path: Path, private: bool = False) -> Path:
    """The folder, made if it is not there; or an error in one line."""
    try:
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise StandoutError(f"{path} cannot be written to")
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise StandoutError(f"{path} cannot be made a folder: {reason}") from error
    return path


def written(path: Path, content: str | bytes) -> None:
    """Writes a file beside its place first, then puts it there: it is whole or not there."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        new.replace(path)
    except OSError as error:
        raise StandoutError(f"{path} cannot be written: {error.strerror}") from error


@dataclass(frozen=True)
class Shelf:
    """Results by name. What they depend on is part of the file's name."""

    folder: Path
    settings: tuple[object, ...]

    def _path(self, name: str) -> Path:
        told = json.dumps([name, *self.settings])
        return self.folder / f"{name}.{hashlib.blake2b(told.encode(), digest_size=6).hexdigest()}.json"

    def get(self, name: str) -> Any:
        """What was kept, None if nothing was or it cannot be read."""
        try:
            return json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, name: str, result: Any) -> None:
        path = self._path(name)
        new = path.with_suffix(f".{os.getpid()}")
        try:
            with private_file(new) as made:
                os.write(made, json.dumps(result).encode())
            new.replace(path)
        except OSError as error:
            raise StandoutError(f"{path} cannot be written: {error.strerror}") from error
