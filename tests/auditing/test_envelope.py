"""The envelope: the strongest adversary at each number of known facts."""

import math

import pytest

from auditing.audit_samples import CASES, FACTS, audited_case, people, small_audit, valid

pytestmark = pytest.mark.once


def slow_envelope(adversaries):
    """Facts → (highest rate, names of those who reach it)."""
    rates = {}
    for adversary in adversaries:
        for point in [adversary["as_named"], *adversary["curve"]]:
            rates.setdefault(point["facts"], []).append((point["identified"]["value"], adversary["name"]))
    tops = {facts: max(rate for rate, _ in each) for facts, each in rates.items()}
    return {facts: (top, [name for rate, name in rates[facts] if rate == top]) for facts, top in tops.items()}


def test_the_envelope_is_the_highest_rate_at_each_number_of_facts(audited):
    findings = valid(audited)
    for key, among in (("", lambda adversary: True), ("gate_", lambda adversary: adversary["gate"])):
        wanted = slow_envelope([each for each in findings["adversaries"] if among(each)])
        assert [point["facts"] for point in findings["envelope"]] == sorted({*FACTS, 8})
        for point in findings["envelope"]:
            top, names = wanted[point["facts"]]
            assert point[f"{key}identified"]["value"] == top and point[f"{key}adversary"] == names[0]
            assert point[f"{key}identified"]["low"] <= top <= point[f"{key}identified"]["high"]
    table = audited.tables["envelope"]
    assert table["facts"].to_list() == 2 * sorted({*FACTS, 8})
    assert table.filter(among="all")["adversary"].to_list() == [p["adversary"] for p in findings["envelope"]]


@pytest.mark.parametrize("case", CASES)
def test_curves_cover_the_numbers_of_facts_that_half_of_the_records_allow_and_reach_the_answer(case):
    release, result = audited_case(case)
    enough = [facts for facts in (1, 2, 3, 4, 6) if (release.lengths >= facts).mean() >= 0.5]
    covered = {point.facts for point in result.findings.envelope}
    assert covered >= {*enough}
    assert all(math.isfinite(point.identified.value) for point in result.findings.envelope)
    for adversary in result.findings.adversaries:
        known = [facts for facts in (1, 2, 3, 4, 6) if facts <= adversary.knows]
        expected = sorted({*enough, *known, adversary.knows})
        assert [point.facts for point in adversary.curve] == expected, adversary.name


def test_a_ladder_without_adversaries_that_count_has_an_envelope(put):
    text = "[[adversary]]\nname = 'a'\ngate = false\n"
    findings = valid(small_audit(people(), ladder=put(text, "ladder.toml")))
    assert {point["gate_adversary"] for point in findings["envelope"]} == {None}
    assert {point["adversary"] for point in findings["envelope"]} == {"a"}
