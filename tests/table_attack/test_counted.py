"""Likelihood of an adversary who knows how many facts are wrong, against all choices of wrong facts."""

from dataclasses import replace

import numpy as np
import pytest
from tests.table_attack.made_tables import as_twin, cells_of, made_table, released_table

import standout as so
from naive import table_attack as naive
from standout.table_attack.row_verdicts import attack_rows, weighted_votes
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import TableLikelihood
from standout.tables.model import Table

LAST_DIGITS = 1e-9


def as_plain(level):
    return level if isinstance(level, str) else float(level)


def attributes_of(table, facts, query):
    """The facts of a query, one list of (column, level) for each attribute."""
    groups = {}
    for f in range(facts.first[query], facts.first[query + 1]):
        column = table.columns[facts.column[f]]
        fact = int(facts.column[f]), as_plain(column.levels[facts.code[f]])
        groups.setdefault(column.attribute, []).append(fact)
    return list(groups.values())


def tuple_table():
    """Two of the columns are one attribute."""
    table = made_table(50, seed=3)
    columns = [
        replace(column, attribute="work") if column.name in ("job", "grade") else column
        for column in table.columns
    ]
    return Table(tuple(columns))


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("wrong", [1, 2, 4])
@pytest.mark.parametrize("make", [lambda: made_table(50, seed=3), tuple_table])
def test_all_choices_of_wrong_facts_count(wrong, absent, make):
    table, adversary = make(), TableAdversary(knows=4, wrong=wrong)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(50)))[:5]
    facts = adversary.observe(table, rows, seed=5)
    verdicts = attack_rows(table, facts, TableLikelihood(adversary), adversary, absent=absent, threads=2)
    columns = [as_twin(column, adversary.error_of(column)) for column in table.columns]
    for query, row in enumerate(rows.tolist()):
        known = attributes_of(table, facts, query)
        found = naive.counted_probabilities(columns, known, wrong, without=row if absent else None)
        best, total = max(found), sum(found)
        ties = sum(p >= best * (1 - LAST_DIGITS) for p in found)
        assert verdicts.ties[query] == ties
        assert verdicts.posterior[query] == pytest.approx(best / total, rel=LAST_DIGITS)
        assert verdicts.best_likelihood[query] == pytest.approx(1 / best, rel=LAST_DIGITS)
        own = 0.0 if absent else found[row]
        assert verdicts.own_posterior[query] == pytest.approx(own / total, rel=LAST_DIGITS)
        is_best = own >= best * (1 - LAST_DIGITS)
        assert verdicts.found[query] == pytest.approx(1 / ties if is_best else 0.0)
        assert found[verdicts.guess[query]] == pytest.approx(best)


def test_votes_are_sums_of_probabilities():
    table, adversary = made_table(50, seed=6), TableAdversary(knows=4, wrong=1)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(50)))[:5]
    facts = adversary.observe(table, rows, seed=1)
    votes = weighted_votes(table, facts, TableLikelihood(adversary), adversary, "job")
    columns = [as_twin(column, adversary.error_of(column)) for column in table.columns]
    jobs = cells_of(table.column("job"))
    for query in range(len(rows)):
        found = np.array(naive.counted_probabilities(columns, attributes_of(table, facts, query), 1))
        for code, level in enumerate([*table.column("job").levels, None]):
            share = found[[job == level for job in jobs]].sum() / found.sum()
            assert votes[query, code] == pytest.approx(share, rel=LAST_DIGITS, abs=1e-15)


def test_without_wrong_facts_it_is_the_sum_of_logarithms():
    table, adversary = made_table(60, seed=2), TableAdversary(knows=4, wrong=0)
    assert not TableLikelihood(adversary).counts_wrong
    counted, each = (
        so.simulate_table(table, adversary, TableLikelihood(adversary, counted=c), targets=20)
        for c in (True, False)
    )
    assert (counted.verdicts.posterior == each.verdicts.posterior).all()


def test_a_dropped_column_may_have_been_the_wrong_one():
    table, adversary = made_table(50, seed=4), TableAdversary(columns=("born", "age", "job"), wrong=1)
    released = released_table(table, seed=1)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(50)))[:8]
    facts = adversary.observe(table, rows, seed=5)
    attack = TableLikelihood(adversary)
    verdicts = attack_rows(released, facts, attack, adversary)
    assert np.isfinite(verdicts.posterior).all()
    assert (verdicts.posterior <= 1 + LAST_DIGITS).all()
    assert (verdicts.own_posterior <= verdicts.posterior + LAST_DIGITS).all()


@pytest.mark.once
def test_it_finds_more_people_than_facts_that_are_wrong_each_by_itself():
    draw = np.random.default_rng(0)
    columns = tuple(
        so.Column(f"c{i}", "category", tuple("abcdef"), draw.integers(0, 6, 3000, np.uint8)) for i in range(6)
    )
    adversary = TableAdversary(knows=6, wrong=2)
    counted, each = (
        so.simulate_table(Table(columns), adversary, TableLikelihood(adversary, counted=c), targets=400)
        for c in (True, False)
    )
    assert counted.verdicts.found.sum() > 1.2 * each.verdicts.found.sum()
