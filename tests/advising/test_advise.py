"""Advice: which ways are tried, what is recommended, and that nothing is recommended for being lucky."""

import json
import math
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.advising import search
from standout.advising.candidate import Point
from standout.advising.composition import DECOYS
from standout.advising.frontier import Guess, _undominated, frontier, promising, proposed
from standout.advising.menu import family, menu
from standout.advising.runner import Lab
from standout.advising.search import searched
from standout.advising.strongest_attack import Risk, risk
from standout.core.progress import no_progress
from standout.data_utility.utility import Utility
from standout.evaluate.estimates import Estimate, rate
from standout.release.subset import subset

pytestmark = pytest.mark.once
ADVERSARY = so.Adversary(knows=5, wrong=1, value_error=1, time_error=14)


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=150, items=80, entries=3_000, seed=7)


def steps(*words):
    return tuple(map(so.step, words))


def point(words, found, kept, n=1000, stage="quick", released=None):
    """A way with these numbers."""
    price = Estimate(kept, kept - 0.05, kept + 0.05, n, 0.0)
    names = Utility.__dataclass_fields__
    told = {name: price if name in ("kept", "hit_rate", "hit_rate_before") else None for name in names}
    told |= {"steps": tuple(words), "seed": 0, "fingerprint": "f"}
    share = rate(found * n, n)
    return Point(steps(*words), Risk(share, released or share, ""), Utility(**told), stage)


# How many are found


@pytest.mark.parametrize("words", [[], ["drop-entries 0.5"], ["sample-records 0.4"], ["round-time month"]])
def test_where_there_is_no_noise_the_risk_is_what_a_simulation_finds(release, words):
    safer = so.sanitize(release, *words, seed=3)
    found = risk(safer, steps(*words), ADVERSARY, 60, 5)
    wanted = so.simulate(safer, ADVERSARY, targets=60, seed=5, absent=False)
    assert found.everybody == wanted.estimate("identified") and found.attack == ""
    right, there = (
        wanted.cells[0].outcomes.identified.ravel(),
        safer.mapping.representatives[wanted.cells[0].targets] >= 0,
    )
    assert found.released.value == pytest.approx(right[there].mean()) and found.released.n == there.sum()


def test_noise_is_allowed_for_by_the_strongest_of_several_attacks(release):
    words = ["perturb-time 365", "randomized-response 0.5"]
    safer = so.sanitize(release, *words, seed=3)
    found = risk(safer, steps(*words), ADVERSARY, 100, 5)
    attacks = [so.ScoreboardRH(so.Within(value=None, time=365 + 14))]
    attacks += [so.ScoreboardRH(time_scale=d, value_scale=v) for d in (30, 730, None) for v in (1.5, None)]
    rates = [
        so.simulate(safer, ADVERSARY, attack=attack, targets=100, seed=5, absent=False)
        .estimate("identified")
        .value
        for attack in attacks
    ]
    assert found.everybody.value == pytest.approx(max(rates)) and found.attack


@pytest.mark.realdata
def test_on_movielens_noise_protects_less_than_the_papers_attack_says(realdata):
    release = so.read(realdata / "movielens-latest-small")
    who = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    words = ["round-time none", "randomized-response 1"]
    safer = so.sanitize(release, *words, seed=1)
    naive = so.simulate(safer, who, targets=300, seed=1, absent=False).estimate("identified")
    assert risk(safer, steps(*words), who, 300, 1).everybody.low > naive.high


# Which ways are worth trying


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_the_frontier_is_what_nothing_beats(pairs):
    guesses = [Guess((at,), found / 6, kept / 6) for at, (found, kept) in enumerate(pairs)]
    best = {(guess.risk, guess.kept) for guess in _undominated(guesses)}

    def beaten(one):
        others = [other for other in guesses if other[1:] != one[1:]]
        return any(other.risk <= one.risk and other.kept >= one.kept for other in others)

    assert best == {(one.risk, one.kept) for one in guesses if not beaten(one)}


def test_the_frontier_goes_from_the_highest_risk_to_the_lowest():
    points = [
        point([], 0.9, 1.0), point(["drop-entries 0.5"], 0.5, 0.6), point(["drop-entries 0.9"], 0.1, 0.2),
        point(["cap-records 5"], 0.6, 0.5),
    ]  # fmt: skip
    assert [one.name for one in frontier(points)] == ["untouched", "drop-entries 0.5", "drop-entries 0.9"]


def test_of_a_combination_it_is_expected_what_its_parts_did():
    tried = {
        one.steps: one
        for one in (
            point([], 0.9, 1.0), point(["round-time none"], 0.6, 1.0), point(["round-time year"], 0.8, 1.0),
            point(["drop-entries 0.5"], 0.45, 0.7), point(["cluster-records 5"], 0.2, 0.6),
        )
    }  # fmt: skip
    combined = proposed(tried, 0.1, 6)
    assert 0 < len(combined) <= 6 and not {*combined} & {*tried}
    assert all(len({family(step) for step in way}) == len(way) >= 2 for way in combined)
    assert combined[0] == steps("round-time none", "drop-entries 0.5", "cluster-records 5")  # ≈ 0.067, 0.42
    for way in combined:
        tried[way] = point(list(map(str, way)), 0.5, 0.5)
    assert not {*proposed(tried, 0.1, 6)} & {*combined}


def test_half_of_what_is_tried_fully_is_what_leaves_most_below_the_limit():
    points = [point([f"drop-entries 0.{n}"], 0.5 - 0.05 * n, 1 - 0.1 * n) for n in range(1, 10)]
    names = {one.name for one in promising(points, 0.3, 1000, 4)}
    assert names == {"drop-entries 0.5", "drop-entries 0.6", "drop-entries 0.4", "drop-entries 0.3"}


def test_the_menu_offers_what_the_release_has(release):
    kinds = {family(step) for step in menu(release, 0.2)}
    assert kinds == {"times", "values", "items", "entries", "records"}
    bare = so.read(release.to_frame().select("record", "item"))
    assert {family(step) for step in menu(bare, 0.2)} == {"items", "entries", "records"}
    assert len({str(step) for step in menu(release, 0.2)}) == len(menu(release, 0.2))
    for one in menu(release, 0.2):
        assert so.sanitize(release, one).n_records


# The search, with a lab that answers what it is told


class Told:
    """A lab whose ways have known numbers: {name: (found, kept)}, and other ones afresh."""

    def __init__(self, known, afresh=None, stop_after=math.inf):
        self.known, self.afresh, self.asked = known, afresh or {}, []
        self.targets, self.stop_after = 1000, stop_after

    def quick(self, way):
        return self._answer("quick", way, self.known)

    def full(self, way):
        return self._answer("full", way, self.known)

    def fresh(self, way):
        return self._answer("fresh", way, self.known | self.afresh)

    def _answer(self, stage, way, known):
        name = " + ".join(map(str, way))
        self.asked.append((stage, name))
        if len(self.asked) > self.stop_after:
            raise KeyboardInterrupt
        if known[name] is None:
            raise so.ParameterError("nothing would be left")
        return point(list(map(str, way)), *known[name], stage=stage)


KNOWN = {
    "": (0.9, 1.0),
    "drop-entries 0.5": (0.5, 0.8),
    "drop-entries 0.8": (0.02, 0.4),
    "drop-entries 0.9": (0.01, 0.3),
}
WAYS = [steps(name) for name in KNOWN if name]


def test_the_cheapest_below_the_limit_is_recommended_once_it_was_measured_afresh():
    lab = Told(KNOWN)
    found = searched(lab, 0.05, WAYS, no_progress)
    assert found.complete and found.recommended.name == "drop-entries 0.8"
    assert found.recommended.stage == "fresh" and lab.asked[-1] == ("fresh", "drop-entries 0.8")


@pytest.mark.parametrize("share", [0.06, 0.045], ids=["above", "its interval reaches above"])
def test_what_fails_afresh_is_not_recommended_but_the_next_is(share):
    found = searched(Told(KNOWN, {"drop-entries 0.8": (share, 0.4)}), 0.05, WAYS, no_progress)
    assert found.recommended.name == "drop-entries 0.9" and [one.name for one in found.failed] == [
        "drop-entries 0.8"
    ]
    both = {"drop-entries 0.8": (0.06, 0.4), "drop-entries 0.9": (0.07, 0.4)}
    assert searched(Told(KNOWN, both), 0.05, WAYS, no_progress).recommended is None


def test_an_interval_that_reaches_above_the_limit_is_not_below_it():
    assert (
        searched(Told(KNOWN | {"drop-entries 0.8": (0.045, 0.4)}), 0.05, WAYS, no_progress).recommended.name
        == "drop-entries 0.9"
    )


def test_a_release_that_is_safe_already_is_left_as_it_is():
    found = searched(Told(KNOWN | {"": (0.01, 1.0)}), 0.05, WAYS, no_progress)
    assert found.recommended.steps == ()


def test_a_way_that_leaves_nothing_is_told_and_passed_over():
    found = searched(Told(KNOWN | {"drop-entries 0.9": None}), 0.05, WAYS, no_progress)
    assert found.impossible == {"drop-entries 0.9": "nothing would be left"} and found.recommended


@pytest.mark.parametrize("after", [2, 4, 6, 8])
def test_a_search_that_is_cut_short_recommends_nothing(after):
    found = searched(Told(KNOWN, stop_after=after), 0.05, WAYS, no_progress)
    assert not found.complete and found.recommended is None and len(found.points) >= 2


def test_cut_short_before_anything_was_tried_it_ends():
    with pytest.raises(KeyboardInterrupt):
        searched(Told(KNOWN, stop_after=1), 0.05, WAYS, no_progress)


# All of it


MIXED = [
    "round-time none",
    "drop-entries 0.5",
    ["round-time none", "drop-entries 0.9"],
    "drop-rare-items 999",
]
ASKED = {"candidates": MIXED, "targets": 100, "people": 60, "seed": 2, "name": "films"}


@pytest.fixture(scope="module")
def done(release):
    return so.advise(release, ADVERSARY, 0.4, **ASKED)


def test_the_advice_tells_its_ways_the_frontier_and_the_command(done):
    assert done.complete and done.points[0].name == "untouched" and len(done.points) == 4
    assert "drop-rare-items 999" in done.found.impossible
    best = done.recommended
    assert best.stage == "fresh" and best.risk.everybody.high <= 0.4
    words = shlex.split(done.command("films.csv", "safer"))
    told = [words[at + 1] for at, word in enumerate(words) if word == "--step"]
    assert steps(*told) == best.steps and words[:3] == ["standout", "sanitize", "films.csv"]
    assert "--seed" not in words and "--renumber" in words
    assert best.name in done.summary and "afresh" in done.summary


def test_the_table_and_the_plain_form_hold_the_same_numbers(done, tmp_path):
    told = done.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    rows = {row["steps"]: row for row in done.table.iter_rows(named=True)}
    for one in told["points"]:
        row = rows[one["name"]]
        assert row["risk"] == one["risk"]["value"] and row["frontier"] == one["frontier"]
        assert row["kept_low"] == one["utility"]["kept"]["low"]
    assert sum(row["recommended"] for row in rows.values()) == 1
    for form in ("csv", "json", "parquet", "html"):
        getattr(done, f"to_{form}")(tmp_path / f"advice.{form}")
    page = (tmp_path / "advice.html").read_text()
    assert done.recommended.name in page and "<svg" in page and "<script" not in page


def test_the_same_seed_gives_the_same_advice(release, done):
    again = so.advise(release, ADVERSARY, 0.4, threads=1, **ASKED)
    assert json.dumps(again.to_dict()) == json.dumps(done.to_dict())


def test_what_was_done_is_not_done_again(release, tmp_path, monkeypatch):
    asked = {"candidates": ["drop-entries 0.5"], "targets": 40, "people": 30, "seed": 1}
    first = so.advise(release, ADVERSARY, 0.01, work=tmp_path / "work", **asked)

    def never(*_, **__):
        raise AssertionError("tried again")

    monkeypatch.setattr("standout.advising.runner.sanitize", never)
    again = so.advise(release, ADVERSARY, 0.01, work=tmp_path / "work", **asked)
    assert again.to_dict() == first.to_dict()
    assert (tmp_path / "work" / "advice.json").stat().st_mode & 0o077 == 0
    (tmp_path / "work" / "advice.json").write_text("{half")
    with pytest.raises(AssertionError, match="tried again"):
        so.advise(release, ADVERSARY, 0.01, work=tmp_path / "work", **asked)


def test_a_point_comes_back_as_it_was_told(release):
    lab = Lab(release, ADVERSARY, 40, 30, 1)
    one = lab.quick(steps("drop-entries 0.5"))
    told = json.dumps(one.to_dict())
    again = Point.of(json.loads(told), one.steps, "everybody", 1, release.fingerprint)
    assert json.dumps(again.to_dict()) == told and repr(again.utility) == repr(one.utility)


def test_a_part_of_the_records_is_enough_to_learn_from_where_there_are_many(release, monkeypatch):
    monkeypatch.setattr("standout.advising.runner.ENOUGH", 1_500)
    lab = Lab(release, ADVERSARY, 40, 60, 1)
    quick, full = (way(steps("drop-entries 0.5")) for way in (lab.quick, lab.full))
    assert lab._bench.share == 0.5 and quick.utility.hit_rate != full.utility.hit_rate
    alone = so.utility(release, so.DropEntries(0.5), people=60, seed=1)
    assert repr(dict(full.utility.measures())) == repr(dict(alone.measures()))


def test_nothing_of_a_person_is_in_the_advice(tmp_path):
    frame = so.synthesize(records=60, items=40, entries=900, seed=3).to_frame()
    release = so.read(frame.with_columns(record="person " + frame["record"], item="secret " + frame["item"]))
    done = so.advise(
        release, limit=0.5, candidates=["drop-entries 0.7"], targets=30, people=30, work=tmp_path
    )
    done.to_html(tmp_path / "report.html")
    done.to_csv(tmp_path / "frontier.csv")
    told = json.dumps(done.to_dict()) + "".join(path.read_text() for path in tmp_path.iterdir())
    assert "person " not in told and "secret" not in told


def test_the_limit_can_be_for_those_who_are_released(release):
    ways = ["sample-records 0.1", ["round-time none", "drop-entries 0.9"]]
    asked = {"candidates": ways, "targets": 150, "people": 60, "seed": 2}
    everybody, released = (
        so.advise(release, ADVERSARY, 0.45, among=among, **asked) for among in ("everybody", "released")
    )
    assert everybody.recommended.name == "sample-records 0.1"
    assert "leaving people out" in everybody.summary and "for these" in everybody.summary
    assert released.recommended is None or released.recommended.name != "sample-records 0.1"


def test_what_cannot_be_asked_is_refused(release):
    for limit in (0, 1, "much", True, math.nan):
        with pytest.raises(so.ParameterError, match="limit"):
            so.advise(release, limit=limit)
    for ways in ("drop-entries 0.5", [], [[]], [3], ["no-such-step"]):
        with pytest.raises(so.ParameterError):
            so.advise(release, candidates=ways)
    with pytest.raises(so.ParameterError, match="adversary"):
        so.advise(release, "somebody")
    with pytest.raises(so.ParameterError, match="among"):
        so.advise(release, among="all")
    with pytest.raises(so.ParameterError, match="original"):
        so.advise(so.sanitize(release, "drop-entries 0.5"))


def test_steps_and_combinations_are_tried_by_themselves(release, monkeypatch):
    for name, few in (("COMBINED", 4), ("AGAIN", 2), ("FINAL", 3)):
        monkeypatch.setattr(search, name, few)
    monkeypatch.setattr(
        search, "menu", lambda *_: [*steps("round-time none", "drop-entries 0.75", "cluster-records 5")]
    )
    done = so.advise(release, ADVERSARY, 0.3, targets=100, people=40)
    assert any(len(one.steps) > 1 for one in done.points)
    assert {one.stage for one in done.points} == {"quick", "full"} or len(done.points) <= 4


# Two releases of the same people


def test_what_was_left_out_once_may_be_there_the_second_time(release):
    one, two = (so.sanitize(release, "drop-entries 0.4", seed=seed, renumber=True) for seed in (1, 2))
    found = so.composition(one, two, people=150, seed=1)
    assert found.right.n > 130 and found.right.low > 0.3 and found.wrong.high < 0.3
    assert found.claimed.value <= found.right.value
    assert found.shown_once.value == pytest.approx(0.6, abs=0.06)  # who shows more is linked more often
    assert found.shown.value == pytest.approx(0.84, abs=0.04)  # 1 − 0.4²
    assert "guessed rightly" in str(found)


def test_links_are_judged_by_who_stands_for_whom(release):
    one, two = (so.sanitize(release, "drop-entries 0.3", seed=seed, renumber=True) for seed in (1, 2))
    found = so.composition(one, two, people=1000, seed=4)
    truth = {
        two.records[int(b)]: one.records[int(a)]
        for a, b in zip(one.mapping.representatives, two.mapping.representatives, strict=True)
        if a >= 0 and b >= 0
    }
    both = subset(two, np.array([name in truth for name in two.records]))
    links = so.link(one, both, truth=truth, decoys=DECOYS, seed=4)
    sure = links.table.filter("claimed").filter("identified").height
    right = sum(truth[row["profile"]] == row["record"] for row in links.table.iter_rows(named=True))
    assert found.claimed.value * found.claimed.n == pytest.approx(sure)
    assert found.right.value * found.right.n == pytest.approx(right)


def test_the_same_record_twice_is_found_however_few_there_are(release):
    one, two = (so.sanitize(release, "cluster-records 30", seed=seed, renumber=True) for seed in (1, 2))
    found = so.composition(one, two, seed=1)
    same = {one.record_at(at).support for at in range(one.n_records)}
    assert {two.record_at(at).support for at in range(two.n_records)} == same  # clusters know no chance
    assert found.right.value == 1 and found.right.n == one.n_records < 10


def test_only_releases_of_one_original_compose(release):
    safer = so.sanitize(release, "drop-entries 0.4")
    other = so.sanitize(so.synthesize(records=50, items=40, entries=500), "drop-entries 0.4")
    with pytest.raises(so.ParameterError, match="different originals"):
        so.composition(safer, other)
    with pytest.raises(so.ParameterError, match=r"so\.sanitize"):
        so.composition(safer, release)


@pytest.mark.realdata
def test_on_movielens_rounding_dates_protects_nearly_nobody(realdata):
    release = so.read(realdata / "movielens-latest-small")
    done = so.advise(release, limit=0.05, candidates=["round-time month", "round-time year"], targets=300)
    assert done.complete and done.recommended is None and not done.command()
    assert "None of the 2 ways" in done.summary
    assert all(one.risk.everybody.low > 0.85 and one.kept == 1 for one in done.points)
    assert np.isclose(done.points[0].utility.hit_rate.value, 0.19, atol=0.05)
