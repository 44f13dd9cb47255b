import numpy as np
import pytest
from sanitizing_tables import SIZES, in_original_order, random_table, rows_of, values

import standout as so
from naive import table_sanitizing as naive
from standout.core.errors import ParameterError
from standout.data.column import Column
from standout.data.release import Release
from standout.sanitizing.steps import STEPS as KINDS

pytestmark = pytest.mark.once

STEPS = [
    "round age 5", "round age 7.5", "generalize age 10", "generalize zip 1", "generalize zip 3",
    "generalize size 2", "generalize born month", "generalize born quarter", "generalize born year",
    "top-code age ..60", "top-code age 20..60", "top-code size small..", "top-code born 2003-01-01..",
    "suppress-cells zip 4", "suppress-cells has 20", "suppress-to-k age zip size 3", "drop-rows size owner 4",
    "swap zip 0.5", "swap age has 1", "drop-column zip",
]  # fmt: skip
DETERMINISTIC = [step for step in STEPS if step.split()[0] in ("round", "generalize", "top-code")]


def test_the_text_of_a_step_reads_as_the_same_step():
    for text in STEPS:
        step = so.step(text)
        assert str(step) == text
        assert so.step(str(step)) == step


def test_names_with_commas_quotes_and_equals_signs_survive():
    step = so.steps.SwapColumn(('a, "b"', "c=d"), 0.25)
    assert so.step(str(step)) == step
    assert so.step(str(so.steps.DropColumn("x,y=z"))) == so.steps.DropColumn("x,y=z")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", STEPS)
def test_rows_and_cells_are_all_accounted_for(text, seed):
    table = random_table(seed=seed)
    safer = so.sanitize(table, text, seed=seed)
    counts = safer.step_reports[0].counts
    assert counts["records before"] == table.n_records
    assert counts["records"] == safer.n_records == len(set(safer.original_row.tolist()))
    changed = emptied = 0
    for name in safer.column_names:
        cells = zip(values(table.column(name)), in_original_order(safer, name), strict=True)
        pairs = [(old, new) for old, new in cells if new != "removed"]
        emptied += sum(old is not None and new is None for old, new in pairs)
        changed += sum(new is not None and old != new for old, new in pairs)
    assert (counts["cells changed"], counts["cells emptied"]) == (changed, emptied)


@pytest.mark.parametrize("text", [*DETERMINISTIC, "suppress-cells zip 4"])
def test_the_map_of_the_channel_applied_to_the_original_gives_the_released_cells(text):
    table = random_table(seed=5)
    safer = so.sanitize(table, text, "drop-rows size 6", seed=1)
    for column in safer.columns:
        old = table.column(column.name)
        if column.name not in safer.channels or column.kind == "set":
            continue
        channel = safer.channels[column.name]
        assert channel.replaced == channel.suppressed == 0
        released = np.append(channel.released, column.missing)
        assert (released[old.codes[safer.original_row]] == column.codes).all()


def test_a_column_without_a_channel_has_the_cells_of_the_original():
    safer = so.sanitize(random_table(), "round age 5", seed=3)
    assert set(safer.channels) == {"age"}
    for name in ("zip", "size", "born", "owner", "has"):
        assert in_original_order(safer, name) == values(safer.original.column(name))


def expected(text, old):
    """Released cells of a deterministic step, by the slow twin."""
    name, column, parameter = text.split()
    if name == "round":
        return [None if value is None else naive.rounded(value, parameter) for value in old]
    if name == "generalize" and parameter.isalpha():
        return [None if value is None else naive.first_day(value, parameter) for value in old]
    if column == "zip":
        kept = 3 - int(parameter)
        return [None if value is None else value[:kept] + "*" * (3 - kept) for value in old]
    if column == "size":
        return [None if value is None else ["tiny to small", "medium to large"][SIZES.index(value) // 2]
                for value in old]  # fmt: skip
    return [None if value is None else naive.band(value, int(parameter)) for value in old]


def test_values_are_mapped_as_by_the_slow_twin():
    for text in [text for text in DETERMINISTIC if not text.startswith("top")]:
        table = random_table(seed=8)
        name = text.split()[1]
        safer = so.sanitize(table, text, seed=0)
        assert in_original_order(safer, name) == expected(text, values(table.column(name)))


def test_top_coding_keeps_numbers_and_puts_the_bound_where_values_were_beyond():
    table = random_table(seed=2)
    safer = so.sanitize(table, so.steps.TopCode("age", "20..60"), so.steps.TopCode("size", "..small"), seed=0)
    ages = [None if age is None else naive.top_coded(age, 20.0, 60.0) for age in values(table.column("age"))]
    assert in_original_order(safer, "age") == ages
    assert safer.column("age").kind == "number"
    rank = {None: None} | {size: min(place, 1) for place, size in enumerate(SIZES)}
    sizes = [None if size is None else SIZES[rank[size]] for size in values(table.column("size"))]
    assert in_original_order(safer, "size") == sizes


def test_rounding_to_fractions_leaves_no_noise_of_binary_numbers():
    levels = np.array([0.05, 0.15, 0.25, 0.3, 1.1])
    table = Release.of_columns((Column("x", "number", levels, np.arange(5, dtype=np.uint8)),))
    safer = so.sanitize(table, "round x 0.1", seed=0)
    assert in_original_order(safer, "x") == [naive.rounded(value, "0.1") for value in levels.tolist()]
    assert safer.column("x").levels.tolist() == [0.1, 0.2, 0.3, 1.1]


@pytest.mark.parametrize("seed", range(5))
def test_swapping_keeps_every_marginal_exactly_and_tuples_together(seed):
    table = random_table(seed=seed)
    safer = so.sanitize(table, so.steps.SwapColumn("zip", 0.6), seed=seed)
    for name in table.column_names:
        assert sorted(map(repr, values(safer.column(name)))) == sorted(map(repr, values(table.column(name))))
    assert set(safer.channels) == {"zip", "size"}  # one attribute: home
    assert safer.channels["zip"].replaced == safer.channels["size"].replaced == 36 / 60
    pairs = lambda rows: sorted(map(repr, rows))  # noqa: E731
    assert pairs(rows_of(safer, ["zip", "size"])) == pairs(rows_of(table, ["zip", "size"]))
    changed = sum(
        old != new for old, new in zip(values(table.column("zip")), in_original_order(safer, "zip"), strict=True)
    )
    assert 0 < changed <= 36


@pytest.mark.parametrize("below", [2, 4, 20])
def test_cells_with_rare_values_are_emptied(below):
    table = random_table(seed=4)
    safer = so.sanitize(table, so.steps.SuppressCells("zip", below), seed=0)
    old = values(table.column("zip"))
    rare = naive.without_rare(old, below)
    assert in_original_order(safer, "zip") == [None if value is None else new
                                               for value, new in zip(old, rare, strict=True)]  # fmt: skip


QUASI = ("age", "zip", "size")


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_local_suppression_leaves_k_rows_in_each_class_and_equals_the_slow_twin(seed, k, missing):
    table = random_table(seed=seed, missing=missing)
    safer = so.sanitize(table, so.steps.SuppressToK(QUASI, k), seed=0)
    assert naive.smallest_class(rows_of(safer, QUASI)) >= k
    assert safer.n_records > table.n_records - k
    twin = naive.suppressed_to_k(rows_of(table, QUASI), k)
    for place, name in enumerate(QUASI):
        cells = ["removed" if row is None else row[place] for row in twin]
        assert in_original_order(safer, name) == cells
        counts, channel = safer.step_reports[0].counts, safer.channels.get(name)
        if channel is not None and f"emptied in {name}" in counts:
            kept = [old for old, new in zip(values(table.column(name)), cells, strict=True) if new != "removed"]
            share = counts[f"emptied in {name}"] / sum(value is not None for value in kept)
            assert channel.suppressed == pytest.approx(share)


def test_sets_are_emptied_and_counted_like_other_cells():
    table = random_table(seed=6)
    safer = so.sanitize(table, "suppress-to-k has owner 5", seed=0)
    assert naive.smallest_class(rows_of(safer, ["has", "owner"])) >= 5


@pytest.mark.parametrize("k", [2, 3])
def test_rows_of_small_classes_are_dropped_and_no_others(k):
    table = random_table(seed=3)
    names = ["zip", "size"]
    safer = so.sanitize(table, so.steps.DropRows(tuple(names), k), seed=0)
    assert sorted(safer.original_row.tolist()) == naive.rows_of_large_classes(rows_of(table, names), k)


def test_without_names_the_quasi_identifiers_of_the_table_are_meant():
    table = random_table(seed=3)
    named = so.sanitize(table, so.steps.SuppressToK(table.columns_with_role("quasi-identifier"), 3), seed=0)
    assert so.sanitize(table, "suppress-to-k 3", seed=0).fingerprint == named.fingerprint


def test_a_generalized_column_keeps_the_heights_above():
    table = random_table()
    once = so.sanitize(table, "generalize zip 1", "generalize zip 1", seed=0)
    assert in_original_order(once, "zip") == in_original_order(so.sanitize(table, "generalize zip 2"), "zip")
    assert once.column("zip").hierarchy.height == 1
    assert so.sanitize(table, "generalize zip 3").column("zip").hierarchy is None


def test_members_of_a_generalized_set_occur_once():
    table = random_table()
    tree = np.array([[0, 0, 1, 1]])
    has = table.column("has")
    grouped = Column("has", "set", has.levels, has.codes, has.starts,
                     hierarchy=type(table.column("zip").hierarchy)((("ab", "cd"),), tree))  # fmt: skip
    safer = so.sanitize(Release.of_columns((grouped,)), "generalize has 1", seed=0)
    label = {"a": "ab", "b": "ab", "c": "cd", "d": "cd"}
    expected = [row and frozenset(label[member] for member in row) for row in values(has)]
    assert in_original_order(safer, "has") == expected


WRONG = {
    "round age 0": "to must be a number > 0",
    "round zip 5": "needs numbers",
    "generalize zip 4": "heights 1 to 3",
    "generalize zip 0.5": "whole number",
    "generalize owner 1": "needs a hierarchy",
    "generalize age month": "needs dates",
    "generalize born minute": "to must be",
    "top-code age 60..20": "before the highest",
    "top-code age ..": "bounds must be LOWEST",
    "top-code size ..huge": "one of its levels",
    "top-code zip ..9": "needs numbers, dates or ordered levels",
    "swap age 0.01": "fewer than 2",
    "swap age 2": "share must be",
    "swap age zip has 0.5": "4 of 6 columns would move together",
    "swap age owner 0.5": "together with a sensitive column",
    "suppress-cells age 1": "below must be",
    "suppress-to-k age 1": "k must be",
    "drop-rows age zip born size 50": "nothing would be left",
    "drop-column nothing": "is not one of",
    "shred age 1": "there is no step 'shred'",
    "round age": "write it as",
    "round-time month": "the release has no entries",
}


def test_what_is_not_allowed_is_refused_with_what_is():
    for text, message in WRONG.items():
        with pytest.raises(ParameterError, match=message):
            so.sanitize(random_table(), text, seed=0)


def test_merging_values_after_rare_ones_were_emptied_is_refused():
    with pytest.raises(ParameterError, match="put it after"):
        so.sanitize(random_table(), "suppress-cells zip 3", "generalize zip 1", seed=0)


def test_every_kind_of_step_is_tested():
    assert {name for name, kind in KINDS.items() if kind.about == "columns"} == {text.split()[0] for text in STEPS}


@pytest.mark.parametrize("k", [2, 5])
def test_the_risk_measures_agree_that_each_class_has_k_rows(k):
    safer = so.sanitize(random_table(300, seed=1), so.steps.SuppressToK((), k), seed=0)
    assert so.classes(safer).identity.k >= k


def test_attacks_run_on_the_result_of_every_step():
    for text in STEPS:
        safer = so.sanitize(random_table(seed=3), text, seed=1)
        for attack in ("likelihood", "paper", "exact match"):
            so.simulate(safer, so.Adversary(knows=2), attack=attack, targets=20, seed=1)
