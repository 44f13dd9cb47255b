"""The paper's figures: each is what the library says, beside the paper's number; runs can be cut short."""

import gzip
import json
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numba
import numpy as np
import polars as pl
import pytest
from tools import paper_tables

import naive
import standout as so
from conftest import content
from standout.core.rng import generator
from standout.evaluate import simulate as simulation
from standout.evaluate.estimates import Estimate
from standout.paper import (
    attack_runner,
    bit_readings,
    data_figures,
    figures_page,
    film_readings,
    neighbour_readings,
    profile_figure,
    readings,
    reproduce,
)
from standout.paper.attack_runner import Lab
from standout.paper.figures import FIGURES, chosen
from standout.paper.item_bits import bits_by_rank, find_qualifying, held_back, qualifying_in
from standout.paper.paper_results import PEOPLE, Setting, bars, neighbours
from standout.paper.rows import Row, row
from standout.release.provenance import Provenance

pytestmark = pytest.mark.once

COMPILED = not numba.config.DISABLE_JIT
BY_KEY = {figure.key: figure for figure in FIGURES}
EXACT = Setting(2, 3, 0.0, 14.0, None, None, "values")
NO_DATES = Setting(2, 3, 0.0, None, None, None, "values")


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=40, items=30, entries=320, seed=3)


@pytest.fixture(scope="module")
def gaps():
    """Entries of which some lack a value or a date."""
    rows = [
        (f"p{person}", f"i{thing}", None if (person + thing) % 7 == 0 else float((person * thing) % 5 + 1),
         None if (person * 3 + thing) % 5 == 0 else f"2005-03-{1 + (person * 7 + thing * 3) % 28:02}")
        for person in range(12) for thing in range(8) if (person * thing + person) % 3
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")
    return so.read(frame.with_columns(pl.col("time").str.to_date()))


# What the paper says


def test_every_bar_of_the_paper_is_there():
    counts = Counter(bar.figure for key in BY_KEY for bar in bars(key))
    assert counts == {"1": 6, "2": 12, "3": 6, "4": 6, "5": 6, "6": 6, "11": 6, "table": 9, "sp10": 10}
    assert {bar.paper for bar in bars("2")} == {0.849, 0.899, 0.963, 0.869, 0.906, 0.936}
    found = dict(neighbours()["sets"])
    assert (found[0.05], found[0.5]) == (0.808, 0.024) and len(neighbours()["ratings"]) == 68


def test_an_attack_of_the_paper_is_an_adversary():
    setting = bars("6")[-1].setting
    assert setting.adversary == so.Adversary(knows=8, wrong=2, value_error=1, time_error=14, length_error=0.5)
    assert (setting.facts, bars("1")[0].setting.facts) == ("6 of 8", "2")
    wrong = bars("sp10")[0].setting.adversary
    assert (wrong.knows, wrong.wrong, wrong.wrong_facts) == (8, 4, "items")
    assert bars("4")[3].setting.adversary.items == so.outside_top(500)


def test_figures_stand_in_the_papers_order_and_know_their_other_number():
    assert [figure.key for figure in FIGURES] == [*map(str, range(1, 13)), "table", "sp10", "imdb"]
    assert BY_KEY["1"].number == "Figure 1 of 2007, Figure 4 of 2008"
    numbers = [figure.number_2008 for figure in FIGURES if figure.number_2008]
    assert sorted(map(int, numbers)) == list(range(1, 13))
    assert all(figure.title and figure.says for figure in FIGURES)
    assert {figure.key for figure in FIGURES if not figure.left_open} == {"table"}


def test_figures_that_are_not_there_are_named():
    assert [figure.key for figure in chosen("12, 1,TABLE")] == ["1", "12", "table"]
    with pytest.raises(so.ParameterError, match="no figure '13'"):
        chosen("1,13")


# When two numbers agree


def spread_of(paper, ours, n, deviation=None):
    """The rule, told once more."""
    if deviation is not None:
        return 1.96 * math.sqrt(deviation**2 / 150 + deviation**2 / n)
    pooled = (150 * paper + n * ours) / (150 + n)
    return 1.96 * math.sqrt(pooled * (1 - pooled) / 150 + pooled * (1 - pooled) / n) + 0.003


@pytest.mark.parametrize("paper", [0.0, 0.017, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("ours", [0.0, 0.04, 0.45, 0.62, 1.0])
@pytest.mark.parametrize("n", [1, 100, 1000])
def test_rates_agree_within_the_error_of_both(paper, ours, n):
    found = Row("", "", "identified", "rate", paper, ours, n=n, tries=150)
    assert found.allowed == pytest.approx(spread_of(paper, ours, n))
    assert found.within_error == (abs(ours - paper) <= spread_of(paper, ours, n))
    assert found.within_goal == (abs(ours - paper) <= 0.1)


@pytest.mark.parametrize(("ours", "goal"), [(14.0, True), (15.1, True), (16.0, False)])
def test_bits_agree_within_the_deviation_of_targets(ours, goal):
    found = Row("", "", "bits_gained", "bits", 14.25, ours, n=1000, spread=3.0, tries=150)
    assert found.allowed == pytest.approx(spread_of(14.25, ours, 1000, 3.0))
    assert found.within_goal == goal


def test_what_is_no_sample_or_not_measured_is_not_judged():
    table = row("", "", "share", "rate", 0.97, Estimate(0.96, 0.96, 0.96, 500))
    assert (table.allowed, table.within_error, table.within_goal, table.low) == (None, None, True, None)
    missing = Row("", "", "identified", "rate", 0.5, None, tries=150, note="too few")
    assert (missing.difference, missing.within_error, missing.within_goal) == (None, None, None)
    assert figures_page.judgement(missing) == "not measured: too few"
    count = Row("", "", "people", "number", 1000.0, 1037.4)
    assert (count.within_goal, figures_page.difference(count), figures_page.judgement(count)) == (
        None,
        "+37",
        "",
    )


# The figures are what the library says


def test_a_figure_of_attacks_is_what_simulations_give(release):
    found = BY_KEY["1"].make(Lab(release, targets=5, seed=4)).rows
    for bar, one in zip(bars("1"), found, strict=True):
        done = so.simulate(release, bar.setting.adversary, targets=5, seed=4, absent=False)
        assert (one.ours, one.paper) == (done.estimate("identified").value, bar.paper)
        assert (one.left_out, one.n) == (done.cells[0].too_few_items, 5)


def test_bits_have_the_deviation_between_targets(release):
    found = BY_KEY["3"].make(Lab(release, targets=5, seed=4)).rows[0]
    done = so.simulate(release, bars("3")[0].setting.adversary, targets=5, seed=4, absent=False)
    assert found.ours == done.estimate("bits_gained").value
    assert found.spread == pytest.approx(done.cells[0].outcomes.bits_left.std(ddof=1))


def test_absent_targets_are_rejected_at_the_papers_phi(release):
    found = BY_KEY["2"].make(Lab(release, targets=4, seed=4)).rows
    done = so.simulate(release, bars("2")[0].setting.adversary, targets=4, seed=4)
    assert found[0].ours == done.estimate("correct_claims", "phi=1.5").value
    assert found[6].ours == done.estimate("absent_rejected", "phi=1.5").value


def test_an_attack_is_run_once_whichever_figures_show_it(release, monkeypatch):
    calls = []

    def counted(*args, **more):
        calls.append(args[1])
        return so.simulate(*args, **more)

    monkeypatch.setattr(attack_runner, "simulate", counted)
    here = Lab(release, targets=3)
    for key in ("1", "3", "6", "11"):
        BY_KEY[key].make(here)
    assert len(calls) == len(set(calls)) == 6 + 6 + 5


def test_what_cannot_be_tried_says_why(release):
    found = BY_KEY["4"].make(Lab(release, targets=3)).rows
    assert all(one.ours is None and "no record can be a target" in one.note for one in found)
    assert all(one.note == "the release has no more than 500 items" for one in BY_KEY["table"].make(
        Lab(release)).rows[3:6])  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), [(2, "no values"), (3, "no dates")])
def test_data_without_values_or_dates_says_so(put, columns, words):
    rows = [(person, thing, 1 + (person + thing) % 5) for person in range(9) for thing in range(4)]
    heads = ("record", "item", "value")[:columns]
    text = "\n".join(",".join(map(str, cells[:columns])) for cells in (heads, *rows)) + "\n"
    here = Lab(so.read(put(text)), targets=2)
    assert {one.note for one in BY_KEY["1"].make(here).rows} == {f"the data has {words}"}
    assert {one.series for one in BY_KEY["12"].make(here).points} == {"ours", "paper"}
    assert not readings.fits(bit_readings.readings_of_bits(here, "3"))
    undated = here.attacked(NO_DATES)
    assert undated == "the data has no values" if columns == 2 else len(undated.cells) == 1


def test_the_table_is_the_descriptions():
    release = so.synthesize(records=60, items=150, entries=1_500, seed=3)
    found = {(one.panel, one.label): one.ours for one in BY_KEY["table"].make(Lab(release)).rows}
    told = so.describe(release).outside_top
    assert found["outside the top 100", "at least 5"] == told[100][5]


def test_nearest_neighbours_are_sparsitys(release):
    found = BY_KEY["12"].make(Lab(release, threads=1))
    ours = {
        point.x: point.y
        for point in found.points
        if (point.series, point.panel) == ("ours", "films with the same rating")
    }
    sparse = so.sparsity(release, so.Within(value=0, time=None))
    assert all(ours[x] == sparse.survival(x).value for x in ours) and len(ours) == 76
    assert found.rows[1].ours == so.sparsity(release).survival(0.1).value


def naive_bits(entries, item, kind, reach):
    """The mean over those who say theirs of −log2 of the share of the others that are near, without bias."""
    own = [cell[kind] for (_, thing), cell in entries.items() if thing == item and cell[kind] is not None]
    told = []
    for known in own:
        near = sum(abs(other - known) <= reach for other in own) - 1
        told.append(sum(1 / k for k in range(near + 1, len(own))) / math.log(2))
    return math.fsum(told) / max(len(told), 1)


@pytest.mark.parametrize("which", ["release", "gaps"])
def test_bits_of_an_item_are_what_it_leaves(which, request):
    release = request.getfixturevalue(which)
    entries, bits = content(release), bits_by_rank(release, 1, 3)
    for place, item in enumerate(release.items):
        at, people = release.rank[place] - 1, release.n_records
        alone = math.log2(people / naive.support(entries)[item])
        assert bits.alone[at] == pytest.approx(alone)
        assert bits.with_value[at] == pytest.approx(alone + naive_bits(entries, item, 0, 1))
        assert bits.with_time[at] == pytest.approx(alone + naive_bits(entries, item, 1, 3))


def test_categories_tell_more_only_if_they_are_the_same(put):
    text = "record,item,value\n" + "".join(f"{i},x,{'ab'[i % 2]}\n" for i in range(8))
    bits = bits_by_rank(so.read(put(text)))
    told = sum(1 / k for k in range(4, 8)) / math.log(2)  # 3 of the 7 others have the same
    assert (bits.alone[0], bits.with_value[0], bits.with_time[0]) == (0.0, pytest.approx(told), 0.0)


def test_people_with_few_ratings_have_few_held_back():
    lengths = np.repeat(np.arange(1, 31), 2_000)
    back = held_back(lengths, seed=1)
    assert (back >= 0).all() and back.max() == 9
    for n in range(1, 31):
        most = min(9, math.floor(0.75 * n + 0.5))
        here = back[lengths == n]
        assert here.max() <= most and abs(here.mean() - most * 2 / 3) < 4 * math.sqrt(most * 2 / 9 / 2_000)
    assert (held_back(lengths, seed=1) == back).all()


@pytest.mark.parametrize("most", ["8", "9"])
def test_people_by_number_of_ratings(release, most):
    found = BY_KEY[most].make(Lab(release))
    ours = {point.x: point.y for point in found.points if point.series == "ours"}
    counts = Counter(release.lengths.tolist())
    assert all(ours[k] == pytest.approx(counts[k] * PEOPLE / 40) for k in ours)
    assert "scaled from 40" in found.notes[0]
    assert any(point.series == "ours with test entries" for point in found.points) == (most == "8")


# Test entries from the contest's own file

FILMS = {
    "mv_0000001.txt": "1:\n6,3,2005-09-06\n7,5,2005-05-13\n007,1,2005-05-14\n",
    "mv_0000002.txt": "2:\n6,4,2005-09-05\n7,2,2004-01-01\n",
}
QUALIFYING = "1:\n6,2005-12-01\n8,2005-12-02\n2:\n6,2005-12-03\n007,2005-12-04\n"


@pytest.fixture
def prize(tmp_path):
    """A folder of the contest."""
    folder = tmp_path / "prize"
    folder.mkdir()
    for name, text in FILMS.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_test_entries_are_counted_by_person(prize, packed):
    path = prize / ("qualifying.txt.gz" if packed else "qualifying.txt")
    path.write_bytes(gzip.compress(QUALIFYING.encode()) if packed else QUALIFYING.encode())
    release = so.read(prize)
    assert find_qualifying(prize) == find_qualifying(prize / "mv_0000001.txt") == path
    counts = dict(zip(release.records, qualifying_in(path, release), strict=True))
    assert counts == {"6": 2, "7": 0, "007": 1}


@pytest.mark.parametrize("text", ["6,2005-12-01\n", "1:\n6 2005-12-01\n", "1:\n,2005-12-01\n", "1:\n\xe9\n"])
def test_a_file_that_is_not_the_contests_is_refused(put, prize, text):
    with pytest.raises(so.SourceError, match=r"line|cannot be read"):
        qualifying_in(put(text, "qualifying.txt"), so.read(prize))


def test_no_file_of_test_entries(prize, tmp_path):
    assert find_qualifying(prize) is None
    with pytest.raises(so.SourceError, match="cannot be read: No such file"):
        qualifying_in(tmp_path / "nothing.txt", so.read(prize))


# Readings


def naive_readings(entries, facts, target, right, value, time):
    """Bits left in the readings BITS[4:12], told with dicts."""
    n, nothing = len(naive.lengths(entries)), math.log2(len(naive.lengths(entries)))
    scores = naive.sums(entries, facts)
    chances = naive.probabilities(scores)
    near = naive.sums(entries, facts, lambda known, entry: naive.within(known, entry, value, time))
    has = {r: [item for item in facts if (r, item) in entries] for r in scores}
    agrees = {r: sum(naive.within(facts[i], entries[r, i], value, time) for i in has[r]) for r in scores}
    some = {r: scores[r] for r in scores if has[r]}
    every = {r: scores[r] for r in scores if len(has[r]) == len(facts)}
    matches = [r for r in scores if agrees[r] == len(facts)]
    enough = [r for r in scores if agrees[r] >= right]
    lineup = {r: chances[r] for r in sorted(some, key=lambda r: -scores[r])[: bit_readings.LINEUP]}
    higher = sum(x > scores[target] + naive.EQUAL for x in scores.values())
    ties = sum(abs(x - scores[target]) <= naive.EQUAL for x in scores.values())
    assert n > len(facts)
    return [
        math.fsum(-p * math.log2(p) for p in chances.values()),
        naive.entropy(naive.probabilities(near), target),
        naive.entropy(naive.probabilities(some), target),
        naive.entropy(naive.probabilities(every), target),
        math.log2(len(matches)) if target in matches else nothing,
        math.log2(len(enough)) if target in enough else nothing,
        -math.log2(lineup[target] / math.fsum(lineup.values())) if target in lineup else nothing,
        math.log2(1 + higher + (ties - 1) / 2),
    ]


@pytest.mark.parametrize("setting", [EXACT, NO_DATES])
def test_readings_of_bits_are_told_with_dicts(release, setting):
    here = Lab(release, targets=6, seed=2, threads=1)
    places = here.cell(setting).places
    known = setting.adversary.observe_all(release, places, here.seed)
    found = bit_readings.bits_left(here, setting, places, known)
    entries = content(release)
    for q, place in enumerate(places):
        aux = known.aux(release, q)
        facts = {
            fact.item: (fact.value, None if fact.time is None else naive.day(fact.time.isoformat()))
            for fact in aux
        }
        told = naive_readings(entries, facts, release.records[place], 2, 0, setting.time_error)
        assert found[:, q] == pytest.approx(told)


def test_the_readings_are_of_the_attacks_own_targets(release):
    here = Lab(release, targets=6, seed=2)
    cell = here.cell(EXACT)
    places = cell.targets
    known = EXACT.adversary.observe_all(release, places, here.seed)
    verdicts = so.ScoreboardRH().attacks(release, known)
    bits = [one.entropy(release.records[place]) for one, place in zip(verdicts, places, strict=True)]
    assert bits == pytest.approx(cell.outcomes.bits_left[:, 0].tolist())


def test_wrong_ratings_may_be_right_if_they_are_drawn_from_all(release):
    here = Lab(release, targets=30, seed=2)
    places = here.cell(NO_DATES).places
    known = NO_DATES.adversary.observe_all(release, places, here.seed)
    true = bit_readings._true_values(release, np.repeat(places, 3), known.item)
    assert np.count_nonzero(known.value != true) == len(places)  # one of three is wrong
    entries = content(release)
    names = [(release.records[place], item) for place in places for item in range(release.n_items)]
    side = {
        (r, release.items[i]): entries[r, release.items[i]][0]
        for r, i in names
        if (r, release.items[i]) in entries
    }
    levels = release.levels.tolist()
    assert [levels[code] for code in true] == [
        side[release.records[places[at // 3]], release.items[item]] for at, item in enumerate(known.item)
    ]
    left = bit_readings._drawn_from_all(here, places, known)
    assert len(left) == len(places) and (left > 0).all()


def test_every_reading_is_worked_out_for_every_bar(release):
    found = bit_readings.readings_of_bits(Lab(release, targets=3, seed=2), "3")
    assert len(found) == 6 * len(bit_readings.BITS)
    assert list(dict.fromkeys(one.reading for one in found)) == list(bit_readings.BITS)
    fits = readings.fits(found)
    first = [one.difference for one in found[:6]]
    assert fits[0].mean == pytest.approx(np.mean(np.abs(first))) and fits[0].cells == 6
    assert fits[0].bias == pytest.approx(np.mean(first)) and fits[0].worst == pytest.approx(
        max(map(abs, first))
    )


def test_readings_of_neighbours_are_sparsitys(release, monkeypatch):
    monkeypatch.setattr(neighbour_readings, "POOLS", (10, 20, 100))
    monkeypatch.setattr(neighbour_readings, "LEASTS", (5, 10_000))
    found = neighbour_readings.readings_of_neighbours(Lab(release, seed=2, threads=1))
    ours = {(one.reading, one.panel, one.label): one.ours for one in found}
    first = so.sparsity(release, over="first")
    assert ours[neighbour_readings.NAMES[1], "sets", "at least 0.30"] == first.survival(0.3).value
    own = so.sparsity(release)
    enough = own.nearest[release.lengths >= 5]
    assert ours[neighbour_readings.NAMES[5], "sets", "at least 0.30"] == (enough >= 0.3).mean()
    assert len({one.reading for one in found}) == 5  # no pool of 100, nobody with 10,000
    pool = ours[neighbour_readings.NAMES[2], "sets", "at least 0.30"]
    assert pool * 10 == pytest.approx(round(pool * 10))


# Whole runs

SMALL = {"targets": 3, "seed": 1, "threads": 1}


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "work" not in path.parts
    }


def test_the_same_seed_gives_the_same_bytes(release, tmp_path):
    done = so.reproduce(release, tmp_path / "a", only="1,7,table", **SMALL)
    so.reproduce(release, tmp_path / "b", only="1,7,table", **SMALL)
    found = files_of(tmp_path / "a")
    assert found == files_of(tmp_path / "b")
    names = {str(name) for name in found}
    assert {f"figures/{key}.{end}" for key in ("1", "7", "table") for end in ("csv", "svg", "png")} < names
    assert {"index.html", "validation.csv", "readings.csv"} < names
    assert done.complete and repr(done) == "<Reproduction: 3 figures on 40 records>"
    table = pl.read_csv(tmp_path / "a" / "validation.csv", schema_overrides=done.table.schema)
    assert table["ours"].to_list() == pytest.approx(done.table["ours"].to_list(), nan_ok=True)
    assert table.height == 6 + 2 + 9 and (tmp_path / "a" / "work").stat().st_mode & 0o777 == 0o700


def test_a_figure_that_is_done_is_not_done_again(release, tmp_path, monkeypatch):
    so.reproduce(release, tmp_path, only="table", **SMALL)
    monkeypatch.setattr(data_figures, "outside_top", lambda release: pytest.fail("done before"))
    done = so.reproduce(release, tmp_path, only="7", **SMALL)
    assert set(done.results) == {"7", "table"}  # the page shows both
    assert "Figure 7" in done.page.read_text() and "Table" in done.page.read_text()


def test_other_settings_are_other_figures(release, tmp_path):
    so.reproduce(release, tmp_path, only="1", **SMALL)
    done = so.reproduce(release, tmp_path, only="7", **SMALL | {"seed": 2})
    assert set(done.results) == {"7"}
    assert not (tmp_path / "figures" / "1.svg").exists()


def test_a_run_that_is_cut_short_keeps_what_is_done_and_goes_on(release, tmp_path, monkeypatch):
    whole = so.reproduce(release, tmp_path / "whole", only="1,6", **SMALL)
    original, calls = simulation.tried, []

    def stopped(*args, **more):
        calls.append(1)
        if len(calls) == 9:  # in the middle of Figure 6
            raise KeyboardInterrupt
        return original(*args, **more)

    monkeypatch.setattr(simulation, "tried", stopped)
    done = so.reproduce(release, tmp_path / "cut", only="1,6", **SMALL)
    assert (done.complete, set(done.results)) == (False, {"1"})
    assert "cut short" in done.page.read_text() and "cut short" in repr(done)
    again = so.reproduce(release, tmp_path / "cut", only="1,6", **SMALL)
    assert again.complete and len(calls) == 9 + 4  # 6 of Figure 1 and 2 of Figure 6 were kept
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")
    assert again.rows == whole.rows


def test_progress_is_of_all_figures_together(release, tmp_path):
    told = []
    so.reproduce(release, tmp_path, only="1,10", **SMALL, progress=lambda *said: told.append(said))
    assert {stage for stage, _, _ in told} == {"the paper's figures"} and len(
        {total for *_, total in told}
    ) == 1
    done = [reached for _, reached, _ in told]
    assert done == sorted(done) and done[-1] == told[-1][2]


@pytest.mark.large
def test_everything_at_once(release, tmp_path):
    done = so.reproduce(release, tmp_path, **SMALL)
    assert set(done.results) == set(BY_KEY) and done.complete
    assert {fit.figure for fit in done.fits} == {"3", "12", "sp10"}  # Figure 5's cannot be tried here
    assert done.summary.startswith("Of 42 numbers of attacks")
    text = done.page.read_text()
    assert all(f'id="figure-{key}"' in text for key in BY_KEY) and 'id="readings"' in text
    assert (tmp_path / "readings.csv").read_text().count("\n") == 1 + len(done.readings)


class Page(HTMLParser):
    """What a browser would have to fetch or run, and what stands where."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.asked, self.ids, self.policy = Counter(), [], Counter(), ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        self.tags[tag] += 1
        self.ids.update([told["id"]] if "id" in told else [])
        self.asked += [told[name] for name in ("src", "srcset", "data", "poster", "action") if name in told]
        self.asked += [told["href"]] if tag == "link" else []
        assert not any(name.startswith("on") or name == "style" for name in told)
        if told.get("http-equiv") == "Content-Security-Policy":
            self.policy = told["content"]


def test_the_page_asks_for_nothing_and_runs_nothing(release, tmp_path):
    text = so.reproduce(release, tmp_path, only="1,3,7,10,table", **SMALL).page.read_text()
    seen = Page(text)
    assert not seen.asked and not seen.tags.keys() & {"script", "iframe", "object", "embed", "img", "link"}
    assert "default-src 'none'" in seen.policy and "unsafe" not in seen.policy
    assert seen.tags["svg"] == 5 and seen.tags["table"] >= 5 and max(seen.ids.values()) == 1
    assert set(re.findall(r"(?:url\(|https?://)[^\s\"')]*", text)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # fmt: skip
    for link in re.findall(r'href="#([^"]*)"', text):
        assert link in seen.ids
    for link in re.findall(r'href="([^#"][^"]*)"', text):
        assert (tmp_path / link).is_file()


def test_what_comes_from_data_is_text_on_the_page(put, tmp_path):
    path = put("record,item,value\n1,a,1\n2,b,2\n", "<script>alert(1)</script>.csv".replace("/", "_"))
    text = so.reproduce(so.read(path), tmp_path, only="table", **SMALL).page.read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text


def test_whose_data_it_is_is_said(release, prize):
    assert "calibrated on nothing" in figures_page.source(release)
    assert "user's own" in figures_page.source(so.read(prize))
    like = Provenance("synthetic", settings={"like": "netflix", "seed": "1"})
    assert "not used to tune" in figures_page.source(replace(release, provenance=like))


@pytest.mark.parametrize("wrong", [{"targets": 0}, {"seed": -1}, {"only": "nothing"}, {"threads": 0}])
def test_wrong_settings_are_refused(release, tmp_path, wrong):
    with pytest.raises(so.ParameterError):
        so.reproduce(release, tmp_path, **{"only": "1", "targets": 2} | wrong)


def test_a_place_that_is_no_folder_is_refused(release, put):
    path = put("x")
    for place in (path, path / "inside"):
        with pytest.raises(so.StandoutError, match="cannot create the folder"):
            so.reproduce(release, place, only="table")


# The command


def test_the_command_prints_and_writes(run, prize, tmp_path):
    (prize / "qualifying.txt").write_text(QUALIFYING)
    told = run("paper", "--data", prize, "--only", "7,table", "--targets", 2, "-o", tmp_path / "out")
    assert (told.code, told.err) == (0, "")
    assert "Figure 7: Test entries of a person" in told.out and "most of any person" in told.out
    assert str(tmp_path / "out" / "index.html") in told.out and "user's own" in told.out
    assert "people,2,1.0" in (tmp_path / "out" / "figures" / "7.csv").read_text()
    assert "Counted from the qualifying file" in (tmp_path / "out" / "index.html").read_text()


def test_the_command_for_machines(run, release, tmp_path):
    so.save(release, tmp_path / "people.index")
    args = (
        "paper",
        "--data",
        tmp_path / "people.index",
        "--only",
        "1",
        "--targets",
        3,
        "-o",
        tmp_path / "out",
    )
    told = json.loads(run(*args, "--threads", 1, "--json").out)
    assert told["complete"] and [one["paper"] for one in told["table"]] == [bar.paper for bar in bars("1")]
    assert told["fingerprint"] == release.fingerprint and told["targets"] == 3
    same = json.loads(run(*args, "--json").out)
    assert same == told


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--only", "13"], "there is no figure '13': there are 1, 2"),
        (["--data", "nowhere.csv"], "nowhere.csv"),
        (["--data", "nowhere.csv", "--records", "1000"], "--records is for the stand-in"),
        (["--seed", "-1"], "seed must be"),
    ],
)
def test_errors_are_one_line(run, tmp_path, args, words):
    told = run("paper", *args, "-o", tmp_path / "out")
    assert told.code == 1 and words in told.err and told.err.count("\n") == 1
    assert told.err.startswith("standout: ")


def test_a_file_in_the_way_is_an_error_in_one_line(run, put):
    told = run("paper", "--only", "table", "-o", put("x"))
    assert told.code == 1 and told.err.count("\n") == 1 and "cannot create the folder" in told.err


@pytest.mark.large
def test_a_stand_in_is_made_once(run, tmp_path, monkeypatch):
    args = ("paper", "--records", 1000, "--only", "7", "-o", tmp_path / "out")
    told = run(*args)
    assert (told.code, told.err) == (0, "") and "stand-in" in told.out
    assert len(list((tmp_path / "out").glob("standin-1000-0-*.index"))) == 1
    monkeypatch.setattr("standout.paper.standin.synthesize", lambda **more: pytest.fail("made before"))
    assert run(*args).out == told.out


def test_a_command_that_is_cut_short_says_how_to_go_on(run, release, tmp_path, monkeypatch):
    so.save(release, tmp_path / "people.index")

    def stopped(*args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "tried", stopped)
    told = run("paper", "--data", tmp_path / "people.index", "--only", "1,7", "-o", tmp_path / "out")
    assert told.code == 3 and "run the same command again to resume" in told.out


def test_profiles_stand_out_as_direct_attacks_say(release, monkeypatch):
    setting = Setting(4, 4, 1.0, 14.0, None, None, "values")
    monkeypatch.setattr(profile_figure, "PROFILES", {"some": setting})
    found = profile_figure.profiles(Lab(release, targets=10, seed=2))
    adversary = setting.adversary
    order = generator(2, "targets").permutation(release.n_records)
    places = order[adversary.eligible(release, order)][:10]
    there, gone = [], []
    for place in places.tolist():
        name = release.records[place]
        aux = adversary.observe(release, name, seed=2)
        there.append(so.ScoreboardRH().attack(release, aux).eccentricity)
        gone.append(so.ScoreboardRH().attack(release, aux, exclude=name).eccentricity)
    assert [one.ours for one in found.rows] == pytest.approx(
        [np.median(there), np.quantile(there, 0.1), np.median(gone), np.quantile(gone, 0.9)], rel=1e-4
    )
    shares = {(point.series, point.x): point.y for point in found.points}
    assert shares["there", 0] == 1.0 and shares["not there", 60] == 0.0
    lacking = profile_figure.profiles(Lab(so.read(release.to_frame().drop("time")), targets=5))
    assert [one.note for one in lacking.rows] == ["the data has no dates"] and not lacking.points


def test_films_that_the_data_does_not_have_leave_the_right_facts(release):
    here = Lab(release, targets=12, seed=2)
    found = film_readings.readings_of_films(here)
    assert [one.reading for one in found] == [name for name in film_readings.FILMS for _ in range(5)]
    ours = {(one.reading, one.label): one.ours for one in found}
    adversary = so.Adversary(knows=4, value_error=1, time_error=14)
    alone = so.simulate(release, adversary, targets=12, absent=False, seed=2).estimate("identified").value
    assert ours["films that the data does not have", "4 of 8"] == alone
    for one, other in zip(found[:5], found[5:10], strict=True):
        assert one.paper == other.paper and one.label == other.label


def test_readings_are_of_figures():
    assert set(reproduce.READINGS) <= set(BY_KEY)


# The numbers of docs/paper.md


@pytest.mark.large
def test_the_tables_of_the_docs_are_written_between_their_marks(release, tmp_path):
    done = so.reproduce(release, tmp_path / "out", only="1,3,12,table", **SMALL)
    text = paper_tables.PAGE.read_text(encoding="utf-8")
    copy = tmp_path / "paper.md"
    copy.write_text(text, encoding="utf-8")
    for _ in range(2):  # writing twice is writing once
        paper_tables.main(tmp_path / "out", copy)
        found = copy.read_text(encoding="utf-8")
    assert done.summary in found and release.fingerprint in found
    first = done.results["1"].rows[0]
    columns = (figures_page.interval, figures_page.difference, figures_page.judgement)
    cells = " | ".join(column(first) for column in columns)
    assert f"| 1 (4) | {first.panel}, {first.label} | 0.436 | {first.ours:.3f} | {cells} |" in found
    assert found.count("| table | outside") == 9 and found.count("| Figure 3 | ") == 1
    assert f"| {done.fits[0].reading} | {done.fits[0].mean:.2f} | " in found
    missed = sum(row.within_goal is False for figure, row in done.rows if figure.attacks)
    assert f"0.10 or 1 bit from the paper's are {missed} of 12" in found
    assert [line for line in found.splitlines() if line.startswith("## ")] == [
        line for line in text.splitlines() if line.startswith("## ")
    ]


def test_a_page_without_marks_is_named(release, tmp_path):
    so.reproduce(release, tmp_path / "out", only="table", **SMALL)
    (tmp_path / "other.md").write_text("nothing")
    with pytest.raises(SystemExit, match=r"other\.md has no place for run"):
        paper_tables.main(tmp_path / "out", tmp_path / "other.md")
