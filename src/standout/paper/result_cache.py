"""What was worked out before, with the same settings: a file for each figure."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout.core.atomic_files import write_atomically

__all__ = ["Shelf"]


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
        write_atomically(self._path(name), lambda file: file.write(json.dumps(result).encode()), private=True)
