"""Laws of attacks on releases in which a record may have an item several times."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
import standout as so
from attack_cases import (
    COMPILED,
    PER_DAY,
    WEIGHTS,
    Data,
    all_numbers,
    data,
    exact,
    examples,
    known,
    moment,
    near,
    similarities,
    someone,
)
from standout.attack import likelihood_reference, reference
from standout.attack.engine_kernels import MINIMUM
from standout.attack.queries import excluded_records, prepare_queries
from standout.attack.reference_arrays import errors_of, known_facts_of_query, known_items_of_query, release_entries
from standout.attack.release_counts import entry_ranges
from standout.know.facts import encode_auxes

CHOICES = ["any", "rarest", so.outside_top(1), so.outside_top(3), "popular"]


def kept(least=1, **options):
    return data(least=least, repeats="keep", **options)


def two_auxes(made):
    """Two auxes whose facts are joined to one query, in which an item may occur twice."""
    return st.tuples(known(made, most=4), known(made, most=2))


def joined(release, auxes):
    """Known facts of one target: those of all the auxes."""
    facts = encode_auxes(release, auxes)
    n = np.array([0, len(facts.item)])
    return facts.select(np.zeros(1, np.int64), np.arange(n[1]), n)


def facts_of(made, auxes):
    """The same for the twins."""
    return [fact for aux in auxes for fact in made.facts(aux).items()]


def scores_by_id(queries, among=None):
    """All scores of the only query in double precision, computed in both ways."""
    release = queries.release
    all_scores = queries.scores(0)
    position = np.arange(release.n_records)
    chosen = queries.scores_of(np.zeros(len(position), np.int64), position)
    there = all_scores > -np.inf
    assert chosen[there].tolist() == all_scores[there].tolist()
    return dict(zip(release.records, chosen.tolist(), strict=True))


def in_units(made, cells):
    """Cells with times in whole units in place of days."""
    per_day = PER_DAY[made.unit or "day"]
    return [(value, None if time is None else int(time * per_day)) for value, time in cells]


def twin_scores(made, auxes, adversary, exclude=None):
    """Log-likelihood ratios of all records except the excluded one."""
    per_day, share = PER_DAY[made.unit or "day"], adversary.wrong / adversary.knows
    errors = naive.Mistakes(
        wrong=share,
        value_error=(adversary.value_error or 0.0) if made.kind == "number" else 0.0,
        reach=None if adversary.time_error is None else math.floor(adversary.time_error * per_day + 1e-9),
        outside=adversary.items.top if adversary.items.name == "outside_top" else 0,
        popular=adversary.items.name == "popular",
        units_per_day=per_day,
    )
    entries = {pair: in_units(made, cells) for pair, cells in made.entries.items()}
    facts = [(item, *in_units(made, [cell])) for item, cell in facts_of(made, auxes)]
    return naive.likelihood_scores(entries, facts, errors, exclude)


def adversaries(choices=CHOICES):
    return st.builds(
        lambda knows, wrong, **settings: so.Adversary(knows=knows, wrong=min(wrong, knows), **settings),
        knows=st.integers(1, 4),
        wrong=st.integers(0, 2),
        value_error=st.sampled_from([None, 0, 1]),
        time_error=st.sampled_from([None, 0, 14]),
        items=st.sampled_from(choices),
    )


@examples(60, 15)
@given(st.data())
def test_the_score_of_algorithm_1b_takes_the_best_entry_of_each_item_and_counts_each_record_once(drawn):
    made = drawn.draw(kept())
    auxes, exclude = drawn.draw(two_auxes(made)), drawn.draw(st.none() | someone(made))
    similarity, twin = drawn.draw(similarities(made.kind))
    weights, weigh = drawn.draw(st.sampled_from(WEIGHTS))
    release = made.read()
    known_facts = joined(release, auxes)
    queries = prepare_queries(release, known_facts, similarity, weights, excluded_records(release, exclude, 1))
    counts = naive.support(naive.without(made.entries, exclude))
    expected = naive.sums(made.entries, facts_of(made, auxes), twin, weigh, counts)
    assert scores_by_id(queries) == {record: exact(score) for record, score in expected.items()}


@examples(60, 15)
@given(st.data(), st.sampled_from([0.3, 1.0]))
def test_every_number_of_algorithm_1a_takes_the_best_entry_of_each_item(drawn, alpha):
    made = drawn.draw(kept())
    auxes, exclude = drawn.draw(two_auxes(made)), drawn.draw(st.none() | someone(made))
    similarity, twin = drawn.draw(
        st.sampled_from(
            [
                (so.Within(value=1, time=14), naive.within),
                (so.Within(value=0, time=None), lambda *cells: naive.within(*cells, 0, None)),
                (so.Decay(1.5, 30), naive.mean_decay),
            ]
        )
    )
    release = made.read()
    expected = naive.minima(made.entries, facts_of(made, auxes), twin)
    known_facts = joined(release, auxes)
    left_out = excluded_records(release, exclude, 1)
    queries = prepare_queries(release, known_facts, similarity, "one", left_out, MINIMUM)
    assert scores_by_id(queries) == {record: exact(score) for record, score in expected.items()}
    [verdict] = so.Scoreboard(similarity, alpha).attacks(release, known_facts, exclude=exclude)
    among = {record: score for record, score in expected.items() if record != exclude}
    assert (verdict.candidates, verdict.highest) == (len(among), exact(naive.highest(among)))
    assert verdict.tied == tuple(naive.tied(among))
    assert verdict.matching == sum(score >= alpha - naive.EQUAL for score in among.values())
    assert (verdict.mean, verdict.sigma) == (near(naive.mean(among)), near(naive.sigma(among)))


@examples(60, 15)
@given(st.data(), adversaries(CHOICES[:-1]))
def test_the_score_of_likelihood_takes_the_mean_over_the_entries_of_each_item(drawn, adversary):
    made = drawn.draw(kept())
    auxes, exclude = drawn.draw(two_auxes(made)), drawn.draw(st.none() | someone(made))
    release = made.read()
    queries = so.Likelihood(adversary).attacks(release, joined(release, auxes), exclude=exclude).queries
    expected, found = twin_scores(made, auxes, adversary, exclude), scores_by_id(queries)
    assert {record: found[record] for record in expected} == {
        record: pytest.approx(score, rel=1e-9, abs=1e-9) for record, score in expected.items()
    }


@examples(30, 10)
@given(st.data(), adversaries(["popular"]))
def test_entries_of_popular_items_are_chosen_more_often(drawn, adversary):
    made = drawn.draw(kept())
    auxes = drawn.draw(two_auxes(made))
    release = made.read()
    found = scores_by_id(so.Likelihood(adversary).attacks(release, joined(release, auxes)).queries)
    off = 0.002 * sum(map(len, auxes)) + 1e-9  # sums of supports are rounded
    expected = twin_scores(made, auxes, adversary)
    assert found == {record: pytest.approx(score, abs=off) for record, score in expected.items()}


@examples(32, 8)
@given(st.data(), adversaries(CHOICES[:-1]))
def test_the_readable_attacks_equal_the_slow_twins(drawn, adversary):
    made = drawn.draw(kept())
    auxes, release = drawn.draw(two_auxes(made)), made.read()
    known_facts, n = joined(release, auxes), release.n_records
    items, facts = known_items_of_query(release, known_facts, 0), facts_of(made, auxes)
    names = list(release.records)
    sums, minima = naive.sums(made.entries, facts), naive.minima(made.entries, facts)
    assert reference.scores_1b(items, n) == pytest.approx([sums[name] for name in names])
    assert reference.scores_1a(items, n).tolist() == [minima[name] for name in names]
    found = likelihood_reference.scores(
        known_facts_of_query(release, known_facts, 0),
        release_entries(release, adversary.items),
        errors_of(release, adversary),
        n,
    )
    expected = twin_scores(made, auxes, adversary)
    assert found == pytest.approx([expected[name] for name in names], rel=1e-9, abs=1e-9)


@examples(30, 8)
@given(st.data())
def test_the_parts_of_a_verdict_add_up_to_the_score(drawn):
    made = drawn.draw(kept())
    release = made.read()
    aux = drawn.draw(known(made))
    record = drawn.draw(someone(made))
    facts, counts = made.facts(aux), naive.support(made.entries)
    verdict = so.ScoreboardRH().attack(release, aux)
    parts = verdict.explain(record)
    assert sum(part.score for part in parts) == verdict.score(record)
    for part in parts:
        item, cells = part.fact.item, made.entries.get((record, part.fact.item))
        best = naive.best_similarity(facts[item], cells, naive.decay) if cells else 0.0
        assert (part.has, part.similarity) == (cells is not None, exact(best))
        assert part.weight == (exact(naive.weight(counts[item])) if item in counts else None)
    posterior = so.Likelihood().attack(release, aux)
    parts = posterior.explain(record)
    assert math.fsum(part.score for part in parts) == pytest.approx(posterior.score(record), abs=1e-9)
    for part in parts:
        assert part.has == ((record, part.fact.item) in made.entries)
        ratio = (part.weight or 0.0) * part.similarity
        assert part.score == pytest.approx(math.log(max(ratio, 1.0)), rel=1e-9, abs=1e-9)


@examples(30, 8)
@given(st.data())
def test_an_excluded_record_counts_as_if_it_had_never_been_there(drawn):
    made = drawn.draw(kept(least=2))
    exclude = drawn.draw(someone(made))
    rest = made.without(exclude)
    assume(all(any(row[column] is not None for row in rest.rows) for column in (2, 3) if rest.rows[0][column]))
    auxes, release, rebuilt = drawn.draw(two_auxes(made)), made.read(), rest.read()
    assume((rebuilt.levels is None, rebuilt.clock is None) == (release.levels is None, release.clock is None))
    attack = so.ScoreboardRH()
    here, there = (
        scores_by_id(attack.attacks(each, joined(each, auxes), exclude=left_out).queries)
        for each, left_out in ((release, exclude), (rebuilt, None))
    )
    assert {record: here[record] for record in there} == {record: exact(score) for record, score in there.items()}


@examples(30, 6)
@given(st.data(), st.integers(2, 4))
def test_writing_every_row_several_times_changes_no_score_of_the_paper_and_no_weight_of_an_item(drawn, times):
    made = drawn.draw(kept())
    more = replace(made, rows=made.rows * times)
    auxes, release, repeated = drawn.draw(two_auxes(made)), made.read(), more.read()
    for attack in (so.ScoreboardRH(), so.ScoreboardRH(so.Within(value=1, time=14), weights="inverse")):
        once, often = (attack.attacks(each, joined(each, auxes)).queries for each in (release, repeated))
        assert scores_by_id(often) == scores_by_id(once)
    items = [so.Aux([so.Fact(fact.item) for fact in aux]) for aux in auxes]
    adversary = so.Adversary(knows=2, value_error=None, time_error=None)
    once, often = (
        scores_by_id(so.Likelihood(adversary).attacks(each, joined(each, items)).queries)
        for each in (release, repeated)
    )
    assert often == {record: pytest.approx(score, abs=1e-12) for record, score in once.items()}


@examples(30, 6)
@given(st.data())
def test_a_release_that_keeps_repeats_but_has_none_gives_the_same_bytes(drawn):
    made = drawn.draw(data())
    release, keeping = made.read(), replace(made, repeats="keep").read()
    aux = drawn.draw(known(made))
    assert not keeping.has_repeats
    for attack in (so.ScoreboardRH(), so.Scoreboard(alpha=0.5), so.Likelihood()):
        one, other = attack.attacks(release, [aux]), attack.attacks(keeping, [aux])
        assert one[0].scores.tobytes() == other[0].scores.tobytes()
        assert all_numbers(one) == all_numbers(other)


@given(kept())
@examples(30, 10)
def test_the_entries_of_a_record_and_item_are_found_and_counted(made):
    release = made.read()
    pairs = [(r, i) for r in range(release.n_records) for i in range(release.n_items)]
    record, item = np.array(pairs).T
    first, number = entry_ranges(release, record, item)
    for (r, i), at, n in zip(pairs, first.tolist(), number.tolist(), strict=True):
        cells = naive.cells_of(made.entries.get((release.records[r], release.items[i])))
        assert n == len(cells) and (at >= 0) == bool(cells)
        assert not n or (release.by_record.item[at : at + n] == i).all()


def test_nobody_is_looked_up_as_having_no_entries():
    release = Data([("7", "b", 1.0, None)] * 2, unit=None, repeats="keep").read()
    assert [column.tolist() for column in entry_ranges(release, np.array([-1]), np.array([0]))] == [[-1], [0]]


VISITS = Data(
    [
        (person, place, None, moment(day, "day"))
        for person, place, days in [
            ("2", "b", (0, 7, 14)),
            ("2", "aa", (3,)),
            ("7", "b", (1,)),
            ("7", "aa", (40, 41)),
            ("9", "b", (90,)),
            ("10", "31", (3, 3)),
        ]
        for day in days
    ],
    kind=None,
    repeats="keep",
)


def test_an_adversary_who_saw_two_visits_of_one_place_finds_who_made_both():
    release = VISITS.read()
    auxes = [so.Aux([so.Fact("b", time=moment(day, "day"))]) for day in (0, 14)]
    queries = so.Scoreboard(so.Within(time=0), 1.0).attacks(release, joined(release, auxes))
    assert queries[0].tied == ("2",) and queries[0].matching == 1


class BestEntries(so.Attack):
    """A user's attack: Algorithm 1B without weights, by whole days."""

    def scores(self, release, known):
        scores = np.zeros((len(known), release.n_records))
        for fact in so.fact_entries(release, known):
            similarity = np.exp(-np.abs(np.nan_to_num(fact.days, nan=np.inf)) / 30)
            record, part = fact.highest(similarity)
            scores[fact.target, record] += part
        return scores


@examples(30, 10)
@given(st.data())
def test_an_attack_of_your_own_gets_all_entries_and_can_take_the_best(drawn):
    made = drawn.draw(kept(units=("day",)))
    auxes, release = drawn.draw(two_auxes(made)), made.read()
    dated = [so.Aux([fact for fact in aux if fact.time is not None]) for aux in auxes]
    known_facts = joined(release, dated)
    for fact in so.fact_entries(release, known_facts):
        names = [release.records[record] for record in fact.record.tolist()]
        rows = [record for record, item, *_ in made.rows if item == release.items[fact.item]]
        assert names == sorted(rows, key=list(release.records).index)
    own = BestEntries().scores(release, known_facts)[0]
    attack = so.ScoreboardRH(so.Decay(value_scale=None, time_scale=30), weights="one")
    expected = scores_by_id(attack.attacks(release, known_facts).queries)
    assert own.tolist() == [exact(expected[name]) for name in release.records]
    [verdict] = BestEntries().attacks(release, known_facts)
    assert verdict.candidates == release.n_records


def check_numbers(verdict, scores, relative=1e-6):
    """Every number of a verdict that the kernels compute, against the twin's scores of all candidates."""
    close = {"rel": relative, "abs": 1e-9}
    assert (verdict.candidates, verdict.tied) == (len(scores), tuple(naive.tied(scores)))
    assert verdict.highest == pytest.approx(naive.highest(scores), **close)
    assert verdict.second == pytest.approx(naive.second(scores), **close)
    assert verdict.mean == pytest.approx(naive.mean(scores), **close)
    assert verdict.sigma == pytest.approx(naive.sigma(scores), rel=relative, abs=1e-6)


@examples(40, 10)
@given(st.data())
def test_every_number_of_algorithm_1b_equals_the_slow_twin(drawn):
    made = drawn.draw(kept())
    aux, exclude = drawn.draw(known(made)), drawn.draw(st.none() | someone(made))
    similarity, twin = drawn.draw(similarities(made.kind))
    scores = naive.sums(naive.without(made.entries, exclude), made.facts(aux), twin)
    verdict = so.ScoreboardRH(similarity).attack(made.read(), aux, exclude=exclude)
    assume(not has_near_tie(scores))
    check_numbers(verdict, scores)
    assert [candidate.record for candidate in verdict.lineup(20)] == naive.order(scores)


@examples(40, 10)
@given(st.data(), adversaries(CHOICES[:-1]))
def test_every_number_of_likelihood_equals_the_slow_twin(drawn, adversary):
    made = drawn.draw(kept())
    aux, exclude = drawn.draw(known(made)), drawn.draw(st.none() | someone(made))
    scores = twin_scores(made, [aux], adversary, exclude)
    verdict = so.Likelihood(adversary).attack(made.read(), aux, exclude=exclude)
    assume(not has_near_tie(scores))
    check_numbers(verdict, scores)
    chances, nobody = naive.likelihood_posterior(scores, len(aux), 0.98, 0.5)
    assert verdict.nobody == pytest.approx(nobody, rel=1e-5, abs=1e-12)
    for record, chance in chances.items():
        assert verdict.probability(record) == pytest.approx(chance, rel=1e-5, abs=1e-12)


@examples(30, 5)
@given(st.data())
def test_attacks_with_the_first_facts_equal_attacks_with_these_facts_alone(drawn):
    made = drawn.draw(kept())
    release, auxes = made.read(), drawn.draw(st.lists(known(made), min_size=1, max_size=3))
    for attack in (so.ScoreboardRH(), so.Likelihood()):
        verdicts = attack.nested(release, auxes, [1, 3])
        for q, aux in enumerate(auxes):
            for s, size in enumerate([1, 3]):
                alone = attack.attack(release, so.Aux(aux.facts[:size]))
                nested = verdicts[2 * q + s]
                assert nested.tied == alone.tied
                assert nested.highest == near(alone.highest)
                # σ of nearly equal scores comes from their sums in single precision
                assert nested.sigma == pytest.approx(alone.sigma, rel=1e-6, abs=1e-5 * alone.highest)


def has_near_tie(scores):
    """Whether two scores differ by rounding only: their order is not defined."""
    ordered = sorted(scores.values())
    return any(0 < high - low < 1e-9 for low, high in pairwise(ordered))


def visitors(n):
    """n people who each have a few items once or many times, on any of 90 days."""
    random = np.random.default_rng(17)
    rows = []
    for person in range(n):
        for item, share in enumerate([0.5, 0.3, 0.2, 0.1, 0.05, 0.02]):
            visits = int(random.geometric(0.4)) if random.random() < share else 0
            for day in random.integers(0, 90, visits).tolist():
                rows.append((str(person), f"item{item}", float(random.integers(1, 6)), moment(day, "day")))
        rows.append((str(person), f"other{person % 50}", 3.0, moment(person % 90, "day")))
    return Data(rows, repeats="keep")


def test_an_excluded_record_lowers_supports_by_one_however_many_entries_it_has():
    made = visitors(25)
    auxes = [so.Aux([so.Fact(f"item{item}", 2.0, moment(30, "day")) for item in range(3)])]
    release, facts = made.read(), facts_of(made, auxes)
    repeating = {record for (record, _), cells in made.entries.items() if len(cells) > 1}
    for exclude in sorted(repeating)[:6]:
        found = scores_by_id(so.ScoreboardRH().attacks(release, joined(release, auxes), exclude=exclude).queries)
        expected = naive.sums(naive.without(made.entries, exclude), facts)
        assert {record: found[record] for record in expected} == {
            record: exact(score) for record, score in expected.items()
        }


@pytest.mark.parametrize("items", ["any", so.outside_top(1)], ids=str)
def test_all_entries_of_an_excluded_record_leave_the_counts_of_likelihood(items):
    made = visitors(25)
    adversary = so.Adversary(knows=4, wrong=1, value_error=1, time_error=3, items=items)
    auxes = [so.Aux([so.Fact(f"item{item}", 2.0, moment(30, "day")) for item in range(3)])]
    release, attack = made.read(), so.Likelihood(adversary)
    repeating = {record for (record, _), cells in made.entries.items() if len(cells) > 1}
    for exclude in sorted(repeating)[:6]:
        found = scores_by_id(attack.attacks(release, joined(release, auxes), exclude=exclude).queries)
        expected = twin_scores(made, auxes, adversary, exclude)
        assert {record: found[record] for record in expected} == {
            record: pytest.approx(score, rel=1e-9, abs=1e-9) for record, score in expected.items()
        }


@pytest.mark.parametrize(
    "attack",
    [
        so.ScoreboardRH(),
        so.ScoreboardRH(so.Within(value=1, time=7)),
        so.Likelihood(),
        so.Likelihood(so.Adversary(knows=4, wrong=1, value_error=1, time_error=3)),
        so.Likelihood(so.Adversary(knows=4, value_error=0, time_error=3, items="popular")),
    ],
    ids=str,
)
def test_verdicts_on_a_crowd_equal_their_scores_in_double_precision(attack):
    release = visitors(9_000 if COMPILED else 300).read()
    facts = [so.Fact(f"item{item}", 1.0 + item % 5, moment(9 * item, "day")) for item in (0, 2, 4, 5, 1, 3)]
    auxes = [so.Aux(facts[at : at + 3]) for at in range(4)]
    exclude = [None, release.records[5], None, release.records[release.n_records - 1]]
    verdicts = attack.attacks(release, auxes, exclude=exclude)
    nested = attack.nested(release, auxes, [1, 3], exclude=exclude)
    for q, verdict in enumerate(verdicts):
        for each in (verdict, nested[2 * q + 1]):
            scores = verdict.scores[verdict.scores > -np.inf]
            assert (each.candidates, each.highest) == (len(scores), scores.max())
            assert each.ties == np.count_nonzero(scores == scores.max())
            assert (each.mean, each.sigma) == (near(scores.mean()), near(scores.std()))
            total = np.exp((scores - scores.max()) / each.scale).sum()
            assert each.z == pytest.approx(total, rel=1e-5)
