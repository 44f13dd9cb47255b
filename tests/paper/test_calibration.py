"""The calibration: its table, its verdicts, and the releases that it rejects."""

from datetime import datetime

import polars as pl
import pytest

import standout as so
from standout.paper.calibration import Statistic


def test_a_number_is_met_within_its_tolerance_and_near_within_twice_the_tolerance():
    for distance, verdict in (
        (0, "met"),
        (1, "met"),
        (-1, "met"),
        (1.01, "near"),
        (-2, "near"),
        (2.01, "missed"),
        (-9, "missed"),
    ):
        assert Statistic("group", "statistic", 0.3, 0.3 + distance * 0.1, 0.1).verdict == verdict
        exact = Statistic("group", "statistic", 3.0, 3.0 + distance, 0)
        assert exact.verdict == ("met" if distance == 0 else "missed")


def test_the_table_has_a_row_for_each_statistic(compare_everything, random_release, tmp_path):
    compare_everything(1.0)
    calibration = so.calibration(random_release(), nearest=5)
    table = calibration.table
    assert table.columns == ["group", "statistic", "published", "measured", "tolerance", "verdict"]
    assert table.height == len(calibration.statistics) == sum(calibration.verdicts.values())
    verdicts = table["verdict"].to_list()
    assert verdicts == [statistic.verdict for statistic in calibration.statistics]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("met", "near", "missed"))
    assert str(calibration) == f"{table.height} published statistics: {counts}"
    calibration.to_csv(tmp_path / "table.csv")
    assert pl.read_csv(tmp_path / "table.csv")["statistic"].to_list() == table["statistic"].to_list()


def test_an_index_gives_the_same_table_for_any_number_of_threads(compare_everything, random_release, tmp_path):
    compare_everything(1.0)
    release = random_release(missing=0.1)
    so.save(release, tmp_path / "index")
    tables = [
        so.calibration(source, nearest=30, seed=3, threads=threads).table
        for source, threads in ((release, 1), (so.open(tmp_path / "index"), 2))
    ]
    assert tables[1].equals(tables[0])


def test_parameters_out_of_range_are_rejected():
    release = so.synthesize(records=1_000, items=10, entries=1_000, seed=1)
    for wrong in ({"nearest": -1}, {"nearest": 2.5}, {"nearest": True}, {"seed": -1}):
        with pytest.raises(so.ParameterError, match=next(iter(wrong))):
            so.calibration(release, **wrong)


def test_releases_that_cannot_be_compared_are_rejected(monkeypatch):
    with pytest.raises(so.ParameterError, match="at least 1,000 records, got 999"):
        so.calibration(so.synthesize(records=999, items=10, entries=1_000, seed=1))
    monkeypatch.setattr("standout.paper.calibration.MINIMUM_RECORDS", 1)
    for values in ([0.5, 3.0], ["good", "bad"]):
        with pytest.raises(so.ParameterError, match="from 1 to 5"):
            so.calibration(so.read(pl.DataFrame({"user": ["p", "q"], "item": ["x", "x"], "rating": values})))
    frame = pl.DataFrame({"user": ["p"], "item": ["x"], "time": [datetime(2005, 1, 1, 3)]})
    with pytest.raises(so.ParameterError, match="by hour"):
        so.calibration(so.read(frame, time_unit="hour"))
