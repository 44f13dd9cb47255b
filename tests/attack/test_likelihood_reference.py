"""The readable Bayesian attack: it is short, and the kernels equal it."""

from pathlib import Path

import numpy as np
import pytest

import standout as so
from standout.attack import likelihood_reference as reference
from standout.attack.reference_arrays import errors_of, known_facts_of_query, release_entries

RELEASE = so.synthesize(records=400, items=60, entries=6_000, seed=11)
EXACT = [
    so.Adversary(knows=8, wrong=2, value_error=1, time_error=14),
    so.Adversary(knows=4, value_error=None, time_error=3),
    so.Adversary(knows=3, value_error=0, time_error=None, items="rarest"),
    so.Adversary(knows=4, wrong=1, wrong_facts="items", value_error=0, time_error=0),
    so.Adversary(knows=3, value_error=2, time_error=30, items=so.outside_top(20)),
]
ROUNDED = so.Adversary(knows=3, value_error=0, time_error=None, items="popular")


def check_against_reference(adversary, exclude, off):
    """Scores and posteriors of 12 targets, nobody included."""
    targets = np.flatnonzero(adversary.eligible(RELEASE, np.arange(RELEASE.n_records)))[:12]
    known, errors = adversary.observe_all(RELEASE, targets, 1), errors_of(RELEASE, adversary)
    verdicts = so.Likelihood(adversary).attacks(RELEASE, known, exclude=targets if exclude else None)
    for q, verdict in enumerate(verdicts):
        left_out = int(targets[q]) if exclude else -1
        entries = release_entries(RELEASE, adversary.items, left_out)
        scores = reference.scores(known_facts_of_query(RELEASE, known, q), entries, errors, RELEASE.n_records)
        if exclude:
            scores[left_out] = -np.inf
        assert verdict.scores == pytest.approx(scores, abs=off)
        posterior = reference.posterior(scores, adversary.knows, errors.coverage, 0.5)
        said = [*map(verdict.probability, RELEASE.records), verdict.nobody]
        assert said == pytest.approx(posterior, rel=1e-6 + 2 * off, abs=1e-12)


def test_the_reference_has_at_most_60_lines_and_imports_nothing_but_array_types():
    lines = Path(reference.__file__).read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 60
    assert [line for line in lines if line.startswith(("from standout", "import standout"))] == [
        "from standout.attack.reference_arrays import Entries, Errors, KnownFact",
        "from standout.core.arrays import Bools, Floats",
    ]


@pytest.mark.parametrize("adversary", EXACT, ids=str)
@pytest.mark.parametrize("exclude", [False, True])
def test_scores_and_posteriors_equal_the_reference(adversary, exclude):
    check_against_reference(adversary, exclude, 1e-9)


@pytest.mark.parametrize("exclude", [False, True])
def test_sums_of_supports_are_rounded_by_a_fifth_of_a_percent(exclude):
    check_against_reference(ROUNDED, exclude, 0.002 * ROUNDED.knows + 0.001)
