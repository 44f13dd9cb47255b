"""Suggestions while a title or an id is typed."""

from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from fact_cases import released
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from standout.data.search import letters, typing_errors

FILMS = {
    "1199": "Brazil (1985)",
    "7": "Brazilian Summer",
    "8": "Matrix, The (1999)",
    "9": "Matrix Reloaded, The (2003)",
    "10": "Amélie (Fabuleux destin d'Amélie Poulain, Le) (2001)",
    "11": "Emma (1996)",
    "12": "Emmanuelle",
    "13": "<script>alert(1)</script> {{ x }}",
    "14": "🙂🙂",
    "15": "Good, the Bad and the Ugly, The (1966)",
    "16": "Up (2009)",
    "17": "Upside Down",
    "18": "7 Years in Tibet",
    "199": "",
}
POPULAR = ["7", "9", "12", "17", "15", "1199", "8", "11", "10", "16", "18", "13", "14", "199"]


@pytest.fixture(scope="module")
def films():
    """The more popular an item, the more records have it."""
    rows = [
        (f"person {person}", item, 3.0, None)
        for place, item in enumerate(POPULAR)
        for person in range(len(POPULAR) - place)
    ]
    return released(rows, unit=None, titles=FILMS)


def ids(release, text, count=8):
    return [suggestion.item for suggestion in so.suggest_items(release, text, count)]


def test_titles_ids_and_words_are_suggested_in_this_order(films):
    for text, expected in [
        ("bra", ["7", "1199"]),
        ("BRAZIL", ["1199", "7"]),
        ("matrix", ["8", "9"]),
        ("the mat", ["9", "8"]),
        ("reloaded", ["9"]),
        ("matrix rel", ["9"]),
        ("amelie", ["10"]),
        ("poulain", ["10"]),
        ("emma", ["11", "12"]),
        ("Up", ["16", "17"]),
        ("1199", ["1199"]),
        ("7", ["7", "18"]),
        ("19", ["199"]),
        ("🙂", ["14"]),
        ("<script>", ["13"]),
        ("{{ x", ["13"]),
        ("good bad", ["15"]),
    ]:
        assert ids(films, text)[: len(expected)] == expected


def test_words_may_have_typing_errors(films):
    for text, expected in [
        ("brzil", "1199"),
        ("barzil", "1199"),
        ("brasil", "1199"),
        ("matrx reloded", "9"),
        ("emmanuele", "12"),
        ("mattrix", "8"),
        ("godo ugyl", "15"),
        ("tibbet", "18"),
        ("matrix revolutions", "8"),
    ]:
        assert expected in ids(films, text)


def test_a_suggestion_has_id_title_and_records(films):
    assert so.suggest_items(films, "brazil", 1) == (("1199", "Brazil (1985)", 9),)
    assert so.suggest_items(films, "199", 1)[0].title is None
    assert len(so.suggest_items(films, "a", 2)) == 2


def test_numeric_ids_without_titles_are_found_by_their_beginning_and_have_no_typing_errors():
    items = ["17", "170", "171", "18", "7"]
    rows = [(f"p{n}", item) for n in range(5) for item in items[n:]]
    release = so.read(pl.DataFrame(rows, schema=["person", "item"], orient="row"))
    assert ids(release, "17") == ["17", "171", "170"]
    assert ids(release, "71") == []


@given(st.text("abcé🙂", min_size=1, max_size=8), st.lists(st.text("abcé🙂", max_size=9), max_size=6))
def test_typing_errors_equal_the_slow_twin(typed, words):
    found = typing_errors(typed, letters(words), 2)
    expected = [naive.typing_errors(typed, word) for word in words]
    assert found.tolist() == [number if number <= 2 else 255 for number in expected]


def test_any_text_is_answered(films):
    for text in [
        "",
        "   ",
        "\u0301" * 10_000,
        "x" * 10_000,
        "e\u0301" * 5_000,
        "a b " * 5_000,
        "\x00",
        "\ud800",
        "\u202e",
        "(" * 10_000,
        "🙂" * 10_000,
        "ﷺ" * 10_000,
        "%s{0}\\",
        "()[]*?+",
        "\U0010ffff",
    ]:
        assert len(so.suggest_items(films, text, 5)) <= 5


@given(st.text(max_size=20))
def test_any_random_text_is_answered(films, text):
    found = ids(films, text, 5)
    assert len(found) == len(set(found)) <= 5


@given(st.sampled_from([item for item in FILMS if FILMS[item]]), st.integers(1, 30))
def test_the_beginning_of_a_title_suggests_only_such_titles_first(films, item, length):
    text = FILMS[item][:length]
    if text.strip(" (,<{"):
        assert item in ids(films, text, 14)


def test_the_first_calls_of_several_threads_agree():
    release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(lambda _: so.suggest_items(release, "4"), range(16)))
    assert len(answers) == 1 and answers.pop()[0].item == "4"


@pytest.mark.parametrize(("options", "message"), [
    ({"text": 7}, "text must be text"), ({"text": "a", "count": 0}, "count must be"),
    ({"text": "a", "count": 1001}, "count must be from 1 to 1,000"),
])  # fmt: skip
def test_wrong_parameters_are_refused(films, options, message):
    with pytest.raises(so.ParameterError, match=message):
        so.suggest_items(films, **options)
