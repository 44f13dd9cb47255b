"""The Bayesian attack with a learned error model, compared with loops and dicts."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import naive
import standout as so
from conftest import content
from standout.attack.engine import score
from standout.attack.error_model import DistanceClasses
from standout.attack.likelihood import LearnedErrors
from standout.know.facts import facts_from_entries

pytestmark = pytest.mark.once
VALUES, TIMES = np.array([1.5, -0.4, -2.0, -3.0]), np.array([4.0, 4.0, 1.0, 0.2, -0.5, -1.0, -2.5])


@pytest.fixture(scope="module")
def release():
    """A release with gaps: some entries have no value or no date, and some days have many entries."""
    frame, draw = (so.synthesize(records=60, items=30, entries=900, seed=9).to_frame(), np.random.default_rng(1))
    keep = [pl.Series(draw.random(len(frame)) < 0.8) for _ in range(2)]
    return so.read(
        frame.with_columns(
            value=pl.when(keep[0]).then("value"), time=pl.when(keep[1]).then(pl.col("time").dt.truncate("6mo"))
        )
    )


def known_facts(release, records):
    start = release.by_record.start
    entry = np.concatenate([np.arange(start[r], start[r + 1])[::2] for r in records])
    first = np.cumsum([0, *(len(np.arange(start[r], start[r + 1])[::2]) for r in records)])
    return facts_from_entries(release, entry, first)


@pytest.mark.parametrize("dated", [True, False])
def test_scores_are_the_sums_of_log_ratios_without_the_excluded_record(release, dated):
    chosen, entries, names = [3, 11, 40], content(release), list(release.records)
    errors = LearnedErrors(DistanceClasses(release), 0.6, VALUES, TIMES if dated else None)
    known = known_facts(release, chosen)
    queries = errors.queries(known, np.array([-1, 11, -1]), present=0.5)
    _, columns = score(queries, top=5)
    for q, exclude in enumerate((None, names[11], None)):
        rest = entries if exclude is None else naive.without(entries, exclude)
        facts = {item: entries[names[chosen[q]], item] for item in items_of(release, known, q)}
        times = TIMES if dated else 0 * TIMES
        left = [name for name in names if name != exclude]
        expected = {r: sum(naive.evidence(rest, facts, r, 0.6, VALUES, times)) for r in left}
        scores = dict(zip(names, queries.scores(q).tolist(), strict=True))
        assert {r: scores[r] for r in left} == pytest.approx(expected, abs=1e-9)
        assert columns.highest[q] == pytest.approx(max(expected.values()), abs=1e-9)
        best = columns.record[columns.first[q] : columns.first[q + 1]]
        ranked = sorted(expected.values(), reverse=True)[: len(best)]
        assert [expected[names[r]] for r in best] == pytest.approx(ranked, abs=1e-9)
        z = sum(np.exp(score - max(expected.values())) for score in expected.values())
        assert columns.z[q] == pytest.approx(z, rel=1e-5)


def items_of(release, known, q):
    return [release.items[item] for item in known.item[known.first[q] : known.first[q + 1]].tolist()]


def test_dates_far_outside_the_release_are_as_far_as_any(release):
    errors = LearnedErrors(DistanceClasses(release), 0.6, VALUES, TIMES)
    known = known_facts(release, [5])
    for far in (-(10**9), 10**9):
        moved = replace(known, time=known.time * 0 + far)
        near = replace(known, time=known.time * 0 + np.sign(far) * (release.span + 400))
        scores = [errors.queries(facts, np.array([-1]), 0.5).scores(0) for facts in (moved, near)]
        assert scores[0] == pytest.approx(scores[1])
