from dataclasses import replace

import numpy as np
import pytest
from sanitizing_tables import in_original_order, random_table, values

import standout as so
from naive import table_sanitizing as naive
from standout.core.errors import ParameterError
from standout.data.build import arrange
from standout.know.sanitized import Sanitized

pytestmark = pytest.mark.once

STEPS = [
    "round age 5", "swap zip 0.4", "suppress-to-k age size 3", "generalize zip 1", "swap zip 0.3",
    "top-code age ..70", "suppress-cells zip 5", "drop-rows size 4", "generalize size 2",
]  # fmt: skip


def same(safer, other):
    assert safer.fingerprint == other.fingerprint
    assert safer.original_row.tolist() == other.original_row.tolist()
    assert safer.channels.keys() == other.channels.keys()
    for name, channel in safer.channels.items():
        assert channel.released.tolist() == other.channels[name].released.tolist()
        assert channel.replaced == pytest.approx(other.channels[name].replaced)
        assert channel.suppressed == pytest.approx(other.channels[name].suppressed)
    assert safer.step_reports == other.step_reports


def test_two_calls_with_one_seed_equal_one_call_with_all_steps():
    for cut in range(len(STEPS) + 1):
        table = random_table(seed=1)
        whole = so.sanitize(table, STEPS, seed=5)
        same(so.sanitize(so.sanitize(table, *STEPS[:cut], seed=5), STEPS[cut:], seed=5), whole)


def test_rows_are_shuffled_and_get_new_ids():
    table = random_table(n_rows=200)
    safer = so.sanitize(table, "round age 5", seed=1)
    assert isinstance(safer, Sanitized)
    assert list(safer.records) == [str(row) for row in range(1, 201)]
    assert sorted(safer.original_row.tolist()) == list(range(200))
    assert np.count_nonzero(safer.original_row == np.arange(200)) < 10
    assert safer.original_row.tolist() != so.sanitize(table, "round age 5", seed=2).original_row.tolist()


def test_no_steps_change_nothing_but_the_order_of_rows():
    table = random_table()
    safer = so.sanitize(table, seed=0)
    assert safer.channels == {} and safer.step_reports == ()
    for name in table.column_names:
        assert in_original_order(safer, name) == values(table.column(name))


def test_without_a_seed_each_call_draws_another_order():
    table = random_table()
    orders = {tuple(so.sanitize(table, "round age 5").original_row.tolist()) for _ in range(3)}
    assert len(orders) == 3


def test_noise_of_two_steps_on_a_column_adds_up():
    safer = so.sanitize(random_table(), "swap age 0.5", "round age 5", "swap age 0.5", seed=0)
    assert safer.channels["age"].replaced == pytest.approx(0.75)


def test_each_value_of_the_original_has_its_released_level_even_if_its_rows_were_removed():
    table = random_table(seed=2)
    safer = so.sanitize(table, "drop-rows zip 6", "round age 5", "suppress-cells size 20", seed=3)
    assert safer.n_records < table.n_records
    assert safer.column("zip").levels == table.column("zip").levels
    assert (safer.column("zip").counts[:-1] == 0).any()
    released = safer.channels["age"].released
    assert safer.column("age").levels[released].tolist() == [
        naive.rounded(age, 5) for age in table.column("age").levels.tolist()
    ]
    assert (safer.column("size").counts[:-1] > 0).all()
    assert (safer.channels["size"].released == safer.column("size").missing).any()


@pytest.mark.parametrize("seed", range(4))
def test_swapped_cells_are_as_frequent_as_the_channel_says(seed):
    table = random_table(n_rows=2000, seed=seed, missing=0)
    safer = so.sanitize(table, "swap age 0.3", seed=seed)
    codes, column = table.column("age").codes, safer.column("age")
    back = np.empty(2000, np.int64)
    back[safer.original_row] = column.codes
    share = np.bincount(codes) / 2000
    differs = 0.3 * (1 - (share**2).sum())
    assert np.mean(back != codes) == pytest.approx(differs, abs=0.04)


def test_steps_on_releases_are_refused_on_tables_and_the_other_way_round():
    with pytest.raises(ParameterError, match="the release has no entries"):
        so.sanitize(random_table(), so.steps.RoundTime("month"))
    with pytest.raises(ParameterError, match="the release has no columns"):
        so.sanitize(so.synthesize(records=10, items=10, entries=40, seed=7), "round age 5")


def test_each_row_keeps_its_own_history():
    table = random_table(seed=1)
    history = so.synthesize(records=60, items=30, entries=700, seed=3)
    mixed = replace(arrange(history, np.arange(60)[::-1]), columns=table.columns)
    safer = so.sanitize(mixed, "drop-rows size 6", "swap age 0.5", seed=1)
    assert safer.n_records < 60
    assert safer.lengths.tolist() == history.lengths[59 - safer.original_row].tolist()
