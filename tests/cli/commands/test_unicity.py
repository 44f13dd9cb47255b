"""`standout unicity` prints the library's numbers."""

import json

import pytest
from command_line import undocumented

import standout as so

pytestmark = pytest.mark.large  # whole runs; their parts have tests of their own


def test_unicity_prints_the_librarys_numbers(run, people_index):
    results = so.unicity(so.open(people_index), [1, 2, 3], time=30)
    outcome = run("unicity", people_index, "-k", "1-3", "--bin-days", 30)
    assert outcome.code == 0
    for result in results:
        share = result.share
        assert f"{100 * share.value:.1f} % ({100 * share.low:.1f}–{100 * share.high:.1f})" in outcome.out
    content = json.loads(run("unicity", people_index, "-k", "1-3", "--bin-days", 30, "--json").out)
    assert [row["share"] for row in content["unicity"]] == [result.share.value for result in results]
    assert undocumented("unicity", content) == []
