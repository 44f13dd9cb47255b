"""Ladders in TOML files: see docs/ladder.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

from standout.adversary import Adversary, outside_top
from standout.auditing.ladder import Ladder, Rung, checked_ladder, shortened
from standout.core.errors import ParameterError, SourceError
from standout.release.catalogue import printable

__all__ = ["read_ladder"]

TomlTable: TypeAlias = dict[str, Any]
"""Parsed TOML, whose types `_check_table` and `Adversary` check."""
TEXTS, SWITCHES = ("name", "title"), ("gate",)
NUMBERS = ("knows", "wrong")
ERRORS = ("value_error", "time_error", "length_error", "joined_error")
OPTIONS = (*TEXTS, *SWITCHES, *NUMBERS, *ERRORS, "wrong_facts", "items")


def read_ladder(path: str | Path) -> Ladder:
    """The ladder in a TOML file: one table [[adversary]] for each adversary, and optionally `headline`.

    The options of a table are those of so.Adversary, and name, title and gate. "none" means not known.
    """
    content = _toml(Path(path))
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


def _toml(path: Path) -> TomlTable:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(f"{path} is not a TOML file: {error}") from error


def _rung(table: TomlTable, where: str) -> Rung:
    """The adversary in one table of the file."""
    _check_table(table, where)
    options = {name: table[name] for name in (*NUMBERS, "wrong_facts") if name in table}
    options |= {name: _error(table[name], name, where) for name in ERRORS if name in table}
    top = re.fullmatch(r"outside[-_]top[-_(]?(\d{1,9})\)?", table.get("items", ""))
    try:
        if "items" in table:
            options["items"] = outside_top(int(top[1])) if top else table["items"]
        adversary = Adversary(**options)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    return Rung(table["name"], str(table.get("title", table["name"])), adversary, table.get("gate", True))


def _check_table(table: TomlTable, where: str) -> None:
    if unknown := sorted({*table} - {*OPTIONS}):
        name = shortened(unknown[0])
        raise ParameterError(f"{where}: unknown option {name}; the options are {', '.join(OPTIONS)}")
    if "name" not in table:
        raise ParameterError(f"{where}: name is missing")
    for name in (*TEXTS, "wrong_facts", "items"):
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{where}: {name} must be text")
    for name in SWITCHES:
        if not isinstance(table.get(name, True), bool):
            raise ParameterError(f"{where}: {name} must be true or false")


def _error(option: Any, name: str, where: str) -> float | None:
    if isinstance(option, str) and option.lower() == "none":
        return None
    if isinstance(option, bool) or not isinstance(option, (int, float)):
        raise ParameterError(f'{where}: {name} must be a number, or "none" if it is not known')
    return float(option)
