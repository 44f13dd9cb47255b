"""Ladders of tables: adapted to the columns, read from TOML, and explained in one sentence."""

import numpy as np
import pytest
from tests.attack.made_tables import made_table

import standout as so
from naive import table_audit as naive
from standout.auditing.ladder import Rung, fit_ladder, resolve_ladder, with_facts
from standout.auditing.sentences import describe_adversary
from standout.core.errors import ParameterError
from standout.data.column import Column

pytestmark = pytest.mark.once


def test_an_adversary_knows_no_more_attributes_than_the_table_has_and_says_so():
    fitted = fit_ladder(resolve_ladder(None), made_table(), ["age", "job"])
    colleague = next(rung for rung in fitted.rungs if rung.name == "colleague")
    assert (colleague.adversary.knows, colleague.adversary.wrong) == (8, 2)
    assert colleague.note == "the release has 8 attributes, so the adversary knows 8 facts, 2 of them wrong"


def test_an_adversary_knows_fewer_attributes_if_hardly_any_row_has_enough_cells():
    codes = np.full(100, 2, np.uint8)
    codes[:4] = 0
    full = Column("full", "category", ("a", "b"), np.zeros(100, np.uint8))
    empty = Column("empty", "category", ("a", "b"), codes)
    fitted = fit_ladder(resolve_ladder({"x": so.Adversary(knows=2)}), so.Release.of_columns((full, empty)), ["full"])
    assert fitted.rungs[0].adversary.knows == 1
    assert "fewer than 5 % of the records have enough cells for 2 facts" in fitted.rungs[0].note


def test_equal_adversaries_are_tried_once():
    one = Column("only", "category", ("a", "b"), np.zeros(9, np.uint8))
    fitted = fit_ladder(resolve_ladder(None), so.Release.of_columns((one,)), ["only"])
    assert len({repr(rung.adversary) for rung in fitted.rungs}) == len(fitted.rungs)
    assert fitted.headline in [rung.name for rung in fitted.rungs]
    assert any("was skipped because it equals" in limit for limit in fitted.limits)


def test_fewer_attributes_keep_the_share_of_wrong_ones():
    adversary = so.Adversary(knows=10, wrong=2)
    assert [with_facts(adversary, n).wrong for n in (1, 2, 3, 5, 8, 10)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("adversary", "sentence"),
    [
        (so.Adversary(columns=("age", "job"), error=0), "Knows age and job. Values are exact."),
        (
            so.Adversary(knows=3, wrong=1, columns=("age", "job", "born", "grade")),
            "Knows 3 of age, job, born and grade, drawn at random for each person, 1 of them "
            "wrong. The other values are imprecise: age ± 2, born ± 5 days and grade ± 1 step.",
        ),
        (
            so.Adversary(knows=2, items="rarest", error=0),
            "Knows the 2 of the 8 attributes whose values the fewest people share. Values are exact.",
        ),
    ],
)
def test_what_an_adversary_knows_is_one_plain_sentence(adversary, sentence):
    assert f"Knows {describe_adversary(adversary, made_table())}." == sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("knows = 3", "name is missing"),
        ('name = "x"\nchoose = "any"', "unknown option 'choose'; the options are name"),
        ('name = "x"\ndata = "table"', "data must be one of any, entries, columns, both"),
        ('name = "x"\nentries = { columns = ["a"] }', "unknown option 'columns'"),
        ('name = "x"\nknows = 2\nwrong = 3', "wrong must be at most knows (2)"),
        ('name = "x"\ncolumns = "all"', "columns must be a list of column names"),
        ('name = "x"\ncolumns = "quasi-identifiers"\nwrong = 1', "wrong must not be given with columns"),
        ('name = "x"\nknows = 2\n[adversary.errors]\nage = -1', "age must be a finite number"),
    ],
)
def test_a_wrong_ladder_is_refused_with_the_adversary_and_the_option(tmp_path, text, message):
    path = tmp_path / "ladder.toml"
    path.write_text(f"[[adversary]]\n{text}\n")
    with pytest.raises(ParameterError, match="adversary 1") as error:
        resolve_ladder(path)
    assert message in str(error.value)


def test_a_ladder_may_name_columns_and_their_errors(tmp_path):
    path = tmp_path / "ladder.toml"
    path.write_text('[[adversary]]\nname = "x"\ncolumns = ["age", "job"]\n[adversary.errors]\nage = 5\n')
    fitted = fit_ladder(resolve_ladder(path), made_table(), ["age"])
    assert fitted.rungs[0].adversary.error_of(made_table().column("age")) == 5
    with pytest.raises(so.StandoutError, match="no column 'height'"):
        fit_ladder(resolve_ladder({"x": so.Adversary(columns=("height",))}), made_table(), ["age"])


def test_a_curve_knows_the_first_attributes_that_were_learned():
    table = made_table(30)
    names = {"born": "age", "income": "job"}
    columns = [so.Column(c.name, c.kind, c.levels, c.codes, c.starts, c.similarity, c.error, c.hierarchy,
                         attribute=names.get(c.name, c.name)) for c in table.columns]  # fmt: skip
    table = so.Release.of_columns(tuple(columns))
    adversary = so.Adversary(knows=4)
    rows = np.flatnonzero(adversary.eligible(table, np.arange(30)))
    facts = adversary.observe_all(table, rows, 3)
    attribute_of = [column.attribute for column in table.columns]
    for most in (1, 2, 4):
        few = facts.cells.first_attributes(table, most)
        for q in range(len(rows)):
            every, kept = (
                list(zip(f.column[f.first[q] : f.first[q + 1]], f.code[f.first[q] : f.first[q + 1]], strict=True))
                for f in (facts.cells, few)
            )
            assert kept == naive.first_attributes(every, attribute_of, most)


def test_an_adversary_that_equals_another_keeps_its_say_about_the_threshold():
    table, adversary = made_table(60), so.Adversary(knows=3)
    rungs = [Rung("w", "W", adversary, gate=False), Rung("g", "G", adversary, gate=True)]
    fitted = fit_ladder(resolve_ladder(rungs), table, ())
    assert [(rung.name, rung.gate) for rung in fitted.rungs] == [("w", True)]
