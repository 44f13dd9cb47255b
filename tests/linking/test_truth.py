"""The known truth."""

import polars as pl
import pytest
from linking_data import FEW

import standout as so
from standout.linking.links import read_truth

pytestmark = pytest.mark.once


def test_claims_are_compared_with_the_truth(pair, put):
    release, public = pair
    names = [name for name in public.records if release.records.find(name[1:]) is not None]
    rows = "\n".join(f"{name},{name[1:]}" for name in names)
    file = put(f"profile,record\n{rows}\nnobody,1\np31,31\n", "truth.csv")
    links = so.link(release, public, truth=file, by="eccentricity", **FEW)
    table = links.table
    best_guess_right = {row["profile"] for row in table.to_dicts() if row["record"] == row["profile"][1:]}
    assert set(table.filter("identified")["profile"]) <= best_guess_right
    claimed = table.filter("claimed")
    correct = claimed.filter("identified").height
    assert links.precision.n == claimed.height and links.recall.n == len(names)
    assert links.precision.value == pytest.approx(correct / max(claimed.height, 1))
    assert links.recall.value == pytest.approx(correct / len(names))
    assert links.absent_claims.n == len(table) - len(names)
    assert (links.truth.unknown_profiles, links.truth.unknown_records) == (1, 1)
    assert "1 names an unknown profile and 1 names an unknown record" in links.summary
    claimable = (table["ties"] == 1) & (table["eccentricity"] > 0)
    assert links.curve["claims"][0] == int(claimable.sum())


def test_a_bad_truth_is_refused_in_one_line(pair, put):
    for text, message in (
        ("profile,record\np11,11\np11,12\n", "names a profile twice"),
        ("profile,record\nx,11\np11,x\n", "none of the 2 pairs"),
        ("profile,record\n", "has no pairs"),
        ("a,b,c\n1,2,3\n", "the columns profile, record are required"),
        ("", "the first line must name at least two columns"),
        ("profile,record\np11\n", "line 2: 2 cells expected as in the first line, got 1"),
        (b"\xff\xfe\x00", "not a CSV file in UTF-8"),
    ):
        with pytest.raises(so.StandoutError, match=message) as caught:
            read_truth(put(text, "truth.csv"), *pair)
        assert "\n" not in str(caught.value)


def test_a_truth_may_have_other_separators_and_columns(pair, put):
    for text in ("profile;record\np11;11\n", "record\tprofile\tnote\n11\tp11\t\n\n"):
        truth = read_truth(put(text, "truth.csv"), *pair)
        assert (truth.pairs, (truth.record >= 0).sum()) == (1, 1)


def test_a_truth_may_be_a_mapping_or_a_frame_and_a_blank_record_means_absent(pair):
    mapped = read_truth({"p11": "11", "p12": ""}, *pair)
    framed = read_truth(pl.DataFrame({"profile": ["p11", "p12"], "record": ["11", None]}), *pair)
    assert read_truth({"p11": 11}, *pair).record.tolist() == mapped.record.tolist()
    assert mapped.record.tolist() == framed.record.tolist() and (mapped.record >= 0).sum() == 1
    with pytest.raises(so.ParameterError, match="truth: a record id must be text or a whole number, got float"):
        read_truth({"p11": 11.0}, *pair)
    with pytest.raises(so.ParameterError, match="got list"):
        read_truth(["p11"], *pair)
    with pytest.raises(so.SourceError, match="cannot be read"):
        read_truth("no such file", *pair)
