"""Reference implementation of the Bayesian attack: log-likelihood ratios of all records, posterior, nobody.

Entries are {(record, item): (value, time)}, or {(record, item): [(value, time), …]} if a record may have an
item several times. Facts are {item: (value, time)}, or a list of (item, (value, time)). None is for what is
missing or not known. Times are whole units of the wall clock since 1970.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

from naive.attack import fact_list
from naive.release import all_cells, cells_of, lengths, ranks, support, without

__all__ = [
    "Mistakes",
    "likelihood_parts",
    "likelihood_posterior",
    "likelihood_rows",
    "likelihood_scores",
    "session_share",
]

ROUNDING = 1e-9
PRIOR_ENTRIES = 10


@dataclass(frozen=True)
class Mistakes:
    """How the adversary's facts differ from the target's entries, and how items are chosen.

    value_error and reach are the largest errors, in values and units of time. If value_scale is given, errors
    decay with it, and those of times with time_scale. outside = number of most popular items that are never
    chosen.
    """

    coverage: float = 0.98
    wrong: float = 0.0
    value_error: float = 0.0
    reach: int | None = None
    value_scale: float | None = None
    time_scale: float | None = None
    outside: int = 0
    popular: bool = False
    units_per_day: int = 1


def likelihood_scores(entries, facts, mistakes, exclude=None, by_fact=None):
    """{record: the sum of its parts}, for all records except the excluded one."""
    return {
        record: math.fsum(parts)
        for record, parts in likelihood_rows(entries, facts, mistakes, exclude, by_fact).items()
    }


def likelihood_parts(entries, facts, mistakes, exclude=None, by_fact=None):
    """{record: {item: ln of how much likelier the fact is from it than from a record without the item}}."""
    items = [item for item, _ in fact_list(facts)]
    return {
        record: {item: part for item, part in zip(items, row, strict=True) if (record, item) in entries}
        for record, row in likelihood_rows(entries, facts, mistakes, exclude, by_fact).items()
    }


def likelihood_rows(entries, facts, mistakes, exclude=None, by_fact=None):
    """{record: [the same for each fact, 0 if the record lacks its item]}.

    by_fact = errors of each fact that differ from `mistakes`, as a dict of fields, in the order of the facts.
    A fact is about each of the record's n entries of the item with probability 1/|r|: the record gives it
    with n/|r| times the mean of P(v, t | entry).
    """
    left = without(entries, exclude)
    counts = Counter(item for _, item, *_ in all_cells(left))
    sizes, total = _sizes(entries, left, mistakes)
    c = mistakes.coverage
    parts = {record: [] for record in lengths(left)}
    seen_days = set()
    facts = fact_list(facts)
    for (item, (value, time)), own in zip(facts, by_fact or [{}] * len(facts), strict=True):
        mistakes_here = replace(mistakes, **own)
        day = None if time is None else time // mistakes.units_per_day
        repeats = day is not None and day in seen_days
        seen_days.add(day)
        average = _average(entries, left, item, value, time, repeats, mistakes_here)
        for record in parts:
            cells = cells_of(left.get((record, item)))
            part = 0.0
            if cells:
                of_item = c * total * len(cells) / (counts[item] * sizes[record]) + 1 - c
                likely = [_likelihood(entries, value, time, *cell, mistakes_here) for cell in cells]
                alike = math.fsum(likely) / len(cells) / average if average else 1.0
                part = max(math.log(of_item * alike / (1 - c)) if alike else 0.0, 0.0)
            parts[record].append(part)
    return parts


def likelihood_posterior(scores, n_facts, coverage, present):
    """({record: probability}, probability of nobody), given the scores of all candidates."""
    most = max(scores.values(), default=0.0)
    masses = {record: math.exp(score - most) for record, score in scores.items()}
    nobody = 0.0
    if present < 1:
        nobody = max(len(scores), 1) * (1 - present) / present
        nobody = math.exp(min(math.log(nobody) - n_facts * math.log1p(-coverage) - most, 700))
    total = math.fsum([*masses.values(), nobody])
    return {record: mass / total for record, mass in masses.items()}, nobody / total if total else 1.0


def session_share(entries, units_per_day):
    """How often two entries of one record are of the same day."""
    same, pairs = 0, 0
    for record in lengths(entries):
        days = [
            time // units_per_day for other, _, _, time in all_cells(entries) if other == record and time is not None
        ]
        same += sum(count * (count - 1) for count in Counter(days).values())
        pairs += len(days) * (len(days) - 1)
    return same / pairs if pairs else 0.0


def _sizes(entries, left, mistakes):
    """({record: how many entries could have been chosen}, their sum)."""
    rank, counts = ranks(entries), support(entries)
    sizes = Counter()
    for record, item, *_ in all_cells(left):
        chosen = counts[item] if mistakes.popular else int(rank[item] > mistakes.outside)
        sizes[record] += chosen
    return {record: max(size, 1) for record, size in sizes.items()}, max(sum(sizes.values()), 1)


def _levels(entries):
    return sorted({value for _, _, value, _ in all_cells(entries) if value is not None})


def _span(entries):
    times = [time for *_, time in all_cells(entries) if time is not None]
    return max(times) - min(times) + 1 if times else 0


def _distance(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return 0.0 if one == other else math.inf
    return abs(one - other)


def _value_chances(value, level, levels, mistakes):
    """(P(v | x) of a right fact, of a wrong fact) for an entry of this level."""
    if mistakes.value_scale is not None:
        if isinstance(level, str):
            return float(value == level), 1 / len(levels)

        def decay(other):
            return math.exp(-abs(other - level) / mistakes.value_scale)

        return decay(value) / math.fsum(map(decay, levels)), 1 / len(levels)
    error = mistakes.value_error + ROUNDING
    near = sum(_distance(other, level) <= error for other in levels)
    beyond = len(levels) - near
    is_near = _distance(value, level) <= error
    return is_near / near, ((not is_near) / beyond if beyond else 1 / len(levels))


def _values(entries, value, level, mistakes):
    """The same for an entry whose value may be missing: then for one of any entry of the release."""
    levels = _levels(entries)
    if value is None or not levels:
        return 1.0, 1.0
    if level is not None:
        return _value_chances(value, level, levels, mistakes)
    return _mean_chances(value, [value for _, _, value, _ in all_cells(entries)], levels, mistakes)


def _mean_chances(value, found, levels, mistakes):
    counts = Counter(level for level in found if level is not None)
    pairs = [(_value_chances(value, level, levels, mistakes), count) for level, count in counts.items()]
    n = sum(counts.values())
    return tuple(math.fsum(pair[way] * count for pair, count in pairs) / max(n, 1) for way in (0, 1))


def _time_chances(off, span, mistakes):
    """(H, G): P(t | y) of a right and of a wrong date that is off by so many units."""
    if mistakes.time_scale is None:
        width = 2 * mistakes.reach + 1
        is_near = abs(off) <= mistakes.reach
        return is_near / width, (not is_near) / (span - width if span > width else span)
    reach = min(math.ceil(10 * mistakes.time_scale), span)
    total = _laplace_total(mistakes.time_scale, reach)
    return math.exp(-abs(off) / mistakes.time_scale) / total if abs(off) <= reach else 0.0, 1 / span


@cache
def _laplace_total(scale, reach):
    return math.fsum(math.exp(-abs(d) / scale) for d in range(-reach, reach + 1))


def _likelihood(entries, value, time, level, entry_time, mistakes):
    """P(v, t | x, y)."""
    w, span = mistakes.wrong, _span(entries)
    right, wrong = _values(entries, value, level, mistakes)
    if time is None or not span or (mistakes.reach is None and mistakes.time_scale is None):
        return (1 - w) * right + w * wrong
    if entry_time is None:
        return ((1 - w) * right + w * wrong) / span
    h, g = _time_chances(entry_time - time, span, mistakes)
    if mistakes.time_scale is None:
        return (1 - w) * right * h + w * wrong * g
    return ((1 - w) * right + w * wrong) * ((1 - w) * h + w * g)


def _average(entries, left, item, value, time, repeats, mistakes):
    """P(v, t): values of the item and of PRIOR_ENTRIES more like all, times of all entries.

    Entries without a value count as any entry, those without a time as of any time.
    """
    w, span, levels = mistakes.wrong, _span(entries), _levels(entries)
    right = wrong = 1.0
    if value is not None and levels:
        cells = all_cells(left)
        found = [level for _, other, level, _ in cells if other == item and level is not None]
        own = _mean_chances(value, found, levels, mistakes)
        is_any_left = any(level is not None for _, _, level, _ in cells)
        spread = cells if is_any_left else all_cells(entries)
        overall = _mean_chances(value, [level for _, _, level, _ in spread], levels, mistakes)
        n, missing = len(found), sum(other == item for _, other, *_ in cells) - len(found)
        right, wrong = (
            (n * a + (PRIOR_ENTRIES + missing) * b) / (n + PRIOR_ENTRIES + missing)
            for a, b in zip(own, overall, strict=True)
        )
    if time is None or not span or (mistakes.reach is None and mistakes.time_scale is None):
        return (1 - w) * right + w * wrong
    times = [entry_time for *_, entry_time in all_cells(left) if entry_time is not None]
    timed = len(times) / max(len(all_cells(left)), 1)
    of_untimed = (1 - timed) * ((1 - w) * right + w * wrong) / span
    if mistakes.time_scale is None:
        share = sum(abs(other - time) <= mistakes.reach for other in times) / max(len(times), 1)
        h, g = 1 / (2 * mistakes.reach + 1), _time_chances(mistakes.reach + 1, span, mistakes)[1]
    else:
        h, g = _time_chances(0, span, mistakes)
        total = math.fsum(_time_chances(other - time, span, mistakes)[0] for other in times)
        share = total / h / max(len(times), 1)
    if repeats:
        session = session_share(left, mistakes.units_per_day)
        share = session + (1 - session) * share
    if mistakes.time_scale is None:
        of_timed = (1 - w) * right * share * h + w * wrong * (1 - share) * g
    else:
        of_timed = ((1 - w) * right + w * wrong) * ((1 - w) * share * h + w * g)
    return timed * of_timed + of_untimed
