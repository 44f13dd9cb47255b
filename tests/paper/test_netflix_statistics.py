"""Every published statistic equals that of the slow twin, with its stated tolerance."""

import math
from collections import defaultdict
from datetime import date
from itertools import combinations
from statistics import fmean, pstdev

import polars as pl
import pytest

import naive
import standout as so
from standout.paper.published import published, published_lengths, published_support

PEOPLE = published()["sizes"]["records"]
LAST_DAY = date(2005, 12, 31)
RARE = (200, 400)


def entries_of(release):
    frame = release.to_frame()
    missing = [pl.lit(None).alias(name) for name in ("value", "time") if name not in frame.columns]
    rows = frame.with_columns(missing).select("record", "item", "value", "time").rows()
    return {row[:2]: row[2:] for row in rows}


def twin_of(release, scale):
    return naive.NetflixStatistics(entries_of(release), published_support(), scale, LAST_DAY, RARE)


def by_group(calibration):
    groups = defaultdict(dict)
    for statistic in calibration.statistics:
        assert statistic.statistic not in groups[statistic.group]
        groups[statistic.group][statistic.statistic] = statistic
    return groups


@pytest.mark.parametrize(
    ("scale", "columns", "missing"),
    [
        (1.0, ("value", "time"), 0.0),
        (0.4, ("value", "time"), 0.1),
        (0.4, ("value",), 0.0),
        (1.0, ("time",), 0.2),
        (0.4, (), 0.0),
    ],
)
def test_every_statistic_equals_that_of_the_slow_twin(compare_everything, random_release, scale, columns, missing):
    compare_everything(scale)
    release = random_release(columns, missing)
    groups, expected_groups = by_group(so.calibration(release, nearest=0)), twin_of(release, scale).groups()
    assert {group: set(rows) for group, rows in groups.items()} == {
        group: set(rows) for group, rows in expected_groups.items()
    }
    for group, numbers in expected_groups.items():
        for name, expected in numbers.items():
            statistic = groups[group][name]
            assert statistic.measured == pytest.approx(expected, rel=1e-9, abs=1e-12), (group, name)
            assert statistic.tolerance >= 0


def test_a_tolerance_is_the_stated_one_plus_two_standard_errors(compare_everything, random_release):
    compare_everything(0.4)
    release = random_release()
    twin, groups = twin_of(release, 0.4), by_group(so.calibration(release, nearest=0))
    n, times = twin.n, [[time for _, time in cells] for cells in twin.people.values() if len(cells) > 1]
    near = [fmean(abs((a - b).days) <= 14 for a, b in combinations(days, 2)) for days in times]
    means = [fmean(value for value, _ in cells) for cells in twin.people.values()]
    lengths, single = [*map(len, twin.people.values())], published()["lengths"]["one"] / PEOPLE
    outside = "≥ 5 films outside the top 100"
    for group, name, expected in (
        ("two ratings of a person", "within 14 days", 0.03 + 2 * pstdev(near) / math.sqrt(len(near))),
        ("a person's mean rating", "mean", 0.02 + 2 * pstdev(means) / math.sqrt(n)),
        ("ratings of a person", "mean", 0.005 * 209.25 + 2 * pstdev(lengths) / math.sqrt(n)),
        ("ratings of a person", "share of people with 1", 0.1 * single + 2 * math.sqrt(single * (1 - single) / n)),
        ("films outside the most rated", outside, 0.02 + 2 * math.sqrt(0.97 * 0.03 / n)),
        ("a film's mean rating", "standard deviation", 0.03),
        ("support by rank", "mean |ln ratio|, ranks 1 to 17,770", 0.05),
        ("bits added to those of a film", "rating ± 1, ranks 1 to 100", 0.05),
        ("bits added to those of a film", "date ± 14 days, ranks 1 to 100", 0.2),
    ):
        assert groups[group][name].tolerance == pytest.approx(expected, rel=1e-9), (group, name)


def test_nearest_neighbours_equal_those_of_the_slow_twin(compare_everything, random_release):
    compare_everything(0.4)
    release = random_release(records=40)
    rows = by_group(so.calibration(release, nearest=10_000, seed=1))["nearest neighbour"]
    section = published()["nearest"]
    for key, name, similarity in (
        ("sets", "films in common", naive.present),
        ("ratings", "equal ratings", naive.equal),
    ):
        neighbours = naive.nearest_neighbours(entries_of(release), similarity, "union").values()
        for least, reference in zip(section["similarity"], section[key], strict=True):
            row = rows[f"{name} ≥ {least:.2f}"]
            assert row.measured == pytest.approx(fmean(near >= least for near, _ in neighbours))
            assert row.published == reference
    assert len(rows) == 10
    without_values = so.calibration(random_release(("time",), records=40), nearest=30, seed=1)
    assert [*by_group(without_values)["nearest neighbour"]] == [
        f"films in common ≥ {least:.2f}" for least in section["similarity"]
    ]


def all_published_numbers():
    """(name, number) of everything that is published, in the units of the calibration."""
    sections = {group: dict(section) for group, section in published().items()}
    for name in ("probe", "qualifying"):
        del sections["sizes"][name]
    for name in ("one", "below_10"):
        sections["lengths"][name] /= PEOPLE
    support = sections["support"]
    support["sd ÷ mean"] = support.pop("sd") / support.pop("mean")
    for name in ("q25", "q50", "q75", "q90", "q99", "max"):
        support[name] /= PEOPLE
    for group, name in (("bits", "ranks"), ("bursts", "days"), ("bursts", "sizes"), ("nearest", "similarity")):
        del sections[group][name]
    for section in sections.values():
        for name, numbers in section.items():
            for number in numbers if isinstance(numbers, list) else [numbers]:
                yield name, (LAST_DAY - number).days if isinstance(number, date) else number


@pytest.mark.large
def test_every_published_number_is_compared(compare_everything):
    compare_everything(1.0)
    release = so.synthesize(records=1_000, items=1_500, entries=150_000, seed=1)
    compared = [statistic.published for statistic in so.calibration(release, nearest=5).statistics]
    for name, number in all_published_numbers():
        assert any(reference == pytest.approx(number) for reference in compared), name
    assert len(published_lengths()[0]) == 99  # a table of its own, for the generator


def test_statistics_that_depend_on_the_size_are_skipped_at_other_sizes():
    release = so.synthesize(records=1_000, items=300, entries=2_000, seed=1)
    groups = by_group(so.calibration(release, nearest=0))
    assert "sizes" not in groups and "a film's mean rating" not in groups
    assert not {"fewest", "most"} & {*groups["ratings of a person"], *groups["ratings of a film"]}
    assert not any(name.startswith(("first", "last")) for name in groups["dates of ratings"])
    compared = int((published_support() * 1_000 / PEOPLE >= 50).sum())
    assert f"largest |ln ratio|, ranks 1 to {compared:,}" in groups["support by rank"]
    assert "bits of the film of rank 5,000" not in groups["support by rank"]
    assert [*groups["bits added to those of a film"]] == [
        "rating ± 1, ranks 1 to 100",
        "date ± 14 days, ranks 1 to 100",
    ]
    assert "90 % quantile, share of people" not in groups["ratings of a film"]
    assert "99 % quantile, share of people" in groups["ratings of a film"]
