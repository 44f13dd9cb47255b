"""Items by id or title: whatever the case, with or without the year, and what was perhaps meant."""

import difflib
import heapq
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, pairwise

from standout.core.errors import NotFoundError
from standout.release.labels import Labels
from standout.release.model import Release

__all__ = ["Catalogue", "normalise_title", "printable"]

YEAR = re.compile(r"^(.*\S)\s*\((\d{4})\)\s*$", re.DOTALL)
ARTICLES = "the|a|an|der|die|das|le|la|les|il|el|los"
BEHIND, AHEAD = re.compile(rf"^(.*), ({ARTICLES})$"), re.compile(rf"^({ARTICLES}) (?=.)")
ASIDE = re.compile(r"\(([^()]*)\)")
CLOSE = 0.7  # difflib's measure from which a title is worth suggesting
HOLDS = 0.8  # what a title counts that has every word asked for, among others
SHORTLIST = 64  # how many titles difflib sees: it takes 20 µs for each


def normalise_title(title: str) -> str:
    """A title as it is compared: case, accents and runs of blanks do not count, nor where its article stands.

    >>> folded("Matrix,  The (1999)"), folded("the MATRIX (1999)"), folded("Amélie")
    ('the matrix (1999)', 'the matrix (1999)', 'amelie')
    """
    plain, year = _parted(title)
    return f"{plain} ({year})" if year else plain


def printable(text: str) -> str:
    """A text for one line of a terminal: line ends and control characters are shown as �.

    >>> printable("Brazil\\x1b[2J")
    'Brazil�[2J'
    """
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "�" for sign in text)


class Catalogue:
    """The items of a release, found by what people call them.

    >>> import standout as so, polars as pl
    >>> frame = pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"]})
    >>> Catalogue(so.read(frame)).find("7"), Catalogue(so.read(frame)).find("Brazil")
    (0, None)
    """

    def __init__(self, release: Release) -> None:
        self.release = release

    def find(self, name: str) -> int | None:
        """The item with this id, or else with this title, or None.

        A title that several items have is an error that lists them with their years and ids.
        """
        code = self.release.items.find(name)
        if code is not None or self.release.titles is None:
            return code
        found = self.items_with_title(name)
        if len(found) > 1:
            raise NotFoundError(self._several(name, found))
        return found[0] if found else None

    def items_with_title(self, name: str) -> list[int]:
        """The items of this title, the most popular first: with its year or without, or by another title
        that stands in brackets behind it, as in Seven (a.k.a. Se7en) (1995)."""
        plain, year = _parted(name)
        for index in (self._titled, self._aliased):
            found = index.get(plain, [])
            exact = [code for code in found if self._title(code) == name]
            dated = [code for code in found if self._year(code) == year]
            if chosen := exact or dated or ([] if year else found):
                return self._popular(chosen)
        return []

    def suggestions(self, name: str, count: int = 3) -> list[str]:
        """Items whose titles look like this one, nearest first; the more popular of equals.

        Where there are no titles it is ids that are words; nobody means 17 who says 18.
        """
        near = heapq.nlargest(count, self._near(_core(_parted(name)[0])))
        codes = [code for *_, title in near for code in self._popular(self._callable[title])]
        return [self.label(code) for code in dict.fromkeys(codes)][:count]

    def label(self, code: int) -> str:
        """An item for people, in one line: its title with its id, or its id alone."""
        title, item = self._title(code), self.release.items[code]
        return printable(f"{title} [{item}]" if title else item)

    def _several(self, name: str, found: list[int]) -> str:
        choices = ", ".join(self.label(code) for code in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        apart = len({self._year(code) for code in found}) == len(found)
        how = "add its year, or name it by its id" if apart else "name one by its id"
        return f"{name!r} is the title of {len(found)} items: {choices}{more}: {how}"

    def _near(self, plain: str) -> Iterator[tuple[float, int, str]]:
        """(how near, how popular, title) of the titles that come close."""
        words, matcher = _words(plain), difflib.SequenceMatcher(b=plain)
        for title in self._shortlist(plain):
            matcher.set_seq1(title)
            near = max(matcher.ratio(), HOLDS * _holds(title, words))
            if near >= CLOSE:
                yield near, self._fame(title), title

    def _shortlist(self, plain: str) -> list[str]:
        """The titles that share most pairs of letters with it, and the best known that have all its words."""
        pairs, words = {first + second for first, second in pairwise(plain)}, _words(plain)
        shared = (
            (sum(map(title.__contains__, pairs)) / (len(pairs) + len(title)), title)
            for title in self._callable
        )
        alike = [title for _, title in heapq.nlargest(SHORTLIST, shared)]
        holding = [title for title in self._callable if _holds(title, words)]
        return list(dict.fromkeys(alike + heapq.nlargest(SHORTLIST, holding, key=self._fame)))

    def _fame(self, title: str) -> int:
        return max(self._support(code) for code in self._callable[title])

    def _popular(self, codes: list[int]) -> list[int]:
        return sorted(codes, key=lambda code: -self._support(code))

    def _support(self, code: int) -> int:
        return int(self.release.support[code])

    def _title(self, code: int) -> str:
        return "" if self.release.titles is None else self.release.titles[code]

    def _year(self, code: int) -> str:
        return _parted(self._title(code))[1]

    @cached_property
    def _titled(self) -> dict[str, list[int]]:
        """The items of each title, folded and without its year."""
        return _grouped((_parted(title)[0], code) for code, title in _texts(self.release.titles))

    @cached_property
    def _aliased(self) -> dict[str, list[int]]:
        """The items of each part of those titles that have brackets."""
        titles = [(title, code) for title, codes in self._titled.items() if "(" in title for code in codes]
        return _grouped((alias, code) for title, code in titles for alias in _aliases(title))

    @cached_property
    def _callable(self) -> dict[str, list[int]]:
        """The items of everything that can be suggested, without its article."""
        if self.release.titles is None:
            words = ((item, code) for code, item in _texts(self.release.items) if not item.isdigit())
            return _grouped((_core(_parted(item)[0]), code) for item, code in words)
        titles = chain(self._titled.items(), self._aliased.items())
        return _grouped((_core(title), code) for title, codes in titles for code in codes)


def _parted(title: str) -> tuple[str, str]:
    """A title folded and without its year, and the year; "" if it has none."""
    dated = YEAR.match(title) if title.rstrip().endswith(")") else None
    plain, year = dated.groups() if dated else (title, "")
    return _moved(" ".join(_bare(plain).split())), year


def _moved(text: str) -> str:
    """The article in front."""
    found = BEHIND.match(text) if ", " in text else None
    return f"{found[2]} {found[1]}" if found else text


def _core(text: str) -> str:
    """Without its article, which says little of whether two titles are alike."""
    return AHEAD.sub("", text)


def _bare(text: str) -> str:
    """Without case and accents."""
    if text.isascii():
        return text.lower()
    signs = unicodedata.normalize("NFKD", text.upper())  # the upper case of a sign can be one of several
    return "".join(sign for sign in signs if not unicodedata.combining(sign)).upper().casefold()


def _aliases(title: str) -> set[str]:
    """What stands before brackets, and what stands inside them."""
    parts = (ASIDE.sub(" ", title), *ASIDE.findall(title))
    return {_moved(" ".join(part.removeprefix("a.k.a. ").split())) for part in parts}


def _words(plain: str) -> list[str]:
    return [f" {word}" for word in plain.split()]


def _holds(title: str, words: list[str]) -> bool:
    """Whether each of the words begins one of the title's."""
    title = f" {title}"
    return bool(words) and all(word in title for word in words)


def _texts(labels: Labels | None) -> Iterator[tuple[int, str]]:
    """(place, text) of those that are not empty."""
    return ((place, text) for place, text in enumerate(labels or ()) if text)


def _grouped(named: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for name, code in named:
        if name:
            groups.setdefault(name, []).append(code)
    return groups
