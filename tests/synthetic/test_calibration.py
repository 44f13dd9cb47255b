"""The calibration table: every statistic beside a slow twin, what chance adds, verdicts, and the command."""

import json
import math
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from itertools import combinations
from statistics import fmean, pstdev, stdev

import numba
import numpy as np
import polars as pl
import pytest

import naive
import standout as so
from standout.synthetic import marginals
from standout.synthetic import sampling_error as chance
from standout.synthetic.published_statistics import lengths_in_all, netflix, support_by_rank
from standout.synthetic.survey import Statistic, Survey

COMPILED = not numba.config.DISABLE_JIT
RECORDS = 250 if COMPILED else 120
PEOPLE = netflix()["sizes"]["records"]
END = date(2005, 12, 31)
RARE = (200, 400)
DAYS_OF = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.fixture
def all_compared(monkeypatch):
    """Small releases are compared by everything, as if they had so many people for each of Netflix's."""
    monkeypatch.setattr("standout.synthetic.calibration.LEAST_RECORDS", 1)
    monkeypatch.setattr("standout.synthetic.netflix_statistics.LEAST", 0)
    monkeypatch.setattr("standout.synthetic.netflix_statistics.RARE", RARE)

    def scaled(scale):
        monkeypatch.setattr(Survey, "scale", property(lambda survey: scale))

    return scaled


def drawn(columns=("value", "time"), missing=0.0, records=RECORDS, seed=2006):
    """A release with long and short records, and perhaps some values and times missing."""
    draw, rows = np.random.default_rng(seed), []
    popular = 1 / (np.arange(450) + 5)
    for record in range(records):
        length = [1, 9, 35][record] if record < 3 else 2 + int(draw.exponential(12))
        joined, items = int(draw.integers(1500)), draw.choice(450, length, False, popular / popular.sum())
        for item in items:
            value = (
                None if draw.random() < missing else float(draw.choice(5, p=[0.1, 0.1, 0.3, 0.3, 0.2]) + 1)
            )
            day = date(2001, 11, 22) + timedelta(
                joined + int(draw.exponential(20) if draw.random() < 0.8 else 0)
            )
            rows.append((str(record), str(item), value, None if draw.random() < missing else day))
    rows += [
        ("0", str(item), 3.0, END) for item in range(450)
    ]  # so that every item is there, and the last day
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return so.read(frame.select("record", "item", *columns))


def entries_of(release):
    frame = release.to_frame()
    absent = [pl.lit(None).alias(name) for name in ("value", "time") if name not in frame.columns]
    rows = frame.with_columns(absent).select("record", "item", "value", "time").rows()
    return {row[:2]: row[2:] for row in rows}


def quantile(numbers, share):
    ordered, place = sorted(numbers), share * (len(numbers) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def words(percent):
    return "median" if percent == 50 else f"{percent} % quantile"


class Twin:
    """Every statistic by loops and dicts: {group: {statistic: number}}."""

    def __init__(self, release, scale):
        self.entries, self.scale = entries_of(release), scale
        self.people, self.films = defaultdict(list), defaultdict(list)
        for (record, item), cell in self.entries.items():
            self.people[record].append(cell)
            self.films[item].append(cell)
        self.n, self.rank = len(self.people), naive.ranks(self.entries)
        self.values = [value for value, _ in self.entries.values() if value is not None]
        self.times = [time for _, time in self.entries.values() if time is not None]
        falling = sorted(map(len, self.films.values()), reverse=True)
        self.support = falling + [0] * (17_770 - len(falling))

    def told(self):
        groups = {"ratings of a person": self.lengths(), "ratings of a film": self.supports(),
                  "support by rank": self.by_rank()}  # fmt: skip
        if len(self.films) > 100:
            groups["films outside the most rated"] = self.outside()
        if self.scale >= 0.99:
            groups["sizes"] = {"people": self.n, "films": len(self.films), "ratings": len(self.entries)}
        if self.values:
            groups |= {"ratings": self.ratings(), "a person's mean rating": self.person_means()}
            groups |= {"a film's mean rating": self.film_means()}
        if self.times:
            groups |= {
                "dates of ratings": self.dates(),
                "two ratings of a person": self.bursts(),
            } | self.joined()
        if self.values or self.times:
            groups["bits added to a film's"] = self.added()
        return groups

    def lengths(self):
        n = sorted(map(len, self.people.values()))
        told = {"mean": fmean(n), "standard deviation": pstdev(n)}
        told |= {words(percent): quantile(n, percent / 100) for percent in (25, 50, 75, 90, 99)}
        told |= {"share of people with 1": n.count(1) / len(n)}
        told |= {"share of people with fewer than 10": sum(x < 10 for x in n) / len(n)}
        for percent in (1, 5, 10):
            top = n[-max(round(len(n) * percent / 100), 1) :]
            told[f"share of the most active {percent} %"] = sum(top) / sum(n)
        return told | ({"fewest": n[0], "most": n[-1]} if self.scale >= 0.99 else {})

    def ratings(self):
        shares = Counter(self.values)
        told = {f"share of {star}": shares[star] / len(self.values) for star in range(1, 6)}
        return told | {"mean": fmean(self.values), "standard deviation": pstdev(self.values)}

    def person_means(self):
        rated = [[value for value, _ in cells if value is not None] for cells in self.people.values()]
        means = [fmean(values) for values in rated if values]
        within = [stdev(values) for values in rated if len(values) > 1]
        return {"mean": fmean(means), "standard deviation": pstdev(means),
                "deviation within a person, mean": fmean(within)}  # fmt: skip

    def supports(self):
        told = {f"{words(p)}, share of people": quantile(self.support, p / 100) / self.n
                for p in (25, 50, 75, 90, 99)}  # fmt: skip
        told["most, share of people"] = self.support[0] / self.n
        told["standard deviation ÷ mean"] = pstdev(self.support) / fmean(self.support)
        for top in (100, 500, 1000, 2000, 5000):
            told[f"share of the {top:,} most rated"] = sum(self.support[:top]) / sum(self.support)
        least = min(support for support in self.support if support)
        return told | ({"fewest": least} if self.scale >= 0.99 else {})

    def by_rank(self):
        support = [max(support, 0.5) for support in self.support]
        ranks = (1, 10, 100, 500, 1000, 5000, 10_000)
        told = {f"bits of the film of rank {r:,}": -math.log2(support[r - 1] / self.n) for r in ranks}
        off = [abs(math.log(mine / (theirs * self.scale)))
               for mine, theirs in zip(support, support_by_rank(), strict=True)]  # fmt: skip
        return told | {"mean |ln ratio|, ranks 1 to 17,770": fmean(off),
                       "largest |ln ratio|, ranks 1 to 17,770": max(off)}  # fmt: skip

    def film_means(self):
        rated = {
            film: [value for value, _ in cells if value is not None] for film, cells in self.films.items()
        }
        rated = {film: values for film, values in rated.items() if values}
        means = [fmean(values) for values in rated.values()]
        squares = sum((value - fmean(values)) ** 2 for values in rated.values() for value in values)
        inside = squares / (sum(map(len, rated.values())) - len(rated))
        noise = inside * fmean(1 / len(values) for values in rated.values()) * (1 - self.scale)
        sd = math.sqrt(max(pstdev(means) ** 2 - noise, 0))
        frame = pl.DataFrame(
            {"mean": [round(mean, 12) for mean in means], "n": [len(self.films[f]) for f in rated]}
        )
        together = (
            frame.select(pl.corr("mean", "n", method="spearman")).item() * pstdev(means) / sd if sd else 0
        )
        return {"mean": fmean(means), "standard deviation": sd, "Spearman with popularity": together}

    def outside(self):
        return {f"≥ {least} films outside the top {top:,}": share
                for top, shares in naive.outside_top(self.entries).items()
                for least, share in shares.items()}  # fmt: skip

    def dates(self):
        n, told = len(self.times), {}
        if self.scale >= 0.99:
            told |= {"first, days before 2005-12-31": (END - min(self.times)).days}
            told |= {"last, days before 2005-12-31": (END - max(self.times)).days}
        for year in range(2000, 2006):
            told[str(year)] = sum(time.year == year for time in self.times) / n
        for year in (2004, 2005):
            for quarter in (1, 2, 3, 4):
                here = [time for time in self.times if (time.year, (time.month + 2) // 3) == (year, quarter)]
                told[f"{year}, quarter {quarter}"] = len(here) / n
        names = Counter(time.strftime("%A") for time in self.times)
        told |= {name: names[name] / n for name in DAYS_OF}
        by_day = Counter(self.times)
        for reach in (14, 3):
            near = {day: sum(count for other, count in by_day.items() if abs((other - day).days) <= reach)
                    for day in by_day}  # fmt: skip
            told[f"bits of a date ± {reach} days"] = fmean(-math.log2(near[time] / n) for time in self.times)
        return told

    def joined(self):
        times = [[time for _, time in cells if time is not None] for cells in self.people.values()]
        ends = [((END - min(days)).days, (END - max(days)).days) for days in times if days]
        first, last = zip(*ends, strict=True)
        span = [before - after for before, after in ends]
        return {
            "first, last: days before 2005-12-31": {
                "first, median": quantile(first, 0.5), "first, 90 % quantile": quantile(first, 0.1),
                "last, median": quantile(last, 0.5),
            },
            "days from first to last rating": {
                "mean": fmean(span), **{words(p): quantile(span, p / 100) for p in (50, 90, 99)},
            },
        }  # fmt: skip

    def bursts(self):
        times = [[time for _, time in cells if time is not None] for cells in self.people.values()]

        def near(reach, low, high):
            shares = [fmean(abs((a - b).days) <= reach for a, b in combinations(days, 2))
                      for days in times if low <= len(days) < high]  # fmt: skip
            return fmean(shares) if len(shares) > 1 else None

        told = {"on the same day": near(0, 2, math.inf)}
        told |= {f"within {reach} days": near(reach, 2, math.inf) for reach in (14, 30, 90, 365)}
        for low, high in ((2, 30), (30, 100), (100, 300), (300, 1000)):
            told[f"within 6 days, people with {low} to {high - 1}"] = near(6, low, high)
        told["within 6 days, people with ≥ 1,000"] = near(6, 1000, math.inf)
        return {name: found for name, found in told.items() if found is not None}

    def added(self):
        def bits(known, near):
            """The harmonic form of −log2 of a share: H(n − 1) − H(k), k of the n − 1 others are near."""
            total = 0.0
            for i, mine in enumerate(known):
                k = sum(near(mine, other) for j, other in enumerate(known) if j != i)
                total += sum(1 / x for x in range(k + 1, len(known))) / math.log(2)
            return total / max(len(known), 1)

        told = {}
        for low, high in ((1, 100), RARE):
            films = [cells for film, cells in self.films.items() if low <= self.rank[film] <= high]
            for at, name, near in (
                (0, "rating ± 1", lambda a, b: abs(a - b) <= 1),
                (1, "date ± 14 days", lambda a, b: abs((a - b).days) <= 14),
            ):
                known = [[cell[at] for cell in cells if cell[at] is not None] for cells in films]
                if self.values if at == 0 else self.times:
                    told[f"{name}, ranks {low:,} to {high:,}"] = fmean(bits(one, near) for one in known)
        return told


def table_of(found):
    table = defaultdict(dict)
    for one in found.statistics:
        assert one.statistic not in table[one.group]
        table[one.group][one.statistic] = one
    return table


@pytest.mark.parametrize(
    ("scale", "columns", "missing"),
    [
        (1.0, ("value", "time"), 0.0), (0.4, ("value", "time"), 0.1), (0.4, ("value",), 0.0),
        (1.0, ("time",), 0.2), (0.4, (), 0.0),
    ],
)  # fmt: skip
def test_every_statistic_equals_its_slow_twin(all_compared, scale, columns, missing):
    all_compared(scale)
    release = drawn(columns, missing)
    found, told = table_of(so.calibration(release, nearest=0)), Twin(release, scale).told()
    assert {group: set(rows) for group, rows in found.items()} == {g: set(rows) for g, rows in told.items()}
    for group, rows in told.items():
        for name, expected in rows.items():
            assert found[group][name].achieved == pytest.approx(expected, rel=1e-9, abs=1e-12), (group, name)
            assert found[group][name].tolerance >= 0


def test_a_tolerance_is_the_stated_one_and_two_standard_errors(all_compared):
    all_compared(0.4)
    release = drawn()
    twin, found = Twin(release, 0.4), table_of(so.calibration(release, nearest=0))
    n, days = twin.n, [[time for _, time in cells] for cells in twin.people.values() if len(cells) > 1]
    near = [fmean(abs((a - b).days) <= 14 for a, b in combinations(one, 2)) for one in days]
    means = [fmean(value for value, _ in cells) for cells in twin.people.values()]
    lengths, one = [*map(len, twin.people.values())], netflix()["lengths"]["one"] / PEOPLE
    for group, name, expected in (
        ("two ratings of a person", "within 14 days", 0.03 + 2 * pstdev(near) / math.sqrt(len(near))),
        ("a person's mean rating", "mean", 0.02 + 2 * pstdev(means) / math.sqrt(n)),
        ("ratings of a person", "mean", 0.005 * 209.25 + 2 * pstdev(lengths) / math.sqrt(n)),
        ("ratings of a person", "share of people with 1", 0.1 * one + 2 * math.sqrt(one * (1 - one) / n)),
        ("films outside the most rated", "≥ 5 films outside the top 100",
         0.02 + 2 * math.sqrt(0.97 * 0.03 / n)),
        ("a film's mean rating", "standard deviation", 0.03),
        ("support by rank", "mean |ln ratio|, ranks 1 to 17,770", 0.05),
        ("bits added to a film's", "rating ± 1, ranks 1 to 100", 0.05),
        ("bits added to a film's", "date ± 14 days, ranks 1 to 100", 0.2),
    ):  # fmt: skip
        assert found[group][name].tolerance == pytest.approx(expected, rel=1e-9), (group, name)


def test_nearest_neighbours_are_those_of_the_slow_twin(all_compared):
    all_compared(0.4)
    release = drawn(records=40)
    found = table_of(so.calibration(release, nearest=10_000, seed=1))["nearest neighbour"]
    for name, words, twin in (
        ("sets", "films in common", naive.present),
        ("ratings", "equal ratings", naive.equal),
    ):
        near = [near for near, _ in naive.nearest_neighbours(entries_of(release), twin, "union").values()]
        for point, target in zip(netflix()["nearest"]["similarity"], netflix()["nearest"][name], strict=True):
            row = found[f"{words} ≥ {point:.2f}"]
            assert row.achieved == pytest.approx(fmean(one >= point for one in near))
            assert row.target == target
    assert len(found) == 10
    without = table_of(so.calibration(drawn(("time",), records=40), nearest=30, seed=1))["nearest neighbour"]
    assert [*without] == [f"films in common ≥ {point:.2f}" for point in (0.05, 0.1, 0.2, 0.3, 0.5)]


@pytest.mark.large
def test_every_published_number_is_a_target(all_compared):
    all_compared(1.0)
    release = so.synthesize(records=1_000, items=1_500, entries=150_000, seed=1)
    targets = [one.target for one in so.calibration(release, nearest=5).statistics]
    told = {group: dict(section) for group, section in netflix().items()}
    for name in ("probe", "qualifying"):
        del told["sizes"][name]
    for name in ("one", "below_10"):
        told["lengths"][name] /= PEOPLE
    told["support"]["sd ÷ mean"] = told["support"].pop("sd") / told["support"].pop("mean")
    for name in ("q25", "q50", "q75", "q90", "q99", "max"):
        told["support"][name] /= PEOPLE
    for group, name in (
        ("bits", "ranks"),
        ("bursts", "days"),
        ("bursts", "sizes"),
        ("nearest", "similarity"),
    ):
        del told[group][name]
    for section in told.values():
        for name, numbers in section.items():
            for number in numbers if isinstance(numbers, list) else [numbers]:
                number = (END - number).days if isinstance(number, date) else number
                assert any(target == pytest.approx(number) for target in targets), name
    assert len(lengths_in_all()[0]) == 99  # a table of its own, for the generator


def test_what_cannot_be_compared_at_another_size_is_left_out():
    found = table_of(
        so.calibration(so.synthesize(records=1_000, items=300, entries=2_000, seed=1), nearest=0)
    )
    assert "sizes" not in found and "a film's mean rating" not in found
    assert not {"fewest", "most"} & {*found["ratings of a person"], *found["ratings of a film"]}
    assert not any(name.startswith(("first", "last")) for name in found["dates of ratings"])
    compared = int((support_by_rank() * 1_000 / PEOPLE >= 50).sum())
    assert f"largest |ln ratio|, ranks 1 to {compared:,}" in found["support by rank"]
    assert "bits of the film of rank 5,000" not in found["support by rank"]
    assert [*found["bits added to a film's"]] == [
        "rating ± 1, ranks 1 to 100",
        "date ± 14 days, ranks 1 to 100",
    ]
    assert "90 % quantile, share of people" not in found["ratings of a film"]
    assert "99 % quantile, share of people" in found["ratings of a film"]


@pytest.mark.parametrize(
    ("away", "verdict"),
    [(0, "met"), (1, "met"), (-1, "met"), (1.01, "near"), (-2, "near"), (2.01, "missed"), (-9, "missed")],
)
def test_a_target_is_met_within_its_tolerance_and_near_within_twice_as_much(away, verdict):
    assert Statistic("group", "statistic", 0.3, 0.3 + away * 0.1, 0.1).verdict == verdict
    assert Statistic("group", "statistic", 3.0, 3.0 + away, 0).verdict == ("met" if away == 0 else "missed")


def test_the_table_has_a_row_for_each_statistic(all_compared, tmp_path):
    all_compared(1.0)
    found = so.calibration(drawn(), nearest=5)
    table = found.table
    assert table.columns == ["group", "statistic", "target", "achieved", "tolerance", "verdict"]
    assert table.height == len(found.statistics) == sum(found.verdicts.values())
    assert table["verdict"].to_list() == [one.verdict for one in found.statistics]
    counts = ", ".join(f"{table['verdict'].to_list().count(v)} {v}" for v in ("met", "near", "missed"))
    assert str(found) == f"{table.height} published statistics: {counts}"
    found.to_csv(tmp_path / "table.csv")
    assert pl.read_csv(tmp_path / "table.csv")["statistic"].to_list() == table["statistic"].to_list()


def test_an_index_gives_the_same_table_on_any_number_of_threads(all_compared, tmp_path):
    all_compared(1.0)
    release = drawn(missing=0.1)
    so.save(release, tmp_path / "index")
    tables = [so.calibration(one, nearest=30, seed=3, threads=threads).table
              for one in (release, so.open(tmp_path / "index")) for threads in (1, 2)]  # fmt: skip
    assert all(table.equals(tables[0]) for table in tables)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"nearest": -1}, "nearest"), ({"nearest": 2.5}, "nearest"), ({"nearest": True}, "nearest"),
        ({"seed": -1}, "seed"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(wrong, complaint):
    with pytest.raises(so.ParameterError, match=complaint):
        so.calibration(so.synthesize(records=1_000, items=10, entries=1_000, seed=1), **wrong)


def test_releases_that_cannot_be_compared_are_refused(monkeypatch):
    with pytest.raises(so.ParameterError, match=r"1,000 records at least, got 999"):
        so.calibration(so.synthesize(records=999, items=10, entries=1_000, seed=1))
    monkeypatch.setattr("standout.synthetic.calibration.LEAST_RECORDS", 1)
    for values in ([0.5, 3.0], ["good", "bad"]):
        with pytest.raises(so.ParameterError, match="from 1 to 5"):
            so.calibration(so.read(pl.DataFrame({"user": ["p", "q"], "item": ["x", "x"], "rating": values})))
    frame = pl.DataFrame({"user": ["p"], "item": ["x"], "time": [datetime(2005, 1, 1, 3)]})
    with pytest.raises(so.ParameterError, match="by hour"):
        so.calibration(so.read(frame, time_unit="hour"))


# What chance adds, and what few ratings do not.

SAMPLES, SIZE = 3_000, 500


@pytest.mark.parametrize(
    ("statistic", "error"),
    [
        (lambda x: (x > 1).mean(), lambda x: chance.share_error(float((x > 1).mean()), len(x))),
        (np.mean, chance.mean_error),
        (np.std, chance.sd_error),
        (lambda x: np.quantile(x, 0.75), lambda x: chance.quantile_error(x, 0.75)),
        (lambda x: chance.top_share(x, 0.1)[0], lambda x: chance.top_share(x, 0.1)[1]),
    ],
    ids=["share", "mean", "sd", "quantile", "top share"],
)  # fmt: skip
def test_two_standard_errors_are_what_samples_differ_by(statistic, error):
    samples = np.random.default_rng(5).gamma(2, 1, (SAMPLES, SIZE))
    spread = 2 * np.std([statistic(sample) for sample in samples])
    assert np.mean([error(sample) for sample in samples[:200]]) == pytest.approx(spread, rel=0.1)


def test_numbers_that_are_all_the_same_leave_nothing_to_chance():
    same = np.full(10, 3.0)
    assert chance.mean_error(same) == chance.sd_error(same) == chance.quantile_error(same, 0.5) == 0


def test_few_ratings_of_a_film_do_not_bias_its_bits():
    """Days are uniform over a long time, of which a window covers a 40th: log2 40 bits."""
    draw, films = np.random.default_rng(3), 40 if COMPILED else 12
    rows = [(str(i), str(film), date(2000, 1, 1) + timedelta(int(day)))
            for film in range(films) for i, day in enumerate(draw.integers(0, 1160, 100))]  # fmt: skip
    release = so.read(pl.DataFrame(rows, schema=["user", "item", "time"], orient="row"))
    bits = marginals.date_bits(release, np.arange(films), 14).mean()
    assert bits == pytest.approx(math.log2(40), abs=0.15)


# The command.


def test_the_command_refuses_what_makes_no_sense(run, tmp_path):
    for args, complaint in (
        ((), "--output"),
        (("--check",), "--check needs --like netflix, got --like quick"),
        (("--like", "flat", "--check"), "--check needs --like netflix, got --like flat"),
        (("--like", "netflix", "--check", "--records", 999), "1,000 records at least"),
        (("--like", "netflix", "--check", "-o", tmp_path / "missing" / "made"), "not a folder"),
    ):
        told = run("synthesize", *args)
        assert told.code == 1 and complaint in told.err and told.err.count("\n") == 1
    assert run("synthesize", "--like", "nothing", "-o", tmp_path / "made").code == 2
    assert not [*tmp_path.iterdir()]


def test_a_release_without_structure_is_written_and_told_of(run, tmp_path):
    sizes = ("--records", 60, "--items", 20, "--entries", 200, "--seed", 5, "--json")
    told = json.loads(run("synthesize", "--like", "flat", *sizes, "-o", tmp_path / "made").out)
    release = so.open(tmp_path / "made")
    assert release.fingerprint == told["fingerprint"] and "calibration" not in told
    assert (told["like"], told["seed"], told["output"]) == ("flat", 5, str(tmp_path / "made"))
    assert (told["records"], told["items"], told["entries"]) == (60, 20, 200)
    assert (
        release.fingerprint
        == so.synthesize(like="flat", records=60, items=20, entries=200, seed=5).fingerprint
    )


@pytest.mark.large
def test_the_command_prints_the_table(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    args = ("synthesize", "--like", "netflix", "--records", 1_000, "--seed", 3, "--check", "--nearest", 40)
    release = so.synthesize(like="netflix", records=1_000, seed=3)
    found = so.calibration(release, nearest=40, seed=3)
    told = run(*args)
    assert (told.code, told.err) == (0, "")
    lines = [line.split() for line in told.out.splitlines()]
    assert (
        str(found) in told.out and f"not written: {release.n_entries:,} entries of 1,000 records" in told.out
    )
    for one in found.statistics:
        assert any(line[:-4] == one.statistic.split() and line[-1] == one.verdict for line in lines)
    assert "…" not in told.out and all(len(line) <= 80 for line in told.out.splitlines())
    shown = json.loads(run(*args, "--json", "-o", tmp_path / "made.index").out)
    assert shown["calibration"] == found.table.to_dicts()
    assert shown["fingerprint"] == release.fingerprint == so.open(tmp_path / "made.index").fingerprint
