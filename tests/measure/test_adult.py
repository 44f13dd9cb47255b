"""UCI Adult: k, classes, l and t are those of pyCANON and of counts in Polars.

$STANDOUT_ADULT names a CSV file of the data with a header; pyCANON pins its dependencies, so it is not among
those of the tests.
"""

import os
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import standout as so
from standout.measure.classes import attribute_disclosure
from standout.measure.column_sets import find_keys
from standout.measure.equivalence import identity_risk

THREE = ["age", "sex", "race"]
EIGHT = ["age", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]
COLUMN_SETS = {"three": THREE, "eight": EIGHT}
SENSITIVE = ["income", "relationship", "hours-per-week"]


@pytest.fixture(scope="module")
def adult():
    path = os.environ.get("STANDOUT_ADULT", "")
    if not Path(path).is_file():
        pytest.skip("no Adult data: $STANDOUT_ADULT names no file")
    return pl.read_csv(path)


@pytest.fixture(scope="module")
def adult_table(adult):
    return so.read(adult, kind="table")


@pytest.fixture(scope="module")
def pycanon():
    return pytest.importorskip("pycanon.anonymity", reason="pyCANON is not installed")


@pytest.mark.once
@pytest.mark.parametrize("known", COLUMN_SETS.values(), ids=COLUMN_SETS)
def test_classes_are_those_that_polars_counts(adult, adult_table, known):
    income = pl.col("income").value_counts().struct.field("count").max()
    groups = adult.group_by(known).agg(pl.len().alias("f"), pl.col("income").n_unique().alias("l"), income)
    n, size = len(adult), groups["f"]
    risk = identity_risk(adult_table, known)
    assert risk.k == size.min()
    assert risk.unique.value == (size == 1).sum() / n
    assert risk.mean.value == pytest.approx(len(groups) / n, rel=1e-12)
    for limit, share in risk.smaller:
        assert share.value == size.filter(size < limit).sum() / n
    found = attribute_disclosure(adult_table, known, "income")
    assert found.distinct_l == groups["l"].min()
    assert found.certain.value == groups.filter(pl.col("l") == 1)["f"].sum() / n
    assert found.guess.value == groups["count"].sum() / n


@pytest.mark.once
def test_the_best_sets_of_columns_are_those_that_polars_counts(adult, adult_table):
    search = find_keys(adult_table, EIGHT, 3)
    for found in search.sets:
        counts = [
            (adult.group_by(chosen).len()["len"] == 1).sum() for chosen in combinations(EIGHT, len(found.columns))
        ]
        assert found.unique.value == max(counts) / len(adult) and found.search == "exhaustive"


@pytest.mark.once
@pytest.mark.parametrize("known", [["sex", "race"], *COLUMN_SETS.values()], ids=["two", *COLUMN_SETS])
def test_k_l_and_t_are_those_of_pycanon(adult, pycanon, known):
    """On the first rows only, because pyCANON loops over classes: all rows take minutes."""
    frame = adult.head(500)
    risk_table, frame = so.read(frame, kind="table"), frame.to_pandas()
    assert identity_risk(risk_table, known).k == pycanon.k_anonymity(frame, known)
    for secret in SENSITIVE:
        if secret in known:
            continue
        found = attribute_disclosure(risk_table, known, secret)
        assert found.distinct_l == pycanon.l_diversity(frame, known, [secret])
        rounded_down = {int(found.entropy_l), int(found.entropy_l - 1e-9)}  # 1 for an even split over two values
        assert pycanon.entropy_l_diversity(frame, known, [secret]) in rounded_down
        assert found.t == pytest.approx(pycanon.t_closeness(frame, known, [secret]), rel=1e-12)
