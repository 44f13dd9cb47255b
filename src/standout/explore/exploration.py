"""What is explored: the release, a second one to compare with, and how the user named them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

import standout as so
from standout.core.text import printable
from standout.explore.answers import (
    AdversaryAnswer,
    DateRange,
    ItemAnswer,
    ItemsAnswer,
    Limits,
    ReleaseAnswer,
    ValueRange,
    WhatIfAnswer,
)
from standout.explore.requests import MOST_FACTS, MOST_SHOWN

T = TypeVar("T")
MOST_BYTES = 64 * 1024
"""Largest body of a request."""
MOST_LEVELS = 200
EXAMPLES = (1.0, 0.01, 0.001)
"""Shares of the records that have the items which the page offers as examples."""


@dataclass(frozen=True)
class Exploration:
    """A release, and perhaps a sanitized or other version of it."""

    release: so.Release = field(repr=False)  # the data set
    data: str  # its source, as it was given on the command line
    source_arguments: Sequence[str] = ()  # options for reading it, as they were given
    name: str = ""
    what_if: so.Release | None = field(default=None, repr=False)  # the second data set
    what_if_name: str = ""  # its name
    has_audit: bool = False
    _memory: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The name to show, on one line."""
        return printable(self.name or self.data)

    @cached_property
    def adversaries(self) -> dict[str, so.Rung]:
        """The adversaries of the audit's ladder that apply to the release, by name."""
        try:
            return {rung.name: rung for rung in so.ladder(self.release)}
        except so.ParameterError:  # no adversary applies
            return {}

    @cached_property
    def summary(self) -> ReleaseAnswer:
        """What the page needs to know about the release."""
        release = self.release
        return ReleaseAnswer(
            name=self.title,
            records=release.n_records,
            items=release.n_items,
            entries=release.n_entries,
            values=_values(release),
            dates=_dates(release),
            titles=release.titles is not None,
            repeats=release.may_repeat,
            adversaries=[_adversary(rung) for rung in self.adversaries.values()],
            examples=[self.item(release.items[code]) for code in _examples(release)],
            what_if=self._what_if,
            audit=self.has_audit,
            limits=Limits(facts=MOST_FACTS, top=MOST_SHOWN, body=MOST_BYTES),
            fingerprint=release.fingerprint,
            version=so.__version__,
        )

    @property
    def _what_if(self) -> WhatIfAnswer | None:
        if self.what_if is None:
            return None
        reports = self.what_if.step_reports if isinstance(self.what_if, so.Sanitized) else None
        steps = None if reports is None else [report.step for report in reports]
        return WhatIfAnswer(self.what_if_name, steps, self.what_if.n_records)

    def remembered(self, name: str, compute: Callable[[], T]) -> T:
        """The result of a computation, which is remembered under a name."""
        if name not in self._memory:
            self._memory[name] = compute()
        result: T = self._memory[name]
        return result

    def suggest(self, text: str, count: int) -> ItemsAnswer:
        """Items that a text may mean, the likeliest first."""
        found = so.suggest_items(self.release, text, count)
        return ItemsAnswer([ItemAnswer(each.item, each.title or None, each.records) for each in found])

    def named(self, ids: Iterable[str]) -> ItemsAnswer:
        """The items with these ids; an unknown id has no records."""
        return ItemsAnswer([self.item(item) for item in ids])

    def is_name(self, text: str) -> bool:
        """Whether a text with = or @ is an item's id or title."""
        if self.release.items.find(text) is not None:
            return True
        if not self._has_marked_titles:
            return False
        try:
            return not so.Aux([so.Fact(text)]).unknown(self.release)
        except so.NotFoundError:  # several items have this title
            return True

    @cached_property
    def _has_marked_titles(self) -> bool:
        return any("=" in title or "@" in title for title in self.release.titles or ())

    def item(self, item: str) -> ItemAnswer:
        """The item with this id; one that the release lacks has no records."""
        release, code = self.release, self.release.items.find(item)
        if code is None:
            return ItemAnswer(item, None, 0)
        title = None if release.titles is None else release.titles[code] or None
        return ItemAnswer(item, title, int(release.support[code]))


def _examples(release: so.Release) -> list[int]:
    """Codes of items that about these shares of the records have: the first of those equally near."""
    if not release.n_items:
        return []
    nearest = [int(np.argmin(np.abs(release.support - share * release.n_records))) for share in EXAMPLES]
    return list(dict.fromkeys(nearest))


def _values(release: so.Release) -> ValueRange | None:
    levels = release.levels
    if levels is None or not len(levels):
        return None
    if isinstance(levels, tuple):
        return ValueRange("categories", levels[:MOST_LEVELS], len(levels) <= MOST_LEVELS, None, None, None)
    step = float(np.diff(levels).min()) if len(levels) > 1 else None
    shown = levels[:MOST_LEVELS].tolist()
    return ValueRange("numbers", shown, len(levels) <= MOST_LEVELS, float(levels[0]), float(levels[-1]), step)


def _dates(release: so.Release) -> DateRange | None:
    if release.clock is None or release.time_range is None:
        return None
    return DateRange(*release.time_range, release.clock.unit)


def _adversary(rung: so.Rung) -> AdversaryAnswer:
    who = rung.adversary
    return AdversaryAnswer(rung.name, rung.title, who.knows, who.wrong, who.value_error, who.time_error)
