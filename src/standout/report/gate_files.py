"""The result of a gate in the formats that other programs read: JUnit XML, SARIF 2.1.0 and Markdown.

The files have one entry per condition, with rates, intervals and the limit. They contain neither the id of a
person nor a cell of the data.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from standout._version import __version__
from standout.core.text import LONG, estimate_text, interval_text, percent, printable, shorten
from standout.findings.audit import Gate, GateCondition, Rule

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
NO_MEASURE: tuple[Rule, ...] = ("self-check-failed", "not-decided")
"""Rules that say nothing about the data: without a result there is an error, not a failure."""
RULES: dict[Rule, tuple[str, str, str]] = {
    "share-above-limit": (
        "ShareAboveLimit",
        "More people may be identified than the limit allows.",
        "An adversary who knows a few facts about a person identifies more people than --fail-above allows, "
        "or the 95 % interval of the share reaches above it. Run `standout advise` to find the smallest "
        "change that meets the limit. If the interval contains the limit, more --targets make it narrower.",
    ),
    "no-sufficient-change": (
        "NoSufficientChange",
        "No candidate change of the data meets the limit.",
        "No change that was tried brings the share of identified people surely below the limit. Try other "
        "steps with --try, use more --targets, or do not publish the data in this form.",
    ),
    "self-check-failed": (
        "SelfCheckFailed",
        "The audit failed its own checks: its numbers must not be used.",
        "The audit checks itself with planted records, absent people and a second implementation. If a check "
        "fails, the numbers may be wrong. The report shows which one. Please report it as a bug.",
    ),
    "not-decided": (
        "NotDecided",
        "The command did not finish, so that nothing is known about the limit.",
        "An error or an interruption ended the command. Its output says which one. Run it again: an "
        "interrupted audit resumes.",
    ),
}
"""For each rule: a name, a sentence, and what to do."""


def junit_text(gate: Gate, location: str) -> str:
    """The gate as JUnit XML: one test case per condition.

    Parameters
    ----------
    gate
        The conditions.
    location
        Where the data is: a path relative to the working folder, a name, or a URL.

    Returns
    -------
    str
        An XML document.
    """
    broken = [condition for condition in gate.failed if condition.rule in NO_MEASURE]
    counts = {
        "tests": str(len(gate.conditions)),
        "failures": str(len(gate.failed) - len(broken)),
        "errors": str(len(broken)),
        "skipped": "0",
        "time": "0",
    }
    suites = ElementTree.Element("testsuites", {"name": gate.command, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _text(f"{gate.command} {location}"), **counts})
    if gate.finished_at:
        suite.set("timestamp", gate.finished_at.removesuffix("+00:00"))
    for condition in gate.conditions:
        _add_test_case(suite, gate, condition, location)
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _add_test_case(suite: ElementTree.Element, gate: Gate, condition: GateCondition, location: str) -> None:
    attributes = {
        "classname": gate.command.replace(" ", "."),
        "name": _text(condition.title),
        "file": _text(location),
        "time": "0",
    }
    case = ElementTree.SubElement(suite, "testcase", attributes)
    message = _text(condition.message)
    if condition.passed:
        ElementTree.SubElement(case, "system-out").text = message
        return
    kind = "error" if condition.rule in NO_MEASURE else "failure"
    problem = ElementTree.SubElement(case, kind, {"message": message, "type": condition.rule})
    problem.text = f"{message}\n{RULES[condition.rule][2]}"


def sarif_text(gate: Gate, location: str) -> str:
    """The gate as SARIF 2.1.0: one result per condition that is not met, with level error.

    Parameters
    ----------
    gate
        The conditions.
    location
        Where the data is: a URI, relative to the working folder if the data is in it.

    Returns
    -------
    str
        A JSON document.
    """
    names = list(RULES)
    results = [
        {
            "ruleId": condition.rule,
            "ruleIndex": names.index(condition.rule),
            "level": "error",
            "message": {"text": _text(condition.message)},
            "locations": [_sarif_location(location)],
            "partialFingerprints": {"primaryLocationLineHash": _fingerprint(gate, condition, location)},
        }
        for condition in gate.failed
    ]
    run = {
        "tool": {"driver": {"name": "Standout", "version": __version__, "rules": list(_sarif_rules())}},
        "automationDetails": {"id": f"{gate.command.replace(' ', '-')}/{location}/"},
        "invocations": [{"executionSuccessful": all(each.rule != "not-decided" for each in gate.failed)}],
        "results": results,
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_rules() -> Iterator[dict[str, Any]]:
    for rule, (name, sentence, help_text) in RULES.items():
        yield {
            "id": rule,
            "name": name,
            "shortDescription": {"text": sentence},
            "fullDescription": {"text": f"{sentence} {help_text}"},
            "help": {"text": help_text, "markdown": help_text},
            "defaultConfiguration": {"level": "error"},
            "properties": {"tags": ["privacy"], "precision": "high", "problem.severity": "error"},
        }


def _sarif_location(location: str) -> dict[str, Any]:
    """The beginning of the file: a finding is about all of it, and shows none of its lines."""
    region = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    return {"physicalLocation": {"artifactLocation": {"uri": location}, "region": region}}


def _fingerprint(gate: Gate, condition: GateCondition, location: str) -> str:
    """The same for the same condition about the same file, so that a finding is not shown twice."""
    parts = json.dumps([gate.command, condition.rule, condition.about, location])
    return f"{hashlib.sha256(parts.encode()).hexdigest()[:16]}:1"


def markdown_text(gate: Gate, location: str) -> str:
    """The gate as Markdown: the result, a table of the conditions, and the answer in sentences.

    Parameters
    ----------
    gate
        The conditions.
    location
        Where the data is.

    Returns
    -------
    str
        Markdown as CI systems show it.
    """
    result = "passed" if gate.passed else "did not pass"
    limit = "" if gate.limit is None else f" Limit: {percent(gate.limit)} of people."
    lines = [
        f"## {gate.command}: {_escaped(location)} {result}",
        "",
        f"{len(gate.conditions) - len(gate.failed)} of {len(gate.conditions)} conditions are met.{limit}",
        "",
        "| Condition | Share (95 % interval) | Result |",
        "|---|---|---|",
    ]
    lines += [_markdown_row(condition) for condition in gate.conditions]
    paragraphs = ["\n".join(lines), *map(_escaped, gate.sentences)]
    if gate.failed:
        paragraphs.insert(1, "\n".join(f"- {_escaped(condition.message)}" for condition in gate.failed))
    return "\n\n".join(paragraphs) + "\n"


def _markdown_row(condition: GateCondition) -> str:
    rate, outcome = condition.rate, "met" if condition.passed else "**not met**"
    share = "" if rate is None else f"{estimate_text(rate)} ({interval_text(rate)})"
    return f"| {_escaped(condition.title)} | {_escaped(share)} | {outcome} |"


def _text(text: str) -> str:
    return shorten(" ".join(printable(text).split()), LONG)


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no link, no element."""
    return re.sub(r"([\\`*_\[\]#|~$<>&]|(?<=:)/)", r"\\\1", _text(text))
