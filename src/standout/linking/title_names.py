"""Parsing titles for comparison: names without case, accents, punctuation and articles, and a year."""

import re
from itertools import groupby
from typing import NamedTuple

from standout.release.catalogue import normalise_title

__all__ = ["Title", "parse_title"]

YEAR = re.compile(r"^(.*\S)\s*\((\d{4})(?:[/–-][^()]*)?\)\s*(?:\((?:TV|V|VG)\))?\s*$", re.DOTALL)
FIRST_YEAR, LAST_YEAR = 1870, 2100
ARTICLES = "the|a|an|der|die|das|ein|eine|le|la|les|l'|un|une|il|lo|gli|el|los|las|una|het|den|det"
TRAILING_ARTICLE = re.compile(rf"^([^:]*|.*), ({ARTICLES})(:|$)")
LEADING_ARTICLE = re.compile(r"^(?:(?:the|a|an|der|das|le|la|les|il|el) |l ?' ?)(?=.)")
"""Articles that are ignored at the beginning. "die" and "los" stay: Die Hard, Los Olvidados."""
BRACKETS = re.compile(r"\(([^()]*)\)")
KNOWN_AS = re.compile(r"^\s*(?:a\.?k\.?a\.?|also known as)\s+", re.IGNORECASE)
NUMBERED = frozenset({"book", "chapter", "episode", "part", "season", "series", "volume"})
"""After these words a letter or a word is a number; brackets with such a word are not an alternative name."""
ABBREVIATIONS = {"dr": "doctor", "pt": "part", "versus": "vs", "vol": "volume"}
NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
SINGLE_LETTERS = frozenset({"i", "v", "x"})
NUMBERS = {word: str(number) for words in (NUMBER_WORDS, ROMAN) for number, word in enumerate(words, 1)}
NUMERALS = {word: str(number) for number, word in enumerate(ROMAN, 1) if word not in SINGLE_LETTERS}


class Title(NamedTuple):
    """The names of an item, the main one first, its year (0 if unknown), and the main name's article.

    A name consists of words in lower case, without accents, punctuation or a leading article.
    """

    names: tuple[str, ...]
    year: int
    article: str = ""


def parse_title(title: str) -> Title:
    """Return the names and the year of a title.

    Brackets hold an alternative name, unless they count parts. Roman numerals become numbers where they can
    hardly be anything else: not at the beginning, and single letters only after "part" and similar words or,
    for V, at the end.

    >>> parse_title("Matrix, The (1999)"), parse_title("Rocky II (1979)")
    (Title(names=('matrix',), year=1999, article='the'), Title(names=('rocky 2',), year=1979, article=''))
    >>> parse_title("Seven (a.k.a. Se7en) (1995)").names, parse_title("M*A*S*H & E.T.").names
    (('seven', 'se7en'), ('mash and et',))
    """
    dated = YEAR.match(title) if ")" in title else None
    year = int(dated[2]) if dated else 0
    if dated and not FIRST_YEAR <= year <= LAST_YEAR:
        dated, year = None, 0
    main, alternatives = _split_brackets(dated[1] if dated else title)
    article, name = _parse_name(main)
    others = [_parse_name(text)[1] for text in alternatives]
    names = dict.fromkeys(text for text in (name, *others) if text)
    return Title(tuple(names), year, article if name else "")


def _split_brackets(text: str) -> tuple[str, list[str]]:
    """The main name and the alternatives in brackets after it; (500) Days of Summer is one name."""
    alternatives = [
        match
        for match in BRACKETS.finditer(text)
        if text[: match.start()].strip() and not match[1].isdigit() and not NUMBERED & set(_words(match[1]))
    ]
    for match in reversed(alternatives):
        text = f"{text[: match.start()]} {text[match.end() :]}"
    return text, [match[1] for match in alternatives]


def _parse_name(text: str) -> tuple[str, str]:
    """The article and the rest of one name."""
    plain = _article_first(_plain(KNOWN_AS.sub("", text)))
    article = LEADING_ARTICLE.match(plain)
    name = " ".join(_with_digits(_words(plain[article.end() :] if article else plain)))
    return (article[0].strip(" '") if article else ""), name or plain  # a title like !!! has no words


def _plain(text: str) -> str:
    """The text without case and accents, and with one kind of apostrophe."""
    return normalise_title(re.sub("[’`´‘]", "'", text))


def _article_first(text: str) -> str:
    """The text with a trailing article moved to the front."""
    match = TRAILING_ARTICLE.match(text) if ", " in text else None
    return f"{match[2]} {match[1]}{match[3]}{text[match.end() :]}" if match else text


def _words(text: str) -> list[str]:
    """The words of a text; adjacent single letters are one word, as in E.T. and M*A*S*H."""
    text = text.lower().replace("&", " and ").replace("'", "")
    words = re.findall(r"[^\W_]+", text)
    groups = groupby(words, lambda word: len(word) == 1 and word.isalpha())
    joined = (["".join(group)] if single else group for single, group in groups)
    return [ABBREVIATIONS.get(word, word) for group in joined for word in group]


def _with_digits(words: list[str]) -> list[str]:
    """The words with digits for numerals, where that is safe."""
    pairs = zip(["", *words], words, strict=False)
    return [_with_digit(before, word, is_last=at == len(words)) for at, (before, word) in enumerate(pairs, 1)]


def _with_digit(before: str, word: str, is_last: bool) -> str:
    if not before:
        return word
    if before in NUMBERED:
        return NUMBERS.get(word, word)
    return NUMERALS.get(word, "5" if word == "v" and is_last else word)
