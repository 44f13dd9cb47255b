"""Attacks on parts of an index, each part on a worker: the results of one process, to the last bit."""

import numpy as np
import pytest

import standout as so
from part_executors import check_same_columns
from standout.core.threads import use_pool
from standout.data.entries import block_count

pytestmark = pytest.mark.once
ADVERSARY = so.Adversary(knows=4, wrong=1, value_error=1, time_error=14)
ATTACKS = [so.ScoreboardRH(), so.Likelihood(ADVERSARY), so.Scoreboard(so.Within(1, 14))]


def test_attacks_on_parts_of_an_index_on_workers_give_the_verdicts_of_one_process(pool, tmp_path, monkeypatch):
    monkeypatch.setattr("standout.cluster.workers.FEWEST_ENTRIES", 0)
    made = so.synthesize(records=27_000, items=60, entries=90_000, seed=3)
    so.save(made, tmp_path / "made.index")
    some = np.flatnonzero(ADVERSARY.eligible(made, np.arange(made.n_records)))[::1_500]
    release, known = so.open(tmp_path / "made.index"), ADVERSARY.observe_all(made, some)
    executor = pool.executor_of(release)
    assert len(executor.parts) == 2
    assert executor.parts[-1].last_block == block_count(release)
    with use_pool(pool):
        on_parts = [attack.attacks(release, known) for attack in ATTACKS]
        nested = ATTACKS[0].nested(release, known, [2, 4])
    for attack, verdicts in zip(ATTACKS, on_parts, strict=True):
        check_same_columns(verdicts, attack.attacks(made, known))
    check_same_columns(nested, ATTACKS[0].nested(made, known, [2, 4]))
