"""Laws of the Bayesian attack: it equals its slow twin, however it is run."""

import math
from datetime import timedelta
from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
import standout as so
from attack_cases import (
    NOWHERE,
    PER_DAY,
    START,
    Data,
    all_numbers,
    attacked,
    crowd,
    data,
    exact,
    examples,
    known,
    moment,
    near,
    someone,
)
from standout.attack import likelihood_reference as reference
from standout.attack.error_model import error_model
from standout.attack.reference_arrays import errors_of, known_facts_of_query, release_entries
from standout.know.facts import encode_auxes

COMPILED = not numba.config.DISABLE_JIT
COVERAGES = [None, 1e-6, 0.3, 0.98, 0.999999]


CHOICES = ["any", "rarest", "recent", so.outside_top(1), so.outside_top(3)]


def adversaries(items=CHOICES):
    """Any errors."""
    return st.builds(
        lambda knows, wrong, **settings: so.Adversary(knows=knows, wrong=min(wrong, knows), **settings),
        knows=st.integers(1, 5),
        wrong=st.integers(0, 5),
        wrong_facts=st.sampled_from(["values", "values", "items", "any items"]),
        value_error=st.sampled_from([None, 0, 0.5, 1, 1.5, 100]),
        time_error=st.sampled_from([None, 0, 1, 14, 60, 3000]),
        items=st.sampled_from(items),
    )


def mistakes(adversary, made, coverage=None):
    """What the twin takes for an adversary's errors."""
    share, by_items = adversary.wrong / adversary.knows, adversary.wrong_facts != "values"
    per_day = PER_DAY[made.unit or "day"]
    top = adversary.items.top if adversary.items.name == "outside_top" else 0
    usual = min(0.98, 1 - share) if by_items else 0.98
    return naive.Mistakes(
        coverage=usual if coverage is None else coverage,
        wrong=0.0 if by_items else share,
        value_error=(adversary.value_error or 0.0) if made.kind == "number" else 0.0,
        reach=None if adversary.time_error is None else math.floor(adversary.time_error * per_day + 1e-9),
        outside=top,
        popular=adversary.items.name == "popular",
        units_per_day=per_day,
    )


def in_units(made, cells):
    """Entries or facts with times in whole units in place of days."""
    per_day = PER_DAY[made.unit or "day"]
    return {key: (value, None if time is None else int(time * per_day)) for key, (value, time) in cells.items()}


def twin_parts(made, aux, errors, exclude=None):
    entries, facts = in_units(made, made.entries), in_units(made, made.facts(aux))
    return naive.likelihood_parts(entries, facts, errors, exclude)


def is_coincidental(parts):
    """Whether two records tie, or all but tie, with different parts: by chance, not by the model."""
    rows = [(math.fsum(row.values()), sorted(part for part in row.values() if part)) for row in parts.values()]
    rows.sort(key=lambda row: row[0])
    return any(
        second[0] - first[0] < 1e-9 and first[1] != pytest.approx(second[1], abs=1e-13)
        for first, second in pairwise(rows)
    )


def check_twin(verdict, made, aux, errors, present=0.5, exclude=None):
    """All numbers of a verdict."""
    parts = twin_parts(made, aux, errors, exclude)
    assume(not is_coincidental(parts))
    scores = {record: math.fsum(row.values()) for record, row in parts.items()}
    candidates = made.candidates(aux, exclude)
    among = {record: score for record, score in scores.items() if record in candidates}
    assert verdict.candidates == len(candidates)
    for record, score in scores.items():
        assert verdict.score(record) == pytest.approx(score, rel=1e-9, abs=1e-9)
        explained = {part.fact.item: part.score for part in verdict.explain(record)}
        on_grid = pytest.approx(verdict.score(record), rel=1e-10, abs=1e-9)  # scores lie on a coarser grid
        assert math.fsum(explained.values()) == on_grid
        for item, part in parts[record].items():
            assert explained[item] == pytest.approx(part, rel=1e-9, abs=1e-9)
    assert list(verdict.tied) == naive.shortlex(
        record for record, score in among.items() if score >= naive.highest(among) - 1e-10
    )
    assert (verdict.highest, verdict.second) == (near(naive.highest(among)), near(naive.second(among)))
    check_posterior(verdict, among, len(aux), errors.coverage, present)


def check_posterior(verdict, among, n_facts, coverage, present):
    chances, nobody = naive.likelihood_posterior(among, n_facts, coverage, present)
    assert verdict.nobody == pytest.approx(nobody, rel=1e-5, abs=1e-12)
    for record, chance in chances.items():
        assert verdict.probability(record) == pytest.approx(chance, rel=1e-5, abs=1e-15)
    if among:
        assert math.fsum(map(verdict.probability, among)) + verdict.nobody == pytest.approx(1, abs=1e-9)
        lineup = verdict.lineup(1000)
        rest = math.fsum(candidate.probability for candidate in lineup)
        assert lineup.outside == pytest.approx(1 - rest, abs=1e-9)


@examples(100, 20)
@given(st.data(), adversaries(), st.sampled_from(COVERAGES), st.sampled_from([0.01, 0.5, 0.9, 1.0]))
def test_every_number_equals_the_slow_twin(drawn, adversary, coverage, present):
    made, aux, exclude = attacked(drawn)
    attack = so.Likelihood(adversary, coverage=coverage, present=present)
    verdict = attack.attack(made.read(), aux, exclude=exclude)
    check_twin(verdict, made, aux, mistakes(adversary, made, coverage), present, exclude)


def guessed(made):
    """What the twin takes for the errors of facts typed by hand."""
    values = sorted(row[2] for row in made.rows if row[2] is not None)
    spread = 1.0
    if made.kind == "number" and len(set(values)) > 1:
        low, high = (values[max(math.ceil(share * len(values)) - 1, 0)] for share in (0.1, 0.9))
        spread = max(high - low, min(b - a for a, b in pairwise(sorted(set(values)))))
    per_day = PER_DAY[made.unit or "day"]
    scale = 30.0 * per_day if made.unit else None
    return naive.Mistakes(wrong=0.1, value_scale=0.5 * spread, time_scale=scale, units_per_day=per_day)


@examples(60, 15)
@given(st.data())
def test_facts_typed_by_hand_equal_the_slow_twin(drawn):
    """Hours are averaged over the release in 640 pieces, hence the tolerance."""
    made, aux, exclude = attacked(drawn)
    verdict = so.Likelihood().attack(made.read(), aux, exclude=exclude)
    for record, row in twin_parts(made, aux, guessed(made), exclude).items():
        assert verdict.score(record) == pytest.approx(
            math.fsum(row.values()), rel=1e-9, abs=1e-9 if made.unit != "hour" else 0.1
        )


def check_equal(verdict, other, people=()):
    """Two verdicts that should be the same."""
    names = ("candidates", "best", "ties", "tied")
    assert [getattr(verdict, name) for name in names] == [getattr(other, name) for name in names]
    assert (verdict.highest, verdict.second) == (exact(other.highest), exact(other.second))
    assert (verdict.mean, verdict.sigma) == pytest.approx((other.mean, other.sigma), rel=1e-4)
    assert verdict.nobody == pytest.approx(other.nobody, rel=1e-5, abs=1e-12)
    one, two = verdict.lineup(20), other.lineup(20)
    assert [candidate.record for candidate in one] == [candidate.record for candidate in two]
    assert [candidate.score for candidate in one] == exact([candidate.score for candidate in two])
    for record in people:
        assert verdict.score(record) == exact(other.score(record))
        assert verdict.rank(record) == other.rank(record)
        assert verdict.probability(record) == pytest.approx(other.probability(record), rel=1e-5)
        assert verdict.entropy(record) == pytest.approx(other.entropy(record), rel=1e-5, abs=2e-5)


@examples(30, 8)
@given(st.data(), adversaries(), st.sampled_from([0.2, 1.0]))
def test_fewer_facts_at_once_equal_fewer_facts_one_by_one(drawn, adversary, present):
    made = drawn.draw(data())
    auxes = drawn.draw(st.lists(known(made, filters=drawn.draw(st.booleans())), min_size=1, max_size=3))
    exclude = drawn.draw(st.none() | someone(made))
    attack, release = so.Likelihood(adversary, present=present), made.read()
    nested = attack.nested(release, auxes, [1, 2, 5], exclude=exclude)
    shorter = [so.Aux(aux.facts[:size], aux.length, aux.joined) for aux in auxes for size in (1, 2, 5)]
    for verdict, other in zip(nested, attack.attacks(release, shorter, exclude=exclude), strict=True):
        check_equal(verdict, other, release.records)


ADVERSARIES = [
    so.Adversary(knows=4, wrong=1, value_error=1, time_error=14),
    so.Adversary(knows=4, wrong=2, value_error=0, time_error=None),
    so.Adversary(knows=3, value_error=None, time_error=3),
    so.Adversary(knows=3, wrong=1, wrong_facts="items", value_error=1, time_error=30, items=so.outside_top(5)),
]
MANY = so.synthesize(records=9_000 if COMPILED else 500, items=200, entries=90_000 if COMPILED else 4_000, seed=3)


def observed(adversary, count=5, draws=1):
    targets = np.flatnonzero(adversary.eligible(MANY, np.arange(MANY.n_records)))[-count:]
    return targets, adversary.observe_all(MANY, targets, seed=1, draws=draws)


@pytest.mark.parametrize("adversary", [*ADVERSARIES, None], ids=str)
def test_draws_that_share_a_walk_equal_each_on_its_own(adversary):
    targets, together = observed(adversary or ADVERSARIES[0], draws=3)
    attack, exclude = so.Likelihood(adversary), np.repeat(targets, 3)
    alone = [together.aux(MANY, q) for q in range(len(together))]
    for left_out in (None, exclude):
        nested = attack.nested(MANY, together, [1, 3, 4], exclude=left_out)
        for q, aux in enumerate(alone):
            names = None if left_out is None else MANY.records[left_out[q]]
            same = attack.nested(MANY, [aux], [1, 3, 4], exclude=names)
            for s in range(3):
                check_equal(nested[3 * q + s], same[s])


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=str)
@pytest.mark.parametrize("exclude", [False, True])
def test_several_blocks_of_records_equal_the_reference(adversary, exclude):
    targets, facts = observed(adversary)
    errors = errors_of(MANY, adversary)
    attack = so.Likelihood(adversary)
    for verdicts in (
        attack.attacks(MANY, facts, exclude=targets if exclude else None),
        attack.nested(MANY, facts, [9], exclude=targets if exclude else None),
    ):
        for q, verdict in enumerate(verdicts):
            left_out = int(targets[q]) if exclude else -1
            entries = release_entries(MANY, adversary.items, left_out)
            scores = reference.scores(known_facts_of_query(MANY, facts, q), entries, errors, MANY.n_records)
            scores[targets[q]] = -np.inf if exclude else scores[targets[q]]
            posterior = reference.posterior(scores, adversary.knows, errors.coverage, 0.5)
            best = np.argsort(-scores, kind="stable")[:10]
            best = best[scores[best] > 0]  # a record with score 0 is never in a lineup
            assert verdict.scores == pytest.approx(scores, abs=1e-9)
            assert [candidate.score for candidate in verdict.lineup(10)] == pytest.approx(scores[best], abs=1e-9)
            assert verdict.columns.z[verdict.q] == pytest.approx(np.exp(scores - scores.max()).sum(), rel=1e-6)
            assert verdict.nobody == pytest.approx(posterior[-1], rel=1e-6)
            for record in best[:1]:
                assert verdict.probability(verdict.best) == pytest.approx(posterior[record], rel=1e-6)
            mean, sigma = (f(scores[np.isfinite(scores)]) for f in (np.mean, np.std))
            assert (verdict.mean, verdict.sigma) == pytest.approx((mean, sigma), rel=1e-5)


@pytest.mark.parametrize("adversary", ADVERSARIES[:2], ids=str)
def test_threads_change_no_bit(adversary):
    _, facts = observed(adversary, 9, draws=2)
    attack = so.Likelihood(adversary)
    for run in (attack.attacks, lambda *given, **more: attack.nested(*given, [1, 4], **more)):
        assert all_numbers(run(MANY, facts, threads=1)) == all_numbers(run(MANY, facts, threads=4))


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=str)
def test_probabilities_computed_on_demand_are_the_same(adversary):
    _, facts = observed(adversary)
    attack = so.Likelihood(adversary)
    ready, later = (attack.attacks(MANY, facts, with_z=with_z) for with_z in (True, False))
    for verdict, other in zip(ready, later, strict=True):
        check_equal(verdict, other, [MANY.records[i] for i in (0, 7)])


def posteriors(verdicts):
    return np.array([verdict.probability(verdict.best) for verdict in verdicts])


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=str)
def test_the_strength_of_a_claim_is_the_logarithm_of_the_chance_that_it_is_false(adversary):
    _, facts = observed(adversary, 40)
    verdicts = so.Likelihood(adversary).attacks(MANY, facts)
    strength, posterior = verdicts.claim_strengths(), posteriors(verdicts)
    alone = np.array([verdict.ties == 1 for verdict in verdicts])
    assert 10 ** -strength[alone] == pytest.approx(1 - posterior[alone], rel=1e-4, abs=1e-12)
    assert (strength[~alone] == -1).all() and alone.any()
    for verdict, least in zip(verdicts, strength, strict=True):
        for probability in (0.5, 0.95):
            claim = verdict.claim(probability)
            assert (claim is not None) == (least >= -math.log10(1 - probability))
            assert claim is None or claim.record == verdict.best


def whole(rows):
    """Rows, and two records that have every value and date: the others change neither levels nor span."""
    ends = [(name, f"{name}{i}", float(1 + i), moment(99 * (i % 2), "day")) for name in "xy" for i in range(5)]
    return Data([(*row[:2], row[2] or 1.0, row[3] or moment(1, "day")) for row in rows] + ends)


@pytest.mark.parametrize("adversary", [ADVERSARIES[0], *ADVERSARIES[1:3], None], ids=str)
def test_leaving_a_record_out_equals_a_release_without_it(adversary):
    made = whole(crowd(300, seed=5))
    release, attack = made.read(), so.Likelihood(adversary)
    for record in ("7", "12", "250"):
        facts = [so.Fact(*row[1:]) for row in made.rows if row[0] == record]
        aux = so.Aux([*facts, so.Fact("item0")] if facts[0].item != "item0" else facts)
        rebuilt = made.without(record).read()
        people = [rebuilt.records[i] for i in range(rebuilt.n_records)]
        check_equal(attack.attack(release, aux, exclude=record), attack.attack(rebuilt, aux), people)


def test_leaving_a_record_out_equals_a_release_without_it_outside_the_top():
    """The record left out must not change which items are the most popular."""
    made = whole(crowd(300, seed=5))
    adversary = so.Adversary(knows=3, value_error=1, time_error=14, items=so.outside_top(2))
    aux = so.Aux([so.Fact(*row[1:]) for row in made.rows if row[0] == "12"])
    rebuilt = made.without("12").read()
    attack = so.Likelihood(adversary)
    check_equal(attack.attack(made.read(), aux, exclude="12"), attack.attack(rebuilt, aux), ["7", "250"])


def test_facts_that_say_nothing_leave_the_prior():
    release = MANY
    for aux in (so.Aux([]), so.Aux([so.Fact(NOWHERE, 3, START.date())])):
        for present in (0.2, 1.0):
            verdict = so.Likelihood(present=present).attack(release, aux)
            lowers = 50.0 ** len(aux)  # the item of the fact is not in the record
            share = present / (present + (1 - present) * lowers)
            assert verdict.nobody == pytest.approx(1 - share, abs=1e-12)
            assert verdict.probability(release.records[5]) == pytest.approx(share / release.n_records)
            assert verdict.claim(1e-9) is None
            assert verdict.entropy(release.records[5]) == pytest.approx(math.log2(release.n_records))


@pytest.mark.parametrize("unit", ["hour", pytest.param("minute", marks=pytest.mark.large)])
@pytest.mark.parametrize("adversary", [ADVERSARIES[0], None], ids=str)
def test_times_to_the_minute_over_decades_equal_the_slow_twin(adversary, unit):
    """A span of more than 2^22 minutes is counted in bins, hence the tolerance."""
    random = np.random.default_rng(4)
    rows = []
    for record in range(40):
        for item in random.choice(6, 3, replace=False):
            time = START + timedelta(minutes=int(random.integers(0, 10_000_000)))
            rows.append((str(record), f"i{item}", float(random.integers(1, 5)), time))
    made = Data(rows, unit=unit)
    aux = so.Aux([so.Fact(*rows[0][1:]), so.Fact(*rows[1][1:3]), so.Fact("i9", 1, START - timedelta(days=9999))])
    errors = guessed(made) if adversary is None else mistakes(adversary, made)
    release, attack = made.read(), so.Likelihood(adversary)
    scores = naive.likelihood_scores(in_units(made, made.entries), in_units(made, made.facts(aux)), errors)
    for verdict in (attack.attack(release, aux), attack.nested(release, [aux], [3])[0]):
        assert verdict.best == max(scores, key=scores.get)
        for record, score in scores.items():
            assert verdict.score(record) == pytest.approx(score, abs=0.02)


def many_levels():
    """4,000 entries, each with a value of its own."""
    levels = np.cumsum(np.random.default_rng(6).random(4_000)).round(3)
    rows = [(str(n % 400), f"i{n // 400}", float(level), None) for n, level in enumerate(levels)]
    return levels, Data(rows, unit=None)


@pytest.mark.parametrize("adversary", ADVERSARIES[:2], ids=str)
def test_thousands_of_levels_equal_the_reference(adversary):
    levels, made = many_levels()
    release = made.read()
    aux = so.Aux([so.Fact("i2", levels[805]), so.Fact("i5", levels[2005] + 0.4), so.Fact("i7", 1e9)])
    verdict, facts = so.Likelihood(adversary).attack(release, aux), encode_auxes(release, [aux])
    entries, errors = release_entries(release), errors_of(release, adversary)
    scores = reference.scores(known_facts_of_query(release, facts, 0), entries, errors, release.n_records)
    assert verdict.scores == pytest.approx(scores, abs=1e-9)


def test_decays_over_thousands_of_levels_are_exact():
    levels, made = many_levels()
    scale = 0.5 * (levels[3599] - levels[399])
    total = np.array([np.exp(-np.abs(levels - level) / scale).sum() for level in levels])
    for known_value in (7.5, levels[2000]):
        expected = np.exp(-np.abs(levels - known_value) / scale) / total
        assert error_model(made.read(), None, None).by_level(known_value)[0] == pytest.approx(expected)


@pytest.mark.parametrize("value", [3, 4.5, 0])
def test_typed_facts_that_fit_one_record_find_it(value):
    """Errors are guessed: a right value and a date three days off speak for a record, a wrong one less."""
    release = so.synthesize(records=2_000, items=200, entries=40_000, seed=7)
    record = release.record("42")
    facts = [so.Fact(e.item, e.value, e.time + timedelta(days=3)) for e in record.entries[:6]]
    verdict = so.Likelihood().attack(release, so.Aux(facts))
    assert verdict.best == "42" and verdict.probability("42") > 0.99 and verdict.nobody < 0.01
    others = [so.Fact(f"{i}", value, START.date()) for i in (1, 3, 9, 27, 81)]
    nobody = so.Likelihood().attack(release, so.Aux(others))
    assert nobody.probability(nobody.best) < 0.95


def test_one_record_alone_is_as_likely_as_nobody_unless_somebody_must_be_there():
    made = Data([("7", "b", 5.0, None), ("7", "aa", 1.0, None)], unit=None)
    adversary, aux = (so.Adversary(knows=2, value_error=0, time_error=None), so.Aux([so.Fact("b"), so.Fact("aa")]))
    verdict = so.Likelihood(adversary).attack(made.read(), aux)
    assert (verdict.probability("7"), verdict.nobody) == pytest.approx((0.5, 0.5))
    sure = so.Likelihood(adversary, present=1).attack(made.read(), aux)
    assert sure.nobody == 0 and sure.probability("7") == 1.0 and sure.claim(1.0).record == "7"


@pytest.mark.parametrize(
    ("name", "number"),
    [("coverage", 0), ("coverage", 1), ("coverage", math.nan), ("coverage", "0.5"), ("present", 0), ("present", 1.5)],
)
def test_shares_out_of_range_are_refused(name, number):
    with pytest.raises(so.ParameterError, match=name):
        so.Likelihood(**{name: number})


def test_claims_are_as_strong_without_prepared_probabilities():
    release = so.synthesize(records=300, items=100, entries=5_000, seed=3)
    adversary = so.Adversary(knows=4, wrong=1, value_error=1, time_error=None)
    targets = np.flatnonzero(adversary.eligible(release, np.arange(release.n_records)))[:20]
    known, attack = adversary.observe_all(release, targets, seed=1), so.Likelihood(adversary)
    prepared, later = (attack.attacks(release, known, with_z=with_z) for with_z in (True, False))
    assert later.claim_strengths() == pytest.approx(prepared.claim_strengths(), rel=1e-4)
