"""Ladders of tables in TOML files: see docs/table-ladder.toml."""

from pathlib import Path
from typing import Any

from standout.core.errors import ParameterError
from standout.core.foreign_text import printable
from standout.core.toml_files import read_toml
from standout.table_attack.table_adversary import TableAdversary
from standout.table_audit.table_ladder import TableLadder, TableRung, checked_table_ladder

__all__ = ["read_table_ladder"]

QUASI_IDENTIFIERS = "quasi-identifiers"
OPTIONS = ("name", "title", "gate", "knows", "columns", "choose", "wrong", "error", "errors")
TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "name": (str, "text"),
    "title": (str, "text"),
    "gate": (bool, "true or false"),
    "columns": ((list, str), f'a list of column names, or "{QUASI_IDENTIFIERS}"'),
    "choose": (str, '"any" or "rarest"'),
    "errors": (dict, "a table of numbers by column"),
}


def read_table_ladder(path: str | Path) -> TableLadder:
    """The ladder in a TOML file: one table [[adversary]] for each adversary, and optionally `headline`.

    The options of a table are those of so.TableAdversary, and name, title and gate.
    """
    content = read_toml(Path(path))
    if unknown := sorted({*content} - {"adversary", "headline"}):
        raise ParameterError(
            f"{path}: unknown key {unknown[0]!r:.40}; the known keys are adversary and headline"
        )
    tables = content.get("adversary")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ParameterError(f"{path}: a ladder needs at least one table [[adversary]]")
    rungs = [_rung(table, f"{path}, adversary {number}") for number, table in enumerate(tables, 1)]
    headline = content.get("headline")
    if headline is not None and not isinstance(headline, str):
        raise ParameterError(f"{path}: headline must be the name of an adversary")
    try:
        return checked_table_ladder(rungs, headline, printable(Path(path).name))
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _rung(table: dict[str, Any], where: str) -> TableRung:
    """The adversary in one table of the file."""
    if unknown := sorted({*table} - {*OPTIONS}):
        raise ParameterError(
            f"{where}: unknown option {unknown[0]!r:.40}; the options are {', '.join(OPTIONS)}. Ladders for "
            "histories have other options than ladders for tables"
        )
    if "name" not in table:
        raise ParameterError(f"{where}: name is missing")
    for name, (kind, text) in TYPES.items():
        if name in table and not isinstance(table[name], kind):
            raise ParameterError(f"{where}: {name} must be {text}")
    title, gate = str(table.get("title", table["name"])), table.get("gate", True)
    if table.get("columns") == QUASI_IDENTIFIERS:
        if given := [name for name in OPTIONS[3:] if name in table and name != "columns"]:
            raise ParameterError(
                f'{where}: {given[0]} must not be given with columns = "{QUASI_IDENTIFIERS}", which means '
                "that they are known exactly: name the columns instead"
            )
        return TableRung(table["name"], title, None, gate)
    return TableRung(table["name"], title, _adversary(table, where), gate)


def _adversary(table: dict[str, Any], where: str) -> TableAdversary:
    options = {name: table[name] for name in OPTIONS[3:] if name in table}
    columns = options.get("columns")
    if columns is not None:
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise ParameterError(f"{where}: columns must be {TYPES['columns'][1]}")
        options["columns"] = tuple(columns)
    try:
        return TableAdversary(**options)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
