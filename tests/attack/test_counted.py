"""Likelihood of an adversary who knows how many facts are wrong, against all choices of wrong facts."""

from dataclasses import replace

import numpy as np
import pytest
from tests.attack.made_tables import as_twin, cells_of, made_table, released_table

import standout as so
from naive import table_attack as naive
from random_releases import sanitized_rows
from standout.attack.any_attack import attack_columns, counts_wrong, weighted_votes
from standout.attack.likelihood import Likelihood
from standout.data.release import Release
from standout.know.adversary import Adversary

LAST_DIGITS = 4e-9


def as_plain(level):
    return level if isinstance(level, str) else float(level)


def attributes_of(table, facts, query):
    """The facts of a query, one list of (column, level) for each attribute."""
    groups = {}
    for f in range(facts.cells.first[query], facts.cells.first[query + 1]):
        column = table.columns[facts.cells.column[f]]
        fact = int(facts.cells.column[f]), as_plain(column.levels[facts.cells.code[f]])
        groups.setdefault(column.attribute, []).append(fact)
    return list(groups.values())


def tuple_table():
    """Two of the columns are one attribute."""
    table = made_table(30, seed=3)
    columns = [
        replace(column, attribute="work") if column.name in ("job", "grade") else column for column in table.columns
    ]
    return Release.of_columns(tuple(columns))


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("wrong", [1, 2, 4])
@pytest.mark.parametrize("make", [lambda: made_table(30, seed=3), tuple_table])
def test_all_choices_of_wrong_facts_count(wrong, absent, make):
    table, adversary = make(), Adversary(knows=4, wrong=wrong)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(30)))[:2]
    facts = adversary.observe_all(table, rows, seed=5)
    verdicts = attack_columns(table, facts, Likelihood(adversary), absent=absent, threads=2)
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
    table, adversary = made_table(50, seed=6), Adversary(knows=4, wrong=1)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(50)))[:2]
    facts = adversary.observe_all(table, rows, seed=1)
    votes = weighted_votes(table, facts, Likelihood(adversary), "job")
    columns = [as_twin(column, adversary.error_of(column)) for column in table.columns]
    jobs = cells_of(table.column("job"))
    for query in range(len(rows)):
        found = np.array(naive.counted_probabilities(columns, attributes_of(table, facts, query), 1))
        for code, level in enumerate([*table.column("job").levels, None]):
            share = found[[job == level for job in jobs]].sum() / found.sum()
            assert votes[query, code] == pytest.approx(share, rel=LAST_DIGITS, abs=1e-15)


def test_without_wrong_facts_it_is_the_sum_of_logarithms():
    table, adversary = made_table(60, seed=2), Adversary(knows=4, wrong=0)
    assert not counts_wrong(Likelihood(adversary))
    facts = adversary.observe_all(table, np.flatnonzero(adversary.eligible(table, np.arange(60))))
    counted, each = (attack_columns(table, facts, Likelihood(adversary), counted=c) for c in (True, False))
    assert (counted.posterior == each.posterior).all()


def test_a_dropped_column_may_have_been_the_wrong_one():
    table, adversary = made_table(50, seed=4), Adversary(columns=("born", "age", "job"), wrong=1)
    released = released_table(table, seed=1)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(50)))[:8]
    facts = adversary.observe_all(table, rows, seed=5)
    attack = Likelihood(adversary)
    verdicts = attack_columns(released, facts, attack)
    assert np.isfinite(verdicts.posterior).all()
    assert (verdicts.posterior <= 1 + LAST_DIGITS).all()
    assert (verdicts.own_posterior <= verdicts.posterior + LAST_DIGITS).all()


@pytest.mark.once
def test_it_finds_more_people_than_facts_that_are_wrong_each_by_itself():
    draw = np.random.default_rng(0)
    columns = tuple(
        so.Column(f"c{i}", "category", tuple("abcdef"), draw.integers(0, 6, 3000, np.uint8)) for i in range(6)
    )
    adversary = Adversary(knows=6, wrong=2)
    table = Release.of_columns(columns)
    facts = adversary.observe_all(table, np.arange(400))
    counted, each = (attack_columns(table, facts, Likelihood(adversary), counted=c) for c in (True, False))
    assert counted.found.sum() > 1.2 * each.found.sum()


def full_sets():
    """Small sets, of which many have all members, and an ordered column whose middle is near everything."""
    draw = np.random.default_rng(1)
    sizes = draw.integers(1, 3, 40)
    members = [np.sort(draw.choice(2, size, replace=False)) for size in sizes]
    columns = [so.Column(f"c{i}", "category", tuple("abc"), draw.integers(0, 3, 40, np.uint8)) for i in range(2)]
    grades = draw.integers(0, 3, 40, np.uint8)
    columns.append(so.Column("grade", "ordered", ("low", "middle", "high"), grades, error=1.0))
    columns.append(
        so.Column("has", "set", ("A", "B"), np.concatenate(members).astype(np.uint8), np.append(0, np.cumsum(sizes)))
    )
    return Release.of_columns(tuple(columns))


@pytest.mark.parametrize("wrong", [1, 2])
def test_a_fact_that_cannot_be_wrong_counts_as_right(wrong):
    table, adversary = full_sets(), Adversary(knows=4, wrong=wrong)
    rows = np.arange(8)
    facts = adversary.observe_all(table, rows, seed=2)
    verdicts = attack_columns(table, facts, Likelihood(adversary))
    columns = [as_twin(column, adversary.error_of(column)) for column in table.columns]
    for query in range(len(rows)):
        found = naive.counted_probabilities(columns, attributes_of(table, facts, query), wrong)
        assert verdicts.posterior[query] == pytest.approx(max(found) / sum(found), rel=LAST_DIGITS)


@pytest.mark.once
@pytest.mark.parametrize("wrong", [0, 1, 200])
def test_hundreds_of_known_columns_still_identify_everybody(wrong):
    draw = np.random.default_rng(3)
    columns = [so.Column(f"c{i}", "number", np.arange(60.0), draw.permutation(60).astype(np.uint8)) for i in range(600)]
    adversary = Adversary(knows=600, wrong=wrong)
    simulation = so.simulate(Release.of_columns(tuple(columns)), adversary, targets=10)
    assert simulation.cell().identified.value == 1


def test_people_whose_rows_were_removed_count_once_in_rates_of_a_population():
    draw = np.random.default_rng(4)
    levels = np.arange(100.0)
    columns = [so.Column(n, "number", levels, draw.permutation(100).astype(np.uint8)) for n in "cd"]
    table, adversary, kept = Release.of_columns(tuple(columns)), Adversary(knows=2), np.arange(0, 100, 2)
    shown = tuple(column.rows(kept) for column in columns)
    released = sanitized_rows(table, kept, shown)
    rates = so.simulate(released, adversary, targets="all", population=100).cell().population
    assert rates.in_table.value == 1
    assert rates.identified.value == 0.5
