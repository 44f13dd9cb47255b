"""What is known of somebody, as it is typed: TITLE=VALUE@DATE, 200±50%, 2004-01-01±30."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple

from standout.core.errors import NotFoundError, ParameterError
from standout.facts import Aux, Fact, parse_time, parse_value
from standout.release.catalogue import Catalogue
from standout.release.model import Release

__all__ = ["Named", "Question", "Reading", "joined_of", "length_of", "readings"]

ABOUT = r"\s*(?:±|\+/?-)\s*"
AROUND = re.compile(rf"(\d{{1,9}})(?:{ABOUT}(\d{{1,9}}(?:\.\d{{1,9}})?)\s*(%?))?")
BETWEEN = re.compile(r"(\d{1,9})\s*[-–]\s*(\d{1,9})")
SINCE = re.compile(rf"(\S+?)(?:{ABOUT}(\d{{1,6}}))?")
DATE_LIKE = re.compile(r"\s*\d[\d\s:./T-]*")
FORM = "ITEM, ITEM=VALUE, ITEM@DATE or ITEM=VALUE@DATE"


class Named(NamedTuple):
    """A fact, the name that its item was given, and the item's code; None if the release has no such item."""

    name: str
    code: int | None
    fact: Fact


class Reading(NamedTuple):
    """One way to read what was typed; a part that is not there is None."""

    name: str
    value: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Question:
    """Everything that was said to be known, as far as it can be understood without the release."""

    knows: tuple[str, ...] = ()
    read: Aux = field(default_factory=lambda: Aux([]))
    length: tuple[int, int] | None = None
    joined: tuple[date, date] | None = None
    allow_unknown: bool = False

    @classmethod
    def of(
        cls,
        knows: Sequence[str] = (),
        aux: Path | None = None,
        length: str | None = None,
        joined: str | None = None,
        allow_unknown: bool = False,
    ) -> "Question":
        read = Aux([]) if aux is None else Aux.read(aux)
        if not knows and not read:
            raise ParameterError(f"nothing is known: say --knows {FORM}, or --aux FILE with such facts")
        within = None if length is None else length_of(length)
        return cls(tuple(knows), read, within, None if joined is None else joined_of(joined), allow_unknown)

    def named(self, release: Release) -> tuple[Named, ...]:
        """Each fact with the item that it is about: what was typed, then what was read.

        A typed name that no item has, but others nearly have, is taken for a slip of the keyboard.
        """
        catalogue = Catalogue(release)
        typed = [_understood(catalogue, text, self.allow_unknown) for text in self.knows]
        read = [_about(release, fact.item, catalogue.find(fact.item), fact) for fact in self.read]
        _refuse_twice(catalogue, typed + read)
        return (*typed, *read)

    def aux(self, facts: Sequence[Named]) -> Aux:
        """The facts as an attack takes them."""
        return Aux([named.fact for named in facts], self.length, self.joined)


def readings(text: str) -> Iterator[Reading]:
    """The ways to read a text, those with the longest names first: a title may hold = and @ itself.

    >>> [reading.name for reading in readings("E=mc2=4@2005-03-01")]
    ['E=mc2=4@2005-03-01', 'E=mc2=4', 'E=mc2', 'E=mc2']
    """
    ways = [Reading(text)]
    head, at, time = text.rpartition("@")
    if at:
        ways.append(Reading(head, None, time))
        name, equals, value = head.rpartition("=")
        ways += [Reading(name, value, time)] if equals else []
    name, equals, value = text.rpartition("=")
    ways += [Reading(name, value)] if equals else []
    return iter(sorted(ways, key=lambda way: -len(way.name)))


def length_of(text: str) -> tuple[int, int]:
    """The lowest and the highest length.

    >>> length_of("200±50%"), length_of("200+-50"), length_of("100-300"), length_of("7")
    ((100, 300), (150, 250), (100, 300), (7, 7))
    """
    if ends := BETWEEN.fullmatch(text.strip()):
        low, high = int(ends[1]), int(ends[2])
    elif around := AROUND.fullmatch(text.strip()):
        middle, share = int(around[1]), Fraction(around[2] or 0)
        reach = middle * share / 100 if around[3] else share
        low, high = max(ceil(middle - reach), 0), floor(middle + reach)
    else:
        low, high = 1, 0
    if low > high:
        raise ParameterError(f"--length is written like 200±50%, 200±50 or 100-300, got {text!r}")
    return low, high


def joined_of(text: str) -> tuple[date, date]:
    """The earliest and the latest day.

    >>> joined_of("2004-01-31±30")
    (datetime.date(2004, 1, 1), datetime.date(2004, 3, 1))
    """
    try:
        since = SINCE.fullmatch(text.strip())
        if since is None:
            raise ValueError
        day, reach = date.fromisoformat(since[1]), timedelta(days=int(since[2] or 0))
        return day - reach, day + reach
    except (ValueError, OverflowError):
        raise ParameterError(f"--joined is written like 2004-01-01±30, in days, got {text!r}") from None


def _understood(catalogue: Catalogue, text: str, allow_unknown: bool) -> Named:
    ways = list(readings(text))
    for way in ways:
        code = _found(catalogue, way.name)
        if code is not None:
            return _complete(catalogue.release, way, code, allow_unknown)
    way = next(way for way in reversed(ways) if _reads(catalogue.release, way))
    if not way.name.strip():
        raise ParameterError(f"a fact is written as {FORM}, got {text!r}")
    if not allow_unknown and (close := catalogue.suggestions(way.name)):
        raise NotFoundError(
            f"no item is called {way.name!r}: did you mean {', '.join(close)}? "
            f"--allow-unknown takes it for an item that the release does not have"
        )
    return _complete(catalogue.release, way, None, allow_unknown)


def _found(catalogue: Catalogue, name: str) -> int | None:
    code = catalogue.find(name)
    return catalogue.find(name.strip()) if code is None else code


def _complete(release: Release, way: Reading, code: int | None, allow_unknown: bool) -> Named:
    return _about(release, way.name, code, Fact(way.name, _value(release, way, allow_unknown), _time(way)))


def _about(release: Release, name: str, code: int | None, fact: Fact) -> Named:
    """The fact with its item's id for a name, so that no attack has to look for it once more."""
    return Named(name, code, fact if code is None else replace(fact, item=release.items[code]))


def _refuse_twice(catalogue: Catalogue, facts: list[Named]) -> None:
    seen = set()
    for name, code, _ in facts:
        if (name if code is None else code) in seen:
            label = repr(name) if code is None else catalogue.label(code)
            raise ParameterError(f"two facts are about {label}: say everything known of it in one")
        seen.add(name if code is None else code)


def _reads(release: Release, way: Reading) -> bool:
    """Whether the parts behind the name are a value and a date, or a slip in a date."""
    try:
        _value(release, way, allow_unknown=False)
        return way.time is None or DATE_LIKE.fullmatch(way.time) is not None or _time(way) is not None
    except ParameterError:
        return False


def _value(release: Release, way: Reading, allow_unknown: bool) -> float | str | None:
    if way.value is None:
        return None
    if isinstance(release.levels, tuple):
        if way.value not in release.levels and not allow_unknown:
            raise ParameterError(f"the release has no value {way.value!r}; --allow-unknown keeps it")
        return way.value
    try:
        value = parse_value(way.value)
    except ValueError:
        value = None
    if not isinstance(value, float):
        raise ParameterError(f"the value of {way.name!r} must be a number, got {way.value!r}")
    return value


def _time(way: Reading) -> date | None:
    if way.time is None:
        return None
    try:
        time = parse_time(way.time)
    except ValueError:
        time = None
    if time is None:
        raise ParameterError(f"a date is written like 2005-03-01 or 2005-03-01T20:15, got {way.time!r}")
    return time
