"""The tools that write the results on tables."""

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from tools.adult import COLUMNS, adult_csv, hand_counts
from tools.table_results import END, marker, replaced
from tools.table_rivals import exact_count, found, known_facts, leave_out, most_matches

import standout as so
from standout.data.column import Column, near_levels
from standout.data.release import Release

pytestmark = pytest.mark.once
LEVELS = (6, 5, 4, 9)


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(3)
    age = Column("age", "number", np.arange(9.0), draw.integers(0, 9, 120, np.uint8), error=1.0)
    others = [
        Column(f"c{n}", "category", tuple("abcdef"[:n]), draw.integers(0, n + 1, 120, np.uint8)) for n in LEVELS[:3]
    ]
    return Release.of_columns((age, *others))


def brute_force(known, query, row):
    """P(facts | row): the mean over all choices of wrong facts."""
    total, facts = 0.0, known.of(query)
    for wrong in itertools.combinations(range(len(facts)), known.adversary.wrong):
        chance = 1.0
        for position, (column, code) in enumerate(facts):
            cells = known.table.columns[column]
            true = int(cells.codes[row])
            if true == cells.missing:
                chance = 0.0
                continue
            near = near_levels(cells, known.adversary.error_of(cells))
            is_near, number = near.low[true] <= code < near.high[true], int(near.number[true])
            if position in wrong:
                chance *= 0.0 if is_near else 1.0 / (cells.n_levels - number)
            else:
                chance *= 1.0 / number if is_near else 0.0
        total += chance
    return total


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_exact_count_is_the_sum_over_all_choices_of_wrong_facts(table, wrong):
    known = known_facts(table, so.Adversary(knows=3, wrong=wrong), 6, 1)
    for query in range(6):
        scores = exact_count(known, query)
        for row in range(table.n_records):
            chance = brute_force(known, query, row)
            expected = math.log(chance) if chance else -math.inf
            assert scores[row] == pytest.approx(expected, abs=1e-12)


def test_without_wrong_or_inexact_facts_all_attacks_find_what_exact_matching_finds(table):
    adversary = so.Adversary(knows=3, error=0.0)
    known = known_facts(table, adversary, 50, 1)
    exact = so.simulate(table, adversary, attack="exact match", targets=50, seed=1).cell().outcomes.identified[:, 0]
    for rival in (exact_count, most_matches, leave_out):
        assert np.allclose(found(known, rival), exact)


def test_targets_and_facts_are_those_of_the_simulation(table):
    adversary = so.Adversary(knows=3, wrong=1)
    simulation = so.simulate(table, adversary, targets=20, seed=5).cell()
    assert known_facts(table, adversary, 20, 5).targets.tolist() == simulation.targets.tolist()


def test_adult_is_read_without_spaces_comments_and_full_stops():
    line = "25, Private, 1, 11th, 7, a, b, c, d, Male, 0, 0, 40, ?, <=50K."
    header, row, *rest = adult_csv(f"|1x3 Cross validator\n{line}\n\n").splitlines()
    assert header.split(",") == COLUMNS and not rest
    assert row == "25,Private,1,11th,7,a,b,c,d,Male,0,0,40,?,<=50K"


def test_hand_counts_are_counts_by_class():
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({name: draw.integers(0, n, 60) for name, n in (("a", 4), ("b", 3), ("ill", 3))})
    counts = hand_counts(frame, ["a", "b"], "ill")
    rows = frame.rows()
    sizes = Counter(row[:2] for row in rows)
    ill = {key: Counter(row[2] for row in rows if row[:2] == key) for key in sizes}
    everybody = Counter(row[2] for row in rows)
    distances = [
        sum(abs(ill[key][value] / sizes[key] - everybody[value] / 60) for value in everybody) / 2 for key in sizes
    ]
    assert counts["k"] == min(sizes.values()) and counts["classes"] == len(sizes)
    assert counts["unique"] == sum(size == 1 for size in sizes.values())
    assert counts["l"] == min(len(values) for values in ill.values())
    assert counts["guess"] == pytest.approx(sum(max(values.values()) for values in ill.values()) / 60)
    assert counts["t"] == pytest.approx(max(distances))


def test_only_the_named_part_of_a_page_is_replaced():
    page = "".join(f"{name}{marker(name)}old{END}" for name in ("a", "b"))
    new = replaced(page, "b", "new")
    assert new == page.replace(f"{marker('b')}old", f"{marker('b')}\n\nnew\n\n")
