"""Who is exposed: by length of the record, popularity of what is known, first date; with how few facts."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from standout.attack.kernels.record_scores import first_times
from standout.auditing.attacks import Attacked
from standout.core.arrays import Floats, Ints
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimates import rate
from standout.evaluate.simulate import SimulationCell
from standout.facts import KnownFacts
from standout.release.model import Release

__all__ = ["by_joined", "by_length", "by_popularity", "facts_needed", "needed", "rarest_known"]

NEVER = np.iinfo(np.int64).max
"""Instead of a number of facts: not identified with any number that was tried."""
LEAST = 0.04
"""A class with less than this share of the tried people is told with its neighbour."""
STEPS = (1, 2, 5)
Row = dict[str, Any]


def needed(right: Floats, sizes: Sequence[int]) -> Ints:
    """The smallest number of facts from which on the guess is right, for certain, at every number tried.

    `right` is by target and number of facts. A guess among several that tie is not right for certain.

    >>> needed(np.array([[0.0, 1.0, 1.0], [1.0, 0.5, 1.0], [1.0, 1.0, 0.0]]), [1, 2, 4]).tolist()[:2]
    [2, 4]
    """
    stays = np.logical_and.accumulate((right == 1.0)[:, ::-1], axis=1)[:, ::-1]
    first = np.argmax(stays, axis=1)
    return np.where(stays.any(axis=1), np.array(sizes, np.int64)[first], NEVER)


def facts_needed(attacked: Attacked) -> list[Row]:
    """The share of the tried people who are identified with at most so many facts, and stay so."""
    cells = attacked.cells
    if not cells:
        return []
    sizes = [cell.facts for cell in cells]
    found = needed(np.stack([cell.outcomes.identified[:, 0] for cell in cells], axis=1), sizes)
    shares = [rate(int(np.count_nonzero(found <= size)), len(found)) for size in sizes]
    return [{"facts": size, "share": estimate_json(share)} for size, share in zip(sizes, shares, strict=True)]


def by_length(release: Release, cell: SimulationCell) -> list[Row]:
    """How often the guess is right, by how long the record is."""
    own, every = release.lengths[cell.targets], release.lengths
    shortest = int(own.min(initial=every.max()))
    starts = [shortest, *(start for start in _rounded(int(every.max())) if start > shortest)]

    def row(low: int, high: int) -> Row:
        last = int(every.max()) if high == NEVER else high - 1
        people = int(np.count_nonzero((every >= low) & (every <= last)))
        return {"label": f"{_span(low, last)} entries", "low": low, "high": last, "people": people}

    return _classes(own, _right(cell), starts, row)


def by_popularity(release: Release, cell: SimulationCell, known: KnownFacts) -> list[Row]:
    """How often the guess is right, by the popularity rank of the rarest item that is known."""
    starts = [1, *(step + 1 for step in _rounded(release.n_items)[1:])]

    def row(low: int, high: int) -> Row:
        last = release.n_items if high == NEVER else high - 1
        label = (
            f"rarest known item of rank {_span(low, last)}"
            if low > 1
            else f"known items of ranks up to {last:,}"
        )
        return {"label": label, "low": low, "high": last, "people": None}

    return _classes(rarest_known(release, known), _right(cell), starts, row)


def rarest_known(release: Release, known: KnownFacts) -> Ints:
    """The popularity rank of the rarest item that is known of each person."""
    return np.maximum.reduceat(release.rank[known.item], known.first[:-1]).astype(np.int64)


def by_joined(release: Release, cell: SimulationCell) -> list[Row]:
    """How often the guess is right, by when the record begins; who has no time at all is not among them."""
    ends, clock = release.time_range, release.clock
    if ends is None or clock is None:
        return []
    first = first_times(release).astype(np.int64)
    own = first[cell.targets]
    timed = own >= 0
    days, last = _periods(_day(ends[0]), _day(ends[1]))
    starts = [max(0, clock.encode(day)) for day in days]

    def row(low: int, high: int) -> Row:
        at, past = starts.index(low), len(starts) if high == NEVER else starts.index(high)
        until = (days[past] if past < len(days) else last) - timedelta(days=1)
        people = int(np.count_nonzero((first >= low) & (first < high)))
        label = _named(days[at], until)
        return {"label": label, "low": days[at].isoformat(), "high": until.isoformat(), "people": people}

    return _classes(own[timed], _right(cell)[timed], starts, row)


def _classes(
    own: Ints, right: Floats, starts: Sequence[int], row: Callable[[int, int], Row]
) -> list[Row]:  # fmt: skip
    """A row for each class of people with enough of them; they begin at `starts`, small ones join."""
    if not len(own):
        return []
    rows, least = [], max(1, round(LEAST * len(own)))
    low = starts[0]
    for high in [*starts[1:], NEVER]:
        here = (own >= low) & (own < high)
        rest = np.count_nonzero(own >= high)
        if high != NEVER and (here.sum() < least or rest < least):
            continue
        found = rate(min(float(right[here].sum()), int(here.sum())), int(here.sum()))
        rows.append(row(low, high) | {"identified": estimate_json(found)})
        low = high
    return rows


def _right(cell: SimulationCell) -> Floats:
    return np.asarray(cell.outcomes.identified.mean(axis=1))


def _rounded(most: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, … up to a number."""
    found, unit = [], 1
    while unit <= most:
        found += [step * unit for step in STEPS if step * unit <= most]
        unit *= 10
    return found


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _periods(first: date, last: date) -> tuple[list[date], date]:
    """The first days of years (of quarters or months, where there are few) and the day after the last."""
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    step = 12 if months > 30 else 3 if months > 9 else 1
    year, month = first.year, (first.month - 1) // step * step + 1
    days = []
    while date(year, month, 1) <= last:
        days.append(date(year, month, 1))
        year, month = year + (month + step - 1) // 12, (month + step - 1) % 12 + 1
    return days, date(year, month, 1)


def _named(first: date, last: date) -> str:
    """2001; 2001–2003; 2001-04 to 2001-06."""
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"{first.year}" if first.year == last.year else f"{first.year}–{last.year}"
    ends = f"{first:%Y-%m}", f"{last:%Y-%m}"
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
