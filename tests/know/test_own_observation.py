"""Laws of adversaries of the user's own: they take effect everywhere, or they are refused."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import standout as so
from standout.auditing.exposure import risk_table
from standout.know.facts import encode_auxes

RELEASE = so.synthesize(records=300, items=80, entries=6_000, seed=3)
EVERYBODY = np.flatnonzero(RELEASE.lengths > 1)


@dataclass(frozen=True)
class OneDay(so.Adversary):
    """Knows everything of one day of the target."""

    knows: int = 6
    time_error: float | None = 1

    def choose(self, entries, rng):
        return np.flatnonzero(entries.day == rng.choice(entries.day))


class Nothing(so.Adversary):
    """Overrides observe only: nothing is known about anybody."""

    def observe(self, release, record, seed=0):
        return so.Aux([])


class NothingOfMany(so.Adversary):
    def observe_all(self, release, records, seed=0, draws=1):
        return encode_auxes(release, [so.Aux([])] * len(records) * draws)


class ExactOwn(so.Adversary):
    """Overrides observe and uses its base class."""

    def observe(self, release, record, seed=0):
        return so.Aux(super().observe(release, record, seed).facts[:1])


def facts_of(adversary, records, seed=1, draws=1):
    known = adversary.observe_all(RELEASE, records, seed, draws)
    return [known.aux(RELEASE, q).facts for q in range(len(known))]


def test_chosen_entries_are_of_one_day_and_within_the_error():
    sizes = set()
    for record, facts in zip(EVERYBODY, facts_of(OneDay(), EVERYBODY), strict=True):
        entries = {entry.item: entry for entry in RELEASE.record(RELEASE.records[record]).entries}
        assert len({entries[fact.item].time for fact in facts}) == 1
        assert all(abs((fact.time - entries[fact.item].time).days) <= 1 for fact in facts)
        assert all(fact.value == entries[fact.item].value for fact in facts)
        day = entries[facts[0].item].time
        assert len(facts) == min(6, sum(entry.time == day for entry in entries.values()))
        sizes.add(len(facts))
    assert len(sizes) > 1


@pytest.mark.parametrize("adversary", [OneDay(), ExactOwn(knows=2)], ids=["choose", "observe"])
def test_draws_depend_neither_on_order_nor_on_the_batch(adversary):
    whole = facts_of(adversary, EVERYBODY[:40])
    assert facts_of(adversary, EVERYBODY[:40][::-1])[::-1] == whole
    assert [facts_of(adversary, [record])[0] for record in EVERYBODY[:40]] == whole
    assert list(adversary.observe(RELEASE, RELEASE.records[EVERYBODY[7]], 1).facts) == list(whole[7])
    assert facts_of(adversary, EVERYBODY[:40], seed=2) != whole
    several = facts_of(adversary, EVERYBODY[:40], draws=3)
    assert several[::3] == whole and several[1::3] != whole
    items = [[tuple(fact.item for fact in facts) for facts in several[draw::3]] for draw in range(3)]
    assert items[0] == items[1] or isinstance(adversary, ExactOwn)


def test_the_share_of_wrong_values_holds_for_every_number_of_facts():
    adversary = OneDay(knows=6, wrong=3, time_error=0)
    for record, facts in zip(EVERYBODY, facts_of(adversary, EVERYBODY), strict=True):
        entries = {entry.item: entry for entry in RELEASE.record(RELEASE.records[record]).entries}
        wrong = sum(fact.value != entries[fact.item].value for fact in facts)
        assert wrong == len(facts) // 2


@pytest.mark.parametrize("own", [Nothing(knows=3), NothingOfMany(knows=3)], ids=["observe", "observe_all"])
def test_an_overridden_method_takes_effect_wherever_an_adversary_is_accepted(own):
    simulation = so.simulate(RELEASE, own, targets=20)
    assert simulation.estimate("identified").value == pytest.approx(1 / RELEASE.n_records)
    table = risk_table(RELEASE, own, records=10, draws=2)
    probabilities = table["probability"].drop_nulls().to_list()
    assert len(probabilities) > 5 and probabilities == pytest.approx([1 / RELEASE.n_records] * len(probabilities))
    audit = so.audit(RELEASE, ladder={"own": own}, targets=20, facts=[1, 2])
    assert audit.findings.adversaries[0].as_named.identified.value == pytest.approx(1 / RELEASE.n_records)
    advice = so.advise(RELEASE, adversary=own, limit=0.1, candidates=["drop-entries 0.5"], targets=10, people=5)
    assert all(candidate.risk.everybody.value < 0.01 for candidate in advice.candidates)


def test_an_audit_with_chosen_entries_says_who_chose_them():
    audit = so.audit(RELEASE, ladder={"one day": OneDay()}, targets=20, facts=[1, 2])
    assert "up to 6 items chosen by OneDay" in audit.findings.adversaries[0].description
    by_attack = {attack.name: attack.as_named for attack in audit.findings.adversaries[0].attacks}
    for name, attack in (("paper", so.ScoreboardRH()), ("likelihood", so.Likelihood())):
        named = so.simulate(RELEASE, OneDay(), attack=attack, targets=20, seed=audit.findings.run.seed)
        assert by_attack[name].identified.value == named.estimate("identified").value


def test_fewer_facts_than_asked_for_are_all_used():
    simulation = so.simulate(RELEASE, OneDay(), facts=[1, 6], targets=100, seed=2)
    fewer, all_facts = (simulation.estimate("identified", facts=facts).value for facts in (1, 6))
    known = OneDay().observe_all(RELEASE, simulation.cells[1].targets, 2)
    verdicts = so.ScoreboardRH().attacks(RELEASE, known)
    right = [
        RELEASE.records[target] in verdict.tied and 1 / verdict.ties
        for target, verdict in zip(simulation.cells[1].targets, verdicts, strict=True)
    ]
    assert all_facts == pytest.approx(np.mean(right)) and all_facts > fewer


class Delegate(so.Adversary):
    """Gives the facts of the built-in adversary, one target at a time."""

    def observe(self, release, record, seed=0):
        return BUILT_IN.observe(release, record, seed)


BUILT_IN = so.Adversary(knows=3, value_error=1, time_error=14)


@pytest.mark.parametrize("step", ["round-value bins 2", "perturb-value 1", "round-time month", "drop-top-items 5"])
def test_facts_about_a_sanitized_release_are_translated_like_those_of_the_built_in(step):
    safer = so.sanitize(RELEASE, so.step(step), seed=1)
    for seed in range(5):  # few targets, so that not every value of the original is known
        own, built_in = (
            so.simulate(safer, {"same": adversary}, targets=3, seed=seed) for adversary in (Delegate(knows=3), BUILT_IN)
        )
        assert own.table.equals(built_in.table)


def test_too_many_facts_are_refused_because_the_rest_would_be_cut_off():
    class Chatty(so.Adversary):
        def observe(self, release, record, seed=0):
            return so.Adversary(knows=3).observe(release, record, seed)

    with pytest.raises(so.ParameterError, match="Chatty gives 3 facts about a target: knows must be at least 3"):
        so.simulate(RELEASE, Chatty(knows=2), targets=5)


def test_a_checkpoint_needs_a_key_of_ones_own(tmp_path):
    class Keyed(Nothing):
        def key(self):
            return "version 1"

    for own in (OneDay(), Nothing(knows=3), NothingOfMany(knows=3)):
        with pytest.raises(so.ParameterError, match=r"save needs a method key\(\) of"):
            so.simulate(RELEASE, own, targets=5, save=tmp_path / "run")
        with pytest.raises(so.ParameterError, match=r"work needs a method key\(\) of"):
            so.advise(RELEASE, adversary=own, limit=0.1, work=tmp_path)
    so.simulate(RELEASE, Keyed(knows=3), targets=5, save=tmp_path / "run")


def test_a_subclass_has_a_key_of_its_own():
    @dataclass(frozen=True)
    class Same(so.Adversary):
        pass

    assert Same().key() != so.Adversary().key() and "Same" in Same().key()
    assert replace(OneDay(), knows=3) != replace(so.Adversary(), knows=3)


BAD_CHOICES = {
    "out of range": lambda entries, rng: [len(entries)],
    "negative": lambda entries, rng: [-1],
    "twice": lambda entries, rng: [0, 0],
    "booleans": lambda entries, rng: entries.day >= 0,
    "nothing at all": lambda entries, rng: None,
}


@pytest.mark.parametrize("how", BAD_CHOICES)
def test_what_is_no_choice_is_refused(how):
    own = type("Own", (so.Adversary,), {"choose": lambda self, entries, rng: BAD_CHOICES[how](entries, rng)})
    with pytest.raises(so.ParameterError, match=r"Own.choose\(\) must return positions"):
        so.simulate(RELEASE, own(knows=3), targets=5)


def test_what_fails_or_gives_something_else_is_refused():
    def fails(self, *given):
        raise KeyError("x")

    for name, message in (("choose", r"Own.choose\(\) failed: KeyError"), ("observe", "failed: KeyError")):
        with pytest.raises(so.ParameterError, match=message):
            so.simulate(RELEASE, type("Own", (so.Adversary,), {name: fails})(knows=3), targets=5)
    for name, message in (("observe", "must return an Aux, got list"), ("observe_all", "must return KnownFacts")):
        own = type("Own", (so.Adversary,), {name: lambda self, *given: []})
        with pytest.raises(so.ParameterError, match=message):
            so.simulate(RELEASE, own(knows=3), targets=5)


def test_parameters_in_the_body_of_a_class_that_is_no_dataclass_are_refused():
    class Forgetful(so.Adversary):
        knows = 3

    with pytest.raises(so.ParameterError, match=r"Forgetful must be a dataclass: write @dataclass"):
        Forgetful()


def test_a_choice_that_would_have_no_effect_is_refused():
    with pytest.raises(so.ParameterError, match=r"Both.choose\(\) would have no effect"):
        type("Both", (Nothing,), {"choose": lambda self, entries, rng: [0]})
    with pytest.raises(so.ParameterError, match="wrong_facts must be 'values' for OneDay"):
        so.simulate(RELEASE, OneDay(wrong=1, wrong_facts="items"), targets=5)


def test_days_are_calendar_days_on_any_clock():
    rows = {
        "who": ["a"] * 3,
        "what": ["x", "y", "z"],
        "when": ["2005-03-01 22:30", "2005-03-01 23:50", "2005-03-02 00:10"],
    }
    import polars as pl

    release = so.read(pl.DataFrame(rows), record="who", item="what", time="when", time_unit="minute")
    days = []

    class Look(so.Adversary):
        def choose(self, entries, rng):
            days.extend(zip([release.items[item] for item in entries.item], entries.day.tolist(), strict=True))
            return []

    Look(knows=1).observe(release, "a")
    assert sorted(days) == [("x", 0), ("y", 0), ("z", 1)]
