"""The result of a linking: φ, expected false claims, the summary, and its files."""

import json
import math

import jsonschema
import polars as pl
import pytest
from linking_data import FEW

import standout as so
from standout.findings.json_types import schema_of
from standout.findings.link_and_advise import LINKS_TITLE, LinksFile

pytestmark = pytest.mark.once


def test_a_given_phi_is_used_and_decoys_are_optional(pair):
    links = so.link(*pair, phi=1.5, decoys=0)
    table = links.table
    assert links.phi == 1.5 and links.settings.by == "eccentricity"
    assert (table["claimed"] == ((table["eccentricity"] >= 1.5) & (table["ties"] == 1))).all()
    assert table["false_claim"].null_count() == len(table) and math.isnan(links.expected_false_claims)
    assert "the number of false claims is unknown" in links.summary
    with_decoys = so.link(*pair, phi=1.5, **FEW)
    assert with_decoys.claims == links.claims and with_decoys.expected_false_claims > 0


def test_the_budget_limits_the_expected_false_claims(pair):
    links = so.link(*pair, **FEW)
    with_facts, groups = int((links.facts > 0).sum()), links.by_facts_used
    assert 0 <= links.likely_false_claims <= links.expected_false_claims <= 0.1 * with_facts + 1e-9
    assert groups["claims"].sum() == links.claims and groups["profiles"].sum() == with_facts
    assert links.table.filter("claimed")["false_claim"].max() <= 0.1
    assert links.decoys.height == 48 and set(links.decoys["kind"]) == {"recombined", "withheld"}


def test_no_more_claims_are_likely_false_than_there_are(pair):
    double = pair[1].to_frame().with_columns(record="q" + pl.col("record"))
    public = so.read(pl.concat([pair[1].to_frame(), double]))
    links = so.link(pair[0], public, phi=0.1, assign=True, **FEW)
    assert links.claims < links.expected_false_claims  # each person claims twice: all tie
    assert links.likely_false_claims <= links.claims


def test_with_few_profiles_decoys_are_recombined_from_the_release(pair):
    single = so.read(pair[1].to_frame().filter(pl.col("record") == "p14"))
    links = so.link(pair[0], single, **FEW)
    assert len(links) == 1 and links.decoys.height == 48
    assert "recombined from entries of the release" in links.summary


def test_in_a_release_of_too_few_people_no_claim_is_made_and_the_reason_is_given(pair):
    few = so.read(pair[0].to_frame().filter(pl.col("record").is_in(["11", "12", "13"])))
    links = so.link(few, pair[1], **FEW)
    assert links.phi == math.inf and links.claims == 0
    assert "too few people for a budget of 10 %, so nothing is claimed" in links.summary
    assert "likely false" not in links.summary and links.findings().phi is None


def test_precision_and_recall_need_the_truth(pair):
    links = so.link(*pair, phi=1.5, decoys=0)
    assert links.precision is links.recall is links.absent_claims is links.identified is None
    for name in ("curve", "by_budget"):
        with pytest.raises(so.ParameterError, match="precision and recall need the truth"):
            getattr(links, name)


def test_files_hold_the_table_and_are_private(pair, tmp_path):
    links = so.link(*pair, truth={"p11": "11"}, **FEW)
    links.to_csv(tmp_path / "t.csv")
    links.to_parquet(tmp_path / "t.parquet")
    links.to_json(tmp_path / "t.json")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(links.table)
    texts = dict.fromkeys(("profile", "record", "runner_up"), pl.String)
    assert pl.read_csv(tmp_path / "t.csv", schema_overrides=texts)["record"].equals(links.table["record"])
    written = json.loads((tmp_path / "t.json").read_text())
    assert written["table"] == json.loads(links.table.write_json()) and written["claims"] == links.claims
    jsonschema.validate(written, schema_of(LinksFile, LINKS_TITLE))
    assert all((tmp_path / f"t.{form}").stat().st_mode & 0o077 == 0 for form in ("csv", "parquet", "json"))
    assert repr(links).startswith(f"<Links: {len(links)} profiles")
