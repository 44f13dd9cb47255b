"""Parsing titles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.linking.titles import parse_title

pytestmark = pytest.mark.once

TITLES = [
    ("Matrix, The (1999)", ["matrix"], 1999),
    ("the MATRIX", ["matrix"], 0),
    ("Lord of the Rings: The Two Towers, The (2002)", ["lord of the rings the two towers"], 2002),
    ("Lord of the Rings, The: The Two Towers", ["lord of the rings the two towers"], 0),
    ("Amélie (2001)", ["amelie"], 2001),
    ("Die Straße (1954)", ["die strasse"], 1954),
    ("Straße, Die", ["die strasse"], 0),
    ("Die Hard (1988)", ["die hard"], 1988),
    ("Appartement, L' (1996)", ["appartement"], 1996),
    ("L’Appartement", ["appartement"], 0),
    ("Cité des enfants perdus, La", ["cite des enfants perdus"], 0),
    (
        "City of Lost Children, The (Cité des enfants perdus, La) (1995)",
        ["city of lost children", "cite des enfants perdus"],
        1995,
    ),
    ("Macbeth (a.k.a. Tragedy of Macbeth, The) (1971)", ["macbeth", "tragedy of macbeth"], 1971),
    ("Lock & Stock", ["lock and stock"], 0),
    ("Ocean's Eleven", ["oceans eleven"], 0),
    ("Rocky II (1979)", ["rocky 2"], 1979),
    ("Rocky V (1990)", ["rocky 5"], 1990),
    ("Henry VIII", ["henry 8"], 0),
    ("V for Vendetta", ["v for vendetta"], 0),
    ("Malcolm X (1992)", ["malcolm x"], 1992),
    ("I, Robot", ["i robot"], 0),
    ("Vi", ["vi"], 0),
    ("Godfather: Part II, The", ["godfather part 2"], 0),
    ("Part I", ["part 1"], 0),
    ("Star Wars: Episode V - Empire", ["star wars episode 5 empire"], 0),
    ("Kill Bill: Vol. 2", ["kill bill volume 2"], 0),
    ("Kill Bill, Volume Two", ["kill bill volume 2"], 0),
    ("M*A*S*H (a.k.a. MASH) (1970)", ["mash"], 1970),
    ("E.T. the Alien", ["et the alien"], 0),
    ("(500) Days of Summer (2009)", ["500 days of summer"], 2009),
    ("Dune (Part 2)", ["dune part 2"], 0),
    ("Death Note (2006–2007)", ["death note"], 2006),
    ("Hamlet (1996) (TV)", ["hamlet"], 1996),
    ("Hamlet (1996/I)", ["hamlet"], 1996),
    ("1984 (1984)", ["1984"], 1984),
    ("2012", ["2012"], 0),
    ("Numbers (0007)", ["numbers 0007"], 0),
    ("東京物語 (1953)", ["東京物語"], 1953),
    ("!!! (2004)", ["!!!"], 2004),
    ("The", ["the"], 0),
    ("", [], 0),
    ("  ", [], 0),
]


def test_a_title_is_parsed_into_its_names_and_its_year():
    parsed = [parse_title(title) for title, _, _ in TITLES]
    expected = [(title, names, year) for title, names, year in TITLES]
    assert [(t[0], [*p.names], p.year) for t, p in zip(TITLES, parsed, strict=True)] == expected


@given(st.text())
def test_any_text_can_be_a_title(text):
    names, year, _ = parse_title(text)
    assert year == 0 or 1870 <= year <= 2100
    assert all(name and name == " ".join(name.split()) for name in names)
    assert parse_title(f"  {text} ").names == names
