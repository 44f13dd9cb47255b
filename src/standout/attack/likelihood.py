"""A Bayesian attack, far stronger than the paper's: how likely the facts are if they are about a record."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from standout.attack.engine_kernels import LIKELIHOOD, FactArrays, RecordSizes, logarithm
from standout.attack.error_model import (
    LOWEST,
    SETTINGS,
    AverageProbabilities,
    DistanceClasses,
    ErrorModel,
    error_model,
    log,
    tabulate_logarithms,
)
from standout.attack.own_attack import QueryAttack
from standout.attack.queries import KernelArrays, Queries, QueryFacts
from standout.attack.release_counts import ReleaseCounts, entry_ranges
from standout.attack.verdict import PosteriorVerdict
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import check_share
from standout.core.jit import Array, kernel
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.lookup_tables import FactShape, Tables, Tabulation
from standout.know.observation import Choice
from standout.know.sanitized import Sanitized
from standout.know.similarity import Present

# How likely a record is to give a known fact about one of its items, by how the adversary chooses items.
#
# A fact about item i comes from each entry that record r has of it with probability weight(i) / size(r), and
# from anywhere with probability anywhere(i). Entries are drawn: |r| counts them, and e(i) is the number of
# entries of item i, which is |supp(i)| unless some record has it several times. Supports count records.
#
#     any, rarest, recent, burst   1 / |r|                        e(i) / entries
#     outside_top(k)               1 / |entries of r outside|     e(i) / entries outside
#     popular                      |supp(i)| / Σ |supp| over r    |supp(i)| · e(i) / Σ |supp| over all entries
#
# The last two are the chances of one draw; that entries are not drawn twice is neglected.


CLASSES_PER_E = 256
"""Sums of supports are rounded to this many classes per factor of e: by at most 0.2 %."""


class ChoiceModel(NamedTuple):
    """chosen[sizes.code[r]] is size(r), 0 if nothing in r is chosen; `entries` is its sum over all records.

    weight(i) / anywhere(i) = entries / e(i) in all three cases, where `entries` are the release's entries,
    those outside the most popular items, or Σ |supp| over all entries. Without an excluded record, its own
    size is subtracted from it. `sizes` are at least 1: a fact may be about an item that is never chosen.
    """

    sizes: RecordSizes
    chosen: Floats
    entries: float


def choice_model(release: Release, choice: Choice) -> ChoiceModel:
    """The sizes of all records for adversaries who choose items in this way; kept with the release."""
    name, top = choice
    key = f"_sizes {name} {top}" if name in ("popular", "outside_top") else "_sizes"
    kept: ChoiceModel | None = vars(release).get(key)
    if kept is not None:
        return kept
    by_record, size, entries = release.by_record, np.zeros(release.n_records), float(release.n_entries)
    if name == "outside_top":
        _sum_weights(by_record.start, by_record.item, (release.rank > top).astype(np.int64), size)
        entries = float(size.sum())
    elif name == "popular":
        _sum_weights(by_record.start, by_record.item, release.support, size)
        size = elementary.exp(np.rint(elementary.log(size) * CLASSES_PER_E) / CLASSES_PER_E)
        entries = float(release.support.astype(np.float64) @ release.item_entries)
    if name in ("popular", "outside_top"):
        chosen, code = np.unique(size, return_inverse=True)
    else:
        occurs = np.bincount(release.lengths) > 0  # counts instead of sorting millions of lengths
        chosen = np.flatnonzero(occurs).astype(np.float64)
        code = np.append(0, np.cumsum(occurs))[release.lengths]
    kept = ChoiceModel(RecordSizes(code.astype(np.uint16), np.maximum(chosen, 1.0)), chosen, entries)
    vars(release)[key] = kept
    return kept


@kernel
def _sum_weights(start: Array, item: Array, weight: Array, total: Array) -> None:
    """total[r] = Σ weight(i) over the entries of record r."""
    for record in range(len(total)):
        for entry in range(start[record], start[record + 1]):
            total[record] += np.float64(weight[item[entry]])


@dataclass(frozen=True, eq=False)
class LikelihoodQueries(Queries):
    """Queries whose scores are log-likelihood ratios.

    `odds` is c/(1 − c) · entries/(entries of item i) by fact, `constant` is −ln P(v, t). `choice` is how the
    adversary chooses items, `present` the prior probability that the target is in the release. Tables have no
    number above `highest_ratio`.
    """

    odds: Floats
    constant: Floats
    choice: Choice
    coverage: float
    present: float
    highest_ratio: float = 0.0

    mode: int = field(default=LIKELIHOOD, kw_only=True)

    @property
    def sizes(self) -> RecordSizes:
        """The sizes of all records."""
        return choice_model(self.release, self.choice).sizes

    @cached_property
    def arrays(self) -> KernelArrays:
        """As in `Queries`."""
        facts = FactArrays(*self.facts, self.weight, self.odds, self.constant)
        return super().arrays._replace(facts=facts, sizes=self.sizes)

    def peaks(self) -> Floats:
        """As in `Queries`."""
        most_entries = int(self.release.lengths.max(initial=1)) if self.release.has_repeats else 1
        item = elementary.log1p(self.odds * most_entries / self.sizes.size[0])
        return np.maximum(item + self.constant + self.highest_ratio, 1.0)

    def factors(self, fact: Ints, record: Ints, terms: Floats) -> tuple[Floats, Floats]:
        """How much likelier the item, and value and date, are from a record than from anywhere."""
        similarity = elementary.exp(np.fmax(terms, LOWEST).sum(axis=0) + self.constant[fact])
        return 1.0 + self.item_odds(fact, record), np.where(np.isnan(terms[0]), 0.0, similarity)

    def parts(self, query: Ints, fact: Ints, record: Ints, terms: Floats) -> Floats:
        """What each fact adds to the score of a record; 0 where the record lacks the item."""
        gain = np.empty(len(fact))
        _logarithms(1.0 + self.item_odds(fact, record), gain)
        gain += self.constant[fact]
        part = np.fmax(gain + terms[0] + terms[1], 0.0)
        return np.asarray(np.rint(part / self.step[query]) * self.step[query])

    def item_odds(self, fact: Ints, record: Ints) -> Floats:
        """How much likelier a fact's item is from the record than from anywhere else: odds · n/|r|."""
        odds = self.odds[fact]
        if self.release.has_repeats:
            odds = odds * entry_ranges(self.release, record, self.facts.item[fact]).number
        sizes = self.sizes
        return np.asarray(odds / sizes.size[sizes.code[record]])

    def nobody(self, candidates: Ints) -> Floats:
        """Score, by query, of the case that the target is not in the release, relative to one candidate."""
        if self.cells is not None:
            return super().nobody(candidates)
        # An item that a step removed says nothing; one that nobody has speaks against a target who is there.
        first = self.facts.first if isinstance(self.release, Sanitized) else self.known.first
        facts = np.diff(first) * -math.log1p(-self.coverage)
        odds = (1.0 - self.present) / self.present
        return facts + elementary.log(np.maximum(candidates, 1) * odds)

    def take_facts(self, query: Ints, fact: Ints, first: Ints) -> dict[str, Any]:
        """As in `Queries`."""
        per_fact = {"odds": self.odds[fact], "constant": self.constant[fact]}
        return super().take_facts(query, fact, first) | per_fact


def prepare_likelihood_queries(
    release: Release, known: KnownFacts, models: Sequence[ErrorModel], choice: Choice, present: float, exclude: Ints
) -> LikelihoodQueries:
    """The queries, with the odds and averages of the release without their excluded records.

    `models` has one for each of `known.errors`; they differ in the errors of facts only.
    """
    original = known
    if models[0].channel is not None and known.original_values is not None:
        original = replace(known, values=known.original_values)
    fact = np.flatnonzero(known.item >= 0)
    excluded = exclude[np.searchsorted(known.first, fact, "right") - 1]
    counts, average = ReleaseCounts.of(release), np.ones(len(fact))
    group = np.zeros(len(fact), np.int64) if known.error is None else known.error[fact]
    for number, model in enumerate(models):  # each fact has its error model
        at = np.flatnonzero(group == number)
        average[at] = AverageProbabilities(counts, model, original).probabilities(fact[at], excluded[at])
    impossible = fact[average == 0]  # no entry of the release can give them: only their item counts
    value, timed = original.value.copy(), original.timed.copy()
    value[impossible], timed[impossible] = -1, False
    possible = replace(original, value=value, timed=timed)
    queries = queries_from_tables(
        release,
        known,
        tables=tabulate_logarithms(release, possible, models, known.error),
        constant=-log(np.where(average > 0, average, 1.0)),
        coverage=models[0].coverage,
        choice=choice,
        present=present,
        exclude=exclude,
    )
    prepare = partial(prepare_likelihood_queries, release, models=models, choice=choice, present=present)
    return replace(queries, prepare=prepare)


def queries_from_tables(
    release: Release,
    known: KnownFacts,
    *,
    tables: Tables,
    coverage: float,
    choice: Choice,
    present: float,
    exclude: Ints,
    constant: Floats | float = 0.0,
    highest_ratio: float = 0.0,
) -> LikelihoodQueries:
    """The queries of any error model; `constant` is by fact that names an item of the release, or the same for all."""
    origin = np.flatnonzero(known.item >= 0)
    first, item = np.searchsorted(origin, known.first), known.item[origin]
    query = np.repeat(np.arange(len(known)), np.diff(first))
    of_item = release.item_entries[item] - entry_ranges(release, exclude[query], item).number
    model = choice_model(release, choice)
    excluded = np.where(exclude >= 0, model.chosen[model.sizes.code[np.maximum(exclude, 0)]], 0.0)
    entries = np.maximum(model.entries - excluded, 1.0)[query]
    facts = QueryFacts(first, item, tables.shape[origin], tables.time[origin])
    return LikelihoodQueries(
        release=release,
        known=known,
        origin=origin,
        facts=facts,
        weight=np.ones(len(item)),
        tables=tables,
        exclude=exclude,
        odds=coverage / (1.0 - coverage) * entries / np.maximum(of_item, 1),
        constant=np.broadcast_to(constant, len(item)).astype(np.float64),
        choice=choice,
        coverage=coverage,
        present=present,
        highest_ratio=highest_ratio,
    )


@kernel
def _logarithms(x: Array, out: Array) -> None:
    for i in range(len(x)):
        out[i] = logarithm(x[i])


# A Bayesian attack, far stronger than the paper's: how likely the facts are if they are about a record.


@dataclass(frozen=True)
class Likelihood(QueryAttack[PosteriorVerdict]):
    """Bayesian attack: the posterior probability that a record is the target's, given the known facts.

    A fact is one of the target's entries. With probability c, the coverage, it comes from the own record r,
    otherwise from anywhere in the release. A record that has its item i adds

        ln(c · entries / (|supp(i)| · |r|) + 1 − c) + ln(P(v, t | entry) / P(v, t))

    and one that lacks it ln(1 − c). If it has the item several times, the fact may be about any of these
    entries, and their probabilities are added up (docs/repeats.md). Scores are these sums relative to a
    record that has no known item; a fact never adds less than 0. P(v, t | entry) is the adversary's error
    model, P(v, t) its average over the release. In a sanitized release, the noise of its steps is part of
    both, and of c. The posterior is normalised over all records and the case that the target is not there.
    All parameters come from the release and the adversary, none from the targets. See docs/attack.md.

    Parameters
    ----------
    adversary : Adversary, optional
        Whose errors the facts have. Default: `simulate`, `audit` and `advise` use the adversary that they
        simulate. For facts typed by hand, one in ten is assumed wrong, and errors decay as in the paper.
        Errors that a `Fact` states itself come first.
    coverage : float, optional
        c, above 0 and below 1. Default: 0.98, or less if the adversary has wrong items.
    present : float
        Prior probability that the target is in the release, above 0 and at most 1.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type or is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=6, value_error=0, time_error=None)
    >>> aux = adversary.observe(release, "42", seed=1)
    >>> verdict = so.Likelihood(adversary).attack(release, aux)
    >>> verdict.best, round(verdict.probability("42"), 3), round(verdict.nobody, 3)
    ('42', 0.999, 0.001)
    """

    adversary: Adversary | None = None
    coverage: float | None = None
    present: float = 0.5

    def __post_init__(self) -> None:
        if self.coverage is not None:
            check_share("coverage", self.coverage, one=False)
        check_share("present", self.present)

    def for_adversary(self, adversary: Any) -> "Likelihood":
        """The same attack with the errors of this adversary, unless it has an adversary already."""
        if self.adversary is not None or not all(hasattr(adversary, name) for name in (*SETTINGS, "items")):
            return self
        return replace(self, adversary=adversary)

    def _queries(self, release: Release, known: KnownFacts, exclude: Ints) -> LikelihoodQueries:
        models = [error_model(release, self.adversary, self.coverage, errors) for errors in known.errors]
        choice: Any = Choice("any") if self.adversary is None else self.adversary.items
        return prepare_likelihood_queries(release, known, models, choice, self.present * models[0].present, exclude)


# An error model that was learned: how much likelier distances are within one person's data than between two.


@dataclass(frozen=True, eq=False)
class LearnedErrors:
    """Coverage c, and ln(m/u) by class of distance; `times` is None if dates are not compared."""

    classes: DistanceClasses
    coverage: float
    values: Floats
    times: Floats | None

    def queries(self, known: KnownFacts, exclude: Ints, present: float) -> LikelihoodQueries:
        """The queries about known facts; `present` is the prior probability that a target is there."""
        release = self.classes.release
        highest = float(self.values.max()) + (0.0 if self.times is None else float(self.times.max()))
        return queries_from_tables(
            release,
            known,
            tables=_RatioTabulation(self, known).tabulate(),
            coverage=self.coverage,
            choice=Choice("any"),
            present=present,
            exclude=exclude,
            highest_ratio=max(highest, 0.0),
        )


class _RatioTabulation(Tabulation):
    """ln(m/u) of values and times as tables: a[kind] + c[distance of times].

    c has a row for each weight of a date. Known times are moved so that a fact finds the row of its weight.
    """

    def __init__(self, errors: LearnedErrors, known: KnownFacts) -> None:
        release = errors.classes.release
        farthest = errors.classes.farthest if release.span else 0
        time = np.clip(known.time, -farthest, release.span + farthest)  # beyond, all entries are farthest
        super().__init__(release, replace(known, time=time), Present())
        self.errors = errors
        self.shares, self.row_of = np.unique(errors.classes.day_shares(known), return_inverse=True)

    @cached_property
    def reach(self) -> int:
        """As in `Tabulation`."""
        return 0 if self.errors.times is None or not self.span else self.errors.classes.farthest

    def tabulate(self) -> Tables:
        """The tables, with known times moved to the row of their weight."""
        tables = super().tabulate()
        counts = self.known.timed & (self.errors.times is not None) & (self.span > 0)
        return replace(tables, time=tables.time - np.where(counts, self.row_of.reshape(-1) * self.stride, 0))

    def _fill(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        bank, second = slice(0, self.n_levels + 1), slice(self.n_levels + 1, 2 * self.n_levels + 2)
        ratios = self._value_ratios(shape)
        a[bank], a[second] = ratios, ratios[: len(a[second])]
        if not shape.timed or self.errors.times is None or self.span == 0:
            return 1, False
        off[:], b[bank] = self._time_rows(shape, self.errors.times), 1.0
        return 2, True

    def _value_ratios(self, shape: FactShape) -> Floats:
        """ln(m/u) of each level; 0 for an entry without a value, and where no value is known."""
        ratios = np.zeros(self.n_levels + 1)
        if shape.value is not None and self.n_levels:
            number = self.errors.classes.numbers((shape.value,))[:1]
            ratios[:-1] = self.errors.values[self.errors.classes.of_values(number, np.arange(self.n_levels))]
        return ratios

    def _time_rows(self, shape: FactShape, times: Floats) -> int:
        """Where the first row of c begins, moved so that time − known time is added to it."""
        if self.near is None:
            distance = np.abs(self._steps(shape)).astype(np.int64)
            row = times[self.errors.classes.of_times(distance)]
            starts = [self._row(np.ldexp(row, -int(share))) for share in self.shares]
            self.near = starts[0] + self._zero(shape)
        return self.near
