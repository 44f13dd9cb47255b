"""Titles as two catalogues can be compared by them: names without spelling's accidents, and a year."""

import re
from itertools import groupby
from typing import NamedTuple

from standout.release.catalogue import normalise_title

__all__ = ["Title", "parted"]

YEAR = re.compile(r"^(.*\S)\s*\((\d{4})(?:[/–-][^()]*)?\)\s*(?:\((?:TV|V|VG)\))?\s*$", re.DOTALL)
FIRST_YEAR, LAST_YEAR = 1870, 2100
ARTICLES = "the|a|an|der|die|das|ein|eine|le|la|les|l'|un|une|il|lo|gli|el|los|las|una|het|den|det"
BEHIND = re.compile(rf"^([^:]*|.*), ({ARTICLES})(:|$)")
AHEAD = re.compile(r"^(?:(?:the|a|an|der|das|le|la|les|il|el) |l ?' ?)(?=.)")
"""Articles that a title may lack. Not "die" and "los": Die Hard and Los Olvidados are no articles' titles."""
ASIDE = re.compile(r"\(([^()]*)\)")
KNOWN_AS = re.compile(r"^\s*(?:a\.?k\.?a\.?|also known as)\s+", re.IGNORECASE)
NUMBERED = frozenset({"book", "chapter", "episode", "part", "season", "series", "volume"})
"""Words behind which a single letter or a word is a number; what holds them is no other name."""
SHORT = {"dr": "doctor", "pt": "part", "versus": "vs", "vol": "volume"}
COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
LETTERS = frozenset({"i", "v", "x"})
WORDS = {word: str(number) for words in (COUNTED, ROMAN) for number, word in enumerate(words, 1)}
NUMERALS = {word: str(number) for number, word in enumerate(ROMAN, 1) if word not in LETTERS}


class Title(NamedTuple):
    """The names of an item, the chief one first, its year, 0 if it is not told, and the chief name's article.

    A name is words in small letters, without accents, punctuation or an article in front.
    """

    names: tuple[str, ...]
    year: int
    article: str = ""


def parted(title: str) -> Title:
    """A title as its names and its year.

    What stands in brackets is another name, unless it counts parts. Roman numerals are numbers where they
    can hardly be anything else: not in front, and single letters only behind "part" and the like or, for V,
    at the end.

    >>> parted("Matrix, The (1999)"), parted("Rocky II (1979)")
    (Title(names=('matrix',), year=1999, article='the'), Title(names=('rocky 2',), year=1979, article=''))
    >>> parted("Seven (a.k.a. Se7en) (1995)").names, parted("M*A*S*H & E.T.").names
    (('seven', 'se7en'), ('mash and et',))
    """
    dated = YEAR.match(title) if ")" in title else None
    year = int(dated[2]) if dated else 0
    if dated and not FIRST_YEAR <= year <= LAST_YEAR:
        dated, year = None, 0
    chief, others = _apart(dated[1] if dated else title)
    (article, name), *aside = (_name(part) for part in (chief, *others))
    names = dict.fromkeys(found for found in (name, *(other for _, other in aside)) if found)
    return Title(tuple(names), year, article if name else "")


def _apart(text: str) -> tuple[str, list[str]]:
    """The chief name and the others, which stand in brackets behind it; (500) Days of Summer is one name."""
    others = [
        found
        for found in ASIDE.finditer(text)
        if text[: found.start()].strip() and not found[1].isdigit() and not NUMBERED & set(_words(found[1]))
    ]
    for found in reversed(others):
        text = f"{text[: found.start()]} {text[found.end() :]}"
    return text, [found[1] for found in others]


def _name(text: str) -> tuple[str, str]:
    """The article and the rest of one name as it is compared."""
    plain = _moved(_plain(KNOWN_AS.sub("", text)))
    led = AHEAD.match(plain)
    name = " ".join(_numbered(_words(plain[led.end() :] if led else plain)))
    return (led[0].strip(" '") if led else ""), name or plain  # of a title like !!! there is no more


def _plain(text: str) -> str:
    """Without case and accents, and with one kind of apostrophe."""
    return normalise_title(re.sub("[’`´‘]", "'", text))


def _moved(text: str) -> str:
    """The article in front."""
    found = BEHIND.match(text) if ", " in text else None
    return f"{found[2]} {found[1]}{found[3]}{text[found.end() :]}" if found else text


def _words(text: str) -> list[str]:
    """The words of a text; letters that stand alone side by side are one, as in E.T. and M*A*S*H."""
    text = text.lower().replace("&", " and ").replace("'", "")
    found = re.findall(r"[^\W_]+", text)
    groups = groupby(found, lambda word: len(word) == 1 and word.isalpha())
    joined = (["".join(group)] if alone else group for alone, group in groups)
    return [SHORT.get(word, word) for words in joined for word in words]


def _numbered(words: list[str]) -> list[str]:
    """The words with digits for numerals, where that is safe."""
    last = len(words) - 1
    return [
        (
            WORDS.get(word, word)
            if at and words[at - 1] in NUMBERED
            else NUMERALS.get(word, "5" if word == "v" and at == last else word)
            if at
            else word
        )
        for at, word in enumerate(words)
    ]
