"""The ladder of a table: named adversaries, from a register to the worst case, adapted to its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from standout.auditing.sentences import listed
from standout.core.errors import ParameterError, not_one_of
from standout.core.json_files import read_toml
from standout.core.text import printable
from standout.data.release import Release
from standout.findings.adversaries import ColumnError
from standout.findings.reading import error_text
from standout.know.adversary import Adversary

__all__ = [
    "FittedTableLadder",
    "TableLadder",
    "TableLadderSource",
    "TableRung",
    "checked_table_ladder",
    "column_errors",
    "describe_table_adversary",
    "eligible_rows",
    "fit_table_ladder",
    "read_table_ladder",
    "resolve_table_ladder",
    "with_attributes",
    "with_enough_rows",
]

FEW = 0.05
"""An adversary knows fewer attributes if less than this share of the rows has enough cells."""
LONGEST_NAME = 80
ENTRIES, ENTRY_DAYS = 4, 14
"""What a friend knows of a history: so many entries, with dates off by so many days."""
HEADLINE = "acquaintance"
WRONG_LADDER = "ladder must be the path of a TOML file or a mapping from names to table adversaries"


@dataclass(frozen=True, slots=True)
class TableRung:
    """One adversary of the ladder.

    Attributes
    ----------
    title
        Title in the report.
    adversary
        What is known. None: the quasi-identifiers, exactly.
    gate
        Whether the adversary counts for the threshold.
    note
        How the adversary was adapted to the table.
    """

    name: str
    title: str
    adversary: Adversary | None
    gate: bool = True
    note: str = ""

    @property
    def known(self) -> Adversary:
        """What is known, once the ladder is fitted to a table."""
        assert self.adversary is not None
        return self.adversary


class TableLadder(NamedTuple):
    """Adversaries in order, the name of the headline adversary, and where the ladder comes from."""

    rungs: tuple[TableRung, ...]
    headline: str
    source: str


class FittedTableLadder(NamedTuple):
    """The adversaries that apply to a table, the headline, and sentences about what was skipped."""

    rungs: tuple[TableRung, ...]
    headline: str
    limits: tuple[str, ...]


TableLadderSource: TypeAlias = str | Path | Mapping[str, Adversary] | Sequence[TableRung] | None
"""Path of a TOML file, adversaries by name, rungs, or None for the default ladder."""

LADDER = (
    TableRung("register", "The owner of a register", None),
    TableRung("stranger", "A stranger", Adversary(knows=3)),
    TableRung("acquaintance", "An acquaintance", Adversary(knows=6, wrong=1)),
    TableRung("colleague", "A colleague", Adversary(knows=10, wrong=2)),
    TableRung("worst", "The worst case", Adversary(knows=6, items="rarest", error=0.0), gate=False),
)
"""The default ladder. The worst case is a bound rather than a likely adversary: it does not count for the
threshold."""


def resolve_table_ladder(ladder: TableLadderSource, headline: str | None = None) -> TableLadder:
    """The ladder that the caller means: the default for None, a TOML file, adversaries by name, or rungs."""
    if ladder is None:
        resolved = TableLadder(LADDER, HEADLINE, "default")
    elif isinstance(ladder, (str, Path)):
        resolved = read_table_ladder(ladder)
    elif isinstance(ladder, Mapping):
        rungs = [_own_rung(name, adversary) for name, adversary in ladder.items()]
        resolved = checked_table_ladder(rungs, None, "own")
    elif isinstance(ladder, (list, tuple)) and all(isinstance(rung, TableRung) for rung in ladder):
        resolved = checked_table_ladder(list(ladder), None, "own")
    else:
        raise ParameterError(f"{WRONG_LADDER}, got {type(ladder).__name__}")
    if headline is None:
        return resolved
    return resolved._replace(headline=_rung_name(resolved.rungs, headline))


def _own_rung(name: object, adversary: object) -> TableRung:
    if not isinstance(name, str) or not isinstance(adversary, Adversary):
        raise ParameterError(f"{WRONG_LADDER}, got {type(adversary).__name__} as an adversary")
    return TableRung(name, name, adversary)


def checked_table_ladder(rungs: Sequence[TableRung], headline: str | None, source: str) -> TableLadder:
    """The ladder of these rungs, if their names and titles are valid."""
    if not rungs:
        raise ParameterError("a ladder needs at least one adversary")
    for rung in rungs:
        for text in (rung.name, rung.title):
            if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
                raise ParameterError(
                    f"the name and title of an adversary must be one line of 1 to {LONGEST_NAME} characters"
                )
    names = [rung.name for rung in rungs]
    if len({*names}) < len(names):
        raise ParameterError("two adversaries have the same name")
    default = HEADLINE if HEADLINE in names else next((rung.name for rung in rungs if rung.gate), names[0])
    return TableLadder(tuple(rungs), default if headline is None else _rung_name(rungs, headline), source)


def _rung_name(rungs: Sequence[TableRung], name: object) -> str:
    names = [rung.name for rung in rungs]
    if name not in names:
        raise ParameterError(not_one_of("headline", name, names))
    return str(name)


def fit_table_ladder(ladder: TableLadder, table: Release, quasi_identifiers: Sequence[str]) -> FittedTableLadder:
    """The adversaries adapted to an original table. Those that do not apply are named in `limits`."""
    fitted: list[TableRung] = []
    limits: list[str] = []
    replaced_by: dict[str, str] = {}
    rungs = ladder.rungs
    if table.n_items and ladder.source == "default":
        rungs = (*rungs, _friend(table))
    for rung in rungs:
        candidate = _fitted(rung, table, quasi_identifiers)
        if isinstance(candidate, str):
            limits.append(f"The adversary “{rung.name}” was skipped: {candidate}.")
            continue
        same = next((other.name for other in fitted if other.adversary == candidate.adversary), None)
        if same is None:
            fitted.append(candidate)
            continue
        replaced_by[rung.name] = same
        if rung.gate:  # the adversary that stays counts for the threshold if one of them does
            fitted = [replace(other, gate=True) if other.name == same else other for other in fitted]
        limits.append(f"The adversary “{rung.name}” was skipped because it equals “{same}” on this table.")
    if not fitted:
        raise ParameterError(f"no adversary of the ladder applies to this table: {' '.join(limits)}")
    headline = replaced_by.get(ladder.headline, ladder.headline)
    if headline not in [rung.name for rung in fitted]:
        headline = next((rung.name for rung in fitted if rung.gate), fitted[0].name)
        limits.append(
            f"The headline adversary “{ladder.headline}” does not apply to this table. “{headline}” replaces it."
        )
    return FittedTableLadder(tuple(fitted), headline, tuple(limits))


def _friend(history: Release) -> TableRung:
    """An acquaintance who also knows some entries of the history, with dates within two weeks."""
    entries = Adversary(
        knows=ENTRIES, value_error=0 if history.n_levels else None, time_error=ENTRY_DAYS if history.span else None
    )
    return TableRung("friend", "A friend", Adversary(knows=6, wrong=1, entries=entries))


def _fitted(rung: TableRung, table: Release, quasi_identifiers: Sequence[str]) -> TableRung | str:
    """The adversary with as many attributes as the table has; the reason, if it does not apply."""
    adversary = rung.adversary
    if adversary is None:
        adversary = Adversary(columns=tuple(quasi_identifiers), error=0.0)
    for name in (*(adversary.columns or ()), *adversary.errors):
        if name not in table.attributes:
            table.column_position(name)
    notes = []
    attributes = _attribute_count(adversary, table)
    if adversary.knows > attributes:
        of = "the table has" if adversary.columns is None else "it may know"
        fewer = with_attributes(adversary, attributes)
        notes.append(f"{of} {attributes} attributes, so the adversary knows {_attributes(fewer)}")
        adversary = fewer
    fitting = with_enough_rows(adversary, table)
    if fitting is None:
        return "no row has a cell that the adversary could know"
    if fitting.knows < adversary.knows:
        notes.append(
            f"fewer than {100 * FEW:g} % of the rows have {adversary.knows} cells that the adversary could "
            f"know, so the adversary knows {_attributes(fitting)}"
        )
    note = "; ".join([*filter(None, [rung.note]), *notes])
    return replace(rung, adversary=fitting, note=note)


def _attribute_count(adversary: Adversary, table: Release) -> int:
    if adversary.columns is None:
        return len(table.attributes)
    names = {name if name in table.attributes else table.column(name).attribute for name in adversary.columns}
    return len(names)


def with_enough_rows(adversary: Adversary, table: Release) -> Adversary | None:
    """The adversary with the most attributes that a few of the rows have."""
    some = eligible_rows(with_attributes(adversary, 1), table)
    for knows in range(adversary.knows, 0, -1):
        fewer = adversary if knows == adversary.knows else with_attributes(adversary, knows)
        if eligible_rows(fewer, table) >= max(FEW * some, 1):
            return fewer
    one = with_attributes(adversary, 1)
    return one if eligible_rows(one, table) else None


def eligible_rows(adversary: Adversary, table: Release) -> int:
    """Number of rows about which an adversary can know enough."""
    return int(np.count_nonzero(adversary.eligible(table, np.arange(table.n_records))))


def with_attributes(adversary: Adversary, knows: int) -> Adversary:
    """The adversary with another number of attributes and the same share of them wrong (half is right)."""
    wrong = -(-(2 * knows * adversary.wrong - adversary.knows) // (2 * adversary.knows))
    return replace(adversary, knows=knows, wrong=max(0, min(wrong, knows)))


def _attributes(adversary: Adversary) -> str:
    known = f"{adversary.knows} attribute{'' if adversary.knows == 1 else 's'}"
    return f"{known}, {adversary.wrong} of them wrong" if adversary.wrong else known


# Ladders of tables in TOML files: see docs/table-ladder.toml.


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

    The options of a table are those of so.Adversary, and name, title and gate.
    """
    content = read_toml(Path(path))
    if unknown := sorted({*content} - {"adversary", "headline"}):
        raise ParameterError(f"{path}: unknown key {unknown[0]!r:.40}; the known keys are adversary and headline")
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


def _adversary(table: dict[str, Any], where: str) -> Adversary:
    options = {name: table[name] for name in OPTIONS[3:] if name in table}
    if "knows" not in options and not options.get("columns"):
        raise ParameterError(f"{where}: knows or columns must be given")
    if options.get("choose", "any") not in ("any", "rarest"):
        raise ParameterError(f"{where}: choose must be {TYPES['choose'][1]}")
    columns = options.get("columns")
    if columns is not None:
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise ParameterError(f"{where}: columns must be {TYPES['columns'][1]}")
        options["columns"] = tuple(columns)
    try:
        return Adversary(items=options.pop("choose", "any"), **options)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


# What an adversary of a table knows, in one plain sentence, and how inaccurate it is by column.


MOST_ERRORS = 4
"""Number of columns whose error a sentence gives: the report lists all of them in a table."""


def describe_table_adversary(adversary: Adversary, table: Release) -> str:
    """What the adversary knows.

    >>> import numpy as np
    >>> from standout.data.column import Column
    >>> age = Column("age", "number", np.arange(90.0), np.zeros(2, np.uint8), error=2.0)
    >>> describe_table_adversary(Adversary(knows=1), Release.of_columns((age,)))
    'Knows the only attribute. Values are imprecise: age ± 2.'
    """
    errors = [f"{error.column} {error.text}" for error in column_errors(adversary, table) if error.error]
    wrong = ""
    if adversary.wrong:
        wrong = f", {adversary.wrong} of them wrong"
    if not errors:
        precision = "Values are exact." if not adversary.wrong else "The other values are exact."
    else:
        others = "The other values are imprecise" if adversary.wrong else "Values are imprecise"
        precision = f"{others}: {listed(errors, MOST_ERRORS)}."
    entries = ""
    if adversary.entries is not None:
        number = adversary.entries.knows
        entries = f" Also knows {number} {'entry' if number == 1 else 'entries'} of the person's history."
    return f"Knows {_what(adversary, table)}{wrong}. {precision}{entries}"


def _what(adversary: Adversary, table: Release) -> str:
    n, known = adversary.knows, adversary.columns
    total = len(table.attributes) if known is None else len(known)
    if known is not None and n == total:
        return listed(list(known))
    if n == total:
        return "the only attribute" if n == 1 else f"all {total} attributes"
    among = f"{n} of the {total} attributes" if known is None else f"{n} of {listed(list(known))}"
    if str(adversary.items) == "rarest":
        if n == 1:
            return f"the one{among.removeprefix('1')} whose value the fewest people share"
        return f"the {among} whose values the fewest people share"
    return f"{among}, drawn at random for each person"


def column_errors(adversary: Adversary, table: Release) -> tuple[ColumnError, ...]:
    """How inaccurate the adversary's knowledge of each column is."""
    known = None if adversary.columns is None else set(adversary.columns)
    errors = []
    for column in table.columns:
        if known is None or column.name in known or column.attribute in known:
            error = adversary.error_of(column) if column.has_distances else 0.0
            errors.append(ColumnError(column=column.name, error=error, text=error_text(column, error)))
    return tuple(errors)
