"""Outcomes: each equals its slow twin, and that of a single attack."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so
from evaluate.releases import (
    ADVERSARY,
    COMPILED,
    NAMES,
    SIZES,
    facts_of,
    has_room_for_errors,
    histories,
    released,
    targets_of,
)
from standout.attack.verdict import NO_CLAIM
from standout.evaluate.outcomes import record_scores
from standout.evaluate.simulate import simulate


@settings(max_examples=30 if COMPILED else 8)
@given(histories(), st.integers(0, 3), st.integers(1, 4), st.sampled_from([0.3, 0.5, 1.0]))
def test_every_outcome_equals_its_slow_twin(cells, wrong, top, theta):
    release = released(cells)
    assume(has_room_for_errors(cells))
    adversary = so.Adversary(knows=3, wrong=wrong, value_error=1, time_error=3)
    options = {"draws": 2, "top": top, "theta": theta, "similarity": so.Within(value=1, time=14)}
    simulation = simulate(release, adversary, facts=SIZES, targets="all", seed=5, **options)
    able = np.flatnonzero(adversary.eligible(release, range(release.n_records)))
    targets = [target for target in targets_of(release, 5) if target in able]
    assert simulation.complete and {cell.too_few_items for cell in simulation.cells} == {release.n_records - len(able)}
    known = adversary.observe_all(release, targets, 5, draws=2)
    for cell, size in zip(simulation.cells, SIZES, strict=True):
        assert (cell.facts, len(cell.outcomes)) == (size, len(targets))
        for t, target in enumerate(targets):
            for d in range(2):
                facts = dict(list(facts_of(known.aux(release, 2 * t + d)).items())[:size])
                if naive.has_coincidental_tie(cells, facts):
                    continue
                person = naive.record_of(cells, release.records[target])
                slow = naive.attack_outcome(cells, facts, person, release.records[target], top, theta)
                for name in NAMES:
                    outcome = getattr(cell.outcomes, name)[t, d]
                    if name.startswith("lineup") and d == 1:
                        assert np.isnan(outcome)
                    else:
                        assert outcome == pytest.approx(slow[name], rel=2e-6, abs=2e-6), name


@pytest.mark.parametrize("draws", [1, 3])
def test_outcomes_equal_those_of_single_attacks(release, draws):
    simulation = simulate(release, ADVERSARY, facts=[2, 5, 6], targets=12, draws=draws, seed=4)
    targets = [p for p in targets_of(release, 4) if release.lengths[p] >= 6][:12]
    known = ADVERSARY.observe_all(release, targets, 4, draws)
    attack = so.ScoreboardRH()
    for q in range(len(known)):
        aux, name = known.aux(release, q), release.records[targets[q // draws]]
        for cell in simulation.cells:
            short = replace(aux, facts=aux.facts[: cell.facts])
            present, absent = attack.attack(release, short), attack.attack(release, short, exclude=name)
            outcome = {field: getattr(cell.outcomes, field)[q // draws, q % draws] for field in NAMES}
            assert outcome["identified"] == (name in present.tied) / present.ties
            assert outcome["bits_left"] == pytest.approx(present.entropy(name), abs=2e-6)
            assert outcome["best_probability"] == pytest.approx(present.probability(present.best), rel=2e-6)
            first, same = present.rank(name), np.count_nonzero(present.scores == present.score(name))
            assert outcome["in_top"] == pytest.approx(min(1, max(0, 11 - first) / same))
            for field, verdict in (("claim_strength", present), ("absent_claim_strength", absent)):
                matched = verdict.match(0)
                assert outcome[field] == (pytest.approx(verdict.eccentricity, rel=2e-6) if matched else NO_CLAIM)


def test_a_known_length_removes_candidates_and_gains_bits(release):
    adversary = replace(ADVERSARY, length_error=0.5)
    simulation = simulate(release, adversary, facts=[2, 6], targets=25, seed=1)
    targets = [p for p in targets_of(release, 1) if release.lengths[p] >= 6][:25]
    known = adversary.observe_all(release, targets, 1)
    lengths = release.lengths
    for cell in simulation.cells:
        for t in range(25):
            low, high = known.length[t]
            assert cell.outcomes.candidates[t, 0] == ((lengths >= low) & (lengths <= high)).sum()
            aux = known.aux(release, t)
            verdict = so.ScoreboardRH().attack(release, replace(aux, facts=aux.facts[: cell.facts]))
            assert cell.outcomes.bits_left[t, 0] == pytest.approx(
                verdict.entropy(release.records[targets[t]]), abs=1e-5
            )
        left, gained = (simulation.estimate(name, facts=cell.facts).value for name in ("bits_left", "bits_gained"))
        assert left + gained == pytest.approx(math.log2(release.n_records))


def test_a_large_tie_is_averaged_over_its_records():
    """60 people with the same film and 0 to 59 films of their own."""
    cells = {(f"p{i:02}", "x"): (3.0, 0) for i in range(60)}
    cells |= {(f"p{i:02}", f"own{i}.{j}"): (1.0, 0) for i in range(60) for j in range(i)}
    release = released(cells)
    simulation = simulate(release, so.Adversary(knows=1, items="popular"), targets=["p00"])
    cell = simulation.cell()
    assert cell.outcomes.identified[0, 0] == pytest.approx(1 / 60)
    assert cell.outcomes.similar[0, 0] == pytest.approx(2 / 60)  # itself, and who has one film more
    assert cell.outcomes.revealed[0, 0] == pytest.approx(29.5, abs=1)
    assert cell.outcomes.revealed_correct[0, 0] == 0


def test_a_record_that_is_no_candidate_is_no_similar_record():
    """Two people have the same films, one of them more; what is told of the other is true of this one."""
    cells = {("a", f"x{i}"): (1.0, 0) for i in range(6)} | {("b", f"x{i}"): (2.0, 0) for i in range(9)}
    cells |= {(f"c{i}", f"y{i}.{j}"): (1.0, 0) for i in range(20) for j in range(6)}
    release, mistaken = released(cells), so.Adversary(knows=3, wrong=3, time_error=None)
    ask = partial(simulate, release, facts=3, targets=["a"], theta=0.5, similarity=so.Present())
    unfiltered = ask(mistaken).cell().outcomes
    filtered = ask(replace(mistaken, length_error=0.1)).cell().outcomes
    assert (
        unfiltered.identified[0, 0],
        unfiltered.similar[0, 0],
        filtered.identified[0, 0],
        filtered.similar[0, 0],
    ) == (0, 1, 1, 1)
    assert unfiltered.similar_bits_left[0, 0] < unfiltered.bits_left[0, 0]
    assert filtered.similar_bits_left[0, 0] == filtered.bits_left[0, 0]


def test_a_right_record_that_is_no_candidate_has_no_score_in_place_of_one_above_the_highest():
    cells = {("a", f"x{i}"): (1.0, 0) for i in range(6)} | {("b", "x0"): (1.0, 0), ("c", "y"): (1.0, 0)}
    aux = so.Aux([so.Fact("x0", 1.0), so.Fact("x1", 1.0)], length=(1, 2))
    verdicts = so.ScoreboardRH().attacks(released(cells), [aux, so.Aux(aux.facts)])
    assert record_scores(verdicts, np.array([0, 0]))[0] == -np.inf
    assert record_scores(verdicts, np.array([0, 0]))[1] == verdicts[1].highest


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.large
def test_absent_equals_a_release_built_without_the_target(realdata):
    frame = pl.read_csv(realdata / "movielens-latest-small" / "ratings.csv")
    frame = frame.rename({"userId": "record", "movieId": "item"})
    frame = frame.select(pl.col("record", "item").cast(pl.String), "rating", "timestamp")
    options = {"value": "rating", "time": "timestamp", "time_format": "s"}
    release = so.read(frame, **options, kind="history")
    adversary = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    simulation = simulate(release, adversary, facts=[2, 8], targets=50, seed=7)
    targets = [p for p in targets_of(release, 7) if release.lengths[p] >= 8][:50]
    known = adversary.observe_all(release, targets, 7)
    for t, target in enumerate(targets):
        rebuilt = so.read(frame.filter(pl.col("record") != release.records[target]), **options, kind="history")
        aux = known.aux(release, t)
        for cell in simulation.cells:
            verdict = so.ScoreboardRH().attack(rebuilt, replace(aux, facts=aux.facts[: cell.facts]))
            matched = verdict.match(0)
            expected = pytest.approx(verdict.eccentricity, rel=1e-6, abs=1e-9) if matched else NO_CLAIM
            assert cell.outcomes.absent_claim_strength[t, 0] == expected
