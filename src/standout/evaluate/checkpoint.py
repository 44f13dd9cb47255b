"""What a run has done so far, in a file: a run that was cut short goes on from there."""

import hashlib
import json
import os
import time
from dataclasses import dataclass, fields
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import ParameterError, StandoutError
from standout.core.private_files import open_private
from standout.evaluate.outcomes import Outcomes

__all__ = ["Checkpoint"]

OFTEN = 5.0
"""Seconds between two writings."""


@dataclass(eq=False)
class Checkpoint:
    """The outcomes of an earlier run with the same settings, for the targets that stand first; and where to
    keep more. What they depend on is part of the file's name, and stands in it with the targets."""

    path: Path | None
    settings: str
    places: Ints
    outcomes: Outcomes | None
    written: float = 0.0

    @classmethod
    def of(cls, path: Path | None, settings: list[object], places: Ints) -> "Checkpoint":
        """What was kept for these targets, as far as it is about the same ones."""
        told = json.dumps(settings)
        if path is None:
            return cls(None, told, places, None)
        if not path.parent.is_dir():
            raise ParameterError(f"{path.parent} is not a folder")
        own = path.with_name(f"{path.name}.{hashlib.blake2b(told.encode(), digest_size=6).hexdigest()}.npz")
        try:
            with own.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                n = len(stored["places"])
                fits = str(stored["settings"]) == told and np.array_equal(stored["places"], places[:n])
                found = Outcomes(*(stored[field.name] for field in fields(Outcomes))) if fits else None
        except (OSError, EOFError, KeyError, ValueError, BadZipFile):
            found = None
        return cls(own, told, places, found, time.monotonic())

    def part(self, low: int, high: int) -> Outcomes | None:
        """The outcomes of targets low … high - 1, if they were kept."""
        if self.outcomes is None or len(self.outcomes) < high:
            return None
        return self.outcomes.slice(low, high)

    def keep(self, parts: list[Outcomes], now: bool = False) -> None:
        """Writes what is done, now and then or now; put in place in one step."""
        done = sum(map(len, parts))
        old = 0 if self.outcomes is None else len(self.outcomes)
        if self.path is None or done <= old or (not now and time.monotonic() - self.written < OFTEN):
            return
        self.outcomes = Outcomes.concatenate(parts)
        columns = {field.name: getattr(self.outcomes, field.name) for field in fields(Outcomes)}
        new = self.path.with_suffix(f".{os.getpid()}")
        try:
            with open_private(new) as descriptor, os.fdopen(os.dup(descriptor), "wb") as file:
                np.savez(file, settings=np.array(self.settings), places=self.places[:done], **columns)
            new.replace(self.path)
        except OSError as error:
            raise StandoutError(f"{self.path} cannot be written: {error.strerror}") from error
        self.written = time.monotonic()
