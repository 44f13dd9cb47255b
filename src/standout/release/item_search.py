"""Suggest items while a title or an id is typed: prefixes first, then words, then typing errors."""

import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.release.catalogue import fold, search_key
from standout.release.model import Release
from standout.release.word_distance import LONGEST_WORD, Words, typing_errors

__all__ = ["ItemSuggestion", "suggest_items"]

MOST_SUGGESTIONS = 1000
LONGEST_TEXT = 200
"""Number of characters of a query that count."""
MOST_WORDS = 8
"""Number of words of a query that count."""
WORD = re.compile(r"\w+")
LAST = chr(0x10FFFF)
MISSING = 5
"""A word of the query that an item lacks counts as so many typing errors."""
LOCK = threading.Lock()


class ItemSuggestion(NamedTuple):
    """An item that a text may mean.

    Attributes
    ----------
    item : str
        Its id.
    title : str or None
        Its title; None if it has none.
    records : int
        Number of records that have it.

    Examples
    --------
    >>> ItemSuggestion("1199", "Brazil (1985)", 59).records
    59
    """

    item: str
    title: str | None
    records: int


def suggest_items(release: Release, text: str, count: int = 8) -> tuple[ItemSuggestion, ...]:
    """Suggest items whose title or id a text may mean, as it is typed.

    Case, accents and the article do not matter. First come the item with this id and those with this title,
    then titles that begin with the text, then ids that do, then titles with all words of the text, or with
    beginnings of them. If these are too few, words may have typing errors, and a title may lack some of them.
    Popular items come first within each group. The first call prepares an index, which is kept with the
    release. Any number of threads may call this.

    Parameters
    ----------
    release : Release
        The data set.
    text : str
        A title or an id, perhaps not complete. Only the first 200 characters and 8 words count.
    count : int
        Largest number of suggestions, from 1 to 1,000.

    Returns
    -------
    tuple of ItemSuggestion
        The items; empty for a text without letters, digits or signs.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type or is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> [suggestion.item for suggestion in so.suggest_items(release, "4", count=3)]
    ['4', '41', '42']
    """
    if not isinstance(text, str):
        raise ParameterError(f"text must be text, got {type(text).__name__}")
    if whole_number("count", count, 1) > MOST_SUGGESTIONS:
        raise ParameterError(f"count must be from 1 to {MOST_SUGGESTIONS:,}, got {count:,}")
    titles = release.titles
    return tuple(
        ItemSuggestion(
            release.items[code],
            None if titles is None else titles[code] or None,
            int(release.support[code]),
        )
        for code in _index(release).search(text, count)
    )


class _SortedTexts(NamedTuple):
    """Texts in order, and the rank of popularity of the item of each."""

    texts: list[str]
    rank: Ints

    @classmethod
    def of(cls, texts: Iterable[tuple[str, int]]) -> "_SortedTexts":
        pairs = sorted(texts)
        return cls([text for text, _ in pairs], np.array([rank for _, rank in pairs], np.int64))

    def beginning_with(self, text: str) -> Ints:
        """Ranks of the items whose text begins so."""
        return self.rank[bisect_left(self.texts, text) : bisect_left(self.texts, text + LAST)]

    def equal_to(self, title: str) -> Ints:
        """Ranks of the items with this title, with or without a year."""
        equal = self.rank[bisect_left(self.texts, title) : bisect_right(self.texts, title)]
        return np.concatenate([equal, self.beginning_with(f"{title} (")])


class _ItemIndex:
    """Titles, ids and words of all items, which are numbered by popularity."""

    def __init__(self, release: Release) -> None:
        self.release, self.n = release, release.n_items
        self.code = np.argsort(-np.asarray(release.support, np.int64), kind="stable")
        rank = np.empty(self.n, np.int64)
        rank[self.code] = np.arange(self.n)
        ranks = rank.tolist()
        ids = [(fold(text)[:LONGEST_TEXT], ranks[code]) for code, text in enumerate(release.items)]
        titled = [(title, ranks[code]) for code, title in enumerate(release.titles or ()) if title]
        self.ids = _SortedTexts.of(ids)
        self.titles = _SortedTexts.of((search_key(title)[:LONGEST_TEXT], at) for title, at in titled)
        self._add_words(((fold(title), at) for title, at in titled) if titled else iter(ids))

    def _add_words(self, texts: Iterator[tuple[str, int]]) -> None:
        """Collect the words, in order, with the ranks of the items that have them."""
        number: dict[str, int] = {}
        word, item = [], []
        for text, rank in texts:
            for each in dict.fromkeys(_words(text)):
                word.append(number.setdefault(each, len(number)))
                item.append(rank)
        self.words = sorted(number)
        place = np.empty(len(number), np.int64)
        place[[number[each] for each in self.words]] = np.arange(len(number))
        words = place[np.array(word, np.int64)]
        order = np.argsort(words, kind="stable")
        self.item = np.array(item, np.int64)[order]
        self.first = offsets(np.bincount(words, minlength=len(number)))
        self.letters = Words.of(self.words)

    def search(self, text: str, count: int) -> list[int]:
        """Codes of the items, the likeliest first."""
        text = text[:LONGEST_TEXT]
        folded = fold(text).strip()
        words = _words(folded)[:MOST_WORDS]
        exact = self.release.items.find(text.strip())
        found = {} if exact is None else {int(exact): None}
        if not folded:
            return list(found)
        for best in self._tiers(folded, search_key(text), words, 2 * count):
            found |= dict.fromkeys(self.code[best].tolist())
            if len(found) >= count:
                break
        return list(found)[:count]

    def _tiers(self, folded: str, key: str, words: list[str], most: int) -> Iterator[Ints]:
        """Yield ranks of items, the likeliest first."""
        if key:
            yield _smallest(self.titles.equal_to(key), most)
            yield _smallest(self.titles.beginning_with(key), most)
        yield _smallest(self.ids.beginning_with(folded), most)
        if words:
            yield _smallest(self._with_words(words), 2 * most)
            yield self._with_errors(words, 4 * most)

    def _with_words(self, words: list[str]) -> Ints:
        """Ranks of the items that have a beginning with each of these words."""
        has = np.ones(self.n, np.bool_)
        for word in words:
            this = np.zeros(self.n, np.bool_)
            this[self.item[self._postings(word)]] = True
            has &= this
        return np.flatnonzero(has)

    def _postings(self, word: str) -> slice:
        low, high = bisect_left(self.words, word), bisect_left(self.words, word + LAST)
        return slice(int(self.first[low]), int(self.first[high]))

    def _with_errors(self, words: list[str], most: int) -> Ints:
        """Ranks of the items that have at least half of the words with few typing errors; fewest first."""
        errors, lacks = np.zeros(self.n, np.int64), np.zeros(self.n, np.int64)
        for word in words:
            this = self._errors(word)
            lacks += this == MISSING
            errors += this
        there = np.flatnonzero(lacks <= len(words) // 2 if len(words) > 1 else lacks == 0)
        return _smallest(errors[there] * self.n + there, most) % max(self.n, 1)

    def _errors(self, word: str) -> NDArray[np.uint8]:
        """Number of typing errors by item, or MISSING."""
        errors = np.full(self.n, MISSING, np.uint8)
        most = 0 if word.isdigit() or len(word) < 3 else 1 if len(word) < 6 else 2
        distance = typing_errors(word, self.letters, most) if most else np.empty(0, np.uint8)
        for number in range(most, 0, -1):
            near = np.flatnonzero(distance == number)
            counts = self.first[near + 1] - self.first[near]
            at = np.repeat(self.first[near] - offsets(counts)[:-1], counts) + np.arange(int(counts.sum()))
            errors[self.item[at]] = number
        errors[self.item[self._postings(word)]] = 0
        return errors


def _index(release: Release) -> _ItemIndex:
    """The index of a release, which is made once."""
    kept = vars(release).get("_item_index")
    if kept is None:
        with LOCK:
            kept = vars(release).get("_item_index") or _ItemIndex(release)
            vars(release)["_item_index"] = kept
    assert isinstance(kept, _ItemIndex)
    return kept


def _smallest(numbers: Ints, most: int) -> Ints:
    """The smallest of the numbers, in order."""
    numbers = np.partition(numbers, most)[:most] if len(numbers) > most else numbers
    return np.sort(numbers)


def _words(text: str) -> list[str]:
    """The words of a folded text; if it has only signs, these."""
    return [word[:LONGEST_WORD] for word in WORD.findall(text) or text.split()]
