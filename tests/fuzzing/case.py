"""A mutated input: the files and options of one round, and how the corpus stores it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Case", "Target", "dump_case", "load_case"]


@dataclass(frozen=True)
class Case:
    """Files by name, which are written to the folder of the round, and options as JSON values."""

    files: dict[str, bytes] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder):
        """Write the files."""
        for name, content in self.files.items():
            path = folder / name
            if "/" in name:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Target(Protocol):
    """Something that reads input: makes mutated cases, and runs one in a folder that has its files."""

    def case(self, draw) -> Case:
        """A mutated case."""

    def run(self, case: Case, folder: Path) -> str:
        """Return "read" or the line of the error; any other exception is a failure."""


def dump_case(target: str, case: Case, failure: str) -> str:
    """Text of a file in the corpus. Bytes are written as Latin-1, so that text stays readable."""
    files = {name: content.decode("latin-1") for name, content in case.files.items()}
    content = {"target": target, "failure": failure, "files": files, "options": case.options}
    return json.dumps(content, indent=1) + "\n"


def load_case(path: Path) -> tuple[str, Case]:
    """The target and the case of a file in the corpus."""
    content = json.loads(path.read_text())
    files = {name: text.encode("latin-1") for name, text in content["files"].items()}
    return content["target"], Case(files, content["options"])
