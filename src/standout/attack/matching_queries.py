"""Queries of Algorithm 1A: a record's score is that of its least similar attribute."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from standout.attack.kernels.conjunction import minimum_similarities, new_workspace
from standout.attack.queries import Queries
from standout.core.arrays import Floats, Ints
from standout.facts import KnownFacts

__all__ = ["MatchingQueries"]


@dataclass(frozen=True, eq=False)
class MatchingQueries(Queries):
    """Queries with the scores of Algorithm 1A; a sum of terms counts as their mean."""

    @classmethod
    def of(cls, queries: Queries) -> "MatchingQueries":
        """The same queries with other scores."""
        columns = {column.name: getattr(queries, column.name) for column in fields(Queries)}
        prepare = None if queries.prepare is None else partial(_prepare, queries.prepare)
        return cls(**columns | {"prepare": prepare})

    def on_grid(self, parts: Floats, q: int) -> Floats:
        """As they are: similarities are not added up."""
        return parts

    def parts(self, query: Ints, fact: Ints, record: Ints, terms: Floats) -> Floats:
        """The similarity of each fact, between 0 and 1."""
        return np.asarray(np.fmax(terms, 0.0).sum(axis=0) / self.tables.terms[self.facts.shape[fact]])

    def scores_of(self, query: Ints, record: Ints) -> Floats:
        """The score of each record for the query of the same index; 0 if an item is not in the release."""
        pair, fact, terms = self.pairs(query, record)
        lowest = np.full(len(query), np.inf)
        np.minimum.at(lowest, pair, self.parts(query[pair], fact, record[pair], terms))
        has_all = np.diff(self.facts.first)[query] == np.diff(self.known.first)[query]
        return np.where(has_all & (lowest < np.inf), lowest, 0.0)

    def scores(self, q: int) -> Floats:
        """The scores of all records for query q; -∞ unless a record is a candidate."""
        records, scores = minimum_similarities(self, q, new_workspace())
        is_candidate = self.is_candidate(q)
        all_scores = np.zeros(self.release.n_records)
        all_scores[records] = scores
        return all_scores if is_candidate is None else np.where(is_candidate, all_scores, -np.inf)


def _prepare(prepare: Callable[..., Queries], known: KnownFacts, exclude: Ints) -> MatchingQueries:
    return MatchingQueries.of(prepare(known=known, exclude=exclude))
