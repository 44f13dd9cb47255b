"""What was not read: unusable rows, counted by reason, and columns that a release does not use.

Rows are named by their line numbers, and never with their content. A source is read to its end before anything is
reported, so that the next try can be the last: one error has the problems, what was concluded, and the next step.
This module is light, because it is also used for an index that is opened without the readers of raw files.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ColumnError, NextStep, ParameterError, RejectedRows, SourceError
from standout.data.labels import ColumnKind, Provenance, UnusedColumn

if TYPE_CHECKING:
    from standout.data.release import Release

SHOWN = 5
"""Number of rows that a message lists."""


class Reason(IntEnum):
    """Why a row is unusable; 0 means that it is usable."""

    description: str

    def __new__(cls, number: int, description: str = "") -> "Reason":
        """Make a member with its text for people."""
        member = int.__new__(cls, number)
        member._value_, member.description = number, description
        return member

    NO_RECORD = 1, "no record id"
    NO_ITEM = 2, "no item id"
    TOO_FEW_FIELDS = 3, "too few fields"
    TOO_MANY_FIELDS = 4, "too many fields"
    STRAY_QUOTE = 5, "text after a closing quote"
    NOT_A_NUMBER = 6, "value is not a number, but others are (for categories: value_type='text')"
    NOT_FINITE = 7, "value is NaN or infinite"
    UNREADABLE_TIME = 8, "time is not recognised (set time_format=…)"
    OTHER_TIME_FORMAT = 9, "time in another format than the first row"
    TIME_OUT_OF_RANGE = 10, "time out of range (for microseconds: time_format='us', nanoseconds: 'ns')"
    NOT_A_RATING_LINE = 11, "not of the form customer,rating,YYYY-MM-DD"
    NO_FILM_YET = 12, "rating without a film: the line of the film is missing or damaged"
    TOO_MANY_DIGITS = 13, "value has more digits than a number holds (for categories: value_type='text')"
    TOO_LARGE = 14, "value is below -1e100 or above 1e100 (for categories: value_type='text')"
    NO_COORDINATE = 15, "no latitude or no longitude"
    NOT_A_COORDINATE = 16, "latitude or longitude is not a number in decimal degrees"
    COORDINATE_OUT_OF_RANGE = 17, "latitude beyond ±90 degrees or longitude beyond ±180"
    AMBIGUOUS_TIME = 18, "time fits several patterns (set time_format=…)"


def reject_limit(given: int | str) -> tuple[int, float]:
    """Largest number of unusable rows, or largest share of all rows, of a count or a percentage."""
    text = str(given).strip()
    try:
        count, share = (0, float(text[:-1]) / 100) if text.endswith("%") else (int(text), 0.0)
    except ValueError:
        count, share = -1, 0.0
    if count < 0 or not 0 <= share <= 1:
        raise ParameterError(f"max_rejects must be a number of rows or a percentage such as 5%, got {given!r}")
    return count, share


ENCODINGS = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16", "latin-1": "Latin-1"}
"""Their names for people."""


@dataclass(slots=True)
class RejectLog:
    """Lines and reasons of the unusable rows of all sources."""

    rows: int = 0
    encodings: set[str] = field(default_factory=set)
    invalid_text: list[tuple[str, int]] = field(default_factory=list)
    batches: list[tuple[str, NDArray[np.int64], NDArray[np.uint8]]] = field(default_factory=list)

    def add(self, source: str, lines: NDArray[np.int64], status: NDArray[np.uint8]) -> None:
        """Add the rows with a status other than 0."""
        bad = status != 0
        if bad.any():
            self.batches.append((source, lines[bad], status[bad]))

    def note_encoding(self, source: str, encoding: str, invalid_line: int | None) -> None:
        """Note in which encoding a source was read, and where it is not valid."""
        self.encodings.add(encoding)
        self.invalid_text += [] if invalid_line is None else [(source, invalid_line)]

    def extend(self, more: "RejectLog") -> None:
        """Add what another log has."""
        self.rows += more.rows
        self.encodings |= more.encodings
        self.invalid_text += more.invalid_text
        self.batches += more.batches

    def settings(self) -> dict[str, str]:
        """Return the encodings of all sources, for the provenance; nothing if they are not text."""
        names = sorted(ENCODINGS.get(name.lower(), name) for name in self.encodings)
        return {"encoding": ", ".join(names)} if names else {}

    def counts(self) -> dict[Reason, int]:
        """Number of rows for each reason."""
        status = np.concatenate([np.zeros(0, np.uint8), *(status for _, _, status in self.batches)])
        codes, counts = np.unique(status, return_counts=True)
        return dict(zip(map(Reason, codes.tolist()), counts.tolist(), strict=True))

    def __len__(self) -> int:
        return sum(len(lines) for _, lines, _ in self.batches)

    def __iter__(self) -> Iterator[tuple[str, int, Reason]]:
        """Yield (source, line, reason) of each row."""
        for source, lines, status in self.batches:
            yield from ((source, int(line), Reason(code)) for line, code in zip(lines, status, strict=True))

    def first_lines(self, unit: str) -> dict[Reason, str]:
        """Return the lines of the first few rows of each reason, as text."""
        several = len({source for source, _, _ in self.batches}) > 1
        texts = {}
        for reason, count in self.counts().items():
            found = ((source, lines[status == reason][:SHOWN]) for source, lines, status in self.batches)
            rows = [f"{source} {line}" if several else f"{line}" for source, lines in found for line in lines][:SHOWN]
            texts[reason] = f"{unit} {', '.join(rows)}" + (", …" if count > len(rows) else "")
        return texts

    def provenance(self, unit: str) -> dict[str, Any]:
        """Fields of the provenance about the rows."""
        rejected = {reason.description: count for reason, count in self.counts().items()}
        lines = {reason.description: text for reason, text in self.first_lines(unit).items()}
        return {"rows": self.rows, "rejected": rejected, "rejected_lines": lines}


CONCLUDED = ("encoding", "separator", "header", "time format")
TIME_REASONS = (Reason.UNREADABLE_TIME, Reason.OTHER_TIME_FORMAT, Reason.AMBIGUOUS_TIME)
ORDER = {"%d": "day", "%m": "month", "%b": "month", "%B": "month", "%y": "year", "%Y": "year"}
ANY_ENCODING = "latin-1"
"""Encoding in which all bytes are valid, though some characters may be wrong."""


def check_rejects(
    rejects: RejectLog, limit: tuple[int, float], unit: str, provenance: Provenance, rivals: Sequence[str] = ()
) -> None:
    """Raise one error with all problems, if rows are unusable beyond the limit or the text is not clear.

    `rivals` are the patterns between which the times do not decide: there is one next step for each.
    """
    if not rejects.rows:
        raise SourceError("the source has no rows: check the file")
    counts, rejected = rejects.counts(), len(rejects)
    most = max(limit[0], limit[1] * rejects.rows)
    too_many = rejected > most or rejected >= rejects.rows
    if not too_many and not rejects.invalid_text and Reason.AMBIGUOUS_TIME not in counts:
        return
    sentences = [
        f"{source} line {line} is not UTF-8, and the file is not clean text in Windows-1252 either."
        for source, line in rejects.invalid_text
    ]
    if rejected:
        lines = rejects.first_lines(unit)
        listed = (f"{count:,} × {reason.description} ({lines[reason]})" for reason, count in counts.items())
        sentences.append(f"{rejected:,} of {rejects.rows:,} rows are unusable: {'; '.join(listed)}.")
    steps: list[NextStep] = []
    for pattern in rivals or ("",):
        left = sum(count for reason, count in counts.items() if not pattern or reason not in TIME_REASONS)
        step = {"encoding": ANY_ENCODING} if rejects.invalid_text else {}
        step |= {"time_format": pattern} if pattern else {}
        step |= {} if left <= most else {"max_rejects": str(left)}
        if left < rejects.rows and step:
            parts = sorted((pattern.index(part), f"{name} first") for part, name in ORDER.items() if part in pattern)
            steps.append(NextStep(parts[0][1] if parts else "", step))
    settings = provenance.settings
    read_as = [f"{name} {settings[name]}" for name in CONCLUDED if name in settings and settings[name] != "dates"]
    read_as += [f"{'person' if role == 'record' else role} = {column}" for role, column in provenance.columns.items()]
    sentences += [f"Read as: {', '.join(read_as)}."] if read_as else []
    raise (RejectedRows if rejected else SourceError)(" ".join(sentences), tuple(steps))


# Columns that a release does not use: warnings about them, and what a gate requires.

USES: dict[ColumnKind, tuple[str, ...]] = {"date": ("time",), "number": ("value",), "id": ("record", "item")}
"""Roles that a column of each kind may have; the name of a coordinate says more."""
LOOKS: dict[ColumnKind, str] = {
    "date": "looks like a date", "number": "looks like a number", "coordinate": "looks like a coordinate",
    "id": "looks like an id", "quasi-identifier": "is a quasi-identifier", "empty": "is empty in the first rows",
    "nested": "has nested or binary data",
}  # fmt: skip
ADVICE: dict[ColumnKind, str] = {
    "quasi-identifier": "it helps to identify people, and an audit does not measure that risk. Remove it before you "
    "publish",
    "empty": "name it if later rows matter",
    "nested": "write what matters in it as columns of their own",
}
UNIQUE, ENOUGH_ENTRIES, FIRST_ITEMS = 0.9, 100, 100
"""Nearly every item is unique if more than this share of entries has an item of its own."""
DEGREES = re.compile(r"[+-]?\d{1,3}\.\d{2,}")
PLACES = "grid=0.01 or geohash=6"


def column_id(label: str) -> str:
    """Name or number with which a column is given: "column 3" is 3."""
    numbered = re.fullmatch(r"column (\d+)", label)
    return numbered[1] if numbered else label


def _literal(label: str) -> str:
    name = column_id(label)
    return name if name.isdecimal() else json.dumps(name, ensure_ascii=False)


def _ignore(columns: Sequence[UnusedColumn]) -> str:
    names = [_literal(column.name) for column in columns]
    return f"ignore={names[0]}" if len(names) == 1 else f"ignore=[{', '.join(names)}]"


def _uses(column: UnusedColumn, provenance: Provenance) -> str:
    """Settings that would use a column, with the column that it would replace; "" if there are none."""
    from standout.ingest.names import place_roles

    name, settings = _literal(column.name), []
    if column.kind == "coordinate":
        return f"{' or '.join(f'{role}={name}' for role in place_roles(column.name))} with grid=0.01"
    for role in USES.get(column.kind, ()):
        present = provenance.columns.get(role) if role in ("value", "time") else None
        settings.append(f"{role}={name}" + (f" (instead of {column_id(present)})" if present else ""))
    return " or ".join(settings)


def _shown(column: UnusedColumn) -> str:
    """Name of a column, and what it looks like."""
    name = column.name if column_id(column.name) != column.name else repr(column.name)
    return f"{name} {LOOKS[column.kind]}"


def overlooked(provenance: Provenance) -> list[UnusedColumn]:
    """Columns that are neither used nor ignored, and may identify people: all but text."""
    return [column for column in provenance.unused if not column.ignored and column.kind != "text"]


def reading_warnings(release: "Release") -> Iterator[str]:
    """Yield what a user should know about how a release was read."""
    for column in overlooked(release.provenance):
        uses = _uses(column, release.provenance)
        advice = f"add {uses}, or" if uses else f"{ADVICE[column.kind]}, or add"
        yield f"column {_shown(column).removeprefix('column ')} and is not used: {advice} {_ignore([column])}"
    if release.provenance.format == "synthetic" or release.n_entries < ENOUGH_ENTRIES:
        return
    first = (release.items[item] for item in range(min(release.n_items, FIRST_ITEMS)))
    unique = int((release.item_entries == 1).sum())
    if all(DEGREES.fullmatch(part) and abs(float(part)) <= 180 for item in first for part in item.split("|")):
        yield f"the items look like coordinates: make places of them with {PLACES}"
    elif release.n_records > 1 and unique > UNIQUE * release.n_entries:
        yield (
            f"{unique:,} of {release.n_entries:,} entries have an item that no other entry has: check the "
            f"item column. Items that nobody shares say little (for coordinates: {PLACES})"
        )


def require_no_overlooked(provenance: Provenance) -> None:
    """Raise an error if a column is neither used nor ignored: a gate must not pass because of it."""
    if columns := overlooked(provenance):
        parts = ((_shown(column), _uses(column, provenance)) for column in columns)
        listed = [shown + (f" ({uses})" if uses else "") for shown, uses in parts]
        them = "it" if len(columns) == 1 else "them"
        raise ColumnError(
            f"the threshold cannot be checked while columns are overlooked: {'; '.join(listed)}. "
            f"Use or remove {them}, or waive {them} with {_ignore(columns)}"
        )


def waive_columns(release: "Release", columns: Iterable[str | int]) -> "Release":
    """Mark unused columns of an index as ignored."""
    wanted, unused = {str(column) for column in columns}, release.provenance.unused
    names_of = {column.name: {column.name, column_id(column.name)} for column in unused}
    if unknown := sorted(wanted - {name for names in names_of.values() for name in names}):
        names = ", ".join(names_of) or "none"
        raise ColumnError(
            f"column {unknown[0]!r} is not an unused column of the index; the unused columns are: {names}"
        )
    waived = tuple(replace(column, ignored=column.ignored or bool(names_of[column.name] & wanted)) for column in unused)
    return replace(release, provenance=replace(release.provenance, unused=waived)) if wanted else release
