"""What a step is: its name, its parameters as text, and the draft that it makes of another."""

import hashlib
import math
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, key
from standout.data.labels import Bins, Labels, StepReport
from standout.data.release import Release
from standout.know.sanitized import ReleaseNoise
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.entry_kernels import EntryStreams

__all__ = [
    "NoiseKeys",
    "Step",
    "StepNoise",
    "StepResult",
    "check_positive",
    "check_share",
    "is_number",
    "number",
    "number_or_none",
    "parameter_text",
]

# Random numbers of a step, keyed by (seed, step number, record id, item id): order and threads never matter.
#
# A record's key is a hash of its id under the seed. So the noise of one record reveals nothing about the noise
# of another.


Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class StepNoise:
    """Random numbers of one step on one draft, from the keys of its records and items."""

    draft: Draft
    record_keys: Keys
    item_keys: Keys

    @property
    def streams(self) -> EntryStreams:
        """What kernels need to draw for each entry."""
        entries = self.draft.by_record
        return EntryStreams(entries.start, entries.item, self.record_keys, self.item_keys)

    def uniforms(self) -> Floats:
        """One number in [0, 1) for each entry."""
        streams, out = self.streams, np.empty(self.draft.n_entries)
        self.draft.run_by_records(lambda low, high: entry_kernels.uniforms(streams, low, high, out))
        return out


@dataclass(frozen=True, eq=False)
class NoiseKeys:
    """Keys of all records and items of a release under one seed."""

    seed: int
    records: Keys
    items: Keys

    @classmethod
    def of(cls, release: Release, seed: int) -> "NoiseKeys":
        """Keys of a release; raises a ParameterError for a bad seed."""
        check_seed(seed)
        return cls(seed, _hash_labels(release.records, seed, "record"), _hash_labels(release.items, seed, "item"))

    def noise(self, draft: Draft, *purpose: object) -> StepNoise:
        """Noise for one purpose: the number of a step, or another name for what is drawn."""
        purpose_key = key(self.seed, "sanitize", *purpose)
        return StepNoise(draft, self.records[draft.source_records] ^ purpose_key, self.items[draft.source_items])


def _hash_labels(labels: Labels, seed: int, kind: str) -> Keys:
    data, secret = labels.data.tobytes(), f"{seed} {kind}".encode()
    hashes = b"".join(
        hashlib.blake2b(data[low:high], digest_size=8, key=secret).digest()
        for low, high in pairwise(labels.offsets.tolist())
    )
    return np.frombuffer(hashes, "<u8").astype(np.uint64)


class StepResult(NamedTuple):
    """Result of a step: the next draft, further counts for its report, and its bins if it made any."""

    draft: Draft
    counts: dict[str, float] = {}  # noqa: RUF012  (never written to)
    bins: Bins | None = None


@dataclass(frozen=True)
class Step(ABC):
    """One change of a release. `str(step)` gives text that `standout.step` reads."""

    name: ClassVar[str]
    syntax: ClassVar[str]
    """How its parameters are written."""
    summary: ClassVar[str]
    """Its effect in one line."""
    parsers: ClassVar[tuple[Callable[[str], Any], ...]] = ()
    """One function for each parameter that turns its word into a value."""

    @abstractmethod
    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        """Apply the step to a draft.

        Parameters
        ----------
        draft : Draft
            The release as the steps before left it.
        noise : StepNoise
            Random draws of this step.
        progress : callable, optional
            Called with (stage, done, total).

        Returns
        -------
        StepResult
            The next draft, further counts for the report of the step, and bins if it made any.

        Raises
        ------
        ParameterError
            If the step does not fit the release.
        """

    def noise(self, report: StepReport) -> ReleaseNoise:
        """What the step did to entries, as far as its parameters and its published report say.

        Attacks that know the steps take it into account: see `Likelihood`. A step of your own that adds noise
        should override it, or the risk is understated.

        Parameters
        ----------
        report : StepReport
            The report of the step.

        Returns
        -------
        ReleaseNoise
            Default: none. Facts about removed items say nothing and need no noise.
        """
        return ReleaseNoise()

    def parameter_words(self) -> tuple[str, ...]:
        """Parameters as words that `from_words` reads.

        Returns
        -------
        tuple of str
            The words.
        """
        return tuple(parameter_text(getattr(self, field.name)) for field in fields(self))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        """Make the step with these parameters.

        Parameters
        ----------
        *words : str
            Parameters in the syntax that `standout sanitize --list-steps` shows.

        Returns
        -------
        Step
            The step.

        Raises
        ------
        ParameterError
            If a word is missing, not allowed or one too many.
        """
        required = sum(field.default is MISSING for field in fields(cls))
        if not required <= len(words) <= len(cls.parsers):
            raise cls._syntax_error()
        return cls(*(parse(word) for parse, word in zip(cls.parsers, words, strict=False)))

    def __str__(self) -> str:
        return shlex.join([self.name, *self.parameter_words()])

    @classmethod
    def _syntax_error(cls) -> ParameterError:
        return ParameterError(f"write it as: {cls.name} {cls.syntax}")

    def _require(self, is_present: bool, what: str) -> None:
        if not is_present:
            raise ParameterError(f"{self}: the release has no {what}")

    def _require_records(self, draft: Draft, least: int) -> None:
        if draft.n_records < least:
            raise ParameterError(f"{self}: the release has {draft.n_records:,} records, fewer than {least:,}")

    def _set(self, **checked: Any) -> None:
        """Set parameters of a frozen dataclass to their checked values."""
        for name, parameter in checked.items():
            object.__setattr__(self, name, parameter)


def parameter_text(parameter: Any) -> str:
    """Text of a parameter: whole numbers without a point, None as "none"."""
    if isinstance(parameter, float) and parameter.is_integer() and abs(parameter) < 1e15:
        return str(int(parameter))
    return "none" if parameter is None else str(parameter)


def number(word: str) -> float:
    """Number that a word spells; an int if it is written without a point."""
    try:
        return int(word) if word.lstrip("+-").isdecimal() else float(word)
    except ValueError:
        raise ParameterError(f"expected a number, got {word!r}") from None


def number_or_none(word: str) -> float | None:
    """Number that a word spells, or None for "none"."""
    return None if word == "none" else number(word)


def check_positive(name: str, given: Any, most: float = math.inf) -> float:
    """Check for a finite number > 0 and at most `most`."""
    if not is_number(given) or not 0 < given <= min(most, sys.float_info.max):
        limit = "" if most == math.inf else f" and ≤ {most:,g}"
        raise ParameterError(f"{name} must be a number > 0{limit}, got {given!r}")
    return float(given)


def check_share(name: str, given: Any, allow_one: bool = False) -> float:
    """Check for a number above 0 and below 1, or at most 1 if `allow_one`."""
    if not is_number(given) or not 0 < given <= 1 or (given == 1 and not allow_one):
        limit = "at most" if allow_one else "below"
        raise ParameterError(f"{name} must be above 0 and {limit} 1, got {given!r}")
    return float(given)


def is_number(given: Any) -> bool:
    """Whether this is a real number and not a bool."""
    return isinstance(given, Real) and not isinstance(given, bool)
