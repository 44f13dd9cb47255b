"""Linking as a whole: parameters, interruption, and the budget on absent people."""

import numpy as np
import polars as pl
import pytest
from linking_data import FEW

import standout as so
from standout.data.build import subset
from standout.linking import decoys as profiles_module

pytestmark = pytest.mark.once


def test_parameters_that_are_not_allowed_are_refused(pair):
    for given, message in (
        ({"dates": "maybe"}, "dates must be one of use, ignore, learn"),
        ({"budget": 0}, "budget must be a number above 0"),
        ({"budget": 0.001}, "decoys must be at least 999 for a budget of 0.001, got 24"),
        ({"decoys": -1}, "decoys must be a whole number"),
        ({"decoys": True}, "decoys must be a whole number"),
        ({"phi": -1}, "phi must be a finite number"),
        ({"by": "score"}, "by must be one of evidence, eccentricity"),
        ({"by": "evidence", "phi": 1.5}, "phi is an eccentricity"),
        ({"seed": -1}, "seed must be"),
        ({"attack": so.ScoreboardRH}, "attack must be an attack"),
        ({"attack": so.Likelihood(), "phi": 1.5}, "phi is an eccentricity"),
        ({"attack": so.ScoreboardRH(), "by": "evidence"}, "by must be eccentricity with ScoreboardRH"),
    ):
        with pytest.raises(so.ParameterError, match=message):
            so.link(*pair, **FEW | given)


def test_data_sets_that_cannot_be_linked_are_refused(pair):
    stranger = so.read(pl.DataFrame({"record": ["x", "y"], "item": ["alpha", "beta"]}))
    with pytest.raises(so.StandoutError):
        so.link(pair[0], stranger, **FEW)
    with pytest.raises(so.ParameterError, match="public must be a Release, a path or a frame, got int"):
        so.link(pair[0], 7, **FEW)
    alone = so.read(pl.DataFrame({"record": ["x"], "item": ["1"]}))
    with pytest.raises(so.ParameterError, match="at least two records"):
        so.link(alone, pair[1], **FEW)


def test_an_interrupted_linking_returns_the_profiles_linked_so_far(pair, monkeypatch):
    monkeypatch.setattr(profiles_module, "BATCH_PROFILES", 5)

    def stop(stage, done, total):
        if stage == "linking" and done >= 10:
            raise KeyboardInterrupt

    given = FEW | {"by": "eccentricity"}
    whole, links = so.link(*pair, **given), so.link(*pair, progress=stop, **given)
    assert not links.complete and len(links) == 10
    assert f"interrupted after 10 of {pair[1].n_records} profiles" in links.summary
    assert links.table.drop("contested").equals(whole.table.drop("contested").head(10))
    assert links.findings().complete is False

    def stop_at_once(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        so.link(*pair, progress=stop_at_once, **FEW)


def test_progress_is_reported_for_learning_decoys_and_profiles(pair):
    reports = []
    so.link(*pair, progress=lambda *report: reports.append(report), **FEW)
    last = {stage: (done, total) for stage, done, total in reports}
    n = pair[1].n_records
    assert last == {"learning": (4, 4), "decoys": (48, 48), "linking": (n, n)}


def test_people_on_both_sides_are_claimed_and_strangers_are_not():
    frame = so.synthesize(records=240, items=120, entries=7_000, seed=11).to_frame()
    draw = np.random.default_rng(1)
    sides = [so.read(frame.filter(pl.Series(draw.random(len(frame)) < 0.6))) for _ in range(2)]
    both = so.link(*sides, truth={str(n): str(n) for n in range(1, 241)}, decoys=120)
    assert both.recall.value > 0.85 and both.precision.value > 0.99
    even = pl.col("record").cast(pl.Int64) % 2 == 0
    absent = so.link(so.read(frame.filter(even)), so.read(frame.filter(~even)), decoys=120, seed=3)
    assert absent.claims <= 0.02 * len(absent)


class MostItems(so.Attack):
    """The record with the most known items; the shortest of them if several have as many."""

    def scores(self, release, known):
        scores = np.zeros((len(known), release.n_records))
        for fact in so.fact_entries(release, known):
            scores[fact.target, fact.record] += 1
        return np.where(scores > 0, scores + 1 / (1 + release.lengths), 0.0)


@pytest.mark.parametrize("dates", ["use", "ignore"])
def test_a_given_attack_decides_which_record_is_best(pair, dates):
    release, public = pair
    shared = public.to_frame().filter(pl.col("item").is_in(list(release.items)))
    facts = shared.partition_by("record", as_dict=True)
    for attack in (MostItems(), so.ScoreboardRH(value_scale=0.5), so.Likelihood()):
        links = so.link(release, public, attack=attack, dates=dates, **FEW)
        assert links.settings.attack == type(attack).__name__
        for (profile,), rows in facts.items():
            aux = so.Aux(
                so.Fact(row["item"], row.get("value"), row.get("time") if dates == "use" else None)
                for row in rows.to_dicts()
            )
            verdict, (row,) = attack.attack(release, aux), links.table.filter(profile=profile).to_dicts()
            assert row["record"] in verdict.tied and row["ties"] == verdict.ties
            assert row["score"] == pytest.approx(verdict.highest)
            if isinstance(attack, so.Likelihood):
                chance = verdict.probability(row["record"])
                assert row["evidence"] == pytest.approx(np.log2(chance / (1 - chance)), abs=1e-4)
            else:
                assert row["eccentricity"] == pytest.approx(verdict.eccentricity, rel=1e-5, abs=1e-9)
            assert not row["claimed"] or row[links.settings.by] >= links.phi
    assert so.link(release, public, attack=MostItems(), **FEW).table["strongest_part"].null_count() == len(links.table)


@pytest.fixture(scope="module")
def movielens(realdata):
    return so.read(realdata / "movielens-latest-small")


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.realdata
def test_claims_about_absent_people_keep_to_the_budget(movielens):
    claims = profiles = 0
    for seed in range(2):
        chosen = np.random.default_rng(seed).random(movielens.n_records) < 0.5
        release, public = subset(movielens, chosen), subset(movielens, ~chosen)
        links = so.link(release, public, budget=0.05, decoys=300, seed=seed)
        claims, profiles = claims + links.claims, profiles + len(links)
    assert claims <= 0.05 * profiles


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.realdata
def test_nearly_all_people_on_both_sides_are_identified(movielens):
    frame, draw = movielens.to_frame(), np.random.default_rng(1)
    release, public = (so.read(frame.filter(pl.Series(draw.random(len(frame)) < 0.5))) for _ in range(2))
    links = so.link(release, public, truth={name: name for name in release.records}, decoys=600)
    assert links.identified.mean() > 0.98 and links.precision.value > 0.99 and links.recall.value > 0.9
