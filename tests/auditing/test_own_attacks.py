"""Attacks of the user's own in the audit and in advice: candidates for the strongest attack."""

import numpy as np
import pytest

import standout as so
from standout.core.rng import generator

pytestmark = pytest.mark.once

RELEASE = so.synthesize(records=200, items=80, entries=4_000, seed=3)
WEAK = so.Adversary(knows=2, value_error=None, time_error=None)


class Cheat(so.Attack):
    """Always right: it reads the target off the number of facts that nobody else has."""

    def __init__(self, known_targets):
        self.known_targets = known_targets

    def scores(self, release, known):
        scores = np.zeros((len(known), release.n_records))
        for q in range(len(known)):
            facts = tuple(known.item[known.first[q] : known.first[q + 1]])
            scores[q, self.known_targets.get(facts, 0)] = 1.0
        return scores


class Nobody(so.Attack):
    def scores(self, release, known):
        return np.zeros((len(known), release.n_records))


def cheat(adversary, *seeds):
    """An attack that has seen all facts of this adversary in advance, for these seeds of facts."""
    records = np.flatnonzero(adversary.eligible(RELEASE, np.arange(RELEASE.n_records)))
    targets = {}
    for seed in seeds:
        known = adversary.observe_all(RELEASE, records, seed)
        facts = (tuple(known.item[known.first[q] : known.first[q + 1]]) for q in range(len(records)))
        targets |= dict(zip(facts, records, strict=True))
    return Cheat(targets)


CHOICE = int(generator(4, "strongest facts").integers(2**62))
"""Seed of the facts on which an audit with seed 4 chooses the strongest attack."""


def test_an_audit_uses_the_strongest_attack_and_names_it():
    settings = {"ladder": {"weak": WEAK}, "targets": 40, "facts": [1, 2], "seed": 4}
    plain = so.audit(RELEASE, **settings)
    own = so.audit(RELEASE, attacks={"cheat": cheat(WEAK, CHOICE, 4)}, **settings)
    rate = plain.findings.adversaries[0].as_named.identified
    adversary = own.findings.adversaries[0]
    assert adversary.as_named.identified.value > rate.value + 0.2
    assert adversary.attack == "cheat" and plain.findings.adversaries[0].attack != "cheat"
    assert [attack.name for attack in adversary.attacks] == ["cheat", "likelihood", "paper"]
    assert own.findings.answer.rate == adversary.as_named.identified
    # all attacks have the same targets and facts: those of the built-in ones do not change
    by_name = {attack.name: attack for attack in adversary.attacks}
    assert all(by_name[attack.name] == attack for attack in plain.findings.adversaries[0].attacks)
    assert any("“cheat”" in sentence for sentence in own.findings.limits)
    assert not any("“cheat”" in sentence for sentence in plain.findings.limits)


def test_an_attack_made_for_the_reported_targets_does_not_count():
    settings = {"ladder": {"weak": WEAK}, "targets": 40, "facts": [1, 2], "seed": 4}
    plain, own = so.audit(RELEASE, **settings), so.audit(RELEASE, attacks=[cheat(WEAK, 4)], **settings)
    assert own.findings.adversaries == plain.findings.adversaries


@pytest.mark.parametrize("attack", ["paper", "likelihood", "nobody", "object"])
def test_one_attack_only_is_tried_on_request_and_is_a_limit(attack):
    settings = {"ladder": {"weak": WEAK}, "targets": 40, "facts": [1, 2], "seed": 4}
    attacks = {"nobody": Nobody()}
    plain = so.audit(RELEASE, **settings)
    only = so.audit(RELEASE, attacks=attacks, attack=Nobody() if attack == "object" else attack, **settings)
    (tried,) = only.findings.adversaries[0].attacks
    assert tried.name == only.findings.adversaries[0].attack == ("Nobody" if attack == "object" else attack)
    for other in plain.findings.adversaries[0].attacks:
        assert other.name != tried.name or other == tried
    limit = f"The audit tried one attack only ({tried.name}). Another attack may identify more people."
    assert limit in only.findings.limits and limit not in plain.findings.limits


def test_a_weak_attack_never_lowers_the_numbers_of_an_audit():
    settings = {"ladder": {"weak": WEAK}, "targets": 40, "facts": [1, 2], "seed": 4}
    plain, own = so.audit(RELEASE, **settings), so.audit(RELEASE, attacks=[Nobody()], **settings)
    assert own.findings.adversaries[0].as_named == plain.findings.adversaries[0].as_named
    assert not any("Nobody" in sentence for sentence in own.findings.limits)


def test_advice_uses_the_strongest_attack_and_names_it():
    settings = {"limit": 0.1, "candidates": ["drop-entries 0.01"], "targets": 30, "people": 5, "seed": 4}
    plain = so.advise(RELEASE, WEAK, **settings)
    own = so.advise(RELEASE, WEAK, attacks={"nobody": Nobody(), "papers": so.ScoreboardRH()}, **settings)
    for mine, theirs in zip(own.candidates, plain.candidates, strict=True):
        assert mine.risk.everybody == theirs.risk.everybody and mine.risk.attack != "nobody"


def test_checkpoints_need_a_key_of_the_attack(tmp_path):
    with pytest.raises(so.ParameterError, match=r"work needs a method key\(\) of Nobody"):
        so.audit(RELEASE, attacks=[Nobody()], targets=5, facts=[1], work=tmp_path)
    with pytest.raises(so.ParameterError, match=r"work needs a method key\(\) of Nobody"):
        so.advise(RELEASE, WEAK, attacks=[Nobody()], limit=0.1, work=tmp_path)
