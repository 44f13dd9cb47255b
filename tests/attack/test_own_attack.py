"""Laws of attacks of the user's own: they take effect everywhere, or they are refused."""

import math

import numpy as np
import pytest

import standout as so
from standout.attack.queries import first_facts
from standout.auditing.exposure import risk_table
from standout.evaluate.simulate import success_rates

RELEASE = so.synthesize(records=300, items=80, entries=6_000, seed=3)
ADVERSARY = so.Adversary(knows=4, wrong=1, value_error=1, time_error=14)
TARGETS = np.flatnonzero(ADVERSARY.eligible(RELEASE, np.arange(RELEASE.n_records)))[:60]
KNOWN = ADVERSARY.observe_all(RELEASE, TARGETS, seed=1)


def paper_scores(release, known, support):
    """Algorithm 1B in the Netflix form, one entry at a time."""
    scores = np.zeros((len(known), release.n_records))
    for fact in so.fact_entries(release, known):
        weight = 1 / math.log(max(support(fact), 2))
        for at, record in enumerate(fact.record):
            value = math.exp(-abs(fact.value[at] - fact.known_value) / 1.5)
            scores[fact.target, record] += weight * (value + math.exp(-abs(fact.days[at]) / 30))
    return scores


class Paper(so.Attack):
    """The paper's attack, written as an attack of one's own."""

    def scores(self, release, known):
        return paper_scores(release, known, lambda fact: len(fact.record))

    def scores_without(self, release, known, exclude):
        return paper_scores(release, known, lambda fact: len(fact.record) - (exclude[fact.target] in fact.record))


class Shifted(Paper):
    def scores(self, release, known):
        return super().scores(release, known) - 7.0

    def scores_without(self, release, known, exclude):
        return super().scores_without(release, known, exclude) - 7.0


class Nobody(so.Attack):
    """All records have the same score."""

    def scores(self, release, known):
        return np.zeros((len(known), release.n_records))


def check_same(one, other):
    for mine, paper in zip(one, other, strict=True):
        assert (mine.tied, mine.candidates) == (paper.tied, paper.candidates)
        assert mine.eccentricity == pytest.approx(paper.eccentricity, rel=1e-5, abs=1e-9)
        records = [candidate.record for candidate in paper.lineup(5)]
        shares, wanted = ([c.probability for c in verdict.lineup(5)] for verdict in (mine, paper))
        assert shares == pytest.approx(wanted, rel=1e-5)
        for record in (*records, RELEASE.records[0]):
            assert mine.probability(record) == pytest.approx(paper.probability(record), rel=1e-5)
            assert mine.entropy(record) == pytest.approx(paper.entropy(record), rel=1e-5)
        assert mine.rank(records[0]) == 1


@pytest.mark.parametrize("block", [1 << 26, 8 * 300 * 7, 1])
@pytest.mark.parametrize("own", [Paper, Shifted])
def test_the_papers_scores_give_the_papers_verdicts(monkeypatch, own, block):
    monkeypatch.setattr("standout.attack.own_attack.BLOCK_BYTES", block)
    paper = so.ScoreboardRH()
    check_same(own().attacks(RELEASE, KNOWN), paper.attacks(RELEASE, KNOWN))
    check_same(own().nested(RELEASE, KNOWN, [1, 3]), paper.nested(RELEASE, KNOWN, [1, 3]))
    check_same(own().attacks(RELEASE, KNOWN, exclude=TARGETS), paper.attacks(RELEASE, KNOWN, exclude=TARGETS))
    aux = KNOWN.aux(RELEASE, 0)
    check_same([own().attack(RELEASE, aux)], [paper.attack(RELEASE, aux)])


def test_a_simulation_of_the_papers_scores_has_the_papers_numbers():
    settings = {"facts": [2, 4], "targets": 80, "seed": 5}
    own = so.simulate(RELEASE, ADVERSARY, attack=Paper(), **settings)
    paper = so.simulate(RELEASE, ADVERSARY, **settings)
    for mine, theirs in zip(own.table.iter_rows(named=True), paper.table.iter_rows(named=True), strict=True):
        assert mine["measure"] == theirs["measure"]
        assert mine["estimate"] == pytest.approx(theirs["estimate"], rel=1e-5, abs=1e-6), mine["measure"]


def test_an_attack_of_ones_own_takes_effect_wherever_an_attack_is_accepted():
    chance = pytest.approx(1 / RELEASE.n_records)
    assert so.simulate(RELEASE, ADVERSARY, attack=Nobody(), targets=20).estimate("identified").value == chance
    assert success_rates(RELEASE, KNOWN, TARGETS, [4], None, Nobody())[:, 0].tolist() == [chance] * len(TARGETS)
    table = risk_table(RELEASE, ADVERSARY, records=10, draws=2, attack=Nobody())
    assert {round(share, 9) for share in table["probability"].drop_nulls()} == {round(1 / RELEASE.n_records, 9)}


class RuledOut(so.Attack):
    def scores(self, release, known):
        scores = np.full((len(known), release.n_records), -np.inf)
        scores[:, :3] = [1.0, 2.0, 2.0]
        scores[0] = -np.inf
        return scores


def test_records_can_be_ruled_out():
    nobody, verdict = RuledOut().attacks(RELEASE, KNOWN)[:2]
    assert (nobody.candidates, nobody.best, nobody.ties, nobody.match(0.0)) == (0, None, 0, None)
    assert (verdict.candidates, verdict.tied) == (3, (RELEASE.records[1], RELEASE.records[2]))
    assert verdict.probability(RELEASE.records[9]) == 0.0
    assert sum(verdict.probability(RELEASE.records[at]) for at in range(3)) == pytest.approx(1.0)
    without = RuledOut().attack(RELEASE, KNOWN.aux(RELEASE, 0), exclude=RELEASE.records[2])
    assert without.best is None
    pair = RuledOut().attacks(RELEASE, KNOWN, exclude=np.full(len(KNOWN), 2))[1]
    assert (pair.best, pair.ties, pair.candidates) == (RELEASE.records[1], 1, 2)
    simulation = so.simulate(RELEASE, ADVERSARY, attack=RuledOut(), targets=5)
    assert simulation.estimate("identified").value <= 0.5


class Bayes(so.Attack):
    """Each known item is the target's own with a chance of 0.9, otherwise anybody's."""

    log_likelihood = True

    def scores(self, release, known):
        scores = np.log(0.1) * np.diff(known.first)[:, None] * np.ones(release.n_records)
        for fact in so.fact_entries(release, known):
            share = len(fact.record) / release.n_entries
            ratio = 0.9 / release.lengths[fact.record] / share + 0.1
            scores[fact.target, fact.record] += np.log(ratio) - np.log(0.1)
        return scores


def test_log_likelihoods_give_probabilities_in_proportion_to_likelihoods():
    raw = Bayes().scores(RELEASE, KNOWN)
    for q, verdict in enumerate(Bayes().attacks(RELEASE, KNOWN)):
        posterior = np.exp(raw[q]) / np.exp(raw[q]).sum()
        for at in (0, 17, int(np.argmax(raw[q]))):
            assert verdict.probability(RELEASE.records[at]) == pytest.approx(posterior[at], rel=1e-9)
        first, second = np.sort(raw[q])[:-3:-1]
        assert verdict.eccentricity == pytest.approx(first - second, abs=1e-9)
    assert Nobody().attack(RELEASE, KNOWN.aux(RELEASE, 0)).sigma == 0.0


@pytest.mark.once
def test_the_probabilities_of_a_right_likelihood_are_right():
    adversary = so.Adversary(knows=2, value_error=None, time_error=None)
    comparison = so.compare(RELEASE, adversary, {"bayes": Bayes(), "paper": so.ScoreboardRH()}, targets="all")
    bayes, paper = comparison.row("bayes"), comparison.row("paper")
    assert abs(bayes.gap.value) < 0.06
    assert bayes.identified.value > paper.identified.value


def test_limits_of_length_rule_records_out():
    aux = so.Aux([], length=(10, 12))
    verdict = Nobody().attack(RELEASE, aux)
    assert verdict.candidates == np.count_nonzero((RELEASE.lengths >= 10) & (RELEASE.lengths <= 12))


BAD_SCORES = {
    "one row": lambda q, n: np.zeros(n),
    "transposed": lambda q, n: np.zeros((n, q)),
    "text": lambda q, n: np.full((q, n), "much"),
    "nothing": lambda q, n: None,
    "NaN": lambda q, n: np.full((q, n), np.nan),
    "infinite": lambda q, n: np.full((q, n), np.inf),
    "ragged": lambda q, n: [[0.0], [0.0, 1.0]],
}


def test_what_are_no_scores_is_refused():
    for how in BAD_SCORES:
        own = type(
            "Own", (so.Attack,), {"scores": lambda self, r, known, how=how: BAD_SCORES[how](len(known), r.n_records)}
        )
        with pytest.raises(so.ParameterError, match=r"Own.scores\(\) must return"):
            so.simulate(RELEASE, ADVERSARY, attack=own(), targets=5)


def test_an_attack_that_fails_says_how():
    own = type("Own", (so.Attack,), {"scores": lambda self, release, known: {}["x"]})
    with pytest.raises(so.ParameterError, match=r"Own.scores\(\) failed: KeyError"):
        so.simulate(RELEASE, ADVERSARY, attack=own(), targets=5)
    with pytest.raises(so.ParameterError, match=r"must have a method scores"):
        so.simulate(RELEASE, ADVERSARY, attack=so.Attack(), targets=5)


def test_scores_have_no_parts_to_explain():
    with pytest.raises(so.ParameterError, match="explain is not available"):
        Paper().attack(RELEASE, KNOWN.aux(RELEASE, 0)).explain(RELEASE.records[0])


@pytest.mark.parametrize("base", [so.ScoreboardRH, so.Scoreboard, Paper])
def test_overridden_attacks_take_effect_in_a_simulation(base):
    calls = []

    class Own(base):
        def attacks(self, release, auxes, **options):
            calls.append(len(auxes))
            return Nobody().attacks(release, auxes, **options)

    simulation = so.simulate(RELEASE, ADVERSARY, attack=Own(), facts=[2, 4], targets=20)
    assert calls == [40, 40]
    assert simulation.estimate("identified", facts=4).value == pytest.approx(1 / RELEASE.n_records)


@pytest.mark.parametrize("base", [so.ScoreboardRH, so.Scoreboard, Paper])
def test_an_overridden_attack_that_would_have_no_effect_is_refused(base):
    class Own(base):
        def attack(self, release, aux, **options):
            return super().attack(release, aux, **options)

    aux = KNOWN.aux(RELEASE, 0)
    assert Own().attack(RELEASE, aux).tied == base().attack(RELEASE, aux).tied
    for call in (
        lambda: so.simulate(RELEASE, ADVERSARY, attack=Own(), targets=5),
        lambda: Own().attacks(RELEASE, [aux]),
        lambda: risk_table(RELEASE, ADVERSARY, records=5, attack=Own()),
    ):
        with pytest.raises(so.ParameterError, match="Own overrides only attack"):
            call()


def test_what_is_no_attack_is_refused():
    for attack in (3, Paper, so.Decay()):
        with pytest.raises(so.ParameterError, match="attack must be an attack, such as"):
            so.simulate(RELEASE, ADVERSARY, attack=attack, targets=5)


def test_a_checkpoint_needs_a_key_of_the_attack(tmp_path):
    class Keyed(Nobody):
        def key(self):
            return "1"

    class Sub(so.ScoreboardRH):
        pass

    for attack in (Nobody(), Sub()):
        with pytest.raises(so.ParameterError, match=r"save needs a method key\(\) of"):
            so.simulate(RELEASE, ADVERSARY, attack=attack, targets=5, save=tmp_path / "run")
    for attack in (Keyed(), so.Scoreboard(), so.ScoreboardRH()):
        so.simulate(RELEASE, ADVERSARY, attack=attack, targets=5, save=tmp_path / "run")
    assert len([*tmp_path.iterdir()]) == 3


def naive_1a(record, facts):
    """min Sim over the known items: within 1 and 14 days, as Within() says."""
    entries = {entry.item: entry for entry in RELEASE.record(record).entries}
    similar = [
        abs(entries[fact.item].value - fact.value) <= 1 and abs((entries[fact.item].time - fact.time).days) <= 14
        if fact.item in entries
        else False
        for fact in facts
    ]
    return float(all(similar))


def test_a_simulation_with_algorithm_1a_counts_the_matching_set():
    adversary = so.Adversary(knows=2, wrong=1, value_error=1, time_error=14)
    simulation = so.simulate(RELEASE, adversary, attack=so.Scoreboard(), facts=[1, 2], targets=15, seed=4)
    for cell, size in zip(simulation.cells, (1, 2), strict=True):
        known = first_facts(adversary.observe_all(RELEASE, cell.targets, 4), [size])
        for at, target in enumerate(cell.targets.tolist()):
            facts = known.aux(RELEASE, at).facts
            matching = [r for r in range(RELEASE.n_records) if naive_1a(RELEASE.records[r], facts)]
            right = target in matching
            everybody = not matching
            assert cell.outcomes.identified[at, 0] == pytest.approx(
                1 / len(matching) if right else 1 / RELEASE.n_records if everybody else 0.0
            )
            bits = math.log2(len(matching)) if right else math.log2(RELEASE.n_records)
            assert cell.outcomes.bits_left[at, 0] == pytest.approx(bits)
            assert (cell.outcomes.claim_strength[at, 0] >= 0) == (len(matching) == 1)
            assert cell.outcomes.lineup_50[at, 0] == math.ceil(0.5 * (len(matching) or RELEASE.n_records))
