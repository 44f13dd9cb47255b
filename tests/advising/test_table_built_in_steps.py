"""The steps that are tried on tables: each changes something, and only columns that may be known."""

import numpy as np
import pytest

import standout as so
from advising.tables_to_advise import people_table
from sanitizing.sanitizing_tables import random_table
from standout.advising.candidates import MOST_STEPS, _round_number, _table_steps, column_bits, step_family
from standout.advising.search import ColumnBenchmark
from standout.data.column import Column
from standout.data.release import Release

pytestmark = pytest.mark.once
ANYBODY = so.Adversary(knows=2)


@pytest.mark.parametrize("table", [people_table(), random_table(200, 1)], ids=["people", "all types"])
def test_every_step_can_be_applied_and_loses_information(table):
    steps = _table_steps(table, ANYBODY)
    assert len(steps) == len(set(steps)) > table.n_columns
    utility = ColumnBenchmark(table, 100, 0)
    for step in steps:
        assert so.step(str(step)) == step
        if step_family(step) != "classes":  # of which nothing may be left
            assert utility.measures(so.sanitize(table, step, seed=1))["information"].value < 1, str(step)


def test_each_column_and_the_classes_are_families_of_alternatives():
    steps = _table_steps(people_table(), ANYBODY)
    families = {step_family(step) for step in steps}
    assert families == {"classes", *(f"column,{name}" for name in people_table().column_names)}


def test_only_columns_that_the_adversary_may_know_are_changed():
    adversary = so.Adversary(knows=1, columns=("age", "sex"))
    steps = [str(step) for step in _table_steps(people_table(), adversary)]
    assert steps and not any("zip" in step or "job" in step for step in steps)


def test_quasi_identifiers_come_first_then_columns_with_much_information():
    steps = _table_steps(people_table(), ANYBODY)
    drops = [step.column for step in steps if isinstance(step, so.steps.DropColumn)]
    assert drops == ["age", "zip", "job", "sex"]


def test_a_wide_table_has_no_more_steps_than_can_be_tried():
    draw = np.random.default_rng(1)
    columns = [Column(f"c{i}", "category", ("a", "b", "c"), draw.integers(0, 3, 90)) for i in range(100)]
    assert 40 <= len(_table_steps(Release.of_columns(tuple(columns)), ANYBODY)) <= MOST_STEPS


def test_a_column_that_does_not_vary_is_left_alone():
    same = Column("same", "category", ("a",), np.zeros(300, np.uint8))
    table = Release.of_columns((*people_table().columns, same))
    assert column_bits(same) == 0
    assert not any("same" in str(step) for step in _table_steps(table, ANYBODY))


def test_widths_are_round_numbers():
    assert [_round_number(number) for number in (0.011, 0.3, 1.0, 7.5, 400.0)] == [0.01, 0.2, 1.0, 10.0, 500.0]
