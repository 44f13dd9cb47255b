"""A lineup of rows agrees with the slow twin, part by part."""

import numpy as np
import pytest
from tests.attack.made_tables import as_twin, made_table

import standout as so
from naive import table_attack as naive

KNOWN = {"age": 30, "grade": "high", "job": "c", "ills": "B"}


def lineup_of(table, known, **options):
    return so.lineup(table, so.Aux([so.Fact(name, value) for name, value in known.items()]), **options)


def expected(table):
    columns = [as_twin(column, column.error) for column in table.columns]
    facts = [(table.column_position(name), value) for name, value in KNOWN.items()]
    return np.array(naive.scores(columns, facts, "likelihood", 0.1)) / naive.UNIT


def test_a_lineup_ranks_all_rows_by_the_twins_scores():
    table = made_table(60, seed=2)
    lineup = lineup_of(table, KNOWN, top=60)
    scores = expected(table)
    weight = np.exp(scores - scores.max())
    for candidate in lineup.lineup:
        assert candidate.score == pytest.approx(scores[table.records.find(candidate.record)], abs=1e-9)
        assert candidate.probability == pytest.approx(
            weight[table.records.find(candidate.record)] / weight.sum(), rel=1e-9
        )
        assert sum(part.score for part in lineup.verdict.explain(candidate.record)) == pytest.approx(candidate.score)
    assert [c.score for c in lineup.lineup] == sorted(scores, reverse=True)
    assert lineup.bits_left == pytest.approx(-np.log2(weight.max() / weight.sum()))


def test_people_outside_the_table_explain_the_facts_as_anybody_does():
    table = made_table(60, seed=2)
    lineup = lineup_of(table, KNOWN, population=1000)
    total = np.exp(expected(table)).sum() + 940
    assert lineup.nobody == pytest.approx(940 / total)
    assert lineup.lineup[0].probability == pytest.approx(np.exp(expected(table)).max() / total)


def test_a_number_that_nobody_has_stands_for_the_nearest_and_an_unknown_category_is_refused():
    table = made_table(60, seed=2)
    near, there = (lineup_of(table, {"age": age}).lineup for age in (32.4, 31))
    assert near == there
    with pytest.raises(so.ParameterError, match="no row has this value in column 'job'"):
        lineup_of(table, {"job": "zzz"})
    with pytest.raises(so.NotFoundError, match="no column 'jobs'"):
        lineup_of(table, {"jobs": "c"})
