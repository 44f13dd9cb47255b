"""What Python shows of results: one or two lines with the main number, and nobody's id."""

import re

import pytest

import standout as so

pytestmark = pytest.mark.once
LONGEST = 320
SECRET = "Jane Doe"


@pytest.fixture(scope="module")
def release():
    """A release in which every id holds the secret."""
    frame = so.synthesize(records=80, items=40, entries=1_200, seed=7).to_frame()
    return so.read(frame.with_columns(record=f"{SECRET} " + frame["record"]))


RESULTS = {
    "Release": (lambda r: r, "1,200 entries"),
    "Simulation": (lambda r: so.simulate(r, so.Adversary(knows=4), targets=20, seed=1), r"identified \d+"),
    "SimulationCell": (lambda r: so.simulate(r, so.Adversary(knows=4), targets=20, seed=1).cell(), r"identified \d+"),
    "Sparsity": (so.sparsity, r"nearest neighbour 0\.\d+"),
    "Description": (so.describe, "80 records"),
    "Links": (lambda r: so.link(r, r, budget=0.1, decoys=60), r"80 profiles, \d+ claims"),
    "Verdict": (lambda r: so.ScoreboardRH().attack(r, so.Adversary(knows=1).observe(r, r.records[3])), "eccentricity"),
    "PosteriorVerdict": (
        lambda r: so.Likelihood().attack(r, so.Adversary(knows=1).observe(r, r.records[3])),
        "probability of the best",
    ),
    "Utility": (lambda r: so.utility(r, "drop-entries 0.5", people=30), "of the utility kept|unknown"),
}


def test_a_result_is_shown_in_a_line_or_two_with_its_main_number_and_without_ids(release):
    for name in RESULTS:
        make, number = RESULTS[name]
        text = repr(make(release))
        assert text.startswith(f"<{name}: ") and text.endswith(">")
        assert len(text) <= LONGEST and SECRET not in text
        assert re.search(number, text), text


def test_an_audit_is_shown_as_its_answer(release):
    audit = so.audit(release, quick=True, targets=30)
    text = repr(audit)
    assert text.startswith(f"<Audit: {audit.findings.answer.sentence}".replace("\xa0", " "))
    assert "Interval: " in text and "30 targets" in text
    assert len(text) <= LONGEST and SECRET not in text and "\xa0" not in text


def test_a_mistyped_name_of_a_measure_attack_or_adversary_is_answered_with_the_closest(release):
    simulation = so.simulate(release, {"friend": so.Adversary(knows=2)}, targets=5)
    with pytest.raises(so.NotFoundError, match="no measure 'identifyed'; did you mean 'identified'"):
        simulation.estimate("identifyed")
    with pytest.raises(so.NotFoundError, match="did you mean 'friend'"):
        simulation.cell("freind")
    attacks = {"paper": so.ScoreboardRH(), "other": so.ScoreboardRH(time_scale=None)}
    comparison = so.compare(release, {"friend": so.Adversary(knows=2)}, attacks, targets=5)
    with pytest.raises(so.NotFoundError, match="did you mean 'paper'"):
        comparison.row("papr")
    with pytest.raises(so.ParameterError, match="did you mean 'evidence'"):
        so.link(release, release, budget=0.1, decoys=60).histogram("evidense")


def test_whole_numbers_are_ids_in_a_verdict():
    numbered = so.synthesize(records=40, items=20, entries=300, seed=7)
    verdict = so.ScoreboardRH().attack(numbered, so.Adversary(knows=2).observe(numbered, 7))
    assert verdict.score(7) == verdict.score("7") and verdict.rank(7) == verdict.rank("7")
    with pytest.raises(so.ParameterError, match="text or a whole number, got float"):
        verdict.score(7.0)
