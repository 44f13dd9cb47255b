"""Names instead of ids: one name per record, whatever the attack; and the items that the page begins with."""

from explorer_client import explorer

import standout as so

FACTS = [{"item": "3", "value": 4}, {"item": "5"}]


def names_by_id(answer):
    return {row["id"]: row["name"] for row in answer["lineup"]}


def test_a_record_has_one_name_in_the_lineups_of_all_attacks(page):
    response = page.lineup(FACTS, attacks=["likelihood", "paper"], show_ids=True)
    first, second = (names_by_id(response["answers"][attack]) for attack in ("likelihood", "paper"))
    assert list(first.values()) == [f"candidate {rank}" for rank in range(1, 21)]
    assert first.keys() & second.keys() and first.keys() != second.keys()
    together = first | second
    assert len(set(together.values())) == len(together)
    assert all(second[record] == first[record] for record in first.keys() & second.keys())
    paper = response["answers"]["paper"]
    assert paper["why"]["chosen"]["name"] == paper["lineup"][0]["name"]


def test_candidates_of_the_other_version_have_numbers_of_their_own(release):
    safer = so.sanitize(release, so.steps.RoundTime("month"))
    with explorer(release, what_if=safer, what_if_name="safer") as opened:
        response = opened.lineup(FACTS, what_if=True)
    assert response["what_if"]["likelihood"]["lineup"][0]["name"] == "candidate 1"


def test_examples_go_from_popular_to_rare(page, release):
    examples = page.get("/api/release").json()["examples"]
    supports = [example["records"] for example in examples]
    assert 1 <= len(examples) <= 3 and supports == sorted(supports, reverse=True)
    assert supports[0] == release.support.max()
