"""Ladders in TOML files: see docs/ladder.toml."""

import re
from pathlib import Path
from typing import Any, TypeAlias, cast

from standout.auditing.ladder import Ladder, RelativeError, RelativeErrors, Rung, checked_ladder, shortened
from standout.core.errors import ParameterError, did_you_mean
from standout.core.json_files import read_toml
from standout.core.text import printable
from standout.data.labels import SECONDS, TimeUnit
from standout.know.adversary import Adversary, outside_top

__all__ = ["read_ladder"]

TomlTable: TypeAlias = dict[str, Any]
"""Parsed TOML, whose types `_check_table` and `Adversary` check."""
TEXTS, SWITCHES = ("name", "title"), ("gate", "bound")
NUMBERS = ("knows", "wrong")
ERRORS = ("value_error", "time_error", "length_error", "joined_error")
OPTIONS = (*TEXTS, *SWITCHES, *NUMBERS, *ERRORS, "wrong_facts", "items")
NOT_FOR_BOUNDS = ("wrong", "wrong_facts", "value_error", "time_error", "items")
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

    The options of a table are those of so.Adversary, and name, title, gate and bound. An error is a number, a
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
    options = {name: table[name] for name in (*NUMBERS, "wrong_facts") if name in table}
    errors = {name: _error(table[name], name, where) for name in ERRORS if name in table}
    relative = {name: error for name, error in errors.items() if isinstance(error, RelativeError)}
    options |= {name: error for name, error in errors.items() if name not in relative}
    top = re.fullmatch(r"outside[-_]top[-_(]?(\d{1,9})\)?", table.get("items", ""))
    try:
        if "items" in table:
            options["items"] = outside_top(int(top[1])) if top else table["items"]
        adversary = Adversary(**options)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    return Rung(
        table["name"],
        str(table.get("title", table["name"])),
        adversary,
        gate=table.get("gate", True),
        relative=RelativeErrors(**relative),
        bound=table.get("bound", False),
    )


def _check_table(table: TomlTable, where: str) -> None:
    if unknown := sorted({*table} - {*OPTIONS}):
        name = shortened(unknown[0])
        raise ParameterError(
            f"{where}: unknown option {name}; the options are {', '.join(OPTIONS)}{did_you_mean(unknown[0], OPTIONS)}"
        )
    if "name" not in table:
        raise ParameterError(f"{where}: name is missing")
    for name in (*TEXTS, "wrong_facts", "items"):
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{where}: {name} must be text")
    for name in SWITCHES:
        if not isinstance(table.get(name, True), bool):
            raise ParameterError(f"{where}: {name} must be true or false")
    if table.get("bound") and (given := [name for name in NOT_FOR_BOUNDS if name in table]):
        raise ParameterError(
            f"{where}: {given[0]} must not be given with bound = true, which means right and exact facts "
            "about the rarest items: remove it"
        )


def _error(option: Any, name: str, where: str) -> float | RelativeError | None:
    """The error in a table: a number, a share of the data, a duration, or None for "none"."""
    if isinstance(option, (int, float)) and not isinstance(option, bool):
        try:
            return float(option)
        except OverflowError:
            raise ParameterError(f"{where}: {name} is too large a number") from None
    if isinstance(option, str):
        text, is_time = " ".join(option.lower().split()), name in ("time_error", "joined_error")
        if text == "none":
            return None
        if share := SHARE.fullmatch(text):
            return _relative_error(share, name, where)
        if is_time and (duration := DURATION.fullmatch(text)):
            return _days(duration[1], duration[2])
    raise ParameterError(
        f'{where}: {name} must be a number, a text such as {EXAMPLES[name]}, or "none" if it is not known; '
        f"got {shortened(option)}"
    )


def _relative_error(share: re.Match[str], name: str, where: str) -> float | RelativeError:
    percentage, limit, unit = share.groups()
    if name == "length_error":  # always a share of the length
        if limit is not None:
            raise ParameterError(f"{where}: length_error must be a number or a share without “at most”")
        return float(percentage) / 100
    if float(percentage) > 100:
        raise ParameterError(f"{where}: {name} must be at most 100 % of the data, got {percentage} %")
    if name == "value_error" and unit is not None:
        raise ParameterError(f"{where}: value_error has no {unit}s: give its limit as a number")
    at_most = None if limit is None else _days(limit, unit or "day") if name != "value_error" else float(limit)
    return RelativeError(float(percentage) / 100, at_most)


def _days(number: str, unit: str) -> float:
    return float(number) * SECONDS[cast(TimeUnit, unit)] / SECONDS["day"]
