import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sanitizing_tables import in_original_order, random_table, values

import standout as so
from naive import table_utility as naive
from standout.core.errors import ParameterError
from standout.data.column import Column, Hierarchy
from standout.data.release import Release
from standout.sanitizing import column_utility as table_associations
from standout.sanitizing import column_utility as table_prediction
from standout.sanitizing.column_utility import association, association_change

pytestmark = pytest.mark.once

STEPS = [
    ["round age 10"], ["generalize zip 1", "swap zip 0.4"], ["suppress-to-k age zip 3"],
    ["suppress-cells zip 5", "drop-column born"], ["drop-rows size owner 8", "top-code age ..40"],
    ["swap age 0.5", "round age 10", "suppress-to-k age size 4"],
]  # fmt: skip
ORDERED = ("number", "date", "ordered")


def test_the_utility_of_an_unchanged_table_is_perfect():
    utility = so.utility(random_table(400, seed=1), target="owner")
    for name in ("kept", "information_kept", "cells_kept", "rows_kept"):
        assert getattr(utility, name).value == pytest.approx(1.0)
    for name in ("marginal_change", "largest_marginal_change", "association_change", "accuracy_loss"):
        assert getattr(utility, name).value == 0.0
    assert utility.accuracy == utility.accuracy_before
    assert utility.steps == ()


def becomes(safer, name):
    """What the steps make of each value of a column."""
    old, new = safer.original.column(name), safer.column(name)
    channel = safer.channels.get(name)
    codes = range(old.n_levels) if channel is None else channel.released.tolist()
    return {old.value(code): "emptied" if to == new.missing else new.value(to) for code, to in enumerate(codes)}


def test_steps_are_given_one_by_one_or_as_a_list_or_are_those_of_the_sanitized_table():
    table, steps = random_table(60, seed=3), ["round age 10", "drop-column owner"]
    one_by_one, listed = so.utility(table, *steps, seed=2), so.utility(table, steps, seed=2)
    assert one_by_one.steps == listed.steps == so.utility(so.sanitize(table, steps, seed=2)).steps
    assert one_by_one.kept == listed.kept


@pytest.mark.parametrize("steps", STEPS)
def test_marginals_cells_and_bits_equal_the_slow_twin(steps):
    table = random_table(seed=3)
    safer = so.sanitize(table, steps, seed=1)
    for column in so.utility(safer).columns:
        old = values(table.column(column.name))
        if column.is_dropped:
            assert (column.marginal_change, column.cells_kept, column.bits_kept) == (1.0, 0, 0.0)
            continue
        now = in_original_order(safer, column.name)
        kept = sum(a is not None and a == b for a, b in zip(old, now, strict=True))
        assert (column.cells, column.cells_kept) == (sum(value is not None for value in old), kept)
        if table.column(column.name).kind == "set":
            continue
        new, image = values(safer.column(column.name)), becomes(safer, column.name)
        assert column.marginal_change == pytest.approx(naive.total_variation(old, new, image), abs=1e-12)
        assert column.bits_before == pytest.approx(naive.entropy(old))
        channel = safer.channels.get(column.name)
        noise = (0.0, 0.0) if channel is None else (channel.replaced, channel.suppressed)
        empty = {value: None if to == "emptied" else to for value, to in image.items()}
        bits = naive.mutual_information(old, empty, *noise) * len(new) / len(old)
        assert column.bits_kept == pytest.approx(bits, abs=1e-9)


def ranked(column):
    """Values that can be compared: of ordered levels their number."""
    if column.kind != "ordered":
        return values(column)
    return [None if code == column.missing else code for code in column.codes.tolist()]


def twin(table, a, b):
    x, y = (ranked(table.column(name)) for name in (a, b))
    has_order = [table.column(name).kind in ORDERED for name in (a, b)]
    if all(has_order):
        return naive.spearman(x, y)
    if not any(has_order):
        return naive.cramers_v(x, y)
    return naive.correlation_ratio(y, x) if has_order[0] else naive.correlation_ratio(x, y)


@pytest.mark.parametrize("steps", STEPS[:4])
def test_associations_equal_the_slow_twin(steps):
    table = random_table(40, seed=5)
    safer = so.sanitize(table, steps, seed=1)
    changes = {}
    for a, b in combinations(["age", "zip", "size", "born", "owner"], 2):
        before = twin(table, a, b)
        assert association(table.column(a), table.column(b)) == pytest.approx(before, abs=1e-9)
        after = twin(safer, a, b) if a in safer.column_names and b in safer.column_names else 0.0
        changes[a, b] = abs(after - before)
    utility = so.utility(safer)
    assert utility.association_change.value == pytest.approx(sum(changes.values()) / len(changes), abs=1e-9)
    assert utility.largest_association_change.value == pytest.approx(max(changes.values()), abs=1e-9)
    assert math.isnan(utility.association_change.low)
    assert changes[utility.association_pair] == pytest.approx(max(changes.values()), abs=1e-9)


def test_a_large_table_is_measured_on_a_sample_with_an_interval_that_covers_the_whole(monkeypatch):
    safer = so.sanitize(predictable_table(2000), "swap y 0.5", seed=1)
    whole = association_change(safer, 0)[0]["association_change"]
    monkeypatch.setattr(table_associations, "ROWS", 500)
    covered = 0
    for seed in range(10):
        sample = association_change(safer, seed)[0]["association_change"]
        assert sample.n == 500
        covered += sample.low <= whole.value <= sample.high
    assert covered >= 8


def predictable_table(n_rows=600, seed=0):
    """The answer y is (nearly) x, in 4 values; z is noise."""
    draw = np.random.default_rng(seed)
    x = draw.integers(0, 4, n_rows)
    y = np.where(draw.random(n_rows) < 0.1, draw.integers(0, 4, n_rows), x)
    tree = Hierarchy((("low", "high"),), np.array([[0, 0, 1, 1]]))
    return Release.of_columns(
        (
            Column("x", "category", ("a", "b", "c", "d"), x.astype(np.uint8), hierarchy=tree),
            Column("y", "category", ("p", "q", "r", "s"), y.astype(np.uint8), hierarchy=tree, role="sensitive"),
            Column("z", "number", np.arange(50.0), draw.integers(0, 50, n_rows).astype(np.uint8)),
        )
    )


def test_a_model_of_the_release_predicts_what_it_still_shows():
    table = predictable_table()
    before = so.utility(table)
    assert before.prediction.target == "y" and before.prediction.classes == 4
    assert before.accuracy.value > 0.85 and before.accuracy.n == 120
    assert before.accuracy.baseline < 0.45
    merged = so.utility(table, "generalize x 1")
    assert 0.3 < merged.accuracy.value < 0.7
    assert merged.accuracy_loss.value == pytest.approx(before.accuracy.value - merged.accuracy.value)
    assert so.utility(table, "swap x 1").accuracy.value < 0.45
    assert so.utility(table, "drop-column x").kept_accuracy.value < 0.3


def test_merging_values_of_the_target_does_not_help():
    table = predictable_table()
    before, after = so.utility(table), so.utility(table, "generalize y 1")
    assert after.accuracy.value <= 0.6 < before.accuracy.value


def test_nobody_who_is_held_out_is_learned_from(monkeypatch):
    table = predictable_table(500)
    safer = so.sanitize(table, "drop-rows z 9", seed=2)
    seen = []
    correct = table_prediction._correct
    monkeypatch.setattr(table_prediction, "_correct", lambda *args: seen.append(args) or correct(*args))
    utility = so.utility(safer, people=60)
    assert utility.accuracy.n == 60
    (old, _, truth, _), (new, labels, _, _) = seen
    assert all(test.n_rows == len(truth) == 60 and train.n_rows == 440 for _, train, test in old)
    assert all(released.n_rows == len(labels) for _, released, _ in new)
    assert len(labels) == utility.prediction.trained_on <= safer.n_records


TASKS = [
    ("age", "round age 10"), ("zip", "generalize zip 2"), ("owner", "swap owner 0.3"),
    ("born", "drop-rows size 9"), ("zip", "suppress-cells zip 9"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "step"), TASKS)
def test_classes_labels_and_the_baseline_equal_the_slow_twin(target, step, monkeypatch):
    table = random_table(200, seed=4)
    safer = so.sanitize(table, step, seed=1)
    seen = []
    correct = table_prediction._correct
    monkeypatch.setattr(table_prediction, "_correct", lambda *args: seen.append(args) or correct(*args))
    utility = so.utility(safer, target=target)
    old, image = values(table.column(target)), becomes(safer, target)
    class_of = naive.target_classes(old, table.column(target).kind in ORDERED)
    (_, learned, truth, _), (_, labels, again, _) = seen
    known = [class_of[value] for value in old if value is not None]
    assert sorted([*learned.tolist(), *truth.tolist()]) == sorted(known)
    assert truth.tolist() == again.tolist() and len(truth) == len(known) // 5
    commonest = min(set(learned.tolist()), key=lambda label: (-learned.tolist().count(label), label))
    assert utility.accuracy.baseline == pytest.approx(np.mean(truth == commonest))
    now = Counter(value for value in values(safer.column(target)) if value is not None)
    possible = Counter()
    for value, count in now.items():
        possible[naive.released_label(value, old, image, class_of)] += count
    assert all(count <= possible[label] for label, count in Counter(labels.tolist()).items())
    assert len(labels) == utility.prediction.trained_on


def test_the_task_is_the_same_each_time_and_depends_on_the_seed():
    safer = so.sanitize(predictable_table(), "swap x 0.3", seed=1)
    first = so.utility(safer, seed=3)
    assert first.table.equals(so.utility(safer, seed=3).table)
    assert first.accuracy != so.utility(safer, seed=4).accuracy


@pytest.mark.parametrize("target", ["age", "zip", "size", "born", "owner"])
def test_every_type_of_column_but_a_set_can_be_the_target(target):
    utility = so.utility(random_table(300, seed=2), "generalize zip 1", target=target)
    assert 0 <= utility.accuracy.value <= 1
    assert utility.prediction.classes <= 11


def test_what_cannot_be_predicted_is_said():
    table = random_table(100)
    with pytest.raises(ParameterError, match="is a set"):
        so.utility(table, target="has")
    with pytest.raises(ParameterError, match="was dropped"):
        so.utility(table, "drop-column age", target="age")
    utility = so.utility(table, "drop-column owner")
    assert utility.accuracy is None
    assert "name the target" in utility.prediction_note
    with pytest.raises(ParameterError, match="columns only"):
        so.utility(so.synthesize(records=60, items=40, entries=900, seed=7), target="age")


def test_without_scikit_learn_the_rest_is_measured_and_the_note_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(table_prediction, "find_spec", lambda name: None)
    utility = so.utility(random_table(100), "round age 5", target="owner")
    assert utility.accuracy is None and utility.association_change is not None
    assert "pip install 'scikit-learn>=1.4'" in utility.prediction_note


def test_the_table_of_results_has_each_measure_and_each_column():
    utility = so.utility(random_table(100), "round age 5", "drop-column born")
    frame = utility.table
    named = set(frame.filter(frame["column"].is_null())["measure"])
    assert {"kept", "cells_kept", "marginal_change", "association_change", "accuracy"} <= named
    assert set(frame["column"].drop_nulls()) == {"age", "zip", "size", "born", "owner", "has"}
    assert repr(utility).startswith("<Utility: round age 5 + drop-column born; ")
