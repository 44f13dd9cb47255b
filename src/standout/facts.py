"""What is known of a person: facts, by hand or from a file, and the same as codes of a release."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError, SourceError
from standout.release.catalogue import Catalogue
from standout.release.model import Release

__all__ = ["Aux", "Fact", "KnownFacts", "encode_auxes", "facts_from_entries", "level_values", "repeat_bounds"]

ANY_LENGTH = (0, 2**62)
ANY_TIME = (-(2**62), 2**62)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing known of a person: an item by its id or title, and its value and time where they are known.

    >>> Fact("Brazil", value=4, time=date(2005, 3, 1))
    Fact(item='Brazil', value=4, time=datetime.date(2005, 3, 1))
    """

    item: str
    value: float | str | None = None
    time: date | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.item, str) or not self.item:
            raise ParameterError("a fact names its item by id or title, as text")
        object.__setattr__(self, "value", _checked_value(self.value))
        if not isinstance(self.time, (date, type(None))) or self.time != self.time:  # NaT is a date too
            raise ParameterError(f"a fact's time is a date or datetime, got {type(self.time).__name__}")


@dataclass(frozen=True, slots=True)
class Aux:
    """Everything known of a person  [the paper's aux = Aux(r)].

    `length` is the lowest and the highest number of items that the person's record may have, `joined` the
    earliest and the latest day that it may begin: candidates outside are removed.

    >>> aux = Aux([Fact("17", value=4), Fact("42")], length=(100, 300))
    >>> len(aux), aux.length
    (2, (100, 300))
    """

    facts: Sequence[Fact]
    length: tuple[int, int] | None = None
    joined: tuple[date, date] | None = None

    def __post_init__(self) -> None:
        facts = tuple(self.facts) if isinstance(self.facts, Iterable) else (None,)
        object.__setattr__(self, "facts", facts)
        if not all(isinstance(fact, Fact) for fact in facts):
            raise ParameterError("aux is made of facts: Aux([Fact(item, value, time), …])")
        names = [fact.item for fact in self.facts]
        if len(set(names)) < len(names):
            raise ParameterError("an item is named twice in aux: say everything known of it in one fact")
        _check_ends("length", self.length, Integral)
        _check_ends("joined", self.joined, date)

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    @classmethod
    def read(cls, path: str | Path) -> "Aux":
        """The facts in a CSV file: a column `item`, and `value` and `time` (ISO) where they are known.

        Empty cells are not known. A bad line is named by its number.
        """
        try:
            text = io.StringIO(Path(path).read_bytes().decode("utf-8-sig"), newline="")
            return cls(list(_facts(csv.DictReader(text, strict=True), path)))
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"{path} is not a CSV file in UTF-8") from error

    def unknown(self, release: Release) -> tuple[Fact, ...]:
        """The facts that name items which the release does not have."""
        catalogue = Catalogue(release)
        return tuple(fact for fact in self.facts if catalogue.find(fact.item) is None)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What is known of many people, as codes of one release.

    Person q owns the facts first[q] … first[q + 1]. `item` is an item's code, -1 if the release has no such
    item. `value` is a place in `values`, -1 where it is not known. `time` is a code of the release's clock,
    before 0 or past its end for times outside it; `timed` says where it is known. `length` and `joined` are
    the lowest and highest a candidate may have, `names` the words for unknown items.
    """

    first: Ints
    item: Ints
    value: Ints
    values: tuple[float | str, ...]
    time: Ints
    timed: NDArray[np.bool_]
    length: Ints
    joined: Ints
    filtered: bool = False
    names: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.first) - 1

    def select(self, query: Ints, fact: Ints, first: Ints) -> "KnownFacts":
        """Other people made of these: with the filters of `query` and the facts `fact`, from first[p] on."""
        names = (
            {at: self.names[i] for at, i in enumerate(fact.tolist()) if i in self.names} if self.names else {}
        )
        return KnownFacts(
            first, self.item[fact], self.value[fact], self.values, self.time[fact], self.timed[fact],
            self.length[query], self.joined[query], self.filtered, names,
        )  # fmt: skip

    def fact(self, release: Release, i: int) -> Fact:
        """The i-th fact in words."""
        item = release.items[self.item[i]] if self.item[i] >= 0 else self.names[i]
        value = None if self.value[i] < 0 else self.values[self.value[i]]
        return Fact(item, value, _moment(release, int(self.time[i])) if self.timed[i] else None)

    def aux(self, release: Release, q: int) -> Aux:
        """Everything known of the q-th person, in words."""
        facts = [self.fact(release, i) for i in range(self.first[q], self.first[q + 1])]
        shortest, longest = (int(end) for end in self.length[q])
        earliest, latest = (int(end) for end in self.joined[q])
        return Aux(
            facts,
            None if (shortest, longest) == ANY_LENGTH else (shortest, longest),
            None
            if (earliest, latest) == ANY_TIME
            else (_moment(release, earliest), _moment(release, latest)),
        )


def _checked_value(value: Any) -> float | str | None:
    """A fact's value, or an error: a number stays as it was given if it is Python's."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ParameterError(f"a fact's value is a number or text, got {type(value).__name__}")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ParameterError("a fact's value must be finite, or None where it is not known")
    return value if isinstance(value, (int, float)) else float(value)


class Written(float):
    """A number as it was written: where values are categories, 4.50 and 4.5 are two."""

    def __new__(cls, text: str) -> "Written":
        return super().__new__(cls, text)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _check_ends(name: str, ends: Any, kind: type) -> None:
    if ends is None:
        return
    fits = isinstance(ends, (tuple, list)) and len(ends) == 2 and all(isinstance(end, kind) for end in ends)
    fits = fits and not any(isinstance(end, bool) for end in ends)
    fits = fits and (kind is Integral or type(ends[0]) is type(ends[1]))
    if not fits or ends[0] > ends[1] or (kind is Integral and ends[0] < 0):
        what = "two whole numbers ≥ 0" if kind is Integral else "two dates"
        raise ParameterError(f"{name} is (lowest, highest), {what}, got {ends!r}")


def encode_auxes(release: Release, auxes: Iterable[Aux]) -> KnownFacts:
    """The facts as codes of the release. A value or time that the release has none of is not compared."""
    auxes = list(auxes)
    catalogue = Catalogue(release)
    facts = [fact for aux in auxes for fact in aux.facts]
    item = np.array([_code(catalogue, fact.item) for fact in facts], np.int64)
    first = offsets([len(aux) for aux in auxes])
    _refuse_twice(item, first)
    values = [None if release.levels is None else _value(release, fact) for fact in facts]
    distinct = sorted(
        {value for value in values if value is not None}, key=lambda value: (str(type(value)), value)
    )
    place = {value: at for at, value in enumerate(distinct)}
    times = [None if release.clock is None else _code_of_time(release, fact.time) for fact in facts]
    return KnownFacts(
        first,
        item,
        np.array([-1 if value is None else place[value] for value in values], np.int64),
        tuple(distinct),
        np.array([0 if time is None else time for time in times], np.int64),
        np.array([time is not None for time in times], np.bool_),
        np.minimum([aux.length or ANY_LENGTH for aux in auxes], 2**62).astype(np.int64).reshape(-1, 2),
        np.array([_joined(release, aux) for aux in auxes], np.int64).reshape(-1, 2),
        any(aux.length is not None or aux.joined is not None for aux in auxes),
        {i: facts[i].item for i in np.flatnonzero(item < 0).tolist()},
    )


def facts_from_entries(release: Release, at: Ints, first: Ints) -> KnownFacts:
    """What entries of a release say, as facts: person p is told the entries at[first[p]] … by record."""
    side, n = release.by_record, len(first) - 1
    value = np.full(len(at), -1) if side.value is None else side.value[at].astype(np.int64)
    time = np.full(len(at), release.span) if side.time is None else side.time[at].astype(np.int64)
    timed = time < release.span
    return KnownFacts(
        first=first,
        item=side.item[at].astype(np.int64),
        value=np.where(value < release.n_levels, value, -1),
        values=level_values(release),
        time=np.where(timed, time, 0),
        timed=timed,
        length=repeat_bounds(n, ANY_LENGTH),
        joined=repeat_bounds(n, ANY_TIME),
    )


def level_values(release: Release) -> tuple[float | str, ...]:
    """The release's levels in Python's own types; a value's place is its code."""
    levels = release.levels
    return () if levels is None else levels if isinstance(levels, tuple) else tuple(levels.tolist())


def repeat_bounds(count: int, ends: tuple[int, int]) -> Ints:
    """The same ends for so many people."""
    return np.tile(np.array(ends, np.int64), (count, 1))


def _code(catalogue: Catalogue, name: str) -> int:
    code = catalogue.find(name)
    return -1 if code is None else code


def _refuse_twice(item: Ints, first: Ints) -> None:
    for begin, end in pairwise(first):
        found = item[begin:end][item[begin:end] >= 0]
        if len(np.unique(found)) < len(found):
            raise ParameterError("two facts of one aux name the same item: say everything known of it in one")


def _value(release: Release, fact: Fact) -> float | str | None:
    if fact.value is None:
        return None
    if isinstance(release.levels, tuple):
        if isinstance(fact.value, (str, Written)):
            return str(fact.value)
        texts = f"{fact.value:g}", str(fact.value)
        return next((text for text in texts if text in release.levels), texts[0])
    if isinstance(fact.value, str):
        raise ParameterError("the release's values are numbers: a fact's value must be one too")
    return float(fact.value)


def _code_of_time(release: Release, time: date | None) -> int | None:
    if time is None or release.clock is None or release.span == 0:
        return None
    if isinstance(time, datetime) and time.tzinfo is not None:
        raise ParameterError("a fact's time is on the release's wall clock: give it without a zone")
    return release.clock.encode(time)


def _moment(release: Release, code: int) -> date:
    assert release.clock is not None
    return release.clock.moment(code)


def _joined(release: Release, aux: Aux) -> tuple[int, int]:
    if aux.joined is None:
        return ANY_TIME
    if release.span == 0:
        raise ParameterError("the release has no times: nothing is known of when a record begins")
    first, last = aux.joined
    if not isinstance(last, datetime):  # the whole of that day
        last = datetime(last.year, last.month, last.day, 23, 59, 59)
    low, high = _code_of_time(release, first), _code_of_time(release, last)
    assert low is not None and high is not None
    return low, high


def _facts(rows: "csv.DictReader[str]", path: str | Path) -> Iterator[Fact]:
    columns = [name.strip().lower() for name in rows.fieldnames or ()]
    if (
        "item" not in columns
        or not set(columns) <= {"item", "value", "time"}
        or len(set(columns)) < len(columns)
    ):
        raise SourceError(f"{path}: the first line names the columns: item, and value and time where known")
    rows.fieldnames = columns
    seen: set[str] = set()
    for row in rows:
        try:
            fact = _fact(row)
            if fact.item in seen:
                raise ValueError("the item is named twice: say everything known of it in one line")
            seen.add(fact.item)
            yield fact
        except ValueError as error:
            raise SourceError(f"{path}, line {rows.line_num}: {error}") from error


def _fact(row: dict[str, Any]) -> Fact:
    if None in row or None in row.values():
        raise ValueError("the line has more or fewer cells than the first one")
    if not row["item"].strip():
        raise ValueError("the item is missing")
    return Fact(row["item"], parse_value(row.get("value", "")), parse_time(row.get("time", "")))


def parse_value(text: str) -> float | str | None:
    """A value as written: a number if it reads as one, None if it is blank."""
    text = text.strip()
    try:
        number = Written(text)
    except ValueError:
        return text or None
    if not math.isfinite(number):
        raise ValueError("a value must be finite")
    return number


def parse_time(text: str) -> date | None:
    """An ISO date or datetime as written, None if it is blank."""
    text = text.strip()
    if not text:
        return None
    try:
        return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a time is written like 2005-03-01 or 2005-03-01T20:15") from None
