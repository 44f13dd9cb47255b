"""What the page may ask, typed and checked."""

from dataclasses import dataclass
from datetime import date

import standout as so
from standout.explore.json_input import Fields

__all__ = [
    "ATTACKS",
    "DOUBT",
    "FORMATS",
    "MOST_FACTS",
    "DealRequest",
    "ExportRequest",
    "LineupRequest",
    "RevealRequest",
    "TypedFact",
    "known_fact",
]

MOST_FACTS, MOST_SHOWN = 40, 100
LARGEST_SEED = 2**53 - 1
"""Larger whole numbers are not exact in JavaScript."""
ATTACKS = ("likelihood", "paper")
FORMATS = ("facts.csv", "lineup.csv", "json")
MOST_DAYS = 1000
"""Largest error of a date: more is as good as no date, and takes seconds on data whose dates were changed."""
DOUBT = 0.5
"""Probability that a fact marked as doubtful is wrong."""


@dataclass(frozen=True, slots=True)
class TypedFact:
    """A fact as the page states it; None: unknown, or for errors: as the attack assumes."""

    item: str
    value: float | str | None = None
    value_error: float | None = None
    time: date | None = None
    time_error: float | None = None
    doubtful: bool = False

    @classmethod
    def read(cls, fields: Fields) -> "TypedFact":
        """Read a fact."""
        fact = cls(
            item=fields.text("item"),
            value=fields.value("value"),
            value_error=fields.error("value_error"),
            time=fields.moment("time"),
            time_error=fields.error("time_error", MOST_DAYS),
            doubtful=fields.flag("doubtful"),
        )
        fields.end()
        return fact


@dataclass(frozen=True, slots=True)
class LineupRequest:
    """POST /api/lineup: the known facts, and what to compute.

    `in_data` says that the person is known to be in the data.
    """

    facts: tuple[TypedFact, ...]
    length: tuple[int, int] | None
    joined: tuple[date, date] | None
    attacks: tuple[str, ...]
    top: int
    chosen: int
    show_ids: bool
    what_if: bool
    in_data: bool = False

    @classmethod
    def read(cls, fields: Fields) -> "LineupRequest":
        """Read the request."""
        request = cls._taken(fields)
        fields.end()
        return request

    @classmethod
    def _taken(cls, fields: Fields) -> "LineupRequest":
        facts = fields.items("facts", MOST_FACTS, [])
        return cls(
            facts=tuple(TypedFact.read(Fields.of(f"fact {i}", fact)) for i, fact in enumerate(facts, 1)),
            length=fields.wholes("length"),
            joined=fields.dates("joined"),
            attacks=fields.choices("attacks", ATTACKS),
            top=fields.whole("top", 1, MOST_SHOWN, 20),
            chosen=fields.whole("chosen", 0, MOST_SHOWN - 1, 0),
            show_ids=fields.flag("show_ids"),
            what_if=fields.flag("what_if"),
            in_data=fields.flag("in_data"),
        )

    @property
    def aux(self) -> so.Aux:
        """The facts in the form that an attack takes."""
        return so.Aux([known_fact(fact) for fact in self.facts], self.length, self.joined)


def known_fact(fact: TypedFact) -> so.Fact:
    """The fact in the library's form; an error of something unknown or of a category does not count."""
    return so.Fact(
        fact.item,
        fact.value,
        fact.time,
        value_error=None if fact.value is None or isinstance(fact.value, str) else fact.value_error,
        time_error=None if fact.time is None else fact.time_error,
        doubt=DOUBT if fact.doubtful else None,
    )


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """POST /api/export: a lineup request and a format."""

    lineup: LineupRequest
    format: str

    @classmethod
    def read(cls, fields: Fields) -> "ExportRequest":
        """Read the request."""
        form = fields.choice("format", FORMATS)
        return cls(LineupRequest.read(fields), form)


@dataclass(frozen=True, slots=True)
class DealRequest:
    """POST /api/play: the adversary, the seed that draws the target, and how many facts to deal."""

    adversary: str
    seed: int
    facts: int

    @classmethod
    def read(cls, fields: Fields) -> "DealRequest":
        """Read the request."""
        request = cls._taken(fields)
        fields.end()
        return request

    @classmethod
    def _taken(cls, fields: Fields) -> "DealRequest":
        return cls(
            adversary=fields.text("adversary"),
            seed=fields.whole("seed", 0, LARGEST_SEED),
            facts=fields.whole("facts", 0, MOST_FACTS, 1),
        )


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """POST /api/reveal: the play, the attack that guesses, and what to show of the target."""

    deal: DealRequest
    attack: str
    show_ids: bool
    entries: bool

    @classmethod
    def read(cls, fields: Fields) -> "RevealRequest":
        """Read the request."""
        request = cls(
            deal=DealRequest._taken(fields),
            attack=fields.choice("attack", ATTACKS, ATTACKS[0]),
            show_ids=fields.flag("show_ids"),
            entries=fields.flag("entries"),
        )
        fields.end()
        return request
