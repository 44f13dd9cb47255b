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
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from standout.attack.error_model import ErrorModel, TimeErrors
from standout.attack.kernels.entry_terms import mean_terms
from standout.attack.kernels.query_arrays import NO_LIKELIHOODS, Likelihoods, QueryFacts, ScoreRule
from standout.attack.kernels.record_scores import Pairs, entry_ranges
from standout.attack.queries import Queries, log2_up
from standout.attack.record_sizes import ChoiceModel
from standout.attack.release_counts import ReleaseCounts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.facts import KnownFacts
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.similarity.attributes import Present
from standout.similarity.lookup_tables import FactShape, Tables, Tabulation

__all__ = ["LikelihoodQueries", "prepare_likelihood_queries", "queries_from_tables"]

PRIOR_ENTRIES = 10.0
LOWEST = -60.0
"""Instead of ln 0: low enough that no record gains from such a fact."""
LEAST = math.exp(LOWEST)
COARSER = 2.0**9
"""Ratio of the grid of scores and the grid of their parts."""
PIECES = 640
"""Number of pieces in which a distribution of errors that is not flat is averaged over the release."""
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
        likelihoods = _exponentials(self.tables) if self.release.has_repeats else NO_LIKELIHOODS
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

    def scores(self, q: int) -> Floats:
        """As in `Queries`."""
        return _on_grid(super().scores(q), self.step[q])

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
    model: ErrorModel,
    sizes: ChoiceModel,
    present: float,
    exclude: Ints,
) -> LikelihoodQueries:
    """The queries, with the odds and averages of the release without their excluded records."""
    original = known
    if model.channel is not None and known.original_values is not None:
        original = replace(known, values=known.original_values)
    fact = np.flatnonzero(known.item >= 0)
    excluded = exclude[np.searchsorted(known.first, fact, "right") - 1]
    average = _Averages(ReleaseCounts.of(release), model, original).probabilities(fact, excluded)
    constant = -_log(np.where(average > 0, average, 1.0))
    return queries_from_tables(
        release,
        known,
        tables=_LogTabulation(release, _possible(original, fact[average == 0]), model).tabulate(),
        constant=lambda fact, excluded: constant,
        coverage=model.coverage,
        sizes=sizes,
        present=present,
        exclude=exclude,
    )


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


def _possible(known: KnownFacts, impossible: Ints) -> KnownFacts:
    """The facts, without the value and time of those that no entry of the release can give."""
    if not len(impossible):
        return known
    value, timed = known.value.copy(), known.timed.copy()
    value[impossible], timed[impossible] = -1, False
    return replace(known, value=value, timed=timed)


@dataclass(frozen=True, eq=False)
class _Averages:
    """P(v, t) of known facts: the error model averaged over a release."""

    counts: ReleaseCounts
    model: ErrorModel
    known: KnownFacts

    def probabilities(self, fact: Ints, exclude: Ints) -> Floats:
        """Return P(v, t) of these facts, averaged over the release without the excluded record of each."""
        right_value, wrong_value = self._values(fact, exclude)
        right_time, wrong_time = self._times(fact, exclude)
        w, times = self.model.wrong, self.model.times
        either = (1.0 - w) * right_value + w * wrong_value
        if times is None or times.is_flat:
            average = (1.0 - w) * right_value * right_time + w * wrong_value * wrong_time
        else:
            average = either * ((1.0 - w) * right_time + w * wrong_time)
        if times is not None:
            untimed = np.where(self.known.timed[fact], self.counts.untimed_shares(exclude), 0.0)
            any_time = 1.0 / self.counts.release.span if times.is_flat else times.elsewhere
            average = (1.0 - untimed) * average + untimed * either * any_time
        return average

    def _values(self, fact: Ints, exclude: Ints) -> tuple[Floats, Floats]:
        """right(v) and wrong(v), averaged over the levels of each fact's item; 1 where no value is known."""
        known, release = self.known, self.counts.release
        right, wrong = np.ones(len(fact)), np.ones(len(fact))
        at = np.flatnonzero(known.value[fact] >= 0) if release.n_levels else fact[:0]
        if not len(at):
            return right, wrong
        people, person = np.unique(exclude[at], return_inverse=True)
        shares = self.counts.level_shares(people)
        weight, own = shares[person.reshape(-1)], self.counts.item_levels(known.item[fact[at]], exclude[at])
        if own is not None:
            weight = own[:, :-1] + (PRIOR_ENTRIES + own[:, -1:]) * weight
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        used, index = np.unique(known.value[fact[at]], return_inverse=True)
        for number, value in enumerate(used.tolist()):
            row = index.reshape(-1) == number
            right[at[row]] = weight[row] @ self.model.right_values(known.values[value])
            wrong[at[row]] = weight[row] @ self.model.wrong_values(known.values[value])
        return right, wrong

    def _times(self, fact: Ints, exclude: Ints) -> tuple[Floats, Floats]:
        """H(t) and G(t), averaged over all times of the release; 1 where no time is known."""
        known, times = self.known, self.model.times
        right, wrong = np.ones(len(fact)), np.ones(len(fact))
        at = np.flatnonzero(known.timed[fact]) if times is not None else fact[:0]
        if not len(at) or times is None:
            return right, wrong
        time, without = known.time[fact[at]], exclude[at]
        timed = np.maximum(self.counts.timed(without), 1.0)
        if times.is_flat:
            share = self.counts.within(time - times.reach, time + times.reach, without) / timed
        else:
            share = self._weighted(time, without, times) / timed
        session = self.counts.session_shares(without)
        share = np.where(self._is_repeated_day()[fact[at]], session + (1.0 - session) * share, share)
        right[at] = times.shares.max() * share
        wrong[at] = times.elsewhere * (1.0 - share if times.is_flat else 1.0)
        return right, wrong

    def _weighted(self, time: Ints, exclude: Ints, times: TimeErrors) -> Floats:
        """Number of entries, each counted with H of its distance relative to the highest H."""
        used = np.flatnonzero(times.shares)
        edge = np.unique(np.linspace(0, len(times.shares), PIECES + 1).astype(np.int64))
        low, high = edge[:-1], edge[1:]
        if len(used) <= PIECES or len(used) < len(times.shares) // 2:  # dates are rounded
            low, high = used, used + 1
        cumulative = np.append(0.0, np.cumsum(times.shares))
        height = (cumulative[high] - cumulative[low]) / (high - low) / times.shares.max()
        nearest, farthest = times.reach + 1 - high, times.reach - low
        total = np.zeros(len(time))
        for at in range(len(time)):
            without = np.full(len(height), exclude[at])
            total[at] = height @ self.counts.within(time[at] + nearest, time[at] + farthest, without)
        return total

    def _is_repeated_day(self) -> Bools:
        """Whether an earlier fact about the same target is of the same day."""
        known, clock = self.known, self.counts.release.clock
        assert clock is not None
        query = np.repeat(np.arange(len(known)), np.diff(known.first))
        day = (known.time + clock.origin) // (SECONDS["day"] // SECONDS[clock.unit])
        repeated = np.zeros(len(query), np.bool_)
        order = np.lexsort((np.arange(len(query)), day, query, ~known.timed))
        same = (np.diff(query[order]) == 0) & (np.diff(day[order]) == 0)
        repeated[order[1:]] = same & known.timed[order[1:]]
        return repeated


class _ValueRows(NamedTuple):
    """Logarithms of P(v, t | x, y) for a known value and each level: date not known, near, or far."""

    untimed: Floats
    near: Floats
    far: Floats


class _LogTabulation(Tabulation):
    """ln P(v, t | x, y) as tables: a[kind] + b[kind] · c[distance of times]."""

    def __init__(self, release: Release, known: KnownFacts, model: ErrorModel) -> None:
        super().__init__(release, known, Present())
        self.model = model

    def tabulate(self) -> Tables:
        """The tables, with the reach of times where near and far are all that counts."""
        times = self.model.times
        reach = 0 if times is None else times.reach if times.is_flat else -1
        return replace(super().tabulate(), reach=reach)

    def _fill(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        times, rows = self.model.times, self._rows(shape)
        bank, second = slice(0, self.n_levels + 1), slice(self.n_levels + 1, 2 * self.n_levels + 2)
        if not shape.timed or times is None or self.span == 0:
            a[bank] = rows.untimed
            a[second] = rows.untimed[: len(a[second])]
            return 1, False
        off[:] = self._time_row(shape, times)
        anywhere = math.log(self.span) if times.is_flat else -math.log(times.elsewhere)
        any_time = np.maximum(rows.untimed - anywhere, LOWEST)  # if the entry has none
        a[second] = any_time[: len(a[second])]
        if times.is_flat:
            a[bank], b[bank] = rows.far, rows.near - rows.far
        else:
            a[bank], b[bank] = rows.untimed, 1.0
        return 2, True

    def _rows(self, shape: FactShape) -> "_ValueRows":
        """The logarithms for a known value, kept with the model: later batches have the same values."""
        kept = self.model.kept
        if shape.value not in kept:
            w, times = self.model.wrong, self.model.times
            right, wrong = self._value_probabilities(shape)
            untimed = _log((1.0 - w) * right + w * wrong)
            near = far = untimed
            if times is not None and times.is_flat:
                near, far = _log((1.0 - w) * right * times.shares[0]), _log(w * wrong * times.elsewhere)
            kept[shape.value] = _ValueRows(untimed, near, far)
        rows = kept[shape.value]
        assert isinstance(rows, _ValueRows)
        return rows

    def _value_probabilities(self, shape: FactShape) -> tuple[Floats, Floats]:
        """right(v | x) and wrong(v | x) for each level x, and for an entry without a value."""
        if shape.value is None or not self.n_levels:
            return np.ones(self.n_levels + 1), np.ones(self.n_levels + 1)
        right, wrong = self.model.right_values(shape.value), self.model.wrong_values(shape.value)
        share = ReleaseCounts.of(self.release).level_shares(np.array([-1]))[0]
        return np.append(right, share @ right), np.append(wrong, share @ wrong)

    def _time_row(self, shape: FactShape, times: TimeErrors) -> int:
        """Where the row of c begins, moved so that time − known time is added to it."""
        if shape.far is None and self.near is not None:
            return self.near
        distance = -self._steps(shape).astype(np.int64)  # t − y
        within = np.abs(distance) <= times.reach
        if times.is_flat:
            row = within.astype(np.float64)
        else:
            w, nearest = self.model.wrong, np.clip(distance, -times.reach, times.reach)
            right = np.where(within, times.shares[times.reach + nearest], 0.0)
            row = _log((1.0 - w) * right + w * times.elsewhere)
        at = self._row(row) + self._zero(shape)
        self.near = at if shape.far is None else self.near
        return at


def _exponentials(tables: Tables) -> Likelihoods:
    """Tables of probabilities, from those of their logarithms, in which b is 0 or 1 or c is."""
    near = elementary.exp(np.stack([tables.a, tables.a + tables.b], axis=-1))
    a, c = elementary.exp(tables.a), elementary.exp(tables.c)
    timed = tables.b != 0
    parts = np.where(timed, 0.0, a), np.where(timed, a, 0.0), c, near.reshape(len(a), 2 * a.shape[1])
    return Likelihoods(*(part.astype(np.float32) for part in parts))


def _on_grid(scores: Floats, step: Any) -> Floats:
    """Scores on a coarser grid than their parts, because ln a + ln b is ln ab only up to rounding."""
    grid = step * COARSER
    return np.asarray(np.rint(scores / grid) * grid)


def _log(probability: Floats) -> Floats:
    """Logarithms of probabilities, at least LOWEST."""
    logarithm = elementary.log(np.maximum(probability, LEAST))  # ln 0 would cost an exception each
    return np.where(probability > LEAST, logarithm, LOWEST)
