"""The ladder: adversaries adapted to a release; what does not apply is skipped and reported."""

import tracemalloc
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import naive
import standout as so
from auditing.audit_samples import DEFAULTS, people
from standout.auditing.ladder import (
    LADDER,
    DataSpread,
    RelativeError,
    Rung,
    fit_ladder,
    fit_rung,
    resolve_ladder,
    with_facts,
)
from standout.auditing.sentences import describe_adversary

pytestmark = pytest.mark.once


def test_knowledge_that_a_release_lacks_is_removed_and_reported():
    release = people(value=False, time=False)
    fitted = fit_ladder(resolve_ladder(None), release)
    assert [rung.name for rung in fitted.rungs] == ["colleague", "acquaintance", "profile", "worst"]
    assert fitted.limits == ("The adversary “undated” was skipped because it equals “acquaintance” on this data.",)
    headline = fitted.rungs[1]
    assert headline.adversary == so.Adversary(knows=8, wrong=2, wrong_facts="items", value_error=None, time_error=None)
    assert headline.note.split("; ") == [
        "the release has no values, so the adversary knows none",
        "the release has no dates, so the adversary knows none",
        "only items can be wrong here, so wrong facts are items that the record lacks",
    ]
    description = describe_adversary(headline.adversary, release)
    assert description == "8 items, 2 wrong (items that the record lacks)"
    assert fit_ladder(resolve_ladder(None, "undated"), release).headline == "acquaintance"


def test_categories_have_no_error_and_dates_alone_can_be_wrong():
    release = people(value=lambda draw: str(draw.choice(["rented", "bought"])), time=False)
    adversary = fit_rung(LADDER[0], release).adversary
    assert (adversary.value_error, adversary.wrong_facts) == (0, "values")
    assert fit_rung(LADDER[3], people(value=False)).adversary.wrong_facts == "items"
    assert fit_rung(LADDER[1], people(value=False)).adversary.wrong_facts == "values"


def test_an_adversary_that_needs_dates_is_skipped_without_them():
    release, recent = people(time=False), so.Adversary(items="recent")
    assert fit_rung(Rung("late", "late", recent), release) == "the release has no dates"
    fitted = fit_ladder(resolve_ladder({"late": recent, "any": so.Adversary()}, "late"), release)
    assert fitted.headline == "any"
    assert fitted.limits[1] == "The headline adversary “late” does not apply to this data. “any” replaces it."
    with pytest.raises(so.ParameterError, match="no adversary of the ladder applies"):
        so.audit(release, ladder={"late": recent})


def test_an_adversary_knows_fewer_facts_if_hardly_any_record_has_enough_items():
    release = people(items=40, length=lambda r: 3 if r else 20)
    rung = fit_rung(LADDER[1], release)
    assert (rung.adversary.knows, rung.adversary.wrong) == (3, 1)
    assert rung.note == (
        "the value error is 33 % of the spread of 4; "
        "fewer than 5 % of the records have enough entries for 8 facts, 2 of them wrong, "
        "so the adversary knows 3 facts, 1 of them wrong"
    )
    assert fit_rung(LADDER[1], people(items=40, length=lambda r: 3 if r > 1 else 20)).adversary.knows == 8
    huge = Rung("all", "all", so.Adversary(knows=10**9))
    assert fit_rung(huge, release).adversary.knows == 3


def test_the_same_share_is_wrong_with_any_number_of_facts():
    for wrong in (0, 1, 2, 5, 8):
        for knows in (1, 2, 3, 4, 6, 8, 12, 16, 100):
            adversary = with_facts(so.Adversary(knows=8, wrong=wrong), knows)
            assert adversary.knows == knows and abs(adversary.wrong - knows * wrong / 8) <= 0.5
            assert knows != 8 or adversary.wrong == wrong


def test_a_ladder_of_the_wrong_type_is_an_error(release):
    for wrong in ({}, [], 3, {"a": 3}, {3: so.Adversary()}, [so.Adversary()]):
        with pytest.raises(so.ParameterError, match="ladder"):
            so.audit(release, ladder=wrong)
    with pytest.raises(so.ParameterError, match="headline must be one of colleague"):
        so.audit(release, headline="nobody")


def fitted(release, ladder=None):
    return {rung.name: rung for rung in fit_ladder(resolve_ladder(ladder), release).rungs}


def stars(scale=1.0, days=2200, unit="day", n=40, zero=0.0):
    """Ratings like those of the Netflix Prize, in another unit or over another time."""
    draw, rows = np.random.default_rng(8), []
    for r in range(n):
        for i in draw.permutation(30)[:12].tolist():
            minutes = int(draw.integers(days * 1440))
            value = float(draw.choice(5, p=[0.05, 0.1, 0.29, 0.33, 0.23])) + 1
            time = datetime(2000, 1, 1) + timedelta(minutes=minutes)
            rows.append((str(r), str(i), value * scale + zero, time))
    names = ["record", "item", "value", "time"]
    return so.read(pl.DataFrame(rows, schema=names, orient="row"), time_unit=unit)


def test_on_five_stars_over_several_years_the_errors_are_the_papers():
    for release in (people(), stars(), so.synthesize(records=500, items=200, entries=10_000, seed=7)):
        rungs = fitted(release)
        assert {name: rung.adversary for name, rung in rungs.items()} == DEFAULTS
    assert [rung.title for rung in rungs.values()] == [
        "A colleague: values ± 1, dates ± 30 days",
        "An acquaintance: values ± 1, dates ± 14 days",
        "Public profile: exact values, dates ± 3 days",
        "An acquaintance: values ± 1, no dates",
        "The worst case: exact values and dates",
    ]


@pytest.mark.parametrize("scale", [0.2, 20.0, 100.0, 1 / 3, 1e-4, 1e9])
def test_the_same_values_in_another_unit_give_the_same_adversaries(scale):
    adversary = fitted(stars(scale))["acquaintance"].adversary
    assert adversary.value_error == pytest.approx(scale, rel=1e-12)
    assert replace(adversary, value_error=1) == DEFAULTS["acquaintance"]
    shifted = fitted(stars(scale, zero=-3 * scale))["acquaintance"].adversary
    assert shifted.value_error == pytest.approx(scale, rel=1e-12)


@pytest.mark.parametrize("scale", [0.2, 20.0, 100.0, 1 / 3])
def test_the_adversaries_draw_as_many_levels_in_any_unit(scale):
    plain, scaled = stars(), stars(scale)
    drawn = []
    for release in (plain, scaled):
        adversary = fitted(release)["acquaintance"].adversary
        known = replace(adversary, wrong=0).observe_all(release, np.arange(40))
        right = {(r, e.item): e.value for r in range(40) for e in release.record_at(r).entries}
        level = {value: code for code, value in enumerate(release.levels.tolist())}
        off = [level[fact.value] - level[right[r, fact.item]] for r in range(40) for fact in known.aux(release, r)]
        drawn.append({*off})
    assert drawn == [{-1, 0, 1}, {-1, 0, 1}]


def test_a_trace_of_two_weeks_has_errors_of_hours_or_exact_days():
    minutely, hourly, daily = (fitted(stars(days=14, unit=unit)) for unit in ("minute", "hour", "day"))
    for rungs in (minutely, hourly):
        assert rungs["colleague"].title == "A colleague: values ± 1, dates ± 13 hours"
        assert rungs["acquaintance"].adversary.time_error == 5 / 24
        assert rungs["acquaintance"].title == "An acquaintance: values ± 1, dates ± 5 hours"
    assert "the date error is 2 % of the time span of 11" in minutely["acquaintance"].note
    assert daily["acquaintance"].adversary.time_error == 0
    assert daily["acquaintance"].title == "An acquaintance: values ± 1, exact dates"
    assert "date error" not in fitted(stars())["acquaintance"].note


def test_relative_errors_are_those_of_a_slow_twin():
    draw = np.random.default_rng(4)
    samples = [
        draw.lognormal(3, 2, 300).round(2),
        draw.integers(-5, 50, 200),
        draw.choice([0, 1, 7, 100], 90),
        draw.choice([0.1, 0.2, 0.3], 20),
        [3.0] * 10,
        [1.0] * 19 + [1000.0],
    ]
    for values in samples:
        units = {"day": 1440, "hour": 60, "minute": 1}
        for unit, days in (("day", 3000), ("hour", 40), ("minute", 2), ("minute", 1000)):
            moments = draw.integers(days * 1440 // units[unit], size=len(values)) * units[unit]
            rows = [
                (str(i), "thing", float(value), datetime(2000, 1, 1) + timedelta(minutes=int(minute)))
                for i, (value, minute) in enumerate(zip(values, moments, strict=True))
            ]
            frame = pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")
            spread = DataSpread(so.read(frame, time_unit=unit))
            for share in (0.0, 0.05, 0.33, 0.9):
                wanted = naive.relative_value_error([float(value) for value in values], share)
                assert spread.error("value_error", RelativeError(share)) == pytest.approx(wanted, rel=1e-9)
                wanted = naive.relative_time_error(moments.tolist(), units[unit], str(share), 30)
                assert spread.error("time_error", RelativeError(share, 30)) == pytest.approx(float(wanted), rel=1e-9)


def test_a_few_absurd_values_and_dates_do_not_change_the_errors():
    frame = stars(days=60).to_frame()
    absurd = frame.with_row_index().with_columns(
        value=pl.when(pl.col("index") < 5).then(1e12).otherwise(pl.col("value")),
        time=pl.when(pl.col("index") < 5).then(datetime(1970, 1, 1).date()).otherwise(pl.col("time")),
    )
    plain, odd = (fitted(so.read(each))["colleague"].adversary for each in (frame, absurd.drop("index")))
    assert (plain.value_error, plain.time_error) == (odd.value_error, odd.time_error) == (1, 2)


def test_titles_say_only_what_is_true_of_the_release():
    titles = [rung.title for rung in fitted(people(time=False)).values()]
    assert titles == [
        "A colleague: values ± 1",
        "An acquaintance: values ± 1",
        "Public profile: exact values",
        "The worst case: exact values",
    ]
    assert fitted(people(value=False, time=False))["worst"].title == "The worst case: items only"
    assert fitted(people(value=False))["worst"].title == "The worst case: exact dates"
    words = fitted(people(value=lambda draw: str(draw.choice(["rented", "bought"]))))
    assert words["acquaintance"].title == "An acquaintance: exact values, dates ± 14 days"
    binary = fitted(people(value=lambda draw: float(draw.integers(2))))
    assert binary["acquaintance"].title == "An acquaintance: exact values, dates ± 14 days"


def test_the_worst_case_knows_as_many_facts_as_any_other_about_the_rarest_items():
    for release in (people(), people(length=lambda r: 3), people(value=False), people(time=False)):
        adversaries = {name: rung.adversary for name, rung in fitted(release).items()}
        worst = adversaries["worst"]
        assert worst.knows == max(adversary.knows for adversary in adversaries.values())
        assert (str(worst.items), worst.wrong) == ("rarest", 0) and not worst.value_error and not worst.time_error
    assert fitted(people(), {"worst": LADDER[4]})["worst"].adversary == DEFAULTS["worst"]


def test_the_spread_of_dates_needs_no_memory_for_hours_without_entries():
    first = datetime(2005, 1, 1)
    moments = [*(first + timedelta(hours=7 * n) for n in range(40)), None, datetime(9999, 12, 31)]
    rows = {"user": [f"u{n % 5}" for n in range(42)], "item": [f"i{n}" for n in range(42)], "time": moments}
    release = so.read(pl.DataFrame(rows), time_unit="hour")
    tracemalloc.start()
    try:
        days = DataSpread(release).days
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert days == (36 - 4) * 7 / 24  # the 37th and the 5th of 41 dates
    assert release.span > 70_000_000 and peak < 10_000_000, f"{peak:,} bytes"


def test_an_adversary_that_equals_another_keeps_its_say_about_the_threshold():
    adversary = so.Adversary(knows=3)
    rungs = [Rung("w", "W", adversary, gate=False), Rung("g", "G", adversary, gate=True)]
    fitted = fit_ladder(resolve_ladder(rungs), people())
    assert [(rung.name, rung.gate) for rung in fitted.rungs] == [("w", True)]
