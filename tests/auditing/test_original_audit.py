"""The audit of a sanitized release: it is about the people of the original, and says so."""

import json
from dataclasses import fields, replace
from datetime import date, timedelta
from functools import partial

import numpy as np
import polars as pl
import pytest

import standout as so
from auditing.audit_samples import valid
from standout.attack.reference import scores_1b
from standout.attack.reference_arrays import known_items_of_query
from standout.attack.release_counts import first_times
from standout.auditing.exposure import risk_table
from standout.data.labels import StepReport
from standout.data.release import Release
from standout.evaluate.targets import Population, sample_release
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping, Period, Sanitized
from standout.report.audit_page import audit_page

pytestmark = pytest.mark.once

TARGETS, FACTS, SEED = 12, [1, 2, 4], 3
GONE, ADDED = {"thing 3", "thing 11"}, "thing 5"


def people(n=60, items=30, seed=1):
    draw, rows = np.random.default_rng(seed), []
    for r in range(n):
        for i in draw.permutation(items)[: 9 + r % 6].tolist():
            day = date(2004, 1, 1) + timedelta(days=int(draw.integers(900)))
            rows.append((f"person {r}", f"thing {i}", float(draw.integers(1, 6)), day))
    return rows


def frame(rows):
    return pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")


def changed(rows):
    """Rows of a sanitized release, and for each person the new id of the record that represents them.

    Every third person is missing, some share the record of the person before them, dates are months, some
    items are gone, and records have new ids.
    """
    names = sorted({who for who, *_ in rows}, key=lambda who: int(who.split()[1]))
    representative = {}
    for at, who in enumerate(names):
        representative[who] = None if at % 3 == 0 else names[at] if at % 3 == 1 or at % 2 else names[at - 1]
    number = {who: str(9000 + 7 * at) for at, who in enumerate(reversed(names))}
    released = [
        (number[who], item, min(value + (at % 5 == 0), 5.0), day.replace(day=1))
        for at, (who, item, value, day) in enumerate(rows)
        if who in representative.values() and item not in GONE
    ]
    return released, {who: None if other is None else number[other] for who, other in representative.items()}


def sanitized_release(rows, released, representative, reports=()):
    original, release = so.read(frame(rows)), so.read(frame(released))
    index = {name: at for at, name in enumerate(release.records)}
    code = {name: at for at, name in enumerate(release.items)}
    terms = OriginalMapping(
        np.array([index.get(representative[who], -1) for who in original.records], np.int64),
        np.array([code.get(item, -1) for item in original.items], np.int64),
        level_values(original),
        (Period("month"),),
    )
    columns = {field.name: getattr(release, field.name) for field in fields(Release)}
    return Sanitized(**columns, original=original, mapping=terms, step_reports=tuple(reports))


STEPS = (StepReport("sample-records", {"records before": 60, "records": 40}), StepReport("round-time month", {}))
ask = partial(so.audit, targets=TARGETS, facts=FACTS, name="people.csv", seed=SEED)


@pytest.fixture(scope="module")
def rows():
    return people()


@pytest.fixture(scope="module")
def safer(rows):
    return sanitized_release(rows, *changed(rows), STEPS)


@pytest.fixture(scope="module")
def audited(safer):
    return ask(safer, fail_above=0.05)


@pytest.fixture(scope="module")
def page(audited):
    return audit_page(audited.findings)


def unchanged(release):
    columns = {field.name: getattr(release, field.name) for field in fields(Release)}
    everybody = np.arange(release.n_records)
    return Sanitized(
        **columns,
        original=release,
        mapping=OriginalMapping(everybody, np.arange(release.n_items), level_values(release)),
    )


def test_an_unchanged_release_gives_the_findings_of_its_original(rows, tmp_path):
    listed = tmp_path / "sensitive.txt"
    listed.write_text("thing 3\thealth\nthing 5\nthing 77\n")
    release = so.read(frame(rows))
    plain, sanitized = (ask(data, fail_above=0.05, sensitive=listed) for data in (release, unchanged(release)))
    findings, others = plain.to_dict(), sanitized.to_dict()
    assert findings.pop("before_after") is None
    for each in others.pop("before_after")["adversaries"]:
        assert each["before"] == each["after"] and each["difference"]["value"] == 0
    assert findings.pop("original") is None and others.pop("original")["not_in_release"] == 0
    whom = "the 60 people of the original, all of whom are in this release."
    assert others["answer"].pop("sentence") == findings["answer"].pop("sentence").replace("people.", whom)
    further = {check["name"] for check in others["trust"].pop("checks")}
    assert further - {check["name"] for check in findings["trust"].pop("checks")} == {"original"}
    assert {*findings.pop("limits")} < {*others.pop("limits")}
    (reading,), (same, original) = findings.pop("reading"), others.pop("reading")
    assert reading == same == original | {"of": "release"}
    assert findings == others
    assert plain.risk_table(draws=2).equals(sanitized.risk_table(draws=2))


def test_the_findings_say_what_the_release_was_made_from(audited, safer):
    valid(audited)
    original = audited.findings.original
    assert audited.complete and audited.trusted, audited.findings.trust
    assert (original.records, original.entries) == (60, safer.original.n_entries)
    assert original.fingerprint == safer.original.fingerprint != audited.findings.data.fingerprint
    assert original.not_in_release == 20 and original.shared_records == 10
    assert [step.step for step in original.steps] == ["sample-records", "round-time month"]
    sentence = audited.findings.answer.sentence
    assert "of the 60 people of the original; 20 of the 60 are not in this release." in sentence
    missing = "People missing from the release cannot be identified, but they count among the targets."
    assert missing in original.explanation
    assert "10 records represent several people each" in original.explanation
    assert audited.findings.answer.people_total == 60


def test_before_is_what_an_audit_of_the_original_measures(audited, safer):
    plain = ask(safer.original).findings.adversaries
    both = audited.findings.before_after.adversaries
    for each, alone, now in zip(both, plain, audited.findings.adversaries, strict=True):
        assert (each.name, str(each.before)) == (alone.name, str(alone.as_named.identified))
        assert (each.attack_before, each.attack_after) == (alone.attack, now.attack)
        assert str(each.after) == str(now.as_named.identified)
        assert str(each.after_in_release) == str(now.as_named.identified_in_release)
        assert each.difference.value == pytest.approx(each.after.value - each.before.value)
        assert each.before_in_release.n == each.after_in_release.n < each.before.n


def test_the_page_shows_before_and_after_side_by_side(audited, page):
    both = audited.findings.before_after
    assert "Before and after sanitizing" in page and "People who are still in the data" in page
    assert both.summary.replace(" %", "\xa0%") in page and both.some_missing
    assert "Before and after" not in audit_page(replace(audited.findings, before_after=None))


def test_no_id_of_the_original_or_the_release_is_named(audited, safer, page):
    text = json.dumps(audited.to_dict()) + page
    assert not any(f'"{name}"' in text for name in (*safer.records, *safer.original.records, *safer.items))
    assert "person 1" not in text and "thing 1" not in text


def test_the_report_explains_the_original(page):
    text = page.replace("\xa0", " ")
    assert "Targets and the facts that adversaries know come from the original" in text
    assert "60 people of the original; 20 of the 60 are not in this release" in text
    assert "sample-records" in text and "40 of 60 records remain" in text
    assert "about the release itself, not about the original" in text
    assert "Fingerprint of the original" in text


def test_every_number_of_an_adversary_is_that_of_a_direct_call(audited, safer):
    for findings in audited.findings.adversaries:
        adversary = audited.adversaries[findings.name]
        for attack in findings.attacks:
            built_in = {"paper": so.ScoreboardRH(), "likelihood": so.Likelihood()}[attack.name]
            direct = so.simulate(safer, adversary, attack=built_in, targets=TARGETS, seed=SEED)
            assert attack.as_named.identified == direct.estimate("identified")
            assert attack.as_named.revealed_correct == direct.estimate("revealed_correct")
        assert {attack.name for attack in findings.attacks} == {"paper", "likelihood"}
        assert findings.too_few_items == int((safer.original.lengths < adversary.knows).sum())


def test_groups_of_people_are_those_of_the_original(audited, safer, rows):
    exposure = audited.findings.exposure
    lengths = safer.original.lengths
    for group in exposure.by_length:
        assert group.people == int(((lengths >= group.low) & (lengths <= group.high)).sum())
    first = first_times(safer.original)
    assert sum(group.people for group in exposure.by_first_date) == len(first) == 60
    days = {}
    for who, _, _, day in rows:
        days[who] = min(day, days.get(who, day))
    for group in exposure.by_first_date:
        assert group.people == sum(group.low <= day.isoformat() <= group.high for day in days.values())


def test_a_sensitive_item_is_revealed_if_it_is_true_and_in_the_release(rows, tmp_path):
    released, representative = changed(rows)
    released += [(who, ADDED, 3.0, date(2005, 1, 1)) for who in {who for who, *_ in released}]  # true of some only
    safer = sanitized_release(
        rows, list({(who, item): row for row in released for who, item in [row[:2]]}.values()), representative
    )
    listed = tmp_path / "sensitive.txt"
    listed.write_text(f"thing 3\tgone\n{ADDED}\tadded\nthing 7\tkept\n")
    result = ask(safer, targets=60, sensitive=listed)
    adversary = result.adversaries["acquaintance"]
    cell = so.simulate(safer, adversary, attack=result.attacks["acquaintance"], targets=60, seed=SEED).cell()
    by_category = {row.category: row for row in result.findings.exposure.sensitive.rows}
    released_cells = {(who, item) for who, item, *_ in released}
    for name, item in {"gone": "thing 3", "added": ADDED, "kept": "thing 7"}.items():
        having, hits = 0, 0.0
        for row, right in zip(cell.targets.tolist(), cell.outcomes.identified[:, 0].tolist(), strict=True):
            who = safer.original.records[row]
            known = {fact.item for fact in adversary.observe(safer.original, who, seed=SEED)}
            if any(entry[:2] == (who, item) for entry in rows):
                having += 1
                hits += right * (item not in known and (representative[who], item) in released_cells)
        assert by_category[name].revealed.n == having
        assert by_category[name].revealed.value == pytest.approx(hits / having)
        assert by_category[name].people_with == len({who for who, other, *_ in rows if other == item})
    assert by_category["gone"].revealed.value == 0 < by_category["kept"].revealed.value


def test_the_risk_table_has_a_row_for_everybody_of_the_original(safer, rows):
    adversary = so.Adversary(knows=4, value_error=1, time_error=14)
    table = risk_table(safer, adversary, draws=3, seed=2)
    assert table["record"].to_list() == list(safer.original.records)
    assert table["length"].to_list() == safer.original.lengths.tolist()
    _, representative = changed(rows)
    gone = table.filter(pl.Series([representative[who] is None for who in table["record"]]))
    assert len(gone) == 20 and gone.select(pl.sum("probability", "low", "high")).row(0) == (0, 0, 0)
    assert gone["facts_needed"].null_count() == 20
    present = table.filter(pl.Series([representative[who] is not None for who in table["record"]]))
    assert present["probability"].mean() > 0.5 and (present["high"] > present["low"]).all()


def test_reference_scores_agree_on_facts_in_terms_of_the_release(safer):
    """Also if values are converted to values that the release does not contain."""
    other = replace(
        safer, mapping=replace(safer.mapping, released_values=tuple(x / 2 for x in safer.mapping.released_values))
    )
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    for release in (safer, other):
        known = Population.of(release).known_facts(adversary, np.arange(10), SEED)
        verdicts = so.ScoreboardRH().attacks(release, known)
        for q in range(10):
            scores = scores_1b(known_items_of_query(release, known, q), release.n_records)
            assert verdicts[q].scores == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize("spoil", ["representatives", "item_codes"])
def test_an_original_that_does_not_belong_to_the_release_is_noticed(safer, spoil):
    """With a wrong key nobody would be identified, which would look like safety."""
    order = np.random.default_rng(5).permutation(len(getattr(safer.mapping, spoil)))
    terms = replace(safer.mapping, **{spoil: getattr(safer.mapping, spoil)[order]})
    result = ask(replace(safer, mapping=terms))
    assert not result.trusted
    (failed,) = (check for check in result.findings.trust.checks if not check.passed)
    assert failed.name == "original" and "The original or the key may be wrong" in failed.explanation


def test_a_large_sanitized_release_is_checked_on_a_sample_with_its_people(safer, monkeypatch):
    monkeypatch.setattr("standout.auditing.selfcheck.SAMPLE", 20)
    result = ask(safer)
    assert result.trusted and "original" in {check.name for check in result.findings.trust.checks}
    keep = np.arange(safer.n_records) % 2 == 0
    sample = sample_release(safer, keep)
    assert sample.n_records == keep.sum() and (sample.mapping.representatives >= 0).all()
    assert keep.sum() <= sample.original.n_records < 60


def test_a_sanitized_release_without_dates_or_values_is_audited(rows):
    released, representative = changed(rows)
    bare = frame(released).select("record", "item")
    whole = sanitized_release(rows, released, representative)
    release = so.read(bare)
    columns = {field.name: getattr(release, field.name) for field in fields(Release)}
    terms = replace(whole.mapping, released_values=(None,) * whole.original.n_levels, rounding_periods=())
    safer = Sanitized(**columns, original=whole.original, mapping=terms)
    ladder = {"nosy": so.Adversary(knows=6, length_error=0.5, joined_error=30), "plain": so.Adversary(knows=6)}
    result = ask(safer, ladder=ladder)
    valid(result)
    assert result.trusted, result.findings.trust


def test_an_audit_identifies_most_despite_noise():
    release = so.synthesize(records=200, items=200, entries=6_000, seed=3)
    safer = so.sanitize(release, so.steps.PerturbTime(2000), seed=1)
    result = so.audit(safer, targets=40, facts=[4], seed=2)
    named = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    settings = {"targets": 40, "absent": False, "seed": 2}
    papers = so.simulate(safer, named, **settings).estimate("identified").value
    assert result.findings.answer.rate.value > papers


def test_the_threshold_is_about_people_in_the_release():
    release = so.synthesize(records=300, items=200, entries=9_000, seed=3)
    few = so.sanitize(release, so.steps.SampleRecords(0.1), seed=1)
    result = so.audit(few, targets=200, facts=[4], fail_above=0.3, seed=2)
    measures = result.findings.adversaries[1].as_named
    assert measures.identified.value < 0.3 < measures.identified_in_release.value
    assert measures.identified_in_release.n < 40
    assert result.exceeded and "people in the release" in result.findings.threshold.explanation
    assert "Among people who are in the release, it is" in result.findings.answer.sentence


@pytest.mark.parametrize("size", [3, 12])
def test_clusters_are_audited_with_finite_bits(size):
    release = so.synthesize(records=60, items=40, entries=1_200, seed=3)
    result = so.audit(so.sanitize(release, so.step(f"cluster-records {size}"), seed=1), targets=15, facts=[1, 4])
    valid(result)
    for adversary in result.findings.adversaries:
        for attack in adversary.attacks:
            assert np.isfinite(attack.as_named.bits_gained.value) and attack.as_named.bits_left.value >= -0.01
            assert 0 <= attack.as_named.stated_probability <= 1
