"""`so.classes`: how well the values of some columns single out the rows of a release, and what they reveal."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from standout._version import __version__
from standout.core import elementary
from standout.core.arrays import Floats, Ints, run_starts
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.measure.column_sets import LARGEST_SIZE, KeySearch, MinimalSetShare, find_keys, minimal_sets
from standout.measure.equivalence import (
    EquivalenceClasses,
    IdentityRisk,
    KnownColumns,
    Missing,
    cell_codes,
    equivalence_classes,
    exact,
    identity_risk,
    known_columns,
)
from standout.measure.population import ModelEstimate, PopulationRisk, population_risk

# What the rows that agree with a target reveal about a sensitive column.
#
# Rows without the sensitive value are left out: a gap is no second value that would hide the first.
#
# A guess is the commonest value of the target's class, drawn at random if several are equally common. It is
# counted twice. `guess` includes the target's own row, as an adversary sees it who knows that the target is in
# the table; whoever is unique is then always guessed. `guess_from_others` leaves the target's row out: this is
# what the table reveals even about people who are not in it. A target alone in the class is guessed by the
# commonest value of all others. Both are compared with the commonest value of the table, which needs no
# knowledge.


ORDERED_KINDS = ("number", "date", "ordered")
"""Kinds whose t-closeness counts how far values are apart in their order."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What quasi-identifiers reveal about a sensitive column."""

    column: str  # the sensitive column
    quasi_identifiers: tuple[str, ...]  # the columns that the adversary knows
    known_rows: int  # number of rows with a sensitive value; all measures are about these
    distinct_l: int  # l of distinct l-diversity: the smallest number of different values in a class
    entropy_l: float  # l of entropy l-diversity: the smallest e^H of a class, with H the entropy of its values
    # c of recursive (c, 2)-diversity: the table has it for every larger c. It is the largest ratio of the commonest
    # value to all others in a class; ∞ if a class has one value only
    recursive_c: float
    # t of t-closeness: the largest distance of a class's distribution from that of the table. Numbers, dates and
    # ordered levels by the earth mover's distance over ranks, categories by half of Σ |q − p|
    t: float
    certain: Estimate  # share of rows in classes with one value only, so that the value is certain
    # the same without rows that are unique: others with the same values share the sensitive one
    certain_in_groups: Estimate
    guess: Estimate  # share of right guesses from the target's class, with the target's own row
    # share of right guesses from the other rows of the class, with Wilson's interval over targets
    guess_from_others: Estimate

    def __str__(self) -> str:
        baseline = self.guess.baseline or 0.0
        return (
            f"{self.column}: l = {self.distinct_l}, certain for {self.certain.value:.1%}, "
            f"guessed for {self.guess.value:.1%} ({baseline:.1%} without knowledge)"
        )


def attribute_disclosure(table: Release, quasi_identifiers: Sequence[str], sensitive: str) -> Disclosure:
    """l-diversity, t-closeness and right guesses of a sensitive column."""
    if sensitive in quasi_identifiers:
        raise ParameterError(f"{sensitive!r} must not be a quasi-identifier and sensitive")
    known = ~table.column(sensitive).is_missing
    if not known.any():
        raise ParameterError(f"the sensitive column {sensitive!r} has no values")
    if not known.all():
        rows = np.flatnonzero(known)
        table = Release.of_columns(tuple(table.column(name).rows(rows) for name in (*quasi_identifiers, sensitive)))
    column = table.column(sensitive)
    classes = equivalence_classes(table, quasi_identifiers)
    cells, n = _cells(classes, column), table.n_records
    baseline = float(cells.table.max()) / n
    values = np.diff(cells.first)
    is_certain = values == 1
    share = cells.rows / cells.sizes[cells.owner]
    entropy = max(float((-cells.by_class(share * elementary.log(share))).min()), 0.0)
    commonest = np.maximum.reduceat(cells.rows, cells.first[:-1])
    others = cells.sizes - commonest
    from_class = _chance_from_others(cells.rows, cells.first)
    from_table = _chance_from_others(cells.table, np.array([0, len(cells.table)]))[cells.value]
    chance = np.where(cells.sizes[cells.owner] == 1, from_table, from_class)
    return Disclosure(
        column=sensitive,
        quasi_identifiers=tuple(quasi_identifiers),
        known_rows=n,
        distinct_l=int(values.min()),
        entropy_l=float(elementary.exp([entropy])[0]),
        recursive_c=math.inf if is_certain.any() else float((commonest / others).max()),
        t=_closeness(cells, column),
        certain=exact(float(cells.sizes[is_certain].sum()) / n, n),
        certain_in_groups=exact(float(cells.sizes[is_certain & (cells.sizes > 1)].sum()) / n, n),
        guess=exact(float(commonest.sum()) / n, n, baseline),
        guess_from_others=rate(min(float((cells.rows * chance).sum()), float(n)), n, baseline),
    )


class Cells(NamedTuple):
    """How many rows of each class have each value, for the pairs that occur, by class and then by value.

    value, rows    of each pair
    first          where the pairs of each class begin, and where the last ones end
    owner          the class of each pair
    sizes          rows of each class
    table          rows of the whole table with each value
    """

    value: Ints
    rows: Ints
    first: Ints
    owner: Ints
    sizes: Ints
    table: Ints

    def by_class(self, numbers: Floats) -> Floats:
        """Sums of numbers of pairs over each class."""
        return np.asarray(np.add.reduceat(numbers, self.first[:-1]), np.float64)


def _cells(classes: EquivalenceClasses, column: Column) -> Cells:
    codes, n_codes = cell_codes(column)
    pair = np.sort(classes.number.astype(np.int64) * n_codes + codes)
    starts = run_starts(pair)
    number, value = np.divmod(pair[starts], n_codes)
    first = np.append(run_starts(number), len(number))
    return Cells(
        value=value,
        rows=np.diff(starts, append=len(pair)),
        first=first,
        owner=np.repeat(np.arange(len(first) - 1), np.diff(first)),
        sizes=classes.counts,
        table=np.bincount(codes, minlength=n_codes).astype(np.int64),
    )


def _chance_from_others(rows: Ints, first: Ints) -> Floats:
    """Chance to guess a target with each value from the other rows of its group.

    Without the target, its value is the commonest only if it was the only commonest one. Values with one row
    fewer than it are then equally common.
    """
    starts, owner = first[:-1], np.repeat(np.arange(len(first) - 1), np.diff(first))
    most = np.maximum.reduceat(rows, starts)[owner]
    n_most = np.add.reduceat((rows == most).astype(np.int64), starts)[owner]
    n_next = np.add.reduceat((rows == most - 1).astype(np.int64), starts)[owner]
    wins = (rows == most) & (n_most == 1) & (most > 1)
    return np.where(wins, 1.0 / (1.0 + n_next), 0.0)


def _closeness(cells: Cells, column: Column) -> float:
    """The largest distance between the values of a class and those of the table."""
    share = cells.table / cells.table.sum()
    if column.kind not in ORDERED_KINDS:
        own = cells.rows / cells.sizes[cells.owner]
        usual = share[cells.value]
        absent = 1.0 - cells.by_class(usual)
        return float(((cells.by_class(np.abs(own - usual)) + absent) / 2).max())
    # Σ |Q_i − P_i| / (m − 1), with Q and P the cumulative shares of m values. Q is constant between two values of
    # a class, and P rises, so prefix sums of P give each part at once.
    occurs = np.flatnonzero(cells.table)
    m = len(occurs)
    if m < 2:
        return 0.0
    cumulative = np.cumsum(share[occurs])
    prefix = np.append(0.0, np.cumsum(cumulative))
    low = np.searchsorted(occurs, cells.value)
    is_last = np.zeros(len(low), np.bool_)
    is_last[cells.first[1:] - 1] = True
    high = np.where(is_last, m, np.append(low[1:], 0))
    running = np.cumsum(cells.rows)
    before = np.append(0, running)[cells.first[:-1]][cells.owner]
    level = (running - before) / cells.sizes[cells.owner]
    middle = np.clip(np.searchsorted(cumulative, level), low, high)
    below = level * (middle - low) - (prefix[middle] - prefix[low])
    above = (prefix[high] - prefix[middle]) - level * (high - middle)
    start = prefix[low[cells.first[:-1]]]
    return float((cells.by_class(below + above) + start).max()) / (m - 1)


# All measures of a release with columns.


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
