"""The Bayesian attack knows what the publisher did: its channels, its coverage, and the laws of both."""

import numpy as np
import polars as pl
import pytest

import standout as so
from naive import release_noise as naive
from standout.attack.error_model import error_model
from standout.attack.error_tables import ValueChannel, add_shifts, round_errors, whole_days
from standout.data.labels import Bins, Clock
from standout.evaluate.targets import Population
from standout.know.sanitized import Period, ReleaseNoise, TimeSpread, ValueSpread
from standout.sanitizing.files import write_sanitized

RELEASE = so.synthesize(records=300, items=80, entries=6_000, seed=11)
ADVERSARY = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
PEOPLE = np.flatnonzero(ADVERSARY.eligible(RELEASE, np.arange(300)))[:40]
LEVELS = np.array([0.5, 1.0, 2.0, 2.5, 4.0, 4.5, 5.0])
VALUE_STEPS = [
    (ValueSpread(1.0, 0.7),),
    (ValueSpread(None, 0.4),),
    (ValueSpread(0.25, 1.0),),
    (Bins((2.0, 4.2), (0.8, 2.6, 4.8)),),
    (ValueSpread(1.5, 1.0), Bins((2.5,), (0.0, 1.0)), ValueSpread(None, 0.25)),
]
DATE_STEPS = [
    (Period("month"),),
    (Period("year"),),
    (Period("week"), Period("month")),
    (TimeSpread(20, 0.6), Period("month")),
    (Period("day", 10), TimeSpread(3, 1.0)),
    (Period("week"), TimeSpread(9, 0.5), Period("quarter")),
]


def naive_channel(steps):
    levels, channel = LEVELS.tolist(), {x: {x: 1.0} for x in LEVELS.tolist()}
    for step in steps:
        if isinstance(step, ValueSpread):
            channel = naive.compose(channel, naive.spread_values(levels, step.error, step.probability))
        else:
            merged = naive.merge_values(levels, step.edges, step.values)
            channel = naive.compose(channel, merged)
            levels = sorted({y for row in merged.values() for y in row})
    return channel, np.array(levels)


def channel_of(steps, counts=None):
    expected, released = naive_channel(steps)
    counts = np.arange(1.0, len(released) + 1) if counts is None else counts
    return ValueChannel.of(steps, LEVELS, released, counts), expected, released


@pytest.mark.parametrize("steps", VALUE_STEPS, ids=str)
def test_a_value_channel_is_that_of_the_enumeration_and_keeps_all_probability(steps):
    channel, expected, released = channel_of(steps)
    for code, x in enumerate(LEVELS.tolist()):
        row = channel.push(np.eye(len(LEVELS))[code])
        assert row == pytest.approx([expected[x].get(y, 0.0) for y in released.tolist()], abs=1e-12)
        assert row.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("steps", VALUE_STEPS, ids=str)
def test_pulling_is_the_adjoint_of_pushing(steps):
    channel, _, released = channel_of(steps)
    rng = np.random.default_rng(1)
    weight, number = rng.random(len(LEVELS)), rng.random(len(released))
    assert channel.push(weight) @ number == pytest.approx(weight @ channel.pull(number))


@pytest.mark.parametrize("steps", VALUE_STEPS, ids=str)
def test_a_known_value_given_a_released_one_follows_bayes_rule(steps):
    channel, expected, released = channel_of(steps)
    prior = dict(zip(LEVELS.tolist(), channel.prior.tolist(), strict=True))
    for known in LEVELS.tolist():
        right = {x: naive.right_value(known, x, LEVELS.tolist(), 1) for x in prior}
        given = naive.given_released(expected, prior, right)
        found = channel.average(np.array(list(right.values())))
        assert found == pytest.approx([given[y] for y in released.tolist()], abs=1e-12)


def test_original_shares_are_found_from_the_release_alone():
    truth = np.array([0.05, 0.1, 0.1, 0.2, 0.3, 0.05, 0.2])
    steps = (ValueSpread(1.0, 0.2),)
    released = channel_of(steps)[0].push(truth)
    assert channel_of(steps, 1e6 * released)[0].prior == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize("steps", DATE_STEPS, ids=str)
def test_differences_of_rounded_dates_are_those_of_the_enumeration(steps):
    clock = Clock("day", 12_000, 400, "UTC")
    shares, elsewhere = round_errors(whole_days(14, 1), steps, clock)
    plain = [
        ("shift", int(step.days), step.probability)
        if isinstance(step, TimeSpread)
        else ("round", step.name, step.count)
        for step in steps
    ]
    expected = naive.date_differences(12_000, 12_399, 14, plain)
    reach = len(shares) // 2
    for d in range(-reach, reach + 1):
        assert shares[reach + d] == pytest.approx(expected.get(d, 0.0), abs=1e-9), d
    rounding = [step for step in plain if step[0] == "round"]
    dates = {naive.round_down(day, rounding) for day in range(12_000, 12_400)}
    assert elsewhere == 1 / len(dates)


def test_shifts_of_dates_add_up_and_keep_all_probability():
    shares = add_shifts(np.full(5, 0.2), [TimeSpread(3, 0.5), TimeSpread(1, 1.0)], 1)
    first = np.append(np.full(3, 0.5 / 7), np.append(0.5 / 7 + 0.5, np.full(3, 0.5 / 7)))
    expected = np.convolve(np.convolve(np.full(5, 0.2), first), np.full(3, 1 / 3))
    assert shares == pytest.approx(expected) and shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("reach", [0, 5, 24, 100])
def test_hours_apart_are_days_apart_with_the_chance_of_crossing_midnight(reach):
    shares = whole_days(reach, 24)
    counted = np.zeros(len(shares))
    for hour in np.arange(24 * 50) / 50:  # any moment of the day, in fine steps
        for off in np.arange(-(reach + 0.5), reach + 0.5, 1 / 8) + 1 / 16:
            counted[len(shares) // 2 + int((hour + off) // 24)] += 1
    assert shares == pytest.approx(counted / counted.sum(), abs=2e-3)
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("unit", ["minute", "hour", "day"])
@pytest.mark.parametrize("texts", [["perturb-time 9"], ["perturb-time 9 0.5", "round-time week"]], ids=str)
def test_the_best_record_has_the_highest_exact_score_on_any_clock(unit, texts):
    rng = np.random.default_rng(4)
    frame = RELEASE.to_frame().with_columns(time=pl.Series(rng.integers(0, 90 * 86_400, RELEASE.n_entries)))
    timed = so.read(frame, time_unit=unit)
    safer = so.sanitize(timed, *texts, seed=1)
    verdicts = so.Likelihood(ADVERSARY).attacks(safer, Population.of(safer).known_facts(ADVERSARY, PEOPLE, 1))
    sizes = so.Likelihood(ADVERSARY).nested(
        safer, Population.of(safer).known_facts(ADVERSARY, PEOPLE, 1), [ADVERSARY.knows]
    )
    for verdict, nested in zip(verdicts, sizes, strict=True):
        assert verdict.highest == verdict.scores.max() and nested.best == verdict.best


def test_noise_of_steps_adds_up_in_their_order():
    first = ReleaseNoise(kept=0.5, present=0.4, own=0.9, times=(TimeSpread(3, 1.0),))
    second = ReleaseNoise(kept=0.6, present=0.5, own=0.5, values=(ValueSpread(1, 1.0),), times=(Period("month"),))
    assert first.then(second) == ReleaseNoise(
        0.3, 0.2, 0.45, (ValueSpread(1, 1.0),), (TimeSpread(3, 1.0), Period("month"))
    )
    assert first.then(ReleaseNoise()) == first == ReleaseNoise().then(first)


@pytest.mark.parametrize("share", [-0.5, 1.5, float("nan")])
def test_shares_of_noise_are_above_0_and_at_most_1(share):
    for settings in ({"kept": share}, {"present": share}, {"own": share}, {"values": (ValueSpread(1, share),)}):
        with pytest.raises(so.ParameterError, match="above 0 and at most 1"):
            ReleaseNoise(**settings)
    with pytest.raises(so.ParameterError, match="above 0 and at most 1"):
        ReleaseNoise(kept=0.0)


def test_randomised_response_to_one_level_changes_nothing():
    alike = so.read(RELEASE.to_frame().with_columns(value=3.0))
    assert so.sanitize(alike, "randomized-response 1", seed=1).noise.values == (ValueSpread(None, 0.0),)


def test_a_sidecar_whose_counts_make_no_sense_is_damaged(tmp_path):
    safer = so.sanitize(RELEASE, "cap-records 10", seed=1)
    path = write_sanitized(safer, tmp_path / "safer.csv")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"entries before": 6000', '"entries before": 0'), encoding="utf-8")
    with pytest.raises(so.SourceError, match="is damaged"):
        so.open_sanitized(tmp_path / "safer.csv", RELEASE)


def test_a_release_sanitized_without_steps_gives_the_posterior_of_the_original():
    known = ADVERSARY.observe_all(RELEASE, PEOPLE, 1)
    attack = so.Likelihood(ADVERSARY)
    safer = so.sanitize(RELEASE, seed=1)
    translated = Population.of(safer).known_facts(ADVERSARY, PEOPLE, 1)
    for before, after in zip(attack.attacks(RELEASE, known), attack.attacks(safer, translated), strict=True):
        assert before.best == after.best and before.nobody == after.nobody
        assert np.array_equal(before.scores, after.scores)


def test_steps_that_lose_nothing_change_the_posterior_by_nothing():
    attack, people = so.Likelihood(ADVERSARY), PEOPLE
    before = attack.attacks(RELEASE, ADVERSARY.observe_all(RELEASE, people, 1))
    for text in ("perturb-value 1 1e-15", "round-value edges 2 3 4 5"):
        safer = so.sanitize(RELEASE, text, seed=1)
        after = attack.attacks(safer, Population.of(safer).known_facts(ADVERSARY, people, 1))
        for one, other in zip(before, after, strict=True):
            assert other.scores == pytest.approx(one.scores, abs=1e-5), text


@pytest.mark.parametrize(
    ("text", "kept", "present"),
    [
        ("drop-entries 0.25", 0.75, 1.0),
        ("sample-records 0.5", 1.0, 0.5),
        ("drop-rare-items 30", 1.0, 1.0),
        ("drop-top-items 5", 1.0, 1.0),
        ("km-suppress 2 1", 1.0, 1.0),
        ("randomized-response 2 items", 1 / (1 + np.exp(-2.0)), 1.0),
    ],
)
def test_removed_entries_lower_the_coverage_and_removed_records_the_prior(text, kept, present):
    safer = so.sanitize(RELEASE, text, seed=1)
    model = error_model(safer, ADVERSARY, None)
    assert model.coverage == pytest.approx(0.98 * kept) and model.present == present
    assert error_model(safer, ADVERSARY, 0.5).coverage == 0.5


def test_a_fact_about_a_removed_item_says_nothing():
    adversary = so.Adversary(knows=5, value_error=1, time_error=14)
    safer = so.sanitize(RELEASE, "drop-top-items 40", seed=1)
    known = Population.of(safer).known_facts(adversary, PEOPLE, 1)
    assert (known.item < 0).any()
    kept = np.flatnonzero(known.item >= 0)
    fewer = known.select(np.arange(len(PEOPLE)), kept, np.searchsorted(kept, known.first))
    attack = so.Likelihood(adversary)
    for verdict, same in zip(attack.attacks(safer, known), attack.attacks(safer, fewer), strict=True):
        assert np.array_equal(verdict.scores, same.scores) and verdict.nobody == same.nobody


def test_the_noise_of_an_output_is_that_of_the_release_that_was_written(tmp_path):
    steps = ["perturb-time 9 0.5", "round-time month", "perturb-value 1 0.5", "round-value liked 4"]
    steps += ["randomized-response 2", "drop-entries 0.2", "cap-records 40", "sample-records 0.9"]
    steps += ["km-suppress 2 2", "cluster-records 2"]
    safer = so.sanitize(RELEASE, *steps, seed=1)
    write_sanitized(safer, tmp_path / "safer.csv", key=tmp_path / "key.csv")
    opened = so.open_sanitized(tmp_path / "safer.csv", RELEASE, key=tmp_path / "key.csv")
    assert opened.noise == safer.noise and len(safer.noise.values) == 3 and len(safer.noise.times) == 2
    known = Population.of(safer).known_facts(ADVERSARY, PEOPLE, 1)
    attack = so.Likelihood(ADVERSARY)
    for one, other in zip(attack.attacks(safer, known), attack.attacks(opened, known), strict=True):
        assert np.array_equal(one.scores, other.scores)


@pytest.mark.once
@pytest.mark.parametrize(
    "texts",
    [
        ["perturb-value 1"],
        ["round-time none", "randomized-response 1"],
        ["perturb-time 60", "round-time month"],
        ["round-value liked 4", "round-time month"],
        ["drop-entries 0.5"],
        ["round-time none", "drop-entries 0.3"],
    ],
    ids=str,
)
def test_knowing_the_noise_identifies_at_least_as_many_as_ignoring_it(texts):
    safer = so.sanitize(RELEASE, *texts, seed=3)
    attacks = {"paper": so.ScoreboardRH(), "likelihood": so.Likelihood()}
    comparison = so.compare(safer, ADVERSARY, attacks, targets=300, seed=1)
    assert comparison.row("likelihood").difference.value >= -0.01


@pytest.mark.once
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("texts", "least"),
    [
        (["round-time none"], 0.97),
        (["perturb-value 1", "round-time month"], 0.98),
        (["perturb-value 4", "perturb-time 365"], 0.97),
        (["round-time none", "round-value none"], 0.96),
        (["round-time none", "randomized-response 0.1"], 0.96),
    ],
    ids=str,
)
def test_on_movielens_noise_and_removal_of_dates_protect_hardly_anybody(realdata, texts, least):
    release = so.read(realdata / "movielens-latest-small")
    adversary = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    safer = so.sanitize(release, *texts, seed=1)
    attacks = {"paper": so.ScoreboardRH(), "likelihood": so.Likelihood()}
    row = so.compare(safer, adversary, attacks, targets=200, seed=1).row("likelihood")
    assert row.identified.value >= least and abs(row.gap.value) <= 0.03
