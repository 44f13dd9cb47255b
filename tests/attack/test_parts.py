"""Verdicts do not depend on how the release is divided into parts, to the last bit."""

from dataclasses import fields, replace
from datetime import date

import numpy as np
import polars as pl
import pytest

import naive
import standout as so
from attack_cases import Data, SameWeekday, crowd, exact, near
from part_executors import check_all_divisions, divided, divisions
from standout.attack.release_counts import ReleaseCounts
from standout.core.threads import even_parts
from standout.data.entries import block_count
from standout.know.facts import encode_auxes

BLOCK = 8192
ADVERSARY = so.Adversary(knows=5, value_error=1, time_error=14)


@pytest.fixture(scope="module")
def sparse():
    """Four blocks of records with few entries: most blocks keep their scores as lists."""
    return so.synthesize(records=27_000, items=60, entries=90_000, seed=3)


@pytest.fixture(scope="module")
def many_blocks():
    """Seventeen blocks, which can be divided into 16 parts."""
    return so.synthesize(records=135_000, items=60, entries=400_000, seed=3)


@pytest.fixture(scope="module")
def repeating():
    """Records that have some items several times, some entries without value or date."""
    random = np.random.default_rng(11)
    n = 70_000
    days = pl.Series(random.integers(0, 300, n)).cast(pl.Int32)
    frame = pl.DataFrame(
        {
            "record": random.integers(0, 20_000, n).astype(str),
            "item": (random.integers(0, 50, n) ** 2 // 50).astype(str),
            "value": np.where(random.random(n) < 0.1, np.nan, random.integers(1, 6, n)),
            "time": (days + 12_000).cast(pl.Date),
        }
    ).with_columns(pl.col("value").fill_nan(None))
    return so.read(frame, repeats="keep")


def known_of(release, seed, count=12, draws=1, adversary=ADVERSARY):
    """What adversaries know about some records of all blocks."""
    some = np.random.default_rng(seed).permutation(release.n_records)
    return adversary.observe_all(release, some[adversary.eligible(release, some)][:count], draws=draws)


def some_excluded(release, known, seed=5):
    """For every other query a record to leave out."""
    some = np.random.default_rng(seed).integers(0, release.n_records, len(known))
    return np.where(np.arange(len(known)) % 2, some, -1)


ATTACKS = {
    "decay": so.ScoreboardRH(),
    "weights": so.ScoreboardRH(weights="one", similarity=so.Within(1, 30)),
    "own": so.ScoreboardRH(similarity=SameWeekday()),
    "likelihood": so.Likelihood(ADVERSARY),
    "popular": so.Likelihood(replace(ADVERSARY, items="popular"), present=0.9),
    "conjunction": so.Scoreboard(so.Within(1, 14)),
}


@pytest.mark.once
@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("kind", ["sparse", "repeating"])
def test_verdicts_do_not_depend_on_the_parts(name, kind, request):
    release, attack = request.getfixturevalue(kind), ATTACKS[name]
    known = known_of(release, 1)
    exclude = some_excluded(release, known)
    options = {} if name == "conjunction" else {"with_z": False}
    check_all_divisions(release, lambda: attack.attacks(release, known, exclude=exclude, top=5))
    check_all_divisions(release, lambda: attack.attacks(release, known, **options))


@pytest.mark.once
@pytest.mark.parametrize("name", ["decay", "likelihood"])
def test_sums_of_sixteen_parts_are_exact(name, many_blocks):
    known = known_of(many_blocks, 1)

    def verdicts(count):
        with divided(many_blocks, even_parts(block_count(many_blocks), count)):
            columns = ATTACKS[name].attacks(many_blocks, known, top=5).columns
        return [getattr(columns, field.name).tobytes() for field in fields(columns) if field.name != "target"]

    expected = verdicts(1)
    assert verdicts(2) == expected and verdicts(16) == expected


@pytest.mark.once
@pytest.mark.parametrize("name", ["decay", "weights", "likelihood", "popular"])
@pytest.mark.parametrize("kind", ["sparse", "repeating"])
@pytest.mark.parametrize("draws", [1, 5])
def test_nested_verdicts_do_not_depend_on_the_parts(name, kind, draws, request):
    release, attack = request.getfixturevalue(kind), ATTACKS[name]
    known = known_of(release, 2, count=4, draws=draws)
    exclude = np.repeat(some_excluded(release, known)[:4], draws)
    check_all_divisions(release, lambda: attack.nested(release, known, [1, 3, 4, 5], exclude=exclude, with_z=draws > 1))
    check_all_divisions(release, lambda: attack.nested(release, known, [2, 5, 9], top=7, with_z=draws == 1))


@pytest.mark.once
@pytest.mark.parametrize("name", ["decay", "likelihood", "conjunction"])
def test_limits_of_lengths_and_dates_do_not_depend_on_the_parts(name, sparse):
    attack, release = ATTACKS[name], sparse
    begin, end = date(2000, 1, 1), date(2005, 6, 1)
    auxes = [
        so.Aux(aux.facts, length=(2, 2 + 3 * q), joined=(begin, end) if q % 2 else None)
        for q, aux in enumerate(known_of(release, 3, count=6).aux(release, q) for q in range(6))
    ]
    known = encode_auxes(release, auxes)
    exclude = some_excluded(release, known)
    check_all_divisions(release, lambda: attack.attacks(release, known, exclude=exclude))
    check_all_divisions(release, lambda: attack.nested(release, known, [1, 2, 5], exclude=exclude))


def tied_release(better):
    """Three blocks with 45 people each who have "a" and tie, and `better` people of the last with "b" too."""
    n = 2 * BLOCK + 3000
    rows = [(f"{i:05}", "x", 1.0) for i in range(n)]
    for block in range(3):
        rows += [(f"{block * BLOCK + 7 * i:05}", "a", 3.0) for i in range(45)]
    rows += [(f"{2 * BLOCK + 2000 + i:05}", item, 3.0) for i in range(better) for item in "ab"]
    return so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))


@pytest.mark.once
@pytest.mark.parametrize("better", [0, 1, 12, 70])
def test_ties_that_fill_the_shortlist_in_a_part_or_only_in_all_parts_give_the_same_verdicts(better):
    release = tied_release(better)
    auxes = [so.Aux([so.Fact("a", 3.0), so.Fact("b", 3.0)]), so.Aux([so.Fact("a", 3.0), so.Fact("x")])]
    for attack in (so.ScoreboardRH(), so.Likelihood(), so.Scoreboard(so.Within(0, None))):
        for top in (2, 10):
            check_all_divisions(release, lambda: attack.attacks(release, auxes, top=top))  # noqa: B023
        check_all_divisions(release, lambda: attack.nested(release, auxes, [1, 2]))  # noqa: B023
    assert so.ScoreboardRH().attacks(release, auxes)[1].ties == 135 + better


def test_an_attack_in_parts_agrees_with_the_slow_twin():
    made = Data(crowd(2 * BLOCK + 500))
    release, facts = made.read(), [so.Fact("item1"), so.Fact("item3"), so.Fact("other7")]
    with divided(release, even_parts(3, 3)):
        nested = so.ScoreboardRH().nested(release, [so.Aux(facts)], [2, 3], exclude="12")
        plain = so.ScoreboardRH().attacks(release, [so.Aux(facts)], exclude="12")
    scores = made.scores(so.Aux(facts), naive.decay, naive.weight, exclude="12")
    del scores["12"]
    for verdict in (nested[1], plain[0]):
        assert (verdict.highest, verdict.second) == (exact(naive.highest(scores)), exact(naive.second(scores)))
        assert (verdict.mean, verdict.sigma) == (near(naive.mean(scores)), near(naive.sigma(scores)))
        assert verdict.tied == tuple(sorted(naive.tied(scores), key=lambda record: (len(record), record)))
        probability = naive.probabilities(scores)[verdict.tied[0]]
        assert verdict.probability(verdict.tied[0]) == near(probability)


@pytest.mark.once
def test_what_travels_does_not_grow_with_the_number_of_records():
    release = Data(crowd(4 * BLOCK)).read()
    with divided(release, even_parts(4, 1)) as executor:
        so.Likelihood().attacks(release, [so.Aux([so.Fact("item3"), so.Fact("other7")])])
    assert executor.sent + executor.received < release.n_records


@pytest.mark.once
@pytest.mark.parametrize("kind", ["sparse", "repeating"])
def test_counts_of_the_release_do_not_depend_on_the_parts(kind, request):
    release = request.getfixturevalue(kind)
    names, whole = ("_by_level", "_by_item", "_before"), ReleaseCounts(release)
    expected = [getattr(whole, name) for name in names]
    for parts in divisions(release):
        with divided(release, parts):
            counts = ReleaseCounts(release)
            for name, count in zip(names, expected, strict=True):
                assert np.array_equal(getattr(counts, name), count)


@pytest.mark.once
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1.0, 1e28])
def test_queries_about_nothing_and_extreme_weights_do_not_depend_on_the_parts(sparse, scale):
    auxes = [
        so.Aux([]),
        so.Aux([so.Fact("nowhere")]),
        so.Aux([so.Fact("7"), so.Fact("nowhere")]),
        so.Aux([so.Fact("7")], length=(10**6, 10**7)),
    ]
    weighted = so.ScoreboardRH(weights=lambda support: support * scale)
    for attack in (weighted, so.Likelihood(), so.Scoreboard(so.Within(1, 14))):
        for some in ([], auxes[:3], auxes):
            check_all_divisions(sparse, lambda: attack.attacks(sparse, some))  # noqa: B023
    check_all_divisions(sparse, lambda: weighted.nested(sparse, auxes[:3], [1, 2]))
