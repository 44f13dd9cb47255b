"""The result of `table_risk`: all measures, and the same as tables."""

from dataclasses import dataclass

import polars as pl

from standout._version import __version__
from standout.evaluate.estimates import Estimate
from standout.risk_measures.disclosure import Disclosure
from standout.risk_measures.identity import IdentityRisk, exact
from standout.risk_measures.keys import KeySearch
from standout.risk_measures.known_columns import KnownColumns
from standout.risk_measures.minimal_sets import MinimalSetShare
from standout.risk_measures.population import ModelEstimate, PopulationRisk

__all__ = ["TableRisk"]

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
            (len(found.columns), found.text, found.unique.value, found.search, found.tried)
            for found in self.keys.sets
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
