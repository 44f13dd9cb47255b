"""The ladder of a table: named adversaries, from a register to the worst case, adapted to its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from standout.adversary import Adversary
from standout.core.errors import ParameterError
from standout.core.suggestions import not_one_of
from standout.release.model import Release
from standout.table_attack.table_adversary import TableAdversary
from standout.tables.model import Table

__all__ = [
    "FittedTableLadder",
    "TableLadder",
    "TableLadderSource",
    "TableRung",
    "checked_table_ladder",
    "eligible_rows",
    "fit_table_ladder",
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
    adversary: TableAdversary | None
    gate: bool = True
    note: str = ""

    @property
    def known(self) -> TableAdversary:
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


TableLadderSource: TypeAlias = str | Path | Mapping[str, TableAdversary] | Sequence[TableRung] | None
"""Path of a TOML file, adversaries by name, rungs, or None for the default ladder."""

LADDER = (
    TableRung("register", "The owner of a register", None),
    TableRung("stranger", "A stranger", TableAdversary(knows=3)),
    TableRung("acquaintance", "An acquaintance", TableAdversary(knows=6, wrong=1)),
    TableRung("colleague", "A colleague", TableAdversary(knows=10, wrong=2)),
    TableRung("worst", "The worst case", TableAdversary(knows=6, choose="rarest", error=0.0), gate=False),
)
"""The default ladder. The worst case is a bound rather than a likely adversary: it does not count for the
threshold."""


def resolve_table_ladder(ladder: TableLadderSource, headline: str | None = None) -> TableLadder:
    """The ladder that the caller means: the default for None, a TOML file, adversaries by name, or rungs."""
    if ladder is None:
        resolved = TableLadder(LADDER, HEADLINE, "default")
    elif isinstance(ladder, (str, Path)):
        from standout.table_audit.table_ladder_file import read_table_ladder

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
    if not isinstance(name, str) or not isinstance(adversary, TableAdversary):
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


def fit_table_ladder(
    ladder: TableLadder, table: Table, quasi_identifiers: Sequence[str]
) -> FittedTableLadder:
    """The adversaries adapted to an original table. Those that do not apply are named in `limits`."""
    fitted: list[TableRung] = []
    limits: list[str] = []
    replaced_by: dict[str, str] = {}
    rungs = ladder.rungs
    if table.history is not None and ladder.source == "default":
        rungs = (*rungs, _friend(table.history))
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
            f"The headline adversary “{ladder.headline}” does not apply to this table. "
            f"“{headline}” replaces it."
        )
    return FittedTableLadder(tuple(fitted), headline, tuple(limits))


def _friend(history: Release) -> TableRung:
    """An acquaintance who also knows some entries of the history, with dates within two weeks."""
    entries = Adversary(
        knows=ENTRIES,
        value_error=0 if history.n_levels else None,
        time_error=ENTRY_DAYS if history.span else None,
    )
    return TableRung("friend", "A friend", TableAdversary(knows=6, wrong=1, entries=entries))


def _fitted(rung: TableRung, table: Table, quasi_identifiers: Sequence[str]) -> TableRung | str:
    """The adversary with as many attributes as the table has; the reason, if it does not apply."""
    adversary = rung.adversary
    if adversary is None:
        adversary = TableAdversary(columns=tuple(quasi_identifiers), error=0.0)
    for name in (*(adversary.columns or ()), *adversary.errors):
        if name not in table.attributes:
            table.position(name)
    notes = []
    attributes = _attribute_count(adversary, table)
    if adversary.most > attributes:
        of = "the table has" if adversary.columns is None else "it may know"
        fewer = with_attributes(adversary, attributes)
        notes.append(f"{of} {attributes} attributes, so the adversary knows {_attributes(fewer)}")
        adversary = fewer
    fitting = with_enough_rows(adversary, table)
    if fitting is None:
        return "no row has a cell that the adversary could know"
    if fitting.most < adversary.most:
        notes.append(
            f"fewer than {100 * FEW:g} % of the rows have {adversary.most} cells that the adversary could "
            f"know, so the adversary knows {_attributes(fitting)}"
        )
    note = "; ".join([*filter(None, [rung.note]), *notes])
    return replace(rung, adversary=fitting, note=note)


def _attribute_count(adversary: TableAdversary, table: Table) -> int:
    if adversary.columns is None:
        return len(table.attributes)
    names = {name if name in table.attributes else table.column(name).attribute for name in adversary.columns}
    return len(names)


def with_enough_rows(adversary: TableAdversary, table: Table) -> TableAdversary | None:
    """The adversary with the most attributes that a few of the rows have."""
    some = eligible_rows(with_attributes(adversary, 1), table)
    for knows in range(adversary.most, 0, -1):
        fewer = adversary if knows == adversary.most else with_attributes(adversary, knows)
        if eligible_rows(fewer, table) >= max(FEW * some, 1):
            return fewer
    one = with_attributes(adversary, 1)
    return one if eligible_rows(one, table) else None


def eligible_rows(adversary: TableAdversary, table: Table) -> int:
    """Number of rows about which an adversary can know enough."""
    return int(np.count_nonzero(adversary.eligible(table, np.arange(table.n_rows))))


def with_attributes(adversary: TableAdversary, knows: int) -> TableAdversary:
    """The adversary with another number of attributes and the same share of them wrong (half is right)."""
    wrong = -(-(2 * knows * adversary.wrong - adversary.most) // (2 * adversary.most))
    return replace(adversary, knows=knows, wrong=max(0, min(wrong, knows)))


def _attributes(adversary: TableAdversary) -> str:
    known = f"{adversary.most} attribute{'' if adversary.most == 1 else 's'}"
    return f"{known}, {adversary.wrong} of them wrong" if adversary.wrong else known
