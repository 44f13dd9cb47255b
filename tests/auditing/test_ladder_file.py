"""Ladders in TOML files."""

import pytest

import standout as so
from auditing.audit_samples import DOCS, small_audit, valid
from standout.auditing.ladder import LADDER, RelativeError, Rung, read_ladder, resolve_ladder

pytestmark = pytest.mark.once


def test_the_ladder_in_the_docs_is_the_default():
    ladder = read_ladder(DOCS / "ladder.toml")
    assert ladder.rungs == LADDER
    assert (ladder.headline, ladder.source) == ("acquaintance", "ladder.toml")
    assert resolve_ladder(None).headline == "acquaintance"


def test_a_file_defines_a_ladder(put, release):
    path = put(
        """
        [[adversary]]
        name = "nosy"
        knows = 3
        items = "outside_top(5)"
        time_error = "none"
        length_error = 0.5

        [[adversary]]
        name = "late"
        title = "Somebody who saw the latest"
        gate = false
        items = "recent"
        """,
        "mine.toml",
    )
    ladder = read_ladder(path)
    nosy = so.Adversary(knows=3, items=so.outside_top(5), time_error=None, length_error=0.5)
    assert (ladder.headline, ladder.source) == ("nosy", "mine.toml")
    assert ladder.rungs == (
        Rung("nosy", "nosy", nosy),
        Rung("late", "Somebody who saw the latest", so.Adversary(items="recent"), gate=False),
    )
    result = small_audit(release, ladder=path, fail_above=0.5)
    findings = valid(result)
    assert findings["settings"]["ladder"] == "mine.toml"
    assert findings["threshold"]["adversary"] == "nosy"
    assert findings["answer"]["sentence"].startswith("The adversary “nosy” who knows 3 facts about a person")
    assert [adversary["gate"] for adversary in findings["adversaries"]] == [True, False]


def test_errors_may_be_numbers_durations_or_shares_of_the_data(put):
    spellings = {
        "value_error = '33 %'": {"value_error": RelativeError(0.33)},
        "value_error = '12.5%, at most 2'": {"value_error": RelativeError(0.125, 2)},
        "time_error = '2 %,  at most 14 Days'": {"time_error": RelativeError(0.02, 14)},
        "time_error = '2 %, at most 14'": {"time_error": RelativeError(0.02, 14)},
        "time_error = '2 %, at most 6 hours'": {"time_error": RelativeError(0.02, 0.25)},
        "joined_error = '.5 %'": {"joined_error": RelativeError(0.005)},
        "time_error = '14 days'": so.Adversary(time_error=14),
        "time_error = '1 hour'": so.Adversary(time_error=1 / 24),
        "joined_error = '30 minutes'": so.Adversary(joined_error=1 / 48),
        "length_error = '50 %'": so.Adversary(length_error=0.5),
        "value_error = 'None'": so.Adversary(value_error=None),
        "value_error = 1.5": so.Adversary(value_error=1.5),
    }
    for text, wanted in spellings.items():
        (rung,) = read_ladder(put(A + text, "ladder.toml")).rungs
        relative = isinstance(wanted, dict)
        assert rung.relative == (wanted if relative else {}), text
        assert rung.adversary == (so.Adversary() if relative else wanted), text


A = "[[adversary]]\nname = 'a'\n"
ERRORS = [
    ("", r"at least one table \[\[adversary\]\]"),
    ("adversary = 3", r"at least one table \[\[adversary\]\]"),
    ("adversary = []", r"at least one table \[\[adversary\]\]"),
    ("[adversary]\nname = 'a'", r"at least one table \[\[adversary\]\]"),
    ("[[adversary]]\nknows = 3", "adversary 1: name is missing"),
    (A + "know = 3", "adversary 1: unknown option 'know'; the options are name, title, gate"),
    (A + "knows = '3'", "adversary 1: knows must be a whole number"),
    (A + "knows = true", "adversary 1: knows must be a whole number"),
    (A + "wrong = 9", "adversary 1: wrong must be at most"),
    (A + "gate = 1", "gate must be true or false"),
    ("[[adversary]]\nname = 3", "name must be text"),
    (A + "items = 'some'", "items must be"),
    (A + "items = 3", "items must be text"),
    (A + "items = 'outside_top(0)'", "adversary 1: outside_top must be a whole"),
    (A + "value_error = 'much'", 'value_error must be a number, a text such as "33 %"'),
    (A + "value_error = '14 days'", 'value_error must be a number, a text such as "33 %"'),
    (
        A + "value_error = '33 %, at most 2 days'",
        "value_error must be a number, a text such as .* got '33 %, at most 2 days'",
    ),
    (A + "value_error = '-3 %'", "value_error must be a number, a text such as .* got '-3 %'"),
    (A + "value_error = '101 %'", "value_error must be a number, a text such as .* got '101 %'"),
    (A + "value_error = true", "value_error must be a number"),
    (A + "time_error = '2 weeks'", 'time_error must be a number, a text such as "14 days", "2 %"'),
    (A + "time_error = '2 % at most 14'", "time_error must be a number, a text such as"),
    (A + "time_error = '14'", "time_error must be a number, a text such as"),
    (A + "length_error = '50 %, at most 3'", "length_error must be a number, a text such as .50 %."),
    (A + "time_error = -1", "time_error must be"),
    (A + "time_error = nan", "time_error must be"),
    (A + "wrong_facts = 'lies'", "wrong_facts must be"),
    (A + A, "two adversaries have the same name"),
    ("[[adversary]]\nname = ' '", "name and title of an adversary must be one line"),
    (A + "title = '" + "x" * 99 + "'", "name and title of an adversary must be one line"),
    ("headline = 'b'\n" + A, "headline must be one of a, got 'b'"),
    ("headline = 3\n" + A, "headline must be one of a, got 3"),
    ("ladder = 3\n" + A, "unknown key 'ladder'"),
    ("[[adversary", "is not a TOML file"),
    (b"\xff\xfe", "is not a TOML file"),
]


def test_a_wrong_file_is_a_clear_error(put, tmp_path):
    for text, message in ERRORS:
        with pytest.raises(so.ParameterError, match=message):
            read_ladder(put(text, "ladder.toml"))
    with pytest.raises(so.SourceError, match=r"nothing\.toml cannot be read"):
        read_ladder(tmp_path / "nothing.toml")
