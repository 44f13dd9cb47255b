"""Who is exposed to the headline adversary: with how few facts, in which groups, and with which items."""

from dataclasses import dataclass

from standout.findings.json_types import Count, Day, PositiveCount, Rate

__all__ = [
    "DateGroup",
    "Exposure",
    "FactsNeeded",
    "RankGroup",
    "SensitiveCategory",
    "SensitiveItems",
    "SizeGroup",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsNeeded:
    """Share of targets who are identified with at most this many facts.

    Attributes
    ----------
    share
        Targets identified with at most `facts` facts and with every larger number that was tried. A tie does
        not count as identified.
    """

    facts: PositiveCount
    share: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeGroup:
    """People whose records have between `low` and `high` entries.

    Attributes
    ----------
    people
        Number of people in the group.
    identified
        Share of the group's targets who are identified.
    """

    label: str
    low: PositiveCount
    high: PositiveCount
    people: Count
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RankGroup:
    """Targets whose rarest known item has a popularity rank between `low` and `high`.

    Attributes
    ----------
    people
        Always null: the group depends on what the adversary knows.
    identified
        Share of the group's targets who are identified.
    """

    label: str
    low: PositiveCount
    high: PositiveCount
    people: None = None
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class DateGroup:
    """People whose first entry is between two days.

    Attributes
    ----------
    people
        Number of people in the group.
    identified
        Share of the group's targets who are identified.
    """

    label: str
    low: Day
    high: Day
    people: Count
    identified: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveCategory:
    """How many people would have a sensitive item of one category revealed.

    Attributes
    ----------
    category
        The user's own name of the category; `any` for all items together.
    items
        Number of items of the release in the category.
    people_with
        Number of people with such an item.
    revealed
        Share of targets with such an item who are identified and have one revealed that was not known.
    people_revealed
        This share of all people with such an item and enough entries to be targets.
    """

    category: str
    items: Count
    people_with: Count
    revealed: Rate
    people_revealed: Count
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveItems:
    """Result for the user's list of sensitive items.

    Attributes
    ----------
    items_listed
        Number of lines of the file that name an item.
    items_in_release
        Number of these lines whose item is in the release.
    """

    file: str
    items_listed: Count
    items_in_release: Count
    adversary: str
    rows: tuple[SensitiveCategory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Who is exposed to the headline adversary.

    Attributes
    ----------
    adversary
        Name of the adversary.
    by_length
        Groups by number of entries of the record.
    by_popularity
        Groups by popularity rank of the rarest known item.
    by_first_date
        Groups by date of the record's first entry.
    sensitive
        Result for the list of sensitive items, if one was given.
    """

    adversary: str
    facts_needed: tuple[FactsNeeded, ...]
    by_length: tuple[SizeGroup, ...]
    by_popularity: tuple[RankGroup, ...]
    by_first_date: tuple[DateGroup, ...]
    sensitive: SensitiveItems | None
