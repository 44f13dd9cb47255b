"""From a release, an adversary and known facts to the arrays that `likelihood_reference` reads."""

import math
from typing import Any, NamedTuple

import numpy as np

from standout.attack.error_model import HasErrors, error_model
from standout.core.arrays import Floats, Ints
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.know.facts import AS_ASSUMED, FactErrors, KnownFacts
from standout.know.observation import Choice

__all__ = ["Entries", "Errors", "KnownFact", "errors_of", "known_facts_of_query", "release_entries"]

SESSION_RECORDS = 4096
"""Sessions are looked for in up to this many records, evenly spread."""


class Entries(NamedTuple):
    """All entries of a release, and what was counted over them.

    `level` is an index into `levels`, the distinct values (for categories, their numbers); `time` is a whole
    number of units from 0 on. Both are -1 where an entry has none. `span` is the number of units
    from first to last. `session` is how often two entries of one record are of the same day. `weight` is how
    readily the adversary picks each item: 1 for all, or 0 for the most popular, or its support.
    """

    record: Ints
    item: Ints
    level: Ints
    time: Ints
    levels: Floats
    span: int
    session: float
    weight: Floats


class Errors(NamedTuple):
    """The adversary's errors: a share `wrong` of the facts is off by more than `value` and `reach`.

    `coverage` is the chance that a fact comes from the target's own record. `reach` is a number of units of
    time; None if times do not count.
    """

    coverage: float
    wrong: float
    value: float
    reach: int | None


class KnownFact(NamedTuple):
    """One fact, None for what is not known; it `repeats` if an earlier fact is of the same day.

    `errors` are its own, None if they are those of all facts.
    """

    item: int
    value: float | None
    time: int | None
    repeats: bool
    errors: Errors | None = None


def release_entries(release: Release, choice: Choice | str = "any", exclude: int = -1) -> Entries:
    """All entries of a release, except those of one record, for an adversary who chooses items in this way.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> entries = release_entries(release, exclude=42)
    >>> len(entries.record), bool((entries.record == 42).any()), round(entries.session, 2)
    (9984, False, 0.14)
    """
    by_record, name = release.by_record, choice.name if isinstance(choice, Choice) else choice
    record = np.repeat(np.arange(release.n_records), release.lengths)
    keep = record != exclude
    record, item = record[keep], by_record.item[keep].astype(np.int64)
    none = np.full(len(item), -1)
    level = none if by_record.value is None else by_record.value[keep].astype(np.int64)
    time = none if by_record.time is None else by_record.time[keep].astype(np.int64)
    time = np.where(time < release.span, time, -1)
    weight = np.ones(release.n_items)
    if name == "popular":
        weight = release.support.astype(np.float64)
    elif isinstance(choice, Choice) and name == "outside_top":
        weight = (release.rank > choice.top).astype(np.float64)
    levels = release.levels if isinstance(release.levels, np.ndarray) else np.arange(release.n_levels)
    return Entries(
        record=record,
        item=item,
        level=np.where(level < release.n_levels, level, -1),
        time=time,
        levels=levels.astype(np.float64),
        span=release.span,
        session=_session_share(release, record, time),
        weight=weight,
    )


def errors_of(
    release: Release, adversary: HasErrors, coverage: float | None = None, own: FactErrors = AS_ASSUMED
) -> Errors:
    """The errors of an adversary's facts in units of the release, whose values and times have no noise.

    `own` are errors of some facts that are known better.
    """
    model = error_model(release, adversary, coverage, own)
    assert not model.has_noise
    reach = None if model.times is None else model.times.reach
    is_number = isinstance(release.levels, np.ndarray)
    return Errors(model.coverage, model.wrong, model.values.error or 0.0 if is_number else 0.0, reach)


def known_facts_of_query(
    release: Release, known: KnownFacts, query: int, adversary: HasErrors | None = None
) -> list[KnownFact]:
    """The facts about one target. If some have errors of their own, the adversary has those of the others."""
    facts: list[KnownFact] = []
    days: set[int] = set()
    for at in range(int(known.first[query]), int(known.first[query + 1])):
        value = None if known.value[at] < 0 else _number(release, known.values[known.value[at]])
        time = int(known.time[at]) if known.timed[at] else None
        day = None if time is None else int(_days(release, time))
        errors = None
        if known.error is not None and adversary is not None:
            errors = errors_of(release, adversary, own=known.errors[known.error[at]])
        facts.append(KnownFact(int(known.item[at]), value, time, day in days, errors))
        days |= set() if day is None else {day}
    return facts


def _number(release: Release, value: float | str) -> float:
    """A value; of a category, its number among the levels, ∞ if it is not among them."""
    levels = release.levels
    if not isinstance(levels, tuple):
        return float(value)
    return float(levels.index(value)) if value in levels else math.inf


def _days(release: Release, time: Any) -> Any:
    assert release.clock is not None
    return (time + release.clock.origin) // (SECONDS["day"] // SECONDS[release.clock.unit])


def _session_share(release: Release, record: Ints, time: Ints) -> float:
    """How often two entries of one record are of the same day."""
    if release.clock is None:
        return 0.0
    chosen = np.unique(np.linspace(0, release.n_records - 1, SESSION_RECORDS).astype(np.int64))
    here = np.isin(record, chosen) & (time >= 0)
    day = _days(release, time[here]) - _days(release, 0)
    of_day = np.unique(record[here] * (release.span + 1) + day, return_counts=True)[1]
    of_record = np.bincount(record[here])
    possible = (of_record * (of_record - 1)).sum()
    return float((of_day * (of_day - 1)).sum() / possible) if possible else 0.0
