"""Utility: 1 for the untouched release, less for less data, None where it cannot be measured."""

import pytest

import standout as so

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def untouched(release):
    return so.utility(release, people=40)


def test_the_untouched_release_keeps_all_utility(untouched):
    assert untouched.kept.value == untouched.kept.low == untouched.kept.high == 1.0
    assert untouched.hit_rate == untouched.hit_rate_before
    assert untouched.rmse == untouched.rmse_before
    for name in ("hit_rate_loss", "rmse_increase", "similarity_change", "value_difference", "time_difference"):
        estimate = getattr(untouched, name)
        assert estimate.value == estimate.low == estimate.high == 0.0, name
    assert untouched.popularity_change.value == 0
    assert untouched.popularity_correlation.value == pytest.approx(1)
    assert untouched.entries_kept.value == 1


def test_rounding_times_changes_only_the_difference_of_times(release, untouched):
    rounded = so.utility(release, so.steps.RoundTime("month"), people=40)
    pairs = zip(untouched.measures(), rounded.measures(), strict=True)
    assert {name for (name, a), (_, b) in pairs if a != b} == {"time_difference"}
    assert 0 < rounded.time_difference.value < 31
    assert so.utility(release, so.steps.RoundTime("none"), people=40).time_difference is None


def test_a_release_without_values_predicts_no_better_than_no_release(release):
    result = so.utility(release, so.steps.RoundValue("none"), people=40)
    assert result.rmse.value == pytest.approx(result.rmse.baseline, rel=1e-12)
    assert result.value_difference is None
    assert result.hit_rate == result.hit_rate_before


def test_an_original_without_numbers_has_no_rmse(release):
    frame = release.to_frame()
    bare = so.utility(so.read(frame.select("record", "item")), people=20)
    assert bare.rmse is None
    assert bare.kept_rmse is None
    assert bare.hit_rate.n == 20
    categories = so.read(frame.with_columns(value="level " + frame["value"].cast(int).cast(str)))
    assert so.utility(categories, people=20).rmse is None


def test_a_sanitized_release_has_the_utility_of_its_steps(release):
    steps = ["round-time month", so.steps.DropEntries(0.5)]
    expected = so.utility(release, *steps, people=40, seed=3)
    safer = so.sanitize(release, steps, seed=1, renumber=True)
    for result in (
        so.utility(safer, people=40, seed=3),
        so.utility(so.sanitize(release, steps[0], seed=1), steps[1], people=40, seed=3),
        so.utility(release, steps, people=40, seed=3),
    ):
        assert result.steps == expected.steps == ("round-time month", "drop-entries 0.5")
        assert repr(dict(result.measures())) == repr(dict(expected.measures()))
        assert result.fingerprint == release.fingerprint


def test_steps_that_cannot_be_repeated_are_explained(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.txt").write_text(f"{release.items[0]}\n")
    safer = so.sanitize(release, so.steps.DropItems(f"@{tmp_path}/items.txt"), seed=1)
    with pytest.raises(so.ParameterError, match="cannot be repeated, because one names a file"):
        so.utility(safer, people=40)


def test_bad_parameters_are_refused(release):
    with pytest.raises(so.ParameterError, match="a step must be a Step"):
        so.utility(release, so.sanitize(release, so.steps.DropEntries(0.5)))
    with pytest.raises(so.ParameterError, match="at least 5 items"):
        so.utility(so.synthesize(records=20, items=10, entries=40, like="flat"))
    with pytest.raises(so.ParameterError, match="people"):
        so.utility(release, people=0)
    with pytest.raises(so.ParameterError, match="no step"):
        so.utility(release, "no step")


def test_the_table_has_one_row_per_measure(release, tmp_path):
    result = so.utility(release, so.steps.DropEntries(0.5), people=40)
    assert result.table["measure"].to_list() == [name for name, _ in result.measures()]
    assert result.table.height >= 13
    assert result.table["steps"].unique().to_list() == ["drop-entries 0.5"]
    for ext in ("csv", "json", "parquet"):
        getattr(result, f"to_{ext}")(tmp_path / f"utility.{ext}")
        assert (tmp_path / f"utility.{ext}").stat().st_size
    assert "kept" in repr(result)


@pytest.mark.slow
@pytest.mark.realdata
def test_on_movielens_the_recommender_beats_popularity_and_less_data_is_worse(realdata):
    release = so.read(realdata / "movielens-latest-small")
    whole, half, tenth = (so.utility(release, *steps) for steps in ([], ["drop-entries 0.5"], ["drop-entries 0.9"]))
    assert whole.hit_rate.low > 1.5 * whole.hit_rate.baseline
    assert whole.rmse.value < 0.95 * whole.rmse.baseline
    assert whole.kept.value == 1 > half.kept.high > half.kept.low > tenth.kept.high > 0
    assert half.hit_rate_loss.low > 0
    assert half.rmse_increase.low > 0
    assert half.hit_rate_loss.width < half.hit_rate.width  # paired differences are sharper


def check_half_of_the_entries(release):
    result = so.utility(release, so.steps.DropEntries(0.5), people=300)
    assert result.hit_rate.n == 300
    assert 0.4 < result.entries_kept.value < 0.6


@pytest.mark.realdata
def test_the_utility_of_trust_ratings_can_be_measured(realdata):
    columns = {"record": 1, "item": 2, "value": 3, "time": 4}
    check_half_of_the_entries(so.read(realdata / "bitcoin-otc/soc-sign-bitcoinotc.csv", **columns))


@pytest.mark.slow
@pytest.mark.realdata
def test_the_utility_of_purchases_can_be_measured(realdata):
    columns = {"record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate"}
    options = {"time_format": "%m/%d/%Y %H:%M", "encoding": "latin-1", "max_rejects": "30%"}
    options["ignore"] = ["InvoiceNo", "UnitPrice", "Country"]
    check_half_of_the_entries(so.read(realdata / "online-retail/online-retail.csv.gz", **columns, **options))
