"""Sim on records: how similar two records are."""

import math
from collections.abc import Callable
from itertools import groupby, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.data.labels import Entry, Record
from standout.data.release import Release
from standout.know.similarity import (
    Custom,
    Similarity,
    Value,
    call_user_code,
    check_numbers,
    check_similarity,
    days_per_unit,
)

__all__ = ["record_similarity"]

Over = Literal["union", "first"]


def record_similarity(release: Release, first: str, second: str, similarity: Similarity, over: Over = "union") -> float:
    """Similarity of two records: Σ Sim(r1i, r2i) / |supp(r1) ∪ supp(r2)|  [section 3].

    The entries of the first record are taken as known facts. If a record has an item several times,
    Sim(r1i, r2i) is the highest Sim of an entry of r1 and an entry of r2 about item i; supp counts each item
    once.

    Parameters
    ----------
    release : Release
        The data set that has both records.
    first, second : str
        Ids of the records.
    similarity : Similarity
        Sim on attributes. A sum of terms counts as their mean.
    over : {"union", "first"}
        The denominator: |supp(r1) ∪ supp(r2)| or |supp(r1)|. Lemma 1 needs the second: a superset of r1
        agrees with r1 on every attribute, and the union would still make it less similar the longer it is.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    NotFoundError
        If the release lacks a record.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> record_similarity(release, "17", "17", so.Within())
    1.0
    >>> a, b = (record_similarity(release, *pair, so.Present()) for pair in (("17", "18"), ("18", "17")))
    >>> a == b
    True
    """
    if over not in ("union", "first"):
        raise ParameterError(f"over must be union or first, got {over!r}")
    check_similarity(similarity)
    known, entries = _by_item(release.record(first)), _by_item(release.record(second))
    shared = [item for item in known if item in entries]
    total = math.fsum(_best(release, similarity, known[item], entries[item]) for item in shared)
    return total / (len(known) if over == "first" else len(known) + len(entries) - len(shared))


def _by_item(record: Record) -> dict[str, list[Entry]]:
    """The entries of each item of a record."""
    return {item: list(entries) for item, entries in groupby(record.entries, lambda entry: entry.item)}


def _best(release: Release, similarity: Similarity, known: list[Entry], entries: list[Entry]) -> float:
    """The highest Sim of a known entry and an entry of the same item."""
    return max(_attribute(release, similarity, *pair) for pair in product(known, entries))


def _attribute(release: Release, similarity: Similarity, known: Entry, entry: Entry) -> float:
    """Sim of two entries, between 0 and 1: a sum of terms counts as their mean."""
    days = _days(release, known, entry)
    if isinstance(similarity, Custom):
        return similarity(known.value, entry.value, days)
    parts = []
    values = None if known.value is None else _values(similarity, known.value, entry.value)
    parts += [] if values is None else [values]
    if known.time is not None:
        apart = np.array([0.0 if days is None else days])
        times = _number(lambda: similarity.times(apart), "times")
        parts += [] if times is None else [0.0 if days is None else times]
    if not parts:
        return 1.0
    return math.fsum(parts) / len(parts) if similarity.adds else math.prod(parts)


def _values(similarity: Similarity, known: Value, value: Value | None) -> float | None:
    level: NDArray[np.float64] | tuple[str, ...]
    level = (str(value),) if isinstance(known, str) else np.array([known if value is None else value], np.float64)
    part = _number(lambda: similarity.values(known, level), "values")
    return None if part is None else 0.0 if value is None else part


def _number(call: Callable[[], Any], name: str) -> float | None:
    source = f"a similarity's {name}()"
    numbers = call_user_code(call, source)
    return None if numbers is None else float(check_numbers(numbers, 1, source)[0])


def _days(release: Release, known: Entry, entry: Entry) -> float | None:
    if known.time is None or entry.time is None or release.clock is None:
        return None
    return (release.clock.encode(entry.time) - release.clock.encode(known.time)) * days_per_unit(release)
