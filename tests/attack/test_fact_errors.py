"""Facts with errors of their own: the Bayesian attack uses them, and equals its slow twin."""

import math
from dataclasses import replace
from datetime import date
from itertools import pairwise

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from attack_cases import PER_DAY, attacked, data, examples, known, someone
from standout.attack import likelihood_reference as reference
from standout.attack.error_model import MOST_MODELS, error_model
from standout.attack.reference_arrays import errors_of, known_facts_of_query, release_entries
from standout.know.facts import FactErrors, encode_auxes

COMPILED = not numba.config.DISABLE_JIT
RELEASE = so.synthesize(records=400, items=60, entries=6_000, seed=11)
TARGET, OTHER = (RELEASE.records[int(at)] for at in np.flatnonzero(RELEASE.lengths >= 6)[:2])
ERRORS = st.builds(
    dict,
    value_error=st.sampled_from([None, 0, 0.5, 1, 100]),
    time_error=st.sampled_from([None, None, 0, 1, 14, 3000]),
    doubt=st.sampled_from([None, 0, 0.5, 0.99]),
)
ADVERSARIES = st.sampled_from([
    so.Adversary(knows=4, wrong=1, value_error=1, time_error=14),
    so.Adversary(knows=4, value_error=0, time_error=None),
    so.Adversary(knows=3, wrong=1, wrong_facts="items", value_error=None, time_error=3),
])  # fmt: skip


def with_errors(drawn, aux):
    """The same facts, some with errors of their own."""
    return replace(aux, facts=[replace(fact, **drawn.draw(ERRORS)) for fact in aux])


def of_fact(made, fact):
    """What the twin takes for the errors that a fact states."""
    fields, per_day = {}, PER_DAY[made.unit or "day"]
    if fact.value_error is not None and made.kind == "number":
        fields |= {"value_error": fact.value_error, "value_scale": None}
    if fact.time_error is not None:
        fields |= {"reach": math.floor(fact.time_error * per_day + 1e-9), "time_scale": None}
    return fields | ({} if fact.doubt is None else {"wrong": fact.doubt})


def stated(made, adversary):
    per_day, by_items = PER_DAY[made.unit or "day"], adversary.wrong_facts != "values"
    share = adversary.wrong / adversary.knows
    return naive.Mistakes(
        coverage=min(0.98, 1 - share) if by_items else 0.98,
        wrong=0.0 if by_items else share,
        value_error=(adversary.value_error or 0.0) if made.kind == "number" else 0.0,
        reach=None if adversary.time_error is None else math.floor(adversary.time_error * per_day + 1e-9),
        units_per_day=per_day,
    )


def guessed(release, made):
    """The errors that are assumed of facts typed by hand: values decay with half their spread."""
    spread = 1.0
    if made.kind == "number":
        values = sorted(row[2] for row in made.rows if row[2] is not None)
        levels = sorted(set(values))
        if len(levels) > 1:
            low, high = (values[max(math.ceil(share * len(values)) - 1, 0)] for share in (0.1, 0.9))
            spread = max(high - low, min(b - a for a, b in pairwise(levels)))
    per_day = PER_DAY[made.unit or "day"]
    scale = 30.0 * per_day if made.unit else None
    return naive.Mistakes(wrong=0.1, value_scale=0.5 * spread, time_scale=scale, units_per_day=per_day)


def in_units(made, cell):
    value, time = cell
    return value, None if time is None else int(time * PER_DAY[made.unit or "day"])


def twin_scores(made, aux, mistakes, exclude):
    entries = {
        pair: [in_units(made, cell) for cell in cells] if isinstance(cells, list) else in_units(made, cells)
        for pair, cells in made.entries.items()
    }
    facts = [(item, in_units(made, cell)) for item, cell in made.facts(aux).items()]
    own = [of_fact(made, fact) for fact in aux]
    return naive.likelihood_scores(entries, facts, mistakes, exclude, own)


def check(verdict, release, expected, off):
    """Scores and, by the kernels in single precision, the best and their probabilities."""
    for record, score in expected.items():
        assert verdict.score(record) == pytest.approx(score, rel=1e-9, abs=off)
    among = {
        record: verdict.score(record) for record in expected if verdict.scores[release.records.find(record)] > -np.inf
    }
    if among:
        assert verdict.highest == pytest.approx(max(among.values()), rel=1e-9, abs=1e-9)
        chances, nobody = naive.likelihood_posterior(among, len(verdict._facts), verdict.queries.coverage, 0.5)
        assert verdict.nobody == pytest.approx(nobody, rel=1e-5, abs=1e-12)
        for record, chance in chances.items():
            assert verdict.probability(record) == pytest.approx(chance, rel=1e-5, abs=1e-15)


@examples(60, 12)
@given(st.data(), ADVERSARIES)
def test_facts_with_errors_of_their_own_equal_the_slow_twin(drawn, adversary):
    made, aux, exclude = attacked(drawn)
    aux, release = with_errors(drawn, aux), made.read()
    verdict = so.Likelihood(adversary).attack(release, aux, exclude=exclude)
    check(verdict, release, twin_scores(made, aux, stated(made, adversary), exclude), 1e-9)


@examples(40, 10)
@given(st.data())
def test_errors_stated_for_some_facts_typed_by_hand_equal_the_slow_twin(drawn):
    """Hours are averaged over the release in 640 pieces, hence the tolerance."""
    made, aux, exclude = attacked(drawn)
    aux, release = with_errors(drawn, aux), made.read()
    verdict = so.Likelihood().attack(release, aux, exclude=exclude)
    off = 1e-9 if made.unit != "hour" else 0.1
    check(verdict, release, twin_scores(made, aux, guessed(release, made), exclude), off)


@examples(40, 10)
@given(st.data())
def test_errors_of_facts_about_repeated_items_equal_the_slow_twin(drawn):
    made = drawn.draw(data(repeats="keep", units=("day", None)))
    aux, exclude = with_errors(drawn, drawn.draw(known(made))), drawn.draw(st.none() | someone(made))
    release = made.read()
    verdict = so.Likelihood().attack(release, aux, exclude=exclude)
    check(verdict, release, twin_scores(made, aux, guessed(release, made), exclude), 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_readable_attack_uses_the_errors_of_facts(seed):
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    aux = adversary.observe(RELEASE, TARGET, seed=seed)
    errors = [
        {},
        {"value_error": 0},
        {"time_error": 3, "doubt": 0.5},
        {"doubt": 0},
        {"value_error": 2, "time_error": 60},
        {},
    ]
    aux = so.Aux([replace(fact, **own) for fact, own in zip(aux, errors, strict=True)])
    encoded = encode_auxes(RELEASE, [aux])
    facts = known_facts_of_query(RELEASE, encoded, 0, adversary)
    scores = reference.scores(facts, release_entries(RELEASE), errors_of(RELEASE, adversary), RELEASE.n_records)
    verdict = so.Likelihood(adversary).attack(RELEASE, aux)
    assert verdict.scores == pytest.approx(scores, abs=1e-9)
    assert verdict.highest == pytest.approx(scores.max(), abs=1e-9)


def test_errors_that_repeat_what_is_assumed_change_no_bit():
    adversary = so.Adversary(knows=6, wrong=2, value_error=1, time_error=14)
    aux = adversary.observe(RELEASE, TARGET, seed=1)
    same = so.Aux([replace(fact, value_error=1, time_error=14, doubt=2 / 6) for fact in aux])
    verdict, other = (so.Likelihood(adversary).attack(RELEASE, facts) for facts in (aux, same))
    assert verdict.scores.tolist() == other.scores.tolist()
    assert verdict.lineup(20) == other.lineup(20)


def test_fewer_facts_at_once_keep_the_errors_of_each():
    auxes = [
        so.Aux([replace(fact, **own) for fact, own in zip(aux, ({"doubt": 0.5}, {"value_error": 0}, {}), strict=True)])
        for aux in (so.Adversary(knows=3).observe(RELEASE, name, seed=1) for name in (TARGET, OTHER))
    ]
    nested = so.Likelihood().nested(RELEASE, auxes, [1, 2, 3])
    alone = [so.Aux(aux.facts[:size]) for aux in auxes for size in (1, 2, 3)]
    for verdict, aux in zip(nested, alone, strict=True):
        other = so.Likelihood().attack(RELEASE, aux)
        assert verdict.scores == pytest.approx(other.scores, abs=1e-9)
        assert (verdict.best, verdict.ties) == (other.best, other.ties)
        assert verdict.highest == pytest.approx(other.highest, abs=1e-9)


def test_a_sanitized_release_adds_its_noise_to_the_errors_of_a_fact():
    adversary = so.Adversary(knows=6, wrong=2, value_error=1, time_error=14)
    safer = so.sanitize(RELEASE, "perturb-value 1", "perturb-time 10", seed=1)
    aux = adversary.observe(RELEASE, TARGET, seed=1)
    same = so.Aux([replace(fact, value_error=1, time_error=14, doubt=2 / 6) for fact in aux])
    verdict, other = (so.Likelihood(adversary).attack(safer, facts) for facts in (aux, same))
    assert verdict.scores.tolist() == other.scores.tolist()
    doubted = so.Aux([replace(fact, doubt=0.9) for fact in aux])
    assert so.Likelihood(adversary).attack(safer, doubted).highest < verdict.highest


def test_the_papers_attacks_ignore_the_errors_of_facts():
    aux = so.Adversary(knows=4).observe(RELEASE, TARGET, seed=1)
    doubted = so.Aux([replace(fact, value_error=2, time_error=30, doubt=0.5) for fact in aux])
    for attack in (so.ScoreboardRH(), so.Scoreboard()):
        assert attack.attack(RELEASE, aux).scores.tolist() == attack.attack(RELEASE, doubted).scores.tolist()


def test_decoded_facts_keep_their_errors():
    facts = (so.Fact("17", 4.0, None, 1, None, 0.5), so.Fact("42"), so.Fact("5", None, date(2005, 1, 1), None, 3))
    encoded = encode_auxes(RELEASE, [so.Aux(facts), so.Aux([facts[1]])])
    decoded = encoded.aux(RELEASE, 0).facts
    assert [fact.errors for fact in decoded] == [fact.errors for fact in facts]
    assert encode_auxes(RELEASE, [so.Aux([so.Fact("17")])]).error is None


def many_visitors(repeats):
    """So many records that most scores are computed in single precision only."""
    random, n = np.random.default_rng(3), 2_000 if COMPILED else 200
    size = 8 * n
    frame = pl.DataFrame({
        "person": random.integers(0, n, size).astype(str),
        "item": random.integers(0, 12, size).astype(str),
        "value": random.integers(1, 6, size).astype(float),
        "day": random.integers(12_000, 12_400, size),
    }).with_columns(time=pl.col("day").cast(pl.Date))  # fmt: skip
    return so.read(frame.drop("day"), repeats=repeats)


@pytest.mark.parametrize("repeats", ["last", "keep"])
@pytest.mark.parametrize("adversary", [None, so.Adversary(knows=4, wrong=1, value_error=1, time_error=14)])
def test_kernels_use_the_errors_of_each_fact(repeats, adversary):
    release, day = many_visitors(repeats), date(2003, 3, 1)
    facts = [
        so.Fact("1", 4.0, day, value_error=0, time_error=40, doubt=0.2),
        so.Fact("2", 2.0, day, doubt=0.5),
        so.Fact("3", 5.0, date(2003, 4, 1), value_error=1, time_error=90, doubt=0.1),
        so.Fact("4", 1.0),
    ]
    for chosen in (facts, facts[:1], facts[::2], facts[1:]):
        verdict = so.Likelihood(adversary).attack(release, so.Aux(chosen))
        scores = verdict.scores
        assert verdict.highest == scores.max()
        assert verdict.mean == pytest.approx(scores.mean(), rel=1e-4)
        assert verdict.sigma == pytest.approx(scores.std(), rel=1e-3)
        assert verdict.z == pytest.approx(np.exp(scores - scores.max()).sum(), rel=1e-5)


def test_the_latest_error_models_are_kept():
    release = so.synthesize(records=50, items=20, entries=300, seed=7)
    models = [error_model(release, None, None, FactErrors(value_error=n)) for n in range(MOST_MODELS + 5)]
    kept = vars(release)["_error_models"]
    assert len(kept) == MOST_MODELS
    latest = [FactErrors(value_error=n) for n in range(10, MOST_MODELS + 5)]
    assert [error_model(release, None, None, errors) for errors in latest] == models[10:]


def test_an_error_of_a_category_has_no_effect():
    frame = pl.DataFrame({"person": ["p", "q", "r"], "item": ["x", "x", "y"], "value": ["a", "b", "c"]})
    release = so.read(frame)
    plain, with_error = (so.Aux([so.Fact("x", "a", value_error=error)]) for error in (None, 3))
    scores = [so.Likelihood().attack(release, aux).scores.tolist() for aux in (plain, with_error)]
    assert scores[0] == scores[1]
