"""A step: what it is called, its parameters as words, and what applying it gives."""

import math
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.sanitized import Bins
from standout.sanitizing.draft import Draft
from standout.sanitizing.step_noise import Noise

__all__ = ["Step", "StepResult", "number", "number_or_none", "portion", "positive", "text"]


class StepResult(NamedTuple):
    """What a step made: the next draft, what else is to be told of it, and its bins where it has some."""

    draft: Draft
    counts: dict[str, float] = {}  # noqa: RUF012  (never written to)
    bins: Bins | None = None


@dataclass(frozen=True)
class Step(ABC):
    """One change of a release. `str(step)` are words that `standout.step` understands."""

    name: ClassVar[str]
    syntax: ClassVar[str]
    """How its parameters are written."""
    summary: ClassVar[str]
    """What it does, in a line."""
    parsers: ClassVar[tuple[Callable[[str], Any], ...]] = ()
    """What makes a parameter of each word."""

    @abstractmethod
    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        """The draft after this step."""

    def parameter_words(self) -> tuple[str, ...]:
        """The parameters as words."""
        return tuple(text(getattr(self, each.name)) for each in fields(self))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        """The step with these parameters."""
        needed = sum(each.default is MISSING for each in fields(cls))
        if not needed <= len(words) <= len(cls.parsers):
            raise ParameterError(f"written like this: {cls.name} {cls.syntax}")
        return cls(*(parse(word) for parse, word in zip(cls.parsers, words, strict=False)))

    def __str__(self) -> str:
        return shlex.join([self.name, *self.parameter_words()])

    def _needs(self, there: bool, what: str) -> None:
        if not there:
            raise ParameterError(f"{self}: the release has no {what}")

    def _set(self, **checked: Any) -> None:
        for name, parameter in checked.items():
            object.__setattr__(self, name, parameter)


def text(parameter: Any) -> str:
    """A parameter as a word: whole numbers without a point, None as none."""
    if isinstance(parameter, float) and parameter.is_integer() and abs(parameter) < 1e15:
        return str(int(parameter))
    return "none" if parameter is None else str(parameter)


def number(word: str) -> float:
    """A word as a number, whole if it is written so."""
    try:
        return int(word) if word.lstrip("+-").isdecimal() else float(word)
    except ValueError:
        raise ParameterError(f"a number is needed, got {word!r}") from None


def number_or_none(word: str) -> float | None:
    """The same; the word none is None."""
    return None if word == "none" else number(word)


def positive(name: str, given: Any, most: float = math.inf) -> float:
    """A finite number above 0, or an error."""
    if not _is_number(given) or not 0 < given <= min(most, sys.float_info.max):
        limit = "" if most == math.inf else f" and ≤ {most:,g}"
        raise ParameterError(f"{name} must be a number > 0{limit}, got {given!r}")
    return float(given)


def portion(name: str, given: Any, whole: bool = False) -> float:
    """A share above 0 and below 1 (or up to 1 if the whole is a share too), or an error."""
    if not _is_number(given) or not 0 < given <= 1 or (given == 1 and not whole):
        raise ParameterError(f"{name} must be above 0 and {'at most' if whole else 'below'} 1, got {given!r}")
    return float(given)


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)
