"""Sanitizing: every step against its laws and its slow twin, and the terms in which the original is told."""

import math
from collections import Counter, defaultdict
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from conftest import content
from standout.facts import facts_from_entries
from standout.release.flat_arrays import release_columns
from standout.sanitized import Bins, Period
from standout.sanitizing.step_parser import STEPS

FIXED = [
    "round-time day", "round-time week", "round-time month", "round-time quarter", "round-time year",
    "round-time 30 days", "round-time none", "round-value bins 2", "round-value bins 3",
    "round-value edges 2 4", "round-value liked 4", "round-value none", "drop-rare-items 3",
    "drop-top-items 2", "drop-items 3 4",
]  # fmt: skip
DRAWN = [
    "perturb-time 14 1", "perturb-time 3 0.5", "perturb-value 1 0.5", "perturb-value none 1",
    "randomized-response 1", "randomized-response 2 items", "drop-entries 0.25", "cap-records 3",
    "sample-records 0.5", "sample-records 7",
]  # fmt: skip
OTHERS = ["cluster-records 3", "km-suppress 3 1", "km-suppress 3 2", "km-suppress 2 3"]
ALL = FIXED + DRAWN + OTHERS
START = date(2005, 2, 25)


def table(rows, values="number", times=True):
    """A release of rows (record, item, value, time)."""
    schema = {"record": pl.String, "item": pl.String}
    schema |= {"value": pl.Float64 if values == "number" else pl.String} if values else {}
    schema |= {"time": pl.Date} if times else {}
    cells = [row[:2] + row[2:3] * bool(values) + row[3:] * times for row in rows]
    return so.read(pl.DataFrame(cells, schema=schema, orient="row"), value_type=values or "auto")


def drawn_rows(seed, records=14, items=8, share=0.5, levels=(1.0, 2.0, 3.5, 4.0, 5.0)):
    draw = np.random.default_rng(seed)
    for r in range(records):
        for i in range(items):
            if draw.random() < share + (i == r % items):
                value = None if draw.random() < 0.1 else levels[draw.integers(len(levels))]
                time = None if draw.random() < 0.1 else START + timedelta(int(draw.integers(400)))
                yield f"r{r}", str(i + 1), value, time


@pytest.fixture(scope="module")
def release():
    return table(list(drawn_rows(1)))


@pytest.fixture(scope="module")
def standin():
    return so.synthesize(like="netflix", records=400, seed=5)


@st.composite
def releases(draw, least=2):
    cells = draw(
        st.dictionaries(
            st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("123456")),
            st.tuples(
                st.sampled_from([1.0, 2.0, 3.0, 4.5, None]),
                st.sampled_from([START + timedelta(days) for days in (0, 3, 40, 200, 700)] + [None]),
            ),
            min_size=least,
        )
    )
    return table([(*cell, *entry) for cell, entry in cells.items()])


def supports(entries):
    having = defaultdict(set)
    for record, item in entries:
        having[record].add(item)
    return having


def days(when):
    return (when - date(1970, 1, 1)).days


# ----------------------------------------------------------------- laws of all steps


@pytest.mark.parametrize("words", ALL)
def test_the_output_is_what_its_entries_alone_would_be_read_as(release, words):
    made = so.sanitize(release, words, seed=3)
    again = so.read(made.to_frame(), value_type="auto")
    assert made.fingerprint == again.fingerprint
    ours, theirs = release_columns(made), release_columns(again)
    assert ours.keys() == theirs.keys()
    assert all(ours[name].dtype == theirs[name].dtype for name in ours)
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    told, read = made.provenance, again.provenance
    assert (told.without_value, told.without_time) == (read.without_value, read.without_time)


@pytest.mark.parametrize("words", ALL)
def test_the_input_stays_as_it_is_and_the_same_seed_gives_the_same(release, words):
    before = content(release)
    first, second = (so.sanitize(release, words, seed=9, threads=threads) for threads in (1, 2))
    assert content(release) == before
    assert content(first) == content(second)
    assert first.step_reports == second.step_reports
    assert first.original is release


@pytest.mark.large
@pytest.mark.parametrize("words", DRAWN)
def test_another_seed_gives_another_release(standin, words):
    first, second = (so.sanitize(standin, words, seed=seed) for seed in (1, 2))
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize("words", ALL)
def test_the_order_of_rows_does_not_matter(words):
    rows = list(drawn_rows(4))
    mixed = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    first, second = (so.sanitize(table(each), words, seed=3) for each in (rows, mixed))
    assert first.fingerprint == second.fingerprint


@pytest.mark.parametrize(
    "words", ["perturb-time 14 1", "drop-entries 0.25", "cap-records 3", "perturb-value 1 0.5"]
)
def test_what_is_drawn_for_a_record_depends_on_nobody_else(words):
    rows = list(drawn_rows(4))
    both = [row for row in rows if row[0] in ("r1", "r3")]
    levels = [("x", "9", value, START) for value in (1.0, 2.0, 3.5, 4.0, 5.0)]
    levels = [("x", str(i), *row[2:]) for i, row in enumerate(levels)]
    whole, part = (content(so.sanitize(table([*each, *levels]), words, seed=3)) for each in (rows, both))
    assert {cell: entry for cell, entry in whole.items() if cell[0] in ("r1", "r3")} == {
        cell: entry for cell, entry in part.items() if cell[0] != "x"
    }


def test_two_calls_with_one_seed_are_one():
    release = table(list(drawn_rows(6, records=30)))
    steps = ["drop-entries 0.2", "perturb-value 1 0.5", "round-time month", "drop-entries 0.2"]
    once = so.sanitize(release, *steps, seed=4)
    twice = so.sanitize(so.sanitize(release, *steps[:2], seed=4), *steps[2:], seed=4)
    assert once.fingerprint == twice.fingerprint
    assert once.step_reports == twice.step_reports
    assert twice.original is release
    assert_same_terms(once, twice)


def test_a_step_that_comes_twice_draws_anew():
    release = table([(f"r{r}", str(i), 1.0, START) for r in range(40) for i in range(30)])
    made = so.sanitize(release, "drop-entries 0.5", "drop-entries 0.5", seed=4)
    assert abs(made.n_entries - 300) < 5 * math.sqrt(1200 * 3 / 16)


def assert_same_terms(one, other):
    assert np.array_equal(one.mapping.representatives, other.mapping.representatives)
    assert np.array_equal(one.mapping.item_codes, other.mapping.item_codes)
    assert one.mapping.released_values == other.mapping.released_values
    assert one.mapping.rounding_periods == other.mapping.rounding_periods


@pytest.mark.once
@pytest.mark.parametrize("words", ALL)
def test_words_come_back_as_they_were(words):
    assert str(so.step(words)) == words
    assert so.step(str(so.step(words))) == so.step(words)


@pytest.mark.once
@pytest.mark.parametrize(
    "step",
    [
        so.PerturbValue(None, 0.125), so.PerturbTime(0.1, 1e-9), so.RoundValue(edges=(-1.5, 1e-7, 1e22)),
        so.DropItems(("@home", "it's", "a b", "none")), so.DropItems(file="my list.txt"),
        so.SampleRecords(0.999), so.RandomizedResponse(0.1, items=True), so.RoundTime(days=1),
        so.KmSuppress(5), so.DropItems("17"),
    ],
    ids=str,
)  # fmt: skip
def test_odd_parameters_come_back_too(step):
    assert so.step(str(step)) == step


@pytest.mark.once
@pytest.mark.parametrize(
    "words",
    [
        "", "'", "nothing 3", "round-time", "round-time fortnight", "round-time 0 days",
        "round-time 1.5 days", "round-time 99999 days", "perturb-time -3", "perturb-time nan",
        "perturb-time 3 2", "perturb-time 3 0", "perturb-value 0", "perturb-value x", "perturb-value inf",
        "perturb-value 1 1 1", "round-value", "round-value bins", "round-value bins 1.5",
        "round-value bins 0", "round-value edges", "round-value edges 3 2", "round-value edges nan",
        "round-value liked", "round-value some", "drop-rare-items", "drop-rare-items 0",
        "drop-rare-items 2.5", "drop-rare-items 3 4", "drop-top-items 0", "drop-items", "drop-entries 1",
        "drop-entries 0", "cap-records 0", "sample-records 0", "sample-records 1.0",
        "sample-records 0.1 3", "cluster-records 1", "cluster-records 100000", "km-suppress 1",
        "km-suppress 3 4", "randomized-response 0", "randomized-response", "randomized-response 1 values",
        "randomized-response 1000", f"perturb-value {'9' * 400}", f"perturb-time {'9' * 400}",
        f"drop-entries {'9' * 400}", f"randomized-response {'9' * 400}", f"round-value edges {'9' * 400}",
        "round-value bins 999999999999",
    ],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused_in_one_line(words):
    with pytest.raises(so.ParameterError) as caught:
        so.step(words)
    assert "\n" not in str(caught.value)


@pytest.mark.once
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: so.RoundTime("month", 3), lambda: so.RoundValue(bins=2, to="none"),
        lambda: so.RoundValue(to="x"), lambda: so.SampleRecords(), lambda: so.SampleRecords(0.1, 3),
        lambda: so.DropItems(("a",), "b"), lambda: so.DropItems((3,)), lambda: so.PerturbValue(True),
        lambda: so.RoundValue(edges=3), lambda: so.DropRareItems(True), lambda: so.step(3),
        lambda: so.RandomizedResponse("1"), lambda: so.DropItems(None), lambda: so.DropItems(3),
        lambda: so.RoundValue(bins=10**30), lambda: so.RoundValue(liked_from=-(10**400)),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(so.ParameterError):
        wrong()


@pytest.mark.once
def test_every_step_says_how_it_is_written():
    assert {kind.name for kind in STEPS} == {words.split()[0] for words in ALL}
    assert all(kind.syntax and kind.summary and kind.__doc__ for kind in STEPS)
    for kind in STEPS:
        assert getattr(so, kind.__name__) is kind


def test_what_is_not_a_step_is_refused(release):
    with pytest.raises(so.ParameterError, match="a step must be a Step"):
        so.sanitize(release, 3)
    with pytest.raises(so.ParameterError, match="seed"):
        so.sanitize(release, seed=-1)
    assert so.sanitize(release).fingerprint == release.fingerprint


def test_without_a_seed_nobody_can_undo_it(release):
    """The command's law holds in Python: a seed that everybody knows would give ids and noise away."""
    first, second = (so.sanitize(release, "perturb-value none", renumber=True) for _ in range(2))
    assert not np.array_equal(first.mapping.representatives, second.mapping.representatives)
    assert content(first) != content(second)


def test_counts_say_what_is_there(release):
    made = so.sanitize(release, "drop-rare-items 3", "cluster-records 3")
    first, second = (done.counts for done in made.step_reports)
    assert (first["records before"], first["entries before"]) == (release.n_records, release.n_entries)
    assert all(first[name] == second[f"{name} before"] for name in ("records", "items", "entries"))
    assert (second["records"], second["items"], second["entries"]) == (
        made.n_records, made.n_items, made.n_entries,
    )  # fmt: skip


# ----------------------------------------------------------------- times


def first_day(when, name, count=1):
    """The twin of Period.start."""
    if name == "week":
        return when - timedelta(days=when.weekday())
    if name == "day":
        return when - timedelta(days=days(when) % count)
    size = {"month": 1, "quarter": 3, "year": 12}[name]
    return when.replace(month=(when.month - 1) // size * size + 1, day=1)


@given(releases(), st.sampled_from(["day", "week", "month", "quarter", "year", 30, 7]))
def test_times_are_rounded_down_to_their_period(release, to):
    step = so.RoundTime(to) if isinstance(to, str) else so.RoundTime(days=to)
    if release.time_range is None:
        with pytest.raises(so.ParameterError, match="has no times"):
            so.sanitize(release, step)
        return
    made = so.sanitize(release, step)
    name, count = (to, 1) if isinstance(to, str) else ("day", to)
    twin = {
        cell: (
            value,
            time if time is None else days(first_day(date(1970, 1, 1) + timedelta(time), name, count)),
        )
        for cell, (value, time) in content(release).items()
    }
    assert content(made) == twin
    changed = sum(twin[cell] != entry for cell, entry in content(release).items())
    assert made.step_reports[0].counts["times changed"] == changed


def test_hours_become_days_when_they_are_rounded():
    frame = pl.DataFrame(
        {
            "record": ["a", "a", "b", "b"],
            "item": ["1", "2", "1", "2"],
            "time": ["2005-03-31 23:30", "2005-04-01 00:10", None, "1969-12-31 10:00"],
        }
    )
    release = so.read(frame, time_unit="hour")
    made = so.sanitize(release, "round-time month")
    assert [entry.time for entry in made.record("a").entries] == [date(2005, 3, 1), date(2005, 4, 1)]
    assert [entry.time for entry in made.record("b").entries] == [None, date(1969, 12, 1)]
    assert made.clock.unit == "day"
    assert made.fingerprint == so.read(made.to_frame()).fingerprint
    assert_told_is_released(made)


def test_without_times_there_are_none(release):
    made = so.sanitize(release, "round-time none")
    assert made.clock is None
    assert {cell: (value, None) for cell, (value, _) in content(release).items()} == content(made)


@pytest.mark.large
@pytest.mark.parametrize("probability", [1.0, 0.4])
def test_moved_times_are_uniform_within_their_reach(standin, probability):
    made = so.sanitize(standin, so.PerturbTime(5, probability), seed=2)
    old, new = content(standin), content(made)
    assert old.keys() == new.keys()
    assert all(old[cell][0] == new[cell][0] for cell in old)
    moved = Counter(new[cell][1] - old[cell][1] for cell in old)
    assert set(moved) == set(range(-5, 6))
    n = len(old)
    for by, count in moved.items():
        share = probability / 11 + (by == 0) * (1 - probability)
        assert abs(count - n * share) < 5 * math.sqrt(n * share * (1 - share))
    counts = made.step_reports[0].counts
    assert counts["times changed"] == n - moved[0]
    assert made.span > standin.span


def test_a_time_that_is_missing_stays_missing_and_the_clock_grows():
    release = table([("a", "1", 1.0, None), ("b", "1", 2.0, START), ("b", "2", 2.0, START)])
    seen = set()
    for seed in range(40):
        made = so.sanitize(release, "perturb-time 2", seed=seed)
        assert made.record("a").entries[0].time is None
        seen |= {entry.time for entry in made.record("b").entries}
    assert seen == {START + timedelta(by) for by in range(-2, 3)}


def test_half_a_day_is_no_reach_for_days_but_for_hours():
    release = table([("a", "1", 1.0, START)])
    with pytest.raises(so.ParameterError, match=r"times by day, so days must be larger than 0\.5"):
        so.sanitize(release, so.PerturbTime(0.5))
    hourly = so.read(release.to_frame(), time_unit="hour")
    moved = {so.sanitize(hourly, so.PerturbTime(0.5), seed=seed).clock.origin for seed in range(60)}
    assert max(moved) - hourly.clock.origin <= 12
    assert len(moved) > 12


def test_times_do_not_leave_the_calendar():
    release = table([("a", "1", 1.0, date(9999, 12, 30))])
    with pytest.raises(so.ParameterError, match="would leave the calendar"):
        so.sanitize(release, "perturb-time 30")


# ----------------------------------------------------------------- values


def binned(values, edges):
    """The twin of explicit bins: {level: what it is told by}."""
    groups = defaultdict(list)
    for value in values:
        groups[sum(value >= edge for edge in edges)].append(value)
    return {value: math.fsum(group) / len(group) for group in groups.values() for value in group}


def equal_edges(values, bins):
    """The twin of bins with about as many entries: cut where the share below is nearest to i / bins."""
    levels = sorted(set(values))
    cuts = set()
    for i in range(1, bins):
        goal = len(values) * i / bins
        cuts.add(min(levels[1:], key=lambda cut: abs(sum(v < cut for v in values) - goal), default=None))
    return sorted(cuts - {None})


@given(releases(), st.sampled_from([{"bins": 1}, {"bins": 2}, {"bins": 3}, {"bins": 9}, {"edges": (2, 4)}]))
def test_values_are_told_by_the_mean_of_their_bin(release, way):
    values = [value for value, _ in content(release).values() if value is not None]
    if not values:
        return
    made = so.sanitize(release, so.RoundValue(**way))
    edges = way.get("edges") or equal_edges(values, way["bins"])
    told = binned(values, edges)
    seen, wanted = content(made), content(release)
    for cell, (value, time) in wanted.items():
        assert seen[cell][1] == time
        assert seen[cell][0] == (None if value is None else pytest.approx(told[value], abs=1e-12))
    assert math.fsum(values) == pytest.approx(math.fsum(v for v, _ in seen.values() if v is not None))


def test_liked_is_one_and_disliked_nought(release):
    made = so.sanitize(release, so.RoundValue(liked_from=4))
    old, new = content(release), content(made)
    assert all(new[cell][0] == (None if old[cell][0] is None else float(old[cell][0] >= 4)) for cell in old)


def test_categories_have_no_bins_and_no_distance_but_can_be_dropped_or_exchanged():
    rows = [(f"r{i}", str(i % 3), "xyz"[i % 3], START) for i in range(60)]
    release = table(rows, "text")
    for words in ("round-value bins 2", "round-value liked 3", "round-value edges 1", "perturb-value 1"):
        with pytest.raises(so.ParameterError, match="categories"):
            so.sanitize(release, words)
    assert so.sanitize(release, "round-value none").levels is None
    made = so.sanitize(release, "perturb-value none", seed=1)
    assert all(content(made)[cell][0] != entry[0] for cell, entry in content(release).items())
    assert made.mapping.released_values == ("x", "y", "z")


@pytest.mark.large
@pytest.mark.parametrize("probability", [1.0, 0.3])
def test_another_value_is_near_and_all_alike(standin, probability):
    made = so.sanitize(standin, so.PerturbValue(1, probability), seed=2)
    old, new = content(standin), content(made)
    moves = Counter((old[cell][0], new[cell][0]) for cell in old)
    totals = Counter(value for value, _ in old.values())
    assert all(old[cell][1] == new[cell][1] for cell in old)
    for value, n in totals.items():
        near = [other for other in totals if other != value and abs(other - value) <= 1]
        for other in totals:
            share = 1 - probability if other == value else probability / len(near) if other in near else 0
            assert abs(moves[value, other] - n * share) <= 5 * math.sqrt(n * share * (1 - share))


def test_a_value_with_no_other_near_it_stays():
    values = {"a": 0.3, "b": 0.4, "c": 5.0, "d": None}
    release = table([(record, "1", value, START) for record, value in values.items()])
    made = so.sanitize(release, so.PerturbValue(0.1), seed=1)
    found = {record: value for (record, _), (value, _) in content(made).items()}
    assert found == {"a": 0.4, "b": 0.3, "c": 5.0, "d": None}


def test_a_bin_that_nothing_lies_in_is_part_of_the_one_below():
    release = table([("a", "1", 1.0, START), ("b", "1", 4.5, START)])
    made = so.sanitize(release, so.RoundValue(edges=(2, 3, 4)))
    assert made.step_reports[0].bins == Bins((4,), (1, 4.5))
    assert made.step_reports[0].bins.bin_values([3.9, 4.0]) == (1, 4.5)


@pytest.mark.large
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_randomised_response_keeps_and_exchanges_as_often_as_its_epsilon_says(standin, epsilon):
    made = so.sanitize(standin, so.RandomizedResponse(epsilon), seed=8)
    old, new = content(standin), content(made)
    moves = Counter((old[cell][0], new[cell][0]) for cell in old)
    totals = Counter(value for value, _ in old.values())
    levels = len(totals)
    for value, n in totals.items():
        for other in totals:
            share = (math.exp(epsilon) if other == value else 1) / (math.exp(epsilon) + levels - 1)
            assert abs(moves[value, other] - n * share) < 5 * math.sqrt(n * share * (1 - share))
    assert made.step_reports[0].counts["epsilon of a value"] == epsilon


def test_randomised_response_tells_nothing_of_what_was_drawn():
    """Counts are published: from how many values did change, who knows all others would learn the last."""
    told = set()
    for value in (1.0, 2.0):
        release = table([("a", "1", value, START), ("b", "1", 1.0, START), ("c", "1", 2.0, START)])
        for seed in range(20):
            told.add(str(so.sanitize(release, "randomized-response 1", seed=seed).step_reports))
    assert len(told) == 1


def test_randomised_response_on_items_flips_every_cell_as_often(release):
    rows = [(f"r{r}", str(i), 1.0, START) for r in range(120) for i in range(50) if (r * i) % 7 < 2]
    release = table(rows)
    made = so.sanitize(release, so.RandomizedResponse(1.5, items=True), seed=3)
    assert made.levels is None
    assert made.clock is None
    old, new = set(content(release)), set(content(made))
    cells, flips = release.n_records * release.n_items, 1 / (1 + math.exp(1.5))
    for there, flipped in ((len(old), len(old - new)), (cells - len(old), len(new - old))):
        assert abs(flipped - there * flips) < 5 * math.sqrt(there * flips * (1 - flips))
    assert made.step_reports[0].counts["false entries"] == len(new - old)
    assert made.mapping.released_values == (None,)


def test_randomised_response_on_too_many_cells_is_refused(monkeypatch, release):
    monkeypatch.setattr("standout.sanitizing.randomized_response.MOST_ENTRIES", 50)
    with pytest.raises(so.ParameterError, match="entries would be released"):
        so.sanitize(release, "randomized-response 0.1 items")


# ----------------------------------------------------------------- what is left out


@given(releases(), st.integers(1, 4))
def test_rare_and_top_items_go_and_nothing_else(release, k):
    entries = content(release)
    support = Counter(item for _, item in entries)
    order = sorted(support, key=lambda item: (-support[item], len(item), item))
    for step, kept in (
        (so.DropRareItems(k), {item for item in support if support[item] >= k}),
        (so.DropTopItems(k), set(order[k:])),
    ):
        wanted = {cell: entry for cell, entry in entries.items() if cell[1] in kept}
        if wanted:
            made = so.sanitize(release, step)
            assert content(made) == wanted
            lost = {record for record, _ in entries} - {record for record, _ in wanted}
            assert {release.records[i] for i in np.flatnonzero(made.mapping.representatives < 0)} == lost
        else:
            with pytest.raises(so.ParameterError, match="nothing would be left"):
                so.sanitize(release, step)


def test_listed_items_go_by_id_title_or_file(put):
    titles = put("item,title\n1,Brazil (1985)\n2,Bent (1996)\n3,Bent (1997)\n4,Cube (1997)\n", "titles.csv")
    rows = "record,item\n" + "".join(f"r{r},{i}\n" for r in range(3) for i in range(1, 5))
    release = so.read(put(rows), titles=titles)
    listed = put("# sensitive\n\nBent\tpolitics\n1\n", "sensitive list.txt")
    by_name = so.sanitize(release, so.DropItems(("Bent", "1")))
    by_file = so.sanitize(release, f"drop-items '@{listed}'")
    assert list(by_name.items) == list(by_file.items) == ["4"]
    assert list(by_name.titles) == ["Cube (1997)"]
    assert by_file.step_reports[0].step == "drop-items '@sensitive list.txt'"
    assert by_name.mapping.item_codes.tolist() == [-1, -1, -1, 0]
    again = so.sanitize(so.sanitize(release, "drop-items 1"), "drop-items 1 2")
    assert list(again.items) == ["3", "4"]
    with pytest.raises(so.ParameterError, match="1 of 2 names match no item"):
        so.sanitize(release, "drop-items 1 Brasil")
    with pytest.raises(so.ParameterError, match="nothing would be left: every item is listed"):
        so.sanitize(release, "drop-items 1 2 3 4")
    with pytest.raises(so.SourceError, match="cannot be read"):
        so.sanitize(release, "drop-items @nowhere.txt")
    with pytest.raises(so.ParameterError, match="lists no item"):
        so.sanitize(release, so.DropItems(file=str(put("# none\n", "none.txt"))))


@pytest.mark.large
def test_a_name_that_is_an_id_and_a_title_means_both(put):
    """Else what is meant might be published: 300 is an id, and a film."""
    titles = put("item,title\n300,Cube\n7,300 (2006)\n8,Bent\n", "titles.csv")
    rows = "record,item\n" + "".join(f"r{r},{i}\n" for r in range(3) for i in (300, 7, 8))
    made = so.sanitize(so.read(put(rows), titles=titles), so.DropItems(("300",)))
    assert list(made.items) == ["8"]


@pytest.mark.large
def test_entries_go_at_random_and_keep_what_they_say(standin):
    made = so.sanitize(standin, "drop-entries 0.3", seed=6)
    old, new = content(standin), content(made)
    assert new.items() <= old.items()
    n = len(old)
    assert abs(len(new) - 0.7 * n) < 5 * math.sqrt(n * 0.21)
    with pytest.raises(so.ParameterError, match="nothing would be left"):
        so.sanitize(table([("a", "1", 1.0, START)]), so.DropEntries(1 - 1e-12))


@pytest.mark.large
def test_a_cap_cuts_long_records_only_and_at_random(standin):
    made = so.sanitize(standin, "cap-records 40", seed=6)
    old, new = supports(content(standin)), supports(content(made))
    assert content(made).items() <= content(standin).items()
    assert all(len(new[record]) == min(len(items), 40) for record, items in old.items())
    assert made.step_reports[0].counts["records cut"] == sum(len(items) > 40 for items in old.values())
    places = [
        sorted(old[record], key=int).index(item) / len(old[record])
        for record in old if len(old[record]) > 80 for item in new[record]
    ]  # fmt: skip
    assert abs(np.mean(places) - 0.5) < 5 * 0.29 / math.sqrt(len(places))


def test_a_cap_beyond_all_records_changes_nothing(release):
    assert so.sanitize(release, f"cap-records {'9' * 30}").fingerprint == release.fingerprint


def test_a_sample_has_whole_records_and_each_is_as_likely(release):
    old = content(release)
    chosen = Counter()
    for seed in range(300):
        made = so.sanitize(release, so.SampleRecords(count=5), seed=seed)
        new = content(made)
        people = {record for record, _ in new}
        assert len(people) == made.n_records == 5
        assert new == {cell: entry for cell, entry in old.items() if cell[0] in people}
        chosen.update(people)
    n, share = 300, 5 / release.n_records
    assert all(abs(chosen[record] - n * share) < 5 * math.sqrt(n * share) for record in release.records)
    assert so.sanitize(release, "sample-records 0.5").n_records == 7
    with pytest.raises(so.ParameterError, match="would keep 15 of 14 records"):
        so.sanitize(release, "sample-records 15")
    with pytest.raises(so.ParameterError, match="would keep 0 of 14 records"):
        so.sanitize(release, "sample-records 0.01")


# ----------------------------------------------------------------- clusters


def jaccard(one, other):
    return len(one & other) / len(one | other)


@pytest.mark.parametrize(("k", "records"), [(2, 5), (3, 14), (5, 40), (14, 14), (20, 30)])
def test_every_cluster_has_k_members_and_its_medoid_stands_for_them(k, records):
    release = table(list(drawn_rows(k, records=records, items=9, share=0.4)))
    made = so.sanitize(release, so.ClusterRecords(k))
    having = supports(content(release))
    clusters = defaultdict(list)
    for place, stands in enumerate(made.mapping.representatives.tolist()):
        assert stands >= 0
        clusters[made.records[stands]].append(release.records[place])
    assert all(k <= len(members) < 2 * k for members in clusters.values())
    assert content(made) == {cell: entry for cell, entry in content(release).items() if cell[0] in clusters}
    for chosen, members in clusters.items():
        assert chosen in members
        totals = {one: sum(jaccard(having[one], having[other]) for other in members) for one in members}
        assert totals[chosen] == pytest.approx(max(totals.values()), abs=1e-5)
    alike = [
        jaccard(having[chosen], having[one])
        for chosen, all_ in clusters.items()
        for one in all_
        if one != chosen
    ]
    assert made.step_reports[0].counts["similarity"] == pytest.approx(np.mean(alike), abs=1e-5)
    assert made.step_reports[0].counts["largest cluster"] == max(map(len, clusters.values()))


def test_people_who_are_alike_share_a_cluster(monkeypatch):
    monkeypatch.setattr("standout.sanitizing.cluster.BLOCK", 8)
    rows = [
        (f"{group}{member:02}", str(100 * group + i), 1.0, START)
        for group in range(1, 7) for member in range(4) for i in range(10) if i != member
    ]  # fmt: skip
    made = so.sanitize(table(rows), so.ClusterRecords(4))
    members = defaultdict(set)
    for place, stands in enumerate(made.mapping.representatives.tolist()):
        members[stands].add(made.original.records[place][0])
    assert len(members) == 6
    assert all(len(groups) == 1 for groups in members.values())


def test_a_cluster_larger_than_the_release_is_refused(release):
    with pytest.raises(so.ParameterError, match="has 14 records, fewer than 15"):
        so.sanitize(release, so.ClusterRecords(15))


# ----------------------------------------------------------------- kᵐ


def rarest(entries, k, m):
    """The slow twin of one walk: {record: items kept}."""
    having = supports(entries)
    support = Counter(item for _, item in entries)
    kept = defaultdict(set)
    for item in sorted(support, key=lambda item: (-support[item], len(item), item)):
        people = {record for record, items in having.items() if item in items}
        while True:
            counts = Counter()
            for record in people:
                for size in range(m):
                    counts.update(combinations(sorted(kept[record]), size))
            bad = {
                record for record in people
                if any(counts[one] < k for n in range(m) for one in combinations(sorted(kept[record]), n))
            }  # fmt: skip
            if not bad:
                break
            people -= bad
        for record in people:
            kept[record].add(item)
    return {(record, item) for record, items in kept.items() for item in items}


def fewest(entries, m):
    """How few records have a combination of up to m items that somebody has."""
    counts = Counter()
    for items in supports(entries).values():
        for size in range(1, m + 1):
            counts.update(combinations(sorted(items), size))
    return min(counts.values())


@given(releases(least=8), st.integers(2, 4), st.integers(1, 3))
def test_any_m_items_of_a_record_are_had_by_k_records(release, k, m):
    entries = content(release)
    wanted = rarest(entries, k, min(m, 2))
    if m == 3 and wanted:
        wanted = rarest(wanted, k, 3)
    if not wanted or k > release.n_records:
        with pytest.raises(so.ParameterError, match=r"nothing would be left|fewer than"):
            so.sanitize(release, so.KmSuppress(k, m))
        return
    made = so.sanitize(release, so.KmSuppress(k, m))
    assert content(made) == {cell: entries[cell] for cell in wanted}
    assert fewest(wanted, m) >= k


@pytest.mark.parametrize("m", [2, 3])
def test_those_who_lose_an_entry_may_take_others_with_them(m):
    left = 0
    for seed in range(30):
        release = table(list(drawn_rows(seed, records=30, items=8, share=0.5)))
        entries = content(release)
        wanted = rarest(entries, 4, 2)
        wanted = rarest(wanted, 4, 3) if m == 3 else wanted
        if wanted:
            assert set(content(so.sanitize(release, so.KmSuppress(4, m)))) == wanted
            left += 1
    assert left == 30


@pytest.mark.parametrize(("k", "m"), [(15, 1), (5, 2), (4, 3)])
def test_the_guarantee_holds_on_more_data(k, m):
    release = table(list(drawn_rows(m, records=40, items=12, share=0.3)))
    made = so.sanitize(release, so.KmSuppress(k, m))
    assert fewest(content(made), m) >= k
    assert made.n_entries < release.n_entries


def test_too_many_combinations_are_refused_before_they_are_counted(monkeypatch, release):
    monkeypatch.setattr("standout.sanitizing.km.MOST_PAIRS", 3)
    with pytest.raises(so.ParameterError, match="pairs of items would be counted"):
        so.sanitize(release, "km-suppress 2 2")
    monkeypatch.undo()
    monkeypatch.setattr("standout.sanitizing.km.MOST_COUNTERS", 1)
    with pytest.raises(so.ParameterError, match="too many items occur together"):
        so.sanitize(release, "km-suppress 2 3")


# ----------------------------------------------------------------- terms


def assert_told_is_released(made):
    """Where nothing is random, what the original says of an item is, once it is told, what is released."""
    original = made.original
    people = np.arange(original.n_records)
    known = facts_from_entries(original, np.arange(original.n_entries), original.by_record.start)
    told = made.translate_facts(known, people)
    released, seen = content(made), 0
    for person in people:
        stands = made.mapping.representatives[person]
        for i in range(told.first[person], told.first[person + 1]):
            if stands < 0 or told.item[i] < 0:
                continue
            cell = made.records[stands], made.items[told.item[i]]
            value = None if told.value[i] < 0 else told.values[told.value[i]]
            time = int(told.time[i]) + made.clock.origin if told.timed[i] else None
            assert released[cell] == (value, time)
            seen += 1
    assert seen == made.n_entries


@given(st.lists(st.sampled_from([w for w in FIXED if w != "drop-items 3 4"]), max_size=5), st.data())
def test_what_is_known_is_told_as_it_is_released(steps, given):
    release = table(list(drawn_rows(given.draw(st.integers(0, 5)))))
    made = release
    for words in steps:
        try:
            made = so.sanitize(made, words)
        except so.ParameterError as error:
            assert "has no" in str(error)
    if made is not release:
        assert made.original is release
        assert_told_is_released(made)
        assert_terms_are_by_id(made)


def assert_terms_are_by_id(made):
    for ours, place in (
        (made.original.records, made.mapping.representatives),
        (made.original.items, made.mapping.item_codes),
    ):
        theirs = made.records if ours is made.original.records else made.items
        assert [theirs.find(one) for one in ours] == [None if at < 0 else at for at in place.tolist()]


def test_levels_that_vanished_are_still_told():
    rows = [("a", "1", 1.0, START), ("b", "1", 2.0, START), ("b", "2", 3.0, START), ("c", "1", 4.0, START)]
    release = table(rows)
    gone = so.sanitize(release, "drop-rare-items 2")
    assert gone.levels.tolist() == [1, 2, 4]
    assert gone.mapping.released_values == (1, 2, 3, 4)
    made = so.sanitize(gone, so.RoundValue(edges=(2.5, 3.5)))
    assert made.mapping.released_values == (1.5, 1.5, 3, 4)
    assert made.levels.tolist() == [1.5, 4]
    assert made.step_reports[-1].bins == Bins((2.5, 3.5), (1.5, 3, 4))
    liked = so.sanitize(made, so.RoundValue(liked_from=3))
    assert liked.mapping.released_values == (0, 0, 1, 1)
    assert so.sanitize(liked, "round-value none").mapping.released_values == (None,) * 4


def test_noise_does_not_change_the_terms(release):
    noise = ["perturb-value 1 1", "perturb-time 14 1", "randomized-response 1"]
    made = so.sanitize(release, *noise, seed=1)
    assert made.mapping.released_values == tuple(release.levels.tolist())
    assert made.mapping.rounding_periods == ()
    assert made.mapping.representatives.tolist() == list(range(release.n_records))


def test_periods_follow_each_other(release):
    made = so.sanitize(so.sanitize(release, "round-time week"), "round-time 30 days", "round-time quarter")
    assert made.mapping.rounding_periods == (Period("week"), Period("day", 30), Period("quarter"))
    assert_told_is_released(made)


@pytest.mark.parametrize("words", ["perturb-time 3", "round-time month", "round-time none"])
def test_a_step_about_times_needs_some(words):
    release = table([("a", "1", 1.0)], times=False)
    with pytest.raises(so.ParameterError, match="the release has no times"):
        so.sanitize(release, words)


@pytest.mark.parametrize(
    "words", ["perturb-value 1", "round-value bins 2", "round-value none", "randomized-response 1"]
)
def test_a_step_about_values_needs_some(words):
    release = table([("a", "1", None, START)], values=None)
    with pytest.raises(so.ParameterError, match="the release has no values"):
        so.sanitize(release, words)


def test_categories_that_are_all_gone_leave_no_kind_behind():
    release = table([("a", "1", None, None), ("b", "1", None, None), ("c", "2", "x", START)], "text")
    made = so.sanitize(release, "drop-rare-items 2")
    assert made.fingerprint == so.read(made.to_frame()).fingerprint
    assert made.n_levels == made.span == 0


# ----------------------------------------------------------------- new ids


@pytest.mark.parametrize("words", [[], ["drop-entries 0.3"], ["cluster-records 3"]])
def test_new_ids_are_numbers_in_an_order_of_their_own(release, words):
    plain, new = (so.sanitize(release, *words, seed=5, renumber=renumber) for renumber in (False, True))
    assert list(new.records) == [str(i + 1) for i in range(plain.n_records)]
    assert new.renumbered
    assert not plain.renumbered
    stands = new.mapping.representatives
    assert np.array_equal(stands >= 0, plain.mapping.representatives >= 0)
    called = {
        plain.records[plain.mapping.representatives[i]]: new.records[stands[i]]
        for i in np.flatnonzero(stands >= 0)
    }
    assert len(called) == plain.n_records
    assert content(new) == {(called[r], item): entry for (r, item), entry in content(plain).items()}
    assert [called[one] for one in plain.records] != list(new.records)
    assert new.fingerprint == so.read(new.to_frame()).fingerprint


def test_each_order_of_new_ids_is_as_likely():
    release = table([("a", "1", 1.0, START), ("b", "1", 1.0, START), ("c", "1", 1.0, START)])
    seen = Counter(
        tuple(so.sanitize(release, seed=s, renumber=True).mapping.representatives.tolist())
        for s in range(600)
    )
    assert len(seen) == 6
    assert all(abs(count - 100) < 5 * math.sqrt(100) for count in seen.values())


def test_renumbering_is_remembered():
    release = table(list(drawn_rows(2)))
    made = so.sanitize(so.sanitize(release, seed=1, renumber=True), "round-time month")
    assert made.renumbered
    assert_told_is_released(made)


# ----------------------------------------------------------------- real data


@pytest.fixture(scope="module")
def movielens(realdata):
    return so.read(realdata / "movielens-latest-small")


@pytest.mark.realdata
@pytest.mark.large
@pytest.mark.parametrize("words", [*ALL[:-1], "km-suppress 5 2", "cluster-records 10"])
def test_steps_on_real_ratings(movielens, words):
    made = so.sanitize(movielens, words, seed=1, renumber=True)
    assert made.fingerprint == so.read(made.to_frame()).fingerprint
    if words in FIXED:
        assert_told_is_released(made)
    if words.startswith("km"):
        _, k, m = words.split()
        if int(m) < 3:
            assert fewest(content(made), int(m)) >= int(k)
