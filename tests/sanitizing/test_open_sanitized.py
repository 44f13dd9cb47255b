"""Outputs come back as they were written, and what does not belong together is refused."""

import polars as pl
import pytest
from sanitizing_data import assert_same

import standout as so
from standout.sanitizing.files import write_sanitized

pytestmark = pytest.mark.once
NAMES = ["safer.csv", "safer.parquet", "safer.index", "safer"]
MIXED = ["round-time month", "drop-rare-items 3", "perturb-value 1 0.5", "round-value bins 2", "round-value liked 3"]
CHAINS = [
    [],
    ["round-time none", "round-value none"],
    ["randomized-response 2 items"],
    ["cluster-records 4"],
    ["perturb-time 14"],
    ["drop-entries 0.5", "sample-records 20", "cap-records 5"],
    ["km-suppress 3 2"],
    ["round-value bins 3", "randomized-response 1", "round-value edges 2.5 3.5"],
    ["drop-items 1 2"],
    ["round-time week", "perturb-time 7", "round-time quarter"],
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("renumber", [False, True])
def test_every_format_comes_back_with_the_same_mapping(named_release, tmp_path, name, renumber):
    out, key = tmp_path / name, tmp_path / "key.csv"
    safer = so.sanitize(named_release, *MIXED, seed=5, renumber=renumber)
    sidecar = write_sanitized(safer, out, key=key)
    assert sidecar == tmp_path / f"{name}.sanitized.json"
    assert {path.name for path in tmp_path.iterdir()} == {name, sidecar.name, "key.csv"}
    assert_same(so.open_sanitized(out, named_release, key), safer)
    if renumber:
        with pytest.raises(so.ParameterError, match=r"^key is needed, the key file of .*: its ids are new$"):
            so.open_sanitized(out, named_release)
    else:
        assert_same(so.open_sanitized(out, named_release), safer)


def test_every_step_comes_back(named_release, tmp_path):
    out, key = tmp_path / "safer.csv", tmp_path / "key.csv"
    for steps in CHAINS:
        safer = so.sanitize(named_release, *steps, seed=2, renumber=True)
        write_sanitized(safer, out, key=key, force=True)
        assert_same(so.open_sanitized(out, named_release, key), safer)


def test_categories_and_minutes_come_back(tmp_path):
    frame = pl.DataFrame(
        {
            "record": ["a", "a", "b", "c"],
            "item": ["x,1", "y", 'q"', "y"],
            "value": ["1", "02", None, "2"],
            "time": ["2005-03-31 23:30", None, "2005-04-01 00:10", "2005-04-02 10:00"],
        }
    )
    release = so.read(frame, value_type="text", time_unit="minute", zone="Europe/Berlin")
    safer = so.sanitize(release, "perturb-time 0.5", "perturb-value none 0.5", seed=1)
    for name in NAMES:
        write_sanitized(safer, tmp_path / name)
        again = so.open_sanitized(tmp_path / name, release)
        assert_same(again, safer)
        assert again.clock == safer.clock


def test_titles_come_from_the_original(put, tmp_path):
    release = so.read(put("record,item\na,1\na,2\nb,2\nb,3\n"), titles=put("item,title\n1,A\n2,B\n3,C\n", "titles.csv"))
    safer = so.sanitize(release, "drop-items 1")
    for name in NAMES:
        write_sanitized(safer, tmp_path / name)
        assert list(so.open_sanitized(tmp_path / name, release).titles) == ["B", "C"]


def test_a_chain_of_outputs_is_mapped_from_the_first_original(named_release, tmp_path):
    out, key = tmp_path / "safer.csv", tmp_path / "key.csv"
    first = so.sanitize(named_release, "drop-rare-items 3", seed=1, renumber=True)
    second = so.sanitize(first, "round-value bins 2", "cluster-records 3", seed=1, renumber=True)
    write_sanitized(second, out, key=key)
    again = so.open_sanitized(out, named_release, key)
    assert_same(again, second)
    third = so.sanitize(again, "round-time year", seed=1)
    assert_same(third, so.sanitize(second, "round-time year", seed=1))


def test_one_record_for_several_people_needs_its_key(named_release, tmp_path):
    write_sanitized(so.sanitize(named_release, "cluster-records 4"), tmp_path / "safer.csv")
    with pytest.raises(so.ParameterError, match="one record for several"):
        so.open_sanitized(tmp_path / "safer.csv", named_release)


def test_an_original_read_with_other_options_is_refused(named_release, tmp_path):
    """Known facts would be lost, and people would seem safer than they are."""
    frame = named_release.to_frame()
    columns = {"record": "record", "item": "item", "value": "value", "time": "time"}
    original, out = so.read(frame, **columns), tmp_path / "safer.csv"
    cases = [
        ({"value": False}, "values", "round-value none"),
        ({"time": False}, "times", "round-time none"),
        ({"zone": "America/Los_Angeles"}, "times", "round-time none"),
        ({"value_type": "text"}, "values", "round-value none"),
    ]
    for options, lacking, without in cases:
        other = so.read(frame, **columns | options)
        for step in ("drop-rare-items 3", "round-time month", "round-value bins 2"):
            write_sanitized(so.sanitize(original, step), out, force=True)
            with pytest.raises(so.SourceError, match=f"has {lacking} that the original lacks"):
                so.open_sanitized(out, other)
        write_sanitized(so.sanitize(original, without), out, force=True)
        so.open_sanitized(out, other)


def test_another_original_another_key_and_a_changed_output_are_refused(named_release, tmp_path):
    out, key, other_key = tmp_path / "safer.csv", tmp_path / "key.csv", tmp_path / "other-key.csv"
    safer, other = (so.sanitize(named_release, "round-time month", seed=s, renumber=True) for s in (1, 2))
    write_sanitized(safer, out, key=key)
    write_sanitized(other, tmp_path / "other.csv", key=other_key)
    with pytest.raises(so.SourceError, match="not made from this original as it was read, or the key"):
        so.open_sanitized(out, named_release, other_key)
    smaller = so.sanitize(named_release, "drop-top-items 1")
    with pytest.raises(so.SourceError, match="not made from this original"):
        so.open_sanitized(out, smaller, key)
    exchanged = named_release.to_frame().with_columns(
        record=pl.col("record").replace({"zq00001#x": "zq00002#x", "zq00002#x": "zq00001#x"})
    )
    with pytest.raises(so.SourceError, match="not made from this original"):
        so.open_sanitized(out, so.read(exchanged), key)
    out.write_text(out.read_text().replace("-01-01", "-02-01"))
    with pytest.raises(so.SourceError, match="does not match its sidecar"):
        so.open_sanitized(out, named_release, key)
