"""Steps as text: they come back as they were, and bad ones are refused in one line."""

import pytest
from sanitizing_data import ALL

import standout as so
from standout.sanitizing.steps import STEPS

pytestmark = pytest.mark.once

ODD = [
    so.steps.PerturbValue(None, 0.125),
    so.steps.PerturbTime(0.1, 1e-9),
    so.steps.RoundValue("edges", (-1.5, 1e-7, 1e22)),
    so.steps.DropItems(("@@home", "it's", "a b", "none")),
    so.steps.DropItems("@my list.txt"),
    so.steps.SampleRecords(0.999),
    so.steps.RandomizedResponse(0.1, items=True),
    so.steps.RoundTime(1),
    so.steps.KmSuppress(5),
    so.steps.DropItems("17"),
]
HUGE = "9" * 400
REFUSED = {
    "": ["", "'", "nothing 3"],
    "round-time": ["", "fortnight", "0", "1.5", "99999", "30 days"],
    "perturb-time": ["-3", "nan", "3 2", "3 0", HUGE],
    "perturb-value": ["0", "x", "inf", "1 1 1", HUGE],
    "round-value": [
        "",
        "bins",
        "bins 1.5",
        "bins 0",
        "bins 999999999999",
        "edges",
        "edges 3 2",
        "edges nan",
        f"edges {HUGE}",
        "liked",
        "some",
    ],
    "drop-rare-items": ["", "0", "2.5", "3 4"],
    "drop-top-items": ["0"],
    "drop-items": [""],
    "drop-entries": ["1", "0", HUGE],
    "cap-records": ["0"],
    "sample-records": ["0", "1.0", "0.1 3"],
    "cluster-records": ["1", "100000"],
    "km-suppress": ["1", "3 4"],
    "randomized-response": ["0", "", "1 values", "1000", HUGE],
}
REFUSED_PARAMETERS = [
    lambda: so.steps.RoundTime(0),
    lambda: so.steps.RoundValue("none", 2),
    lambda: so.steps.RoundValue("x"),
    lambda: so.steps.SampleRecords(1.5),
    lambda: so.steps.DropItems(("a", "a")),
    lambda: so.steps.DropItems((3,)),
    lambda: so.steps.PerturbValue(True),
    lambda: so.steps.RoundValue("edges", "3"),
    lambda: so.steps.DropRareItems(True),
    lambda: so.step(3),
    lambda: so.steps.RandomizedResponse("1"),
    lambda: so.steps.DropItems(None),
    lambda: so.steps.DropItems(3),
    lambda: so.steps.RoundValue("bins", 10**30),
    lambda: so.steps.RoundValue("liked", -(10**400)),
]


def test_the_text_of_a_step_gives_the_same_step():
    for words in ALL:
        assert str(so.step(words)) == words
    for step in [*map(so.step, ALL), *ODD]:
        assert so.step(str(step)) == step


def test_text_without_a_meaning_is_refused_in_one_line():
    for name, parameters in REFUSED.items():
        for words in parameters:
            with pytest.raises(so.ParameterError) as caught:
                so.step(f"{name} {words}".strip())
            assert "\n" not in str(caught.value), (name, words)


def test_parameters_out_of_range_are_refused():
    for make in REFUSED_PARAMETERS:
        with pytest.raises(so.ParameterError):
            make()


def test_every_step_is_public_and_described():
    on_entries = {name for name, kind in STEPS.items() if kind.about != "columns"}
    assert on_entries == {words.split()[0] for words in ALL}
    for kind in STEPS.values():
        assert kind.syntax and kind.summary and kind.__doc__
        assert getattr(so.steps, kind.__name__) is kind
