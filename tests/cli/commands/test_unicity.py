"""`standout unicity` prints the library's numbers."""

import json

import pytest
from command_line import undocumented

import standout as so

pytestmark = pytest.mark.large  # whole runs; their parts have tests of their own


def test_unicity_prints_the_librarys_numbers(run, people_index):
    results = so.unicity(so.open(people_index), [1, 2, 3], time=30)
    outcome = run("unicity", people_index, "-k", "1-3", "--bin-days", 30)
    assert outcome.code == 0
    for result in results:
        share = result.share
        assert f"{100 * share.value:.1f} % ({100 * share.low:.1f}–{100 * share.high:.1f})" in outcome.out
    content = json.loads(run("unicity", people_index, "-k", "1-3", "--bin-days", 30, "--json").out)
    assert [row["share"] for row in content["unicity"]] == [result.share.value for result in results]
    assert undocumented("unicity", content) == []


TRACES = "user,lat,lon,time\n" + "".join(
    f"{user},{37 + 0.01 * step:.2f},{-122 - 0.01 * shift:.2f},2008-05-{17 + step}T0{step}:30:00Z\n"
    for shift, user in enumerate("abcb")
    for step in range(4)
)


def test_each_resolution_of_traces_has_a_row(run, put):
    path = put(TRACES)
    shown = run("unicity", path, "--grid", 0.01, "--grid", 1, "--time-bin", "hour", "--time-bin", "day", "-k", "1,2")
    assert shown.code == 0
    assert shown.out.count("0.01°") == 4 and "too few entries" in shown.out
    answer = json.loads(run("unicity", path, "--geohash", 7, "--points", 2, "--read", "ignore=time", "--json").out)
    assert [(row["places"], row["time_bin"], row["k"]) for row in answer["unicity"]] == [("geohash 7", None, 2)]


def test_an_index_of_traces_is_measured_at_coarser_resolutions(run, put, tmp_path):
    path = put(TRACES)
    how = ("--grid", "0.1", "--time-bin", "day", "--json")
    run(
        "index",
        path,
        "-o",
        tmp_path / "traces",
        "--read",
        "grid=0.01",
        "--read",
        "time_bin=hour",
        "--read",
        "repeats=keep",
    )
    by_index, by_file = (json.loads(run("unicity", data, *how).out) for data in (tmp_path / "traces", path))
    assert by_index["unicity"] == by_file["unicity"]


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_the_chart_of_resolutions_is_written(run, put, tmp_path, suffix):
    chart = tmp_path / f"chart.{suffix}"
    assert run("unicity", put(TRACES), "--grid", 0.01, "--time-bin", "day", "-k", "1-2", "--chart", chart).code == 0
    assert (b"PNG" if suffix == "png" else b"known points") in chart.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--chart", "x.svg"], "--chart can only be used with places"),
        (["--time-bin", "day", "--time-bin", "hour"], "several --time-bin can only be used with places"),
        (["--grid", "1", "--chart", "x.gif"], "--chart must end in .svg, .png, .html"),
        (["--grid", "1", "--bin-days", "1"], "--bin-days is not used with places"),
        (["--grid", "1", "--geohash", "3"], "--grid and --geohash exclude each other"),
    ],
)
def test_wrong_options_for_resolutions_are_explained(run, put, options, message):
    shown = run("unicity", put(TRACES), *options)
    assert shown.code == 1 and message in shown.err
