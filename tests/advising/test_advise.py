"""`advise` as a whole: what it recommends, writes and refuses."""

import json
import math

import jsonschema
import numpy as np
import polars as pl
import pytest

import standout as so
from advising.samples import ADVERSARY, steps
from standout.advising import search
from standout.findings.json_types import schema_of
from standout.findings.link_and_advise import AdviceFindings

pytestmark = pytest.mark.once


def test_the_recommended_candidate_is_re_measured_and_meets_the_limit(small_advice):
    assert small_advice.complete and len(small_advice.candidates) == 4
    assert small_advice.candidates[0].name == "as it is"
    assert "drop-rare-items 999" in small_advice.search.impossible
    best = small_advice.recommended
    assert best.stage == "fresh" and best.rate.high <= 0.4 and best.risk.everybody.high <= 0.4
    assert small_advice.composition.identified.n > 20
    assert best.name in small_advice.summary and str(best.steps[0]) in small_advice.command()


def test_table_and_findings_have_the_same_numbers(small_advice):
    content = small_advice.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    jsonschema.validate(content, schema_of(AdviceFindings, "advice.json"))
    rows = {row["steps"]: row for row in small_advice.table.iter_rows(named=True)}
    for candidate in content["candidates"]:
        row = rows[candidate["name"]]
        assert row["identified"] == candidate["identified"]["value"]
        assert row["identified_in_release_high"] == candidate["identified_in_release"]["high"]
        assert row["frontier"] == candidate["frontier"]
        assert row["kept_low"] == candidate["utility"]["kept"]["low"]
    assert set(content["step_descriptions"]) == {
        "drop-entries SHARE",
        "round-time day | week | month | quarter | year | DAYS | none",
    }
    assert [name for name, row in rows.items() if row["recommended"]] == [small_advice.recommended.name]


def test_an_advice_is_written_in_every_format(small_advice, tmp_path, monkeypatch):
    empty = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><g></g></svg>'
    monkeypatch.setattr("standout.report.charts.draw", lambda *args, **options: empty.encode())
    for ending in ("csv", "json", "parquet", "html"):
        getattr(small_advice, f"to_{ending}")(tmp_path / f"advice.{ending}")
    page = (tmp_path / "advice.html").read_text()
    assert small_advice.recommended.name in page and "<svg" in page and "<script" not in page
    assert json.loads((tmp_path / "advice.json").read_text()) == small_advice.to_dict()


def test_the_same_seed_gives_the_same_advice(small_advice, small_advice_again):
    assert json.dumps(small_advice_again.to_dict()) == json.dumps(small_advice.to_dict())


def test_no_id_and_no_title_is_in_the_advice(tmp_path):
    frame = so.synthesize(records=60, items=40, entries=900, seed=3).to_frame()
    release = so.read(frame.with_columns(record="person " + frame["record"], item="secret " + frame["item"]))
    advice = so.advise(release, limit=0.5, candidates=["drop-entries 0.7"], targets=30, people=30, work=tmp_path)
    advice.to_html(tmp_path / "report.html")
    advice.to_csv(tmp_path / "frontier.csv")
    written = json.dumps(advice.to_dict()) + "".join(path.read_text() for path in tmp_path.iterdir())
    assert "person " not in written and "secret" not in written


def test_the_limit_applies_to_everybody_or_to_people_in_the_release(small_release):
    candidates = ["sample-records 0.1", ["round-time none", "drop-entries 0.9"]]
    settings = {"candidates": candidates, "targets": 150, "people": 60, "seed": 2}
    everybody, released = (
        so.advise(small_release, ADVERSARY, 0.45, among=among, **settings) for among in ("everybody", "released")
    )
    assert everybody.recommended.name == "sample-records 0.1"
    assert "leaving people out" in everybody.summary and "for them" in everybody.summary
    assert released.recommended is None or released.recommended.name != "sample-records 0.1"


def test_impossible_parameters_are_refused(small_release):
    for limit in (0, 1, "much", True, math.nan):
        with pytest.raises(so.ParameterError, match="limit"):
            so.advise(small_release, limit=limit)
    for candidates in ("drop-entries 0.5", [], [[]], [3], ["no-such-step"]):
        with pytest.raises(so.ParameterError):
            so.advise(small_release, candidates=candidates)
    with pytest.raises(so.ParameterError, match="adversary"):
        so.advise(small_release, "somebody")
    with pytest.raises(so.ParameterError, match="among"):
        so.advise(small_release, among="all")
    with pytest.raises(so.ParameterError, match="original"):
        so.advise(so.sanitize(small_release, "drop-entries 0.5"))


def test_steps_and_combinations_are_tried_by_default(small_release, monkeypatch):
    monkeypatch.setattr(search, "ROUNDS", (2, 1))
    monkeypatch.setattr(search, "FULL_CANDIDATES", 2)
    built_in = [*steps("round-time none", "drop-entries 0.75", "cluster-records 5")]
    monkeypatch.setattr(search, "built_in_steps", lambda *_: built_in)
    advice = so.advise(small_release, ADVERSARY, 0.02, targets=40, people=30)
    assert any(len(candidate.steps) > 1 for candidate in advice.candidates)
    assert {candidate.stage for candidate in advice.candidates} == {"quick", "full"}


@pytest.mark.realdata
@pytest.mark.slow
def test_on_movielens_rounding_dates_protects_nearly_nobody(realdata):
    release = so.read(realdata / "movielens-latest-small")
    advice = so.advise(release, limit=0.05, candidates=["round-time month", "round-time year"], targets=300)
    assert advice.complete and advice.recommended is None and not advice.command()
    assert "None of the 2 candidates" in advice.summary
    for candidate in advice.candidates:
        assert candidate.risk.everybody.low > 0.85 and candidate.utility_kept == 1, candidate.name
    assert np.isclose(advice.candidates[0].utility.hit_rate.value, 0.19, atol=0.05)


def test_advice_on_repeated_entries_measures_merging_them():
    frame = so.synthesize(records=40, items=40, entries=500, seed=7).to_frame()
    rows = pl.concat([frame, frame.with_columns(pl.col("time").dt.offset_by("40d"))])
    release = so.read(rows, repeats="keep")
    steps = ["merge-repeats last", "drop-entries 0.5", ["merge-repeats last", "round-time none"]]
    advice = so.advise(release, limit=0.2, candidates=steps, targets=20, people=15)
    names = {candidate.name for candidate in advice.candidates}
    assert names == {"as it is", *steps[:2], "merge-repeats last + round-time none"}
    kept = {candidate.name: candidate.utility.kept for candidate in advice.candidates}
    assert kept.keys() == names and all(0 <= c.rate.value <= 1 for c in advice.candidates)
