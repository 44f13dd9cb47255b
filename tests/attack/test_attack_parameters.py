"""Parameters of an attack that are not allowed are refused with a clear message."""

import math
from datetime import date
from itertools import product

import numpy as np
import pytest

import standout as so
from attack_cases import TWO, Data, all_numbers, attacks_of

NAN, INF = math.nan, math.inf


BAD_SETTINGS = [
    (lambda: so.Within(value=NAN), "value must"),
    (lambda: so.Within(value=-1), "value must"),
    (lambda: so.Within(value="1"), "value must"),
    (lambda: so.Within(time=INF), "time must"),
    (lambda: so.Within(time=True), "time must"),
    (lambda: so.Decay(value_scale=0), "value_scale must"),
    (lambda: so.Decay(value_scale=NAN), "value_scale must"),
    (lambda: so.Decay(time_scale=-30), "time_scale must"),
    (lambda: so.Decay(time_scale=INF), "time_scale must"),
    (lambda: so.ScoreboardRH(value_scale=NAN), "value_scale must"),
    (lambda: so.ScoreboardRH(value_scale=0), "value_scale must"),
    (lambda: so.ScoreboardRH(time_scale=INF), "time_scale must"),
    (lambda: so.ScoreboardRH(time_scale=-1), "time_scale must"),
    (lambda: so.ScoreboardRH(so.Within(), time_scale=7), "value_scale and time_scale"),
    (lambda: so.ScoreboardRH("decay"), "similarity must"),
    (lambda: so.ScoreboardRH(weights="rare"), "weights must"),
    (lambda: so.ScoreboardRH(weights=2), "weights must"),
    (lambda: so.ScoreboardRH(weights=["one"]), "weights must"),
    (lambda: so.Scoreboard(so.Within), "similarity must"),
    (lambda: so.Scoreboard(alpha=0), "alpha must"),
    (lambda: so.Scoreboard(alpha=1.01), "alpha must"),
    (lambda: so.Scoreboard(alpha=NAN), "alpha must"),
    (lambda: so.Scoreboard(alpha=True), "alpha must"),
    (lambda: so.Scoreboard(alpha="1"), "alpha must"),
]


def test_settings_that_mean_nothing_are_refused():
    for make, message in BAD_SETTINGS:
        with pytest.raises(so.ParameterError, match=message):
            make()


AUX = so.Aux([so.Fact("b", value=5)])


def test_top_is_from_2_to_1000():
    for top in [1, 0, 1_001, True, 2.0, "10", None]:
        for attack in attacks_of(so.Present()):
            with pytest.raises(so.ParameterError, match="top must"):
                attack.attack(TWO.read(), AUX, top=top)


@pytest.mark.parametrize("threads", [0, -1, True, 1.0, "2"])
def test_threads_are_at_least_1(threads):
    for attack in attacks_of(so.Present()):
        with pytest.raises(so.ParameterError, match="threads must"):
            attack.attacks(TWO.read(), [AUX], threads=threads)


def test_only_records_that_exist_can_be_excluded_one_for_each_query():
    release = TWO.read()
    for attack in attacks_of(so.Present()):
        for exclude in ("nobody", ["7", "nobody"], np.array([0, 2]), np.array([-2, 0])):
            with pytest.raises(so.NotFoundError, match="record"):
                attack.attacks(release, [AUX, AUX], exclude=exclude)
        with pytest.raises(so.ParameterError, match="ids as text, or an array of positions"):
            attack.attacks(release, [AUX, AUX], exclude=[7, None])
        for exclude in (["7"], ["7"] * 3, [], np.array([0])):
            with pytest.raises(so.ParameterError, match=r"exclude has [013] records for 2 queries"):
                attack.attacks(release, [AUX, AUX], exclude=exclude)
        codes, names = (attack.attacks(release, [AUX] * 2, exclude=some) for some in (np.array([1, -1]), ["9", None]))
        assert all_numbers(codes) == all_numbers(names)


def test_phi_is_a_finite_number_from_0_on():
    for phi in [-1, -1e-9, NAN, INF, True, "1.5", None]:
        for attack in attacks_of(so.Present()):
            with pytest.raises(so.ParameterError, match="phi must"):
                attack.attack(TWO.read(), AUX).match(phi)


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "3", None])
def test_a_lineup_has_at_least_one_place(k):
    for attack in attacks_of(so.Present()):
        with pytest.raises(so.ParameterError, match="k must"):
            attack.attack(TWO.read(), AUX).lineup(k)


def test_only_records_of_the_release_have_a_score():
    for attack in attacks_of(so.Present()):
        verdict = attack.attack(TWO.read(), AUX)
        for ask in (verdict.score, verdict.probability, verdict.rank, verdict.entropy, verdict.explain):
            with pytest.raises(so.NotFoundError, match="no record with this id"):
                ask("nobody")
            with pytest.raises(so.StandoutError, match="text"):
                ask(7.0)


@pytest.mark.parametrize("answer", [NAN, INF, -1.0, "much", None, [1.0, 2.0]], ids=repr)
def test_a_similarity_of_ones_own_must_give_finite_numbers_from_0_on(answer):
    timed = Data([("7", "b", 5.0, date(2005, 3, 1)), ("9", "b", 4.0, None)])
    for made, aux in ((TWO, AUX), (timed, so.Aux([so.Fact("b", value=5, time=date(2005, 3, 1))]))):
        for attack in attacks_of(so.Custom(lambda known, value, days: answer)):
            with pytest.raises(so.ParameterError, match="similarity's function"):
                attack.attack(made.read(), aux)


def test_a_subclass_must_give_as_many_finite_numbers_from_0_on():
    for name, answer in product(["values", "times"], [[NAN], [-1.0], [1.0, 1.0, 1.0], 1.0, ["much"]]):
        similarity = type("Own", (so.Similarity,), {name: lambda self, *given, answer=answer: answer})()
        made = Data([("7", "b", 5.0, date(2005, 3, 1))])
        for attack in attacks_of(similarity):
            with pytest.raises(so.ParameterError, match=rf"{name}\(\) must return"):
                attack.attack(made.read(), so.Aux([so.Fact("b", value=5, time=date(2005, 3, 1))]))


@pytest.mark.parametrize(
    "weights",
    [lambda support: support * NAN, lambda support: -1.0 * support, lambda support: 1.0, lambda support: "much"],
    ids=["nan", "negative", "one for all", "text"],
)
def test_weights_of_ones_own_must_be_finite_numbers_from_0_on(weights):
    with pytest.raises(so.ParameterError, match="weights must"):
        so.ScoreboardRH(weights=weights).attack(TWO.read(), AUX)


def test_a_function_that_would_be_called_millions_of_times_is_refused():
    rows = [("7", "b", 1.0, date(1700, 1, 1)), ("9", "b", 2.0, date(9999, 1, 1))]
    aux = so.Aux([so.Fact("b", value=1, time=date(2005, 3, 1))])
    for attack in attacks_of(so.Custom(lambda *given: 1.0)):
        with pytest.raises(so.ParameterError, match="function of value and time would be called"):
            attack.attack(Data(rows).read(), aux)
