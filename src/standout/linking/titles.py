"""Which titles of two catalogues mean the same item: parsed, scored, and accepted only if clearly the best.

Only titles that share a rare run of three letters, or are equal in one of several ways, are compared. A score is
100 · (1 − edits / length), with deductions for years, numbers and brackets. Edits are letters inserted, deleted,
changed, or two neighbours swapped (optimal string alignment).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Floats, Ints
from standout.data.search import normalise_title

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
    """The names and the year of a title.

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
    """The article, wherever it is, and the rest of one name, without case and accents."""
    plain = normalise_title(re.sub("[’`´‘]", "'", KNOWN_AS.sub("", text)))
    trailing = TRAILING_ARTICLE.match(plain) if ", " in plain else None
    if trailing:
        plain = f"{trailing[2]} {trailing[1]}{trailing[3]}{plain[trailing.end() :]}"
    article = LEADING_ARTICLE.match(plain)
    name = " ".join(_with_digits(_words(plain[article.end() :] if article else plain)))
    return (article[0].strip(" '") if article else ""), name or plain  # a title like !!! has no words


def _words(text: str) -> list[str]:
    """The words of a text; adjacent single letters are one word, as in E.T. and M*A*S*H."""
    text = text.lower().replace("&", " and ").replace("'", "")
    words = re.findall(r"[^\W_]+", text)
    groups = groupby(words, lambda word: len(word) == 1 and word.isalpha())
    joined = (["".join(group)] if single else group for single, group in groups)
    return [ABBREVIATIONS.get(word, word) for group in joined for word in group]


def _with_digits(words: list[str]) -> Iterator[str]:
    """The words with digits for numerals, where that is safe."""
    for number, word in enumerate(words):
        if number and words[number - 1] in NUMBERED:
            yield NUMBERS.get(word, word)
        else:
            is_last_v = word == "v" and number == len(words) - 1
            yield NUMERALS.get(word, "5" if is_last_v else word) if number else word


MIN_END = 5
"""Minimum number of letters for the end of a name to count."""


class Titles:
    """The titles of a catalogue, in columns with a row for each name; an item may have several.

    `letters` are those of each name in order, without blanks: Spider-Man equals Spiderman.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.titles = [parse_title(text) for text in texts]
        self.names = [name for title in self.titles for name in title.names]
        self.texts = np.array([*self.names, None], object)[:-1]
        self.length = np.array([len(name) for name in self.names], np.int64)
        self.letters = ["".join(sorted(name.replace(" ", ""))) for name in self.names]
        self.owner = np.repeat(np.arange(len(self.titles)), [len(title.names) for title in self.titles])
        self.is_main = np.diff(self.owner, prepend=-1) > 0
        self.year = np.array([title.year for title in self.titles], np.int64)[self.owner]
        self.article = [title.article for title in self.titles for _ in title.names]
        self.words = frozenset(word for name in self.names for word in name.split())


def _word_ends(words: list[str]) -> list[str]:
    """The beginnings of a name and, from five letters on, its ends, in whole words."""
    cuts = range(1, len(words))
    ends = (" ".join(words[cut:]) for cut in cuts)
    return [" ".join(words[:cut]) for cut in cuts] + [end for end in ends if len(end) >= MIN_END]


ACCEPTED = 83.0
"""The minimum score of a pair that is accepted: one edit in six letters."""
LISTED = 75.0
"""The minimum score of a pair that is listed for review."""
UNSURE = 80.0
"""The maximum score of pairs that are never accepted without a review."""
CONTAINED = 79.0
"""The score of a pair in which one title is the beginning or the end of the other."""
MAX_EDITS = 3
YEAR_APART, NO_YEAR, OTHER_NAME, OTHER_ORDER = 5.0, 10.0, 2.0, 4.0
"""Deductions: years one apart, a year in one title only, a name in brackets, words in another order."""
CHUNK = 1 << 13
MAX_PARTNERS = 200
"""Approximate number of names that each name is compared with: those that share its rarest runs of letters."""

MARGIN = 5.0
"""How far the best pair must lead."""
RIVAL = "another item fits equally well"


class Pair(NamedTuple):
    """A public item and an item of the release that may be the same, its score, and why it is doubtful."""

    public: int
    release: int
    score: float
    reason: str

    @property
    def ends(self) -> tuple[int, int]:
        """The two items."""
        return self.public, self.release


def similarity(title: Title, other: Title) -> float:
    """How similar two titles are at best, whatever speaks against accepting the pair."""
    from rapidfuzz.distance import OSA

    if title.year and other.year and abs(title.year - other.year) > 1:
        return 0.0
    return max(
        CONTAINED
        if _contains(name.split(), other_name.split())
        else round(100.0 * OSA.normalized_similarity(name.replace(" ", ""), other_name.replace(" ", "")), 1)
        for name in title.names
        for other_name in other.names
    )


def similar_titles(public: Titles, release: Titles) -> list[Pair]:
    """Pairs of items that may be the same, each once, with its best score."""
    best: dict[tuple[int, int], Pair] = {}
    for pair in sorted(_scored_pairs(public, release), key=lambda pair: -pair.score):
        best.setdefault(pair.ends, pair)
    return list(best.values())


def accept_pairs(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair]]:
    """The accepted pairs and the doubtful ones; no item is in two accepted pairs.

    Titles that are identical including the year come first, if they are unique; other pairs of their items
    are then dropped. Of the rest, a pair is accepted if it is the best of both its items by a margin.
    """
    pairs = sorted(pairs, key=lambda pair: (-pair.score, *pair.ends))
    identical = _clear_best([pair for pair in pairs if pair.score == 100.0], 100.0)
    rest = _without_items_of(pairs, identical)
    accepted = identical + _clear_best(rest, ACCEPTED)
    taken = {pair.ends for pair in accepted}
    rivals = {pair.ends for pair in rest if pair.score >= ACCEPTED}
    doubtful = [
        pair._replace(reason=f"{pair.reason}, and {RIVAL}" if pair.reason else RIVAL) if pair.ends in rivals else pair
        for pair in _without_items_of(rest, accepted)
        if pair.ends not in taken
    ]
    return accepted, doubtful


def _without_items_of(pairs: list[Pair], accepted: list[Pair]) -> list[Pair]:
    """The pairs whose items are in no accepted pair."""
    taken = {side for pair in accepted for side in enumerate(pair.ends)}
    return [pair for pair in pairs if taken.isdisjoint(enumerate(pair.ends))]


def _clear_best(pairs: list[Pair], least: float) -> list[Pair]:
    """The pairs of at least this score that are the best of both their items by the margin, best first."""
    scores: dict[tuple[int, int], list[float]] = defaultdict(list)
    for pair in pairs:
        for side in enumerate(pair.ends):
            scores[side].append(pair.score)

    def leads(pair: Pair) -> bool:
        both = (scores[side] for side in enumerate(pair.ends))
        return all(len(best) == 1 or (best[0] == pair.score and pair.score - best[1] >= MARGIN) for best in both)

    return [pair for pair in pairs if pair.score >= least and leads(pair)]


def _scored_pairs(public: Titles, release: Titles) -> Iterator[Pair]:
    name, other = _equal_names(public, release)
    yield from _score(public, release, name, other, _name_similarity(public, release, name, other))
    trigrams, others = _trigrams(public), _trigrams(release)
    rarest = trigrams.join(others.group_by("trigram").len(), on="trigram").sort("name", "len", "trigram")
    rarest = rarest.filter(pl.col("len").cum_sum().over("name") - pl.col("len") < MAX_PARTNERS)
    for low in range(0, len(public.names), CHUNK):
        chunk = rarest.filter(pl.col("name").is_between(low, low + CHUNK, closed="left"))
        shared = chunk.join(others, on="trigram").select(pl.col("name") * len(release.names) + pl.col("name_right"))
        code = np.sort(shared.to_series().to_numpy())  # np.unique is ten times slower
        name, other = np.divmod(code[np.diff(code, prepend=-1) > 0], max(len(release.names), 1))
        year, other_year = public.year[name], release.year[other]
        close = (year == 0) | (other_year == 0) | (np.abs(year - other_year) <= 1)
        name, other = name[close], other[close]
        similar = _name_similarity(public, release, name, other)
        near = similar > 0
        yield from _score(public, release, name[near], other[near], similar[near])


def _trigrams(titles: Titles) -> pl.DataFrame:
    """The position of each name, and its runs of three letters, each once."""
    names = pl.DataFrame({"text": [f" {name} " for name in titles.names]}, schema={"text": pl.String})
    starts = pl.int_ranges(pl.col("text").str.len_chars() - 2).alias("start")
    names = names.with_row_index("name").with_columns(pl.col("name").cast(pl.Int64), starts).explode("start")
    return names.select("name", pl.col("text").str.slice("start", 3).alias("trigram")).unique()


def _equal_names(public: Titles, release: Titles) -> tuple[Ints, Ints]:
    """Pairs of names with the same letters in any order, or where one is an end of the other."""

    def equal(texts: Iterable[tuple[int, str]], others: Iterable[tuple[int, str]]) -> set[tuple[int, int]]:
        rows: dict[str, list[int]] = defaultdict(list)
        for other, text in others:
            rows[text].append(other)
        return {(row, other) for row, text in texts for other in rows.get(text, ())}

    def ends(titles: Titles) -> list[tuple[int, str]]:
        return [(row, end) for row, name in enumerate(titles.names) for end in _word_ends(name.split())]

    # Swapped neighbours may leave no run of three letters in common: dark, drak.
    pairs = equal(enumerate(public.letters), enumerate(release.letters))
    contained = equal(ends(public), enumerate(release.names)) | equal(enumerate(public.names), ends(release))
    pairs |= {pair for pair in contained if _is_informative(public, release, *pair)}
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _is_informative(public: Titles, release: Titles, name: int, other: int) -> bool:
    """Whether containment means anything: the years are equal or, if unknown, the lengths are similar."""
    if public.year[name] and release.year[other]:
        return bool(public.year[name] == release.year[other])
    length, other_length = public.length[name], release.length[other]
    return bool(2 * min(length, other_length) >= max(length, other_length))


def _name_similarity(public: Titles, release: Titles, name: Ints, other: Ints) -> Floats:
    """1 − edits / length of each pair of names; 0 where that is too low to matter."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cpdist

    least = LISTED / 100.0 - 1e-6
    length, other_length = public.length[name], release.length[other]
    near = np.flatnonzero(np.minimum(length, other_length) >= least * np.maximum(length, other_length))
    similar = np.zeros(len(name))
    for low in range(0, len(near), CHUNK):
        chunk = near[low : low + CHUNK]
        names, others = public.texts[name[chunk]].tolist(), release.texts[other[chunk]].tolist()
        similar[chunk] = cpdist(names, others, scorer=OSA.normalized_similarity, score_cutoff=least)
    return similar


def _score(public: Titles, release: Titles, name: Ints, other: Ints, similar: Floats) -> Iterator[Pair]:
    """The pairs of names that are worth a review."""
    for i, j, share in zip(name.tolist(), other.tolist(), similar.tolist(), strict=True):
        score, reason = _score_letters(public.names[i], release.names[j], 100.0 * share, public, release)
        if score < LISTED:
            continue
        main_names = int(public.is_main[i]) + int(release.is_main[j])
        same_article = main_names < 2 or public.article[i] == release.article[j]
        score, years = _score_years(score, int(public.year[i]), int(release.year[j]), same_article)
        brackets = "by another name in brackets" if main_names < 2 else ""
        if brackets:
            score -= OTHER_NAME
        if not main_names:
            score = min(score, UNSURE)
        if score >= LISTED:
            why = ", ".join(text for text in (reason, years, brackets) if text)
            yield Pair(int(public.owner[i]), int(release.owner[j]), round(score, 1), why)


def _score_letters(name: str, other: str, score: float, public: Titles, release: Titles) -> tuple[float, str]:
    """The score of two names, and how they differ."""
    if name == other or name.replace(" ", "") == other.replace(" ", ""):
        return 100.0, ""
    words, others = name.split(), other.split()
    numbers, other_numbers = (sorted(word for word in both if word.isdigit()) for both in (words, others))
    if numbers and other_numbers and numbers != other_numbers:
        return 0.0, ""
    if _contains(words, others):
        return CONTAINED, "one title is part of the other"
    if numbers != other_numbers:
        return min(score, UNSURE), "a number in one title only"
    if sorted(words) == sorted(others):
        return 100.0 - OTHER_ORDER, "different order of words"
    changed = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    real_words = any(word in release.words and new in public.words for word, new in changed)
    if len(words) == len(others) and real_words:
        return min(score, UNSURE), "the differing words occur in other titles"
    edits = round((1.0 - score / 100.0) * max(len(name), len(other)))
    return (score if edits <= MAX_EDITS else min(score, UNSURE)), "different spelling"


def _score_years(score: float, year: int, other: int, same_article: bool) -> tuple[float, str]:
    """The score of two names with these years, and the reason for what is deducted."""
    if year == other:
        return (score, "") if year or score == 100.0 else (score - YEAR_APART, "no years")
    if not year or not other:
        return score - NO_YEAR, "a year in one title only"
    if abs(year - other) > 1:
        return (UNSURE if score == 100.0 else 0.0), f"{abs(year - other)} years apart"
    if same_article:
        return score - YEAR_APART, "one year apart"
    return min(score - YEAR_APART, UNSURE), "one year apart, different article"


def _contains(words: list[str], others: list[str]) -> bool:
    """Whether one name is the beginning or the end of the other."""
    return " ".join(words) in _word_ends(others) or " ".join(others) in _word_ends(words)
