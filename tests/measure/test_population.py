"""Samples of a population: closed forms are sums, and known populations are not understated."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from standout.data.column import Column
from standout.measure.equivalence import identity_risk
from standout.measure.population import expected_inverse, fit_pitman, model_risks, population_risk, zayatz_weights


def sample_of(sizes_of_classes):
    """The risk of a table with classes of these sizes."""
    codes = np.repeat(np.arange(len(sizes_of_classes)), sizes_of_classes).astype(np.uint32)
    column = Column("a", "number", np.arange(len(sizes_of_classes), dtype=np.float64), codes)
    return identity_risk(so.Release.of_columns((column,)), ["a"])


def histogram(sizes_of_classes):
    return np.unique(np.array(sizes_of_classes), return_counts=True)


@settings(max_examples=60)
@given(st.integers(1, 120), st.floats(-0.95, 2.0), st.floats(0.02, 0.99))
def test_the_expected_inverse_is_the_sum_over_all_sizes_of_the_population(size, shape, probability):
    closed = expected_inverse(np.array([size]), shape, probability)[0]
    assert closed == pytest.approx(naive.expected_inverse_class(size, shape, probability), rel=1e-8)


@pytest.mark.parametrize("p", [0.001, 0.1, 0.3, 0.9])
def test_the_expected_inverse_is_the_closed_form_of_benedetti_and_franconi(p):
    one = p / (1 - p) * math.log(1 / p)
    two = p / (1 - p) - (p / (1 - p)) ** 2 * math.log(1 / p)
    assert expected_inverse(np.array([1, 2]), 0.0, p) == pytest.approx([one, two], rel=1e-9)
    assert expected_inverse(np.array([1, 7]), 0.0, 1.0).tolist() == [1, 1 / 7]


def test_the_expected_inverse_continues_where_the_method_changes():
    for p in (0.01, 0.2499, 0.25):
        values = expected_inverse(np.arange(1, 90), -0.4, p)
        assert (np.diff(values) < 0).all() and (values < 1 / np.arange(1, 90)).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=4, max_size=30), st.floats(0.05, 0.9))
def test_zayatz_is_the_share_by_his_formula(sizes_of_classes, fraction):
    size, classes = histogram(sizes_of_classes)
    n = sum(sizes_of_classes)
    risks = model_risks(size, classes, n / fraction, zayatz_weights(size, fraction))
    rows = [size for size in sizes_of_classes for _ in range(size)]
    assert risks["zayatz"].unique == pytest.approx(naive.zayatz_unique_share(rows, fraction), rel=1e-9)
    assert risks["zayatz"].mean == pytest.approx(naive.zayatz_expected_inverse(rows, fraction), rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=4, max_size=30), st.floats(0.05, 0.9))
def test_means_of_the_other_models_are_means_of_the_expected_inverse_over_rows(sizes_of_classes, fraction):
    size, classes = histogram(sizes_of_classes)
    n = sum(sizes_of_classes)
    population = n / fraction
    risks = model_risks(size, classes, population, zayatz_weights(size, fraction))
    fitted = fit_pitman(size, classes)
    shapes = {"benedetti-franconi": (0.0, fraction)}
    if fitted.alpha < 1:
        shapes["pitman"] = (-fitted.alpha, (n + fitted.theta) / (population + fitted.theta))
    for model, (shape, p) in shapes.items():
        inverse = [naive.expected_inverse_class(f, shape, p) for f in sizes_of_classes for _ in range(f)]
        assert risks[model].mean == pytest.approx(sum(inverse) / n, rel=1e-7)
        assert risks[model].highest == pytest.approx(max(inverse), rel=1e-7)
        assert risks[model].unique == pytest.approx(sizes_of_classes.count(1) / n * p ** (1 + shape))


def test_individual_risks_are_those_that_sdcmicro_tests():
    rows, weight = np.array([1, 1, 3]), np.array([45.5, 17.0, 18.0 + 39.0 + 51.0])
    risks = [expected_inverse(rows[[i]], 0.0, rows[i] / weight[i])[0] for i in range(3)]
    assert risks == pytest.approx([0.08579129, 0.17707583, 0.01355297], abs=5e-9)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 8), min_size=6, max_size=40))
def test_pitmans_parameters_have_the_highest_likelihood(sizes_of_classes):
    fitted = fit_pitman(*histogram(sizes_of_classes))
    if max(sizes_of_classes) == 1:
        assert fitted.alpha == 1
        return
    best = naive.pitman_log_likelihood(sizes_of_classes, fitted.alpha, fitted.theta)
    for alpha in (0.01, 0.2, 0.5, 0.8, 0.95, fitted.alpha + 0.01):
        for excess in (0.01, 1.0, 5.0, 50.0, 500.0, 1.02 * (fitted.theta + fitted.alpha)):
            if alpha < 1:
                other = naive.pitman_log_likelihood(sizes_of_classes, alpha, excess - alpha)
                assert other <= best + 1e-6


@pytest.mark.parametrize(
    "sizes_of_classes",
    [[1] * 3000 + [2, 3], [1] * 3000 + [2] * 40 + [3] * 2, [1] * 20 + [50] * 30, [1, 4000], [2, 3] * 200],
    ids=["nearly all unique", "few pairs", "large classes", "one large class", "none unique"],
)
def test_the_likelihood_of_pitmans_formula_has_no_higher_value_on_a_grid(sizes_of_classes):
    fitted = fit_pitman(*histogram(sizes_of_classes))
    best = naive.pitman_log_likelihood(sizes_of_classes, fitted.alpha, fitted.theta)
    for alpha in (0.002, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99):
        for excess in np.geomspace(1e-3, 1e8, 23):
            other = naive.pitman_log_likelihood(sizes_of_classes, alpha, excess - alpha)
            assert other <= best + 1e-4


def test_a_census_has_the_prosecutors_risk():
    sample = sample_of([1, 1, 2, 3])
    risk = population_risk(sample, 7)
    assert (risk.unique.value, risk.mean.value) == (sample.unique.value, sample.mean.value)
    assert risk.fraction == 1 and risk.models == ()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=20), st.integers(1, 1000))
def test_the_headline_is_the_highest_model_and_never_exceeds_the_prosecutor(sizes_of_classes, more):
    sample = sample_of(sizes_of_classes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.measure.population.RESAMPLES", 5)
        risk = population_risk(sample, sample.n_rows + more, seed=1)
    for name in ("unique", "mean", "highest"):
        number = getattr(risk, name)
        assert number.value == max(getattr(model, name).value for model in risk.models)
        assert number.low <= number.value <= number.high <= getattr(sample, name).value + 1e-12


def test_nobody_is_unique_in_the_population_if_no_row_is_in_the_sample():
    risk = population_risk(sample_of([2, 2, 3]), 100)
    assert risk.unique.value == 0 and risk.mean.value > 0


def test_all_unique_rows_may_all_be_unique_in_the_population():
    assert population_risk(sample_of([1] * 20), 10_000).unique.value == 1


@pytest.mark.once
@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5])
def test_a_sample_of_a_known_population_is_not_understated(fraction, monkeypatch):
    monkeypatch.setattr("standout.measure.population.RESAMPLES", 20)
    rng = np.random.default_rng(3)
    group = (30 * rng.pareto(0.8, 20_000)).astype(np.int64)
    population_class = np.unique(group, return_inverse=True)[1]
    size = np.bincount(population_class)[population_class]
    rows = rng.choice(len(group), int(fraction * len(group)), replace=False)
    sizes_of_classes = np.unique(group[rows], return_counts=True)[1]
    risk = population_risk(sample_of(sizes_of_classes), len(group), seed=1)
    assert risk.unique.high >= np.mean(size[rows] == 1)
    assert risk.mean.high >= np.mean(1 / size[rows])


def test_a_population_smaller_than_the_table_is_refused():
    with pytest.raises(so.ParameterError, match="population must be at least the number of rows, 3"):
        population_risk(sample_of([1, 2]), 2)
    with pytest.raises(so.ParameterError, match="population must be a whole number"):
        population_risk(sample_of([1, 2]), 1e6)
