"""What a step is: its parameters, declared once, the draft that it makes of another, and how facts translate."""

import hashlib
import math
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import LARGEST, ParameterError, did_you_mean
from standout.core.progress import Progress
from standout.core.rng import generator, key
from standout.data.column import Column
from standout.data.labels import Bins, Labels, StepReport
from standout.know.sanitized import ReleaseNoise
from standout.sanitizing.draft import Draft

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class StepNoise:
    """Random numbers of one step on one draft; `purpose` is the number of the step, or what else is drawn.

    They are keyed by (seed, purpose, record id, item id), so that order and threads never matter. A key is a hash of an
    id under the seed: the noise of one record reveals nothing about another's. `hashes` has those of all labels so far.
    """

    seed: int
    draft: Draft
    purpose: tuple[object, ...]
    hashes: dict[str, Keys]

    @cached_property
    def record_keys(self) -> Keys:
        """A key for each record of the draft."""
        keys = self._hashes(self.draft.source.records, "record")
        return keys[self.draft.source_records] ^ key(self.seed, "sanitize", *self.purpose)

    @cached_property
    def item_keys(self) -> Keys:
        """A key for each item of the draft."""
        return self._hashes(self.draft.source.items, "item")[self.draft.source_items]

    def _hashes(self, labels: Labels, kind: str) -> Keys:
        if kind not in self.hashes:
            data, secret = labels.data.tobytes(), f"{self.seed} {kind}".encode()
            hashes = b"".join(
                hashlib.blake2b(data[low:high], digest_size=8, key=secret).digest()
                for low, high in pairwise(labels.offsets.tolist())
            )
            self.hashes[kind] = np.frombuffer(hashes, "<u8").astype(np.uint64)
        return self.hashes[kind]

    def rows(self) -> np.random.Generator:
        """Draws over the rows of a draft with columns, which are in the order of the original."""
        return generator(self.seed, "table step", *self.purpose)


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

    Attributes
    ----------
    name, syntax, summary
        Its name, how its parameters are written, and its effect in one line.
    about
        What a release must have, so that the step applies to it: "entries", "columns" or "records".
    """

    name: ClassVar[str]
    syntax: ClassVar[str]
    summary: ClassVar[str]
    about: ClassVar[Literal["entries", "columns", "records"]] = "entries"

    def __post_init__(self) -> None:
        for declared in fields(self):
            if rule := declared.metadata.get("rule"):
                object.__setattr__(self, declared.name, rule.check(declared.name, getattr(self, declared.name)))

    @abstractmethod
    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        """Apply the step to a draft; raises a ParameterError if it does not fit."""

    def noise(self, report: StepReport) -> ReleaseNoise:
        """What the step did to entries, as far as its parameters and its published report say."""
        return ReleaseNoise()

    def cell_noise(self, report: StepReport, columns: tuple[Column, ...]) -> dict[str, tuple[float, float]]:
        """By column, the probabilities that a cell was replaced by anybody's, and that it was emptied."""
        return {}

    @classmethod
    def from_words(cls, *words: str) -> Self:
        """Make the step with these parameters, in the syntax that `standout sanitize --list-steps` shows."""
        declared, given = fields(cls), list[Any](words)
        for place in (place for place, each in enumerate(declared) if each.metadata.get("several")):
            end = max(len(words) - len(declared) + 1 + place, place)
            given[place:end] = [tuple(words[place:end])]
        if not sum(each.default is MISSING for each in declared) <= len(given) <= len(declared):
            raise ParameterError(f"write it as: {cls.name} {cls.syntax}")
        return cls(*(each.metadata["read"](word) for each, word in zip(declared, given, strict=False)))

    def public_text(self) -> str:
        """The step as its published report shows it."""
        return str(self)

    def __str__(self) -> str:
        words = [self.name]
        for declared in fields(self):
            value = getattr(self, declared.name)
            if isinstance(value, bool):  # a flag is written as its name, or not at all
                words += [declared.name] * value
            else:
                words += map(parameter_text, value if isinstance(value, tuple) else (value,))
        return shlex.join(words)

    def _require(self, is_met: object, reason: str) -> None:
        if not is_met:
            raise ParameterError(f"{self}: {reason}")


# Parameters: how a word is read, and what is allowed.


@dataclass(frozen=True)
class Rule:
    """What a parameter must be: in words, as a test, the type that it gets, and the names that are allowed, if any."""

    words: str
    is_met: Callable[[Any], Any]
    convert: Callable[[Any], Any]
    names: tuple[str, ...] = ()

    def __or__(self, other: "Rule") -> "Rule":
        return Rule(
            f"{self.words}, or {other.words}",
            lambda given: self.is_met(given) or other.is_met(given),
            lambda given: (self if self.is_met(given) else other).convert(given),
            self.names + other.names,
        )

    def check(self, name: str, given: Any) -> Any:
        """The value of a parameter; a ParameterError if it is not allowed."""
        if self.is_met(given):
            return self.convert(given)
        is_long = isinstance(given, int) and given.bit_length() > MOST_BITS
        text = f"a number of {given.bit_length()} bits" if is_long else f"{given!r:.100}"
        raise ParameterError(f"{name} must be {self.words}, got {text}{did_you_mean(given, self.names)}")


MOST_BITS = 1024
"""Larger numbers are not shown."""


def number(word: str) -> float:
    """Number that a word spells; an int if it is written without a point."""
    try:
        return int(word) if word.lstrip("+-").isdecimal() else float(word)
    except ValueError:
        raise ParameterError(f"expected a number, got {word!r:.100}") from None


def word_or_number(word: str) -> float | str:
    """A word of letters as it is; a number otherwise."""
    return word if word.isalpha() else number(word)


def parameter(rule: Rule, read: Callable[[Any], Any] = number, default: Any = MISSING, several: bool = False) -> Any:
    """Declare a parameter of a step: what is allowed, how it is read, its default, and if it is several words."""
    return field(default=default, metadata={"rule": rule, "read": read, "several": several})


def parameter_text(value: Any) -> str:
    """Text of a parameter: whole numbers without a point, None as "none"."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "none" if value is None else str(value)


def is_finite(given: Any) -> bool:
    """Whether this is a number that a float can hold, and not a bool."""
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    return is_number and bool(abs(given) <= sys.float_info.max) and not math.isnan(given)


def whole(least: int, most: int = LARGEST) -> Rule:
    """A whole number from `least` to `most`."""

    def is_met(given: Any) -> bool:
        return isinstance(given, Integral) and not isinstance(given, bool) and least <= int(given) <= most

    return Rule(f"a whole number ≥ {least}{f' and ≤ {most:,}' * (most < LARGEST)}", is_met, int)


def positive(most: float = sys.float_info.max, below: float = math.inf) -> Rule:
    """A finite number above 0, at most `most`, and below `below`."""
    limit = f" and < {below:g}" if below < math.inf else f" and ≤ {most:,g}" * (most < sys.float_info.max)
    return Rule(f"a number > 0{limit}", lambda given: is_finite(given) and 0 < given <= most and given < below, float)


def one_of(*allowed: str) -> Rule:
    """One of these words."""
    return Rule(f"one of {', '.join(allowed)}", lambda given: isinstance(given, str) and given in allowed, str, allowed)


def text(words: str, is_met: Callable[[str], Any] = len) -> Rule:
    """Text, not empty if nothing else is required."""
    return Rule(words, lambda given: isinstance(given, str) and is_met(given), str)


def names_of(what: str, least: int = 1) -> Rule:
    """Different names, at least this number; a single one may be given as text."""

    def convert(given: Any) -> tuple[Any, ...]:
        return (given,) if isinstance(given, str) else tuple(given)

    def is_met(given: Any) -> bool:
        names = convert(given) if isinstance(given, (str, tuple, list)) else ("",)
        return all(isinstance(each, str) and each for each in names) and len(set(names)) == len(names) >= least

    return Rule(what, is_met, convert)
