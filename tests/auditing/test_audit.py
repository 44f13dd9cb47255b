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
    audited_case,
    people,
    small_audit,
    valid,
)
from report.advice_samples import advice_findings
from standout.auditing.ladder import LADDER, with_facts
from standout.core.rng import generator
from standout.evaluate import simulate as target_attacks
from standout.evaluate.estimates import percent

pytestmark = pytest.mark.once

ATTACKS = {"paper": so.ScoreboardRH(), "likelihood": so.Likelihood()}
THRESHOLDS = {"paper": ("phi", 1.5), "likelihood": ("posterior", 0.95)}


def test_the_findings_keep_to_the_schema(audited):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    findings = valid(audited)
    assert findings["schema_version"] == 7 and findings["run"]["finished_at"] is None
    assert audited.complete and audited.trusted and audited.exceeded


def test_no_finding_names_a_record_or_an_item(audited, release):
    text = json.dumps(audited.to_dict())
    assert not any(f'"{name}"' in text for name in (*release.records, *release.items))
    assert "person 1" not in text and "thing 1" not in text
    assert "safe" not in text.lower()


def direct(release, adversary, facts=None, attack="likelihood"):
    return so.simulate(release, adversary, attack=ATTACKS[attack], facts=facts, targets=TARGETS, seed=SEED)


def by_name(result, name):
    return next(adversary for adversary in result.findings.adversaries if adversary.name == name)


def by_attack(adversary, name):
    return next(attack for attack in adversary.attacks if attack.name == name)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", DEFAULTS)
def test_every_number_of_an_attack_is_that_of_a_direct_call(audited, release, name, attack):
    """Both attacks have the same targets and the same facts: those of the adversary and the seed."""
    adversary, knows = by_name(audited, name), DEFAULTS[name].knows
    simulation, (claims_by, threshold) = direct(release, DEFAULTS[name], attack=attack), THRESHOLDS[attack]
    at_threshold = f"{claims_by}={threshold}"
    settings = {
        "identified": "",
        "in_top": "top=10",
        "correct_claims": at_threshold,
        "wrong_claims": at_threshold,
        "absent_claims": at_threshold,
        "bits_gained": "",
        "bits_left": "",
        "calibration_bias": "",
        "lineup_size": "mass=90 %",
        "revealed": "",
        "revealed_correct": "",
        "revealed_correct_share": "",
    }
    measures, at_budget = by_attack(adversary, attack).as_named, "absent_claims<=0.01"
    assert (measures.claims_by, measures.threshold) == (claims_by, threshold)
    for name, setting in settings.items():
        assert close(getattr(measures, name), simulation.estimate(name, setting)), name
    assert close(measures.correct_claims_at_budget, simulation.estimate("correct_claims", at_budget))
    assert close(measures.absent_claims_at_budget, simulation.estimate("absent_claims", at_budget))
    least = simulation.estimate(claims_by, at_budget).value
    assert measures.threshold_at_budget == pytest.approx(least, rel=1e-12)
    bias = measures.stated_probability - measures.identified.value
    assert measures.calibration_bias.value == pytest.approx(bias, abs=1e-12)
    assert (measures.facts, measures.targets) == (knows, TARGETS)
    assert adversary.too_few_items == simulation.cell().too_few_items
    assert adversary.too_few_items == int((release.lengths < knows).sum())


def close(estimate, wanted):
    """Equal but for the last digits, which may differ between array positions."""
    known = {name: number for name, number in asdict(wanted).items() if number is not None}
    found = {name: number for name, number in asdict(estimate).items() if number is not None}
    return found == pytest.approx(known, rel=1e-12, abs=1e-12)


def test_the_strongest_attack_gives_the_measures_and_the_curve_of_an_adversary(audited):
    for adversary in audited.findings.adversaries:
        assert {attack.name for attack in adversary.attacks} == {*ATTACKS}
        strongest = adversary.attacks[0]
        assert strongest.name == adversary.attack
        assert (strongest.as_named, strongest.curve) == (adversary.as_named, adversary.curve)
        assert type(audited.attacks[adversary.name]) is type(ATTACKS[adversary.attack])


def test_the_strongest_attack_is_chosen_on_other_targets():
    """Also if another attack identifies more of the reported targets."""
    release = people(n=80)
    ladder = {"weak": so.Adversary(knows=2, wrong=1, time_error=None)}
    for seed in range(6):
        result = small_audit(release, ladder=ladder, seed=seed, targets=20)
        adversary, order = ladder["weak"], generator(seed, "strongest").permutation(80)
        reported = generator(seed, "targets").permutation(80)[:20]
        others = order[~np.isin(order, reported)]
        assert len(others) == 60
        known = adversary.observe_all(release, others, int(generator(seed, "strongest facts").integers(2**62)))
        success = {
            name: sum(
                1 / len(tied)
                for q, row in enumerate(others)
                for tied in [tied_records(release, attack, adversary, known.aux(release, q))]
                if release.records[row] in tied
            )
            for name, attack in ATTACKS.items()
        }
        best = "paper" if success["paper"] > success["likelihood"] + 1e-9 else "likelihood"
        assert result.findings.adversaries[0].attack == best


def tied_records(release, attack, adversary, aux):
    """Records with the best score of an attack on one target."""
    fitted = attack.for_adversary(adversary) if isinstance(attack, so.Likelihood) else attack
    scores = np.asarray(fitted.attack(release, aux).scores)
    return [release.records[row] for row in np.flatnonzero(scores >= scores.max() - 1e-9)]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", ["acquaintance", "worst"])
def test_a_curve_is_the_same_adversary_with_as_many_facts(audited, release, name, attack):
    """Likelihood takes the errors of this adversary, not of the one with more facts."""
    simulation = direct(release, with_facts(DEFAULTS[name], 4), FACTS, attack)
    curve, at_threshold = (by_attack(by_name(audited, name), attack).curve, "=".join(map(str, THRESHOLDS[attack])))
    assert [(point.facts, point.enough_for) for point in curve] == [(1, 4), (2, 4), (4, 4), (8, 8)]
    assert curve[-1].identified == by_attack(by_name(audited, name), attack).as_named.identified
    for point in curve[:-1]:
        for measure, setting in {
            "identified": "",
            "bits_gained": "",
            "correct_claims": at_threshold,
            "absent_claims": at_threshold,
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
    _, result = audited_case(case)
    findings = valid(result)
    assert result.trusted, [check for check in findings["trust"]["checks"] if not check["passed"]]
    assert len(result.tables) == 9
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
    {"posterior": 0},
    {"posterior": 1.5},
    {"attack": "unknown"},
    {"attacks": {"paper": so.Likelihood()}},
    {"attacks": {"likelihood": so.ScoreboardRH()}},
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
    names = ["adversaries", "checks", "control", "curves", "envelope", "exposure", "grids", "sensitive", "theory"]
    assert sorted(path.stem for path in (tmp_path / "tables").iterdir()) == names
    table = pl.read_csv(tmp_path / "tables" / "adversaries.csv")
    strongest = by_name(audited, "acquaintance").attack
    row = table.filter(adversary="acquaintance", attack=strongest, measure="identified").row(0, named=True)
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
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 5)
    with pytest.raises(KeyboardInterrupt):
        small_audit(release, progress=stop_at(0), work=tmp_path)
    interrupted = small_audit(release, progress=stop_at(0.38), work=tmp_path)
    findings = valid(interrupted)
    assert not interrupted.complete and not findings["complete"]
    names = [adversary["name"] for adversary in findings["adversaries"]]
    assert names in (["acquaintance"], ["colleague", "acquaintance"])
    assert findings["theory"]["sparsity"]["curve"] == [] and interrupted.trusted
    assert "The audit was interrupted, so some results are missing." in findings["limits"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    targets, attack_outcomes = [], target_attacks.attack_outcomes

    def counted(*args, **more):
        targets.append(len(more["targets"]))
        return attack_outcomes(*args, **more)

    monkeypatch.setattr(target_attacks, "attack_outcomes", counted)
    resumed = small_audit(release, fail_above=0.05, work=tmp_path)
    assert json.dumps(resumed.to_dict()) == json.dumps(audited.to_dict())
    first = sum(targets)
    targets.clear()
    small_audit(release, fail_above=0.05, work=tmp_path)
    assert sum(targets) < first  # only the self-check runs again


def test_an_early_interruption_keeps_the_headline_on_some_targets(release, monkeypatch):
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 5)
    result = small_audit(release, progress=stop_at(0.066), fail_above=0.5)
    (adversary,) = valid(result)["adversaries"]
    assert not result.complete and adversary["name"] == "acquaintance"
    assert (adversary["as_named"]["targets"], adversary["curve"]) == (5, [])
    assert [attack["name"] for attack in adversary["attacks"]] == [adversary["attack"]]
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
