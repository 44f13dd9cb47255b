"""Results of earlier runs with the same settings, one file for each figure."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from standout.core.checkpoint_files import read_checkpoint, write_checkpoint

__all__ = ["ResultCache"]

Result = TypeVar("Result")


@dataclass(frozen=True)
class ResultCache:
    """Results by name. The settings they depend on are part of the file name."""

    folder: Path
    settings: tuple[object, ...]

    def _about(self, name: str) -> str:
        return json.dumps([name, *self.settings])

    def _path(self, name: str) -> Path:
        digest = hashlib.blake2b(self._about(name).encode(), digest_size=6).hexdigest()
        return self.folder / f"{name}.{digest}.checkpoint"

    def get(self, name: str, parse: Callable[[Any], Result]) -> Result | None:
        """The stored result, parsed; None if there is none that can be used."""
        return read_checkpoint(
            self._path(name), self._about(name), lambda content: parse(json.loads(content))
        )

    def put(self, name: str, result: Any) -> None:
        """Store a result."""
        write_checkpoint(self._path(name), self._about(name), json.dumps(result).encode())
