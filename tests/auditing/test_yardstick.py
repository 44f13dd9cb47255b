"""The yardstick: the default adversaries on a stand-in of the Netflix Prize data."""

import json
from importlib.resources import files

import pytest
from tools.yardstick import COMMANDS, TARGETS, measured

import standout as so
from auditing.audit_samples import CASES, people, small_audit
from standout.auditing.data_measures import FILE

pytestmark = pytest.mark.once

SHIPPED = json.loads(files("standout.auditing").joinpath(FILE).read_text())


def test_the_script_measures_what_an_audit_reports():
    release = people(n=60, items=40, length=lambda r: 12)
    found = {(row.adversary, row.values, row.dates): row for row in measured(release, 12)}
    reported = so.audit(release, targets=12, facts=[2])
    for adversary in reported.findings.adversaries:
        row = found[adversary.name, True, adversary.time_error is not None]
        assert (row.identified, row.attack) == (adversary.as_named.identified, adversary.attack)


def test_the_shipped_numbers_are_those_of_the_full_stand_in():
    assert (SHIPPED["records"], SHIPPED["entries"]) == (480_189, 100_480_507)
    assert SHIPPED["commands"] == COMMANDS and SHIPPED["targets"] == TARGETS
    for row in SHIPPED["rows"]:
        assert row["identified"]["n"] == TARGETS
        assert 0 <= row["identified"]["low"] <= row["identified"]["value"] <= row["identified"]["high"] <= 1


def test_a_yardstick_knows_what_the_data_has(release):
    shipped = {(row["values"], row["dates"]): row for row in SHIPPED["rows"] if row["adversary"] == "acquaintance"}
    kinds = {"no times": (True, False), "no values": (False, True), "neither": (False, False)}
    for case, kind in kinds.items():
        yardstick = small_audit(CASES[case]()).findings.yardstick
        assert yardstick.identified.value == shipped[kind]["identified"]["value"], case
        assert "480,189 people" in yardstick.sentence


def test_own_adversaries_and_shortened_ones_have_no_yardstick(release):
    assert small_audit(release, ladder={"acquaintance": so.Adversary()}).findings.yardstick is None
    short = people(items=5, length=lambda r: 1 + r % 5)
    assert small_audit(short).findings.yardstick is None
