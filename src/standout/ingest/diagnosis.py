"""One error for everything that is wrong with a source: the problems, what was concluded, the next step.

A source is read to its end before anything is reported, so that the next try can be the last.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from standout.core.errors import ColumnError, NextStep, RejectedRows, SourceError
from standout.data.labels import ColumnKind, Provenance, UnusedColumn
from standout.ingest.column_kinds import Sample, column_cells, has_decimals
from standout.ingest.column_names import PLACE_ROLES, place_roles
from standout.ingest.date_patterns import list_formats
from standout.ingest.options import Options
from standout.ingest.rejects import Limit, Reason, RejectLog

if TYPE_CHECKING:
    from standout.data.release import Release
    from standout.ingest.times import TimeReader

__all__ = [
    "PYTHON",
    "Wording",
    "check_rejects",
    "example_command",
    "merge_unused",
    "overlooked",
    "reading_warnings",
    "require_no_overlooked",
    "waive_columns",
]

CONCLUDED = ("encoding", "separator", "header", "time format")
TIME_REASONS = (Reason.UNREADABLE_TIME, Reason.OTHER_TIME_FORMAT, Reason.AMBIGUOUS_TIME)
ANY_ENCODING = "latin-1"
"""Encoding in which all bytes are valid, though some characters may be wrong."""


def check_rejects(
    rejects: RejectLog, limit: Limit, unit: str, provenance: Provenance, times: "TimeReader | None"
) -> None:
    """Raise one error with all problems, if rows are unusable beyond the limit or the text is not clear."""
    if not rejects.rows:
        raise SourceError("the source has no rows: check the file")
    diagnosis = _Diagnosis(rejects, unit, provenance, times)
    too_many = not limit.allows(len(rejects), rejects.rows) or len(rejects) >= rejects.rows
    if too_many or diagnosis.is_blocked:
        raise diagnosis.error(limit)


@dataclass(frozen=True, slots=True)
class _Diagnosis:
    """The problems of a source that was read to its end."""

    rejects: RejectLog
    unit: str
    provenance: Provenance
    times: "TimeReader | None"
    counts: dict[Reason, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.rejects.counts())

    @property
    def is_blocked(self) -> bool:
        """Whether there is a problem that no number of allowed rejects solves."""
        return bool(self.rejects.invalid_text) or Reason.AMBIGUOUS_TIME in self.counts

    def error(self, limit: Limit) -> SourceError:
        """Return the error with its next steps."""
        steps = tuple(self._steps(limit))
        kind = RejectedRows if len(self.rejects) else SourceError
        sentences = [*self._problems(), self._conclusion(), self.rejects.next_step(self.unit)]
        return kind(" ".join(filter(None, sentences)), steps)

    def _problems(self) -> Iterator[str]:
        for source, line in self.rejects.invalid_text:
            yield f"{source} line {line} is not UTF-8, and the file is not clean text in Windows-1252 either."
        if len(self.rejects):
            yield f"{len(self.rejects):,} of {self.rejects.rows:,} rows are unusable:"
            yield self.rejects.summary(self.unit) + "."
        if self.times is not None and any(reason in self.counts for reason in TIME_REASONS):
            formats = self.times.format_counts()
            if len(formats) > 1:
                least = "" if self.times.are_formats_counted else " (at least)"
                yield f"Formats of the times{least}: {list_formats(formats)}."
                yield "time_format=… chooses one, and rows in another format are then unusable."

    def _conclusion(self) -> str:
        """What was concluded about the source, without what the user said."""
        settings, columns = self.provenance.settings, self.provenance.columns
        parts = [f"{name} {settings[name]}" for name in CONCLUDED if name in settings]
        parts = [part for part in parts if part != "time format dates"]
        roles = [f"{'person' if role == 'record' else role} = {column}" for role, column in columns.items()]
        return f"Read as: {', '.join([*parts, *roles])}." if parts or roles else ""

    def _steps(self, limit: Limit) -> Iterator[NextStep]:
        """Yield the parameters that read the source; one step for each meaning of its times."""
        encoding = {"encoding": ANY_ENCODING} if self.rejects.invalid_text else {}
        for label, time_format, solved in self._time_steps():
            left = sum(count for reason, count in self.counts.items() if reason not in solved)
            left += self._misfits(time_format) if Reason.AMBIGUOUS_TIME in self.counts else 0
            needed = not limit.allows(left, self.rejects.rows)
            if left >= self.rejects.rows:
                continue
            step = encoding | ({"time_format": time_format} if time_format else {})
            step |= {"max_rejects": str(left)} if needed else {}
            if step:
                yield NextStep(label, step)

    def _time_steps(self) -> Iterator[tuple[str, str, Sequence[Reason]]]:
        """Yield label, format and the reasons that this format solves."""
        if self.times is not None and Reason.AMBIGUOUS_TIME in self.counts:
            for pattern in self.times.patterns.rivals:
                yield _order(pattern), pattern, TIME_REASONS
            return
        better = None
        if self.times is not None and Reason.UNREADABLE_TIME in self.counts:
            better = self.times.better_pattern()
        yield "", better or "", TIME_REASONS if better else ()

    def _misfits(self, pattern: str) -> int:
        """Number of rows whose time does not fit a pattern."""
        return 0 if self.times is None else self.times.count_misfits(pattern)


def _order(pattern: str) -> str:
    """Order of day, month and year in a pattern, in words."""
    day, month = pattern.find("%d"), max(pattern.find("%m"), pattern.find("%b"), pattern.find("%B"))
    year = max(pattern.find("%y"), pattern.find("%Y"))
    return min((day, "day first"), (month, "month first"), (year, "year first"))[1]


# The call that an error suggests for a file without a header; the command line shows it as a command.


NO_PERSON = "No column looks like a person: add one (record=…), or take the file's name (record_from_name=…)"
RESOLUTION = "grid=0.01"
HIGHEST_LATITUDE = 90.0


def example_command(kinds: Sequence[ColumnKind], sample: Sample, options: Options, source: str) -> str:
    """Suggest a complete call, if a column may be a person, or if the columns look like places."""
    people = [c for kind in ("id", "text", "number") for c in _whole(kinds, sample, kind)]
    record = people[0] if people and options.record_from_name is None else None
    time = next((c for c, kind in enumerate(kinds) if kind == "date"), None)
    if (places := _coordinates(kinds, sample)) and not options.items:
        columns = _typed([*zip(PLACE_ROLES, places, strict=True), ("time", time)])
        return _for_places(columns, kinds, record, options, source)
    if options.record_from_name is not None:
        return f"The record is the file's name: name the item with item=…, such as item={_first(people)}"
    if record is None:
        return NO_PERSON
    if len(people) == 1:
        return f"No column but {record + 1} looks like an item: name it with item=…"
    item = min(people[1:])
    value = next((c for c, kind in enumerate(kinds) if kind == "number" and c not in (record, item)), None)
    roles = [("record", record), ("item", item), ("value", value), ("time", time)]
    return f"For example: so.read({source!r}, {_typed(roles)})"


def _for_places(columns: str, kinds: Sequence[ColumnKind], record: int | None, options: Options, source: str) -> str:
    """Example for places. A column of numbers may be a person, or each file is one."""
    resolution = RESOLUTION
    if options.places is not None:
        resolution = f"grid={options.grid!r}" if options.geohash is None else f"geohash={options.geohash}"
    pattern = options.record_from_name or "REGEX"
    by_file = f"so.read('FOLDER', record_from_name={pattern!r}, {columns}, {resolution})"
    if options.record_from_name is not None:
        return f"For example: {by_file}"
    if record is None:
        return f"No column looks like a person: add one (record=…). If each file is one person: {by_file}"
    instead = " (if each file is one person: record_from_name='REGEX' instead of record=…)"
    note = instead if kinds[record] == "number" else ""
    columns = f"record={record + 1}, {columns}"
    return f"For example{note}: so.read({source!r}, {columns}, {resolution})"


def _typed(roles: Sequence[tuple[str, int | None]]) -> str:
    return ", ".join(f"{role}={column + 1}" for role, column in roles if column is not None)


def _first(columns: Sequence[int]) -> str:
    return str(columns[0] + 1) if columns else "COLUMN"


def _coordinates(kinds: Sequence[ColumnKind], sample: Sample) -> tuple[int, ...]:
    """Columns of latitude and longitude; the first is the latitude unless it is beyond ±90 degrees."""
    columns = [column for column, kind in enumerate(kinds) if kind == "coordinate"][:2]
    if len(columns) < 2:
        return ()
    first = (float(cell.replace(",", ".")) for cell in column_cells(sample, columns[0]) if _is_degree(cell))
    is_swapped = any(abs(degrees) > HIGHEST_LATITUDE for degrees in first)
    return (columns[1], columns[0]) if is_swapped else (columns[0], columns[1])


def _is_degree(cell: str) -> bool:
    return cell.lstrip("+-").replace(",", ".").replace(".", "", 1).isdecimal()


def _whole(kinds: Sequence[ColumnKind], sample: Sample, wanted: str) -> list[int]:
    """Columns of a kind that may be ids: no decimals, and not only yes and no."""
    return [
        column
        for column, kind in enumerate(kinds)
        if kind == wanted
        and not any(map(has_decimals, cells := column_cells(sample, column)))
        and {*cells} not in ({"0"}, {"0", "1"})
    ]


# Columns that a release does not use: warnings about them, and what a gate requires.
#
# This module is light, because it is also used for an index that is opened without the readers of raw files.


USES: dict[ColumnKind, tuple[str, ...]] = {"date": ("time",), "number": ("value",), "id": ("record", "item")}
"""Roles that a column of each kind may have; the name of a coordinate says more."""
LOOKS = {"date": "a date", "number": "a number", "coordinate": "a coordinate", "id": "an id"}
STRENGTH: tuple[ColumnKind, ...] = ("empty", "text", "number", "id", "nested", "coordinate", "date", "quasi-identifier")
UNIQUE, ENOUGH_ENTRIES, FIRST_ITEMS = 0.9, 100, 100
"""Nearly every item is unique if more than this share of entries has an item of its own."""
DEGREES = re.compile(r"[+-]?\d{1,3}\.\d{2,}")


@dataclass(frozen=True, slots=True)
class Wording:
    """How messages write a setting: as a parameter in Python, or as an option with a prefix."""

    options: bool = False
    prefix: str = ""

    def use(self, role: str, column: str) -> str:
        """Setting that uses a column.

        >>> Wording().use("time", "when"), Wording(options=True).use("time", "column 3")
        ('time="when"', '--time 3')
        """
        name = column_id(column)
        if not self.options:
            return f"{role}={_literal(name)}"
        return (
            f"--{self.prefix}read {shlex.quote(f'{role}={name}')}" if self.prefix else f"--{role} {shlex.quote(name)}"
        )

    def ignore(self, columns: Sequence[str]) -> str:
        """Setting that waives columns.

        >>> Wording().ignore(["when", "age"]), Wording(options=True).ignore(["when", "age"])
        ('ignore=["when", "age"]', '--ignore when --ignore age')
        """
        if self.options:
            return " ".join(self.use("ignore", column) for column in columns)
        return f"ignore=[{', '.join(_literal(column_id(column)) for column in columns)}]"

    def flag(self, name: str, example: str) -> str:
        """Any other setting."""
        return f"--{self.prefix}read {name}={example}" if self.options else f"{name}={example}"


PYTHON = Wording()
"""Messages for Python."""


def column_id(label: str) -> str:
    """Name or number with which a column is given: "column 3" is 3."""
    numbered = re.fullmatch(r"column (\d+)", label)
    return numbered[1] if numbered else label


def _literal(name: str) -> str:
    return name if name.isdecimal() else json.dumps(name, ensure_ascii=False)


def overlooked(provenance: Provenance) -> list[UnusedColumn]:
    """Columns that are neither used nor ignored, and may identify people: all but text."""
    return [column for column in provenance.unused if not column.ignored and column.kind != "text"]


def reading_warnings(release: "Release", wording: Wording) -> Iterator[str]:
    """Yield what a user should know about how a release was read."""
    for column in overlooked(release.provenance):
        yield _warning(column, release.provenance, wording)
    yield from _item_warnings(release, wording)


def require_no_overlooked(provenance: Provenance, wording: Wording) -> None:
    """Raise an error if a column is neither used nor ignored: a gate must not pass because of it."""
    columns = overlooked(provenance)
    if not columns:
        return
    listed = "; ".join(_described(column, provenance, wording) for column in columns)
    every = wording.ignore([column.name for column in columns])
    waive = "it" if len(columns) == 1 else "them"
    removable = [column.kind == "quasi-identifier" for column in columns]
    use = "Remove" if all(removable) else "Use or remove" if any(removable) else "Use"
    raise ColumnError(
        f"the threshold cannot be checked while columns are overlooked: {listed}. "
        f"{use} {waive}, or waive {waive} with {every}"
    )


def waive_columns(release: "Release", columns: Iterable[str | int]) -> "Release":
    """Mark unused columns of an index as ignored."""
    wanted = [str(column) for column in columns]
    if not wanted:
        return release
    provenance = release.provenance
    known = {column_id(column.name) for column in provenance.unused} | {c.name for c in provenance.unused}
    for column in wanted:
        if column not in known:
            names = ", ".join(unused.name for unused in provenance.unused) or "none"
            raise ColumnError(
                f"column {column!r} is not an unused column of the index; the unused columns are: {names}"
            )
    unused = tuple(
        replace(column, ignored=column.ignored or bool({column.name, column_id(column.name)} & {*wanted}))
        for column in provenance.unused
    )
    return replace(release, provenance=replace(provenance, unused=unused))


def merge_unused(columns: tuple[UnusedColumn, ...], others: tuple[UnusedColumn, ...]) -> tuple[UnusedColumn, ...]:
    """Unused columns of several files: each has the most telling kind that it has in any file."""
    if not columns:
        return others
    pairs = zip(columns, others, strict=True)
    return tuple(max(pair, key=lambda column: STRENGTH.index(column.kind)) for pair in pairs)


def _warning(column: UnusedColumn, provenance: Provenance, wording: Wording) -> str:
    ignore = wording.ignore([column.name])
    if column.kind == "quasi-identifier":
        return (
            f"column {_shown(column)} is a quasi-identifier: it helps to identify people, and an audit "
            f"does not measure that risk. Remove it before you publish, or add {ignore}"
        )
    if column.kind == "empty":
        return (
            f"column {_shown(column)} is empty in the first rows and is not used: "
            f"name it if later rows matter, or add {ignore}"
        )
    if column.kind == "nested":
        return (
            f"column {_shown(column)} has nested or binary data and is not used: write what matters in it "
            f"as columns of their own, or add {ignore}"
        )
    use = _uses(column, provenance, wording)
    return f"column {_shown(column)} looks like {LOOKS[column.kind]} and is not used: add {use}, or {ignore}"


def _described(column: UnusedColumn, provenance: Provenance, wording: Wording) -> str:
    name = column.name if column_id(column.name) != column.name else repr(column.name)
    if column.kind == "quasi-identifier":
        return f"{name} is a quasi-identifier, whose risk this audit does not measure"
    if column.kind == "empty":
        return f"{name} is empty in the first rows, and later rows were not looked at"
    if column.kind == "nested":
        return f"{name} has nested or binary data, which was not looked at"
    use = _uses(column, provenance, wording)
    return f"{name} looks like {LOOKS[column.kind]} ({use})"


def _uses(column: UnusedColumn, provenance: Provenance, wording: Wording) -> str:
    """Settings that would use a column, with the column that it would replace."""
    if column.kind == "coordinate":
        roles = " or ".join(wording.use(role, column.name) for role in place_roles(column.name))
        return f"{roles} with {wording.flag('grid', '0.01')}"
    settings = []
    for role in USES[column.kind]:
        present = provenance.columns.get(role) if role in ("value", "time") else None
        instead = f" (instead of {column_id(present)})" if present else ""
        settings.append(wording.use(role, column.name) + instead)
    return " or ".join(settings)


def _shown(column: UnusedColumn) -> str:
    name = column_id(column.name)
    return name if name != column.name else repr(name)


def _item_warnings(release: "Release", wording: Wording) -> Iterator[str]:
    """Yield a warning if items are coordinates, or if nearly every entry has an item of its own."""
    if release.provenance.format == "synthetic" or release.n_entries < ENOUGH_ENTRIES:
        return
    unique = int((release.item_entries == 1).sum())
    grid = f"{wording.flag('grid', '0.01')} or {wording.flag('geohash', '6')}"
    if _are_places(release):
        yield f"the items look like coordinates: make places of them with {grid}"
    elif release.n_records > 1 and unique > UNIQUE * release.n_entries:
        yield (
            f"{unique:,} of {release.n_entries:,} entries have an item that no other entry has: check the "
            f"item column. Items that nobody shares say little (for coordinates: {grid})"
        )


def _are_places(release: "Release") -> bool:
    first = (release.items[item] for item in range(min(release.n_items, FIRST_ITEMS)))
    parts = [part for item in first for part in item.split("|")]
    return all(DEGREES.fullmatch(part) and abs(float(part)) <= 180 for part in parts)
