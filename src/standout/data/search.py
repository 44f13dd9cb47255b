"""Find items by id or title, and suggest titles that a user may have meant."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import NotFoundError, ParameterError, whole_number
from standout.core.text import printable
from standout.data.release import Release

YEAR = re.compile(r"^(.*\S)\s*\((\d{4})\)\s*$", re.DOTALL)
ARTICLES = "the|a|an|der|die|das|le|la|les|il|el|los"
ARTICLE_LAST, ARTICLE_FIRST = re.compile(rf"^(.*), ({ARTICLES})$"), re.compile(rf"^({ARTICLES}) (?=.)")
BRACKETS, WORD = re.compile(r"\(([^()]*)\)"), re.compile(r"\w+")
LAST = chr(0x10FFFF)
MOST_SUGGESTIONS, LONGEST_TEXT, MOST_WORDS, LONGEST_WORD = 1000, 200, 8, 32
"""Limits of a query, in items, characters, words and characters of a word; what is beyond them does not count."""
MISSING, FAR = 5, 255
"""A word of the query that an item lacks counts as five typing errors."""


def normalise_title(title: str) -> str:
    """Form of a title for comparison: ignores case, accents, extra blanks and the position of the article."""
    plain, year = _split_year(title)
    return f"{plain} ({year})" if year else plain


def _split_year(title: str) -> tuple[str, str]:
    """Split a title into its normalised text and its year, which is "" if there is none."""
    dated = YEAR.match(title) if title.rstrip().endswith(")") else None
    plain, year = dated.groups() if dated else (title, "")
    return _article_first(_fold(plain)), year


def _article_first(text: str) -> str:
    text = " ".join(text.split())
    match = ARTICLE_LAST.match(text) if ", " in text else None
    return f"{match[2]} {match[1]}" if match else text


def _search_key(title: str) -> str:
    """Form of a title for its beginning: normalised, and without the article, which says little."""
    return ARTICLE_FIRST.sub("", normalise_title(title))[:LONGEST_TEXT]


def _fold(text: str) -> str:
    """Remove case and accents."""
    if text.isascii():
        return text.lower()
    characters = unicodedata.normalize("NFKD", text.upper())  # several characters may share one upper case
    return "".join(char for char in characters if not unicodedata.combining(char)).upper().casefold()


def _words(text: str) -> list[str]:
    """The words of a folded text; if it has only signs, these."""
    return [word[:LONGEST_WORD] for word in WORD.findall(text) or text.split()]


class _SortedTexts(NamedTuple):
    """Texts in order, and the rank of popularity of the item of each."""

    texts: list[str]
    rank: Ints

    @classmethod
    def of(cls, texts: Iterable[tuple[str, int]]) -> "_SortedTexts":
        pairs = sorted(texts)
        return cls([text for text, _ in pairs], np.array([rank for _, rank in pairs], np.int64))

    def starting(self, text: str, end: str = LAST) -> Ints:
        """Ranks of the items whose text begins so."""
        return self.rank[bisect_left(self.texts, text) : bisect_left(self.texts, text + end)]


class Catalogue:
    """Finds the items of a release by id or title."""

    def __init__(self, release: Release) -> None:
        self.release = release

    @classmethod
    def of(cls, release: Release) -> "Catalogue":
        """The catalogue of a release; the same object for the same release, so that titles are read once."""
        kept = vars(release).setdefault("_catalogue", cls(release))
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
        if len(codes) <= 1:
            return codes[0] if codes else None
        choices = ", ".join(self.label(code) for code in codes[:5])
        more = f" and {len(codes) - 5} more" if len(codes) > 5 else ""
        years_differ = len({self._year(code) for code in codes}) == len(codes)
        advice = "add the year, or use the id" if years_differ else "use the id"
        raise NotFoundError(f"{len(codes)} items have the title {name!r}: {choices}{more}; {advice}")

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
        plain = ARTICLE_FIRST.sub("", _split_year(name)[0])
        codes = self.search(plain, count) if plain else []
        return [self.label(code) for code in codes if self._title(code) or not self.release.items[code].isdigit()]

    def label(self, code: int) -> str:
        """One line that names an item: its title and id, or its id alone."""
        title, item = self._title(code), self.release.items[code]
        return printable(f"{title} [{item}]" if title else item)

    def _title(self, code: int) -> str:
        return "" if self.release.titles is None else self.release.titles[code]

    def _year(self, code: int) -> str:
        return _split_year(self._title(code))[1]

    @cached_property
    def _by_title(self) -> dict[str, list[int]]:
        """Items of each title, normalised and without the year."""
        groups = defaultdict[str, list[int]](list)
        for code, title in enumerate(self.release.titles or ()):
            groups[_split_year(title)[0]].append(code)
        groups.pop("", None)
        return groups

    @cached_property
    def _by_alias(self) -> dict[str, list[int]]:
        """Items of each part of a title with brackets: the text outside them, and the texts inside."""
        groups = defaultdict[str, list[int]](list)
        for title, codes in self._by_title.items():
            parts = (BRACKETS.sub(" ", title), *BRACKETS.findall(title)) if "(" in title else ()
            for alias in {_article_first(part.removeprefix("a.k.a. ")) for part in parts} - {""}:
                groups[alias] += codes
        return groups

    # Suggest items while a title or an id is typed: prefixes first, then words, then typing errors.

    @cached_property
    def _texts(self) -> tuple[Ints, _SortedTexts, _SortedTexts, _SortedTexts, NDArray[np.uint32], list[int]]:
        """Items by popularity; their titles, ids and words; the letters of each word, and how many items have it."""
        release, ranks = self.release, (self.release.rank - 1).tolist()
        ids = [(_fold(text)[:LONGEST_TEXT], ranks[code]) for code, text in enumerate(release.items)]
        titled = [(title, ranks[code]) for code, title in enumerate(release.titles or ()) if title]
        named = [(_fold(title), rank) for title, rank in titled] or ids
        words = _SortedTexts.of({(word, rank) for text, rank in named for word in _words(text)})
        titles = _SortedTexts.of((_search_key(title), rank) for title, rank in titled)
        counts = Counter(words.texts)
        letters_of_words = letters(list(counts))
        return np.argsort(release.rank), titles, _SortedTexts.of(ids), words, letters_of_words, list(counts.values())

    def search(self, text: str, count: int) -> list[int]:
        """Codes of the items that a text may mean, the likeliest first."""
        text = text[:LONGEST_TEXT]
        exact = self.release.items.find(text.strip())
        found = {} if exact is None else {int(exact): None}
        for ranks in self._tiers(text) if _fold(text).strip() else ():
            found |= dict.fromkeys(self._texts[0][ranks[: 2 * count]].tolist())
            if len(found) >= count:
                break
        return list(found)[:count]

    def _tiers(self, text: str) -> Iterator[Ints]:
        """Yield ranks of items, the likeliest first."""
        _, titles, ids, words, letters_of_words, counts = self._texts
        folded, key = _fold(text).strip(), _search_key(text)
        if key:
            yield np.sort(np.append(titles.starting(key, "\0"), titles.starting(f"{key} (")))
            yield np.sort(titles.starting(key))
        yield np.sort(ids.starting(folded))
        typed = _words(folded)[:MOST_WORDS]
        if typed:
            yield reduce(np.intersect1d, [np.unique(words.starting(word)) for word in typed])
        # items that have at least half of the words with few typing errors, the fewest first
        errors, lacks = np.zeros((2, self.release.n_items), np.int64)
        for word in typed:
            this = np.full(len(errors), MISSING)
            most = 0 if word.isdigit() or len(word) < 3 else 1 if len(word) < 6 else 2
            distance = np.repeat(typing_errors(word, letters_of_words, most), counts)
            for number in range(most, 0, -1):
                this[words.rank[distance == number]] = number
            this[words.starting(word)] = 0
            lacks += this == MISSING
            errors += this
        there = np.flatnonzero(lacks <= len(typed) // 2 if len(typed) > 1 else lacks == 0)
        yield there[np.argsort(errors[there], kind="stable")]


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
    text : str
        A title or an id, perhaps not complete. Only the first 200 characters and 8 words count.
    count : int
        Largest number of suggestions, from 1 to 1,000.

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
    codes, titles = Catalogue.of(release).search(text, count), release.titles
    return tuple(
        ItemSuggestion(release.items[code], (titles and titles[code]) or None, int(release.support[code]))
        for code in codes
    )


# How many typing errors separate a word from the beginnings of many others.
#
# An error is a letter too many, a missing one, a wrong one, or two neighbours in the wrong order. Only the
# beginning of the other word counts, because the word may not be typed to its end.


def letters(words: list[str]) -> NDArray[np.uint32]:
    """The first characters of all words, the second ones, …; 0 after the end of a word."""
    width = max(map(len, [*words, " "]))
    return np.ascontiguousarray(np.array(words, f"U{width}").view(np.uint32).reshape(len(words), width).T)


def typing_errors(word: str, others: NDArray[np.uint32], most: int) -> NDArray[np.uint8]:
    """Number of errors between the word and the beginning of each of the `letters`; FAR if more than `most`."""
    errors, n = np.full(others.shape[1], FAR, np.uint8), len(word)
    if not most:
        return errors
    long_enough = np.flatnonzero(np.count_nonzero(others, axis=0) >= n - most)
    errors[long_enough] = n
    others, typed = others[: n + most, long_enough], letters([word])[:, 0]
    # rows[b][a] is the number of errors between the first b letters of the others and the first a of the word
    rows = [np.repeat(np.arange(n + 1, dtype=np.uint8)[:, None], len(long_enough), axis=1)]
    for b, letter in enumerate(others, 1):
        row, last = np.full_like(rows[0], b), rows[-1]
        for a in range(1, n + 1):
            row[a] = np.minimum(np.minimum(last[a], row[a - 1]) + 1, last[a - 1] + (letter != typed[a - 1]))
            if a > 1 and b > 1:
                swapped = (others[b - 2] == typed[a - 1]) & (letter == typed[a - 2])
                row[a] = np.minimum(row[a], np.where(swapped, rows[-2][a - 2] + 1, FAR))
        rows = [last, row]
        errors[long_enough] = np.minimum(errors[long_enough], row[n])
    errors[errors > most] = FAR
    return errors
