"""How strongly the agreement of a profile and a record suggests one person rather than two.

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
from dataclasses import dataclass, replace

import numpy as np

from standout.attack.distance_classes import DistanceClasses
from standout.attack.learned_errors import LearnedErrors
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.linking.agreement import MISSING, SHARED, TIMES, VALUES

__all__ = ["PARTS", "PRESENT", "PRIOR_COVERAGE", "EvidenceModel", "evidence_parts", "log_odds"]

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
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class EvidenceModel:
    """The parameters of evidence: c, and ln(m / u) for the columns VALUES and TIMES.

    `strangers` counts distances between two people, `possible` says which columns can occur.
    """

    coverage: float
    values: Floats
    times: Floats
    strangers: Floats
    possible: Bools

    @classmethod
    def prior(cls, strangers: Floats, possible: Bools) -> "EvidenceModel":
        """Return the model before anything is learned."""
        unset = np.zeros(0)
        return cls(PRIOR_COVERAGE, unset, unset, strangers, possible).updated(np.zeros(len(strangers)))

    def updated(self, counts: Floats) -> "EvidenceModel":
        """Return the prior model updated with counts of people and their own records."""
        shared, facts = float(counts[SHARED]), float(counts[SHARED] + counts[MISSING])
        values, times = (
            _log_ratios(
                counts[part], _prior_shares(distance, scale) * self.possible[part], self.strangers[part]
            )
            for part, distance, scale in ((VALUES, VALUE_STEPS, VALUE_SCALE), (TIMES, TIME_DAYS, TIME_SCALE))
        )
        coverage = (shared + PRIOR_FACTS * PRIOR_COVERAGE) / (facts + PRIOR_FACTS)
        return EvidenceModel(coverage, values, times, self.strangers, self.possible)

    @property
    def ratios(self) -> Floats:
        """ln(m / u) of the columns VALUES and TIMES, in a row of counts."""
        ratios = np.zeros(len(self.strangers))
        ratios[VALUES], ratios[TIMES] = self.values, self.times
        return ratios

    def errors(self, classes: DistanceClasses, dated: bool) -> LearnedErrors:
        """Return the error model; without `dated`, dates are not compared."""
        return LearnedErrors(classes, self.coverage, self.values, self.times if dated else None)


def evidence_parts(queries: LikelihoodQueries, record: Ints, floor: bool) -> Floats:
    """Return the scores of records, split into PARTS that add up.

    `record` has a row for each query. A record of -1 has 0. With `floor`, a fact never counts against a
    record more than the lack of its item does. If a record has an item several times, dates are what adds to
    the mean over its entries by values alone.
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


def _prior_shares(distance: Floats, scale: float) -> Floats:
    """How often one person's values or dates lie so far apart, up to a factor, by the paper's similarity."""
    return np.asarray(np.maximum(elementary.exp(-distance / scale), MIN_PRIOR))


def _log_ratios(counts: Floats, prior: Floats, strangers: Floats) -> Floats:
    """ln(m / u), made non-increasing: a larger distance never suggests one person more strongly."""
    m = (counts + PRIOR_FACTS * prior / prior.sum()) / (counts.sum() + PRIOR_FACTS)
    u = (strangers + 1.0) / (strangers + 1.0).sum()
    ratios = np.where(prior > 0, elementary.log(np.maximum(m, TINY) / u), np.inf)  # inf: cannot occur
    return np.asarray(np.minimum.accumulate(ratios))


def log_odds(evidence: Floats, records: int) -> Floats:
    """Return ln of the odds of each candidate against the other candidates of its row and nobody.

    The prior probability that the person is in the release is ½, equally divided among its records. A row
    has the evidence of each candidate, −∞ where there is none.

    >>> log_odds(np.array([[np.log(100.0), -np.inf]]), records=100).round(3).tolist()
    [[0.0, -inf]]
    """
    posterior = evidence - math.log(records)
    odds = np.empty_like(posterior)
    for column in range(posterior.shape[1]):
        rest = np.delete(posterior, column, axis=1)
        largest = np.maximum(rest.max(axis=1, initial=-np.inf), 0.0)
        total = elementary.exp(rest - largest[:, None]).sum(axis=1) + elementary.exp(-largest)
        odds[:, column] = posterior[:, column] - largest - elementary.log(total)
    return np.asarray(odds)
