"""Who is exposed: with how few facts, and by length, known items and first date of the record."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import TypeVar

import numpy as np

from standout.attack.kernels.record_scores import first_times
from standout.auditing.adversary_runs import AdversaryRun
from standout.core.arrays import Floats, Ints
from standout.evaluate.cell import SimulationCell
from standout.evaluate.estimates import Estimate, rate
from standout.facts import KnownFacts
from standout.findings.exposure import DateGroup, FactsNeeded, RankGroup, SizeGroup
from standout.release.model import Release

__all__ = [
    "NEVER",
    "by_first_date",
    "by_length",
    "by_popularity",
    "facts_needed",
    "rarest_known_rank",
    "smallest_sufficient",
]

NEVER = np.iinfo(np.int64).max
"""In place of a number of facts: not identified with any number that was tried."""
SMALLEST_GROUP = 0.04
"""A group with less than this share of the targets is merged with its neighbour."""
STEPS = (1, 2, 5)
Group = TypeVar("Group")


def smallest_sufficient(correct: Floats, sizes: Sequence[int]) -> Ints:
    """Smallest number of facts at which the guess is certainly right, there and at all larger numbers.

    `correct` is by target and number of facts. A guess among several tied records is not certainly right.

    >>> correct = np.array([[0.0, 1.0, 1.0], [1.0, 0.5, 1.0]])
    >>> smallest_sufficient(correct, [1, 2, 4]).tolist()
    [2, 4]
    """
    stays = np.logical_and.accumulate((correct == 1.0)[:, ::-1], axis=1)[:, ::-1]
    first = np.argmax(stays, axis=1)
    return np.where(stays.any(axis=1), np.array(sizes, np.int64)[first], NEVER)


def facts_needed(run: AdversaryRun) -> tuple[FactsNeeded, ...]:
    """Share of targets who are identified with at most this many facts, for each number in the curve."""
    cells = run.curve_cells
    if not cells:
        return ()
    sizes = [cell.facts for cell in cells]
    smallest = smallest_sufficient(
        np.stack([cell.outcomes.identified[:, 0] for cell in cells], axis=1), sizes
    )
    return tuple(
        FactsNeeded(facts=size, share=rate(int(np.count_nonzero(smallest <= size)), len(smallest)))
        for size in sizes
    )


def by_length(release: Release, cell: SimulationCell) -> tuple[SizeGroup, ...]:
    """Share of identified targets by number of entries of the record."""
    lengths = release.lengths
    target_lengths = lengths[cell.targets]
    longest = int(lengths.max())
    shortest = int(target_lengths.min(initial=longest))
    starts = [shortest, *(start for start in _round_numbers(longest) if start > shortest)]

    def group(low: int, high: int, identified: Estimate) -> SizeGroup:
        last = longest if high == NEVER else high - 1
        people = int(np.count_nonzero((lengths >= low) & (lengths <= last)))
        label = f"{_span(low, last)} entries"
        return SizeGroup(label=label, low=low, high=last, people=people, identified=identified)

    return _groups(target_lengths, _correct(cell), starts, group)


def by_popularity(release: Release, cell: SimulationCell, known: KnownFacts) -> tuple[RankGroup, ...]:
    """Share of identified targets by popularity rank of the rarest known item."""
    starts = [1, *(step + 1 for step in _round_numbers(release.n_items)[1:])]

    def group(low: int, high: int, identified: Estimate) -> RankGroup:
        last = release.n_items if high == NEVER else high - 1
        label = f"rank {_span(low, last)}" + (" (most popular)" if low == 1 else "")
        return RankGroup(label=label, low=low, high=last, identified=identified)

    return _groups(rarest_known_rank(release, known), _correct(cell), starts, group)


def rarest_known_rank(release: Release, known: KnownFacts) -> Ints:
    """Popularity rank of the rarest known item, by target; 0 if none of its items is known."""
    named, target = known.item >= 0, np.repeat(np.arange(len(known)), np.diff(known.first))
    rank = np.zeros(len(known), np.int64)
    np.maximum.at(rank, target[named], release.rank[known.item[named]])
    return rank


def by_first_date(release: Release, cell: SimulationCell) -> tuple[DateGroup, ...]:
    """Share of identified targets by date of the record's first entry. Undated records do not count."""
    time_range, clock = release.time_range, release.clock
    if time_range is None or clock is None:
        return ()
    first = first_times(release).astype(np.int64)
    target_first = first[cell.targets]
    dated = target_first >= 0
    days, end = _periods(_day(time_range[0]), _day(time_range[1]))
    starts = [max(0, clock.encode(day)) for day in days]

    def group(low: int, high: int, identified: Estimate) -> DateGroup:
        index, next_index = starts.index(low), len(starts) if high == NEVER else starts.index(high)
        until = days[next_index] - timedelta(days=1) if next_index < len(days) else end
        return DateGroup(
            label=_period_name(days[index], until),
            low=days[index].isoformat(),
            high=until.isoformat(),
            people=int(np.count_nonzero((first >= low) & (first < high))),
            identified=identified,
        )

    return _groups(target_first[dated], _correct(cell)[dated], starts, group)


def _groups(
    numbers: Ints, correct: Floats, starts: Sequence[int], group: Callable[[int, int, Estimate], Group]
) -> tuple[Group, ...]:
    """Groups of targets that begin at `starts`; a small group is merged with its neighbour."""
    if not len(numbers):
        return ()
    groups, smallest = [], max(1, round(SMALLEST_GROUP * len(numbers)))
    low = starts[0]
    for high in [*starts[1:], NEVER]:
        inside = (numbers >= low) & (numbers < high)
        n, rest = int(inside.sum()), np.count_nonzero(numbers >= high)
        if high != NEVER and (n < smallest or rest < smallest):
            continue
        groups.append(group(low, high, rate(min(float(correct[inside].sum()), n), n)))
        low = high
    return tuple(groups)


def _correct(cell: SimulationCell) -> Floats:
    return np.asarray(cell.outcomes.identified.mean(axis=1))


def _round_numbers(most: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, … up to a number."""
    numbers, unit = [], 1
    while unit <= most:
        numbers += [step * unit for step in STEPS if step * unit <= most]
        unit *= 10
    return numbers


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _periods(first: date, last: date) -> tuple[list[date], date]:
    """First days of years (quarters or months in a short release), and the last day of the last period."""
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    step = 12 if months > 30 else 3 if months > 9 else 1
    year, month = first.year, (first.month - 1) // step * step + 1
    days = []
    while (year, month) <= (last.year, last.month):
        days.append(date(year, month, 1))
        year, month = year + (month + step - 1) // 12, (month + step - 1) % 12 + 1
    return days, date.max if year > date.max.year else date(year, month, 1) - timedelta(days=1)


def _period_name(first: date, last: date) -> str:
    """Name of the period between two days: 2001; 2001–2003; 2001-04 to 2001-06."""
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"{first.year}" if first.year == last.year else f"{first.year}–{last.year}"
    ends = f"{first:%Y-%m}", f"{last:%Y-%m}"
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
