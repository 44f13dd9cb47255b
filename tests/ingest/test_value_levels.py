"""Values: the texts of a column become levels, numbers in ascending order or categories by the alphabet."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from conftest import content, outcome
from standout.core.errors import RejectedRows
from standout.ingest.cells import MOST_VALUES, value_levels
from standout.ingest.report import Reason

SPELLINGS = ["4", "4.0", "+4", "4.", "04", " 4 ", "4e0", "40e-1", "0.4E+1"]


def column(*values):
    """A file in which user u gave items 0, 1, … these values."""
    return "user,item,rating\n" + "".join(f'u,{i},"{value}"\n' for i, value in enumerate(values))


def levels(release):
    return release.levels if isinstance(release.levels, tuple) else release.levels.tolist()


def test_a_column_has_one_decimal_mark():
    for texts in (["2.5", "3,5"], ["2,5", "3.5"], ["1.5", "1,234"]):
        status = value_levels(texts)[2]
        assert [bool(each) for each in status] == ["," in text for text in texts]
    assert value_levels(["2,5", "3,5"], "text")[0] == ("2,5", "3,5")
    assert value_levels(["2,5", "3,5"], bin_width=1)[0].tolist() == [2, 3]


def test_a_release_knows_its_levels(put):
    for values, wanted in [
        (["5", "1", "3"], [1, 3, 5]),
        (["4.5", "0.5", "4.50"], [0.5, 4.5]),
        (["-10", "10", "0", "-0", "-0.0"], [-10, 0, 10]),
        ([".5", "1e-3", "-80995", "1E6"], [-80995, 0.001, 0.5, 1e6]),
        (["10", "9"], [9, 10]),
        (["good", "bad", "good"], ("bad", "good")),
        (["b", "B", "ä", "10 stars"], ("10 stars", "B", "b", "ä")),
        (["1/5", "2/5"], ("1/5", "2/5")),
        ([""], []),
        (["2,5", "3,0", "3", " ,5 "], [0.5, 2.5, 3]),
        (["1,234", "2,5", "-0,125"], [-0.125, 1.234, 2.5]),
        (["1,234", "5,678"], ("1,234", "5,678")),  # decimals or thousands
        (["1,2,3", "4,5,6"], ("1,2,3", "4,5,6")),
    ]:
        release = so.read(put(column(*values)))
        assert levels(release) == wanted
        assert {value for value, _ in content(release).values()} - {None} == set(wanted)


def test_one_number_is_one_level_however_it_is_spelled(put):
    release = so.read(put(column(*SPELLINGS)))
    assert levels(release) == [4.0]
    assert release.fingerprint == so.read(put(column(*["4"] * len(SPELLINGS)))).fingerprint


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=30))
def test_numbers_come_back_as_they_were(put, numbers):
    release = so.read(put(column(*numbers)))
    assert content(release) == {("u", str(i)): (float(n), None) for i, n in enumerate(numbers)}
    assert levels(release) == sorted({float(n) for n in numbers})


def test_text_among_numbers_is_rejected(put):
    for bad in ["good", "4 stars", "1,5,0", "1,500", "0x10", "1_000", "--1", "1e", "٤", "½", "four"]:
        kept, rejected = outcome(put(column("1", bad, "2")))
        assert set(kept) == {("u", "0"), ("u", "2")}
        assert rejected == {3: Reason.NOT_A_NUMBER}


def test_nan_and_infinity_are_rejected(put):
    for bad in ["NaN", "nan", "-NAN", "inf", "-Infinity", "+INF", "1e999", "-1e999"]:
        assert outcome(put(column("1", bad, "2")))[1] == {3: Reason.NOT_FINITE}
        with pytest.raises(RejectedRows, match="NaN or infinite"):
            so.read(put(column(bad)))


def test_numbers_whose_squares_may_overflow_are_rejected(put):
    for bad in ["1e300", "-1e308", "1.0000001e100", "-1.7976931348623157e308"]:
        assert outcome(put(column("1", bad, "2")))[1] == {3: Reason.TOO_LARGE}
        with pytest.raises(RejectedRows, match="above 1e100"):
            so.read(put(column("1", bad)))
        assert so.read(put(column("1", bad)), value_type="text").n_levels == 2
    assert levels(so.read(put(column("-1e100", "1e100")))) == [-1e100, 1e100]


def test_text_can_be_declared_and_then_keeps_its_spelling(put):
    release = so.read(put(column("1", "01", "1.0", "NaN", "good")), value_type="text")
    assert levels(release) == ("01", "1", "1.0", "NaN", "good")


def test_numbers_can_be_declared_and_then_text_is_rejected(put):
    assert outcome(put(column("good", "bad", "1")), value_type="number")[1].keys() == {2, 3}
    with pytest.raises(RejectedRows, match="value_type='text'"):
        so.read(put(column("good", "bad")), value_type="number")


def test_values_of_rejected_rows_are_no_levels(put):
    text = column("1", "2") + "u,,7\nu,z,8,more\n"
    assert levels(so.read(put(text), max_rejects=2)) == [1, 2]


def test_values_of_superseded_rows_are_no_levels(put):
    release = so.read(put("user,item,rating\nu,i,1\nu,i,2\nu,j,5\n"), repeats="last")
    assert levels(release) == [2, 5]
    assert release.fingerprint == so.read(put("user,item,rating\nu,i,2\nu,j,5\n")).fingerprint


def test_a_bin_rounds_down_to_its_multiples(put):
    for width, value, level in [
        (10, "37", 30),
        (10, "-3", -10),
        (10, "30", 30),
        (0.5, "4.9", 4.5),
        (1, "-0.5", -1),
        (2.5, "7.5", 7.5),
        (0.1, "0.3", 0.3),
        (0.1, "0.7", 0.7),
        (0.01, "0.29", 0.29),
        (0.2, "0.6", 0.6),
        (0.1, "-0.3", -0.3),
    ]:
        release = so.read(put(column(value)), value_bin=width)
        assert levels(release) == pytest.approx([level], abs=1e-9)
        assert release.provenance.settings["value bin"] == f"{width:g}"


@given(st.integers(-10_000, 10_000), st.sampled_from([1, 2, 5, 10, 20, 25, 50, 125, 1000]))
def test_a_bin_never_moves_its_own_multiples_and_nothing_by_a_whole_width(hundredths, width):
    wanted = Fraction(hundredths // width * width, 100)
    result = value_levels([f"{hundredths / 100:.2f}"], bin_width=width / 100)[0]
    assert result == pytest.approx([float(wanted)], abs=1e-9)


def test_a_value_that_no_bin_holds_is_rejected_like_infinity(put):
    for value in ["-1.7e308", "1.7e308", "5e-324"]:
        for width in [1e308, 1e-300]:
            kept, bad = outcome(put(column("1", value)), value_bin=width)
            assert len(kept) + len(bad) == 2
            assert set(bad.values()) <= {Reason.NOT_FINITE, Reason.TOO_LARGE}


def test_a_bin_without_width_is_refused():
    for width in [0, -1, float("nan"), float("inf")]:
        with pytest.raises(so.ParameterError, match="value_bin must be"):
            so.read("anything.csv", value_bin=width)


def test_bins_are_for_numbers():
    with pytest.raises(so.ParameterError, match="value_bin must not be set"):
        so.read("anything.csv", value_bin=1, value_type="text")


def test_an_unknown_value_type_is_refused():
    with pytest.raises(so.ParameterError, match="auto, number or text"):
        so.read("anything.csv", value_type="stars")


def test_levels_are_as_many_as_two_bytes_count_and_no_more():
    for text in [str, "n{}".format]:
        texts = [text(i) for i in range(MOST_VALUES + 1)]
        assert len(value_levels(texts[1:])[0]) == MOST_VALUES == 65_536
        with pytest.raises(so.SourceError, match=r"65,537 distinct values.*value_bin="):
            value_levels(texts)


@pytest.mark.large
def test_too_many_levels_must_be_binned(put):
    path = put("user,item,rating\n" + "".join(f"u{i},{i % 9},{i}\n" for i in range(MOST_VALUES + 1)))
    with pytest.raises(so.SourceError, match="value_bin="):
        so.read(path)
    assert len(so.read(path, value_bin=2).levels) == MOST_VALUES // 2 + 1
    assert so.read(path, value=False).levels is None


def test_reading_stops_early_if_a_column_has_far_too_many_values(put, monkeypatch):
    monkeypatch.setattr("standout.ingest.collector.MOST_VALUES", 0)
    with pytest.raises(so.SourceError, match="value_bin="):
        so.read(put(column(1, 2, 3, 4)))
    assert levels(so.read(put(column(1, 2, 3, 4)), value_bin=10)) == [0]


def test_whole_numbers_that_would_merge_are_rejected():
    result = value_levels(["9007199254740993", "9007199254740992", "1"])
    assert result[2].tolist() == [Reason.TOO_MANY_DIGITS, 0, 0]
    assert value_levels(["9007199254740993", "9007199254740992"], "text")[2].tolist() == [0, 0]


def test_categories_keep_their_spaces():
    assert value_levels(["a", " a", ""])[0] == (" a", "a")
