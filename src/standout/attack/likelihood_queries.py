"""Queries of the Bayesian attack: log-likelihood ratios in place of weighted similarities.

A record that has the item of a fact adds

    ln(c · n · entries / (entries of i · |r|) + 1 − c) + ln(mean P(v, t | x, y) / P(v, t)) − ln(1 − c),

where n is the number of its entries of the item (1 unless entries repeat), over which the mean is taken. It
adds at least 0, which is what a record without the item adds: a fact that contradicts the entry counts as a
fact from anywhere. P(v, t) is P(v, t | x, y) averaged over the release. Values are averaged over the entries
of the same item and PRIOR_ENTRIES more, spread like all entries. An entry without a value counts as any
entry, one without a time as of any time. Of a fact that no entry can give, only the item counts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from standout.attack.average_probabilities import AverageProbabilities
from standout.attack.error_model import ErrorModel
from standout.attack.kernels.entry_terms import mean_terms
from standout.attack.kernels.fact_additions import FactRows, PartScores, add_sized_fact
from standout.attack.kernels.query_arrays import NO_LIKELIHOODS, QueryFacts, ScoreRule
from standout.attack.kernels.record_scores import Pairs, entry_ranges
from standout.attack.log_tables import LOWEST, exponentials, log, tabulate_logarithms
from standout.attack.queries import Queries, log2_up
from standout.attack.record_sizes import ChoiceModel, choice_model
from standout.attack.release_counts import ReleaseCounts
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.parts import Part
from standout.facts import KnownFacts
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.similarity.lookup_tables import Tables

__all__ = ["LikelihoodQueries", "prepare_likelihood_queries", "queries_from_tables"]

COARSER = 2.0**9
"""Ratio of the grid of scores and the grid of their parts."""
SLACK = 2.0**-14
"""More than the error of one part in single precision, whose terms may cancel."""


@dataclass(frozen=True, eq=False)
class LikelihoodQueries(Queries):
    """Queries whose scores are log-likelihood ratios.

    `odds` is c/(1 − c) · entries/(entries of item i) by fact, `constant` is −ln P(v, t). `present` is the
    prior probability that the target is in the release. Tables have no number above `highest_ratio`.
    """

    odds: Floats
    constant: Floats
    sizes: ChoiceModel
    coverage: float
    present: float
    highest_ratio: float = 0.0

    @cached_property
    def rule(self) -> ScoreRule:
        """The parts of scores, for the kernels."""
        odds, constant = self.odds.astype(np.float32), self.constant.astype(np.float32)
        likelihoods = exponentials(self.tables) if self.release.has_repeats else NO_LIKELIHOODS
        return ScoreRule(True, odds, constant, self.sizes.for_kernels(), SLACK, likelihoods)

    @cached_property
    def step(self) -> Floats:
        """As in `Queries`."""
        counts, highest = np.diff(self.facts.first), np.zeros(len(self))
        most_entries = int(self.release.lengths.max(initial=1)) if self.release.has_repeats else 1
        item = elementary.log1p(self.odds * most_entries / self.sizes.size[0])
        peak = item + self.constant + self.highest_ratio
        np.maximum.at(highest, np.repeat(np.arange(len(self)), counts), peak)
        bits = log2_up(np.maximum(highest, 1.0)) + log2_up(np.maximum(counts, 1))
        return np.asarray(np.ldexp(1.0, bits - 47))

    def ratios(self, fact: Ints, record: Ints, terms: Floats) -> tuple[Floats, Floats]:
        """How much likelier a fact's item, and its value and date, are from a record than from anywhere.

        The first is relative to a record without the item.
        """
        item = 1.0 + self.item_odds(fact, record)
        return item, elementary.exp(np.fmax(terms, LOWEST).sum(axis=0) + self.constant[fact])

    def parts(self, query: Ints, fact: Ints, record: Ints, terms: Floats) -> Floats:
        """What each fact adds to the score of a record; 0 where the record lacks the item."""
        gain = elementary.log1p(self.item_odds(fact, record)) + self.constant[fact]
        part = np.fmax(gain + terms[0] + terms[1], 0.0)
        return np.asarray(np.rint(part / self.step[query]) * self.step[query])

    def entry_terms(self, pairs: Pairs) -> Floats:
        """As in `Queries`; the probability of value and date is the mean over the record's entries."""
        if not self.release.has_repeats:
            return super().entry_terms(pairs)
        return mean_terms(self.release, pairs, self.tables)

    def item_odds(self, fact: Ints, record: Ints) -> Floats:
        """How much likelier a fact's item is from the record than from anywhere else: odds · n/|r|."""
        odds = self.odds[fact]
        if self.release.has_repeats:
            odds = odds * entry_ranges(self.release, record, self.facts.item[fact]).number
        return np.asarray(odds / self.sizes.of(record))

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """As in `Queries`; sums of logarithms of equal products are equal."""
        return _on_grid(super().scores_of(query, record), self.step[query])

    def part_scores(self, q: int, part: Part) -> Floats:
        """As in `Queries`."""
        scores, grid = super().part_scores(q, part), float(self.step[q]) * COARSER
        scores /= grid
        np.rint(scores, out=scores)
        scores *= grid  # in place, as in `_on_grid`: new arrays take as long as the arithmetic
        return scores

    def detached(self) -> "LikelihoodQueries":
        """As in `Queries`."""
        return replace(cast(LikelihoodQueries, super().detached()), sizes=self.sizes.detached())

    def attached(self, release: Release) -> "LikelihoodQueries":
        """As in `Queries`."""
        sizes = choice_model(release, self.sizes.choice)
        return replace(cast(LikelihoodQueries, super().attached(release)), sizes=sizes)

    def add_single_fact(self, scores: PartScores, fact: int, rows: FactRows, step: float) -> None:
        """As in `Queries`."""
        gain = elementary.log1p(self.odds[fact] / self.sizes.size) + self.constant[fact]
        add_sized_fact(self.release, rows, self.tables.c, gain, self.sizes.code, step, scores)

    def nobody(self, candidates: Ints) -> Floats:
        """Score, by query, of the case that the target is not in the release, relative to one candidate."""
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
    release: Release,
    known: KnownFacts,
    models: Sequence[ErrorModel],
    sizes: ChoiceModel,
    present: float,
    exclude: Ints,
) -> LikelihoodQueries:
    """The queries, with the odds and averages of the release without their excluded records.

    `models` has one for each of `known.errors`; they differ in the errors of facts only.
    """
    original = known
    if models[0].channel is not None and known.original_values is not None:
        original = replace(known, values=known.original_values)
    fact = np.flatnonzero(known.item >= 0)
    excluded = exclude[np.searchsorted(known.first, fact, "right") - 1]
    average = _averages(ReleaseCounts.of(release), original, models, fact, excluded)
    constant = -log(np.where(average > 0, average, 1.0))
    queries = queries_from_tables(
        release,
        known,
        tables=tabulate_logarithms(release, _possible(original, fact[average == 0]), models, known.error),
        constant=lambda fact, excluded: constant,
        coverage=models[0].coverage,
        sizes=sizes,
        present=present,
        exclude=exclude,
    )
    prepare = partial(prepare_likelihood_queries, release, models=models, sizes=sizes, present=present)
    return replace(queries, prepare=prepare)


def queries_from_tables(
    release: Release,
    known: KnownFacts,
    *,
    tables: Tables,
    constant: Callable[[Ints, Ints], Floats],
    coverage: float,
    sizes: ChoiceModel,
    present: float,
    exclude: Ints,
    highest_ratio: float = 0.0,
) -> LikelihoodQueries:
    """The queries of any error model; `constant` is given facts and the excluded record of each."""
    origin = np.flatnonzero(known.item >= 0)
    first, item = np.searchsorted(origin, known.first), known.item[origin]
    query = np.repeat(np.arange(len(known)), np.diff(first))
    of_item = release.item_entries[item] - entry_ranges(release, exclude[query], item).number
    entries = sizes.entries_without(exclude)[query]
    facts = QueryFacts(first, item, np.ones(len(item), np.float32), tables.shape[origin], tables.time[origin])
    return LikelihoodQueries(
        release=release,
        known=known,
        origin=origin,
        facts=facts,
        weight=np.ones(len(item)),
        tables=tables,
        exclude=exclude,
        odds=coverage / (1.0 - coverage) * entries / np.maximum(of_item, 1),
        constant=constant(origin, exclude[query]),
        sizes=sizes,
        coverage=coverage,
        present=present,
        highest_ratio=highest_ratio,
    )


def _averages(
    counts: ReleaseCounts, known: KnownFacts, models: Sequence[ErrorModel], fact: Ints, exclude: Ints
) -> Floats:
    """P(v, t) of these facts, each with its error model, without the excluded record of each."""
    if known.error is None:
        return AverageProbabilities(counts, models[0], known).probabilities(fact, exclude)
    average, group = np.ones(len(fact)), known.error[fact]
    for number, model in enumerate(models):
        at = np.flatnonzero(group == number)
        average[at] = AverageProbabilities(counts, model, known).probabilities(fact[at], exclude[at])
    return average


def _possible(known: KnownFacts, impossible: Ints) -> KnownFacts:
    """The facts, without the value and time of those that no entry of the release can give."""
    if not len(impossible):
        return known
    value, timed = known.value.copy(), known.timed.copy()
    value[impossible], timed[impossible] = -1, False
    return replace(known, value=value, timed=timed)


def _on_grid(scores: Floats, step: Any) -> Floats:
    """Scores on a coarser grid than their parts, because ln a + ln b is ln ab only up to rounding."""
    grid = step * COARSER
    return np.asarray(np.rint(scores / grid) * grid)
