"""Sampling errors are two standard deviations between samples."""

import numpy as np
import pytest

from standout.paper.calibration import mean_error, quantile_error, sd_error, share_error, top_share

SAMPLES, SIZE = 2_000, 500


@pytest.mark.parametrize(
    ("statistic", "error"),
    [
        (lambda x: (x > 1).mean(), lambda x: share_error(float((x > 1).mean()), len(x))),
        (np.mean, mean_error),
        (np.std, sd_error),
        (lambda x: np.quantile(x, 0.75), lambda x: quantile_error(x, 0.75)),
        (lambda x: top_share(x, 0.1)[0], lambda x: top_share(x, 0.1)[1]),
    ],
    ids=["share", "mean", "sd", "quantile", "top share"],
)
def test_sampling_error_is_two_standard_deviations_between_samples(statistic, error):
    samples = np.random.default_rng(5).gamma(2, 1, (SAMPLES, SIZE))
    spread = 2 * np.std([statistic(sample) for sample in samples])
    assert np.mean([error(sample) for sample in samples[:200]]) == pytest.approx(spread, rel=0.1)


def test_constant_numbers_have_no_sampling_error():
    constant = np.full(10, 3.0)
    assert mean_error(constant) == sd_error(constant) == quantile_error(constant, 0.5) == 0
