"""What the page may ask: requests as dataclasses whose fields say what their members may be, and answers as JSON."""

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
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
DOUBT = 0.5
"""Probability that a fact marked as doubtful is wrong."""


class RequestError(Exception):
    """A request that is refused with an HTTP status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def parse_json(body: bytes, kind: type[T]) -> T:
    """Parse the body of a request, one JSON object: no NaN, no repeated names.

    >>> parse_json(b'{"adversary": "colleague", "seed": 7}', DealRequest)
    DealRequest(adversary='colleague', seed=7, facts=1)
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
    return _parse(content, kind, "the body")


def _parse(content: Json, kind: type[T], where: str) -> T:
    """The JSON object as a dataclass with the same members."""
    if not isinstance(content, dict):
        raise RequestError(400, f"{capital(where)} must be a JSON object.")
    members: dict[str, Any] = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    if unknown := content.keys() - members.keys():
        raise RequestError(400, f"{capital(where)} has {len(unknown)} unknown members.")
    values = {}
    for name, each in members.items():
        if name in content or each.default is MISSING:
            try:
                values[name] = each.metadata["read"](content.get(name))
            except ValueError:
                raise RequestError(400, f"“{name}” of {where} must be {each.metadata['allowed']}.") from None
    return kind(**values)


def to_json(answer: object, indent: int | None = None) -> bytes:
    """The answer in JSON; numbers that are not finite become null.

    >>> to_json({"before": 9.0, "left": float("inf")})
    b'{"before": 9.0, "left": null}'
    """

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(member) for name, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(member) for member in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    text = json.dumps(plain(answer), ensure_ascii=False, allow_nan=False, indent=indent, default=date.isoformat)
    return text.encode("utf-8", "replace")


def capital(text: str) -> str:
    """The text with a capital letter at its beginning, as a sentence has it."""
    return text[:1].upper() + text[1:]


# Members: what is allowed, and a function that reads it or raises a ValueError. Without a default, one is required.


def _member(allowed: str, read: Callable[[Any], Any], default: Any = MISSING) -> Any:
    return field(default=default, metadata={"allowed": allowed, "read": read})


def _valid(value: T, is_valid: object) -> T:
    if not is_valid:
        raise ValueError
    return value


def _flag() -> Any:
    return _member("true or false", lambda value: _valid(value, isinstance(value, bool)), False)


def _whole(low: int, high: int, default: Any = MISSING) -> Any:
    allowed = f"a whole number from {low} to {high}"
    return _member(allowed, lambda value: _valid(value, _is_whole(value, low, high)), default)


def _text() -> Any:
    allowed = f"a text of 1 to {LONGEST_TEXT} characters"
    return _member(allowed, lambda value: _valid(value, _is_text(value) and value != ""))


def _choice(choices: Sequence[str], default: Any = MISSING) -> Any:
    return _member(f"one of {', '.join(choices)}", lambda value: _valid(value, value in choices), default)


def _error(most: float = 1e9) -> Any:
    allowed = f"a number from 0 to {most:,.0f}, or null"
    return _member(allowed, lambda value: None if value is None else _number(value, 0, most), None)


def _pair(of: str, read: Callable[[Any], Any]) -> Any:
    def read_pair(value: Any) -> tuple[Any, Any] | None:
        if value is None:
            return None
        low, high = map(read, _valid(value, isinstance(value, list) and len(value) == 2))
        return _valid((low, high), type(low) is type(high) and low <= high)

    return _member(f"two {of} in order, or null", read_pair, None)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_text(value: object) -> bool:
    """Whether it is a text that can be written in UTF-8: JSON allows halves of surrogate pairs."""
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and not any("\ud800" <= c <= "\udfff" for c in value)


def _number(value: Any, low: float = -sys.float_info.max, high: float = sys.float_info.max) -> float:
    return float(
        _valid(value, isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high)
    )


def _moment(value: object) -> date:
    if not isinstance(value, str) or not 10 <= len(value) <= 19:
        raise ValueError
    moment = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
    return _valid(moment, not isinstance(moment, datetime) or moment.tzinfo is None)


def _facts(value: Any) -> tuple["TypedFact", ...]:
    facts = _valid(value, isinstance(value, list) and len(value) <= MOST_FACTS)
    return tuple(_parse(fact, TypedFact, f"fact {number}") for number, fact in enumerate(facts, 1))


def _attacks(value: Any) -> tuple[str, ...]:
    valid = isinstance(value, list) and value and all(name in ATTACKS for name in value)
    return tuple(_valid(value, valid and len({*value}) == len(value)))


@dataclass(frozen=True, slots=True)
class TypedFact:
    """A fact as the page states it; None: unknown, or for errors: as the attack assumes."""

    item: str = _text()
    value: float | str | None = _member(
        "a number, a text or null", lambda given: given if given is None or _is_text(given) else _number(given), None
    )
    value_error: float | None = _error()
    time: date | None = _member(  # noqa: RUF009 - it is a field
        "a date like 2005-03-01 or 2005-03-01T20:15, without a zone, or null",
        lambda given: None if given is None else _moment(given),
        None,
    )
    time_error: float | None = _error(MOST_DAYS)
    doubtful: bool = _flag()

    @property
    def known(self) -> so.Fact:
        """The fact in the library's form; an error of something unknown or of a category does not count."""
        value_error = None if self.value is None or isinstance(self.value, str) else self.value_error
        time_error = None if self.time is None else self.time_error
        return so.Fact(self.item, self.value, self.time, value_error, time_error, DOUBT if self.doubtful else None)


@dataclass(frozen=True, slots=True)
class LineupRequest:
    """POST /api/lineup: the known facts, and what to compute; `in_data`: the person is known to be in the data."""

    facts: tuple[TypedFact, ...] = _member(f"a list of at most {MOST_FACTS}", _facts, ())
    length: tuple[int, int] | None = _pair("whole numbers", lambda n: int(_valid(n, _is_whole(n, 0, 10**9 - 1))))
    joined: tuple[date, date] | None = _pair("dates", _moment)
    attacks: tuple[str, ...] = _member(f"a list of {' and '.join(ATTACKS)}", _attacks, ATTACKS)
    top: int = _whole(1, MOST_SHOWN, 20)
    chosen: int = _whole(0, MOST_SHOWN - 1, 0)
    show_ids: bool = _flag()
    what_if: bool = _flag()
    in_data: bool = _flag()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest(LineupRequest):
    """POST /api/export: a lineup request, and the form of the file."""

    format: str = _choice(FORMATS)


@dataclass(frozen=True, slots=True)
class DealRequest:
    """POST /api/play: the adversary, the seed that draws the target, and how many facts to deal."""

    adversary: str = _text()
    seed: int = _whole(0, LARGEST_SEED)
    facts: int = _whole(0, MOST_FACTS, 1)


@dataclass(frozen=True, slots=True)
class RevealRequest(DealRequest):
    """POST /api/reveal: the play, the attack that guesses, and what to show of the target."""

    attack: str = _choice(ATTACKS, ATTACKS[0])
    show_ids: bool = _flag()
    entries: bool = _flag()


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """POST /api/audit: an object without members."""
