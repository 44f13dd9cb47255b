"""All risk measures of a table in one call."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from standout._version import __version__
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.measure.classes import MISSING, IdentityRisk, KnownColumns, Missing, exact, identity_risk, known_columns
from standout.measure.column_sets import LARGEST_SIZE, KeySearch, MinimalSetShare, find_keys, minimal_sets
from standout.measure.disclosure import Disclosure, attribute_disclosure
from standout.measure.population import ModelEstimate, PopulationRisk, population_risk

__all__ = ["TableRisk", "table_risk"]

# The result of `table_risk`: all measures, and the same as tables.


Row = tuple[str, str, Estimate]
COLUMNS = {
    "measure": pl.String,
    "setting": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "baseline": pl.Float64,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class TableRisk:
    """The result of `table_risk`.

    Attributes
    ----------
    columns
        The quasi-identifiers and sensitive columns, and why these.
    identity
        k, uniqueness, prosecutor and marketer risk of the quasi-identifiers; exact, all rows counted.
    population
        The same if the rows are a sample of a population; None if no population was given.
    keys
        The best set of columns of each size, among all columns that are not sensitive.
    minimal_sets
        Share of rows that some single column, pair or triple of these columns singles out.
    disclosures
        What the quasi-identifiers reveal about each sensitive column.
    seed
        The seed of random draws.
    fingerprint
        The fingerprint of the table.
    """

    columns: KnownColumns
    identity: IdentityRisk
    population: PopulationRisk | None
    keys: KeySearch
    minimal_sets: tuple[MinimalSetShare, ...]
    disclosures: tuple[Disclosure, ...]
    seed: int
    fingerprint: str

    def __repr__(self) -> str:
        return f"<TableRisk: {self.identity}>"

    def to_frame(self) -> pl.DataFrame:
        """All measures, one in each row.

        Returns
        -------
        polars.DataFrame
            measure, setting, estimate, low, high, n, baseline, seed, fingerprint, version. The interval of an
            exact number is the number itself.
        """
        fixed = (self.seed, self.fingerprint, __version__)
        cells = [
            (measure, setting, number.value, number.low, number.high, number.n, number.baseline, *fixed)
            for measure, setting, number in self._rows()
        ]
        return pl.DataFrame(cells, schema=COLUMNS, orient="row")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The measures, the sets of columns and the class sizes, each as a table."""
        sets = [
            (len(found.columns), found.text, found.unique.value, found.search, found.tried) for found in self.keys.sets
        ]
        names = ["size", "columns", "unique", "search", "tried"]
        sizes = [(count.size, count.rows // count.size, count.rows) for count in self.identity.sizes]
        found = {
            "measures": self.to_frame(),
            "column_sets": pl.DataFrame(sets, schema=names, orient="row"),
            "class_sizes": pl.DataFrame(sizes, schema=["size", "classes", "rows"], orient="row"),
        }
        if self.identity.missing == "any":  # rows that agree with a row need not agree with each other
            found["class_sizes"] = found["class_sizes"].drop("classes")
        return found

    def _rows(self) -> list[Row]:
        return [
            *_identity_rows(self.identity),
            *([] if self.population is None else _population_rows(self.population)),
            *[(f"unique by the best {len(x.columns)}", x.text, x.unique) for x in self.keys.sets],
            *[("unique by some columns", f"{x.size}", x.share) for x in self.minimal_sets],
            *[row for disclosure in self.disclosures for row in _disclosure_rows(disclosure)],
        ]


def _identity_rows(risk: IdentityRisk) -> list[Row]:
    return [
        ("k", "", exact(risk.k, risk.n_rows)),
        ("unique", "", risk.unique),
        *[("in smaller classes", f"fewer than {size} rows", share) for size, share in risk.smaller],
        ("highest prosecutor risk", "", risk.highest),
        ("marketer risk", "", risk.mean),
        *[("prosecutor risk above", f"{limit:g}", share) for limit, share in risk.above],
    ]


def _population_rows(risk: PopulationRisk) -> list[Row]:
    sources: list[tuple[str, PopulationRisk | ModelEstimate]] = [("highest of the models", risk)]
    sources += [(model.model, model) for model in risk.models]
    return [
        (measure, setting, number)
        for setting, source in sources
        for measure, number in (
            ("unique in the population", source.unique),
            ("mean journalist risk", source.mean),
            ("highest journalist risk", source.highest),
        )
    ]


def _disclosure_rows(found: Disclosure) -> list[Row]:
    numbers = {
        "distinct l": found.distinct_l,
        "entropy l": found.entropy_l,
        "recursive c for l = 2": found.recursive_c,
        "t-closeness": found.t,
    }
    return [
        *[(measure, found.column, exact(number, found.known_rows)) for measure, number in numbers.items()],
        ("certain", found.column, found.certain),
        ("certain in groups", found.column, found.certain_in_groups),
        ("right guesses", found.column, found.guess),
        ("right guesses from others", found.column, found.guess_from_others),
    ]


@with_progress
def table_risk(
    table: Release,
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
    >>> from standout.data.column import Column
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1, 0], np.uint8))
    >>> age = Column("age", "number", np.array([34.0, 82.0]), np.array([1, 0, 0, 0], np.uint8))
    >>> so.table_risk(Release.of_columns((sex, age)))
    <TableRisk: k = 1, 50.0% unique, marketer risk 75.0% (sex, age)>
    """
    check_seed(seed)
    if missing not in MISSING:
        raise ParameterError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    columns = known_columns(table, quasi_identifiers, sensitive)
    known = columns.quasi_identifiers
    identity = identity_risk(table, known, missing)
    careful = identity if missing == "equal" else identity_risk(table, known)
    candidates = tuple(name for name in table.column_names if name not in columns.sensitive)
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
