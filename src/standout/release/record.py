"""One record, one item and one entry of a release, with ids, values and dates instead of codes."""

from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

__all__ = ["Entry", "Item", "Record"]


class Entry(NamedTuple):
    """One cell of a release: an item, with its value and time if they are known.

    Attributes
    ----------
    item : str
        Id of the item.
    value : float, str or None
        Value, or None if it is missing.
    time : date, datetime or None
        Time in the unit of the release, or None if it is missing.

    Examples
    --------
    >>> import standout as so
    >>> so.synthesize(records=100, items=50, entries=1_000, seed=7).record("17").entries[0]
    Entry(item='14', value=3.0, time=datetime.date(2005, 10, 25))
    """

    item: str
    value: float | str | None
    time: date | None


@dataclass(frozen=True, slots=True)
class Record:
    """One person's record: its id and its entries, in the order of item ids, then of times and values.

    Attributes
    ----------
    id : str
        Id of the record.
    index : int
        Position of the record in the release, from 0.
    entries : tuple of Entry
        The entries, in the order of item ids.

    Examples
    --------
    >>> import standout as so
    >>> record = so.synthesize(records=100, items=50, entries=1_000, seed=7).record("17")
    >>> record, len(record)
    (Record(id='17', index=16), 3)
    """

    id: str
    index: int
    entries: tuple[Entry, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def support(self) -> tuple[str, ...]:
        """Items that the record has [the paper's supp(r)]."""
        return tuple(dict.fromkeys(entry.item for entry in self.entries))


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its id and title, its popularity rank, and the records that have it.

    Attributes
    ----------
    id : str
        Id of the item.
    index : int
        Position of the item in the release, from 0.
    title : str
        Title, or empty if it is unknown.
    rank : int
        Popularity rank; 1 is the most popular item.
    support : tuple of str
        Ids of the records that have the item [the paper's supp(i)].

    Examples
    --------
    >>> import standout as so
    >>> item = so.synthesize(records=100, items=50, entries=1_000, seed=7).item("14")
    >>> item.rank, len(item)
    (1, 84)
    """

    id: str
    index: int
    title: str
    rank: int
    support: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.support)
