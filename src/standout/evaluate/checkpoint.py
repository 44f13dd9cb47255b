"""The checkpoint of a simulation: its outcomes so far, in a file, so that an interrupted run can resume."""

import hashlib
import io
import json
import time
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from standout.core.arrays import Ints
from standout.core.checkpoint_files import read_checkpoint, write_checkpoint
from standout.core.errors import ParameterError
from standout.evaluate.outcomes import Outcomes

__all__ = ["Checkpoint"]

SECONDS_BETWEEN_WRITES = 5.0


@dataclass(eq=False)
class Checkpoint:
    """The outcomes of an earlier run with the same settings, and where to save more.

    The file's name contains a hash of everything that the outcomes depend on. The file lists the targets;
    outcomes are reused only for the same ones.
    """

    path: Path | None
    settings: str
    targets: Ints
    outcomes: Outcomes | None
    written: float = 0.0

    @classmethod
    def load(cls, path: Path | None, settings: list[object], targets: Ints) -> "Checkpoint":
        """The checkpoint for these settings and targets; empty if there is none or it is damaged."""
        text = json.dumps(settings)
        if path is None:
            return cls(None, text, targets, None)
        if not path.parent.is_dir():
            raise ParameterError(f"save must be in an existing folder; {path.parent} is not a folder")
        digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        file = path.with_name(f"{path.name}.{digest}.checkpoint")
        return cls(file, text, targets, _stored_outcomes(file, text, targets), time.monotonic())

    def outcomes_of(self, low: int, high: int) -> Outcomes | None:
        """The outcomes of targets low … high - 1; None if they are not in the checkpoint."""
        if self.outcomes is None or len(self.outcomes) < high:
            return None
        return self.outcomes.slice(low, high)

    def save(self, parts: list[Outcomes], now: bool = False) -> None:
        """Write the outcomes so far, every few seconds or now; an atomic replacement of the file."""
        n_done = sum(map(len, parts))
        n_stored = 0 if self.outcomes is None else len(self.outcomes)
        is_due = now or time.monotonic() - self.written >= SECONDS_BETWEEN_WRITES
        if self.path is None or n_done <= n_stored or not is_due:
            return
        self.outcomes = Outcomes.concatenate(parts)
        columns = {field.name: getattr(self.outcomes, field.name) for field in fields(Outcomes)}
        content = io.BytesIO()
        np.savez(content, targets=self.targets[:n_done], **columns)
        write_checkpoint(self.path, self.settings, content.getvalue())
        self.written = time.monotonic()


def _stored_outcomes(file: Path, settings: str, targets: Ints) -> Outcomes | None:
    def parse(content: bytes) -> Outcomes | None:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            if not np.array_equal(stored["targets"], targets[: len(stored["targets"])]):
                return None
            return Outcomes(*(stored[field.name] for field in fields(Outcomes)))

    return read_checkpoint(file, settings, parse)
