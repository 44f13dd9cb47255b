"""The page's numbers are those of `standout lineup --json`, and ids stay hidden until they are asked for."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from explorer_client import explorer

import standout as so
from standout.cli.command_group import cli

pytestmark = pytest.mark.once
CASES = [
    [{"item": "17", "value": 4}],
    [{"item": "17", "value": 4, "time": "2004-03-01"}, {"item": "3"}],
    [{"item": "17", "time": "2004-03-01"}, {"item": "9", "value": 2.5}, {"item": "nothing", "value": 1}],
    [
        {"item": "17", "value": 4, "value_error": 1, "time": "2004-03-01", "time_error": 14},
        {"item": "9", "value": 2, "value_error": 0, "doubtful": True},
        {"item": "3", "value_error": 2, "time_error": 3},
        {"item": "5", "time": "2004-03-01", "time_error": 0.5, "doubtful": True},
    ],
    [{"item": "17", "value": 4, "value_error": 1e-12}, {"item": "9", "doubtful": True}],
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory, release):
    """The explorer of a file with a name that a shell would split."""
    path = tmp_path_factory.mktemp("a folder") / "rat'ings; 2.csv"
    release.to_frame().write_csv(path)
    with explorer(so.read(path), str(path), ["--record", "record", "--item", "item"]) as page:
        yield page


def run(command):
    words = shlex.split(command)
    assert words[0] == "standout"
    result = CliRunner().invoke(cli, words[1:])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def save_facts(page, facts):
    """Save the facts where a command looks for them if they cannot be typed."""
    response = page.post("/api/export", {"facts": facts, "format": "facts.csv"})
    Path("facts.csv").write_bytes(response.content)


def assert_same_numbers(answer, printed):
    lineup = [(each["id"], each["score"], each["probability"]) for each in answer["lineup"]]
    assert lineup == [(each["record"], each["score"], each["probability"]) for each in printed["lineup"]]
    nobody = printed["nobody"]
    assert answer["nobody"] == nobody
    assert answer["everybody_else"] == max(printed["outside"] - (nobody or 0), 0)
    assert answer["bits"] == {"before": printed["bits"]["prior"], "left": printed["bits"]["left"]}
    for name in ("candidates", "eccentricity", "ties", "assumes"):
        assert answer[name] == printed[name]
    assert answer["claim"] == (printed["match"] is not None)
    parts = answer["why"]["chosen"]["facts"]
    assert [part["score"] for part in parts] == [part["part"] for part in printed["explain"]]


@pytest.mark.parametrize("facts", CASES)
@pytest.mark.parametrize("limits", [{}, {"length": [5, 60], "joined": ["1999-01-01", "2004-12-31"]}, {"in_data": True}])
def test_the_numbers_are_those_of_the_command(opened, facts, limits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_facts(opened, facts)
    answer = opened.lineup(facts, show_ids=True, top=5, **limits)
    assert answer["command"] == answer["answers"]["likelihood"]["command"]
    for attack in ("likelihood", "paper"):
        printed = run(answer["answers"][attack]["command"])
        assert printed["attack"] == attack
        assert_same_numbers(answer["answers"][attack], printed)


def test_without_facts_everybody_is_equally_likely(page, release):
    answer = page.lineup([])
    for name, nobody in (("likelihood", 0.5), ("paper", None)):
        attack = answer["answers"][name]
        assert attack["lineup"] == [] and attack["candidates"] == release.n_records
        assert attack["bits"]["left"] == attack["bits"]["before"]
        assert attack["nobody"] == (nobody and pytest.approx(nobody))
        assert attack["sentence"] == "Nothing is known yet: all 300 records are equally likely."
    assert answer["command"] is None and answer["what_if"] is None


def test_somebody_who_is_in_the_data_is_never_somebody_else(page):
    facts = [{"item": "17", "value": 4}, {"item": "3"}]
    certain = page.lineup(facts, in_data=True)["answers"]["likelihood"]
    perhaps = page.lineup(facts)["answers"]["likelihood"]
    assert certain["nobody"] == 0 < perhaps["nobody"]
    for sure, unsure in zip(certain["lineup"], perhaps["lineup"], strict=True):
        assert sure["probability"] * (1 - perhaps["nobody"]) == pytest.approx(unsure["probability"])


def test_ids_are_hidden_until_they_are_asked_for(release):
    renamed = release.to_frame().with_columns(record=pl.format("person-{}", "record"))
    with explorer(so.read(renamed)) as page:
        facts = [{"item": "17", "value": 4}, {"item": "3"}]
        hidden = page.post("/api/lineup", {"facts": facts}).text
        assert "person-" not in hidden and "candidate 1" in hidden
        shown = page.lineup(facts, show_ids=True)["answers"]["likelihood"]["lineup"]
        assert all(each["id"].startswith("person-") for each in shown)


def test_a_chosen_candidate_is_explained_beside_the_best_of_the_others(page):
    facts = [{"item": "17", "value": 4}, {"item": "3"}]
    for chosen, other in ((0, 1), (3, 0)):
        answer = page.lineup(facts, chosen=chosen)["answers"]["likelihood"]
        why, lineup = answer["why"], answer["lineup"]
        assert why["chosen"]["score"] == lineup[chosen]["score"]
        assert why["runner_up"]["score"] == lineup[other]["score"]
        for parts in why.values():
            for part in parts["facts"]:
                pieces = [part["by_item"], part["by_value"], part["by_time"]]
                assert sum(pieces) == pytest.approx(part["score"])
            assert sum(part["score"] for part in parts["facts"]) == pytest.approx(parts["score"])
    assert page.lineup(facts, chosen=99)["answers"]["likelihood"]["why"]["chosen"] is None


def test_titles_and_unknown_items_are_stated(page):
    facts = page.lineup([{"item": "17"}, {"item": "nothing"}])["facts"]
    assert facts[0]["records"] > 0 and facts[1]["records"] == 0 and facts[1]["title"] is None


HOSTILE = [
    "<script>alert(1)</script>",
    "\u202egnirts",
    "{{ 7 * 7 }}",
    "a=b@c",
    "x\ny",
    "--json",
    "'; rm -rf ~; '",
    "$(id)`id`",
    "=1+1",
    " blank ",
    "é±?",
    "50",
    "50=4",
]


def test_hostile_names_are_text_and_the_command_still_finds_them(tmp_path, monkeypatch):
    frame = pl.DataFrame(
        {
            "record": [str(i % 7) for i in range(60)],
            "item": [HOSTILE[i % len(HOSTILE)] for i in range(60)],
            "value": [i % 5 for i in range(60)],
        }
    ).unique(["record", "item"], maintain_order=True)
    frame.write_csv(tmp_path / "hostile.csv")
    monkeypatch.chdir(tmp_path)
    with explorer(so.read("hostile.csv"), "hostile.csv") as page:
        for item in HOSTILE:
            fact = {"item": item, "value": 4}
            answer = page.lineup([fact], show_ids=True, top=3)
            assert answer["facts"][0]["item"] == item
            save_facts(page, [fact])
            printed = run(answer["command"])
            assert [each["item"] for each in printed["facts"]] == [item]
            assert_same_numbers(answer["answers"]["likelihood"], printed)


def test_items_are_suggested_by_id_and_named_by_id(page, release):
    found = page.get("/api/items?q=17&count=3").json()["items"]
    assert found[0] == {"item": "17", "title": None, "records": int(release.support[16])}
    assert len(found) <= 3
    assert page.get("/api/items?q=").json() == {"items": []}
    named = page.get("/api/items/by-id?item=17&item=nothing").json()["items"]
    assert named == [found[0], {"item": "nothing", "title": None, "records": 0}]


@pytest.mark.parametrize("top", [3, 100])
@pytest.mark.parametrize("attack", ["likelihood", "paper"])
def test_the_sentence_counts_the_fewest_candidates_with_most_of_the_probability(page, top, attack):
    dealt = page.post("/api/play", {"adversary": "acquaintance", "seed": 3, "facts": 8}).json()["dealt"]
    facts = [{name: fact[name] for name in ("item", "value", "time")} for fact in dealt]
    for n in range(1, 9):
        answer = page.lineup(facts[:n], attacks=[attack], top=top)["answers"][attack]
        shares = [each["probability"] / (1 - (answer["nobody"] or 0)) for each in answer["lineup"]]
        counts = [count for count in range(1, len(shares) + 1) if sum(shares[:count]) >= 0.95]
        expected = f"{counts[0]} candidate" if counts else f"more than {len(shares)} candidates"
        what = "This fact leaves" if n == 1 else f"These {n} facts leave"
        assert answer["sentence"].startswith(f"{what} {expected}")
        assert ("; its probability is " in answer["sentence"]) == (counts[:1] == [1])


def test_the_sentence_also_says_how_likely_the_first_is_if_the_person_is_in_the_data(page):
    dealt = page.post("/api/play", {"adversary": "acquaintance", "seed": 3, "facts": 8}).json()["dealt"]
    facts = [{"item": fact["item"]} for fact in dealt[:4]]
    answer = page.lineup([*facts, {"item": "nothing"}])["answers"]["likelihood"]
    first = answer["lineup"][0]["probability"]
    given = first / (1 - answer["nobody"])
    assert f"{100 * first:.0f}" != f"{100 * given:.0f}"
    assert f"{100 * first:.0f}\xa0%, or {100 * given:.0f}\xa0% if the person is in the data." in answer["sentence"]
    certain = page.lineup([*facts, {"item": "nothing"}], in_data=True)["answers"]["likelihood"]
    assert " or " not in certain["sentence"]


@pytest.mark.parametrize("error", [0, 1])
def test_an_error_of_a_category_counts_neither_on_the_page_nor_in_the_command_and_the_files(error, tmp_path):
    rows = [(f"p{p}", f"i{(p + i) % 7}", "ab"[(p * i) % 2]) for p in range(20) for i in range(3)]
    path = tmp_path / "categories.csv"
    pl.DataFrame(rows, schema=["record", "item", "value"], orient="row").write_csv(path)
    release = so.read(path)
    fact = {"item": "i1", "value": "a"}
    with explorer(release) as page:
        plain, wrong = page.lineup([fact]), page.lineup([{**fact, "value_error": error}])
        files = [
            page.post("/api/export", {"facts": [facts], "format": "facts.csv"}).content
            for facts in (fact, {**fact, "value_error": error})
        ]
    assert wrong["answers"] == plain["answers"]  # with the commands
    assert files[0] == files[1]
