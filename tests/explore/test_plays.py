"""A play follows from the release, the adversary and the seed alone, and never names its target."""

import math

import polars as pl
import pytest
from explorer_client import explorer

import standout as so

pytestmark = pytest.mark.once
PLAY = {"adversary": "acquaintance", "seed": 7}


@pytest.fixture(scope="module")
def named(release):
    """The release with ids that can be recognised in any text."""
    return so.read(release.to_frame().with_columns(record=pl.format("person-{}", "record")))


@pytest.fixture(scope="module")
def opened(named):
    with explorer(named) as page:
        yield page


def deal(page, facts, **play):
    response = page.post("/api/play", {**PLAY, **play, "facts": facts})
    assert response.status_code == 200 and "person-" not in response.text
    return response.json()


def reveal(page, facts, **settings):
    response = page.post("/api/reveal", {**PLAY, "facts": facts, **settings})
    assert response.status_code == 200, response.text
    return response.json()


def test_facts_are_dealt_one_at_a_time_in_the_same_order(opened):
    deals = [deal(opened, n) for n in range(10)]
    assert [len(each["dealt"]) for each in deals] == [*range(9), 8]
    assert all(each["dealt"] == deals[8]["dealt"][: len(each["dealt"])] for each in deals)
    assert [each["done"] for each in deals] == [False] * 8 + [True] * 2
    assert {each["of"] for each in deals} == {8}


def test_another_server_deals_the_same_facts_and_another_seed_other_ones(opened, named):
    with explorer(named) as again:
        assert deal(again, 8) == deal(opened, 8)
    assert len({str(deal(opened, 8, seed=seed)["dealt"]) for seed in range(5)}) == 5


def test_dealt_facts_are_those_that_the_adversary_observes(opened, named):
    target = reveal(opened, 8, show_ids=True)["id"]
    adversary = {rung.name: rung.adversary for rung in so.ladder(named)}["acquaintance"]
    aux = adversary.observe(named, target, seed=7)
    dealt = deal(opened, 8)["dealt"]
    assert [fact["item"] for fact in dealt] == [fact.item for fact in aux]
    assert [fact["value"] for fact in dealt] == [fact.value for fact in aux]
    assert [fact["time"] for fact in dealt] == [fact.time.isoformat() for fact in aux]
    assert {fact["value_error"] for fact in dealt} == {adversary.value_error}
    assert {fact["time_error"] for fact in dealt} == {adversary.time_error}


@pytest.mark.parametrize("adversary", ["colleague", "profile", "undated", "worst"])
def test_every_adversary_can_be_played(opened, adversary):
    dealt = deal(opened, 40, adversary=adversary)
    assert dealt["done"] and len(dealt["dealt"]) == dealt["of"] > 0
    dates = [fact["time"] for fact in dealt["dealt"]]
    assert all(date is None for date in dates) == (adversary == "undated")


@pytest.mark.parametrize("attack", ["likelihood", "paper"])
def test_the_reveal_compares_the_lineup_of_the_same_facts_with_the_target(opened, named, attack):
    facts = [
        {name: fact[name] for name in fact if name not in ("title", "records")} for fact in deal(opened, 8)["dealt"]
    ]
    answer = reveal(opened, 8, attack=attack, show_ids=True)
    lineup = opened.lineup(facts, attacks=[attack], show_ids=True, top=100, in_data=True)["answers"][attack]
    ids = [candidate["id"] for candidate in lineup["lineup"]]
    if answer["id"] in ids:
        found = lineup["lineup"][ids.index(answer["id"])]
        assert answer["probability"] == pytest.approx(found["probability"])
    assert answer["right"] == (ids[0] == answer["id"] and lineup["ties"] == 1)
    assert len(answer["bits"]) == 9 and answer["bits"][0] == pytest.approx(math.log2(named.n_records))


def test_entries_and_id_are_revealed_only_when_they_are_asked_for(opened, named):
    closed = opened.post("/api/reveal", {**PLAY, "facts": 3}).text
    assert "person-" not in closed and '"entries": null' in closed
    answer = reveal(opened, 3, show_ids=True, entries=True)
    record = named.record(answer["id"])
    assert [entry["item"] for entry in answer["entries"]] == [entry.item for entry in record.entries]
    dealt = {fact["item"] for fact in deal(opened, 3)["dealt"]}
    assert [entry["item"] in dealt for entry in answer["entries"]] == [e["named"] for e in answer["entries"]]
    assert answer["learned"] == sum(entry.item not in dealt for entry in record.entries)


def test_a_reveal_without_facts_is_a_guess(opened, named):
    answer = reveal(opened, 0)
    assert not answer["right"] and answer["ties"] == named.n_records and len(answer["bits"]) == 1


def test_an_unknown_adversary_is_refused_with_the_names_of_all(opened):
    response = opened.post("/api/play", {**PLAY, "adversary": "<b>", "facts": 1})
    assert response.status_code == 404 and "acquaintance" in response.json()["error"]
    for seed in (-1, 2**53, 1.5, "7"):
        assert opened.post("/api/play", {**PLAY, "seed": seed, "facts": 1}).status_code == 400


def test_further_entries_of_a_named_item_are_learned():
    frame = pl.DataFrame(
        {
            "record": [str(i) for i in range(40) for _ in range(12)],
            "item": [str((i * j) % 5) for i in range(40) for j in range(12)],
            "time": [f"2004-01-{1 + (i + j) % 28:02}" for i in range(40) for j in range(12)],
        }
    )
    with explorer(so.read(frame, repeats="keep")) as page:
        answer = reveal(page, 8, entries=True)
    assert answer["learned"] == 12 - 8 == sum(not entry["named"] for entry in answer["entries"])
