"""The risk table: a row for each record, as a slow twin computes it, in a private and harmless file."""

import math
import stat
from functools import partial

import numpy as np
import polars as pl
import pytest

import standout as so
from auditing.audit_samples import identified, people
from standout.auditing.exposure import risk_table
from standout.core.rng import key
from standout.evaluate.estimates import rate

pytestmark = pytest.mark.once


def test_the_risk_table_is_that_of_a_slow_twin(release):
    adversary = so.Adversary(knows=4, wrong=1, value_error=1, time_error=30)
    settings = {"records": 5, "draws": 3, "seed": 2, "facts": [1, 2]}
    table = risk_table(release, adversary, attack=so.ScoreboardRH(), **settings)
    assert table.columns == ["record", "length", "facts_needed", "probability", "low", "high"]
    seeds = [int(key(2, "risk", draw) >> np.uint64(1)) for draw in range(3)]
    for name, length, facts_needed, probability, low, high in table.rows():
        row, sizes = release.records.find(name), (1, 2, 4)
        correct = [[identified(release, adversary, [row], size, seed)[0] for size in sizes] for seed in seeds]
        wanted = rate(sum(shares[-1] for shares in correct), 3)
        assert length == len(release.record(name))
        assert (probability, low, high) == (wanted.value, wanted.low, wanted.high)
        needed = [
            [size for i, size in enumerate(sizes) if all(share == 1 for share in shares[i:])] for shares in correct
        ]
        median = sorted(min(sufficient, default=math.inf) for sufficient in needed)[1]
        assert facts_needed == (None if median == math.inf else median)


def test_the_risk_table_of_an_audit_uses_the_strongest_attack(audited):
    for name in ("colleague", "undated"):
        table = audited.risk_table(adversary=name, draws=2)
        adversary, attack = audited.adversaries[name], audited.attacks[name]
        assert table.equals(risk_table(audited.release, adversary, attack=attack, draws=2, seed=audited.seed))


def test_the_risk_table_has_every_record_and_is_the_same_in_any_batches(monkeypatch):
    short = people(length=lambda r: 1 + r % 9)
    short_table = partial(risk_table, short, so.Adversary(knows=4), draws=2, seed=1)
    table, calls = short_table(), []
    assert table["record"].to_list() == list(short.records)
    assert table.filter(pl.col("probability").is_null())["length"].max() == 3
    assert table.filter(pl.col("probability").is_not_null())["length"].min() == 4
    monkeypatch.setattr("standout.auditing.exposure.RISK_BATCH", 7)
    assert short_table(progress=lambda *call: calls.append(call), threads=1).equals(table)
    assert calls[:2] == [("risk table", 7, 40), ("risk table", 14, 40)] and calls[-1][1] == 40
    sample = short_table(records=9)
    assert len(sample) == 9
    assert sample.equals(table.filter(pl.col("record").is_in(sample["record"].to_list())))


ODD = [("=HYPERLINK(1)", "a"), ("+1", "a"), ("-1", "b"), ("@x", "b"), ("\tx", "a"), ("plain", "b")]


def test_the_file_is_harmless_and_private(tmp_path):
    odd = so.read(pl.DataFrame(ODD, schema=["record", "item"], orient="row"))
    for name in ("risk.csv", "risk.parquet"):
        path = tmp_path / name
        table = risk_table(odd, so.Adversary(knows=1), draws=1, path=path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert sorted(table["record"]) == sorted(record for record, _ in ODD)
    text = (tmp_path / "risk.csv").read_text()
    assert not any(line.strip('"')[:1] in "=+-@\t" for line in text.split("\n")[1:] if line)
    assert "'=HYPERLINK(1)" in text
    assert pl.read_parquet(tmp_path / "risk.parquet")["record"].to_list() == list(odd.records)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["risk.csv", "risk.parquet"]


def test_a_wrong_parameter_is_an_error(tmp_path, release, audited):
    adversary = so.Adversary(knows=1)
    for wrong in ({"path": tmp_path / "risk.txt"}, {"records": "some"}, {"records": 0}, {"draws": 0}, {"facts": [9]}):
        with pytest.raises(so.ParameterError):
            risk_table(release, adversary, **wrong)
    with pytest.raises(so.StandoutError, match="cannot be written"):
        risk_table(release, adversary, records=2, draws=1, path=tmp_path / "nowhere" / "risk.csv")
    with pytest.raises(so.ParameterError, match="adversary must be one of colleague"):
        audited.risk_table(adversary="nobody")
