"""`so.classes`: how well the values of some columns single out the rows of a release, and what they reveal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from standout._version import __version__
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.measure.column_sets import LARGEST_SIZE, KeySearch, MinimalSetShare, find_keys, minimal_sets
from standout.measure.disclosure import Disclosure, attribute_disclosure
from standout.measure.equivalence import (
    MISSING,
    IdentityRisk,
    KnownColumns,
    Missing,
    exact,
    identity_risk,
    known_columns,
)
from standout.measure.population import ModelEstimate, PopulationRisk, population_risk


@dataclass(frozen=True, eq=False, repr=False)
class Classes:
    """The result of `so.classes`.

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
    seed, fingerprint
        The seed of random draws, and the fingerprint of the release.
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
        return f"<Classes: {self.identity}>"

    def to_frame(self) -> pl.DataFrame:
        """All measures, one in each row.

        The columns are measure, setting, estimate, low, high, n, baseline, seed, fingerprint, version. The interval of
        an exact number is the number itself.
        """
        fixed = (self.seed, self.fingerprint, __version__)
        cells = [
            (measure, setting, number.value, number.low, number.high, number.n, number.baseline, *fixed)
            for measure, setting, number in self._rows()
        ]
        numbers = {"estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "baseline": pl.Float64}
        schema = {"measure": pl.String, "setting": pl.String, **numbers, "seed": pl.Int64}
        return pl.DataFrame(cells, schema={**schema, "fingerprint": pl.String, "version": pl.String}, orient="row")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The measures, the sets of columns and the class sizes, each as a table."""
        sets = [
            (len(found.columns), found.text, found.unique.value, found.search, found.tried) for found in self.keys.sets
        ]
        sizes = pl.DataFrame(
            [(count.size, count.rows // count.size, count.rows) for count in self.identity.sizes],
            schema=["size", "classes", "rows"],
            orient="row",
        )
        if self.identity.missing == "any":  # rows that agree with a row need not agree with each other
            sizes = sizes.drop("classes")
        names = ["size", "columns", "unique", "search", "tried"]
        return {
            "measures": self.to_frame(),
            "column_sets": pl.DataFrame(sets, schema=names, orient="row"),
            "class_sizes": sizes,
        }

    def _rows(self) -> Iterator[tuple[str, str, Estimate]]:
        risk = self.identity
        yield "k", "", exact(risk.k, risk.n_rows)
        yield "unique", "", risk.unique
        for size, share in risk.smaller:
            yield "in smaller classes", f"fewer than {size} rows", share
        yield "highest prosecutor risk", "", risk.highest
        yield "marketer risk", "", risk.mean
        for limit, share in risk.above:
            yield "prosecutor risk above", f"{limit:g}", share
        sources: list[tuple[str, PopulationRisk | ModelEstimate]] = []
        if self.population is not None:
            sources = [("highest of the models", self.population)]
            sources += [(model.model, model) for model in self.population.models]
        for setting, source in sources:
            yield "unique in the population", setting, source.unique
            yield "mean journalist risk", setting, source.mean
            yield "highest journalist risk", setting, source.highest
        for found in self.keys.sets:
            yield f"unique by the best {len(found.columns)}", found.text, found.unique
        for smallest in self.minimal_sets:
            yield "unique by some columns", f"{smallest.size}", smallest.share
        for learned in self.disclosures:
            yield "distinct l", learned.column, exact(learned.distinct_l, learned.known_rows)
            yield "entropy l", learned.column, exact(learned.entropy_l, learned.known_rows)
            yield "recursive c for l = 2", learned.column, exact(learned.recursive_c, learned.known_rows)
            yield "t-closeness", learned.column, exact(learned.t, learned.known_rows)
            yield "certain", learned.column, learned.certain
            yield "certain in groups", learned.column, learned.certain_in_groups
            yield "right guesses", learned.column, learned.guess
            yield "right guesses from others", learned.column, learned.guess_from_others


@with_progress
def classes(
    release: Release,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    population: int | None = None,
    *,
    missing: Missing = "equal",
    largest_set: int = LARGEST_SIZE,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Classes:
    """Measure how well the values of some columns single out the rows of a release, and what they reveal.

    Shares that count all rows are exact: their interval is the number itself. Risks in a population, and
    guesses from other rows, are estimates. docs/tables.md defines every measure.

    Parameters
    ----------
    release
        A release with columns: one row per person.
    quasi_identifiers
        Columns that others may know. Default: those with this role in the schema; if there are
        none, all columns that are not sensitive.
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

    Examples
    --------
    >>> import numpy as np
    >>> import standout as so
    >>> from standout.data.column import Column
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1, 0], np.uint8))
    >>> age = Column("age", "number", np.array([34.0, 82.0]), np.array([1, 0, 0, 0], np.uint8))
    >>> so.classes(Release.of_columns((sex, age)))
    <Classes: k = 1, 50.0% unique, marketer risk 75.0% (sex, age)>
    """
    check_seed(seed)
    if missing not in MISSING:
        raise ParameterError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    chosen = known_columns(release, quasi_identifiers, sensitive)
    known = chosen.quasi_identifiers
    identity = identity_risk(release, known, missing)
    careful = identity if missing == "equal" else identity_risk(release, known)
    candidates = tuple(name for name in release.column_names if name not in chosen.sensitive)
    return Classes(
        columns=chosen,
        identity=identity,
        population=None if population is None else population_risk(careful, population, seed),
        keys=find_keys(release, candidates, largest_set, threads, progress),
        minimal_sets=minimal_sets(release, candidates, seed, threads, progress),
        disclosures=tuple(attribute_disclosure(release, known, name) for name in chosen.sensitive),
        seed=seed,
        fingerprint=release.fingerprint,
    )
