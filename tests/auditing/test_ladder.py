"""The ladder: adversaries adapted to a release; what does not apply is skipped and reported."""

import pytest

import standout as so
from auditing.audit_samples import people
from standout.auditing.ladder import (
    LADDER,
    Rung,
    describe_adversary,
    fit_ladder,
    fit_rung,
    resolve_ladder,
    with_facts,
)

pytestmark = pytest.mark.once


def test_knowledge_that_a_release_lacks_is_removed_and_reported():
    release = people(value=False, time=False)
    fitted = fit_ladder(resolve_ladder(None), release)
    assert [rung.name for rung in fitted.rungs] == ["colleague", "acquaintance", "profile", "worst"]
    assert fitted.limits == (
        "The adversary “undated” was skipped because it equals “acquaintance” on this data.",
    )
    headline = fitted.rungs[1]
    assert headline.adversary == so.Adversary(
        knows=8, wrong=2, wrong_facts="items", value_error=None, time_error=None
    )
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
        "fewer than 5 % of the records have enough items for 8 facts, 2 of them wrong, "
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
