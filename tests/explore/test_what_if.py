"""The same facts against another version of the data: a sanitized one, or any other."""

import pytest
from explorer_client import explorer

import standout as so

pytestmark = pytest.mark.once
FACTS = [{"item": "17", "value": 4, "time": "2004-03-17"}, {"item": "3", "value": 2}]


def test_without_another_version_there_is_no_what_if(page):
    assert page.lineup(FACTS, what_if=True)["what_if"] is None
    assert page.get("/api/release").json()["what_if"] is None


def test_facts_about_the_original_are_translated_for_its_sanitized_version(release):
    safer = so.sanitize(release, "round-time year", "round-value bins 2", seed=1)
    with explorer(release, what_if=safer, what_if_name="safer.csv") as page:
        stated = page.get("/api/release").json()["what_if"]
        assert stated == {"name": "safer.csv", "steps": ["round-time year", "round-value bins 2"], "records": 300}
        answer = page.lineup(FACTS, what_if=True, show_ids=True, top=5)
        assert page.lineup(FACTS, what_if=False)["what_if"] is None
    for name in ("likelihood", "paper"):
        before, after = answer["answers"][name], answer["what_if"][name]
        assert after["candidates"] == before["candidates"] and after["command"] is None
        assert after["bits"]["left"] >= before["bits"]["left"]


def test_translated_facts_give_the_numbers_of_a_simulation_on_the_sanitized_release(release):
    safer = so.sanitize(release, "round-time month", "drop-rare-items 5", seed=1)
    adversary = so.Adversary(knows=6, value_error=0, time_error=0)
    known = adversary.observe_all(release, [41], seed=3)
    attack = so.Likelihood(adversary)
    expected = attack.attacks(safer, safer.translate_facts(known, [41]))[0]
    answer = so.lineup(safer, known.aux(release, 0), attack)
    assert answer.verdict.best == expected.best
    assert answer.lineup.candidates == expected.lineup(10).candidates


def test_a_second_release_without_steps_is_compared_as_it_is(release):
    other = so.synthesize(records=50, items=120, entries=1_000, seed=8)
    with explorer(release, what_if=other, what_if_name="other.index") as page:
        answer = page.lineup(FACTS, what_if=True)["what_if"]["likelihood"]
        assert page.get("/api/release").json()["what_if"]["steps"] is None  # the page warns
    assert answer["candidates"] == 50


def test_an_item_that_a_step_removed_is_unknown_there_and_the_other_facts_still_count(release):
    rare, popular = (release.items[int(code)] for code in release.support.argsort()[[0, -1]])
    safer = so.sanitize(release, so.steps.DropRareItems(int(release.support.min()) + 1))
    with explorer(release, what_if=safer, what_if_name="safer.csv") as page:
        both = page.lineup([{"item": rare, "value": 4}, {"item": popular, "value": 4}], what_if=True)
        alone = page.lineup([{"item": rare, "value": 4}], what_if=True)
    for attack in ("likelihood", "paper"):
        has = [part["has"] for part in both["what_if"][attack]["why"]["chosen"]["facts"]]
        assert has == [False, True]
        assert not alone["what_if"][attack]["claim"]
