"""What the page gets, typed: these dataclasses become JSON objects with the same names."""

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """An item: its id, its title (null if it has none) and the number of records that have it."""

    item: str
    title: str | None
    records: int


@dataclass(frozen=True, slots=True)
class ItemsAnswer:
    """Answer of GET /api/items and /api/items/by-id."""

    items: Sequence[ItemAnswer]


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The values of the release. `levels` has at most 200; `step` is the smallest distance of two numbers."""

    kind: str
    levels: Sequence[float | str]
    complete: bool
    lowest: float | None
    highest: float | None
    step: float | None


@dataclass(frozen=True, slots=True)
class DateRange:
    """First and last time of the release, and its unit: day, hour or minute."""

    first: date
    last: date
    unit: str


@dataclass(frozen=True, slots=True)
class AdversaryAnswer:
    """An adversary of the audit's ladder: its name, title, number of facts and of wrong ones, and errors."""

    name: str
    text: str
    knows: int
    wrong: int
    value_error: float | None
    time_error: float | None


@dataclass(frozen=True, slots=True)
class WhatIfAnswer:
    """The second release: its name, the steps that made it (None if unknown) and its number of records."""

    name: str
    steps: Sequence[str] | None
    records: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest number of facts, of records in a lineup, and of bytes of a request."""

    facts: int
    top: int
    body: int


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """Answer of GET /api/release; `examples` are items to begin with, from popular to rare."""

    name: str
    records: int
    items: int
    entries: int
    values: ValueRange | None
    dates: DateRange | None
    titles: bool
    repeats: bool
    adversaries: Sequence[AdversaryAnswer]
    examples: Sequence[ItemAnswer]
    what_if: WhatIfAnswer | None
    audit: bool
    limits: Limits
    fingerprint: str
    version: str


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """A fact of the request, with the item's title and the number of records that have it."""

    item: str
    value: float | str | None
    value_error: float | None
    time: date | None
    time_error: float | None
    doubtful: bool
    title: str | None
    records: int


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """A record of a lineup; its id only if it was asked for."""

    name: str
    id: str | None
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits that identify one candidate, and those still missing to identify the best."""

    before: float
    left: float


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """What one fact adds to the score of a candidate, by item, value and date; null if it is not known."""

    has: bool
    score: float
    by_item: float | None
    by_value: float | None
    by_time: float | None


@dataclass(frozen=True, slots=True)
class Parts:
    """A candidate and what each fact adds to its score, in the order of the facts."""

    name: str
    score: float
    facts: Sequence[AnswerPart]


@dataclass(frozen=True, slots=True)
class Why:
    """The chosen candidate and the one to compare it with; null if there is none."""

    chosen: Parts | None
    runner_up: Parts | None


@dataclass(frozen=True, slots=True)
class AttackAnswer:
    """The answer of one attack. Numbers equal those of `standout lineup --json` for `command`."""

    candidates: int
    lineup: Sequence[CandidateAnswer]
    everybody_else: float
    nobody: float | None
    bits: Bits
    eccentricity: float
    ties: int
    claim: bool
    sentence: str
    conclusion: str
    assumes: str | None
    why: Why
    command: str | None


@dataclass(frozen=True, slots=True)
class LineupResponse:
    """Answer of POST /api/lineup."""

    facts: Sequence[FactAnswer]
    answers: dict[str, AttackAnswer]
    what_if: dict[str, AttackAnswer] | None
    command: str | None


@dataclass(frozen=True, slots=True)
class DealAnswer:
    """Answer of POST /api/play: the facts dealt so far, how many there are, and whether these are all."""

    dealt: Sequence[FactAnswer]
    of: int
    done: bool


@dataclass(frozen=True, slots=True)
class RevealedEntry:
    """An entry of the target's record, and whether a dealt fact is about it."""

    item: str
    title: str | None
    value: float | str | None
    time: date | None
    named: bool


@dataclass(frozen=True, slots=True)
class RevealAnswer:
    """Answer of POST /api/reveal. `bits` are the bits left to identify the target, by number of facts."""

    right: bool
    rank: int
    ties: int
    probability: float
    bits: Sequence[float]
    learned: int
    id: str | None
    entries: Sequence[RevealedEntry] | None


def to_json(answer: object, indent: int | None = None) -> bytes:
    """The answer in JSON; numbers that are not finite become null.

    >>> to_json(Bits(before=9.0, left=float("inf")))
    b'{"before": 9.0, "left": null}'
    """
    text = json.dumps(_plain(answer), ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member) for member in value]
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value
