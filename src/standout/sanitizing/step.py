"""What a step is: its name, its parameters as words, and the draft that it makes of another."""

import hashlib
import math
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator, key
from standout.data.column import Column
from standout.data.labels import Bins, Labels, StepReport
from standout.data.release import Release
from standout.know.sanitized import ReleaseNoise
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.entry_kernels import EntryStreams
from standout.sanitizing.level_change import LevelChange

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class NoiseKeys:
    """Keys of all records and items of a release under one seed.

    The random numbers of a step are keyed by (seed, number of the step, record id, item id), so that order and
    threads never matter. A record's key is a hash of its id under the seed: the noise of one record reveals
    nothing about the noise of another.
    """

    source: Release
    seed: int

    def __post_init__(self) -> None:
        check_seed(self.seed)

    @cached_property
    def records(self) -> Keys:
        """A key for each record."""
        return _hash_labels(self.source.records, self.seed, "record")

    @cached_property
    def items(self) -> Keys:
        """A key for each item."""
        return _hash_labels(self.source.items, self.seed, "item")


def _hash_labels(labels: Labels, seed: int, kind: str) -> Keys:
    data, secret = labels.data.tobytes(), f"{seed} {kind}".encode()
    hashes = b"".join(
        hashlib.blake2b(data[low:high], digest_size=8, key=secret).digest()
        for low, high in pairwise(labels.offsets.tolist())
    )
    return np.frombuffer(hashes, "<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class StepNoise:
    """Random numbers of one step on one draft; `purpose` is the number of the step, or what else is drawn."""

    keys: NoiseKeys
    draft: Draft
    purpose: tuple[object, ...]

    @cached_property
    def record_keys(self) -> Keys:
        """A key for each record of the draft."""
        return self.keys.records[self.draft.source_records] ^ key(self.keys.seed, "sanitize", *self.purpose)

    @cached_property
    def item_keys(self) -> Keys:
        """A key for each item of the draft."""
        return self.keys.items[self.draft.source_items]

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

    def rows(self) -> np.random.Generator:
        """Draws over the rows of a draft with columns, which are in the order of the original."""
        return generator(self.keys.seed, "table step", *self.purpose)


class StepResult(NamedTuple):
    """Result of a step: the next draft, further counts for its report, and its bins if it made any."""

    draft: Draft
    counts: dict[str, float] = {}  # noqa: RUF012  (never written to)
    bins: Bins | None = None


@dataclass(frozen=True)
class Step(ABC):
    """One change of a release. `str(step)` gives text that `standout.step` reads: its name, then words.

    A step of your own is a frozen dataclass with a `name` and an `apply`. If it adds noise to entries, it should
    override `noise`, or the risk is understated.
    """

    name: ClassVar[str]
    syntax: ClassVar[str]
    """How its parameters are written."""
    summary: ClassVar[str]
    """Its effect in one line."""
    about: ClassVar[Literal["entries", "columns", "records"]] = "entries"
    """What a release must have, so that the step applies to it."""
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

    def level_change(self, column: Column) -> LevelChange | None:
        """How the step maps the levels of a column, if it does so whatever the cells are.

        Parameters
        ----------
        column : Column
            Any column of the release.

        Returns
        -------
        LevelChange or None
            None if it is not about this column, or does not map levels.
        """
        return None

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

    def public_text(self) -> str:
        """The step as its published report shows it.

        Returns
        -------
        str
            Default: the same as `str(step)`.
        """
        return str(self)

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
        raise ParameterError(f"expected a number, got {word!r:.100}") from None


def number_or_none(word: str) -> float | None:
    """Number that a word spells, or None for "none"."""
    return None if word == "none" else number(word)


def check_positive(name: str, given: Any, most: float = sys.float_info.max) -> float:
    """Check for a finite number > 0 and at most `most`."""
    if not is_number(given) or not 0 < given <= most:
        limit = "" if most == sys.float_info.max else f" and ≤ {most:,g}"
        raise ParameterError(f"{name} must be a number > 0{limit}, got {given!r:.100}")
    return float(given)


def check_share(name: str, given: Any, allow_one: bool = False) -> float:
    """Check for a number above 0 and below 1, or at most 1 if `allow_one`."""
    if not is_number(given) or not 0 < given <= 1 or (given == 1 and not allow_one):
        limit = "at most" if allow_one else "below"
        raise ParameterError(f"{name} must be above 0 and {limit} 1, got {given!r:.100}")
    return float(given)


def is_number(given: Any) -> bool:
    """Whether this is a real number and not a bool."""
    return isinstance(given, Real) and not isinstance(given, bool)


def is_finite(given: Any) -> bool:
    """Whether this is a number that a float can hold."""
    return is_number(given) and bool(abs(given) <= sys.float_info.max) and not math.isnan(given)
