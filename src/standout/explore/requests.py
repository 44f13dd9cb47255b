"""What the page may ask, typed and checked, and how answers become JSON."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

import standout as so
from standout.core.json_files import Json

T = TypeVar("T")
LONGEST_TEXT = 1000
"""Largest number of characters of an id, a name or a value."""
MOST_FACTS, MOST_SHOWN = 40, 100
LARGEST_SEED = 2**53 - 1
"""Larger whole numbers are not exact in JavaScript."""
ATTACKS = ("likelihood", "paper")
FORMATS = ("facts.csv", "lineup.csv", "json")
MOST_DAYS = 1000
"""Largest error of a date: more is as good as no date, and takes seconds on data whose dates were changed."""
DATES = "a date like 2005-03-01 or 2005-03-01T20:15, without a zone, or null"
DOUBT = 0.5
"""Probability that a fact marked as doubtful is wrong."""


class RequestError(Exception):
    """A request that is refused with an HTTP status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def parse_json(body: bytes) -> "Fields":
    """Parse the body of a request, one JSON object: no NaN, no repeated names.

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
    return Fields("the body", content)


def to_json(answer: object, indent: int | None = None) -> bytes:
    """The answer in JSON; numbers that are not finite become null.

    >>> to_json({"before": 9.0, "left": math.inf})
    b'{"before": 9.0, "left": null}'
    """

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(member) for name, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(member) for member in value]
        if isinstance(value, date):
            return value.isoformat()
        return None if isinstance(value, float) and not math.isfinite(value) else value

    text = json.dumps(plain(answer), ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "replace")


class Fields:
    """The members of a JSON object. Each is taken once, and what is left is refused."""

    def __init__(self, where: str, content: Json) -> None:
        if not isinstance(content, dict):
            raise RequestError(400, f"{capital(where)} must be a JSON object.")
        self.content, self.where = dict(content), where

    def read(self, read: "Callable[[Fields], T]") -> T:
        """What is read from the members; refuses members that are not."""
        result = read(self)
        if self.content:
            raise RequestError(400, f"{capital(self.where)} has {len(self.content)} unknown members.")
        return result

    def take(self, name: str, allowed: str, read: Callable[[Any], Any], default: Json = None) -> Any:
        """A member as `read` returns it; a ValueError says that it is not what is allowed."""
        try:
            return read(self.content.pop(name, default))
        except ValueError:
            raise RequestError(400, f"“{name}” of {self.where} must be {allowed}.") from None

    def flag(self, name: str) -> bool:
        """A member that is true or false."""
        return bool(self.take(name, "true or false", lambda value: _valid(value, isinstance(value, bool)), False))

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A member that is a whole number."""
        allowed = f"a whole number from {low} to {high}"
        return int(self.take(name, allowed, lambda value: _valid(value, _is_whole(value, low, high)), default))

    def text(self, name: str) -> str:
        """A member that is a text which is not empty."""
        allowed = f"a text of 1 to {LONGEST_TEXT} characters"
        return str(self.take(name, allowed, lambda value: _valid(value, _is_text(value) and value != "")))

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """A member that is one of a few words."""
        allowed = f"one of {', '.join(choices)}"
        return str(self.take(name, allowed, lambda value: _valid(value, value in choices), default))

    def error(self, name: str, most: float = 1e9) -> Any:
        """A member that is a number from 0 to `most`, or null."""
        allowed = f"a number from 0 to {most:,.0f}, or null"
        return self.take(name, allowed, lambda value: None if value is None else _number(value, 0, most))

    def pair(self, name: str, of: str, read: Callable[[Any], Any]) -> Any:
        """A member that is a pair of dates or whole numbers in order, or null."""

        def read_pair(value: Any) -> tuple[Any, Any] | None:
            if value is None:
                return None
            low, high = map(read, _valid(value, isinstance(value, list) and len(value) == 2))
            return _valid((low, high), type(low) is type(high) and low <= high)

        return self.take(name, f"two {of} in order, or null", read_pair)


def _valid(value: T, is_valid: object) -> T:
    if not is_valid:
        raise ValueError
    return value


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_text(value: object) -> bool:
    """Whether it is a text that can be written in UTF-8: JSON allows halves of surrogate pairs."""
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and not any("\ud800" <= c <= "\udfff" for c in value)


def _number(value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    try:
        number = float(_valid(value, isinstance(value, (int, float)) and not isinstance(value, bool)))
    except OverflowError:
        raise ValueError from None
    return _valid(number, math.isfinite(number) and low <= number <= high)


def _moment(value: object) -> date:
    if not isinstance(value, str) or not 10 <= len(value) <= 19:
        raise ValueError
    moment = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
    return _valid(moment, not isinstance(moment, datetime) or moment.tzinfo is None)


def capital(text: str) -> str:
    """The text with a capital letter at its beginning, as a sentence has it."""
    return text[:1].upper() + text[1:]


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

        def value(given: Any) -> float | str | None:
            return given if given is None or _is_text(given) else _number(given)

        return cls(
            value=fields.take("value", "a number, a text or null", value),
            value_error=fields.error("value_error"),
            time=fields.take("time", DATES, lambda given: None if given is None else _moment(given)),
            time_error=fields.error("time_error", MOST_DAYS),
            item=fields.text("item"),
            doubtful=fields.flag("doubtful"),
        )

    @property
    def known(self) -> so.Fact:
        """The fact in the library's form; an error of something unknown or of a category does not count."""
        value_error = None if self.value is None or isinstance(self.value, str) else self.value_error
        time_error = None if self.time is None else self.time_error
        return so.Fact(self.item, self.value, self.time, value_error, time_error, DOUBT if self.doubtful else None)


@dataclass(frozen=True, slots=True)
class LineupRequest:
    """POST /api/lineup: the known facts, and what to compute; `in_data`: the person is known to be in the data."""

    facts: tuple[TypedFact, ...]
    length: tuple[int, int] | None = None
    joined: tuple[date, date] | None = None
    attacks: tuple[str, ...] = ATTACKS
    top: int = 20
    chosen: int = 0
    show_ids: bool = False
    what_if: bool = False
    in_data: bool = False

    @classmethod
    def read(cls, fields: Fields) -> "LineupRequest":
        """Take the request."""

        def few(value: Any) -> list[Any]:
            return list(_valid(value, isinstance(value, list) and len(value) <= MOST_FACTS))

        def different(values: Any) -> tuple[str, ...]:
            valid = isinstance(values, list) and values and all(value in ATTACKS for value in values)
            return tuple(_valid(values, valid and len({*values}) == len(values)))

        def length(value: Any) -> int:
            return int(_valid(value, _is_whole(value, 0, 10**9 - 1)))

        facts = fields.take("facts", f"a list of at most {MOST_FACTS}", few, [])
        return cls(
            facts=tuple(Fields(f"fact {i}", fact).read(TypedFact.read) for i, fact in enumerate(facts, 1)),
            length=fields.pair("length", "whole numbers", length),
            joined=fields.pair("joined", "dates", _moment),
            attacks=fields.take("attacks", f"a list of {' and '.join(ATTACKS)}", different, list(ATTACKS)),
            top=fields.whole("top", 1, MOST_SHOWN, 20),
            chosen=fields.whole("chosen", 0, MOST_SHOWN - 1, 0),
            show_ids=fields.flag("show_ids"),
            what_if=fields.flag("what_if"),
            in_data=fields.flag("in_data"),
        )


@dataclass(frozen=True, slots=True)
class DealRequest:
    """POST /api/play: the adversary, the seed that draws the target, and how many facts to deal."""

    adversary: str
    seed: int
    facts: int

    @classmethod
    def read(cls, fields: Fields) -> "DealRequest":
        """Take the request."""
        seed, facts = fields.whole("seed", 0, LARGEST_SEED), fields.whole("facts", 0, MOST_FACTS, 1)
        return cls(fields.text("adversary"), seed, facts)


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """POST /api/reveal: the play, the attack that guesses, and what to show of the target."""

    deal: DealRequest
    attack: str = ATTACKS[0]
    show_ids: bool = False
    entries: bool = False

    @classmethod
    def read(cls, fields: Fields) -> "RevealRequest":
        """Take the request."""
        attack = fields.choice("attack", ATTACKS, ATTACKS[0])
        return cls(DealRequest.read(fields), attack, fields.flag("show_ids"), fields.flag("entries"))
