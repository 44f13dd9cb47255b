"""Find items by id or title, and suggest titles that a user may have meant."""

import difflib
import heapq
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, pairwise

from standout.core.errors import NotFoundError
from standout.core.foreign_text import printable
from standout.release.labels import Labels
from standout.release.model import Release

__all__ = ["Catalogue", "fold", "normalise_title", "search_key"]

YEAR = re.compile(r"^(.*\S)\s*\((\d{4})\)\s*$", re.DOTALL)
ARTICLES = "the|a|an|der|die|das|le|la|les|il|el|los"
ARTICLE_LAST, ARTICLE_FIRST = re.compile(rf"^(.*), ({ARTICLES})$"), re.compile(rf"^({ARTICLES}) (?=.)")
BRACKETS = re.compile(r"\(([^()]*)\)")
CLOSE = 0.7  # minimum difflib ratio of a suggestion
CONTAINS_ALL_WORDS = 0.8  # similarity of a title that contains every word of the query
SHORTLIST = 64  # number of titles that difflib compares, at 20 µs each


def normalise_title(title: str) -> str:
    """Form of a title for comparison: ignores case, accents, extra blanks and the position of the article.

    >>> normalise_title("Matrix,  The (1999)"), normalise_title("the MATRIX (1999)")
    ('the matrix (1999)', 'the matrix (1999)')
    """
    plain, year = _split_year(title)
    return f"{plain} ({year})" if year else plain


def search_key(title: str) -> str:
    """Form of a title for its beginning: normalised, and without the article.

    >>> search_key("Matrix,  The (1999)"), search_key("the MAT")
    ('matrix (1999)', 'mat')
    """
    return _without_article(normalise_title(title))


class Catalogue:
    """Finds the items of a release by id or title.

    >>> import standout as so, polars as pl
    >>> frame = pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"]})
    >>> Catalogue(so.read(frame)).find("7"), Catalogue(so.read(frame)).find("Brazil")
    (0, None)
    """

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
                return self._most_popular_first(matches)
        return []

    def suggestions(self, name: str, count: int = 3) -> list[str]:
        """Items with similar titles, the most similar first, then the most popular.

        Without titles, ids that are words are compared; numeric ids are never suggested.
        """
        similar = heapq.nlargest(count, self._similar(_without_article(_split_year(name)[0])))
        codes = [code for *_, title in similar for code in self._most_popular_first(self._searchable[title])]
        return [self.label(code) for code in dict.fromkeys(codes)][:count]

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

    def _similar(self, plain: str) -> Iterator[tuple[float, int, str]]:
        """Yield (similarity, popularity, title) of the titles that are similar enough."""
        words, matcher = _words(plain), difflib.SequenceMatcher(b=plain)
        for title in self._shortlist(plain):
            matcher.set_seq1(title)
            similarity = max(matcher.ratio(), CONTAINS_ALL_WORDS * _contains(title, words))
            if similarity >= CLOSE:
                yield similarity, self._popularity(title), title

    def _shortlist(self, plain: str) -> list[str]:
        """Titles that share the most pairs of letters, and the most popular that contain all words."""
        pairs, words = {first + second for first, second in pairwise(plain)}, _words(plain)
        shared = (
            (sum(map(title.__contains__, pairs)) / (len(pairs) + len(title)), title)
            for title in self._searchable
        )
        nearest = [title for _, title in heapq.nlargest(SHORTLIST, shared)]
        containing = [title for title in self._searchable if _contains(title, words)]
        return list(dict.fromkeys(nearest + heapq.nlargest(SHORTLIST, containing, key=self._popularity)))

    def _popularity(self, title: str) -> int:
        return max(self._support(code) for code in self._searchable[title])

    def _most_popular_first(self, codes: list[int]) -> list[int]:
        return sorted(codes, key=lambda code: -self._support(code))

    def _support(self, code: int) -> int:
        return int(self.release.support[code])

    def _title(self, code: int) -> str:
        return "" if self.release.titles is None else self.release.titles[code]

    def _year(self, code: int) -> str:
        return _split_year(self._title(code))[1]

    @cached_property
    def _by_title(self) -> dict[str, list[int]]:
        """Items of each title, normalised and without the year."""
        return _group((_split_year(title)[0], code) for code, title in _texts(self.release.titles))

    @cached_property
    def _by_alias(self) -> dict[str, list[int]]:
        """Items of each part of a title with brackets."""
        titles = [(title, code) for title, codes in self._by_title.items() if "(" in title for code in codes]
        return _group((alias, code) for title, code in titles for alias in _aliases(title))

    @cached_property
    def _searchable(self) -> dict[str, list[int]]:
        """Items of every text that can be suggested, without the article."""
        if self.release.titles is None:
            words = ((item, code) for code, item in _texts(self.release.items) if not item.isdigit())
            return _group((_without_article(_split_year(item)[0]), code) for item, code in words)
        titles = chain(self._by_title.items(), self._by_alias.items())
        return _group((_without_article(title), code) for title, codes in titles for code in codes)


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


def _words(plain: str) -> list[str]:
    return [f" {word}" for word in plain.split()]


def _contains(title: str, words: list[str]) -> bool:
    """Whether each word is the beginning of a word of the title."""
    title = f" {title}"
    return bool(words) and all(word in title for word in words)


def _texts(labels: Labels | None) -> Iterator[tuple[int, str]]:
    """Yield (position, text) of the texts that are not empty."""
    return ((position, text) for position, text in enumerate(labels or ()) if text)


def _group(named: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for name, code in named:
        if name:
            groups.setdefault(name, []).append(code)
    return groups
