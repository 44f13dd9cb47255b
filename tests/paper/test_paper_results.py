"""The numbers of the paper: every bar is there, and every attack is an adversary."""

from collections import Counter

import pytest

import standout as so
from standout.paper.figures import all_figures
from standout.paper.published import bars, neighbours

pytestmark = pytest.mark.once


def test_every_bar_of_the_paper_is_there():
    counts = Counter(bar.figure for figure in all_figures() for bar in bars(figure.key))
    assert counts == {"1": 6, "2": 12, "3": 6, "4": 6, "5": 6, "6": 6, "11": 6, "table": 9, "sp10": 10}
    assert {bar.paper for bar in bars("2")} == {0.849, 0.899, 0.963, 0.869, 0.906, 0.936}
    curve = neighbours("sets")
    assert (curve[0.05], curve[0.5]) == (0.808, 0.024) and len(neighbours("ratings")) == 68


def test_an_attack_of_the_paper_is_an_adversary():
    setting = bars("6")[-1].setting
    assert setting.adversary == so.Adversary(knows=8, wrong=2, value_error=1, time_error=14, length_error=0.5)
    assert (setting.words["facts"], bars("1")[0].setting.words["facts"]) == ("6 of 8", "2")
    wrong_films = bars("sp10")[0].setting.adversary
    assert (wrong_films.knows, wrong_films.wrong, wrong_films.wrong_facts) == (8, 4, "items")
    assert bars("4")[3].setting.adversary.items == so.outside_top(500)
