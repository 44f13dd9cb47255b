"""Find items by id or title, and suggest titles that a user may have meant."""

import re
import threading
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import NotFoundError, ParameterError, whole_number
from standout.core.jit import Array, Int, kernel
from standout.core.text import printable
from standout.data.release import Release

YEAR = re.compile(r"^(.*\S)\s*\((\d{4})\)\s*$", re.DOTALL)
ARTICLES = "the|a|an|der|die|das|le|la|les|il|el|los"
ARTICLE_LAST, ARTICLE_FIRST = re.compile(rf"^(.*), ({ARTICLES})$"), re.compile(rf"^({ARTICLES}) (?=.)")
BRACKETS = re.compile(r"\(([^()]*)\)")


def normalise_title(title: str) -> str:
    """Form of a title for comparison: ignores case, accents, extra blanks and the position of the article."""
    plain, year = _split_year(title)
    return f"{plain} ({year})" if year else plain


def search_key(title: str) -> str:
    """Form of a title for its beginning: normalised, and without the article."""
    return _without_article(normalise_title(title))


class Catalogue:
    """Finds the items of a release by id or title."""

    def __init__(self, release: Release) -> None:
        self.release = release

    @classmethod
    def of(cls, release: Release) -> "Catalogue":
        """The catalogue of a release; the same object for the same release, so that titles are read once."""
        kept = vars(release).get("_catalogue")
        if kept is None:
            kept = vars(release)["_catalogue"] = cls(release)
        assert isinstance(kept, Catalogue)
        return kept

    def find(self, name: str) -> int | None:
        """Position of the item with this id or title, or None.

        Raises NotFoundError if several items have the title; the message lists their years and ids.
        """
        code = self.release.items.find(name)
        if code is not None or self.release.titles is None:
            return code
        codes = self.items_with_title(name)
        if len(codes) > 1:
            raise NotFoundError(self._ambiguous(name, codes))
        return codes[0] if codes else None

    def items_with_title(self, name: str) -> list[int]:
        """Items with this title, the most popular first.

        The year may be missing. Another title in brackets also counts, as in Seven (a.k.a. Se7en) (1995).
        """
        plain, year = _split_year(name)
        for index in (self._by_title, self._by_alias):
            codes = index.get(plain, [])
            exact = [code for code in codes if self._title(code) == name]
            same_year = [code for code in codes if self._year(code) == year]
            if matches := exact or same_year or ([] if year else codes):
                return sorted(matches, key=lambda code: -int(self.release.support[code]))
        return []

    def suggestions(self, name: str, count: int = 3) -> list[str]:
        """Items that the name may mean, as `suggest_items` finds them; numeric ids are never suggested."""
        plain, release = _without_article(_split_year(name)[0]), self.release
        if not plain:
            return []
        codes = _index(release).search(plain, count)
        return [self.label(code) for code in codes if self._title(code) or not release.items[code].isdigit()]

    def label(self, code: int) -> str:
        """One line that names an item: its title and id, or its id alone."""
        title, item = self._title(code), self.release.items[code]
        return printable(f"{title} [{item}]" if title else item)

    def _ambiguous(self, name: str, codes: list[int]) -> str:
        choices = ", ".join(self.label(code) for code in codes[:5])
        more = f" and {len(codes) - 5} more" if len(codes) > 5 else ""
        years_differ = len({self._year(code) for code in codes}) == len(codes)
        advice = "add the year, or use the id" if years_differ else "use the id"
        return f"{len(codes)} items have the title {name!r}: {choices}{more}; {advice}"

    def _title(self, code: int) -> str:
        return "" if self.release.titles is None else self.release.titles[code]

    def _year(self, code: int) -> str:
        return _split_year(self._title(code))[1]

    @cached_property
    def _by_title(self) -> dict[str, list[int]]:
        """Items of each title, normalised and without the year."""
        return _group((_split_year(title)[0], code) for code, title in enumerate(self.release.titles or ()))

    @cached_property
    def _by_alias(self) -> dict[str, list[int]]:
        """Items of each part of a title with brackets."""
        titles = [(title, code) for title, codes in self._by_title.items() if "(" in title for code in codes]
        return _group((alias, code) for title, code in titles for alias in _aliases(title))


def _split_year(title: str) -> tuple[str, str]:
    """Split a title into its normalised text and its year, which is "" if there is none."""
    dated = YEAR.match(title) if title.rstrip().endswith(")") else None
    plain, year = dated.groups() if dated else (title, "")
    return _article_first(" ".join(fold(plain).split())), year


def _article_first(text: str) -> str:
    """Move the article to the front."""
    match = ARTICLE_LAST.match(text) if ", " in text else None
    return f"{match[2]} {match[1]}" if match else text


def _without_article(text: str) -> str:
    """Remove the article, which says little about the similarity of two titles."""
    return ARTICLE_FIRST.sub("", text)


def fold(text: str) -> str:
    """Remove case and accents."""
    if text.isascii():
        return text.lower()
    characters = unicodedata.normalize("NFKD", text.upper())  # several characters may share one upper case
    return "".join(char for char in characters if not unicodedata.combining(char)).upper().casefold()


def _aliases(title: str) -> set[str]:
    """Return the text outside brackets and the texts inside them."""
    parts = (BRACKETS.sub(" ", title), *BRACKETS.findall(title))
    return {_article_first(" ".join(part.removeprefix("a.k.a. ").split())) for part in parts}


def _group(named: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for name, code in named:
        if name:
            groups.setdefault(name, []).append(code)
    return groups


# Suggest items while a title or an id is typed: prefixes first, then words, then typing errors.


MOST_SUGGESTIONS = 1000
LONGEST_TEXT = 200
"""Number of characters of a query that count."""
MOST_WORDS = 8
"""Number of words of a query that count."""
WORD = re.compile(r"\w+")
LAST = chr(0x10FFFF)
MISSING = 5
"""A word of the query that an item lacks counts as so many typing errors."""
LONGEST_WORD = 32
"""Number of characters of a word that are compared."""
LOCK = threading.Lock()


class ItemSuggestion(NamedTuple):
    """An item that a text may mean."""

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
            release.items[code], None if titles is None else titles[code] or None, int(release.support[code])
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


# How many typing errors separate a word from the beginnings of many others.
#
# An error is a letter too many, a missing one, a wrong one, or two neighbours in the wrong order. Only the
# beginning of the other word counts, because the word may not be typed to its end. Words that begin alike share
# the rows of the usual table: a million ids take a few milliseconds.


FAR = 255


class Words(NamedTuple):
    """Characters of sorted words one after the other; each shares its first few with the word before it."""

    first: Ints
    code: NDArray[np.uint32]
    shared: NDArray[np.uint8]

    @classmethod
    def of(cls, words: list[str]) -> "Words":
        """The words, cut at LONGEST_WORD characters. Any order is right, and alphabetical order is fast."""
        words = [word[:LONGEST_WORD] for word in words]
        first, code = offsets([len(word) for word in words]), _codes("".join(words))
        shared = np.zeros(len(words), np.uint8)
        _count_shared(first, code, shared)
        return cls(first, code, shared)


def typing_errors(word: str, words: Words, most: int) -> NDArray[np.uint8]:
    """Number of errors between the word and the beginning of each other; FAR if more than `most`."""
    errors = np.full(len(words.shared), FAR, np.uint8)
    _typing_errors(_codes(word[:LONGEST_WORD]), words.first, words.code, words.shared, most, errors)
    return errors


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@kernel
def _count_shared(first: Array, code: Array, shared: Array) -> None:
    for i in range(1, len(shared)):
        before, this = first[i - 1], first[i]
        n, most = 0, min(this - before, first[i + 1] - this)
        while n < most and code[before + n] == code[this + n]:
            n += 1
        shared[i] = n


@kernel
def _typing_errors(word: Array, first: Array, code: Array, shared: Array, most: Int, errors: Array) -> None:
    """Fill in the errors of each word, while they can stay within `most`.

    rows[b, a] is the number of errors between the first b letters of the other word and the first a of the
    word; only cells with |a − b| ≤ most are filled in. nearest[b] is the lowest of rows[: b + 1, n].
    """
    n = len(word)
    rows = np.full((LONGEST_WORD + 1, n + most + 2), FAR, np.int64)
    nearest = np.full(LONGEST_WORD + 1, FAR, np.int64)
    for a in range(min(n, most) + 1):
        rows[0, a] = a
    nearest[0] = rows[0, n]
    end = 0  # the row after which all have too many errors, or the last
    is_over = False
    for i in range(len(shared)):
        low, m = first[i], first[i + 1] - first[i]
        if not (is_over and end <= shared[i]):
            is_over, end = False, m
            for b in range(np.int64(shared[i]) + 1, m + 1):
                least = rows[b, 0] = b if b <= most else FAR
                for a in range(max(b - most, 1), min(b + most, n) + 1):
                    wrong = np.int64(word[a - 1] != code[low + b - 1])
                    best = min(rows[b - 1, a] + 1, rows[b, a - 1] + 1, rows[b - 1, a - 1] + wrong)
                    swapped = a > 1 and b > 1 and word[a - 1] == code[low + b - 2]
                    if swapped and word[a - 2] == code[low + b - 1]:
                        best = min(best, rows[b - 2, a - 2] + 1)
                    rows[b, a] = best
                    least = min(least, best)
                nearest[b] = min(nearest[b - 1], rows[b, n])
                if least > most:
                    is_over, end = True, b
                    break
        if nearest[end] <= most:
            errors[i] = nearest[end]
