"""Results of earlier runs with the same settings, one file for each figure."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout.core.atomic_files import write_atomically

__all__ = ["ResultCache"]


@dataclass(frozen=True)
class ResultCache:
    """Results by name. The settings they depend on are part of the file name."""

    folder: Path
    settings: tuple[object, ...]

    def _path(self, name: str) -> Path:
        key = json.dumps([name, *self.settings])
        return self.folder / f"{name}.{hashlib.blake2b(key.encode(), digest_size=6).hexdigest()}.json"

    def get(self, name: str) -> Any:
        """The stored result; None if there is none or it cannot be read."""
        try:
            return json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, name: str, result: Any) -> None:
        """Store a result."""
        write_atomically(self._path(name), lambda file: file.write(json.dumps(result).encode()), private=True)
