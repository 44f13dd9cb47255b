"""A table with a history: what is known of both adds up."""

import math
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from tests.attack.made_tables import as_twin, made_table

import naive
import standout as so
from naive import table_attack
from standout.attack.any_attack import attack_columns
from standout.attack.likelihood import Likelihood
from standout.data.build import arrange
from standout.data.labels import Labels
from standout.know.adversary import Adversary

ROWS = 40
ENTRIES = so.Adversary(knows=3, value_error=1, time_error=10)
ADVERSARY = Adversary(knows=2, wrong=1, entries=ENTRIES)


def history(seed):
    """{(row, item): (value, day)} for most rows."""
    draw = np.random.default_rng(seed)
    entries = {}
    for row in range(ROWS - 3):
        for item in draw.choice(12, draw.integers(3, 7), replace=False).tolist():
            entries[str(row), str(item)] = float(draw.integers(1, 6)), 13_000 + int(draw.integers(0, 200))
    return entries


def mixed(seed):
    """A table whose rows have histories, and the entries of these."""
    entries = history(seed)
    start = date(1970, 1, 1)
    frame = pl.DataFrame(
        [(r, i, v, start + timedelta(days=t)) for (r, i), (v, t) in entries.items()],
        schema=["record", "item", "value", "time"],
        orient="row",
    )
    release = so.read(frame)
    position = {release.records[i]: i for i in range(release.n_records)}
    record = np.array([position.get(str(row), -1) for row in range(ROWS)])
    ids = replace(Labels.of(map(str, range(ROWS))), ordered=False)
    return replace(arrange(release, record), columns=made_table(ROWS, seed).columns, records=ids), entries


def known_entries(table, facts, query):
    """The facts about a person's history as the twin takes them."""
    aux = facts.aux(table, query)
    return [
        (fact.item, (fact.value, (fact.time - date(1970, 1, 1)).days))
        for fact in aux
        if fact.item not in table.column_names
    ]


@pytest.mark.parametrize("absent", [False, True])
def test_a_mixed_score_is_the_sum_of_the_scores_of_table_and_history(absent):
    table, entries = mixed(2)
    rows = np.flatnonzero(ADVERSARY.eligible(table, np.arange(ROWS)))[:6]
    facts = ADVERSARY.observe_all(table, rows, seed=3)
    verdicts = attack_columns(table, facts, Likelihood(ADVERSARY), counted=False, absent=absent)
    columns = [as_twin(column, ADVERSARY.error_of(column)) for column in table.columns]
    for query, row in enumerate(rows.tolist()):
        gone = row if absent else None
        cells = [
            (int(c), table.columns[c].value(int(v)) if table.columns[c].kind != "date" else table.columns[c].levels[v])
            for c, v in zip(
                facts.cells.column[2 * query : 2 * query + 2], facts.cells.code[2 * query : 2 * query + 2], strict=True
            )
        ]
        by_table = table_attack.scores(columns, cells, "likelihood", 0.5, without=gone)
        mistakes = naive.Mistakes(value_error=1.0, reach=10)
        known = known_entries(table, facts, query)
        by_history = naive.likelihood_scores(entries, known, mistakes, str(row) if absent else None)
        lacking = len(known) * math.log(1 - 0.98)
        found = [
            None if score is None else score + round((by_history.get(str(r), 0.0) + lacking) * 2**20)
            for r, score in enumerate(by_table)
        ]
        ties, chance, _, posterior, own = table_attack.verdict(found, row, "likelihood")
        assert verdicts.ties[query] == ties
        assert verdicts.found[query] == pytest.approx(chance)
        assert verdicts.posterior[query] == pytest.approx(posterior, rel=1e-5)
        assert verdicts.own_posterior[query] == pytest.approx(own, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("attack", ["paper", "threshold", "exact match"])
def test_each_attack_runs_on_a_table_with_a_history(attack):
    table, _ = mixed(4)
    exact = replace(ADVERSARY, wrong=0, error=0.0, entries=so.Adversary(knows=3))
    simulation = so.simulate(table, exact, attack=attack, targets=10)
    assert simulation.cell().identified.value > 0.9


def test_an_adversary_who_knows_entries_needs_a_history():
    with pytest.raises(so.ParameterError, match="the release has no history"):
        so.simulate(made_table(20), ADVERSARY)


def test_an_attack_on_columns_goes_through_simulate_or_lineup():
    aux = so.Aux([so.Fact("age", 30)])
    for attack in (so.ScoreboardRH(), so.Scoreboard(), so.Likelihood()):
        with pytest.raises(so.ParameterError, match="the release has columns"):
            attack.attack(made_table(20), aux)


def test_attacks_on_columns_are_compared_on_the_same_targets():
    comparison = so.compare(made_table(60), so.Adversary(knows=3), {"a": so.Likelihood(), "b": so.ExactMatch()})
    assert (
        comparison.row("a").difference.value == 0
        and comparison.row("b").identified.n == comparison.row("a").identified.n
    )
