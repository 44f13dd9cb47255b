"""All risk measures of a table in one call."""

from collections.abc import Sequence

from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed
from standout.risk_measures.classes import MISSING, Missing
from standout.risk_measures.identity import identity_risk
from standout.risk_measures.known_columns import known_columns
from standout.risk_measures.result import TableRisk
from standout.tables.model import Table

__all__ = ["table_risk"]


def table_risk(
    table: Table,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    *,
    missing: Missing = "equal",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> TableRisk:
    """Measure how well the values of some columns single out the rows of a table.

    Parameters
    ----------
    table
        The table: one row per person.
    quasi_identifiers
        Columns that others may know. Default: those with this role in the schema; if there are none, all
        columns that are not sensitive.
    sensitive
        Columns that must not be learned. Default: those with this role in the schema.
    missing
        What a missing cell agrees with. "equal": missing cells only, so that a gap can single out a row; this
        is the more careful count. "any": every value, as in sdcMicro.
    seed
        Random seed.
    threads
        Number of threads; default: all cores.
    progress
        Called with (stage, done, total).

    Returns
    -------
    TableRisk
        The measures, each with its interval.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    NotFoundError
        If the table lacks a named column.

    Examples
    --------
    >>> import numpy as np
    >>> import standout as so
    >>> from standout.tables.column import Column
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1, 0], np.uint8))
    >>> age = Column("age", "number", np.array([34.0, 82.0]), np.array([1, 0, 0, 0], np.uint8))
    >>> so.table_risk(Table((sex, age)))
    <TableRisk: k = 1, 50.0% unique, marketer risk 75.0% (sex, age)>
    """
    check_seed(seed)
    if missing not in MISSING:
        raise ParameterError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    columns = known_columns(table, quasi_identifiers, sensitive)
    return TableRisk(
        columns=columns,
        identity=identity_risk(table, columns.quasi_identifiers, missing),
        seed=seed,
        fingerprint=table.fingerprint,
    )
