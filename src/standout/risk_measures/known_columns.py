"""Which columns the adversary is assumed to know, and which ones must not be learned."""

from collections.abc import Sequence
from dataclasses import dataclass

from standout.core.errors import ParameterError
from standout.tables.model import Table

__all__ = ["KnownColumns", "known_columns"]


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """The columns of a measurement, and why these.

    Attributes
    ----------
    quasi_identifiers
        The columns that the adversary knows.
    sensitive
        The columns that must not be learned.
    reason
        Why these are the quasi-identifiers.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    reason: str


def known_columns(
    table: Table, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> KnownColumns:
    """The named columns; else those with the role; else, as quasi-identifiers, all that are not sensitive.

    A column without any value has nothing to learn, so it is sensitive only if it is named.
    """
    declared = [column for column in table if column.role == "sensitive" and not column.is_missing.all()]
    secret = tuple(column.name for column in declared)
    if sensitive is not None:
        secret = _checked(table, sensitive, "sensitive")
    if quasi_identifiers is not None:
        known, reason = _checked(table, quasi_identifiers, "quasi_identifiers"), "named by the user"
        if not known:
            raise ParameterError("quasi_identifiers must name at least one column; default: None")
    elif table.quasi_identifiers:
        known, reason = table.quasi_identifiers, "declared as quasi-identifiers in the schema"
        known = tuple(name for name in known if name not in secret)
    else:
        known = tuple(name for name in table.names if name not in secret)
        reason = "no column is declared as a quasi-identifier, so all that are not sensitive count as known"
    if both := sorted(set(known) & set(secret)):
        raise ParameterError(f"a column is either a quasi-identifier or sensitive, not both: {both[0]!r}")
    if not known:
        raise ParameterError("sensitive names all columns: at least one must be left that others may know")
    return KnownColumns(known, secret, reason)


def _checked(table: Table, names: Sequence[str], parameter: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ParameterError(f"{parameter} must be a list of column names, got the text {names!r}")
    if len(set(names)) < len(names):
        raise ParameterError(f"{parameter} must not name a column twice")
    for name in names:
        table.position(name)
    return tuple(names)
