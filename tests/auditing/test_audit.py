"""The audit: every number is the library's own, nobody is named, and an interrupted audit resumes."""

import json
import os
import stat
from dataclasses import asdict, replace

import jsonschema
import numpy as np
import polars as pl
import pytest

import standout as so
from auditing.audit_samples import (
    ACQUAINTANCE,
    CASES,
    DEFAULTS,
    FACTS,
    SCHEMA,
    SEED,
    TARGETS,
    small_audit,
    valid,
)
from report.advice_samples import advice_findings
from standout.auditing.ladder import LADDER, with_facts
from standout.evaluate import simulation_runner
from standout.evaluate.estimate_text import percent

pytestmark = pytest.mark.once


def test_the_findings_keep_to_the_schema(audited):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    findings = valid(audited)
    assert findings["schema_version"] == 3 and findings["run"]["finished_at"] is None
    assert audited.complete and audited.trusted and audited.exceeded


def test_no_finding_names_a_record_or_an_item(audited, release):
    text = json.dumps(audited.to_dict())
    assert not any(f'"{name}"' in text for name in (*release.records, *release.items))
    assert "person 1" not in text and "thing 1" not in text
    assert "safe" not in text.lower()


def direct(release, adversary, facts=None):
    return so.simulate(release, adversary, facts=facts, targets=TARGETS, seed=SEED)


def by_name(result, name):
    return next(adversary for adversary in result.findings.adversaries if adversary.name == name)


@pytest.mark.parametrize("name", DEFAULTS)
def test_every_number_of_an_adversary_is_that_of_a_direct_call(audited, release, name):
    adversary, knows = by_name(audited, name), DEFAULTS[name].knows
    simulation = direct(release, DEFAULTS[name])
    settings = {
        "identified": "",
        "in_top": "top=10",
        "correct_claims": "phi=1.5",
        "wrong_claims": "phi=1.5",
        "absent_claims": "phi=1.5",
        "bits_gained": "",
        "bits_left": "",
        "lineup_size": "mass=90 %",
        "revealed": "",
        "revealed_correct": "",
        "revealed_correct_share": "",
    }
    measures, at_budget = adversary.as_named, "absent_claims<=0.01"
    for name, setting in settings.items():
        assert close(getattr(measures, name), simulation.estimate(name, setting)), name
    assert close(measures.correct_claims_at_budget, simulation.estimate("correct_claims", at_budget))
    assert close(measures.absent_claims_at_budget, simulation.estimate("absent_claims", at_budget))
    assert measures.phi_at_budget == pytest.approx(simulation.estimate("phi", at_budget).value, rel=1e-12)
    assert (measures.facts, measures.targets) == (knows, TARGETS)
    assert adversary.too_few_items == simulation.cell().too_few_items
    assert adversary.too_few_items == int((release.lengths < knows).sum())


def close(estimate, wanted):
    """Equal but for the last digits, which may differ between array positions."""
    known = {name: number for name, number in asdict(wanted).items() if number is not None}
    found = {name: number for name, number in asdict(estimate).items() if number is not None}
    return found == pytest.approx(known, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["acquaintance", "worst"])
def test_a_curve_is_the_same_adversary_with_as_many_facts(audited, release, name):
    simulation = direct(release, with_facts(DEFAULTS[name], 4), FACTS)
    curve = by_name(audited, name).curve
    assert [point.facts for point in curve] == FACTS
    for point in curve:
        for measure, setting in {
            "identified": "",
            "bits_gained": "",
            "correct_claims": "phi=1.5",
            "absent_claims": "phi=1.5",
        }.items():
            assert close(getattr(point, measure), simulation.estimate(measure, setting, facts=point.facts))


def test_the_answer_is_about_the_headline_adversary(audited, release):
    answer, rate = audited.findings.answer, direct(release, ACQUAINTANCE).estimate("identified")
    assert answer.rate == rate and answer.adversary == "acquaintance"
    assert answer.people_identified == round(rate.value * release.n_records)
    assert answer.sentence == (
        "An acquaintance who knows 8 facts about a person, 2 of them wrong, identifies "
        f"{percent(rate.value)} of people."
    )
    other = small_audit(release, headline="colleague", ladder={"colleague": LADDER[0], "worst": LADDER[4]})
    assert other.findings.answer.sentence.startswith("A colleague who knows 4 facts about a person, 1 of")
    assert other.findings.settings.ladder == "own" and other.exceeded is None


def test_data_and_settings_are_reported(audited, release):
    data, settings = audited.findings.data, audited.findings.settings
    assert (data.records, data.items, data.entries) == (40, 30, release.n_entries)
    assert (data.first, data.last) == tuple(day.isoformat() for day in release.time_range)
    assert data.median_length == np.median(release.lengths) and not data.synthetic
    assert (list(settings.facts), settings.headline, settings.ladder) == (FACTS, "acquaintance", "default")


@pytest.mark.parametrize("case", CASES)
def test_any_release_can_be_audited(case):
    result = so.audit(CASES[case](), targets=6, facts=[1, 2], fail_above=0.5)
    findings = valid(result)
    assert result.trusted, [check for check in findings["trust"]["checks"] if not check["passed"]]
    assert len(result.tables) == 7
    for adversary in findings["adversaries"]:
        assert adversary["value_error"] is None or findings["data"]["has_values"]
        assert adversary["time_error"] is None or findings["data"]["has_times"]
    assert len(result.risk_table(draws=1)) == findings["data"]["records"]


WRONG = [
    {"fail_above": 2},
    {"fail_above": True},
    {"budget": 0},
    {"budget": "1"},
    {"targets": 0},
    {"phi": -1},
    {"seed": -1},
    {"facts": []},
    {"facts": "4"},
    {"facts": [0]},
    {"facts": [10**6]},
    {"threads": 0},
]


def test_a_setting_out_of_range_is_an_error_that_names_it(release):
    for wrong in WRONG:
        with pytest.raises(so.ParameterError, match=next(iter(wrong))):
            so.audit(release, **wrong)


def test_a_name_of_any_bytes_can_be_written(release, tmp_path):
    result = small_audit(release, name="a\udcff\u202eb", ladder={"single": so.Adversary(knows=2)})
    result.to_json(tmp_path / "findings.json")
    assert json.loads((tmp_path / "findings.json").read_text())["data"]["name"] == "a��b"


def test_an_audit_is_written_as_json_and_tables(tmp_path, audited):
    audited.to_json(tmp_path / "findings.json")
    assert json.loads((tmp_path / "findings.json").read_text()) == audited.to_dict()
    audited.to_csv(tmp_path / "tables")
    names = ["adversaries", "checks", "curves", "envelope", "exposure", "sensitive", "theory"]
    assert sorted(path.stem for path in (tmp_path / "tables").iterdir()) == names
    table = pl.read_csv(tmp_path / "tables" / "adversaries.csv")
    row = table.filter(adversary="acquaintance", measure="identified").row(0, named=True)
    assert row["estimate"] == audited.findings.answer.rate.value and row["facts"] == 8
    if os.name == "posix":
        mask = os.umask(0o077)
        os.umask(mask)
        assert stat.S_IMODE((tmp_path / "findings.json").stat().st_mode) == 0o666 & ~mask


def test_the_report_is_made_of_the_findings(tmp_path, audited, monkeypatch):
    module = pytest.importorskip("standout.report.audit_page")
    monkeypatch.setattr(module, "audit_page", lambda findings: f"<p>{findings.answer.adversary}")
    audited.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "<p>acquaintance"


def test_advice_and_time_are_added_to_a_copy(audited):
    advice = advice_findings()
    advised = audited.with_advice(advice)
    assert advised.findings.advice == advice and advised.complete
    interrupted = audited.with_advice(replace(advice, complete=False))
    assert not interrupted.complete and not interrupted.findings.complete
    assert audited.finished_at("2007-11-14").findings.run.finished_at == "2007-11-14"
    assert audited.findings.advice is None and audited.complete and audited.findings.run.finished_at is None


def test_the_same_seed_gives_the_same_bytes(release, audited):
    again = small_audit(release, fail_above=0.05, threads=1)
    assert json.dumps(again.to_dict()) == json.dumps(audited.to_dict())
    assert small_audit(release, seed=4).findings.adversaries != audited.findings.adversaries


def stop_at(share):
    def progress(stage, done, total):
        assert stage == "auditing" and 0 <= done <= total
        if done >= share * total:
            raise KeyboardInterrupt

    return progress


def test_an_interrupted_audit_keeps_its_results_and_resumes(release, audited, monkeypatch, tmp_path):
    monkeypatch.setattr("standout.evaluate.simulation_runner.BATCH", 5)
    with pytest.raises(KeyboardInterrupt):
        small_audit(release, progress=stop_at(0), work=tmp_path)
    interrupted = small_audit(release, progress=stop_at(0.4), work=tmp_path)
    findings = valid(interrupted)
    assert not interrupted.complete and not findings["complete"]
    names = [adversary["name"] for adversary in findings["adversaries"]]
    assert names in (["acquaintance"], ["colleague", "acquaintance"])
    assert findings["theory"]["sparsity"]["curve"] == [] and interrupted.trusted
    assert "The audit was interrupted, so some results are missing." in findings["limits"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    targets, attack_outcomes = [], simulation_runner.attack_outcomes

    def counted(*args, **more):
        targets.append(len(more["targets"]))
        return attack_outcomes(*args, **more)

    monkeypatch.setattr(simulation_runner, "attack_outcomes", counted)
    resumed = small_audit(release, fail_above=0.05, work=tmp_path)
    assert json.dumps(resumed.to_dict()) == json.dumps(audited.to_dict())
    first = sum(targets)
    targets.clear()
    small_audit(release, fail_above=0.05, work=tmp_path)
    assert sum(targets) < first  # only the self-check runs again


def test_an_early_interruption_keeps_the_headline_on_some_targets(release, monkeypatch):
    monkeypatch.setattr("standout.evaluate.simulation_runner.BATCH", 5)
    result = small_audit(release, progress=stop_at(0.08), fail_above=0.5)
    (adversary,) = valid(result)["adversaries"]
    assert not result.complete and adversary["name"] == "acquaintance"
    assert (adversary["as_named"]["targets"], adversary["curve"]) == (5, [])
    assert adversary["curve_note"] == "the audit was interrupted before the curve"
    assert result.findings.exposure.facts_needed == () and len(result.tables["curves"]) == 0


def test_progress_runs_once_from_nothing_to_all(release):
    shares = []
    small_audit(release, progress=lambda stage, done, total: shares.append(done / total))
    assert shares == sorted(shares) and shares[-1] == 1.0


def test_a_quick_audit_uses_fewer_targets_and_facts(release):
    result = so.audit(release, quick=True, targets=2000, ladder={"single": so.Adversary(knows=2)})
    settings = valid(result)["settings"]
    assert settings["targets"] == 200 and settings["facts"] == [1, 2, 4, 8]
    assert any("quick" in limit for limit in result.findings.limits)
    assert result.findings.answer.rate.n == 40
