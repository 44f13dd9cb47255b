"""The same queries with less known about each fact: what its item adds alone, and with its value."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from standout.attack.queries import Queries
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError

__all__ = ["AttributeParts", "attribute_parts"]


class AttributeParts(NamedTuple):
    """What the item, the value and the date of each fact add to a score: they add up to the fact's part."""

    by_item: Floats
    by_value: Floats
    by_time: Floats


def attribute_parts(queries: Queries, q: int, record: int, parts: Floats) -> AttributeParts | None:
    """Split what each fact of a query adds to the score of a record; None if this cannot be asked.

    It cannot if a similarity function of a user's own fails for values or dates that are not known.

    An attribute adds the difference that it makes when it becomes known: first the item, then the value, then
    the date. Parts lie on the query's grid, so that differences are exact.
    """
    if queries.prepare is None:
        return None
    try:
        item = _parts(queries, q, record, "item", parts)
        value = _parts(queries, q, record, "value", parts)
    except ParameterError:
        return None
    return AttributeParts(item, value - item, parts - value)


def _parts(queries: Queries, q: int, record: int, known: str, parts: Floats) -> Floats:
    """What each fact would add if only its item, or only item and value, were known."""
    reduced = _reduced(queries, q, known)
    if reduced is None:
        return parts
    zero, position = np.zeros(1, np.int64), np.array([record])
    _, fact, terms = reduced.pairs(zero, position)
    added = reduced.parts(np.zeros(len(fact), np.int64), fact, np.full(len(fact), record), terms)
    return queries.on_grid(added, q)


def _reduced(queries: Queries, q: int, known: str) -> Queries | None:
    """One query with less known; None if nothing is left out. It is kept with the queries."""
    kept = queries.kept_reduced
    if (q, known) not in kept:
        facts = np.arange(queries.known.first[q], queries.known.first[q + 1])
        kept[q, known] = _prepare(queries, q, facts, known)
    return kept[q, known]


def _prepare(queries: Queries, q: int, facts: Ints, known: str) -> Queries | None:
    assert queries.prepare is not None
    one = queries.known.select(np.array([q]), facts, np.array([0, len(facts)]))
    has_values, has_times = (one.value >= 0).any() and known == "item", one.timed.any()
    if not (has_values or has_times):
        return None
    value = np.full(len(facts), -1) if known == "item" else one.value
    less = replace(one, value=value, timed=np.zeros(len(facts), np.bool_))
    return queries.prepare(known=less, exclude=queries.exclude[[q]])
