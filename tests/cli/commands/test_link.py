"""`standout link`."""

import json

import polars as pl
import pytest
from linking_data import FEW, release_and_profiles

import standout as so
from standout.cli.commands.link import check_output_path
from standout.linking import decoys as profiles_module
from standout.linking.records import RecordSearch

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def pair():
    return tuple(so.read(side) for side in release_and_profiles(36, 18, 330, range(-20, 21), 0.7))


@pytest.mark.large
def test_the_command_prints_numbers_and_writes_ids(run, pair, tmp_path):
    data, public, truth = (tmp_path / name for name in ("data.csv", "public.csv", "truth.csv"))
    pair[0].to_frame().write_csv(data)
    pair[1].to_frame().rename({"record": "who", "item": "what"}).write_csv(public)
    truth.write_text("profile,record\np11,11\np12,12\n")
    columns, few = ("--public-read", "record=who", "--public-read", "item=what"), ("--budget", 0.1, "--decoys", 24)
    given = *columns, *few
    shown = run("link", data, public, *given, "--truth", truth, "-o", tmp_path / "out")
    assert (shown.code, shown.err) == (0, "") and "A record is claimed for" in shown.out
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"links.csv", "links.json", "report.html"}
    assert "p11" not in shown.out
    links = so.link(*pair, truth=truth, **FEW)
    one_file = "-o", tmp_path / "only.parquet"
    machine = json.loads(run("link", data, public, *given, "--truth", truth, "--json", *one_file).out)
    assert machine["claims"] == links.claims
    assert [row["record"] for row in machine["table"]] == links.table["record"].to_list()
    assert pl.read_parquet(tmp_path / "only.parquet").height == len(links)
    so.save(pair[1], tmp_path / "public.index")
    again = run("link", data, tmp_path / "public.index", *few, "--values", "1,0", "--dates", "learn")
    assert again.code == 0 and "The links themselves are not shown" in again.out
    for wrong, message in (
        (("--values", "a,b", *few), "two numbers like 0.5,0"),
        (("-o", tmp_path / "no" / "t.csv", *few), "its folder does not exist"),
        (("--budget", 2, "--decoys", 24), "budget must be"),
        (("--truth", tmp_path / "none.csv", *few), "cannot be read"),
    ):
        refused = run("link", data, public, *columns, *wrong)
        assert refused.code == 1 and message in refused.err and refused.err.count("\n") == 1
    refused = run("link", data, tmp_path / "public.index", "--public-read", "record=who")
    assert refused.code == 1 and "--public-read record is for reading a source" in refused.err


def test_the_command_overwrites_nothing_that_was_given(tmp_path):
    names = ("ratings.csv", "links.csv", "truth.json", "out/review.csv", "ml/links.csv")
    ratings, links, truth, review, inside = (tmp_path / name for name in names)
    for file in (ratings, links, truth, review, inside):
        file.parent.mkdir(exist_ok=True)
        file.write_text("precious")
    inputs = [ratings, tmp_path / "ml", "auto", links, truth, None]
    for path in (ratings, tmp_path, truth, inside, tmp_path / "ml", tmp_path / "ml" / ".." / "truth.json"):
        with pytest.raises(so.ParameterError, match="is an input"):
            check_output_path(path, inputs, None)
    with pytest.raises(so.ParameterError, match="pass it as --review"):
        check_output_path(review.parent, inputs, None)
    with pytest.raises(so.ParameterError, match="is an input"):
        check_output_path(review, inputs, review)
    for path in (review.parent, tmp_path / "new", tmp_path / "new.csv", tmp_path / "ml" / "new", None):
        check_output_path(path, inputs, review)


@pytest.mark.large
def test_an_interrupted_command_shows_the_links_so_far(run, pair, tmp_path, monkeypatch):
    monkeypatch.setattr(profiles_module, "BATCH_PROFILES", 5)
    original, calls = RecordSearch.find, []

    def find(self, known, removed=None):
        calls.append(removed is None)
        if sum(calls) > 2:  # the profiles are attacked last, and only from decoys a record may be removed
            raise KeyboardInterrupt
        return original(self, known, removed)

    monkeypatch.setattr(RecordSearch, "find", find)
    for name, side in zip(("data.index", "public.index"), pair, strict=True):
        so.save(side, tmp_path / name)
    options = ("--budget", 0.1, "--decoys", 50, "--by", "eccentricity")
    shown = run("link", tmp_path / "data.index", tmp_path / "public.index", *options)
    assert shown.code == 3 and "Linking was interrupted" in shown.out
