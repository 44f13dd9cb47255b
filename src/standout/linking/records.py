"""The best record of each profile, and how strong that match is.

The paper's score ranks records, and eccentricity says how far the best one leads. But eccentricity has a
ceiling: one item that nobody else has reaches it, whether one fact agrees or twenty do. Evidence has no
ceiling. It is the score of `Likelihood` with an error model that is learned [as in record linkage, Fellegi
and Sunter 1969]:

    Σ over shared items    ln(c · entries / (|supp(i)| · |r|) + 1 − c)
                           + ln(m/u) for the values' distance + ln(m/u) for the dates' distance
    Σ over the other facts ln(1 − c)

The kernels search all records with at least ln(1 − c) for each fact. The best are then weighed without this
limit: a person has one entry about an item on each side, so one that contradicts the fact counts against the
record.

c is the probability that a fact of a profile is in the same person's record. m and u are the shares of such
distances within one person's data and between two people. u comes from the release. c and m are learned
from profiles that match more strongly than decoys do, each weighted by how likely it is present [as Käll et
al. 2007 do for spectra]. Before that, and where no profile stands out, they follow the similarity of the
paper.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.engine import score
from standout.attack.error_model import N_TIMES, N_VALUES, DistanceClasses
from standout.attack.likelihood import LearnedErrors, LikelihoodQueries
from standout.attack.own_attack import OwnQueries
from standout.attack.queries import Queries
from standout.attack.release_counts import entry_ranges
from standout.attack.verdict import VerdictColumns, Verdicts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, take_rows
from standout.core.rng import generator
from standout.data.entries import BLOCK_BITS, unpack_attributes
from standout.data.release import Release
from standout.findings.link_and_advise import Dates
from standout.know.facts import KnownFacts

SHARED, MISSING, VALUES, TIMES = 0, 1, slice(2, 2 + N_VALUES), slice(2 + N_VALUES, 2 + N_VALUES + N_TIMES)
COLUMNS = TIMES.stop
"""Columns of a row of counts.

SHARED         facts about items that the record has
MISSING        facts about items that the record does not have
VALUES, TIMES  shared items by the class of distance of the two values, and of the two times
"""
STRANGER_PAIRS = 20_000
"""How many pairs of people with a common item are drawn."""
ATTEMPTS = 20
"""How often a pair of entries is drawn again if both are of one person."""


class Agreement:
    """Compares facts with records of one release, in counts: everything that the model is learned from."""

    def __init__(self, release: Release) -> None:
        self.release, self.classes = release, DistanceClasses(release)
        self.possible = np.ones(COLUMNS, np.bool_)
        self.possible[VALUES], self.possible[TIMES] = self.classes.possible_values, self.classes.possible_times

    def counts(self, known: KnownFacts, query: Ints, record: Ints, ratios: Floats | None = None) -> Floats:
        """A row of COLUMNS for each pair of query[i] and record[i].

        If a record has the item of a fact n times, its entries share the weight of one: each counts with the
        probability that the fact is about it, which `ratios`, ln(m/u), decide; default: 1/n.
        """
        release = self.release
        first, fact = take_rows(known.first, query)
        facts = np.diff(first)
        pair = np.repeat(np.arange(len(query)), facts)
        entry, number = entry_ranges(release, record[pair], known.item[fact])
        has = number > 0
        counts = np.zeros((len(query), COLUMNS))
        counts[:, SHARED] = np.bincount(pair, has, len(query))
        counts[:, MISSING] = facts - counts[:, SHARED]
        pair, fact, entry, number = pair[has], fact[has], entry[has], number[has]
        date_weight = np.ldexp(1.0, -self.classes.day_shares(known))
        row = np.arange(len(fact))
        if release.has_repeats:
            row = np.repeat(row, number)
            entry = entry[row] + np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        pair, fact = pair[row], fact[row]
        # The class of distance of the values, and of the times, of each fact and entry; -1 where it is not known.
        values = times = np.full(len(fact), -1)
        _, _, value_codes, time_codes = release.by_record
        if value_codes is not None and release.n_levels:
            value = self.classes.numbers(known.values)[known.value[fact]]
            values = self.classes.of_values(value, value_codes[entry].astype(np.int64))
        if time_codes is not None and release.span:
            code = time_codes[entry].astype(np.int64)
            both_timed = known.timed[fact] & (code < release.span)
            times = self.classes.of_times(np.where(both_timed, np.abs(code - known.time[fact]), -1))
        weight = np.ones(len(row))
        if release.has_repeats:
            ratios = np.zeros(COLUMNS) if ratios is None else ratios
            by_value, by_time = np.append(ratios[VALUES], 0.0)[values], np.append(ratios[TIMES], 0.0)[times]
            weight = _shares(row, by_value + by_time * date_weight[fact])
        counts[:, VALUES] = _count_columns(pair, values, len(query), N_VALUES, weight)
        counts[:, TIMES] = _count_columns(pair, times, len(query), N_TIMES, weight * date_weight[fact])
        return counts

    def stranger_counts(self, seed: int) -> Floats:
        """The VALUES and TIMES counts of many random pairs of people with a common item, added up."""
        release, postings = self.release, self.release.by_item
        draw, counts = generator(seed, "strangers"), np.zeros(COLUMNS)
        item = release.by_record.item[draw.integers(release.n_entries, size=STRANGER_PAIRS)].astype(np.int64)
        item = item[release.support[item] > 1]
        if release.has_repeats:
            pairs = _entries_of_strangers(release, item, draw)
        else:
            first = draw.integers(release.support[item])
            offset = draw.integers(1, np.maximum(release.support[item], 2))
            second = (first + offset) % release.support[item]
            pairs = postings.start[item] + first, postings.start[item] + second
        (value, time), (other_value, other_time) = (
            unpack_attributes(postings, postings.word[rank], release.n_levels, release.span) for rank in pairs
        )
        one_row = np.zeros(len(value), np.int64)
        if release.n_levels:
            column = self.classes.of_values(np.append(self.classes.levels, np.nan)[value], other_value)
            counts[VALUES] = _count_columns(one_row, column, 1, N_VALUES)[0]
        if release.span:
            both_timed = (time < release.span) & (other_time < release.span)
            column = self.classes.of_times(np.where(both_timed, np.abs(time - other_time), -1))
            counts[TIMES] = _count_columns(one_row, column, 1, N_TIMES)[0]
        return counts


def _shares(row: Ints, logarithm: Floats) -> Floats:
    """e^logarithm divided by its sum over the row; rows follow one another."""
    first = np.flatnonzero(np.append(True, row[1:] != row[:-1])[: len(row)])
    if not len(first):
        return np.ones(0)
    number = elementary.exp(logarithm - np.maximum.reduceat(logarithm, first)[row])
    return np.asarray(number / np.add.reduceat(number, first)[row])


def _entries_of_strangers(release: Release, item: Ints, draw: np.random.Generator) -> tuple[Ints, Ints]:
    """The ranks of two random entries of each item, of different records; without items that have none."""
    postings, n = release.by_item, release.item_entries[item]
    first, second = (postings.start[item] + draw.integers(n) for _ in range(2))
    for _ in range(ATTEMPTS):
        same = np.flatnonzero(_records_of(release, first) == _records_of(release, second))
        second[same] = postings.start[item[same]] + draw.integers(n[same])
    differ = _records_of(release, first) != _records_of(release, second)
    return first[differ], second[differ]


def _records_of(release: Release, rank: Ints) -> Ints:
    """The records of entries, by their ranks in the postings."""
    postings = release.by_item
    run = np.searchsorted(postings.end, rank, side="right")
    place = postings.word[rank].astype(np.int64) >> (postings.value_bits + postings.time_bits)
    return (postings.block[run].astype(np.int64) << BLOCK_BITS) + place


def _count_columns(pair: Ints, column: Ints, n_pairs: int, n_columns: int, weight: Floats | None = None) -> Floats:
    """How often each column occurs in each pair, or the sum of the weights; column -1 does not count."""
    known = column >= 0
    weights = None if weight is None else weight[known]
    counts = np.bincount(pair[known] * n_columns + column[known], weights, n_pairs * n_columns)
    return counts.reshape(n_pairs, n_columns).astype(np.float64)


PRESENT = 0.5
"""Prior probability that a person is in the release."""
PRIOR_COVERAGE = 0.5
VALUE_STEPS, TIME_DAYS = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.5, 1.5, 4.5, 18.5, 75.0, 240.0])
"""Typical distance of each column of VALUES (in steps) and TIMES (in days)."""
VALUE_SCALE, TIME_SCALE = 1.5, 30.0
"""ρ0 and d0 of the paper."""
MIN_PRIOR = 0.02
"""No distance is assumed to be rarer than this."""
PRIOR_FACTS = 100.0
"""Weight of the prior, as a number of facts."""
PARTS = ("values", "dates", "items")
TINY_EVIDENCE = 1e-9


@dataclass(frozen=True, eq=False)
class EvidenceModel:
    """The parameters of evidence: c, and ln(m / u) for the columns VALUES and TIMES that are possible."""

    coverage: float
    values: Floats
    times: Floats
    strangers: Floats
    possible: Bools

    @classmethod
    def prior(cls, strangers: Floats, possible: Bools) -> "EvidenceModel":
        """The model before anything is learned."""
        unset = np.zeros(0)
        return cls(PRIOR_COVERAGE, unset, unset, strangers, possible).updated(np.zeros(len(strangers)))

    def updated(self, counts: Floats) -> "EvidenceModel":
        """The prior model updated with counts of people and their own records."""
        shared, facts = float(counts[SHARED]), float(counts[SHARED] + counts[MISSING])
        values, times = (
            self._log_ratios(part, counts[part], np.maximum(elementary.exp(-distance / scale), MIN_PRIOR))
            for part, distance, scale in ((VALUES, VALUE_STEPS, VALUE_SCALE), (TIMES, TIME_DAYS, TIME_SCALE))
        )
        coverage = (shared + PRIOR_FACTS * PRIOR_COVERAGE) / (facts + PRIOR_FACTS)
        return EvidenceModel(coverage, values, times, self.strangers, self.possible)

    def _log_ratios(self, part: slice, counts: Floats, prior: Floats) -> Floats:
        """Ln(m / u), made non-increasing: a larger distance never suggests one person more strongly."""
        prior, strangers = prior * self.possible[part], self.strangers[part] + 1.0
        m = (counts + PRIOR_FACTS * prior / prior.sum()) / (counts.sum() + PRIOR_FACTS)
        u = strangers / strangers.sum()
        ratios = np.where(prior > 0, elementary.log(np.maximum(m, TINY_EVIDENCE) / u), np.inf)  # inf: cannot occur
        return np.asarray(np.minimum.accumulate(ratios))

    @property
    def ratios(self) -> Floats:
        """Ln(m / u) of the columns VALUES and TIMES, in a row of counts."""
        ratios = np.zeros(len(self.strangers))
        ratios[VALUES], ratios[TIMES] = self.values, self.times
        return ratios

    def errors(self, classes: DistanceClasses, dated: bool) -> LearnedErrors:
        """The error model; without `dated`, dates are not compared."""
        return LearnedErrors(classes, self.coverage, self.values, self.times if dated else None)


def _evidence_parts(queries: LikelihoodQueries, record: Ints, floor: bool) -> Floats:
    """The scores of records, a row for each query, split into PARTS that add up; 0 for a record of -1.

    With `floor`, a fact never counts against a record more than the lack of its item does. If a record has an item
    several times, dates are what adds to the mean over its entries by values alone.
    """
    query, column = np.nonzero(record >= 0)
    pair, fact, terms = queries.pairs(query, record[query, column])
    if queries.release.has_repeats:
        undated = replace(queries, tables=replace(queries.tables, b=np.zeros_like(queries.tables.b)))
        by_values = undated.pairs(query, record[query, column])[2][0]
        terms = np.stack([by_values, np.where(np.isnan(by_values), 0.0, terms[0] + terms[1] - by_values)])
    items = elementary.log1p(queries.item_odds(fact, record[query, column][pair]))
    values = terms[0] + queries.constant[fact]
    adds = ~np.isnan(values) & ((items + values + terms[1] > 0) if floor else True)
    parts = np.zeros((*record.shape, len(PARTS)))
    for number, part in enumerate((values, terms[1], items)):
        parts[query, column, number] = np.bincount(pair[adds], part[adds], len(query))
    return parts


def log_odds(evidence: Floats, records: int) -> Floats:
    """Ln of the odds of the first candidate of each row against the others (−∞ for none) and nobody.

    The prior probability that the person is in the release is ½, equally divided among its records.
    """
    posterior = evidence - math.log(records)
    return np.asarray(posterior[:, 0] - _log_sum(np.column_stack([posterior[:, 1:], np.zeros(len(posterior))])))


TOP = 8
"""How many records with the best scores are looked at, where an attack's scores are not evidence."""
EQUAL = 1e-9
"""Strengths that differ by at most this, or by this share, are equal: the rest is rounding."""
EXACT = 1e-11
"""A sum over all records that is smaller is taken over the best ones, of which it is known more exactly."""
MOST, TINY = 700.0, 1e-300
"""Largest exponent whose exponential is finite, and a number whose logarithm is."""
DIGITS = 9
"""Evidence is compared up to this many decimals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRecords:
    """The best record of each profile, a row each; -1 for none.

    `eccentricity` is the lead of its score over all others in units of σ, `evidence` the log₂ odds that it is the
    person. `strength` is the one of the two that decides about claims, `margin` its lead over the runner-up, split
    into PARTS. `bits` is the entropy left to name the record; `dated` whether dates were compared.
    """

    record: Ints
    runner_up: Ints
    score: Floats
    runner_up_score: Floats
    ties: Ints
    eccentricity: Floats
    evidence: Floats
    strength: Floats
    bits: Floats
    dated: Bools
    margin: Floats

    @property
    def claimable(self) -> Bools:
        """Whether the best record is unique and more likely than not: a tie is never claimed."""
        return np.asarray((self.record >= 0) & (self.ties == 1) & (self.strength > 0))

    def __len__(self) -> int:
        return len(self.record)

    def stronger(self, other: "BestRecords") -> "BestRecords":
        """The stronger row of the two for each profile; this one if they are equal."""
        equal = np.isclose(self.strength, other.strength, rtol=EQUAL, atol=EQUAL)
        keep = (self.strength > other.strength) | equal
        pairs = {field.name: (getattr(self, field.name), getattr(other, field.name)) for field in fields(self)}
        wide = keep[:, None]
        return BestRecords(**{name: np.where(keep if a.ndim == 1 else wide, a, b) for name, (a, b) in pairs.items()})


def concatenate(batches: Sequence[BestRecords]) -> BestRecords:
    """Join the best records of consecutive batches."""
    names = [field.name for field in fields(BestRecords)]
    return BestRecords(**{name: np.concatenate([getattr(batch, name) for batch in batches]) for name in names})


def _best_by_evidence(queries: LikelihoodQueries, columns: VerdictColumns, *, dated: bool, floor: bool) -> BestRecords:
    """The most likely records; their strength is the odds against all other records and nobody."""
    record, score = _best_of(columns)
    parts, rows = _evidence_parts(queries, record, floor), np.arange(len(record))
    evidence = np.where(record >= 0, parts.sum(axis=-1), -np.inf)
    order = np.argsort(-np.round(evidence, DIGITS), axis=1, kind="stable")  # equals stay in their order
    best, second = order[:, 0], order[:, 1]
    listed = np.where(record >= 0, elementary.exp(score - columns.highest[:, None]), 0.0).sum(axis=1)
    rest = np.where(columns.z - listed > EXACT, columns.z - listed, 0.0)
    has_record, has_second = record[:, 0] >= 0, record[rows, second] >= 0
    own = np.where(has_record, evidence[rows, best], 0.0)
    # logarithms of the odds of other explanations: the other records of TOP, all others together, and nobody
    others = np.column_stack(
        [
            np.where(record >= 0, evidence, -np.inf) - own[:, None],
            elementary.log(np.maximum(rest, TINY)) + columns.highest - own,
            queries.nobody(columns.candidates) - own,
        ]
    )
    others[rows, best] = -np.inf
    odds = np.where(has_record, -_log_sum(others), 0.0) / math.log(2)
    more = _log_sum(others[:, :-1])
    bits = (np.maximum(more, 0.0) + elementary.log1p(elementary.exp(-np.abs(more)))) / math.log(2)
    lead = parts[rows, best] - np.where(has_second, parts[rows, second].T, 0.0).T
    best_other = np.where(has_second, evidence[rows, second], 0.0)
    least = own - EQUAL * np.maximum(np.abs(own), 1.0)
    return BestRecords(
        record=record[rows, best],
        runner_up=record[rows, second],
        score=own,
        runner_up_score=best_other,
        ties=np.where(columns.ties > TOP, columns.ties, (evidence >= least[:, None]).sum(axis=1)),
        eccentricity=(own - best_other) / np.where(columns.sigma > 0, columns.sigma, np.inf),
        evidence=odds,
        strength=odds,
        bits=np.where(has_record, bits, elementary.log2(np.maximum(columns.candidates, 1))),
        dated=np.full(len(record), dated),
        margin=lead / math.log(2),
    )


def _log_sum(terms: Floats) -> Floats:
    """Ln Σ e^term of each row."""
    shift = np.maximum(terms.max(axis=1), -MOST)
    total = elementary.exp(terms - shift[:, None]).sum(axis=1)
    return np.asarray(shift + elementary.log(np.maximum(total, TINY)))


def _best_by_score(verdicts: Verdicts, evidence: LikelihoodQueries, *, dated: bool) -> BestRecords:
    """The records with the best scores; their strength is the eccentricity. Evidence of the TOP best is shown too."""
    columns = verdicts.columns
    record, score = _best_of(columns)
    facts = np.diff(evidence.known.first) * math.log1p(-evidence.coverage)
    nats = _evidence_parts(evidence, record, floor=False).sum(axis=-1) + facts[:, None]
    nats = np.where(record >= 0, nats, -np.inf)
    odds = log_odds(nats, evidence.release.n_records) / math.log(2)
    margin = np.zeros((len(record), len(PARTS)))
    if not isinstance(verdicts.queries, OwnQueries):
        lead = _score_parts(verdicts.queries, record[:, 0]) - _score_parts(verdicts.queries, record[:, 1])
        margin = lead / np.where(columns.sigma > 0, columns.sigma, np.inf)[:, None]
    return BestRecords(
        record=record[:, 0],
        runner_up=record[:, 1],
        score=score[:, 0],
        runner_up_score=score[:, 1],
        ties=columns.ties,
        eccentricity=columns.eccentricity,
        evidence=np.where(record[:, 0] >= 0, odds, 0.0),
        strength=columns.eccentricity,
        bits=elementary.log2(np.where(columns.z > 0, columns.z, np.maximum(columns.candidates, 1))),
        dated=np.full(len(record), dated),
        margin=margin,
    )


def _best_of(columns: VerdictColumns) -> tuple[Ints, Floats]:
    """The TOP best records and their scores, a row for each query; -1 and 0 where there are fewer."""
    at = columns.first[:-1, None] + np.arange(TOP)
    exists = at < columns.first[1:, None]
    record = np.where(exists, np.append(columns.record, -1)[np.where(exists, at, -1)], -1)
    return record, np.where(exists, np.append(columns.score, 0.0)[np.where(exists, at, -1)], 0.0)


def _score_parts(queries: Queries, record: Ints) -> Floats:
    """The score of one record for each query, split into PARTS."""
    scored = np.flatnonzero(record >= 0)
    pair, fact, terms = queries.pairs(scored, record[scored])
    step = queries.step[scored[pair]]
    weighted = np.rint(queries.weight[fact] * np.fmax(terms, 0.0) / step) * step
    bare = (queries.known.value[queries.origin[fact]] < 0) | (queries.release.n_levels == 0)
    by_part = (np.where(bare, 0.0, weighted[0]), weighted[1], np.where(bare, weighted[0], 0.0))
    parts = np.zeros((len(record), len(PARTS)))
    for column, part in enumerate(by_part):
        parts[scored, column] = np.bincount(pair, part, len(scored))
    return parts


VARIANTS: dict[Dates, tuple[bool, ...]] = {"use": (True,), "ignore": (False,), "learn": (True, False)}
"""Whether dates are compared, in each attack that is tried."""


@dataclass(frozen=True, eq=False)
class RecordSearch:
    """Finds the best record of each profile by an attack; None for `Likelihood` with the learned `model`."""

    agreement: Agreement
    dates: Dates
    model: EvidenceModel
    attack: AnyAttack | None
    threads: int | None

    def find(self, known: KnownFacts, removed: Ints | None = None) -> BestRecords:
        """The best record of each profile, with a record `removed` for each.

        With dates="learn" there are two variants, and the stronger one counts. Decoys make the same choice.
        """
        exclude = np.full(len(known), -1, np.int64) if removed is None else removed
        return reduce(BestRecords.stronger, (self._find(known, exclude, dated) for dated in VARIANTS[self.dates]))

    def _find(self, known: KnownFacts, exclude: Ints, dated: bool) -> BestRecords:
        evidence = self.model.errors(self.agreement.classes, dated).queries(known, exclude, PRESENT)
        if self.attack is None:
            _, columns = score(evidence, TOP, threads=self.threads)
            return _best_by_evidence(evidence, columns, dated=dated, floor=False)
        facts = known if dated else replace(known, time=known.time * 0, timed=known.timed & False)
        verdicts = self.attack.attacks(self.agreement.release, facts, exclude=exclude, top=TOP, threads=self.threads)
        if isinstance(verdicts.queries, LikelihoodQueries):
            return _best_by_evidence(verdicts.queries, verdicts.columns, dated=dated, floor=True)
        return _best_by_score(verdicts, evidence, dated=dated)
