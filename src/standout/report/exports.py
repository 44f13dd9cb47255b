"""Findings for other programs: frames (the CSV files), and the result of a gate as JUnit XML, SARIF and Markdown.

A gate's file has one entry per condition, with rates, intervals and the limit. None of them contains the id of a person
or a cell of the data.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, TypeAlias
from xml.etree import ElementTree

import polars as pl

from standout._version import __version__
from standout.core.text import LONG, estimate_text, interval_text, percent, printable, shorten
from standout.evaluate.estimates import Estimate
from standout.findings.audit import AuditFindings, Gate, Rule, Settings
from standout.findings.json_types import to_json_object
from standout.findings.sections import AttackFindings, CurvePoint, Measures

Row: TypeAlias = tuple[Any, ...]

TYPES: dict[str, type[pl.DataType]] = {
    name: kind
    for kind, names in (
        (pl.Float64, "estimate low high baseline error unique entropy_l same_value t_closeness control"),
        (pl.Int64, "n facts too_few_items people items people_with people_revealed bound levels missing"),
        (pl.Int64, "smallest_size largest_size rows size tried distinct_l"),
        (pl.Boolean, "passed exhaustive"),
    )
    for name in names.split()
}
"""Types of the columns that are not text."""
ESTIMATE = "estimate low high n baseline"
NO_ESTIMATE: Row = (None,) * 5
MEASURES = f"adversary attack facts measure setting {ESTIMATE} too_few_items"
AT_THRESHOLD = ("correct_claims", "wrong_claims", "absent_claims")


def result_frames(findings: AuditFindings) -> dict[str, pl.DataFrame]:
    """The frames by name: of adversaries and checks, and of the sections that the findings have."""
    frames = {
        "adversaries": _frame(MEASURES, _adversaries(findings)),
        "control": _frame(f"adversary attack rate {ESTIMATE}", _controls(findings)),
        "curves": _frame(MEASURES, _curves(findings)),
        "envelope": _frame(f"among facts adversary {ESTIMATE}", _envelope(findings)),
    }
    if findings.data.entries:
        frames |= {
            "grids": _frame(f"adversary varies error label facts attack {ESTIMATE}", _grids(findings)),
            "exposure": _frame(f"adversary by class from to people {ESTIMATE}", _exposure(findings)),
            "sensitive": _frame(
                f"adversary category items people_with people_revealed {ESTIMATE}", _sensitive(findings)
            ),
            "theory": _frame(f"what setting bound {ESTIMATE} statement measured", _theory(findings)),
        }
    if findings.data.columns:
        sizes = findings.classes.sizes if findings.classes else ()
        sets = [(len(s.columns), " + ".join(s.columns), s.unique, s.exhaustive, s.tried) for s in findings.column_sets]
        of_column = attrgetter("name", "kind", "levels", "missing", "similarity", "error", "role")
        frames |= {
            "classes": _frame("smallest_size largest_size rows", map(attrgetter("low", "high", "rows"), sizes)),
            "column_sets": _frame("size columns unique exhaustive tried", sets),
            "disclosure": _frame(
                f"column {ESTIMATE} control distinct_l entropy_l same_value t_closeness", _disclosure(findings)
            ),
            "columns": _frame(
                "column kind levels missing similarity precision role", map(of_column, findings.reading[0].attributes)
            ),
        }
    heads = "name title expected observed passed explanation"
    return frames | {"checks": _frame(heads, map(attrgetter(*heads.split()), findings.trust.checks))}


def _frame(heads: str, rows: Iterable[Row]) -> pl.DataFrame:
    schema = {name: TYPES.get(name, pl.String) for name in heads.split()}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _estimate(estimate: Estimate | None) -> Row:
    """Value, ends of the interval, n and baseline; null for what is not finite."""
    return NO_ESTIMATE if estimate is None else tuple(to_json_object(estimate).values())


def _measures(
    name: str, attack: AttackFindings, measures: Measures | CurvePoint, too_few: int, settings: Settings
) -> Iterator[Row]:
    """Rows of one adversary and attack with one number of facts."""
    claims_by, at_budget = attack.as_named.claims_by, f"absent_claims<={settings.budget:g}"
    setting_of = dict.fromkeys(AT_THRESHOLD, f"{claims_by}={attack.as_named.threshold:g}")
    setting_of |= {f"{measure}_at_budget": at_budget for measure in AT_THRESHOLD}
    setting_of |= {"in_top": f"top={settings.top}", "lineup_size": "mass=90 %"}
    for key in measures.__dataclass_fields__:
        estimate = getattr(measures, key)
        if isinstance(estimate, Estimate):
            row = (name, attack.name, measures.facts, key.removesuffix("_at_budget"), setting_of.get(key, ""))
            yield (*row, *_estimate(estimate), too_few)
    if measures.threshold_at_budget is not None and measures.absent_claims is not None:
        chosen = (measures.threshold_at_budget, None, None, measures.absent_claims.n, None)
        yield (name, attack.name, measures.facts, claims_by, at_budget, *chosen, too_few)


def _adversaries(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            yield from _measures(adversary.name, attack, attack.as_named, adversary.too_few_items, findings.settings)


def _curves(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            for point in attack.curve:
                is_named = point.enough_for == adversary.knows
                too_few = adversary.too_few_items if is_named else adversary.curve_too_few_items
                yield from _measures(adversary.name, attack, point, too_few, findings.settings)


def _controls(findings: AuditFindings) -> Iterator[Row]:
    for each in findings.adversaries:
        for name in ("main", "control", "difference", "residual") if each.control else ():
            yield (each.name, each.attack, name, *_estimate(getattr(each.control, name)))


def _envelope(findings: AuditFindings) -> Iterator[Row]:
    """The strongest of all adversaries, then the strongest of those that count for the threshold."""
    for point in findings.envelope:
        yield ("all", point.facts, point.adversary, *_estimate(point.identified))
    for point in findings.envelope:
        if point.gate_identified is not None:
            yield ("gate", point.facts, point.gate_adversary, *_estimate(point.gate_identified))


def _grids(findings: AuditFindings) -> Iterator[Row]:
    grids = findings.error_grids
    for grid in grids.grids if grids else ():
        for row in grid.rows:
            for cell in row.cells:
                place = (findings.answer.adversary, grid.varies, row.error, row.label, cell.facts, cell.attack)
                yield (*place, *_estimate(cell.identified))


def _exposure(findings: AuditFindings) -> Iterator[Row]:
    exposure = findings.exposure
    if exposure is None:
        return
    for needed in exposure.facts_needed:
        row = (exposure.adversary, "facts", f"at most {needed.facts}", None, str(needed.facts), None)
        yield (*row, *_estimate(needed.share))
    for kind in ("length", "popularity", "first_date"):
        for group in getattr(exposure, f"by_{kind}"):
            ends = str(group.low), str(group.high)
            yield (exposure.adversary, kind, group.label, *ends, group.people, *_estimate(group.identified))


def _sensitive(findings: AuditFindings) -> Iterator[Row]:
    sensitive = findings.exposure.sensitive if findings.exposure else None
    for row in sensitive.rows if sensitive else ():
        counts = (findings.answer.adversary, row.category, row.items, row.people_with, row.people_revealed)
        yield (*counts, *_estimate(row.revealed))


def _theory(findings: AuditFindings) -> Iterator[Row]:
    if findings.theory is None:
        return
    for point in findings.theory.sparsity.curve:
        setting = f"similarity>={point.epsilon:g}, {findings.theory.sparsity.similarity}"
        yield ("nearest neighbour", setting, None, *_estimate(point.share), None, None)
    for bound in findings.theory.bounds:
        yield (bound.theorem, bound.setting, bound.bound, *NO_ESTIMATE, bound.statement, bound.measured)


def _disclosure(findings: AuditFindings) -> Iterator[Row]:
    for each in findings.disclosure:
        found = each.diversity
        classes = (None,) * 4 if found is None else (found.distinct, found.entropy, found.same_value, found.t_closeness)
        guessed = (*_estimate(each.guessed)[:4], each.baseline)
        yield (each.column, *guessed, None if each.control is None else each.control.value, *classes)


# Gates.

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
    """The gate as JUnit XML: one test case per condition."""
    broken = [condition for condition in gate.failed if condition.rule in NO_MEASURE]
    numbers = {"tests": len(gate.conditions), "failures": len(gate.failed) - len(broken), "errors": len(broken)}
    counts = {name: str(number) for name, number in (numbers | {"skipped": 0, "time": 0}).items()}
    suites = ElementTree.Element("testsuites", {"name": gate.command, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _text(f"{gate.command} {location}"), **counts})
    if gate.finished_at:
        suite.set("timestamp", gate.finished_at.removesuffix("+00:00"))
    for condition in gate.conditions:
        name, file = _text(condition.title), _text(location)
        attributes = {"classname": gate.command.replace(" ", "."), "name": name, "file": file, "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        message = _text(condition.message)
        if condition.passed:
            ElementTree.SubElement(case, "system-out").text = message
            continue
        kind = "error" if condition.rule in NO_MEASURE else "failure"
        problem = ElementTree.SubElement(case, kind, {"message": message, "type": condition.rule})
        problem.text = f"{message}\n{RULES[condition.rule][2]}"
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def sarif_text(gate: Gate, location: str) -> str:
    """The gate as SARIF 2.1.0: one result per condition that is not met, with level error."""
    # the beginning of the file: a finding is about all of it, and shows none of its lines
    region = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    place = {"physicalLocation": {"artifactLocation": {"uri": location}, "region": region}}
    names, results = list(RULES), []
    for condition in gate.failed:
        # the same for the same condition about the same file, so that a finding is not shown twice
        parts = json.dumps([gate.command, condition.rule, condition.about, location])
        fingerprint = f"{hashlib.sha256(parts.encode()).hexdigest()[:16]}:1"
        results.append(
            {
                "ruleId": condition.rule,
                "ruleIndex": names.index(condition.rule),
                "level": "error",
                "message": {"text": _text(condition.message)},
                "locations": [place],
                "partialFingerprints": {"primaryLocationLineHash": fingerprint},
            }
        )
    rules = [
        {
            "id": rule,
            "name": name,
            "shortDescription": {"text": sentence},
            "fullDescription": {"text": f"{sentence} {help_text}"},
            "help": {"text": help_text, "markdown": help_text},
            "defaultConfiguration": {"level": "error"},
            "properties": {"tags": ["privacy"], "precision": "high", "problem.severity": "error"},
        }
        for rule, (name, sentence, help_text) in RULES.items()
    ]
    run = {
        "tool": {"driver": {"name": "Standout", "version": __version__, "rules": rules}},
        "automationDetails": {"id": f"{gate.command.replace(' ', '-')}/{location}/"},
        "invocations": [{"executionSuccessful": all(each.rule != "not-decided" for each in gate.failed)}],
        "results": results,
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def markdown_text(gate: Gate, location: str) -> str:
    """The gate as Markdown: the result, a table of the conditions, and the answer in sentences."""
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
    for condition in gate.conditions:
        rate, outcome = condition.rate, "met" if condition.passed else "**not met**"
        share = "" if rate is None else f"{estimate_text(rate)} ({interval_text(rate)})"
        lines.append(f"| {_escaped(condition.title)} | {_escaped(share)} | {outcome} |")
    paragraphs = ["\n".join(lines), *map(_escaped, gate.sentences)]
    if gate.failed:
        paragraphs.insert(1, "\n".join(f"- {_escaped(condition.message)}" for condition in gate.failed))
    return "\n\n".join(paragraphs) + "\n"


def _text(text: str) -> str:
    return shorten(" ".join(printable(text).split()), LONG)


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no link, no element."""
    return re.sub(r"([\\`*_\[\]#|~$<>&]|(?<=:)/)", r"\\\1", _text(text))
