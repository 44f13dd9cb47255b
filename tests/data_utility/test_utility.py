"""What a sanitized release is good for: a recommender and its slow twin, and what it must not have seen."""

import math

import numpy as np
import pytest

import standout as so
from standout.data_utility import recommender
from standout.data_utility import recommender_benchmark as bench
from standout.data_utility.holdout import hold_out
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender_benchmark import (
    RecommenderBenchmark,
    calibrated_values,
    probability_in_top,
)
from standout.evaluate.estimates import mean

pytestmark = pytest.mark.once
FEW = 5


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=60, items=40, entries=900, seed=7)


def rows(release):
    """{person: {item: value}}."""
    return {
        record.id: {entry.item: entry.value for entry in record.entries}
        for record in map(release.record_at, range(release.n_records))
    }


# The slow twin: dense matrices and loops, on dicts. Nothing of Standout is used.


def twin(histories, published, questions, scale, factors=FEW, damping=5.0):
    """(hits, popular, squared) for each person.

    histories  {person: {item: value}}: what is folded in, on the original's scale
    published  the same for the release, with values already on that scale
    questions  {person: {item: value}}: what was held out
    """
    items = sorted({item for own in histories.values() for item in own})
    code = {item: at for at, item in enumerate(items)}
    have, left = np.zeros((len(published), len(items))), np.zeros((len(published), len(items)))
    support = [sum(item in own for own in published.values()) for item in items]
    valued = [value for own in published.values() for value in own.values() if value is not None]
    middle = sum(valued) / len(valued) if valued else None
    bias = [0.0] * len(items)
    for item, at in code.items():
        known = [own[item] for own in published.values() if own.get(item) is not None]
        if known:
            bias[at] = sum(value - middle for value in known) / (len(known) + damping)
    for line, own in enumerate(published.values()):
        known = {item: value for item, value in own.items() if value is not None}
        rest = {item: value - middle - bias[code[item]] for item, value in known.items()}
        lean = sum(rest.values()) / (len(rest) + damping)
        for item in own:
            have[line, code[item]] = 1.0
        for item, value in rest.items():
            left[line, code[item]] = value - lean
    together, alike = np.linalg.svd(have)[2][:factors], np.linalg.svd(left)[2][:factors]
    out = []
    for person, asked in questions.items():
        own = histories[person]
        mine = np.array([1.0 if item in own and support[code[item]] else 0.0 for item in items])
        scores = (together.T @ (together @ mine)).tolist()
        free = [at for at, item in enumerate(items) if item not in own and support[at]]
        hits = [chance(scores, free, code[item]) for item in asked]
        popular = [chance(support, free, code[item]) for item in asked]
        rated = {item: value for item, value in own.items() if value is not None}
        errors = []
        for item, value in asked.items():
            if middle is None:
                guess = sum(rated.values()) / len(rated)
            else:
                rest = {one: seen - middle - bias[code[one]] for one, seen in rated.items()}
                lean = sum(rest.values()) / (len(rest) + damping)
                mine = np.zeros(len(items))
                for one, seen in rest.items():
                    mine[code[one]] = seen - lean
                guess = middle + bias[code[item]] + lean + float(alike.T[code[item]] @ (alike @ mine))
                guess = min(max(guess, scale[0]), scale[1])
            errors.append((guess - value) ** 2)
        out.append((np.mean(hits), np.mean(popular), np.mean(errors)))
    return np.array(out).T


def chance(scores, free, wanted):
    """How likely one of these is among the first ten, where equals stand in any order."""
    if wanted not in free:
        return 0.0
    higher = sum(scores[at] > scores[wanted] + 1e-9 for at in free)
    equal = sum(abs(scores[at] - scores[wanted]) <= 1e-9 for at in free)
    return min(max((10 - higher) / equal, 0), 1)


def questions(tried, release):
    held, asked = tried.holdout, {}
    for person, item, value in zip(held.person, held.item, held.value, strict=True):
        name = release.records[held.people[person]]
        asked.setdefault(name, {})[release.items[item]] = float(value)
    return asked


def told_as(safer, original):
    """{published level: the mean of the original values that are told as it}."""
    sums = {}
    for own in original.values():
        for value in own.values():
            level = safer.mapping.released_values[list(safer.original.levels).index(value)]
            sums.setdefault(level, []).append(value)
    return {level: sum(values) / len(values) for level, values in sums.items()}


STEPS = {
    "nothing": [],
    "liked": [so.RoundValue(liked_from=4)],
    "no values": [so.RoundValue(to="none")],
    "noise": [so.PerturbValue(2, 0.5), so.DropEntries(0.3)],
    "sampled": [so.SampleRecords(0.5), so.DropTopItems(3)],
    "rare": [so.DropRareItems(below=12)],
    "clusters": [so.ClusterRecords(3)],
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("small", [1024, 10])
def test_the_recommender_is_its_slow_twin(release, name, small, monkeypatch):
    monkeypatch.setattr(recommender, "FACTORS", FEW)
    monkeypatch.setattr(recommender, "SMALL", small)
    tried = RecommenderBenchmark.of(release, 30, 1)
    safer = so.sanitize(tried.holdout.rest, *STEPS[name], seed=3)
    histories = rows(tried.holdout.rest)
    means, published = told_as(safer, histories), rows(safer)
    published = {
        person: {item: None if value is None else means[value] for item, value in own.items()}
        for person, own in published.items()
    }
    found = tried.result(safer)
    wanted = twin(histories, published, questions(tried, release), (1.0, 5.0))
    np.testing.assert_allclose([found.hits, found.popular_hits, found.squared], wanted, atol=1e-7)


def test_held_out_entries_are_in_neither_the_rest_nor_what_is_made_of_it(release):
    held = hold_out(release, 30, 1)
    before, after = rows(release), rows(held.rest)
    asked = questions(RecommenderBenchmark(held), release)
    for person, own in before.items():
        assert own == after[person] | asked.get(person, {})
        assert not {*after[person]} & {*asked.get(person, {})}
        assert len(asked.get(person, {})) <= min(5, len(own) // 5)
    assert len(asked) == 30 and list(held.rest.items) == list(release.items)
    assert held.rest.fingerprint != release.fingerprint


def test_what_is_held_out_depends_on_the_seed_alone(release):
    one, same, other = (hold_out(release, 30, seed) for seed in (1, 1, 2))
    assert one.rest.fingerprint == same.rest.fingerprint != other.rest.fingerprint


def test_an_item_that_only_one_person_has_is_not_held_out():
    own = {f"p{p}": [*(f"i{i}" for i in range(10)), f"only {p}"] for p in range(8)}
    text = "record,item\n" + "".join(f"{p},{i}\n" for p, items in own.items() for i in items)
    release = read(text)
    held = hold_out(release, 8, 0)
    assert not any(release.items[item].startswith("only") for item in held.item)


def read(text):
    import io

    import polars as pl

    return so.read(pl.read_csv(io.StringIO(text), schema_overrides={"record": pl.String, "item": pl.String}))


def test_the_untouched_release_keeps_all(release):
    found = so.utility(release, people=40)
    assert found.kept.value == found.kept.low == found.kept.high == 1.0
    assert found.hit_rate == found.hit_rate_before and found.rmse == found.rmse_before
    for one in (
        found.hit_rate_loss,
        found.rmse_increase,
        found.similarity_change,
        found.value_difference,
        found.time_difference,
    ):
        assert one.value == one.low == one.high == 0.0
    assert found.popularity_change.value == 0 and found.popularity_correlation.value == pytest.approx(1)
    assert found.entries_kept.value == 1


def test_times_matter_to_no_number_but_how_far_they_are_off(release):
    plain, rounded = (so.utility(release, *steps, people=40) for steps in ([], [so.RoundTime("month")]))
    differ = {name for (name, a), (_, b) in zip(plain.measures(), rounded.measures(), strict=True) if a != b}
    assert differ == {"time_difference"}
    assert 0 < rounded.time_difference.value < 31
    assert so.utility(release, so.RoundTime("none"), people=40).time_difference is None


def test_without_values_a_release_predicts_no_better_than_no_release(release):
    found = so.utility(release, so.RoundValue(to="none"), people=40)
    assert found.rmse.value == pytest.approx(found.rmse.baseline, rel=1e-12)
    assert found.value_difference is None
    assert found.hit_rate == found.hit_rate_before


def test_a_release_without_numbers_has_no_rmse(release):
    frame = release.to_frame()
    bare = so.utility(so.read(frame.select("record", "item")), people=20)
    assert bare.rmse is None and bare.kept_rmse is None and bare.hit_rate.n == 20
    words = so.read(frame.with_columns(value="level " + frame["value"].cast(int).cast(str)))
    assert so.utility(words, people=20).rmse is None


def test_a_level_stands_for_the_mean_of_what_is_told_as_it(release):
    safer = so.sanitize(release, so.RoundValue(liked_from=4), seed=1)
    values = release.to_frame()["value"]
    liked, others = values.filter(values >= 4).mean(), values.filter(values < 4).mean()
    np.testing.assert_allclose(calibrated_values(safer), [others, liked, np.nan])
    noisy = so.sanitize(release, so.PerturbValue(1, 0.9), seed=1)
    np.testing.assert_allclose(calibrated_values(noisy), [1, 2, 3, 4, 5, np.nan])


def test_equals_share_the_places_that_are_left():
    scores = np.array([[9.0, *[5.0] * 20, -np.inf, 1.0]])
    found = probability_in_top(scores, np.zeros(4, np.int64), np.array([0, 3, 21, 22]))
    assert found.tolist() == [1.0, 9 / 20, 0.0, 0.0]


def test_distortions_are_their_slow_twins(release):
    steps = [so.DropEntries(0.4), so.PerturbValue(1, 0.5), so.DropTopItems(2)]
    tried = RecommenderBenchmark.of(release, 30, 4)
    safer = so.sanitize(tried.holdout.rest, *steps, seed=4)
    found = so.utility(release, *steps, people=30, seed=4)
    before, after = rows(tried.holdout.rest), rows(safer)
    count = [
        [sum(item in own for own in side.values()) for item in release.items] for side in (before, after)
    ]
    shares = [[c / sum(side) for c in side] for side in count]
    moved = sum(abs(a - b) for a, b in zip(*shares, strict=True)) / 2
    assert found.popularity_change.value == pytest.approx(moved)
    ranks = [[(sum(o < c for o in s) + sum(o <= c for o in s) + 1) / 2 for c in s] for s in count]
    assert found.popularity_correlation.value == pytest.approx(np.corrcoef(*ranks)[0, 1])
    names = [release.records[place] for place in tried.holdout.people]
    kept = [sum(item in after.get(name, {}) for item in before[name]) / len(before[name]) for name in names]
    assert found.entries_kept.value == pytest.approx(np.mean(kept))
    off = [
        [
            abs(after[name][item] - value)
            for item, value in before[name].items()
            if item in after.get(name, {})
        ]
        for name in names
    ]
    assert found.value_difference.value == pytest.approx(np.mean([np.mean(own) for own in off if own]))
    assert found.time_difference.value == 0
    assert found.similarity_change.value == pytest.approx(_moved(release, tried, before, after))


def _moved(release, tried, before, after):
    from standout.data_utility.distortion import _item_pairs

    def cosine(side, one, other):
        a, b = ({name for name, own in side.items() if item in own} for item in (one, other))
        return len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0

    pairs = [
        (release.items[a], release.items[b]) for a, b in zip(*_item_pairs(tried.holdout.rest, 4), strict=True)
    ]
    assert len({*pairs}) == len(pairs) > 50
    return math.sqrt(np.mean([(cosine(after, *pair) - cosine(before, *pair)) ** 2 for pair in pairs]))


def test_intervals_are_those_of_leaving_one_out():
    draw = np.random.default_rng(5)
    a, b, c = draw.gamma(2, size=(3, 400))
    b, c = b + a, c + 3

    def share(keep):
        alone, before, after = (math.sqrt(x[keep].mean()) for x in (c, a, b))
        return (alone - after) / (alone - before)

    alone, before, after = (InfluenceEstimate.mean(x).root() for x in (c, a, b))
    found = ((alone - after) / (alone - before)).estimate()
    every = np.arange(400)
    left = np.array([share(every != i) for i in every])
    error = math.sqrt(399 / 400 * ((left - left.mean()) ** 2).sum())
    assert found.value == pytest.approx(share(every >= 0))
    assert found.width == pytest.approx(1.966 * error, rel=0.01)
    plain = InfluenceEstimate.mean(a).estimate()
    assert (plain.low, plain.high) == pytest.approx((mean(a).low, mean(a).high))


def test_what_cannot_be_judged_is_refused(release):
    with pytest.raises(so.ParameterError, match="give utility the original"):
        so.utility(so.sanitize(release, so.DropEntries(0.5)))
    with pytest.raises(so.ParameterError, match="at least 5 entries"):
        so.utility(so.synthesize(records=20, items=10, entries=40, like="flat"))
    with pytest.raises(so.ParameterError, match="people"):
        so.utility(release, people=0)
    with pytest.raises(so.ParameterError, match="no step"):
        so.utility(release, "no step")


def test_the_table_has_a_row_for_each_number(release, tmp_path):
    found = so.utility(release, so.DropEntries(0.5), people=40)
    assert found.table["measure"].to_list() == [name for name, _ in found.measures()]
    assert found.table.height >= 13
    assert found.table["steps"].unique().to_list() == ["drop-entries 0.5"]
    for form in ("csv", "json", "parquet"):
        getattr(found, f"to_{form}")(tmp_path / f"utility.{form}")
        assert (tmp_path / f"utility.{form}").stat().st_size
    assert "kept" in repr(found)


@pytest.mark.realdata
def test_on_movielens_going_together_beats_popularity_and_less_is_worse(realdata):
    release = so.read(realdata / "movielens-latest-small")
    found = [so.utility(release, *steps) for steps in ([], [so.DropEntries(0.5)], [so.DropEntries(0.9)])]
    whole, half, tenth = found
    assert whole.hit_rate.low > 1.5 * whole.hit_rate.baseline
    assert whole.rmse.value < 0.95 * whole.rmse.baseline
    assert whole.kept.value == 1 > half.kept.high > half.kept.low > tenth.kept.high > 0
    assert half.hit_rate_loss.low > 0 and half.rmse_increase.low > 0
    assert half.hit_rate_loss.width < half.hit_rate.width  # pairs are sharper


OTHERS = {
    "bitcoin-otc/soc-sign-bitcoinotc.csv": {},
    "online-retail/online-retail.csv.gz": {
        "record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate",
        "time_format": "%m/%d/%Y %H:%M", "encoding": "latin-1", "max_rejects": "30%",
    },
}  # fmt: skip


@pytest.mark.realdata
@pytest.mark.parametrize("name", OTHERS)
def test_other_data_can_be_judged_too(realdata, name):
    release = so.read(realdata / name, **OTHERS[name])
    found = so.utility(release, so.DropEntries(0.5), people=300)
    assert found.hit_rate.n == 300 and 0.4 < found.entries_kept.value < 0.6


def test_batches_change_no_number(release, monkeypatch):
    plain = RecommenderBenchmark.of(release, 40, 2).untouched
    monkeypatch.setattr(bench, "BATCH", 7)
    again = RecommenderBenchmark.of(release, 40, 2).untouched
    np.testing.assert_allclose(plain.hits, again.hits, atol=1e-12)
