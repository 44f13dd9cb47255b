"""Ladders in TOML files: see docs/ladder.toml."""

import re
from pathlib import Path
from typing import Any, TypeAlias, cast

from standout.auditing.ladder import (
    QUASI_IDENTIFIERS,
    Ladder,
    RelativeError,
    RelativeErrors,
    Rung,
    checked_ladder,
    shortened,
)
from standout.core.errors import ParameterError, did_you_mean
from standout.core.json_files import read_toml
from standout.core.text import printable
from standout.data.labels import SECONDS, TimeUnit
from standout.know.adversary import Adversary, outside_top

TomlTable: TypeAlias = dict[str, Any]
"""Parsed TOML, whose types `_check_table` and `Adversary` check."""
ERRORS = ("value_error", "time_error", "length_error", "joined_error")
KNOWN = ("knows", "wrong", "wrong_facts", "columns", "error", "errors")
OPTIONS = ("name", "title", "gate", "bound", "data", *KNOWN, "items", *ERRORS, "entries")
TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(("name", "title", "wrong_facts", "items"), (str, "text")),
    **dict.fromkeys(("gate", "bound"), (bool, "true or false")),
    "columns": ((list, str), f'a list of column names, or "{QUASI_IDENTIFIERS}"'),
    "errors": (dict, "a table of numbers by column"),
    "entries": (dict, "a table of what is known of the entries"),
}
DATA = ("any", "entries", "columns", "both")
NOT_FOR_BOUNDS = ("wrong", "wrong_facts", "value_error", "time_error", "items", "error", "errors")
"""Options that `bound` decides."""
NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
UNITS = r"(day|hour|minute)s?"
SHARE = re.compile(rf"{NUMBER} ?%(?:, at most {NUMBER}(?: {UNITS})?)?")
DURATION = re.compile(rf"{NUMBER} {UNITS}")
EXAMPLES = {
    "value_error": '"33 %" of the spread, "33 %, at most 1"',
    "time_error": '"14 days", "2 %" of the time span, "2 %, at most 14 days"',
    "length_error": '"50 %"',
    "joined_error": '"14 days", "2 %" of the time span, "2 %, at most 14 days"',
}


def read_ladder(path: str | Path) -> Ladder:
    """The ladder in a TOML file: one table [[adversary]] for each adversary, and optionally `headline`.

    The options of a table are those of so.Adversary, and name, title, gate, bound and data. An error is a number, a
    share of the data ("33 %", "2 %, at most 14 days"), or "none" if it is not known.
    """
    content = read_toml(Path(path))
    if unknown := sorted({*content} - {"adversary", "headline"}):
        name = shortened(unknown[0])
        raise ParameterError(f"{path}: unknown key {name}; the known keys are adversary and headline")
    tables = content.get("adversary")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ParameterError(f"{path}: a ladder needs at least one table [[adversary]]")
    rungs = [_rung(table, f"{path}, adversary {number}") for number, table in enumerate(tables, 1)]
    headline = content.get("headline")
    if headline is not None and not isinstance(headline, str):
        raise ParameterError(f"{path}: headline must be the name of an adversary")
    try:
        return checked_ladder(rungs, headline, printable(Path(path).name))
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _rung(table: TomlTable, where: str) -> Rung:
    """The adversary in one table of the file."""
    _check_table(table, where)
    if "name" not in table:
        raise ParameterError(f"{where}: name is missing")
    if table.get("bound") and (given := [name for name in NOT_FOR_BOUNDS if name in table]):
        raise ParameterError(
            f"{where}: {given[0]} must not be given with bound = true, which means right and exact facts "
            "about the rarest items: remove it"
        )
    adversary, relative = _adversary(table, where)
    return Rung(
        table["name"],
        str(table.get("title", table["name"])),
        adversary,
        gate=table.get("gate", True),
        relative=relative,
        bound=table.get("bound", False),
        data=table.get("data", "any"),
    )


def _adversary(table: TomlTable, where: str) -> tuple[Adversary, RelativeErrors]:
    """What is known, and errors that are shares of the data."""
    options = {name: table[name] for name in KNOWN if name in table}
    errors = {name: _error(table[name], name, where) for name in ERRORS if name in table}
    relative = {name: error for name, error in errors.items() if isinstance(error, RelativeError)}
    options |= {name: error for name, error in errors.items() if name not in relative}
    if options.get("columns") == QUASI_IDENTIFIERS:
        if given := [name for name in (*KNOWN, "items", *ERRORS) if name in table and name != "columns"]:
            raise ParameterError(
                f'{where}: {given[0]} must not be given with columns = "{QUASI_IDENTIFIERS}", which means '
                "that they are known exactly: name the columns instead"
            )
        options = {"columns": (QUASI_IDENTIFIERS,), "error": 0.0}
    elif "columns" in options:
        columns = options["columns"]
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise ParameterError(f"{where}: columns must be {TYPES['columns'][1]}")
        options["columns"] = tuple(columns)
    if "entries" in table:
        _check_table(table["entries"], f"{where}, entries", (*KNOWN[:3], "items", *ERRORS))
        options["entries"], of_entries = _adversary(table["entries"], f"{where}, entries")
        if any(of_entries):
            raise ParameterError(f"{where}, entries: errors must be numbers")
    top = re.fullmatch(r"outside[-_]top[-_(]?(\d{1,9})\)?", table.get("items", ""))
    try:
        if "items" in table:
            options["items"] = outside_top(int(top[1])) if top else table["items"]
        return Adversary(**options), RelativeErrors(**relative)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _check_table(table: TomlTable, where: str, options: tuple[str, ...] = OPTIONS) -> None:
    if unknown := sorted({*table} - {*options}):
        name = shortened(unknown[0])
        raise ParameterError(
            f"{where}: unknown option {name}; the options are {', '.join(options)}{did_you_mean(unknown[0], options)}"
        )
    for name, (kind, text) in TYPES.items():
        if name in table and not isinstance(table[name], kind):
            raise ParameterError(f"{where}: {name} must be {text}")
    if table.get("data", "any") not in DATA:
        raise ParameterError(f"{where}: data must be one of {', '.join(DATA)}")


def _error(option: Any, name: str, where: str) -> float | RelativeError | None:
    """The error in a table: a number, a share of the data, a duration, or None for "none"."""
    text = " ".join(option.lower().split()) if isinstance(option, str) else ""
    is_time = name in ("time_error", "joined_error")
    if text == "none":
        return None
    if isinstance(option, (int, float)) and not isinstance(option, bool):
        try:
            return float(option)
        except OverflowError:
            raise ParameterError(f"{where}: {name} is too large a number") from None
    if is_time and (duration := DURATION.fullmatch(text)):
        return _days(duration[1], duration[2])
    share = SHARE.fullmatch(text)
    if share is None:
        raise ParameterError(
            f'{where}: {name} must be a number, a text such as {EXAMPLES[name]}, or "none" if it is not known; '
            f"got {shortened(option)}"
        )
    percentage, limit, unit = share.groups()
    if name == "length_error":  # always a share of the length
        if limit is not None:
            raise ParameterError(f"{where}: length_error must be a number or a share without “at most”")
        return float(percentage) / 100
    if float(percentage) > 100:
        raise ParameterError(f"{where}: {name} must be at most 100 % of the data, got {percentage} %")
    if not is_time and unit is not None:
        raise ParameterError(f"{where}: value_error has no {unit}s: give its limit as a number")
    at_most = None if limit is None else _days(limit, unit or "day") if is_time else float(limit)
    return RelativeError(float(percentage) / 100, at_most)


def _days(number: str, unit: str) -> float:
    return float(number) * SECONDS[cast(TimeUnit, unit)] / SECONDS["day"]
