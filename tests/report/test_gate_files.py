"""Other programs read the result of a gate: JUnit XML for CI systems, SARIF for code scanning, Markdown."""

import json
from xml.etree import ElementTree

import pytest

from report.sample_findings import HOSTILE
from standout.evaluate.estimates import rate
from standout.findings.audit import Gate, GateCondition, undecided_gate
from standout.report.exports import RULES, junit_text, markdown_text, sarif_text

pytestmark = pytest.mark.once

LOCATION = "data/ratings.csv"


def condition(rule="share-above-limit", about="colleague", passed=False, message="It is above 5 %.", share=None):
    title = f"The adversary “{about}” identifies at most 5 % of people"
    return GateCondition(rule=rule, about=about, title=title, passed=passed, message=message, rate=share)


def gate(*conditions):
    return Gate(
        command="standout audit",
        limit=0.05,
        conditions=conditions,
        sentences=("An acquaintance identifies 84 % of people.",),
        finished_at="2007-11-14T00:26:40+00:00",
    )


PASSED = condition(passed=True, message="It is within 5 %.", share=rate(1, 1000))
FAILED = condition(about="friend", share=rate(400, 1000))
BROKEN = condition("self-check-failed", "self-check", message="Do not trust the numbers.")
GATES = {
    "passed": gate(PASSED),
    "failed": gate(PASSED, FAILED),
    "broken": gate(PASSED, FAILED, BROKEN),
    "undecided": undecided_gate("standout audit", 0.05),
}


@pytest.mark.parametrize("name", GATES)
def test_junit_has_one_test_case_per_condition_and_counts_them(name):
    # Jenkins, GitLab and Azure Pipelines read: the three counts, classname, name, file, failure or error.
    suites = ElementTree.fromstring(junit_text(GATES[name], LOCATION))
    (suite,) = suites
    cases = suite.findall("testcase")
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    assert [case.get("name") for case in cases] == [each.title for each in GATES[name].conditions]
    problems = [[part for part in case if part.tag in ("failure", "error")] for case in cases]
    assert [not each for each in problems] == [each.passed for each in GATES[name].conditions]
    for element in (suites, suite):
        assert int(element.get("tests")) == len(cases)
        assert int(element.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(element.get("errors")) == len(suite.findall("testcase/error"))
    for case, problem in zip(cases, problems, strict=True):
        assert case.get("classname") == "standout.audit" and case.get("file") == LOCATION
        assert float(case.get("time")) == 0
        assert all(each.get("message") and each.get("type") in RULES and each.text for each in problem)


def test_a_number_above_the_limit_is_a_failure_and_no_number_an_error():
    suite = ElementTree.fromstring(junit_text(GATES["broken"], LOCATION))[0]
    assert [case[0].tag for case in suite.findall("testcase")] == ["system-out", "failure", "error"]
    assert suite.get("timestamp") == "2007-11-14T00:26:40"
    undecided = ElementTree.fromstring(junit_text(GATES["undecided"], LOCATION))[0]
    assert undecided.find("testcase/error").get("type") == "not-decided"


def check_sarif(log):
    """What the schema of SARIF 2.1.0 requires, and what code scanning needs to show a result."""
    assert log["version"] == "2.1.0" and log["$schema"].endswith("/sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] and driver["version"]
    for rule in driver["rules"]:
        assert rule["id"] and rule["shortDescription"]["text"] and rule["fullDescription"]["text"]
        assert rule["help"]["text"] and rule["defaultConfiguration"]["level"] == "error"
    assert all(isinstance(each["executionSuccessful"], bool) for each in run["invocations"])
    for result in run["results"]:
        assert result["level"] == "error" and result["message"]["text"]
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"].isascii() and " " not in place["artifactLocation"]["uri"]
        assert place["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
        assert result["partialFingerprints"]["primaryLocationLineHash"]
    return run["results"]


@pytest.mark.parametrize("name", GATES)
def test_sarif_has_one_result_per_condition_that_is_not_met(name):
    results = check_sarif(json.loads(sarif_text(GATES[name], LOCATION)))
    expected = [(each.rule, each.message) for each in GATES[name].failed]
    assert [(each["ruleId"], each["message"]["text"]) for each in results] == expected


def test_a_result_keeps_its_fingerprint_when_the_numbers_change():
    def fingerprints(*conditions):
        results = check_sarif(json.loads(sarif_text(gate(*conditions), LOCATION)))
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in results]

    now = condition(message="It is above 5 % by far.", share=rate(999, 1000))
    assert fingerprints(condition()) == fingerprints(PASSED, now) != fingerprints(FAILED)


@pytest.mark.parametrize("name", GATES)
def test_markdown_shows_every_condition_and_the_result(name):
    text = markdown_text(GATES[name], LOCATION)
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert [row.endswith("| met |") for row in rows] == [each.passed for each in GATES[name].conditions]
    assert text.startswith("## standout audit: data/ratings.csv ")
    assert ("did not pass" in text) == (not GATES[name].passed)
    if name != "undecided":
        assert "| 0.1 % (\\< 0.1 to 0.6 %) |" in text and "An acquaintance identifies 84 % of people." in text


def test_the_summary_of_a_failed_condition_has_share_interval_and_limit():
    assert "| 40 % (37 to 43 %) | **not met** |" in markdown_text(GATES["failed"], LOCATION)
    assert "Limit: 5 % of people." in markdown_text(GATES["failed"], LOCATION).replace("\xa0", " ")


def test_foreign_text_stays_text_in_all_files():
    for text in [*HOSTILE, "| a | b |\n# [x](https://example.org) <b>"]:
        odd = gate(condition(about=text, message=text, share=rate(1, 9)))
        case = ElementTree.fromstring(junit_text(odd, text))[0][0]
        assert "\n" not in case.get("name") and "\x1b" not in case.get("name") + case[0].get("message")
        assert "\\u001b" not in sarif_text(odd, "x.csv")
        summary = markdown_text(odd, "x.csv")
        assert "<" not in summary.replace("\\<", "") and "https://" not in summary
        (row,) = [line for line in summary.splitlines() if line.endswith("| **not met** |")]
        assert "\x1b" not in summary and row.replace("\\|", "").count("|") == 4
