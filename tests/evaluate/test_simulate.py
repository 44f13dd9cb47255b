"""Simulations: every outcome equals its slow twin, and nothing but the seed decides the numbers."""

import json
import math
from dataclasses import fields, replace
from datetime import date, timedelta
from functools import partial

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so
import standout.evaluate.simulate as simulation
from standout.evaluate.claim_rates import ClaimRates
from standout.evaluate.outcomes import NO_CLAIM, Outcomes
from standout.evaluate.pairs import pair_similarities, revealed_items
from standout.evaluate.similar_records import SimilarRecords, similarities_to_all
from standout.evaluate.simulate import simulate

COMPILED = not numba.config.DISABLE_JIT
DAY = date(2005, 3, 1)
SIZES = [1, 3]
NAMES = [field.name for field in fields(Outcomes)]


def released(cells):
    """The release of {(record, item): (value, day)}."""
    rows = [
        (*pair, value, None if day is None else DAY + timedelta(days=day))
        for pair, (value, day) in cells.items()
    ]
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    return so.read(pl.DataFrame(rows, schema=schema, orient="row"), value_type="number")


@st.composite
def histories(draw):
    """Entries of a few people, enough of whom have 3 items; some gaps."""
    people, things = "abcdefg"[: draw(st.integers(2, 7))], "uvwxyz"
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from(people), st.sampled_from(things)), min_size=6, max_size=30, unique=True
        )
    )
    value, day = st.sampled_from([1.0, 2.0, 4.0, None]), st.sampled_from([0, 3, 20, 60, None])
    cells = {pair: (draw(value), draw(day)) for pair in pairs}
    assume(max(naive.lengths(cells).values()) >= 3)
    assume(any(cell[0] is not None for cell in cells.values()))
    assume(any(cell[1] is not None for cell in cells.values()))
    return cells


def facts_of(aux):
    return {fact.item: (fact.value, None if fact.time is None else (fact.time - DAY).days) for fact in aux}


def alike_slowly(cells, one, other):
    own, theirs = naive_record(cells, one), naive_record(cells, other)
    shared = [naive.within(own[item], theirs[item]) for item in own if item in theirs]
    return math.fsum(shared) / len({*own, *theirs})


def naive_record(cells, record):
    return {item: cell for (who, item), cell in cells.items() if who == record}


def outcome(cells, facts, target, top, theta):
    """Every outcome of one try, from the scores of all by the paper's formula."""
    scores = naive.sums(cells, facts)
    chances, tied = naive.probabilities(scores), naive.tied(scores)
    higher = naive.rank(scores, scores[target]) - 1
    equal = sum(abs(score - scores[target]) <= naive.EQUAL for score in scores.values())
    near = [record for record in scores if record == target or alike_slowly(cells, target, record) >= theta]
    nobody = naive.highest(scores) <= naive.EQUAL
    own, beyond, right = naive_record(cells, target), [], []
    for guess in [] if nobody else tied:
        new = {item: cell for item, cell in naive_record(cells, guess).items() if item not in facts}
        beyond.append(len(new))
        right.append(sum(naive.within(own[item], cell) for item, cell in new.items() if item in own))
    gone = naive.sums(naive.without(cells, target), facts)
    order = sorted(chances.values(), reverse=True)
    held = [math.fsum(order[: n + 1]) for n in range(len(order))]
    return {
        "identified": (target in tied) / len(tied),
        "in_top": min(1.0, max(0.0, (top - higher) / equal)),
        "similar": sum(guess in near for guess in tied) / len(tied),
        "eccentricity": naive.eccentricity(scores) if naive.match(scores, 0) else NO_CLAIM,
        "bits_left": -math.log2(chances[target]),
        "similar_bits_left": min(-math.log2(chances[record]) for record in near),
        "best_probability": max(chances.values()),
        "candidates": len(scores),
        "revealed": math.fsum(beyond) / max(len(beyond), 1),
        "revealed_correct": math.fsum(right) / max(len(right), 1),
        "absent_eccentricity": naive.eccentricity(gone) if naive.match(gone, 0) else NO_CLAIM,
    } | {
        f"lineup_{share}": next(n + 1 for n, mass in enumerate(held) if mass >= share / 100 - 1e-9)
        for share in (50, 90, 99)
    }  # fmt: skip


@settings(max_examples=60 if COMPILED else 15)
@given(histories(), st.integers(0, 3), st.integers(1, 4), st.sampled_from([0.3, 0.5, 1.0]))
def test_every_outcome_equals_its_slow_twin(cells, wrong, top, theta):
    release = released(cells)
    apart = [[cell[at] for cell in cells.values() if cell[at] is not None] for at in (0, 1)]
    assume(any(max(some) - min(some) > 3 for some in apart))  # else nothing can be told wrongly
    adversary = so.Adversary(knows=3, wrong=wrong, value_error=1, time_error=3)
    done = simulate(release, adversary, facts=SIZES, targets="all", draws=2, top=top, theta=theta, seed=5,
                    similarity=so.Within(value=1, time=14))  # fmt: skip
    able = np.flatnonzero(adversary.eligible(release, range(release.n_records)))
    places = [place for place in targets_of(release, 5) if place in able]
    assert done.complete and {cell.too_few_items for cell in done.cells} == {release.n_records - len(able)}
    known = adversary.observe_all(release, places, 5, draws=2)
    for cell, size in zip(done.cells, SIZES, strict=True):
        assert (cell.facts, len(cell.outcomes)) == (size, len(places))
        for t, place in enumerate(places):
            for d in range(2):
                facts = dict(list(facts_of(known.aux(release, 2 * t + d)).items())[:size])
                if naive.has_coincidental_tie(cells, facts):
                    continue
                slow = outcome(cells, facts, release.records[place], top, theta)
                for name in NAMES:
                    seen = getattr(cell.outcomes, name)[t, d]
                    if name.startswith("lineup") and d == 1:
                        assert np.isnan(seen)
                    else:
                        assert seen == pytest.approx(slow[name], rel=2e-6, abs=2e-6), name


def targets_of(release, seed):
    from standout.core.rng import generator

    return generator(seed, "targets").permutation(release.n_records).tolist()


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=400, items=150, entries=9_000, seed=3)


ADVERSARY = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)


@pytest.mark.parametrize("draws", [1, 3, pytest.param(9, marks=pytest.mark.large)])
def test_the_structured_path_gives_the_numbers_of_single_queries(release, draws):
    done = simulate(release, ADVERSARY, facts=[2, 5, 6], targets=12, draws=draws, seed=4)
    places = [p for p in targets_of(release, 4) if release.lengths[p] >= 6][:12]
    known = ADVERSARY.observe_all(release, places, 4, draws)
    attack = so.ScoreboardRH()
    for q in range(len(known)):
        aux, name = known.aux(release, q), release.records[places[q // draws]]
        for cell in done.cells:
            short = replace(aux, facts=aux.facts[: cell.facts])
            one, gone = attack.attack(release, short), attack.attack(release, short, exclude=name)
            seen = {field: getattr(cell.outcomes, field)[q // draws, q % draws] for field in NAMES}
            assert seen["identified"] == (name in one.tied) / one.ties
            assert seen["bits_left"] == pytest.approx(one.entropy(name), abs=2e-6)
            assert seen["best_probability"] == pytest.approx(one.probability(one.best), rel=2e-6)
            first, same = one.rank(name), np.count_nonzero(one.scores == one.score(name))
            assert seen["in_top"] == pytest.approx(min(1, max(0, 11 - first) / same))
            for field, verdict in (("eccentricity", one), ("absent_eccentricity", gone)):
                matched = verdict.match(0)
                assert seen[field] == (pytest.approx(verdict.eccentricity, rel=2e-6) if matched else NO_CLAIM)


def same(one, other):
    return one.table.equals(other.table) and all(
        np.array_equal(getattr(a.outcomes, name), getattr(b.outcomes, name), equal_nan=True)
        for a, b in zip(one.cells, other.cells, strict=True)
        for name in NAMES
    )


@pytest.mark.large
def test_neither_threads_nor_batches_nor_the_order_of_targets_change_a_bit(release, monkeypatch):
    ask = partial(simulate, release, ADVERSARY, facts=[2, 6], seed=9, draws=2)
    one = ask(targets=20, threads=1)
    assert same(one, ask(targets=20, threads=2))
    ids = [
        release.records[p]
        for p in np.sort([p for p in targets_of(release, 9) if release.lengths[p] >= 6][:20])
    ]
    named = ask(targets=ids)
    assert same(named, ask(targets=ids[::-1], threads=2))
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 7)
    assert same(one, ask(targets=20))
    assert named.estimate("identified", facts=6) == one.estimate("identified", facts=6)
    assert not one.table.equals(ask(targets=20, seed=10).table)


def test_a_run_that_is_cut_short_says_what_it_has_and_goes_on_from_there(release, monkeypatch, tmp_path):
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
    batches, original = [], simulation.attack_outcomes
    monkeypatch.setattr(
        simulation,
        "attack_outcomes",
        lambda *args, **options: batches.append(options["targets"]) or original(*args, **options),
    )
    rest = ask(save=tmp_path / "run")
    assert [len(targets) for targets in batches] == [5, 5, 3]  # what was done is not done again
    assert same(rest, whole)
    assert same(ask(save=tmp_path / "run"), whole)
    other = ask(save=tmp_path / "run", seed=3)  # other settings have files of their own
    assert same(other, simulate(release, ADVERSARY, facts=[2, 6], targets=23, seed=3))
    assert len(list(tmp_path.iterdir())) == 2
    nothing = ask(progress=stop_after(0), save=tmp_path / "none")
    assert not nothing.complete


def test_what_was_kept_is_about_the_same_targets_only(release, tmp_path):
    names = [release.records[p] for p in np.flatnonzero(release.lengths >= 6)[:60]]
    ask = partial(simulate, release, ADVERSARY, seed=2, save=tmp_path / "run")
    some, others = names[:20], names[20:40]
    assert same(ask(targets=some), simulate(release, ADVERSARY, seed=2, targets=some))
    assert same(ask(targets=others), simulate(release, ADVERSARY, seed=2, targets=others))
    assert same(ask(targets=30), simulate(release, ADVERSARY, seed=2, targets=30))
    fewer = ask(targets=10)
    assert fewer.estimate("identified").n == 10
    assert same(fewer, simulate(release, ADVERSARY, seed=2, targets=10))


def test_what_is_kept_can_be_told_apart_and_is_for_its_owner(release, tmp_path):
    ask = partial(simulate, release, ADVERSARY, targets=5, save=tmp_path / "run")
    ask()
    assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]
    for attack in (
        so.ScoreboardRH(weights=lambda support: 1.0 / support),
        so.ScoreboardRH(so.Custom(lambda *x: 1.0)),
    ):
        with pytest.raises(so.ParameterError, match="save works with named weights"):
            ask(attack=attack)
    assert not same(ask(), ask(attack=so.ScoreboardRH(weights="one")))
    assert not same(ask(), ask(theta=0.9, similarity=so.Present()))
    with pytest.raises(so.ParameterError, match="save must be in an existing folder"):
        ask(save=tmp_path / "nowhere" / "run")


def test_a_damaged_file_of_a_run_is_begun_anew(release, tmp_path):
    ask = partial(simulate, release, ADVERSARY, targets=5, seed=2, save=tmp_path / "run")
    whole = ask()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-40])
    assert same(ask(), whole)


@pytest.mark.large
def test_until_it_is_precise(release):
    done = simulate(release, ADVERSARY, facts=[2, 6], precision=0.08, seed=1)
    rough = simulate(release, ADVERSARY, facts=[2, 6], precision=0.2, seed=1)
    assert max(done.estimate("identified", facts=m).width for m in (2, 6)) <= 0.08
    assert len(rough.cells[0].outcomes) < len(done.cells[0].outcomes) <= release.n_records
    everybody = simulate(release, ADVERSARY, facts=6, precision=0.0001, seed=1)
    able = np.count_nonzero(release.lengths >= 6)
    assert everybody.complete and len(everybody.cells[0].outcomes) == able
    assert everybody.table.equals(simulate(release, ADVERSARY, facts=6, targets="all", seed=1).table)


# Claims.


@st.composite
def trades(draw):
    n, k = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    number = st.sampled_from([NO_CLAIM, 0.0, 0.3, 0.7, 1.5, 1.5, 4.0])
    claim, absent = (
        np.array(draw(st.lists(number, min_size=n * k, max_size=n * k))).reshape(n, k) for _ in "ab"
    )
    right = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n * k, max_size=n * k))).reshape(
        n, k
    )
    return ClaimRates(claim, np.where(claim < 0, 0.5, right), absent)


@given(trades(), st.sampled_from([0.0, 0.3, 1.0, 1.5, 9.0]))
def test_claims_are_counted_at_any_phi(trade, phi):
    shares, n = trade.at(phi), trade.eccentricity.size
    pairs = list(zip(trade.eccentricity.ravel(), trade.identified.ravel(), strict=True))
    assert shares.correct_claims.value == pytest.approx(sum(c >= phi and r == 1 for c, r in pairs) / n)
    assert shares.wrong_claims.value == pytest.approx(sum(c >= phi and r < 1 for c, r in pairs) / n)
    assert shares.no_claim.value == pytest.approx(sum(c < phi for c, _ in pairs) / n)
    assert shares.absent_claims.value == pytest.approx(sum(trade.absent_eccentricity.ravel() >= phi) / n)
    assert shares.correct_claims.n == len(trade.eccentricity)


@given(trades(), st.sampled_from([0.0, 0.01, 0.1, 0.34, 0.5, 0.99]))
def test_phi_for_a_budget_is_the_least_that_keeps_it(trade, budget):
    phi = trade.phi_for(budget)
    assert trade.at(phi).absent_claims.value <= budget + 1e-9
    for lower in [0.0, *trade.absent_eccentricity[trade.absent_eccentricity >= 0]]:
        assert lower >= phi * (1 - 2e-5) or trade.at(lower).absent_claims.value > budget


@given(trades())
def test_at_the_equal_error_no_other_phi_does_better(trade):
    phi, error = trade.equal_error_rate()

    def worst(at):
        return max(1 - trade.at(at).correct_claims.value, trade.at(at).absent_claims.value)

    assert worst(phi) == pytest.approx(error)
    assert all(worst(at) >= error - 1e-12 for at in np.linspace(0, 5, 101))


@given(trades())
def test_the_curve_falls_with_phi_and_its_parts_are_everybody(trade):
    curve = trade.curve()
    assert curve["phi"][0] == 0
    for name in ("correct_claims", "wrong_claims", "absent_claims"):
        assert (curve[name].diff().drop_nulls() <= 1e-12).all()
    assert np.allclose(curve["correct_claims"] + curve["wrong_claims"] + curve["no_claim"], 1)
    last = curve.row(-1, named=True)
    assert (last["correct_claims"], last["wrong_claims"], last["absent_claims"], last["no_claim"]) == (
        0,
        0,
        0,
        1,
    )
    for row in curve.iter_rows(named=True):
        assert row["correct_claims"] == pytest.approx(trade.at(row["phi"]).correct_claims.value)


@pytest.mark.large
def test_calibration_sorts_best_guesses_by_what_was_said(release):
    cell = simulate(release, ADVERSARY, facts=3, targets=150, seed=6).cell()
    table = cell.calibration()
    assert table["n"].sum() == 150
    for row in table.iter_rows(named=True):
        here = (cell.outcomes.best_probability >= row["from"]) & (
            cell.outcomes.best_probability < row["to"] + (row["to"] == 1)
        )
        assert row["n"] == here.sum()
        assert row["mean_probability"] == pytest.approx(cell.outcomes.best_probability[here].mean())
        assert row["identified"] == pytest.approx(cell.outcomes.identified[here].mean())


# Pairs of records.


@settings(max_examples=40 if COMPILED else 10)
@given(histories(), st.sampled_from([so.Within(1, 14), so.Present(), so.Decay(), so.Equal()]))
def test_pairs_are_as_alike_as_one_by_one(cells, similarity):
    release = released(cells)
    n = release.n_records
    one, other = np.divmod(np.arange(n * n), n)
    slow = [so.record_similarity(release, release.records[a], release.records[b], similarity)
            for a, b in zip(one, other, strict=True)]  # fmt: skip
    assert pair_similarities(release, one, other, similarity) == pytest.approx(slow)
    assert np.concatenate([similarities_to_all(release, a, similarity) for a in range(n)]) == pytest.approx(
        slow
    )


def test_large_pieces_are_compared_piece_by_piece(release, monkeypatch):
    one, other = np.arange(40), np.arange(40)[::-1].copy()
    known = ADVERSARY.observe_all(release, np.flatnonzero(release.lengths >= 6)[:40])
    whole = revealed_items(release, one, other, known, so.Within())
    monkeypatch.setattr("standout.evaluate.pairs.ENTRIES_AT_ONCE", 50)
    for a, b in zip(whole, revealed_items(release, one, other, known, so.Within()), strict=True):
        assert np.array_equal(a, b)


# The table.


def test_the_table_has_a_row_for_each_measure_with_all_that_is_needed_to_quote_it(release, tmp_path):
    adversaries = {"friend": ADVERSARY, "stranger": so.Adversary(knows=2, value_error=None, time_error=None)}
    done = simulate(release, adversaries, targets=30, seed=11)
    table = done.table
    assert table.columns == [
        "adversary", "facts", "measure", "setting", "estimate", "low", "high", "n", "baseline",
        "too_few_items", "seed", "fingerprint", "version",
    ]  # fmt: skip
    keys = table.select("adversary", "facts", "measure", "setting")
    assert len(keys.unique()) == len(keys)
    assert set(table["adversary"]) == {"friend", "stranger"}
    assert set(table["seed"]) == {11} and set(table["fingerprint"]) == {release.fingerprint}
    assert set(table["version"]) == {so.__version__}
    assert table["estimate"].is_not_null().all() and table["estimate"].is_finite().all()
    both = table.filter(pl.col("low").is_not_null())
    assert (both["low"] <= both["estimate"] + 1e-12).all() and (
        both["estimate"] <= both["high"] + 1e-12
    ).all()
    found = table.filter(measure="identified", adversary="friend").row(0, named=True)
    estimate = done.estimate("identified", adversary="friend")
    assert (found["estimate"], found["low"], found["high"], found["n"]) == (
        estimate.value, estimate.low, estimate.high, 30,
    )  # fmt: skip
    assert found["baseline"] == 1 / release.n_records
    done.to_csv(tmp_path / "t.csv")
    done.to_parquet(tmp_path / "t.parquet")
    done.to_json(tmp_path / "t.json")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)
    assert (
        len(pl.read_csv(tmp_path / "t.csv"))
        == len(json.loads((tmp_path / "t.json").read_text()))
        == len(table)
    )


@pytest.mark.large
def test_bits_of_a_mixture_are_at_most_one_more(release):
    done = simulate(release, ADVERSARY, facts=[1, 6], targets=60, seed=1)
    for facts in (1, 6):
        plain, mixed = (done.estimate("bits_left", setting, facts=facts).value for setting in ("", "mixed"))
        assert mixed <= plain + 1
        assert plain + done.estimate("bits_gained", facts=facts).value == pytest.approx(
            math.log2(release.n_records)
        )


def test_knowing_the_length_removes_candidates_and_is_a_gain(release):
    told = replace(ADVERSARY, length_error=0.5)
    done = simulate(release, told, facts=[2, 6], targets=25, seed=1)
    places = [p for p in targets_of(release, 1) if release.lengths[p] >= 6][:25]
    known = told.observe_all(release, places, 1)
    lengths = release.lengths
    for cell in done.cells:
        for t in range(25):
            low, high = known.length[t]
            assert cell.outcomes.candidates[t, 0] == ((lengths >= low) & (lengths <= high)).sum()
            aux = known.aux(release, t)
            verdict = so.ScoreboardRH().attack(release, replace(aux, facts=aux.facts[: cell.facts]))
            assert cell.outcomes.bits_left[t, 0] == pytest.approx(
                verdict.entropy(release.records[places[t]]), abs=1e-5
            )
        left, gained = (done.estimate(name, facts=cell.facts).value for name in ("bits_left", "bits_gained"))
        assert left + gained == pytest.approx(math.log2(release.n_records))


def test_of_many_that_tie_each_counts():
    """60 people with the same film and 0 to 59 films of their own."""
    cells = {(f"p{i:02}", "x"): (3.0, 0) for i in range(60)}
    cells |= {(f"p{i:02}", f"own{i}.{j}"): (1.0, 0) for i in range(60) for j in range(i)}
    release = released(cells)
    done = simulate(release, so.Adversary(knows=1, items="popular"), targets=["p00"])
    cell = done.cell()
    assert cell.outcomes.identified[0, 0] == pytest.approx(1 / 60)
    assert cell.outcomes.similar[0, 0] == pytest.approx(2 / 60)  # itself, and who has one film more
    assert cell.outcomes.revealed[0, 0] == pytest.approx(29.5, abs=1)
    assert cell.outcomes.revealed_correct[0, 0] == 0


def test_adversaries_of_the_same_words_stay_apart(release):
    near = [so.Adversary(knows=3, length_error=error) for error in (0.501, 0.504)]
    done = simulate(release, near, targets=10)
    assert [cell.adversary[-3:] for cell in done.cells] == ["50%", " #2"]
    with pytest.raises(so.ParameterError, match="no record can be a target"):
        simulate(release, {"a": so.Adversary(knows=3), "b": so.Adversary(knows=151)}, targets=10)


def test_targets_by_name_that_are_too_short_are_counted(release):
    short = [release.records[p] for p in np.flatnonzero(release.lengths < 6)[:3]]
    long = [release.records[p] for p in np.flatnonzero(release.lengths >= 6)[:4]]
    cell = simulate(release, ADVERSARY, targets=[*short, *long]).cell()
    assert (cell.too_few_items, cell.n_considered, len(cell.outcomes)) == (3, 7, 4)


def test_without_absent_targets_nothing_is_said_of_false_claims(release):
    done = simulate(release, ADVERSARY, targets=10, absent=False)
    assert not {"absent_claims", "absent_rejected", "equal_error_rate", "phi"} & set(done.table["measure"])
    for ask in (done.cell().claim_rates.equal_error_rate, partial(done.cell().claim_rates.phi_for, 0.01)):
        with pytest.raises(so.ParameterError, match="no absent targets were attacked"):
            ask()


def test_claims_at_the_ceiling_are_not_told_apart_by_the_number_of_records():
    """Items of two people each, of whom the other stands out as far as anybody can when the target goes; and
    items of one, who stands out as far in one record more."""
    cells = {(f"p{i:03}", f"x{j}"): (1.0, 0) for j in range(50) for i in (2 * j, 2 * j + 1)}
    cells |= {(f"q{i:03}", f"own{i}"): (1.0, 0) for i in range(100)}
    release = released(cells)
    trade = simulate(release, so.Adversary(knows=1), targets="all").cell().claim_rates
    assert ((trade.absent_eccentricity > 0).mean(), (trade.eccentricity > 0).mean()) == (0.5, 0.5)
    assert 0 < trade.eccentricity.max() / trade.absent_eccentricity.max() - 1 < 0.01
    assert trade.at(trade.phi_for(0.01)).correct_claims.value == 0


@pytest.mark.large
@pytest.mark.parametrize("theta", [0.28, 0.5, 0.56])
@pytest.mark.parametrize("similarity", [so.Present(), so.Within(1, 14), so.Equal()], ids=str)
def test_who_is_similar_is_the_same_for_large_releases(release, monkeypatch, similarity, theta):
    places = np.arange(120)
    whole = SimilarRecords(release, similarity, theta).of(places, 0, 120)
    monkeypatch.setattr("standout.evaluate.similar_records.LARGE_RELEASE", 0)
    monkeypatch.setattr("standout.evaluate.similar_records.TARGETS_AHEAD", 50)
    asked = SimilarRecords(release, similarity, theta)
    some = asked.of(places, 0, 40) | asked.of(places, 40, 80) | asked.of(places, 80, 120)
    assert whole.keys() == some.keys()
    assert all(np.array_equal(whole[place], some[place]) for place in whole)


@pytest.mark.large
def test_draws_of_one_target_are_one_trial(release):
    done = simulate(release, ADVERSARY, targets=30, draws=4)
    assert {
        done.estimate(name).n for name in ("identified", "correct_claims", "bits_left", "absent_claims")
    } == {30}
    assert done.cell().calibration()["n"].sum() <= 30 + 6  # rounded in each of the bins


# Degenerate releases.

DEGENERATE = {
    "one record": {("a", "x"): (1.0, 0), ("a", "y"): (2.0, 3)},
    "two identical": {(who, item): (1.0, 0) for who in "ab" for item in "xy"},
    "support 1": {(who, who + item): (1.0, 5) for who in "abc" for item in "xy"},
    "no times": {(who, item): (1.0, None) for who in "abc" for item in "xyz"[: ord(who) - 95]},
    "no values": {(who, item): (None, 5) for who in "abc" for item in "xyz"[: ord(who) - 95]},
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_releases_have_defined_results(name):
    release = released(DEGENERATE[name])
    done = simulate(release, so.Adversary(knows=2, value_error=0, time_error=0), facts=[1, 2], targets="all")
    assert done.table["estimate"].is_finite().all()
    expected = {"one record": 1.0, "two identical": 0.5, "support 1": 1.0}
    if name in expected:
        assert done.estimate("identified", facts=2).value == expected[name]
    if name in ("one record", "two identical"):
        assert done.estimate("correct_claims", "phi=1.5", facts=2).value == 0
        assert done.estimate("bits_left", "", facts=2).value == pytest.approx(math.log2(release.n_records))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": 0}, "targets must be a whole number ≥ 1"),
        ({"targets": "some"}, 'targets must be a number, "all", or a list'),
        ({"targets": ["nobody"]}, "no record with this id"),
        ({"targets": None}, "targets must be a whole number"),
        ({"targets": 5.0}, "targets must be a whole number"),
        ({"facts": 7}, "facts must be from 1 to 6"),
        ({"facts": []}, "facts must be from 1"),
        ({"facts": [0]}, "facts must be a whole number ≥ 1"),
        ({"precision": 0}, "precision must be above 0"),
        ({"precision": 2.0}, "precision must be above 0"),
        ({"theta": 0}, "theta must be above 0"),
        ({"theta": float("nan")}, "theta must be above 0"),
        ({"phi": -1}, "phi must be"),
        ({"budget": 0}, "budget must be above 0"),
        ({"draws": 0}, "draws must be a whole number ≥ 1"),
        ({"top": 0}, "top must be a whole number ≥ 1"),
        ({"seed": -1}, "seed must be"),
    ],
    ids=str,
)
def test_bad_questions_are_refused_by_name(release, options, message):
    with pytest.raises(so.StandoutError, match=message):
        simulate(release, ADVERSARY, **({"targets": 5} | options))


def test_what_is_no_adversary_is_refused(release):
    for nobody in ([], {}, ["me"], None, {"a": 3}):
        with pytest.raises(so.ParameterError, match="adversaries must be"):
            simulate(release, nobody, targets=5)
    with pytest.raises(so.ParameterError, match="no record can be a target"):
        simulate(release, so.Adversary(knows=1000), targets=5)
    with pytest.raises(so.ParameterError, match="attack must be a ScoreboardRH, got Scoreboard"):
        simulate(release, ADVERSARY, attack=so.Scoreboard(), targets=5)


# Real data.


@pytest.mark.realdata
@pytest.mark.large
def test_absent_is_as_if_the_release_had_been_built_without_the_target(realdata):
    frame = pl.read_csv(realdata / "movielens-latest-small" / "ratings.csv")
    frame = frame.rename({"userId": "record", "movieId": "item"})
    frame = frame.select(pl.col("record", "item").cast(pl.String), "rating", "timestamp")
    options = {"value": "rating", "time": "timestamp", "time_format": "s"}
    release = so.read(frame, **options)
    adversary = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    done = simulate(release, adversary, facts=[2, 8], targets=50, seed=7)
    places = [p for p in targets_of(release, 7) if release.lengths[p] >= 8][:50]
    known = adversary.observe_all(release, places, 7)
    for t, place in enumerate(places):
        rebuilt = so.read(frame.filter(pl.col("record") != release.records[place]), **options)
        aux = known.aux(release, t)
        for cell in done.cells:
            verdict = so.ScoreboardRH().attack(rebuilt, replace(aux, facts=aux.facts[: cell.facts]))
            matched = verdict.match(0)
            expected = pytest.approx(verdict.eccentricity, rel=1e-6, abs=1e-9) if matched else NO_CLAIM
            assert cell.outcomes.absent_eccentricity[t, 0] == expected


# What stands in the table, by hand from the outcomes.


def rows_of(done, facts):
    table = done.table.filter(facts=facts)
    return {(row["measure"], row["setting"]): row for row in table.iter_rows(named=True)}


@pytest.mark.large
def test_every_row_is_what_the_outcomes_say(release):
    asked = {"phi": 0.8, "theta": 0.4, "top": 5, "budget": 0.2}
    done = simulate(release, ADVERSARY, facts=[1, 6], targets=80, draws=2, seed=3, **asked)
    n = release.n_records
    for cell in done.cells:
        rows, seen = rows_of(done, cell.facts), cell.outcomes
        told = {key: row["estimate"] for key, row in rows.items()}
        assert told["identified", ""] == pytest.approx(seen.identified.mean())
        assert told["in_top", "top=5"] == pytest.approx(seen.in_top.mean())
        assert told["similar", "theta=0.4"] == pytest.approx(seen.similar.mean())
        found = (seen.eccentricity >= 0.8) & (seen.identified == 1)
        assert told["correct_claims", "phi=0.8"] == pytest.approx(found.mean())
        assert told["wrong_claims", "phi=0.8"] == pytest.approx(((seen.eccentricity >= 0.8) & ~found).mean())
        assert told["absent_rejected", "phi=0.8"] == pytest.approx((seen.absent_eccentricity < 0.8).mean())
        phi = told["phi", "absent_claims<=0.2"]
        assert 0.2 - 2 / 80 <= (seen.absent_eccentricity >= phi).mean() <= 0.2
        held = (seen.eccentricity >= phi) & (seen.identified == 1)
        assert told["correct_claims", "absent_claims<=0.2"] == pytest.approx(held.mean())
        assert told["bits_left", ""] == pytest.approx(seen.bits_left.mean())
        assert told["bits_left", "theta=0.4"] == pytest.approx(seen.similar_bits_left.mean())
        mixed = -np.log2(np.exp2(-seen.bits_left) / 2 + 1 / (2 * n))
        assert told["bits_left", "mixed"] == pytest.approx(mixed.mean())
        assert told["lineup_size", "mass=90 %"] == np.nanmedian(seen.lineup_90)
        beyond, right = seen.revealed.sum(axis=1), seen.revealed_correct.sum(axis=1)
        share = [r / b for r, b in zip(right, beyond, strict=True) if b]
        assert told["revealed_correct_share", ""] == pytest.approx(np.mean(share))
        assert rows["revealed_correct_share", ""]["n"] == len(share)
        gaps = cell.calibration()
        weighed = [
            row["n"] * abs(row["mean_probability"] - row["identified"]) for row in gaps.iter_rows(named=True)
        ]
        assert told["calibration_gap", ""] == pytest.approx(sum(weighed) / gaps["n"].sum())


@pytest.mark.large
def test_guessing_is_what_a_random_record_gives(release):
    rows = rows_of(simulate(release, ADVERSARY, facts=6, targets="all", seed=3), 6)
    n = release.n_records
    baseline = {key: row["baseline"] for key, row in rows.items()}
    assert (baseline["identified", ""], baseline["in_top", "top=10"]) == (1 / n, 10 / n)
    assert baseline["bits_left", ""] == math.log2(n) and baseline["bits_gained", ""] == 0
    assert baseline["lineup_size", "mass=90 %"] == math.ceil(0.9 * n)
    assert (baseline["wrong_claims", "phi=1.5"], baseline["absent_claims", "phi=1.5"]) == (1 - 1 / n, 1)
    able = np.flatnonzero(release.lengths >= 6)
    every = np.concatenate(
        [similarities_to_all(release, place, so.Within(value=1, time=14)) for place in able]
    )
    expected = (every >= 0.5).mean()
    reach = 4 * math.sqrt(expected / len(able)) + 1e-3
    assert baseline["similar", "theta=0.5"] == pytest.approx(expected, abs=reach)


def test_who_is_no_candidate_is_no_similar_record_either():
    """Two people have the same films, one of them more; what is told of the other is true of this one."""
    cells = {("a", f"x{i}"): (1.0, 0) for i in range(6)} | {("b", f"x{i}"): (2.0, 0) for i in range(9)}
    cells |= {(f"c{i}", f"y{i}.{j}"): (1.0, 0) for i in range(20) for j in range(6)}
    release, mistaken = released(cells), so.Adversary(knows=3, wrong=3, time_error=None)
    ask = partial(simulate, release, facts=3, targets=["a"], theta=0.5, similarity=so.Present())
    free = ask(mistaken).cell().outcomes
    told = ask(replace(mistaken, length_error=0.1)).cell().outcomes
    assert (free.identified[0, 0], free.similar[0, 0], told.identified[0, 0], told.similar[0, 0]) == (
        0,
        1,
        1,
        1,
    )
    assert free.similar_bits_left[0, 0] < free.bits_left[0, 0]
    assert told.similar_bits_left[0, 0] == told.bits_left[0, 0]
