"""Known facts as they are typed: TITLE=VALUE@DATE, Brazil=4±1@2005-03-01±14?, 200±50%, 2004-01-01±30."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple, TypeVar

from standout.core.errors import NotFoundError, ParameterError
from standout.data.release import Release
from standout.data.search import Catalogue
from standout.know.facts import DOUBTFUL, Aux, Fact, is_error, parse_time, parse_value

T = TypeVar("T")
ABOUT = r"\s*(?:±|\+/?-)\s*"
AROUND = re.compile(rf"(\d{{1,9}})(?:{ABOUT}(\d{{1,9}}(?:\.\d{{1,9}})?)\s*(%?))?")
BETWEEN = re.compile(r"(\d{1,9})\s*[-–]\s*(\d{1,9})")
FROM_TO = re.compile(r"([\d-]+)\s*/\s*([\d-]+)")
SINCE = re.compile(rf"(\S+?)(?:{ABOUT}(\d{{1,6}}))?")
WITH_ERROR = re.compile(rf"(.*?\S){ABOUT}(\d{{1,9}}(?:\.\d{{1,9}})?)\s*", re.DOTALL)
DATE_LIKE = re.compile(rf"\s*\d[\d\s:./T-]*(?:{ABOUT}[\d.]*\s*)?")
FORM = "ITEM, ITEM=VALUE, ITEM@DATE or ITEM=VALUE@DATE"


class NamedFact(NamedTuple):
    """A fact, the name typed for its item, and the item's code, or None if the release lacks the item."""

    name: str
    code: int | None
    fact: Fact


class Reading(NamedTuple):
    """One way to split a typed fact; a missing part is None. A fact that ends with ? is doubtful."""

    name: str
    value: str | None = None
    time: str | None = None
    doubtful: bool = False


def facts_about_items(
    release: Release, knows: Sequence[str], aux_path: Path | None = None, allow_unknown: bool = False
) -> tuple[NamedFact, ...]:
    """Find the item of each fact: typed facts first, then those of the file.

    A typed name that resembles an item but matches none is treated as a typing error.
    """
    file_facts = () if aux_path is None else Aux.read(aux_path)
    if not knows and not file_facts:
        raise ParameterError(f"no known facts: give --knows {FORM}, or --aux FILE")
    catalogue, items = Catalogue.of(release), set[str | int]()
    facts = [_resolve_typed(catalogue, text, allow_unknown) for text in knows]
    facts += [NamedFact(fact.item, catalogue.find(fact.item), fact) for fact in file_facts]
    for name, code, _ in () if release.may_repeat else facts:
        item = name if code is None else code
        if item in items:
            label = repr(name) if code is None else catalogue.label(code)
            raise ParameterError(
                f"two facts are about {label}: combine them into one, because nobody has an item several times"
            )
        items.add(item)
    return tuple(
        each if each.code is None else each._replace(fact=replace(each.fact, item=release.items[each.code]))
        for each in facts
    )


def facts_about_columns(release: Release, knows: Sequence[str]) -> tuple[NamedFact, ...]:
    """Facts about the cells of a person's row, typed as COLUMN=VALUE."""
    if not knows:
        raise ParameterError("--knows is missing: name a column and its value, such as --knows age=34")
    facts: dict[str, NamedFact] = {}
    for typed in knows:
        name, _, value = typed.partition("=")
        if not name or not value:
            raise ParameterError("--knows must be COLUMN=VALUE for a table, such as age=34")
        if name in facts:
            raise ParameterError("--knows names a column twice: a person has one value of each")
        kind = release.column(name).kind
        try:
            cell = float(value) if kind == "number" else value
            fact = Fact(name, time=date.fromisoformat(value)) if kind == "date" else Fact(name, cell)
        except ValueError:
            wanted = "a number" if kind == "number" else "a date like 2005-03-01"
            raise ParameterError(f"--knows: the value of column {name!r} must be {wanted}") from None
        facts[name] = NamedFact(name, len(facts), fact)
    return tuple(facts.values())


def readings(text: str) -> list[Reading]:
    """All ways to split a text, longest name first: a title may itself contain =, @ and ?.

    >>> [reading.name for reading in readings("E=mc2=4@2005-03-01")]
    ['E=mc2=4@2005-03-01', 'E=mc2=4', 'E=mc2', 'E=mc2']
    >>> [reading.doubtful for reading in readings("Brazil=4?") if reading.name == "Brazil"]
    [False, True]
    """

    def splits(text: str, doubtful: bool) -> list[Reading]:
        found = [Reading(text, None, None, doubtful)]
        head, at, time = text.rpartition("@")
        if at:
            found.append(Reading(head, None, time, doubtful))
        for whole, day in ((head, time), (text, None)) if at else ((text, None),):
            name, equals, value = whole.rpartition("=")
            if equals:
                found.append(Reading(name, value, day, doubtful))
        return found

    found = splits(text, False)
    if text.rstrip().endswith("?"):
        found += splits(text.rstrip().removesuffix("?"), True)
    return sorted(found, key=lambda reading: -len(reading.name))


def parse_length(text: str) -> tuple[int, int]:
    """Return the smallest and the largest length.

    >>> parse_length("200±50%"), parse_length("200+-50"), parse_length("100-300"), parse_length("7")
    ((100, 300), (150, 250), (100, 300), (7, 7))
    """
    low, high = 1, 0
    if ends := BETWEEN.fullmatch(text.strip()):
        low, high = int(ends[1]), int(ends[2])
    elif around := AROUND.fullmatch(text.strip()):
        middle, share = int(around[1]), Fraction(around[2] or 0)
        reach = middle * share / 100 if around[3] else share
        low, high = max(ceil(middle - reach), 0), floor(middle + reach)
    if low > high:
        raise ParameterError(f"--length must be like 200±50%, 200±50 or 100-300, got {text!r}")
    return low, high


def parse_joined(text: str) -> tuple[date, date]:
    """Return the earliest and the latest day.

    >>> parse_joined("2004-01-31±30")
    (datetime.date(2004, 1, 1), datetime.date(2004, 3, 1))
    >>> parse_joined("2004-01-01/2004-03-01") == parse_joined("2004-01-31±30")
    True
    """
    try:
        if between := FROM_TO.fullmatch(text.strip()):
            first, last = map(date.fromisoformat, between.groups())
        else:
            since = SINCE.fullmatch(text.strip())
            day, reach = (since[1], since[2]) if since else ("", None)
            middle, days = date.fromisoformat(day), timedelta(days=int(reach or 0))
            first, last = middle - days, middle + days
        if first > last:
            raise ValueError
    except (ValueError, OverflowError):
        raise ParameterError(
            "--joined must be a date with days, like 2004-01-01±30, or two dates, like "
            f"2004-01-01/2004-02-28, got {text!r}"
        ) from None
    return first, last


def _resolve_typed(catalogue: Catalogue, text: str, allow_unknown: bool) -> NamedFact:
    release, splits = catalogue.release, readings(text)
    for reading in splits:
        code = catalogue.find(reading.name)
        code = catalogue.find(reading.name.strip()) if code is None else code
        if code is not None:
            same = [split for split in splits if split.name.strip() == reading.name.strip()]
            best = next((split for split in same if _is_plausible(release, split)), reading)
            return NamedFact(best.name, code, _fact(release, best, allow_unknown))
    reading = next(split for split in reversed(splits) if _is_plausible(release, split))
    if not reading.name.strip():
        raise ParameterError(f"--knows must be {FORM}, got {text!r}")
    if not allow_unknown and (close := catalogue.suggestions(reading.name)):
        raise NotFoundError(
            f"no item is called {reading.name!r}: did you mean {', '.join(close)}? "
            "Use --allow-unknown if the release does not have the item"
        )
    return NamedFact(reading.name, None, _fact(release, reading, allow_unknown))


def _is_plausible(release: Release, reading: Reading) -> bool:
    """Whether the parts after the name are a value and a date, or a mistyped date."""
    is_date = reading.time is not None and DATE_LIKE.fullmatch(reading.time) is not None
    try:
        _fact(release, reading._replace(name="any", time=None if is_date else reading.time), allow_unknown=False)
    except ParameterError:
        return False
    return True


def _fact(release: Release, reading: Reading, allow_unknown: bool) -> Fact:
    value: float | str | None = reading.value
    time, value_error, time_error = None, None, None
    if reading.value is not None and isinstance(release.levels, tuple):
        if reading.value not in release.levels and not allow_unknown:
            raise ParameterError(f"the release has no value {reading.value!r}: --allow-unknown accepts it")
    elif reading.value is not None:
        value, value_error = _with_error(reading.value, parse_value)
        if not isinstance(value, float):
            raise ParameterError(f"the value of {reading.name!r} must be a number, got {reading.value!r}")
    if reading.time is not None:
        time, time_error = _with_error(reading.time, parse_time)
        if time is None or not (time_error is None or is_error("time_error", time_error)):
            raise ParameterError(
                "a date must be like 2005-03-01 or 2005-03-01T20:15, perhaps with its error in days "
                f"(2005-03-01±14), got {reading.time!r}"
            )
    return Fact(reading.name, value, time, value_error, time_error, DOUBTFUL if reading.doubtful else None)


def _with_error(text: str, parse: Callable[[str], T]) -> tuple[T | None, float | None]:
    """A value or a date, None if it is none, and its error.

    >>> _with_error("4±1", float), _with_error("2005-03-01 +- 14", str), _with_error("-1e3", float)
    ((4.0, 1.0), ('2005-03-01', 14.0), (-1000.0, None))
    """
    match = WITH_ERROR.fullmatch(text.strip())
    try:
        return parse(match[1] if match else text), float(match[2]) if match else None
    except ValueError:
        return None, None
