"""Facts from the original: with nothing changed no number changes, and every outcome has its slow twin."""

import math
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import naive
import standout as so
from evaluate.releases import COMPILED, DAY, NAMES, SIZES, has_room_for_errors, released, same
from standout.core.rng import generator
from standout.data.release import Release
from standout.evaluate.simulate import simulate
from standout.evaluate.targets import Population, full_queries, pair_similarities, sample_release, similarities_to_all
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping, Period, Sanitized


def sanitized(release, original, terms):
    """The release with its mapping to the original."""
    kept = {field.name: getattr(release, field.name) for field in fields(Release)}
    return Sanitized(**kept, original=original, mapping=terms)


def unchanged(release):
    """A sanitized release that equals its original."""
    everybody, items = np.arange(release.n_records), np.arange(release.n_items)
    return sanitized(release, release, OriginalMapping(everybody, items, level_values(release)))


@pytest.fixture(scope="module")
def release():
    """Fewer people than elsewhere: with an adversary of every kind, the laws are about each number."""
    records, items, entries = (150, 80, 3_500) if COMPILED else (40, 30, 500)
    return so.synthesize(records=records, items=items, entries=entries, seed=3)


ADVERSARIES = {
    "usual": so.Adversary(knows=6, wrong=2, value_error=1, time_error=14),
    "exact": so.Adversary(knows=4),
    "wrong items": so.Adversary(knows=5, wrong=2, wrong_facts="items", time_error=30),
    "any items": so.Adversary(knows=5, wrong=1, wrong_facts="any items", value_error=None),
    "undated": so.Adversary(knows=6, wrong=1, time_error=None),
    "items only": so.Adversary(knows=5, value_error=None, time_error=None),
    "rarest": so.Adversary(knows=4, items="rarest"),
    "popular": so.Adversary(knows=4, items="popular"),
    "recent": so.Adversary(knows=4, items="recent", time_error=3),
    "burst": so.Adversary(knows=4, items="burst", time_error=3),
    "outside": so.Adversary(knows=3, items=so.outside_top(10)),
    "filtered": so.Adversary(knows=3, length_error=0.5, joined_error=60),
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_an_unchanged_release_gives_exactly_the_same_numbers(release, name):
    ask = partial(
        simulate, adversaries={name: ADVERSARIES[name]}, facts=[1, 3], targets=20 if COMPILED else 4,
        draws=2, seed=4,
    )  # fmt: skip
    plain, mapped = ask(release), ask(unchanged(release))
    assert same(plain, mapped)
    assert (plain.original, mapped.original) == (None, release.fingerprint)
    assert [cell.present for cell in mapped.cells] == [1.0, 1.0]
    assert [cell.random_guess for cell in plain.cells] == [cell.random_guess for cell in mapped.cells]


def test_an_unchanged_release_gives_the_same_numbers_for_every_similarity(release):
    for similarity, theta in product([so.Present(), so.Equal(), so.Decay(), so.Within(value=1, time=None)], [0.1, 1.0]):
        ask = partial(
            simulate, adversaries=ADVERSARIES["usual"], targets=20 if COMPILED else 3, similarity=similarity,
            theta=theta, seed=8,
        )  # fmt: skip
        assert same(ask(release), ask(unchanged(release)))


def test_a_checkpoint_depends_on_the_original_and_the_mapping(release, tmp_path, monkeypatch):
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 3)
    safer = unchanged(release)
    ask = partial(simulate, adversaries=ADVERSARIES["exact"], targets=9, seed=2, save=tmp_path / "run")

    def stop(stage, count, total):
        if count >= 6:
            raise KeyboardInterrupt

    cut = ask(safer, progress=stop)
    assert not cut.complete and len(list(tmp_path.iterdir())) == 1
    assert same(ask(safer), simulate(release, ADVERSARIES["exact"], targets=9, seed=2))
    assert len(list(tmp_path.iterdir())) == 1
    rolled = replace(safer.mapping, representatives=np.roll(safer.mapping.representatives, 1))
    for other in (replace(safer, mapping=rolled), release):
        ask(other)
    assert len(list(tmp_path.iterdir())) == 3
    assert len({tuple(Population.of(data).key()) for data in (safer, replace(safer, mapping=rolled), release)}) == 3


VALUES = {
    "as they are": lambda value: value,
    "halves": lambda value: None if value is None else float(value > 2),
    "liked": lambda value: None if value is None else "liked" if value > 2 else "not",
    "none": lambda value: None,
}
PERIODS = {
    "days": (),
    "weeks": (Period("week"),),
    "months": (Period("month"),),
    "both": (Period("week"), Period("quarter")),
}


def rounded(day, periods):
    """A day rounded down, by the calendar."""
    if day is None:
        return None
    moment = DAY + timedelta(days=day)
    for period in periods:
        moment = naive.period_start(moment, period.name)
    return (moment - DAY).days


@st.composite
def sanitized_tables(draw):
    """(cells of the original, cells of the release, who stands for whom, values, periods)."""
    people, things = "abcdefg"[: draw(st.integers(3, 7))], "uvwxyz"
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(people), st.sampled_from(things)), min_size=8, max_size=30, unique=True)
    )
    values, days = st.sampled_from([1.0, 2.0, 4.0, None]), st.sampled_from([0, 3, 20, 60, 75, None])
    cells = {pair: (draw(values), draw(days)) for pair in pairs}
    assume(max(naive.lengths(cells).values()) >= 3)
    assume(any(stars is not None for stars, _ in cells.values()))
    assume(any(stars is not None for _, stars in cells.values()))
    recoding, periods = draw(st.sampled_from(sorted(VALUES))), draw(st.sampled_from(sorted(PERIODS)))
    dropped_items = draw(st.sets(st.sampled_from(things), max_size=2))
    noise = st.sampled_from([0, 0, 0, 1, -1, 3])
    persons = sorted(naive.lengths(cells))
    represented_by = {who: draw(st.sampled_from([*persons, None])) for who in persons}  # sampled, and clusters
    represented_by = {who: draw(st.sampled_from([who, other])) for who, other in represented_by.items()}
    names = dict(zip(persons, draw(st.permutations([f"r{n}" for n in range(len(persons))])), strict=True))
    out = {}
    for (who, item), (stars, when) in cells.items():
        if (
            item in dropped_items
            or who not in represented_by.values()
            or not draw(st.sampled_from([True, True, True, False]))
        ):
            continue
        noisy = None if stars is None else stars + draw(noise)
        moved = None if when is None else rounded(when + draw(noise), PERIODS[periods])
        out[names[who], item] = VALUES[recoding](noisy), moved
    assume(out)
    left = naive.lengths(out)
    represented_by = {
        who: names[other] if other and names[other] in left else None for who, other in represented_by.items()
    }
    return cells, out, represented_by, recoding, periods


def sanitized_release(cells, out, represented_by, recoding, periods):
    original, release = released(cells), released(out)
    record_index = {name: index for index, name in enumerate(release.records)}
    item_index = {name: index for index, name in enumerate(release.items)}
    return sanitized(release, original, OriginalMapping(
        np.array([record_index.get(represented_by[who], -1) for who in original.records], np.int64),
        np.array([item_index.get(item, -1) for item in original.items], np.int64),
        tuple(VALUES[recoding](value) for value in level_values(original)), PERIODS[periods],
    ))  # fmt: skip


def in_terms_of_release(cells, recoding, periods, blind):
    """{item: (value, day)} as the release would tell it; `blind`: it has no values, no times."""
    return {
        item: (None if blind[0] else VALUES[recoding](value), None if blind[1] else rounded(day, PERIODS[periods]))
        for item, (value, day) in cells.items()
    }


@settings(max_examples=60 if COMPILED else 8)
@given(sanitized_tables(), st.integers(0, 2), st.integers(1, 4), st.sampled_from([0.2, 0.5, 1.0]))
def test_every_outcome_equals_its_slow_twin(parts, wrong, top, theta):
    cells, out, represented_by, recoding, periods = parts
    safer = sanitized_release(*parts)
    original = safer.original
    assume(has_room_for_errors(cells))
    adversary = so.Adversary(knows=3, wrong=wrong, value_error=1, time_error=3)
    options = {"draws": 2, "top": top, "theta": theta, "similarity": so.Within(value=1, time=14)}
    simulation = simulate(safer, adversary, facts=SIZES, targets="all", seed=5, **options)
    able = np.flatnonzero(adversary.eligible(original, range(original.n_records)))
    targets = [p for p in generator(5, "targets").permutation(original.n_records).tolist() if p in able]
    assert {cell.too_few_items for cell in simulation.cells} == {original.n_records - len(able)}
    assert all(cell.targets.tolist() == targets for cell in simulation.cells)
    known = adversary.observe_all(original, targets, 5, draws=2)
    blind = all(value is None for value, _ in out.values()), all(day is None for _, day in out.values())
    for cell, size in zip(simulation.cells, SIZES, strict=True):
        is_present = [represented_by[original.records[target]] is not None for target in targets]
        assert cell.present == pytest.approx(np.mean(is_present))
        for t, target in enumerate(targets):
            who = original.records[target]
            person = in_terms_of_release(naive.record_of(cells, who), recoding, periods, blind)
            for d in range(2):
                aux = list(known.aux(original, 2 * t + d))[:size]
                days = [None if fact.time is None else (fact.time - DAY).days for fact in aux]
                raw = {fact.item: (fact.value, day) for fact, day in zip(aux, days, strict=True)}
                facts = in_terms_of_release(raw, recoding, periods, blind)
                if naive.has_coincidental_tie(out, facts):
                    continue
                slow = naive.attack_outcome(out, facts, person, represented_by[who], top, theta)
                for name in NAMES:
                    outcome = getattr(cell.outcomes, name)[t, d]
                    if name.startswith("lineup") and d == 1:
                        assert np.isnan(outcome)
                    else:
                        assert outcome == pytest.approx(slow[name], rel=2e-6, abs=2e-6), name
    check_baselines(simulation, np.mean(is_present), len(naive.lengths(out)), top)


def check_baselines(simulation, present, n, top):
    """A random guess is right with probability 1/n for each target who is present."""
    for cell in simulation.cells:
        rows = {(name, setting): estimate for name, setting, estimate in simulation.measurements(cell)}
        assert rows["identified", ""].baseline == pytest.approx(present / n)
        assert rows["in_top", f"top={top}"].baseline == pytest.approx(present * min(1, top / n))
        assert rows["correct_claims", "phi=1.5"].baseline == pytest.approx(present / n)
        assert rows["bits_left", ""].baseline == math.log2(n)
        assert rows["bits_gained", ""].value <= math.log2(n) - rows["bits_left", ""].value + 1e-9


@settings(max_examples=40 if COMPILED else 8)
@given(sanitized_tables())
def test_people_are_compared_with_records_in_terms_of_the_release(parts):
    cells, out, _, recoding, periods = parts
    safer = sanitized_release(*parts)
    blind = all(value is None for value, _ in out.values()), all(day is None for _, day in out.values())
    for person_index, who in enumerate(safer.original.records):
        person = in_terms_of_release(naive.record_of(cells, who), recoding, periods, blind)
        slow = [naive.similarity_of_histories(person, naive.record_of(out, record)) for record in safer.records]
        similarity = so.Within(value=1, time=14)
        assert similarities_to_all(safer, person_index, similarity) == pytest.approx(slow)
        every = np.arange(safer.n_records)
        assert pair_similarities(safer, np.full(len(every), person_index), every, similarity) == pytest.approx(slow)


def test_the_right_record_stays_a_candidate_if_length_and_first_date_are_known(release):
    """Half of the entries are gone and everything is a month later: no record is unchanged."""
    frame = release.to_frame().with_columns(pl.col("time").dt.offset_by("1mo")).gather_every(2)
    safer = so.read(frame, kind="history")
    represented_by = np.array([index_or_minus_1(safer.records, name) for name in release.records], np.int64)
    items = np.array([index_or_minus_1(safer.items, name) for name in release.items], np.int64)
    safer = sanitized(safer, release, OriginalMapping(represented_by, items, level_values(release)))
    adversary = so.Adversary(knows=3, length_error=0.1, joined_error=3)
    simulation = simulate(safer, adversary, targets=20 if COMPILED else 4, seed=1)
    outcome = simulation.cell().outcomes
    assert (outcome.bits_left <= np.log2(outcome.candidates) + 40).all() and np.isfinite(outcome.bits_left).all()
    assert (outcome.candidates < safer.n_records).any()
    known = Population.of(safer).known_facts(adversary, simulation.cell().targets, 1)
    queries = so.ScoreboardRH().attacks(safer, known).queries
    assert queries.are_candidates(np.arange(len(known)), represented_by[simulation.cell().targets]).all()


def index_or_minus_1(labels, name):
    index = labels.find(name)
    return -1 if index is None else index


def test_targets_have_the_ids_of_the_original(release):
    frame = release.to_frame().with_columns(("x" + pl.col("record")).alias("record"))
    renamed = so.read(frame, kind="history")
    represented_by = np.array([index_or_minus_1(renamed.records, f"x{name}") for name in release.records], np.int64)
    safer = sanitized(renamed, release, replace(unchanged(release).mapping, representatives=represented_by))
    ids = [release.records[index] for index in range(3)]
    by_id, other = (
        simulate(data, so.Adversary(knows=2), targets=ids, seed=1).estimate("identified") for data in (release, safer)
    )
    assert by_id == other
    with pytest.raises(so.NotFoundError):
        simulate(safer, so.Adversary(knows=2), targets=[renamed.records[0]])


SAMPLE_WITHOUT_TIMES = (
    {(who, item): (1.0, 0) for who, items in {"a": "uvwx", "b": "uv", "d": "uv"}.items() for item in items}
    | {("c", "u"): (1.0, None)},
    {("r2", "u"): (1.0, -59), ("r1", "u"): (1.0, None)},
    {"a": "r2", "b": "r2", "c": "r1", "d": "r1"},
    "as they are",
    "both",
)
"""Seed 5 samples only r1, which has no time."""


@settings(max_examples=40 if COMPILED else 6)
@given(sanitized_tables(), st.integers(0, 5))
@example(SAMPLE_WITHOUT_TIMES, 5)
def test_a_sample_of_a_sanitized_release_has_the_facts_of_the_whole(parts, seed):
    safer = sanitized_release(*parts)
    keep = generator(seed, "keep").random(safer.n_records) < 0.6
    assume(keep.any() and (safer.mapping.representatives >= 0).any())
    assume(keep[safer.mapping.representatives[safer.mapping.representatives >= 0]].any())
    some = sample_release(safer, keep)
    assert isinstance(some, Sanitized)
    assert list(some.records) == [name for name, kept in zip(safer.records, keep, strict=True) if kept]
    for at, who in enumerate(some.original.records):
        person = safer.original.records.find(who)
        representative = int(safer.mapping.representatives[person])
        assert some.records[int(some.mapping.representatives[at])] == safer.records[representative]
        whole, part = (
            facts_in_words(data, full_queries(Population.of(data), np.array([index]), so.Present()).known)
            for data, index in ((safer, person), (some, at))
        )
        # facts lose their values or times if no record of the sample has any
        expected = {
            item: (whole[item][0] if some.n_levels else None, whole[item][1] if some.span else None) for item in part
        }
        assert part == expected
        assert {*whole} - {*part} <= {*safer.items} - {*some.items}
    expected = {safer.records[r] for r in safer.mapping.representatives if r >= 0 and keep[r]}
    assert {some.records[int(r)] for r in some.mapping.representatives} == expected


def facts_in_words(release, known):
    """{item: (value, day)} of one person, as far as the release has the item."""
    facts = {}
    for i in np.flatnonzero(known.item >= 0).tolist():
        fact = known.fact(release, i)
        value = fact.value if release.n_levels else None
        facts[fact.item] = value, fact.time
    return facts
