"""An audit of a table: its numbers, its self-check, and that it shows nobody's cells."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from tests.attack.made_tables import cells_of, made_table, released_table
from tests.attack.test_mixed import mixed

import standout as so
from naive import table_audit as naive
from standout.attack import column_evidence as evidence
from standout.auditing import data_measures
from standout.auditing.ladder import Rung
from standout.auditing.runs import AuditPlan, run_adversary
from standout.core.errors import ParameterError
from standout.data.labels import Labels
from standout.findings.audit import Settings
from standout.findings.json_types import json_text, to_json
from standout.report.audit_page import audit_page

pytestmark = pytest.mark.large  # whole audits; their kernels have tests of their own
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "findings.schema.json").read_text())
SETTINGS = {"targets": 30, "facts": [1, 3, 5], "seed": 2, "threads": 1}


def marked_table(rows=80):
    """A table whose levels and ids say SECRET, with roles."""
    columns = []
    for column in made_table(rows, seed=4).columns:
        role = {"income": "other", "job": "sensitive"}.get(column.name, "quasi-identifier")
        levels = column.levels
        if isinstance(levels, tuple) and column.kind != "boolean":
            levels = tuple(f"SECRET-{level}" for level in levels)
        columns.append(replace(column, levels=levels, role=role))
    return so.Release.of_columns(tuple(columns), ids=Labels.of(f"SECRET-ID-{row}" for row in range(rows)))


def plan_of(table, targets, budget=0.01):
    settings = Settings(targets=targets, facts=(1,), phi=1.5, posterior=0.95, budget=budget, top=10)
    return AuditPlan(release=table, settings=settings, seed=2, threads=1, work=None)


@pytest.fixture(scope="module")
def audited():
    return so.audit(marked_table(), population=500, fail_above=0.5, name="people.csv", **SETTINGS)


@pytest.fixture(scope="module")
def plain():
    return so.audit(marked_table(), **SETTINGS)


def test_the_audit_of_columns_of_every_kind_passes_its_checks(audited):
    failed = [check for check in audited.findings.trust.checks if not check.passed]
    assert not failed
    assert audited.trusted and audited.complete
    assert {check.name for check in audited.findings.trust.checks} == {
        "planted", "guessing", "outcomes", "absence", "absent", "intervals", "rates", "classes",
    }  # fmt: skip


def test_the_audit_of_a_sanitized_table_is_about_the_people_of_the_original(plain):
    original = marked_table()
    result = so.audit(released_table(original), **SETTINGS)
    findings = result.findings
    assert result.trusted
    assert findings.original.not_in_release == 4
    assert findings.original.dropped == ("born",)
    assert findings.answer.people_total == 80
    measures = findings.headline.as_named
    assert measures.identified_in_release.value >= measures.identified.value
    assert findings.threshold.exceeded is None
    for each, alone, now in zip(
        findings.before_after.adversaries, plain.findings.adversaries, findings.adversaries, strict=True
    ):
        assert (str(each.before), each.attack_before) == (str(alone.as_named.identified), alone.attack)
        assert str(each.after) == str(now.as_named.identified)
        assert str(each.after_in_release) == str(now.as_named.identified_in_release)
    assert plain.findings.before_after is None and "Before and after sanitizing" in audit_page(findings)


def test_findings_follow_the_schema(audited):
    jsonschema.validate(to_json(audited.findings), SCHEMA)


def test_nobody_s_cell_or_id_is_shown(audited, tmp_path):
    audited.to_csv(tmp_path)
    tables = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "SECRET" not in json_text(audited.findings) + audit_page(audited.findings) + tables


def test_neither_threads_nor_repetition_change_a_number(plain):
    again = so.audit(marked_table(), **(SETTINGS | {"threads": 2}))
    assert json_text(plain.findings) == json_text(again.findings)


def test_the_strongest_attack_comes_first_and_the_others_are_reported(audited):
    for adversary in audited.findings.adversaries:
        assert adversary.attack == adversary.attacks[0].name
        assert {attack.name for attack in adversary.attacks} == {"likelihood", "paper", "exact match"}
        assert all(attack.as_named.targets == adversary.as_named.targets for attack in adversary.attacks)


def test_an_adversary_with_a_wrong_attribute_is_never_right_by_exact_matching(audited):
    headline = audited.findings.headline
    assert headline.wrong
    assert headline.by("exact match").identified.value < headline.by("likelihood").identified.value


def test_only_the_headline_adversary_has_a_curve(audited):
    for adversary in audited.findings.adversaries:
        sizes = {tuple(point.facts for point in attack.curve) for attack in adversary.attacks}
        assert sizes == ({(1, 3, 5)} if adversary.name == "acquaintance" else {()})


def test_the_curve_reaches_the_answer_in_a_table_with_few_attributes():
    rng = np.random.default_rng(4)
    columns = [so.Column(name, "category", ("a", "b", "c"), rng.integers(0, 3, 60, np.uint8)) for name in "vwxyz"]
    headline = so.audit(so.Release.of_columns(tuple(columns)), **(SETTINGS | {"facts": [1, 8]})).findings.headline
    assert headline.knows == 5
    assert [point.facts for point in headline.attacks[0].curve] == [1, 5]


def test_the_threshold_is_compared_with_the_upper_end_of_the_worst_adversary_that_counts(audited):
    gates = [each for each in audited.findings.adversaries if each.gate]
    highest = max(each.as_named.identified_in_release.high for each in gates)
    threshold = audited.findings.threshold
    assert threshold.measured.high == highest
    assert threshold.exceeded == (highest > 0.5) == audited.exceeded
    assert "worst" not in [each.name for each in gates]


def test_what_the_right_row_shows_equals_a_count_over_cells():
    table = so.Release.of_columns(tuple(column for column in made_table(50).columns if column.kind != "set"))
    result = so.audit(table, ladder={"x": so.Adversary(knows=3)}, **SETTINGS)
    adversary = so.Adversary(knows=3)
    targets = so.simulate(table, adversary, targets=30, seed=2).cell().targets
    facts = adversary.observe_all(table, targets, 2)
    known = [
        set(facts.cells.column[facts.cells.first[q] : facts.cells.first[q + 1]].tolist()) for q in range(len(facts))
    ]
    columns, bits = naive.learned([cells_of(column) for column in table.columns], facts.cells.target.tolist(), known)
    assert result.findings.learned.columns.value == pytest.approx(columns)
    assert result.findings.learned.bits.value == pytest.approx(bits)


def test_claims_within_the_budget_equal_a_count_over_targets():
    plan = plan_of(made_table(120, seed=8), 60, budget=0.05)
    run = run_adversary(plan, Rung("x", "x", so.Adversary(knows=5)), lambda *_: None)
    for part in run.attacks:
        outcomes = part.cell.outcomes
        present, absent = outcomes.claim_strength[:, 0].tolist(), outcomes.absent_claim_strength[:, 0].tolist()
        if part.name != "paper":
            expected = naive.claims_within_budget(present, outcomes.identified[:, 0].tolist(), absent, 0.05)
            found = part.simulation.estimate("correct_claims", "absent_claims<=0.05")
            assert found.value == pytest.approx(expected)


def test_the_journalist_is_never_surer_than_the_prosecutor(audited):
    for adversary in audited.findings.adversaries:
        measures = adversary.by("likelihood")
        assert measures.population.in_release.value <= measures.correct_claims.value + 1e-12
    assert audited.findings.population.journalist.value <= audited.findings.classes.mean + 1e-12


def test_a_wrong_kernel_is_noticed(monkeypatch):
    right = evidence.ColumnEvidence._covered

    def wrong(self, *arguments):
        window = right(self, *arguments)
        return window._replace(outside=window.outside + 2.0)

    monkeypatch.setattr(evidence.ColumnEvidence, "_covered", wrong)
    result = so.audit(marked_table(), **SETTINGS)
    failed = {check.name for check in result.findings.trust.checks if not check.passed}
    assert "outcomes" in failed
    assert not result.trusted
    assert result.findings.verdict.summary.startswith("Do not trust this result")


def test_wrong_counts_of_classes_are_noticed(monkeypatch):
    right = data_measures.class_findings
    monkeypatch.setattr(data_measures, "class_findings", lambda *args: replace(right(*args), k=right(*args).k + 1))
    failed = [check.name for check in so.audit(marked_table(), **SETTINGS).findings.trust.checks if not check.passed]
    assert failed == ["classes"]


def test_an_interrupted_audit_reports_what_it_has(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("standout.auditing.audit.measure_columns", interrupted)
    result = so.audit(marked_table(), **SETTINGS)
    assert not result.complete
    assert result.findings.classes is None
    assert "The audit was interrupted, so some results are missing." in result.findings.limits
    jsonschema.validate(to_json(result.findings), SCHEMA)


def test_ignored_columns_are_named_as_a_limit(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex,zip\n" + "".join(f"{20 + i % 30},{'fm'[i % 2]},{10000 + i}\n" for i in range(60)))
    table = so.read(path, ignore="zip", record=False)
    findings = so.audit(table, **SETTINGS).findings
    assert [column.name for column in findings.reading[0].unused] == ["zip"]
    assert any("not audited: zip" in limit for limit in findings.limits)


def test_one_attack_may_be_chosen_and_each_person_has_a_risk(tmp_path):
    result = so.audit(marked_table(), attack="exact match", **SETTINGS)
    assert {attack.name for each in result.findings.adversaries for attack in each.attacks} == {"exact match"}
    assert any("one attack only (exact match)" in limit for limit in result.findings.limits)
    risks = result.risk_table(tmp_path / "risks.csv", records=9, draws=2)
    assert risks["record"].str.starts_with("SECRET-ID").all() and risks["length"].max() == 8
    assert risks["probability"].drop_nulls().is_between(0, 1).all()


class EqualCells(so.Attack):
    """Counts the known cells that a row has."""

    def scores(self, release, known):
        scores, query = (
            np.zeros((len(known), release.n_records)),
            np.repeat(range(len(known)), np.diff(known.cells.first)),
        )
        for q, column, code in zip(query, known.cells.column, known.cells.code, strict=True):
            if release.columns[column].starts is None:
                scores[q] += release.columns[column].codes == code
        return scores

    def key(self):
        return "1"


def test_an_attack_of_one_s_own_is_tried_on_columns_and_an_audit_resumes(tmp_path):
    settings = SETTINGS | {"attacks": {"equal": EqualCells()}, "work": tmp_path}
    first, again = so.audit(marked_table(), **settings), so.audit(marked_table(), **settings)
    assert first.trusted and json_text(first.findings) == json_text(again.findings) and any(tmp_path.iterdir())
    only = so.audit(marked_table(), attack="equal", **settings)
    assert only.trusted and only.findings.answer.rate.value > 0.1
    assert {each.attack for each in only.findings.adversaries} == {"equal"}


def test_a_history_of_the_same_people_is_attacked_too():
    table, _ = mixed(2)
    findings = so.audit(table, **SETTINGS).findings
    friend = next(each for each in findings.adversaries if each.name == "friend")
    assert friend.description.endswith("Also knows 4 entries of the person's history.")
    assert friend.gate
    assert friend.as_named.bits_left.value < findings.headline.as_named.bits_left.value
    assert findings.data.entries == table.n_entries
    assert findings.trust.trusted


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fail_above": 2}, "fail_above must be a number from 0 to 1"),
        ({"population": 10}, "population must be at least the number of rows, 80, got 10"),
        ({"targets": 0}, "targets must be"),
        ({"quasi_identifiers": ["height"]}, "no column 'height'"),
        ({"attack": "guess"}, "attack must be one of likelihood, paper, exact match"),
        ({"facts": "3"}, "facts must be a list of whole numbers"),
    ],
)
def test_wrong_parameters_are_refused(settings, message):
    with pytest.raises(so.StandoutError) as error:
        so.audit(marked_table(), **settings)
    assert message in str(error.value)


def test_parameters_of_tables_are_refused_for_histories():
    release = so.synthesize(records=20, items=20, entries=100, seed=7)
    with pytest.raises(ParameterError, match="population is for tables"):
        so.audit(release, population=100)
