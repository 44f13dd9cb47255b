"""Checkpoints: an interrupted run resumes, and only with the same settings and targets."""

from functools import partial

import numpy as np
import pytest

import standout as so
from evaluate.releases import ADVERSARY, same
from standout.evaluate import simulate as target_attacks
from standout.evaluate.simulate import simulate


def test_an_interrupted_run_returns_its_results_and_resumes(release, monkeypatch, tmp_path):
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 5)
    ask = partial(simulate, release, ADVERSARY, facts=[2, 6], targets=23, seed=2)
    whole, stages = ask(), []

    def stop_after(most):
        def tell(stage, done, total):
            stages.append((stage, done, total))
            if done >= most:
                raise KeyboardInterrupt

        return tell

    some = ask(progress=stop_after(10), save=tmp_path / "run")
    assert not some.complete and whole.complete
    assert [len(cell.outcomes) for cell in some.cells] == [10, 10]
    assert some.estimate("identified", facts=2).n == 10
    assert stages == [("attacking", 5, 23), ("attacking", 10, 23)]
    batches, original = [], target_attacks.attack_outcomes
    monkeypatch.setattr(
        target_attacks,
        "attack_outcomes",
        lambda *args, **options: batches.append(options["targets"]) or original(*args, **options),
    )
    rest = ask(save=tmp_path / "run")
    assert sorted(len(targets) for targets in batches) == [3, 5, 5]  # what was done is not done again
    assert same(rest, whole)
    assert same(ask(save=tmp_path / "run"), whole)
    other = ask(save=tmp_path / "run", seed=3)  # other settings have files of their own
    assert same(other, simulate(release, ADVERSARY, facts=[2, 6], targets=23, seed=3))
    assert len(list(tmp_path.iterdir())) == 2
    nothing = ask(progress=stop_after(0), save=tmp_path / "none")
    assert not nothing.complete


def test_a_checkpoint_is_reused_for_the_same_targets_only(release, tmp_path):
    names = [release.records[p] for p in np.flatnonzero(release.lengths >= 6)[:60]]
    ask = partial(simulate, release, ADVERSARY, seed=2, save=tmp_path / "run")
    some, others = names[:20], names[20:40]
    assert same(ask(targets=some), simulate(release, ADVERSARY, seed=2, targets=some))
    assert same(ask(targets=others), simulate(release, ADVERSARY, seed=2, targets=others))
    assert same(ask(targets=30), simulate(release, ADVERSARY, seed=2, targets=30))
    fewer = ask(targets=10)
    assert fewer.estimate("identified").n == 10
    assert same(fewer, simulate(release, ADVERSARY, seed=2, targets=10))


def test_a_checkpoint_depends_on_all_settings_and_is_private(release, tmp_path):
    ask = partial(simulate, release, ADVERSARY, targets=5, save=tmp_path / "run")
    ask()
    assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]
    for attack in (so.ScoreboardRH(weights=lambda support: 1.0 / support), so.ScoreboardRH(so.Custom(lambda *x: 1.0))):
        with pytest.raises(so.ParameterError, match="save works with named weights"):
            ask(attack=attack)
    assert not same(ask(), ask(attack=so.ScoreboardRH(weights="one")))
    assert not same(ask(), ask(theta=0.9, similarity=so.Present()))
    with pytest.raises(so.ParameterError, match="save must be in an existing folder"):
        ask(save=tmp_path / "nowhere" / "run")


def test_a_damaged_checkpoint_is_ignored(release, tmp_path):
    ask = partial(simulate, release, ADVERSARY, targets=5, seed=2, save=tmp_path / "run")
    whole = ask()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.warns(RuntimeWarning, match="is not used: it is damaged or of another run"):
        assert same(ask(), whole)
    assert same(ask(), whole)  # it was written again
