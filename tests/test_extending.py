"""The page on adversaries and attacks of one's own runs as it is printed."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


@pytest.fixture(scope="module")
def names():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    names = {"__name__": "extending"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def test_the_examples_of_the_page_run(names):
    rows = names["comparison"].rows
    assert len(rows) == 8 and {row.attack for row in rows} == {"paper", "Algorithm 1A", "cosine", "most items"}
    assert names["simulation"].estimate("identified").n == 100


def test_the_examples_find_more_than_chance(names):
    chance = 1 / names["release"].n_records
    for row in names["comparison"].rows:  # Algorithm 1A asks for all facts, and the acquaintance has a wrong one
        assert row.identified.low > chance or (row.attack, row.adversary) == ("Algorithm 1A", "acquaintance")


def test_the_cosine_of_the_page_is_a_cosine(names):
    release, cosine = names["release"], names["Cosine"]()
    known = names["so"].Adversary(knows=3).observe_all(release, [7, 8])
    scores = cosine.scores(release, known)
    for q in range(2):
        facts = {fact.item: fact.value for fact in known.aux(release, q)}
        for at in (0, 7, 8):
            entries = {entry.item: entry.value for entry in release.record(release.records[at]).entries}
            dot = sum(value * entries.get(item, 0.0) for item, value in facts.items())
            norm = sum(value**2 for value in entries.values()) ** 0.5
            assert scores[q, at] == pytest.approx(dot / norm)
