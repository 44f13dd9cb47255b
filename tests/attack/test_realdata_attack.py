"""Real data sets: the attack beside the paper's formula in pandas, filtered and merged as scripts do it."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import standout as so

pytestmark = pytest.mark.realdata

SEED = 2008
EPOCH = date(1970, 1, 1)
TARGETS = 200
PROBABILITY = 1e-6
BASE = {"knows": 8, "value_error": 1, "time_error": 14}
ADVERSARIES = {
    "any": {},
    "exact": {"value_error": 0, "time_error": 0},
    "outside the top": {"items": so.outside_top(100)},
    "rarest": {"items": "rarest"},
    "popular": {"items": "popular"},
    "recent": {"items": "recent"},
    "burst": {"items": "burst"},
    "no dates": {"time_error": None},
    "no values": {"value_error": None},
    "items alone": {"time_error": None, "value_error": None},
    "wrong values": {"wrong": 2},
    "wrong items": {"wrong": 2, "wrong_facts": "items"},
    "length": {"length_error": 0.5},
    "joined": {"joined_error": 30},
    "length and joined": {"length_error": 0.1, "joined_error": 200, "wrong": 3, "items": "popular"},
    "two facts": {"knows": 2},
}
FOLDERS = {"movielens": "movielens-latest-small", "movietweetings": "movietweetings/2013-11-06"}


def ratings_of(folder, name):
    """user, item, rating and day of every row, as pandas reads them."""
    if name == "movielens":
        frame = pd.read_csv(folder / FOLDERS[name] / "ratings.csv", dtype={"userId": str, "movieId": str})
    else:
        path = folder / FOLDERS[name] / "ratings.dat"
        frame = pd.read_csv(path, sep="::", engine="python", header=None, dtype={0: str, 1: str})
    frame.columns = ["user", "item", "rating", "second"]
    return frame.assign(day=frame.second // 86_400).drop(columns="second")


@pytest.fixture(scope="module", params=["movielens", pytest.param("movietweetings", marks=pytest.mark.slow)])
def published(request, realdata):
    """(release, ratings in pandas), read apart from each other."""
    return so.read(realdata / FOLDERS[request.param]), ratings_of(realdata, request.param)


# The paper's formulas, and nothing of ours.


def facts_of(auxes):
    """What is known, a row for each fact: query, item, rating and day."""
    rows = [
        (query, fact.item, fact.value, None if fact.time is None else (fact.time - EPOCH).days)
        for query, aux in enumerate(auxes)
        for fact in aux
    ]
    facts = pd.DataFrame(rows, columns=["query", "item", "rating", "day"])
    return facts.astype({"rating": float, "day": float})


def scores_of(ratings, facts, absent=None):
    """Σ wt(i) · (e^(−|Δrating| / 1.5) + e^(−|Δdays| / 30)) by query and user; wt(i) = 1 / ln |supp(i)|.

    absent is the user whom each query does without.
    """
    support = ratings.groupby("item").size().rename("support").reset_index()
    pairs = facts.merge(ratings, on="item", suffixes=("_known", "")).merge(support, on="item")
    if absent is not None:
        here = pairs.user == pairs["query"].map(absent)
        gone = pairs.loc[here, ["query", "item"]].assign(gone=1)
        pairs = pairs[~here].merge(gone, on=["query", "item"], how="left")
        pairs["support"] -= pairs.gone.fillna(0)
    alike = np.exp(-(pairs.rating_known - pairs.rating).abs() / 1.5)
    close = np.exp(-(pairs.day_known - pairs.day).abs() / 30)
    similar = (alike.fillna(0) + close.fillna(0)).where(alike.notna() | close.notna(), 1.0)
    weighed = similar / np.log(pairs.support.clip(lower=2))
    return weighed.groupby([pairs["query"], pairs.user]).sum()


def people_of(ratings):
    """Everybody's length and first day, in any order, and the place of each."""
    people = ratings.groupby("user").agg(length=("item", "size"), joined=("day", "min"))
    return (people.length.to_numpy(), people.joined.to_numpy(), {user: at for at, user in enumerate(people.index)})


def candidates_of(lengths, joined, target, length_error, joined_error):
    """Who may be it: those of about this length, who joined about then."""
    fits = np.ones(len(lengths), bool)
    if length_error is not None:
        fits &= np.abs(lengths - lengths[target]) <= length_error * lengths[target] + 1e-9
    if joined_error is not None:
        fits &= np.abs(joined - joined[target]) <= joined_error
    return fits


def assert_agrees(verdict, scores, place):
    """The numbers of a verdict, by the scores of all candidates, zeros included; of others they are NaN."""
    candidate_scores = scores[~np.isnan(scores)]
    ordered, sigma = -np.sort(-candidate_scores), candidate_scores.std()
    highest, ties = ordered[0], int((candidate_scores >= ordered[0] - 1e-12).sum())
    second = ordered[1] if len(candidate_scores) > 1 and ties == 1 else highest
    tied = np.flatnonzero(scores >= highest - 1e-12).tolist()
    assert verdict.candidates == len(candidate_scores)
    assert (verdict.highest, verdict.second) == pytest.approx((highest, second), rel=1e-9, abs=1e-12)
    assert sorted(place[record] for record in verdict.tied) == tied
    assert verdict.ties == ties and place[verdict.best] in tied
    assert (verdict.mean, verdict.sigma) == pytest.approx((candidate_scores.mean(), sigma), rel=1e-6)
    apart = (highest - second) / sigma if sigma and ties == 1 else 0.0
    assert verdict.eccentricity == pytest.approx(apart, rel=1e-6, abs=1e-9)
    match = verdict.match(phi=1.5)
    assert (match is not None) == (apart >= 1.5) and (match is None or [place[match.record]] == tied)
    lineup = verdict.lineup(3)
    assert len(lineup) == min(3, int((candidate_scores > 0).sum()))
    assert [one.score for one in lineup] == pytest.approx(ordered[: len(lineup)], rel=1e-9)
    assert [one.score for one in lineup] == pytest.approx([scores[place[one.record]] for one in lineup], rel=1e-9)


def probability_error(verdict, scores, place, target):
    """By how much of itself a probability is off at most: of the lineup's best, and of the target as bits.

    What lies far below the best, by so many σ, is off by as many times the error of σ too: up to 5e-8 each.
    """
    candidate_scores = scores[~np.isnan(scores)]
    sigma, n = candidate_scores.std(), len(candidate_scores)
    likely = np.exp((scores - candidate_scores.max()) / sigma) if sigma else scores * 0 + 1.0
    likely /= np.nansum(likely)
    below = 1 + 0.05 * (candidate_scores.max() - scores) / sigma if sigma else scores * 0 + 1.0
    off = [(one.probability / likely[place[one.record]] - 1) / below[place[one.record]] for one in verdict.lineup(3)]
    right = likely[place[target]]
    bits = np.log2(n) if np.isnan(right) else -np.log2(right)
    far = 1.0 if np.isnan(right) else below[place[target]]
    return max(np.abs([*off, (verdict.entropy(target) - bits) * np.log(2) / far]))


def drawn_targets(adversary, release, count):
    """So many of the eligible, by their places."""
    eligible = np.flatnonzero(adversary.eligible(release, range(release.n_records)))
    return np.sort(np.random.default_rng(SEED).choice(eligible, min(count, len(eligible)), replace=False))


def check(release, ratings, options, count=TARGETS, absent=False):
    adversary = so.Adversary(**BASE | options)
    targets = drawn_targets(adversary, release, count)
    names = [release.records[place] for place in targets]
    known = adversary.observe_all(release, targets, SEED)
    verdicts = so.ScoreboardRH().attacks(release, known, exclude=names if absent else None)
    facts = facts_of(known.aux(release, q) for q in range(len(known)))
    found = scores_of(ratings, facts, dict(enumerate(names)) if absent else None)
    lengths, joined, place = people_of(ratings)
    scores = np.zeros((len(names), len(place)))
    query, user = found.index.get_level_values(0), found.index.get_level_values(1).map(place)
    scores[query, user] = found
    errors = [0.0]
    for verdict, target, candidate_scores in zip(verdicts, names, scores, strict=True):
        fits = candidates_of(lengths, joined, place[target], adversary.length_error, adversary.joined_error)
        fits[place[target]] &= not absent
        if not fits.any():
            assert (verdict.candidates, verdict.best, verdict.match(), len(verdict.lineup())) == (0, None, None, 0)
            continue
        candidate_scores[~fits] = np.nan
        assert_agrees(verdict, candidate_scores, place)
        errors.append(probability_error(verdict, candidate_scores, place, target))
    assert max(errors) < PROBABILITY
    return verdicts, names


@pytest.mark.large
@pytest.mark.parametrize("kind", ADVERSARIES)
def test_the_attack_equals_the_papers_formula_in_pandas(published, kind):
    verdicts, _ = check(*published, ADVERSARIES[kind])
    assert len(verdicts) == TARGETS


@pytest.mark.large
@pytest.mark.parametrize("kind", ["any", "rarest", "wrong items", "length and joined"])
def test_without_the_target_it_equals_the_papers_formula_too(published, kind):
    check(*published, ADVERSARIES[kind], absent=True)


@pytest.mark.large
def test_most_people_are_found_and_those_who_are_not_there_are_not(published):
    """Not a law, but what the paper is about: if this fails, data or attack are not what they were."""
    release, ratings = published
    verdicts, names = check(release, ratings, ADVERSARIES["exact"], count=100)
    found = [verdict.match(1.5) for verdict in verdicts]
    right = sum(match is not None and match.record == name for match, name in zip(found, names, strict=True))
    there = [v.match(1.5) for v in check(release, ratings, ADVERSARIES["exact"], count=100, absent=True)[0]]
    assert right >= 90 and sum(match is not None for match in there) <= right // 2


FEW = ["any", "rarest", "no dates", "items alone", "wrong items", "length and joined"]


@pytest.mark.parametrize("kind", FEW)
def test_on_few_people_the_attack_equals_the_papers_formula_in_pandas(realdata, kind):
    ratings = ratings_of(realdata, "movielens")
    ratings = ratings[ratings.user.isin({str(user) for user in range(1, 31)})]
    frame = pl.DataFrame({name: ratings[name].to_list() for name in ("user", "item", "rating", "day")})
    release = so.read(frame.with_columns(time=pl.col("day").cast(pl.Int32).cast(pl.Date)).drop("day"))
    assert release.n_entries == len(ratings)
    check(release, ratings, ADVERSARIES[kind], count=12)
    check(release, ratings, ADVERSARIES[kind], count=6, absent=True)


@pytest.mark.large
def test_excluding_a_record_equals_reading_the_data_without_it(realdata):
    release = so.read(realdata / FOLDERS["movielens"])
    frame = pl.read_csv(realdata / FOLDERS["movielens"] / "ratings.csv")
    adversary = so.Adversary(knows=8, value_error=1, time_error=14, items="rarest", wrong=1)
    for place in drawn_targets(adversary, release, 20):
        target = release.records[place]
        aux = adversary.observe(release, target, SEED)
        rebuilt = so.read(frame.filter(pl.col("userId") != int(target)))
        assert rebuilt.n_records == release.n_records - 1
        one = so.ScoreboardRH().attack(release, aux, exclude=target)
        two = so.ScoreboardRH().attack(rebuilt, aux)
        assert_same(one, two)
        assert one.probability(target) == 0.0 and one.entropy(target) == one.bits
        with pytest.raises(so.NotFoundError):
            two.probability(target)


def assert_same(one, two):
    """Two verdicts say the same."""
    assert (one.candidates, one.ties, one.best, one.tied) == (two.candidates, two.ties, two.best, two.tied)
    for number in ("highest", "second", "mean", "sigma", "eccentricity", "bits"):
        assert getattr(one, number) == pytest.approx(getattr(two, number), rel=1e-6, abs=1e-12)
    assert (one.match() is None) == (two.match() is None)
    here, there = one.lineup(10), two.lineup(10)
    assert [candidate.record for candidate in here] == [candidate.record for candidate in there]
    for candidate, other in zip(here, there, strict=True):
        assert candidate[1:] == pytest.approx(other[1:], rel=1e-6)
        assert one.rank(candidate.record) == two.rank(candidate.record)
        assert one.entropy(candidate.record) == pytest.approx(two.entropy(candidate.record), rel=1e-6, abs=1e-9)
        assert [part.score for part in one.explain(candidate.record)] == pytest.approx(
            [part.score for part in two.explain(candidate.record)], rel=1e-9
        )
    assert here.outside == pytest.approx(there.outside, rel=1e-6, abs=1e-9)


def test_days_count_from_1970(realdata):
    """A day of the ratings in pandas is the release's own."""
    ratings = ratings_of(realdata, "movielens")
    first = ratings[ratings.user == "1"].iloc[0]
    assert EPOCH + timedelta(days=int(first.day)) == date(2000, 7, 30)
