"""Known facts about a target: given by hand, read from a file, or encoded for a release."""

import csv
import io
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from standout.core.arrays import Bools, Ints, offsets, take_rows
from standout.core.errors import ParameterError, SourceError, check_range, fact_value
from standout.core.json_files import read_text
from standout.data.release import Release
from standout.data.search import Catalogue

DOUBTFUL = 0.5
"""Probability that value and date are wrong, of a fact that is only called doubtful."""

LARGEST = {"value_error": sys.float_info.max, "time_error": 36_525.0, "doubt": 1.0}
ALLOWED_ERRORS = {"value_error": "≥ 0", "time_error": "from 0 to 36,525 days", "doubt": "from 0 to below 1"}


class FactErrors(NamedTuple):
    """Errors of one fact, as in `Fact`; None: as the attack assumes for all facts."""

    value_error: float | None = None
    time_error: float | None = None
    doubt: float | None = None


AS_ASSUMED = FactErrors()


@dataclass(frozen=True, slots=True, repr=False)
class Fact:
    """One known fact about a target: an item, perhaps with its value and its date  [section 3: aux_i].

    `Likelihood` uses the errors of each fact. The paper's attacks ignore them: their similarity is fixed.

    Parameters
    ----------
    item : str
        Id or title of the item.
    value : float or str, optional
        Its value; None: not known.
    time : date or datetime, optional
        Its date, on the wall clock of the release (without a zone); None: not known.
    value_error : float, optional
        Largest error of this value, 0 if it is exact; None: as the attack assumes. No effect on categories
        or without a value.
    time_error : float, optional
        Largest error of this date in days, 0 if it is exact, at most 36,525; None: as the attack assumes. No
        effect without a date.
    doubt : float, optional
        Probability that value and date of this fact are wrong, from 0 to below 1; None: as the attack
        assumes. 0.5 is a doubtful fact.

    Examples
    --------
    >>> Fact("Brazil", value=4, time=date(2005, 3, 1))
    Fact(item='Brazil', value=4, time=datetime.date(2005, 3, 1))
    >>> Fact("Brazil", value=4, value_error=1, doubt=0.5)
    Fact(item='Brazil', value=4, time=None, value_error=1, doubt=0.5)
    """

    item: str
    value: float | str | None = None
    time: date | None = None
    value_error: float | None = None
    time_error: float | None = None
    doubt: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.item, Integral) and not isinstance(self.item, bool):
            object.__setattr__(self, "item", str(int(self.item)))
        if not isinstance(self.item, str) or not self.item:
            raise ParameterError(f"item must be an id or a title, as non-empty text, got {type(self.item).__name__}")
        object.__setattr__(self, "value", fact_value(self.value))
        if not isinstance(self.time, (date, type(None))) or self.time != self.time:  # NaT is a date too
            raise ParameterError(f"time must be a date or datetime, or None, got {type(self.time).__name__}")
        for name, error in self.errors._asdict().items():
            object.__setattr__(self, name, _checked_error(name, error))

    @property
    def errors(self) -> FactErrors:
        """Its errors alone."""
        return FactErrors(self.value_error, self.time_error, self.doubt)

    def __repr__(self) -> str:
        errors = [f", {name}={error!r}" for name, error in self.errors._asdict().items() if error is not None]
        return f"Fact(item={self.item!r}, value={self.value!r}, time={self.time!r}{''.join(errors)})"


def is_error(name: str, number: float) -> bool:
    """Whether an error of a fact can be this number."""
    return 0 <= number <= LARGEST[name] and not (name == "doubt" and number == 1)


def _checked_error(name: str, error: Any) -> float | None:
    """Check an error of a fact. A number of Python keeps its type."""
    if error is None:
        return None
    number = isinstance(error, Real) and not isinstance(error, bool)
    if not number or not is_error(name, error):
        raise ParameterError(
            f"{name} must be a number {ALLOWED_ERRORS[name]}, or None if it is not known, got {error!r}"
        )
    return error if isinstance(error, (int, float)) else float(error)


# Facts as text: the rows of a CSV file, and how values and times are written.


class WrittenNumber(float):
    """A number that remembers its text: if values are categories, 4.50 and 4.5 are two of them."""

    def __new__(cls, text: str) -> "WrittenNumber":
        """Make the number that the text spells."""
        return super().__new__(cls, text)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _read_facts(path: str | Path) -> Iterator[Fact]:
    """The facts of a CSV file with the column item and, if known, the others of `Fact`."""
    try:
        text = io.StringIO(read_text(Path(path), "a CSV file"), newline="")
        lines = csv.DictReader(text, strict=True)
        columns = [name.strip().lower() for name in lines.fieldnames or ()]
        if "item" not in columns or not set(columns) <= set(Fact.__slots__) or len(set(columns)) < len(columns):
            raise SourceError(
                f"{path}: the first line must name the columns: item and, if known, value, time, value_error, "
                "time_error and doubt"
            )
        lines.fieldnames = columns
        for cells in lines:
            try:
                yield _fact_of(cells)
            except ValueError as error:
                raise SourceError(f"{path}, line {lines.line_num}: {error}") from error
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}") from error


def _fact_of(cells: Mapping[str, str]) -> Fact:
    if None in cells or None in cells.values():
        raise ValueError("the line has more or fewer cells than the first line")
    if not cells["item"].strip():
        raise ValueError("the item is missing")
    errors = {}
    for name, allowed in ALLOWED_ERRORS.items():
        if written := cells.get(name, "").strip():
            try:
                errors[name] = float(written)
            except ValueError:
                errors[name] = math.nan
            if not is_error(name, errors[name]):
                raise ValueError(f"{name} must be a number {allowed}, or blank")
    value, time = parse_value(cells.get("value", "")), parse_time(cells.get("time", ""))
    return Fact(cells["item"], value, time, **errors)


def parse_value(text: str) -> float | str | None:
    """Parse a value: a number if the text is one, None if it is blank."""
    text = text.strip()
    try:
        number = WrittenNumber(text)
    except ValueError:
        return text or None
    if not math.isfinite(number):
        raise ValueError("a value must be finite")
    return number


def parse_time(text: str) -> date | None:
    """Parse an ISO date or datetime; None if the text is blank."""
    text = text.strip()
    if not text:
        return None
    try:
        return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a time must be written like 2005-03-01 or 2005-03-01T20:15") from None


ANY_LENGTH = (0, 2**62)
ANY_TIME = (-(2**62), 2**62)


@dataclass(frozen=True, slots=True)
class Aux:
    """Everything that the adversary knows about a target  [section 3: aux = Aux(r)].

    Parameters
    ----------
    facts : sequence of Fact
        Each about another entry; only if people can have an item several times may two name the same one.
    length : (int, int), optional
        Lowest and highest number of entries of the target's record. Candidates outside are removed.
    joined : (date, date), optional
        Earliest and latest date of its first entry. Candidates outside are removed.

    Examples
    --------
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
            raise ParameterError("facts must be a sequence of Fact: Aux([Fact(item, value, time), …])")
        check_range("length", self.length, Integral)
        check_range("joined", self.joined, date)

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    @classmethod
    def read(cls, path: str | Path) -> "Aux":
        """Read facts from a CSV file; an error names a bad line by its number."""
        return cls(list(_read_facts(path)))

    def unknown(self, release: Release) -> tuple[Fact, ...]:
        """Facts about items that the release does not have."""
        catalogue = Catalogue.of(release)
        return tuple(fact for fact in self.facts if catalogue.find(fact.item) is None)


class Cells(NamedTuple):
    """Known cells of columns: target q owns column[first[q] : first[q + 1]] and their codes.

    `column` is a position in the original's columns and `code` a level of that column, as the adversary
    believes it to be; of a set it is one member. `target` is the record of the original that the facts are
    about, or -1.
    """

    first: Ints
    column: Ints
    code: Ints
    target: Ints

    def of(self, targets: Ints) -> "Cells":
        """The cells of some targets."""
        first, cell = take_rows(self.first, targets)
        return Cells(first, self.column[cell], self.code[cell], self.target[targets])

    def where(self, kept: Bools) -> "Cells":
        """The cells where `kept` is set."""
        return Cells(offsets(kept)[self.first], self.column[kept], self.code[kept], self.target)

    def first_attributes(self, release: Release, most: int) -> "Cells":
        """The cells of the first attributes that are known of each target."""
        names = list(release.attributes)
        attribute = np.array([names.index(column.attribute) for column in release.columns])[self.column]
        query = np.repeat(np.arange(len(self.target)), np.diff(self.first))
        is_new = np.ones(len(attribute), np.bool_)
        is_new[1:] = (attribute[1:] != attribute[:-1]) | (query[1:] != query[:-1])
        counted = np.cumsum(is_new)
        before = counted[self.first[:-1][query]] - 1 if len(attribute) else counted
        return self.where(counted - before <= most)


NO_CODES = np.empty(0, np.int64)
NO_CELLS = Cells(np.zeros(1, np.int64), NO_CODES, NO_CODES, NO_CODES)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What is known about many targets, encoded for one release.

    Attributes
    ----------
    first : array of int
        Target q has the facts first[q] … first[q + 1] − 1.
    item : array of int
        Code of each fact's item; -1 if the release has no such item.
    value : array of int
        Index of its value in `values`; -1 if the value is not known.
    values : tuple of float or str
        The distinct known values.
    time : array of int
        Its time in the release's clock, below 0 or past its end for times outside it.
    timed : array of bool
        Whether its time is known.
    length, joined : arrays of int, by target
        The lowest and highest number of entries, and time of the first entry, that a candidate may have.
    filtered : bool
        Whether any target has such limits.
    names : dict
        The names of unknown items, by fact.
    original_values : tuple of float or str, optional
        What `values` were before the values of a sanitized release replaced them.
    error : array of int, optional
        Index of each fact's errors in `errors`; None if all are as the attack assumes.
    errors : tuple of FactErrors
        The distinct errors of facts.
    cells : Cells
        Known cells of columns, if the release has any.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> known = so.Adversary(knows=2).observe_all(release, [17, 18])
    >>> len(known), known.first.tolist(), len(known.aux(release, 1))
    (2, [0, 2, 4], 2)
    """

    first: Ints
    item: Ints
    value: Ints
    values: tuple[float | str, ...]
    time: Ints
    timed: Bools
    length: Ints
    joined: Ints
    filtered: bool = False
    names: dict[int, str] = field(default_factory=dict)
    original_values: tuple[float | str, ...] | None = None
    error: Ints | None = None
    errors: tuple[FactErrors, ...] = (AS_ASSUMED,)
    cells: Cells = NO_CELLS

    def __len__(self) -> int:
        return len(self.first) - 1

    def of(self, targets: Ints) -> "KnownFacts":
        """What is known about some targets."""
        first, fact = take_rows(self.first, targets)
        return self.select(targets, fact, first)

    def select(self, query: Ints, fact: Ints, first: Ints) -> "KnownFacts":
        """Other targets made of these."""
        old_facts = fact.tolist() if self.names else ()
        names = {new: self.names[old] for new, old in enumerate(old_facts) if old in self.names}
        return replace(
            self,
            first=first,
            item=self.item[fact],
            value=self.value[fact],
            time=self.time[fact],
            timed=self.timed[fact],
            length=self.length[query],
            joined=self.joined[query],
            names=names,
            error=None if self.error is None else self.error[fact],
            cells=self.cells.of(query) if len(self.cells.target) else self.cells,
        )

    def fact(self, release: Release, i: int) -> Fact:
        """One fact, decoded."""
        item = release.items[self.item[i]] if self.item[i] >= 0 else self.names[i]
        value = None if self.value[i] < 0 else self.values[self.value[i]]
        time = _moment(release, int(self.time[i])) if self.timed[i] else None
        return Fact(item, value, time, *(AS_ASSUMED if self.error is None else self.errors[self.error[i]]))

    def aux(self, release: Release, q: int) -> Aux:
        """Everything known about one target, decoded."""
        facts = []
        for i in range(self.cells.first[q], self.cells.first[q + 1]) if len(self.cells.target) else ():
            column = release.columns[self.cells.column[i]]
            value = column.value(int(self.cells.code[i]))
            facts.append(Fact(column.name, time=value) if isinstance(value, date) else Fact(column.name, value))
        facts += [self.fact(release, i) for i in range(self.first[q], self.first[q + 1])]
        shortest, longest = (int(end) for end in self.length[q])
        earliest, latest = (int(end) for end in self.joined[q])
        length = None if (shortest, longest) == ANY_LENGTH else (shortest, longest)
        if (earliest, latest) == ANY_TIME:
            return Aux(facts, length)
        return Aux(facts, length, (_moment(release, earliest), _moment(release, latest)))


def encode_auxes(release: Release, auxes: Iterable[Aux], drawn: bool = False) -> KnownFacts:
    """Encode facts for the release. Values and dates are dropped if the release has none.

    Facts that were `drawn` from entries of an original with repeats may name an item several times.
    """
    auxes, cells = list(auxes), NO_CELLS
    if release.columns:
        auxes, cells = _encode_cells(release, auxes)
    catalogue, facts = Catalogue.of(release), [fact for aux in auxes for fact in aux.facts]
    codes = [catalogue.find(fact.item) for fact in facts]
    first = offsets([len(aux) for aux in auxes])
    if not (drawn or release.may_repeat):
        names = [fact.item if code is None else code for code, fact in zip(codes, facts, strict=True)]
        if any(len({*names[low:high]}) < high - low for low, high in pairwise(first.tolist())):
            raise ParameterError("two facts of one aux name the same item: put all that is known into one")
    values = [None if release.levels is None else _value(release, fact) for fact in facts]
    distinct = sorted({value for value in values if value is not None}, key=lambda value: (str(type(value)), value))
    index = {value: i for i, value in enumerate(distinct)}
    times = [_code_of_time(release, fact.time) for fact in facts]
    errors = {errors: number for number, errors in enumerate(dict.fromkeys(fact.errors for fact in facts))}
    has_errors = not errors.keys() <= {AS_ASSUMED}
    return KnownFacts(
        first=first,
        item=np.array([-1 if code is None else code for code in codes], np.int64),
        value=np.array([-1 if value is None else index[value] for value in values], np.int64),
        values=tuple(distinct),
        time=np.array([0 if time is None else time for time in times], np.int64),
        timed=np.array([time is not None for time in times], np.bool_),
        length=np.minimum([aux.length or ANY_LENGTH for aux in auxes], 2**62).astype(np.int64).reshape(-1, 2),
        joined=np.array([_joined(release, aux) for aux in auxes], np.int64).reshape(-1, 2),
        filtered=any(aux.length is not None or aux.joined is not None for aux in auxes),
        names={i: facts[i].item for i, code in enumerate(codes) if code is None},
        error=np.array([errors[fact.errors] for fact in facts], np.int64) if has_errors else None,
        errors=tuple(errors) if has_errors else (AS_ASSUMED,),
        cells=cells,
    )


def _encode_cells(release: Release, auxes: list[Aux]) -> tuple[list[Aux], Cells]:
    """The facts about entries alone, and those about columns as cells; a number or date becomes the nearest one."""
    others, counts, cells = [], [], []
    for aux in auxes:
        about = [fact for fact in aux.facts if not release.n_items or fact.item in release.column_names]
        if len({fact.item for fact in about}) < len(about):
            raise ParameterError("two facts of one aux name the same column: a person has one value of each")
        for fact in about:
            value = fact.time if fact.value is None else fact.value
            value = value.date() if isinstance(value, datetime) else value
            if value is None:
                raise ParameterError(f"the fact about column {fact.item!r} must have a value")
            position = release.column_position(fact.item)
            of = release.columns[position]
            found = of.nearest_code(value) if of.kind in ("number", "date") else of.code(value)
            if found is None:
                raise ParameterError(f"no row has this value in column {fact.item!r}: check its spelling")
            cells.append((position, found))
        counts.append(len(about))
        others.append(replace(aux, facts=[fact for fact in aux.facts if fact not in about]))
    column, code = np.array(cells, np.int64).reshape(-1, 2).T
    return others, Cells(offsets(counts), column, code, np.full(len(auxes), -1))


def facts_from_entries(release: Release, at: Ints, first: Ints) -> KnownFacts:
    """Entries of a release as facts: target p has the entries at[first[p]:first[p + 1]], by record."""
    by_record, n = release.by_record, len(first) - 1
    value = np.full(len(at), -1) if by_record.value is None else by_record.value[at].astype(np.int64)
    time = np.full(len(at), release.span) if by_record.time is None else by_record.time[at].astype(np.int64)
    timed = time < release.span
    return KnownFacts(
        first=first,
        item=by_record.item[at].astype(np.int64),
        value=np.where(value < release.n_levels, value, -1),
        values=level_values(release),
        time=np.where(timed, time, 0),
        timed=timed,
        length=repeat_bounds(n, ANY_LENGTH),
        joined=repeat_bounds(n, ANY_TIME),
    )


def cell_facts(release: Release, cells: Cells) -> KnownFacts:
    """These cells as all that is known."""
    return replace(facts_from_entries(release, NO_CODES, np.zeros(len(cells.target) + 1, np.int64)), cells=cells)


def level_values(release: Release) -> tuple[float | str, ...]:
    """The release's levels in Python's own types, by their codes."""
    levels = release.levels
    return () if levels is None else levels if isinstance(levels, tuple) else tuple(levels.tolist())


def repeat_bounds(count: int, ends: tuple[int, int]) -> Ints:
    """The same lowest and highest value for `count` targets."""
    return np.tile(np.array(ends, np.int64), (count, 1))


def _value(release: Release, fact: Fact) -> float | str | None:
    if fact.value is None:
        return None
    if isinstance(release.levels, tuple):
        if isinstance(fact.value, (str, WrittenNumber)):
            return str(fact.value)
        texts = f"{fact.value:g}", str(fact.value)
        return next((text for text in texts if text in release.levels), texts[0])
    if isinstance(fact.value, str):
        raise ParameterError("the value of a fact must be a number, because the release's values are numbers")
    return float(fact.value)


def _code_of_time(release: Release, time: date | None) -> int | None:
    if time is None or release.clock is None or release.span == 0:
        return None
    if isinstance(time, datetime) and time.tzinfo is not None:
        raise ParameterError("a fact's time must be on the wall clock of the release: give it without a zone")
    return release.clock.encode(time)


def _moment(release: Release, code: int) -> date:
    assert release.clock is not None
    return release.clock.moment(code)


def _joined(release: Release, aux: Aux) -> tuple[int, int]:
    if aux.joined is None:
        return ANY_TIME
    if release.span == 0:
        raise ParameterError("joined needs dates, and the release has none")
    first, last = aux.joined
    if not isinstance(last, datetime):  # the whole of that day
        last = datetime(last.year, last.month, last.day, 23, 59, 59)
    low, high = _code_of_time(release, first), _code_of_time(release, last)
    assert low is not None and high is not None
    return low, high
