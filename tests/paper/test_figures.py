"""The list of figures: their order, their numbers in both versions, and their texts."""

import pytest

import standout as so
from standout.paper.figures import all_figures, select_figures

pytestmark = pytest.mark.once


def test_figures_are_in_the_order_of_the_paper_and_have_both_numbers():
    assert [figure.key for figure in all_figures()] == [*map(str, range(1, 13)), "table", "sp10", "imdb"]
    assert all_figures()[0].about["number"] == "Figure 1 of 2007, Figure 4 of 2008"
    numbers = [figure.about["number_2008"] for figure in all_figures() if figure.about["number_2008"]]
    assert sorted(map(int, numbers)) == list(range(1, 13))


def test_every_figure_has_texts():
    assert all(figure.about["title"] and figure.about["description"] for figure in all_figures())
    assert {figure.key for figure in all_figures() if not figure.about["assumptions"]} == {"table"}


def test_figures_are_selected_by_key_and_unknown_keys_are_rejected():
    assert [figure.key for figure in select_figures("12, 1,TABLE")] == ["1", "12", "table"]
    with pytest.raises(so.ParameterError, match=r"only must name figures among 1, 2, .*, got '13'"):
        select_figures("1,13")
