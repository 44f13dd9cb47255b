"""The titles of a catalogue in columns, one row for each name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints
from standout.linking.title_names import Title, parse_title

__all__ = ["Titles", "word_ends"]

MIN_END = 5
"""Minimum number of letters for the end of a name to count."""


@dataclass(frozen=True)
class Titles:
    """The titles of a catalogue. The other columns have a row for each name; an item may have several."""

    titles: Sequence[Title]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Titles":
        """Parse the texts."""
        return cls([parse_title(text) for text in texts])

    @cached_property
    def names(self) -> list[str]:
        """All names, item by item."""
        return [name for title in self.titles for name in title.names]

    @cached_property
    def texts(self) -> NDArray[np.object_]:
        """The names as an array."""
        return np.array([*self.names, None], object)[:-1]

    @cached_property
    def length(self) -> Ints:
        """The number of letters of each name."""
        return np.array([len(name) for name in self.names], np.int64)

    @cached_property
    def squeezed(self) -> list[str]:
        """The names without blanks: Spider-Man equals Spiderman."""
        return [name.replace(" ", "") for name in self.names]

    @cached_property
    def sorted_words(self) -> list[str]:
        """The words of each name in alphabetical order."""
        return [" ".join(sorted(name.split())) for name in self.names]

    @cached_property
    def ends(self) -> list[tuple[str, int]]:
        """(beginning or end, row of the name) for each name."""
        return [(end, row) for row, name in enumerate(self.names) for end in word_ends(name.split())]

    @cached_property
    def owner(self) -> Ints:
        """The item of each name."""
        return np.repeat(np.arange(len(self.titles)), [len(title.names) for title in self.titles])

    @cached_property
    def is_main(self) -> Bools:
        """Which names are the first of their item."""
        return np.diff(self.owner, prepend=-1) > 0

    @cached_property
    def year(self) -> Ints:
        """The year of each name's item, 0 if unknown."""
        return np.array([title.year for title in self.titles], np.int64)[self.owner]

    @cached_property
    def article(self) -> list[str]:
        """The article of each name's item."""
        return [title.article for title in self.titles for _ in title.names]

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all names."""
        return frozenset(word for name in self.names for word in name.split())


def word_ends(words: list[str]) -> list[str]:
    """Return the beginnings of a name and, from five letters on, its ends, in whole words.

    >>> word_ends(["star", "wars", "hope"])
    ['star', 'star wars', 'wars hope']
    """
    cuts = range(1, len(words))
    ends = (" ".join(words[cut:]) for cut in cuts)
    return [" ".join(words[:cut]) for cut in cuts] + [end for end in ends if len(end) >= MIN_END]
