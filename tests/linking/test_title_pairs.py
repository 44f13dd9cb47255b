"""Pairs of titles: scores, and which pairs are accepted."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from standout.ingest.formats import read_titles
from standout.linking.titles import (
    ACCEPTED,
    LISTED,
    Pair,
    Titles,
    accept_pairs,
    parse_title,
    similar_titles,
    similarity,
)

pytestmark = pytest.mark.once

FILMS = """Matrix, The (1999); Matrix (1999); The Matrix Reloaded (2003); Matrix Revolutions, The (2003);
Alien (1979); Aliens (1986); Alien 3 (1992); Sabrina (1954); Sabrina (1995); Little Women (1933);
Little Men (1934); Dark Water (2005); Dark Waters (2005); Toy Story (1995); Toy Story 2 (1999);
Toy Storey (1995); Spider-Man (2002); Spiderman (2002); Brazil; Brasil (1985); Brazil (1985); Frozen (2013);
The Frozen (2012); Star Wars (1977); Star Wars: Episode IV - A New Hope (1977); Rocky II (1979); Love (2011);
Rocky 2 (1979); Rocky (1976); Godfather, The (1972); Godfahter (1972); The Godfathers (1973); Heat (1995);
Beat (1995); Wes Craven's Nightmare; Nightmare, Wes Craven's; Love Actually (2003); Apollo 13 (1995);
Apolo 13 (1995); Hamlet (1996)"""
FILMS = [film.strip() for film in FILMS.replace("\n", " ").split(";")]


def words_of(names):
    return {word for name in names for word in name.split()}


def slow_scores(public, release):
    ours, theirs = Titles(release), Titles(public)
    vocabulary = words_of(ours.names), words_of(theirs.names)
    scores = {
        (i, j): naive.title_score(one, other, *vocabulary)
        for i, one in enumerate(theirs.titles)
        for j, other in enumerate(ours.titles)
    }
    return {pair: score for pair, score in scores.items() if score}


def fast_scores(public, release):
    return {pair.ends: pair.score for pair in similar_titles(Titles(public), Titles(release))}


def same_scores(scores, expected):
    return scores.keys() == expected.keys() and all(abs(scores[pair] - expected[pair]) < 0.11 for pair in scores)


def test_scores_equal_those_of_every_pair_compared_slowly():
    scores = fast_scores(FILMS, FILMS)
    assert same_scores(scores, slow_scores(FILMS, FILMS))
    assert sum(0 < score < 100 for score in scores.values()) > 20


NAMES = st.lists(
    st.sampled_from(["star", "stars", "stra", "war", "wars", "2", "3", "ii", "the", "dark", "drak"]),
    min_size=1,
    max_size=3,
).map(" ".join)
YEARS = st.sampled_from(["", " (1999)", " (2000)", " (2004)"])
CATALOGUES = st.lists(st.builds(lambda name, year: name + year, NAMES, YEARS), min_size=1, max_size=6)


@given(CATALOGUES, CATALOGUES)
def test_scores_of_any_titles_equal_the_slow_ones(public, release):
    assert same_scores(fast_scores(public, release), slow_scores(public, release))


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.integers(0, 5)), st.sampled_from([76.0, 83.0, 88.0, 90.0, 95.0, 100.0])
    )
)
def test_accepted_pairs_are_clearly_the_best_and_no_item_is_in_two(scores):
    pairs = [Pair(*ends, score, "") for ends, score in scores.items()]
    accepted, doubtful = accept_pairs(pairs)
    assert set(accepted) == naive.accepted_pairs(pairs, ACCEPTED)
    assert len({pair.public for pair in accepted}) == len({pair.release for pair in accepted}) == len(accepted)
    public, release = {pair.public for pair in accepted}, {pair.release for pair in accepted}
    rest = {pair.ends for pair in pairs if pair.public not in public and pair.release not in release}
    assert {pair.ends for pair in doubtful} == rest


def matched(public, release):
    """{public title: release title} of the accepted pairs."""
    accepted, _ = accept_pairs(similar_titles(Titles(public), Titles(release)))
    return {public[pair.public]: release[pair.release] for pair in accepted}


def test_remakes_sequels_and_similar_words_are_not_merged():
    assert matched(["Sabrina (1954)"], ["Sabrina (1995)"]) == {}
    assert matched(["Sabrina"], ["Sabrina (1954)", "Sabrina (1995)"]) == {}
    assert matched(["Toy Story 2 (1999)"], ["Toy Story 3 (1999)", "Toy Story (1999)"]) == {}
    assert matched(["Dark Water (2005)", "Deep Waters (1999)"], ["Dark Waters (2005)", "Water (1985)"]) == {}
    assert matched(["Frozen (2013)"], ["The Frozen (2012)"]) == {}
    assert matched(["Heat (1995)"], ["Beat (1995)"]) == {}


def test_the_same_film_is_matched_in_other_spellings():
    release = ["Matrix, The (1999)", "Godfather: Part II, The (1974)", "Misérables, Les (1995)", "X-Men (2000)"]
    public = ["the matrix (2000)", "The Godfahter, Part 2 (1974)", "Les Miserables", "XMEN (2000)"]
    assert matched(public, release) == dict(zip(public, release, strict=True))


def test_similarity_of_two_titles_is_that_of_their_best_names():
    assert similarity(parse_title("Seven (Se7en) (1995)"), parse_title("Se7en (1995)")) == 100
    assert similarity(parse_title("Brazil (1985)"), parse_title("Brasil (1986)")) == pytest.approx(83.3)
    assert similarity(parse_title("Brazil (1985)"), parse_title("Brazil (1995)")) == 0
    assert similarity(parse_title("Star Wars (1977)"), parse_title("Star Wars: A New Hope (1977)")) > LISTED


@pytest.mark.slow
@pytest.mark.realdata
def test_two_real_catalogues_are_aligned_as_their_map_says(realdata):
    """MovieLens and MovieTweetings have independent titles; links.csv has the truth."""
    ours = read_titles(realdata / "movielens-latest-small" / "movies.csv")
    theirs = read_titles(realdata / "movietweetings" / "2013-11-06" / "movies.dat")
    with (realdata / "movielens-latest-small" / "links.csv").open() as file:
        truth = {row["imdbId"]: row["movieId"] for row in csv.DictReader(file) if row["imdbId"] in theirs}
    release, public = list(ours), list(theirs)
    accepted, doubtful = accept_pairs(similar_titles(Titles(theirs.values()), Titles(ours.values())))
    pairs = {public[pair.public]: release[pair.release] for pair in accepted}
    correct = {item for item, other in pairs.items() if truth.get(item) == other}
    assert len(correct) / len(pairs) >= 0.99
    assert len(correct) / len(truth) >= 0.95
    assert len(doubtful) < 500
    listed = {(public[pair.public], release[pair.release]) for pair in doubtful}
    missed = {(item, other) for item, other in truth.items() if item not in correct}
    assert len(missed & listed) / len(missed) > 0.5  # the others have a different name altogether
