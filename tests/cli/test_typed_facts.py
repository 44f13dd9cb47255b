"""Known facts as they are typed: which item, value and date a text names."""

from datetime import date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from titles import DAY, TITLES

import standout as so
from standout.cli.typed_facts import facts_about_items, parse_joined, parse_length

UNAMBIGUOUS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
CASES = st.sampled_from([str, str.lower, str.upper, str.title])
NAMES = st.one_of(
    st.sampled_from(list(TITLES)).map(lambda item: (item, item)),
    st.tuples(st.sampled_from(UNAMBIGUOUS), CASES).map(lambda pair: (pair[0], pair[1](TITLES[pair[0]]))),
)
VALUES = st.none() | st.integers(-9, 9) | st.floats(-1e9, 1e9)
TIMES = st.none() | st.dates() | st.datetimes().map(lambda time: time.replace(microsecond=0))


def facts(release, *texts, **options):
    return [named.fact for named in facts_about_items(release, texts, **options)]


def typed(name, value, time):
    """Return a fact as people type it."""
    ending = "" if value is None else f"={value}"
    return f"{name}{ending}" + ("" if time is None else f"@{time.isoformat()}")


@given(name=NAMES, value=VALUES, time=TIMES)
def test_a_typed_fact_is_read_back(titled_release, name, value, time):
    item, title = name
    if title in ("11", "x") and value == 4:
        return  # x=4 is the title of another item, which wins
    assert facts(titled_release, typed(title, value, time)) == [so.Fact(item, value, time)]


@given(name=st.text("ab=@-2005 ", min_size=1).filter(str.strip), value=st.integers(0, 9), time=st.dates())
def test_an_unknown_item_with_value_and_date_is_read_back(titled_release, name, value, time):
    fact = so.Fact(f"§{name}", value, time)
    assert facts(titled_release, f"§{name}={value}@{time}", allow_unknown=True) == [fact]


TYPED_FACTS = [
    ("Brazil=4@2005-03-01", so.Fact("1", 4.0, DAY)),
    ("Bent=1", so.Fact("3", 1.0)),
    ("17@2004-12-24", so.Fact("17", None, date(2004, 12, 24))),
    ("Matrix, The (1999)", so.Fact("2")),
    ("the MATRIX", so.Fact("2")),
    ("The Matrix (1999)=3.5", so.Fact("2", 3.5)),
    ("  brazil (1985) = 4 @ 2005-03-01 ", so.Fact("1", 4.0, DAY)),
    ("Brazil@2005-03-01T20:15", so.Fact("1", None, datetime(2005, 3, 1, 20, 15))),
    ("E=mc2", so.Fact("6")),
    ("e=MC2=4", so.Fact("6", 4.0)),
    ("me@2004-01-01", so.Fact("7")),
    ("me@2004-01-01@2005-03-01", so.Fact("7", None, DAY)),
    ("se7en", so.Fact("8")),
    ("Seven=2", so.Fact("8", 2.0)),
    ("seven (1995)", so.Fact("8")),
    ("AMELIE", so.Fact("9")),
    ("leon", so.Fact("20")),
    ("x=4", so.Fact("10")),
    ("x=4=4", so.Fact("10", 4.0)),
    ("x=5", so.Fact("11", 5.0)),
    ("x@2004-12-24", so.Fact("x@2004-12-24")),
    ("x@2004-12-25", so.Fact("11", None, date(2004, 12, 25))),
    ("EMMA (1996)", so.Fact("13")),
    ("Hamlet (1948)=2", so.Fact("4", 2.0)),
    ("Brazil=-1e3", so.Fact("1", -1000.0)),
    ("Brazil=4±1@2005-03-01±14?", so.Fact("1", 4.0, DAY, 1, 14, 0.5)),
    ("brazil = 4 +- 0.5 @ 2005-03-01 +/- 14 ? ", so.Fact("1", 4.0, DAY, 0.5, 14, 0.5)),
    ("Brazil=4±0", so.Fact("1", 4.0, None, 0)),
    ("Brazil=-4±1@2005-03-01", so.Fact("1", -4.0, DAY, 1)),
    ("Brazil@2005-03-01T20:15±0.5", so.Fact("1", None, datetime(2005, 3, 1, 20, 15), None, 0.5)),
    ("Brazil=4?", so.Fact("1", 4.0, doubt=0.5)),
    ("Brazil@2005-03-01?", so.Fact("1", None, DAY, doubt=0.5)),
    ("Brazil?", so.Fact("1", doubt=0.5)),
    ("x=4?", so.Fact("10", doubt=0.5)),
    ("x=4=4±1?", so.Fact("10", 4.0, value_error=1, doubt=0.5)),
    ("x=5±1", so.Fact("11", 5.0, value_error=1)),
]


def test_the_longest_name_that_matches_an_item_wins(titled_release):
    for text, fact in TYPED_FACTS:
        assert facts(titled_release, text) == [fact], text


def test_a_length_has_many_forms():
    for text, ends in [
        ("200±50%", (100, 300)),
        ("200+-50%", (100, 300)),
        ("200+/-50 %", (100, 300)),
        ("200 ± 50", (150, 250)),
        ("100-300", (100, 300)),
        ("100 – 300", (100, 300)),
        ("7", (7, 7)),
        ("7±50%", (4, 10)),
        ("10±12.5%", (9, 11)),
        ("3±9", (0, 12)),
        ("0", (0, 0)),
        ("200±300%", (0, 800)),
    ]:
        assert parse_length(text) == ends, text


@given(length=st.integers(0, 10**6), share=st.integers(0, 300))
def test_a_length_within_a_share_contains_exactly_the_lengths_within_it(length, share):
    low, high = parse_length(f"{length}±{share}%")
    assert all(100 * abs(end - length) <= share * length for end in (low, high))
    assert all(100 * abs(end - length) > share * length for end in (low - 1, high + 1) if end >= 0)


def test_a_first_date_has_many_forms():
    day = date(2004, 1, 31)
    for text, days in [("2004-01-31±30", 30), ("2004-01-31+-30", 30), ("2004-01-31 +/- 0", 0), ("2004-01-31", 0)]:
        assert parse_joined(text) == (day - timedelta(days=days), day + timedelta(days=days)), text
