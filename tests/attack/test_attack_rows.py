"""Attacks on tables agree with a slow twin that knows neither codes, windows nor kernels."""

from dataclasses import replace

import numpy as np
import pytest
from tests.attack.made_tables import as_twin, cells_of, made_table, released_table

from naive import table_attack as naive
from standout.attack.any_attack import attack_columns, attack_named, weighted_votes
from standout.attack.likelihood import Likelihood
from standout.know.adversary import Adversary

ATTACKS = ("likelihood", "paper", "threshold", "exact match")
ADVERSARY = Adversary(knows=4, wrong=1)
EACH = Likelihood(ADVERSARY)


def twins(table, adversary):
    return [as_twin(column, adversary.error_of(column)) for column in table.columns]


def facts_of(table, facts, query):
    owned = range(facts.cells.first[query], facts.cells.first[query + 1])
    levels = [
        (int(facts.cells.column[f]), table.columns[facts.cells.column[f]].levels[facts.cells.code[f]]) for f in owned
    ]
    return [(column, level if isinstance(level, str) else float(level)) for column, level in levels]


def agrees(verdicts, query, expected):
    ties, chance, eccentricity, posterior, own = expected
    assert verdicts.ties[query] == ties
    assert verdicts.found[query] == pytest.approx(chance, abs=1e-12)
    assert verdicts.eccentricity[query] == pytest.approx(eccentricity, rel=1e-6, abs=1e-7)
    assert verdicts.posterior[query] == pytest.approx(posterior, rel=1e-6)
    assert verdicts.own_posterior[query] == pytest.approx(own, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("absent", [False, True])
def test_each_attack_agrees_with_its_slow_twin_on_columns_of_every_kind(attack, absent):
    table = made_table(50, seed=3)
    rows = np.flatnonzero(ADVERSARY.eligible(table, np.arange(50)))[:6]
    facts = ADVERSARY.observe_all(table, rows, seed=5)
    chosen = EACH if attack == "likelihood" else attack_named(attack, ADVERSARY)
    verdicts = attack_columns(table, facts, chosen, counted=False, absent=absent, threads=2)
    columns = twins(table, ADVERSARY)
    for query, row in enumerate(rows.tolist()):
        known = facts_of(table, facts, query)
        found = naive.scores(columns, known, attack, 0.25, without=row if absent else None)
        agrees(verdicts, query, naive.verdict(found, row, attack))


def test_likelihood_agrees_with_its_slow_twin_on_a_sanitized_table():
    table = made_table(50, seed=4)
    released = released_table(table, seed=1)
    rows = np.flatnonzero(ADVERSARY.eligible(table, np.arange(50)))[:6]
    facts = ADVERSARY.observe_all(table, rows, seed=5)
    verdicts = attack_columns(released, facts, EACH, counted=False)
    columns = sanitized_twins(table, released)
    where = {int(row): i for i, row in enumerate(released.original_row)}
    for query, row in enumerate(rows.tolist()):
        known = [fact for fact in facts_of(table, facts, query) if table.column_names[fact[0]] != "born"]
        found = naive.scores(columns, known, "likelihood", 0.25)
        if row in where:
            agrees(verdicts, query, naive.verdict(found, where[row], "likelihood"))
        else:
            assert verdicts.found[query] == 0


def sanitized_twins(table, released):
    columns = twins(table, ADVERSARY)
    for column, twin in zip(table.columns, columns, strict=True):
        if column.name not in released.column_names:
            twin["released_cells"] = [None] * released.n_records
            continue
        shown = released.column(column.name)
        twin["released_cells"] = cells_of(shown)
        channel = released.channels.get(column.name)
        if channel is not None:
            levels = [*(shown.levels if isinstance(shown.levels, tuple) else shown.levels.tolist()), None]
            twin["channel"] = {
                "released": {level: levels[channel.released[i]] for i, level in enumerate(twin["levels"])},
                "replaced": channel.replaced,
                "suppressed": channel.suppressed,
            }
    return columns


def test_votes_for_a_hidden_column_are_sums_of_posteriors():
    table = made_table(50, seed=6)
    rows = np.flatnonzero(ADVERSARY.eligible(table, np.arange(50)))[:5]
    facts = ADVERSARY.observe_all(table, rows, seed=1)
    facts = replace(facts, cells=facts.cells.where(facts.cells.column != 4))
    votes = weighted_votes(table, facts, EACH, "job", counted=False)
    columns, jobs = twins(table, ADVERSARY), cells_of(table.column("job"))
    for query in range(len(rows)):
        found = np.array(naive.scores(columns, facts_of(table, facts, query), "likelihood", 0.25))
        weight = np.exp((found - found.max()) / naive.UNIT)
        for code, level in enumerate([*table.column("job").levels, None]):
            share = weight[[job == level for job in jobs]].sum() / weight.sum()
            assert votes[query, code] == pytest.approx(share, rel=1e-6, abs=1e-12)


def test_neither_threads_nor_the_other_targets_change_a_result():
    table = made_table(300, seed=8)
    rows = np.flatnonzero(ADVERSARY.eligible(table, np.arange(300)))
    attack = attack_named("likelihood", ADVERSARY)
    facts = ADVERSARY.observe_all(table, rows, seed=2)
    whole = attack_columns(table, facts, attack, threads=1)
    part = attack_columns(table, ADVERSARY.observe_all(table, rows[7:20], seed=2), attack, threads=2)
    assert (whole.posterior[7:20] == part.posterior).all()
    assert (whole.guess[7:20] == part.guess).all()
