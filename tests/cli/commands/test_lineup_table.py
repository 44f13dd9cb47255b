"""`standout lineup` on a table."""

import json

import pytest

ROWS = "name,age,sex,town\na,34,f,Ulm\nb,35,f,Ulm\nc,61,m,Bonn\nd,62,m,\ne,34,m,Ulm\n"
COMMAND = ("--table", "--record", "name")


@pytest.fixture
def table(put):
    return put(ROWS, "people.csv")


def test_a_lineup_shows_the_rows_that_known_cells_point_to_and_why(run, table):
    outcome = run("lineup", table, *COMMAND, "--knows", "age=34", "--knows", "sex=f", "--top", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[lines.index("Lineup") + 2].split()[:2] == ["1", "a"]
    assert "How much likelier each fact is about record a" in outcome.out


def test_rows_that_fit_equally_well_are_counted(run, table):
    assert "2 records tie for the best score" in run("lineup", table, *COMMAND, "--knows", "sex=f").out


def test_a_lineup_as_json_has_ids_and_parts(run, table):
    outcome = run("lineup", table, *COMMAND, "--knows", "age=34", "--knows", "sex=f", "--json")
    answer = json.loads(outcome.out)
    first = answer["lineup"][0]
    assert (first["record"], answer["candidates"], answer["nobody"]) == ("a", 5, 0)
    assert sum(part["part"] for part in answer["explain"]) == pytest.approx(first["score"])


def test_a_population_leaves_room_for_people_who_are_not_in_the_table(run, table):
    command = ("lineup", table, *COMMAND, "--knows", "age=34", "--population")
    nobody = [json.loads(run(*command, n, "--json").out)["nobody"] for n in (5, 50)]
    assert nobody[0] == 0 < nobody[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--knows is missing"),
        (("--knows", "age"), "must be COLUMN=VALUE"),
        (("--knows", "age=old"), "the value of column 'age' must be a number"),
        (("--knows", "agee=3"), "no column 'agee'"),
        (("--knows", "sex=f", "--knows", "sex=m"), "names a column twice"),
        (("--knows", "sex=x"), "no row has this value in column 'sex'"),
        (("--knows", "sex=f", "--length", "20"), "--length is for histories"),
        (("--knows", "sex=f", "--wrong", "2"), "wrong must be at most"),
        (("--knows", "sex=f", "--population", "3"), "population must be"),
    ],
)
def test_mistakes_are_one_line(run, table, options, message):
    outcome = run("lineup", table, *COMMAND, *options)
    assert outcome.code == 1
    assert message in outcome.err
    assert "Ulm" not in outcome.err


def test_a_history_has_no_population(run, put):
    history = put("record,item\na,x\nb,y\n")
    outcome = run("lineup", history, "--knows", "x", "--population", 9)
    assert (outcome.code, "--population is for tables" in outcome.err) == (1, True)
