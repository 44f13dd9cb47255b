"""All risk measures of a table in one call."""

from collections.abc import Sequence

from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.risk_measures.classes import MISSING, Missing
from standout.risk_measures.disclosure import attribute_disclosure
from standout.risk_measures.identity import identity_risk
from standout.risk_measures.keys import LARGEST_SIZE, find_keys
from standout.risk_measures.known_columns import known_columns
from standout.risk_measures.minimal_sets import minimal_sets
from standout.risk_measures.population import population_risk
from standout.risk_measures.result import TableRisk
from standout.tables.model import Table

__all__ = ["table_risk"]


@with_progress
def table_risk(
    table: Table,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    population: int | None = None,
    *,
    missing: Missing = "equal",
    largest_set: int = LARGEST_SIZE,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> TableRisk:
    """Measure how well the values of some columns single out the rows of a table, and what they reveal.

    Shares that count all rows are exact: their interval is the number itself. Risks in a population, and
    guesses from other rows, are estimates. docs/tables.md defines every measure.

    Parameters
    ----------
    table
        The table: one row per person.
    quasi_identifiers
        Columns that others may know. Default: those with this role in the schema; if there are none, all
        columns that are not sensitive.
    sensitive
        Columns that must not be learned. Default: those with this role in the schema.
    population
        Number of people of whom the rows are a sample. Default: the rows are everyone.
    missing
        What a missing cell agrees with. "equal": missing cells only, so that a gap can single out a row; this
        is the more careful count. "any": every value, as in sdcMicro. Only `identity` of the result
        depends on it.
    largest_set
        Largest number of columns in the search for sets that single out most rows.
    seed
        Random seed.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

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
    known = columns.quasi_identifiers
    identity = identity_risk(table, known, missing)
    careful = identity if missing == "equal" else identity_risk(table, known)
    candidates = tuple(name for name in table.names if name not in columns.sensitive)
    return TableRisk(
        columns=columns,
        identity=identity,
        population=None if population is None else population_risk(careful, population, seed),
        keys=find_keys(table, candidates, largest_set, threads, progress),
        minimal_sets=minimal_sets(table, candidates, seed, threads, progress),
        disclosures=tuple(attribute_disclosure(table, known, name) for name in columns.sensitive),
        seed=seed,
        fingerprint=table.fingerprint,
    )
