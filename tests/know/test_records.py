"""Sim on records: equal to the slow twin, symmetric, and 1 for the same record."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from similarity_cases import ANY_VALUES, FIRST, FUNCTIONS, PER_DAY, TWINS, histories, moment, released, same, sim

import standout as so


def record_sim(similarity, one, other, unit, over):
    """Twin of record_similarity, on {item: (value, time)}."""
    total = 0.0
    for item, (known, then) in one.items():
        if item in other:
            value, time = other[item]
            days = None if then is None or time is None else (time - then) / PER_DAY[unit]
            part, terms = sim(similarity, known, value, days, then is not None)
            total += part / terms
    return total / (len(one) if over == "first" else len(one.keys() | other.keys()))


@pytest.mark.parametrize("over", ["union", "first"])
@settings(max_examples=60)
@given(data=st.data())
def test_record_similarity_equals_its_slow_twin(over, data):
    kinds = data.draw(st.sampled_from([("number", None), ("text",)]))
    release, people, unit = data.draw(histories(kinds=kinds))
    choices = [*ANY_VALUES, so.Custom(same)] if kinds == ("text",) else [*TWINS, *FUNCTIONS]
    similarity = data.draw(st.sampled_from(choices))
    for first, one in people.items():
        for second, other in people.items():
            expected = record_sim(similarity, one, other, unit, over)
            result = so.record_similarity(release, first, second, similarity, over=over)
            assert result == pytest.approx(expected, rel=1e-12, abs=1e-15)


@settings(max_examples=60)
@given(histories(kinds=("number", None)), st.sampled_from(list(TWINS)))
def test_a_record_is_as_similar_to_itself_as_can_be_and_nobody_is_more(history, similarity):
    release, people, _ = history
    for over in ("union", "first"):
        for one in people:
            assert so.record_similarity(release, one, one, similarity, over=over) == 1.0
            for other in people:
                assert 0.0 <= so.record_similarity(release, one, other, similarity, over=over) <= 1.0


@settings(max_examples=60)
@given(histories(gaps=False), st.sampled_from(ANY_VALUES))
def test_record_similarity_over_the_union_is_symmetric_where_nothing_is_missing(history, similarity):
    release, people, _ = history
    for one in people:
        for other in people:
            there = so.record_similarity(release, one, other, similarity)
            assert there == pytest.approx(so.record_similarity(release, other, one, similarity), rel=1e-12)


def test_what_the_first_record_lacks_is_not_compared_and_what_the_second_lacks_is_not_alike():
    day = FIRST.date()
    release = released([("p", "x", None, day), ("q", "x", 4.0, day), ("p", "y", 1.0, None), ("q", "y", 1.0, day)])
    assert so.record_similarity(release, "p", "q", so.Within()) == 1.0
    assert so.record_similarity(release, "q", "p", so.Within()) == 0.0
    assert so.record_similarity(release, "q", "p", so.Decay()) == 0.5


@settings(max_examples=60)
@given(histories(kinds=("number", None)), st.sampled_from(list(TWINS)))
def test_a_superset_is_as_similar_as_the_record_itself_over_the_first_but_not_over_the_union(history, similarity):
    """Convention 14: Lemma 1 does not hold with the union below the line."""
    release, people, unit = history
    record = max(people, key=lambda name: len(people[name]))
    own = people[record]
    extra = {item: cell for one in people.values() for item, cell in one.items() if item not in own}
    assume(extra)
    both = [("r", own), ("s", own | extra)]
    kind = None if release.levels is None else "number"
    rows = [(name, item, value, moment(t, unit)) for name, cells in both for item, (value, t) in cells.items()]
    larger = released(rows, kind, unit)
    assert so.record_similarity(larger, "r", "s", similarity, over="first") == 1.0
    share = len(own) / (len(own) + len(extra))
    assert so.record_similarity(larger, "r", "s", similarity) == pytest.approx(share, rel=1e-12)
    assert share < 1


def test_twice_as_long_a_superset_is_half_as_similar_over_the_union():
    day = FIRST.date()
    rows = [("r", item, 4.0, day) for item in "ab"] + [("s", item, 4.0, day) for item in "abcd"]
    release = released(rows)
    assert so.record_similarity(release, "r", "s", so.Within()) == 0.5
    assert so.record_similarity(release, "r", "s", so.Within(), over="first") == 1.0
    assert so.record_similarity(release, "s", "r", so.Within(), over="first") == 0.5


PAIR = [("p", "x", 4.0, FIRST.date()), ("q", "x", 3.0, FIRST.date())]


def test_bad_questions_about_records_are_refused():
    release = released(PAIR)
    with pytest.raises(so.ParameterError, match="over must be union or first, got 'both'"):
        so.record_similarity(release, "p", "q", so.Within(), over="both")
    for pair in (("p", "nobody"), ("nobody", "p")):
        with pytest.raises(so.NotFoundError, match="no record with this id"):
            so.record_similarity(release, *pair, so.Within())
    with pytest.raises(so.ParameterError, match="similarity must be a Similarity, got float"):
        so.record_similarity(release, "p", "q", 0.5)
