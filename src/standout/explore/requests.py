"""What the page may ask, typed and checked."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeVar

import standout as so
from standout.core.json_files import Json

# Strict reading of JSON: no NaN, no repeated or unknown names, no unpaired surrogates, checked types.


T = TypeVar("T")


class RequestError(Exception):
    """A request that is refused with an HTTP status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


LONGEST_TEXT = 1000
"""Largest number of characters of an id, a name or a value."""


def parse_json(body: bytes) -> "Fields":
    """Parse the body of a request, which must be one JSON object.

    >>> parse_json(b'{"seed": 7}').whole("seed", 0, 9)
    7
    """

    def refuse_constant(name: str) -> float:
        raise ValueError(name)

    def unique_names(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        if len(content := dict(pairs)) < len(pairs):
            raise ValueError("a name is repeated")
        return content

    try:
        content = json.loads(body.decode("utf-8"), parse_constant=refuse_constant, object_pairs_hook=unique_names)
    except (ValueError, RecursionError):  # a UnicodeDecodeError and a JSONDecodeError are ValueErrors
        raise RequestError(400, "The body must be valid JSON in UTF-8 with finite numbers.") from None
    return Fields.of("the body", content)


class Fields:
    """The members of a JSON object. Each is taken once."""

    def __init__(self, content: dict[str, Json], where: str) -> None:
        self.content = dict(content)
        self.where = where

    @classmethod
    def of(cls, where: str, content: Json) -> "Fields":
        """The members of a value that must be an object."""
        if not isinstance(content, dict):
            raise RequestError(400, f"{capital(where)} must be a JSON object.")
        return cls(content, where)

    def read(self, read: "Callable[[Fields], T]") -> T:
        """What is read from the members; refuses members that are not."""
        result = read(self)
        if self.content:
            raise RequestError(400, f"{capital(self.where)} has {len(self.content)} unknown members.")
        return result

    def take(self, name: str, default: Json = None) -> Json:
        """A member of any type."""
        return self.content.pop(name, default)

    def flag(self, name: str, default: bool = False) -> bool:
        """A member that is true or false."""
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A member that is a whole number."""
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self._wrong(name, f"a whole number from {low} to {high}")
        return value

    def text(self, name: str) -> str:
        """A member that is a text which is not empty."""
        value = self.take(name)
        if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT or not _is_unicode(value):
            raise self._wrong(name, f"a text of 1 to {LONGEST_TEXT} characters")
        return value

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """A member that is one of a few words."""
        value = self.take(name, default)
        if not isinstance(value, str) or value not in choices:
            raise self._wrong(name, f"one of {', '.join(choices)}")
        return value

    def choices(self, name: str, choices: Sequence[str]) -> tuple[str, ...]:
        """A member that is a list of different words, at least one; default: all."""
        values = self.take(name, list(choices))
        valid = isinstance(values, list) and values and all(value in choices for value in values)
        if not (valid and isinstance(values, list) and len({*map(str, values)}) == len(values)):
            raise self._wrong(name, f"a list of {' and '.join(choices)}")
        return tuple(map(str, values))

    def error(self, name: str, most: float = 1e9) -> float | None:
        """A member that is a number from 0 to `most`, or null."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= _finite(value) <= most:
            raise self._wrong(name, f"a number from 0 to {most:,.0f}, or null")
        return float(value)

    def value(self, name: str) -> float | str | None:
        """A member that is a finite number, a text or null."""
        value = self.take(name)
        if value is None or (isinstance(value, str) and len(value) <= LONGEST_TEXT and _is_unicode(value)):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(_finite(value)):
            return float(value)
        raise self._wrong(name, "a number, a text or null")

    def moment(self, name: str) -> date | None:
        """A member that is a date, a date with a time, or null."""
        value = self.take(name)
        return None if value is None else self._moment(name, value)

    def dates(self, name: str) -> tuple[date, date] | None:
        """A member that is a pair of dates in order, or null."""
        return self._pair(name, self._moment, "two dates in order, or null")

    def wholes(self, name: str) -> tuple[int, int] | None:
        """A member that is a pair of whole numbers in order, or null."""
        return self._pair(name, self._whole, "two whole numbers in order, or null")

    def items(self, name: str, most: int, default: Json = None) -> list[Json]:
        """A member that is a list of limited length."""
        value = self.take(name, default)
        if not isinstance(value, list) or len(value) > most:
            raise self._wrong(name, f"a list of at most {most}")
        return value

    def _pair(self, name: str, read: Callable[[str, Json], T], allowed: str) -> tuple[T, T] | None:
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2:
            raise self._wrong(name, allowed)
        low, high = (read(name, end) for end in value)
        if type(low) is not type(high) or low > high:  # type: ignore[operator]
            raise self._wrong(name, allowed)
        return low, high

    def _moment(self, name: str, value: Json) -> date:
        try:
            if not isinstance(value, str) or not 10 <= len(value) <= 19:
                raise ValueError
            moment = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
            if isinstance(moment, datetime) and moment.tzinfo is not None:
                raise ValueError
            return moment
        except ValueError:
            raise self._wrong(name, "a date like 2005-03-01 or 2005-03-01T20:15, without a zone") from None

    def _whole(self, name: str, value: Json) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
            raise self._wrong(name, "two whole numbers in order, or null")
        return value

    def _wrong(self, name: str, allowed: str) -> RequestError:
        return RequestError(400, f"“{name}” of {self.where} must be {allowed}.")


def _finite(value: float) -> float:
    """The number, or infinity if it is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _is_unicode(text: str) -> bool:
    """Whether the text can be written in UTF-8: JSON allows halves of surrogate pairs."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def capital(text: str) -> str:
    """The text with a capital letter at its beginning, as a sentence has it."""
    return text[:1].upper() + text[1:]


MOST_FACTS, MOST_SHOWN = 40, 100
LARGEST_SEED = 2**53 - 1
"""Larger whole numbers are not exact in JavaScript."""
ATTACKS = ("likelihood", "paper")
FORMATS = ("facts.csv", "lineup.csv", "json")
MOST_DAYS = 1000
"""Largest error of a date: more is as good as no date, and takes seconds on data whose dates were changed."""
DOUBT = 0.5
"""Probability that a fact marked as doubtful is wrong."""


@dataclass(frozen=True, slots=True)
class TypedFact:
    """A fact as the page states it; None: unknown, or for errors: as the attack assumes."""

    item: str
    value: float | str | None = None
    value_error: float | None = None
    time: date | None = None
    time_error: float | None = None
    doubtful: bool = False

    @classmethod
    def read(cls, fields: Fields) -> "TypedFact":
        """Take a fact."""
        return cls(
            item=fields.text("item"),
            value=fields.value("value"),
            value_error=fields.error("value_error"),
            time=fields.moment("time"),
            time_error=fields.error("time_error", MOST_DAYS),
            doubtful=fields.flag("doubtful"),
        )


@dataclass(frozen=True, slots=True)
class LineupRequest:
    """POST /api/lineup: the known facts, and what to compute.

    `in_data` says that the person is known to be in the data.
    """

    facts: tuple[TypedFact, ...]
    length: tuple[int, int] | None
    joined: tuple[date, date] | None
    attacks: tuple[str, ...]
    top: int
    chosen: int
    show_ids: bool
    what_if: bool
    in_data: bool = False

    @classmethod
    def read(cls, fields: Fields) -> "LineupRequest":
        """Take the request."""
        facts = fields.items("facts", MOST_FACTS, [])
        return cls(
            facts=tuple(Fields.of(f"fact {i}", fact).read(TypedFact.read) for i, fact in enumerate(facts, 1)),
            length=fields.wholes("length"),
            joined=fields.dates("joined"),
            attacks=fields.choices("attacks", ATTACKS),
            top=fields.whole("top", 1, MOST_SHOWN, 20),
            chosen=fields.whole("chosen", 0, MOST_SHOWN - 1, 0),
            show_ids=fields.flag("show_ids"),
            what_if=fields.flag("what_if"),
            in_data=fields.flag("in_data"),
        )

    @property
    def aux(self) -> so.Aux:
        """The facts in the form that an attack takes."""
        return so.Aux([known_fact(fact) for fact in self.facts], self.length, self.joined)


def known_fact(fact: TypedFact) -> so.Fact:
    """The fact in the library's form; an error of something unknown or of a category does not count."""
    return so.Fact(
        fact.item,
        fact.value,
        fact.time,
        value_error=None if fact.value is None or isinstance(fact.value, str) else fact.value_error,
        time_error=None if fact.time is None else fact.time_error,
        doubt=DOUBT if fact.doubtful else None,
    )


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """POST /api/export: a lineup request and a format."""

    lineup: LineupRequest
    format: str

    @classmethod
    def read(cls, fields: Fields) -> "ExportRequest":
        """Take the request."""
        form = fields.choice("format", FORMATS)
        return cls(LineupRequest.read(fields), form)


@dataclass(frozen=True, slots=True)
class DealRequest:
    """POST /api/play: the adversary, the seed that draws the target, and how many facts to deal."""

    adversary: str
    seed: int
    facts: int

    @classmethod
    def read(cls, fields: Fields) -> "DealRequest":
        """Take the request."""
        return cls(
            adversary=fields.text("adversary"),
            seed=fields.whole("seed", 0, LARGEST_SEED),
            facts=fields.whole("facts", 0, MOST_FACTS, 1),
        )


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """POST /api/reveal: the play, the attack that guesses, and what to show of the target."""

    deal: DealRequest
    attack: str
    show_ids: bool
    entries: bool

    @classmethod
    def read(cls, fields: Fields) -> "RevealRequest":
        """Take the request."""
        return cls(
            deal=DealRequest.read(fields),
            attack=fields.choice("attack", ATTACKS, ATTACKS[0]),
            show_ids=fields.flag("show_ids"),
            entries=fields.flag("entries"),
        )
