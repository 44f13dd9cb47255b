"""Items by id or title: found by what people call them, listed where several answer, suggested where none."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.data.labels import Labels
from standout.data.search import Catalogue, normalise_title
from standout.know.facts import encode_auxes

FILMS = {
    "1": "Toy Story (1995)",
    "2": "Matrix, The (1999)",
    "3": "Brazil",
    "4": "Misérables, Les (1995)",
    "5": "Sabrina (1954)",
    "6": "Sabrina (1995)",
    "7": "2",  # a title that is another's id
    "8": "",
    "9": "Hamlet (1996)",
    "10": "Hamlet (1996)",
    "11": "American in Paris, An (1951)",
    "12": "1984 (1984)",
    "13": "Beautiful Mind, A (2001)",
    "14": "Alien",
    "15": "Alien (1979)",
    "16": "Straße, Die (1954)",
    "17": "(1999)",
}


def titled(titles, popular=()):
    """A release of these items, one person each; those in `popular` have more."""
    rows = [(f"r{i}", item) for i, item in enumerate([*titles, *popular])]
    release = so.read(pl.DataFrame(rows, schema=["record", "item"], orient="row"))
    return replace(release, titles=Labels.of(titles[item] for item in release.items))


@pytest.fixture(scope="module")
def films():
    return Catalogue(titled(FILMS, popular=["15"] * 3 + ["6"]))


def id_of(catalogue, name):
    code = catalogue.find(name)
    return None if code is None else catalogue.release.items[code]


def test_a_title_is_found_whatever_its_case_with_its_year_or_without_and_its_article_in_either_place(films):
    for name, item in [
        ("Toy Story (1995)", "1"),
        ("toy story (1995)", "1"),
        ("TOY STORY", "1"),
        ("  toy   story ", "1"),
        ("Brazil", "3"),
        ("brazil", "3"),
        ("Matrix, The (1999)", "2"),
        ("matrix, the", "2"),
        ("the matrix", "2"),
        ("The Matrix (1999)", "2"),
        ("THE  MATRIX  (1999)", "2"),
        ("An American in Paris", "11"),
        ("american in paris, an", "11"),
        ("an american in paris (1951)", "11"),
        ("a beautiful mind", "13"),
        ("Les Misérables", "4"),
        ("LES MISÉRABLES (1995)", "4"),
        ("Les Mise\u0301rables", "4"),
        ("les miserables", "4"),
        ("1984", "12"),
        ("1984 (1984)", "12"),
        ("die STRASSE", "16"),
        ("sabrina (1954)", "5"),
        ("Sabrina (1995)", "6"),
        ("(1999)", "17"),
    ]:
        assert id_of(films, name) == item


def test_an_unknown_name_is_not_found(films):
    for name in [
        "Toy Story (1996)",
        "The Matrix (2000)",
        "Brazil (1985)",
        "Toy",
        "Toy Story 2",
        "",
        " ",
        "(1995)",
        "the",
        "The ",
        "018",
        "1 ",
        "nothing (1999)",
        "nothing (1985)",
        "\ud800",
        "\0",
    ]:
        assert films.find(name) is None


def test_every_item_is_found_by_its_id(films):
    for code, item in enumerate(films.release.items):
        assert films.find(item) == code


def test_an_id_wins_over_a_title(films):
    assert id_of(films, "2") == "2" and films.release.titles[films.find("7")] == "2"
    assert id_of(films, "1984") == "12"
    other = Catalogue(titled({"a": "b", "b": "a", "c": "A"}))
    assert [id_of(other, name) for name in ("a", "b")] == ["a", "b"]


def test_a_title_without_a_year_is_the_one_that_has_none(films):
    assert id_of(films, "alien") == "14"
    assert id_of(films, "Alien (1979)") == "15"


def test_a_title_of_several_items_is_an_error_that_lists_them(films):
    with pytest.raises(so.NotFoundError) as caught:
        films.find("sabrina")
    message = str(caught.value)
    assert message.startswith("2 items have the title 'sabrina': ")
    assert "Sabrina (1954) [5]" in message and "Sabrina (1995) [6]" in message and "id" in message
    assert "\n" not in message
    with pytest.raises(so.NotFoundError, match=r"2 items have the title .*\[9\].*\[10\].*id"):
        films.find("Hamlet (1996)")
    with pytest.raises(so.NotFoundError, match="2 items have the title"):
        encode_auxes(films.release, [so.Aux([so.Fact("Sabrina")])])
    with pytest.raises(so.NotFoundError, match="2 items have the title"):
        so.Aux([so.Fact("Sabrina")]).unknown(films.release)


def test_only_a_few_of_many_items_with_one_title_are_listed():
    many = Catalogue(titled({str(i): f"Cinderella ({1900 + i})" for i in range(10, 40)}))
    with pytest.raises(so.NotFoundError, match=r"30 items have the title .*: .* and 25 more") as caught:
        many.find("Cinderella")
    assert str(caught.value).count("Cinderella (19") == 5


def test_case_decides_between_titles_that_differ_only_in_case():
    pair = Catalogue(titled({"1": "It", "2": "IT"}))
    assert (id_of(pair, "It"), id_of(pair, "IT")) == ("1", "2")
    with pytest.raises(so.NotFoundError, match="2 items have the title"):
        pair.find("it")


def test_case_is_ignored_beyond_ascii_too():
    for title in ["Işık", "Straße", "ΣΊΣΥΦΟΣ", "Łódź", "ﬁlm", "Ǆ"]:
        catalogue = Catalogue(titled({"1": title}))
        for name in (title.upper(), title.lower(), title.casefold(), title.swapcase()):
            assert id_of(catalogue, name) == "1"


def test_without_titles_only_ids_are_found():
    release = so.read(pl.DataFrame({"record": ["p", "q"], "item": ["7", "Brazil"]}))
    catalogue = Catalogue(release)
    assert release.titles is None
    assert [catalogue.find(name) for name in ("7", "Brazil", "brazil", "8")] == [0, 1, None, None]
    assert catalogue.label(0) == "7"
    with pytest.raises(so.StandoutError):
        release.item("brazil")


def test_a_label_is_the_title_with_its_id(films):
    labels = [films.label(code) for code in range(films.release.n_items)]
    assert labels[:3] == ["Toy Story (1995) [1]", "Matrix, The (1999) [2]", "Brazil [3]"]
    assert labels[7] == "8"


def test_the_most_similar_title_is_suggested_first(films):
    for name, best in [
        ("Braszil", "Brazil [3]"),
        ("toy stroy", "Toy Story (1995) [1]"),
        ("the matrx", "Matrix, The (1999) [2]"),
        ("Matrix (1998)", "Matrix, The (1999) [2]"),
        ("american in pari", "American in Paris, An (1951) [11]"),
        ("story", "Toy Story (1995) [1]"),
        ("paris", "American in Paris, An (1951) [11]"),
        ("les miserable", "Misérables, Les (1995) [4]"),
    ]:
        assert films.find(name) is None
        assert films.suggestions(name)[0] == best


def test_suggestions_are_few_and_similar(films):
    assert films.suggestions("qqqqqqqq") == films.suggestions("") == []
    near = films.suggestions("alein", count=1)
    assert near in (["Alien [14]"], ["Alien (1979) [15]"])
    assert len(films.suggestions("sabrin", count=2)) == 2
    for name in ("Sabrinas", "hamlets", "a", "the"):
        for count in (1, 2, 3):
            suggested = films.suggestions(name, count)
            assert len(suggested) <= count and len(set(suggested)) == len(suggested)


def test_equally_similar_titles_are_suggested_by_popularity(films):
    assert films.suggestions("sabrinna", count=2) == ["Sabrina (1995) [6]", "Sabrina (1954) [5]"]


WORDS = st.lists(st.text("abcÀéßıŁ12'-.", min_size=1, max_size=6), min_size=1, max_size=4).map(" ".join)


@given(WORDS, st.sampled_from(["The", "A", "An", "Les", "Der"]), st.sampled_from(["", " (1995)"]))
def test_normalised_titles_ignore_case_blanks_and_the_position_of_the_article(words, article, year):
    title = f"{words}, {article}{year}"
    assert (
        normalise_title(title)
        == normalise_title(f"{article} {words}{year}")
        == normalise_title(f"  {article}   {words}{year} ")
    )
    assert normalise_title(title) == normalise_title(title.swapcase().swapcase()) == normalise_title(title.casefold())
    assert normalise_title(normalise_title(title)) == normalise_title(title)


@given(st.lists(WORDS, min_size=1, max_size=8), st.data())
def test_every_title_finds_its_item_or_a_list_that_has_it(titles, data):
    catalogue = Catalogue(titled({f"id-{i}": title for i, title in enumerate(titles)}))
    position = data.draw(st.integers(0, len(titles) - 1))
    form = data.draw(st.sampled_from([str, str.casefold, str.upper, lambda text: f" {text} "]))
    name = form(titles[position])
    assert catalogue.release.items.find(f"id-{position}") in catalogue.items_with_title(titles[position])
    same = [at for at, title in enumerate(titles) if normalise_title(title) == normalise_title(name)]
    try:
        code = id_of(catalogue, name)
    except so.NotFoundError as several:
        assert len(same) > 1 and "have the title" in str(several)
    else:
        assert code in {f"id-{at}" for at in same}


def test_titles_find_the_facts_of_an_attack():
    rows = [("p", "1", 4.0), ("p", "2", 1.0), ("q", "2", 5.0), ("q", "3", 5.0)]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    release = replace(release, titles=Labels.of(FILMS[item] for item in release.items))
    by_title = so.Aux([so.Fact("the matrix", 1), so.Fact("toy story", 4), so.Fact("Solaris (1972)")])
    by_id = so.Aux([so.Fact("2", 1), so.Fact("1", 4)])
    verdict_by_title, verdict_by_id = (so.ScoreboardRH().attack(release, aux) for aux in (by_title, by_id))
    assert (verdict_by_title.best, verdict_by_title.highest, verdict_by_title.sigma) == (
        verdict_by_id.best,
        verdict_by_id.highest,
        verdict_by_id.sigma,
    )
    assert [fact.item for fact in verdict_by_title.unknown] == ["Solaris (1972)"]
