"""How probabilities and bars are drawn."""

from hypothesis import given
from hypothesis import strategies as st

from standout.cli.commands.lineup import bar
from standout.evaluate.lineup import probability_text


def test_probabilities_are_never_rounded_to_certainty():
    texts = [probability_text(p) for p in (0, 1e-12, 0.0001, 0.5, 0.9999, 1 - 1e-12, 1)]
    assert texts == ["0 %", "< 0.01 %", "0.01 %", "50.00 %", "99.99 %", "> 99.99 %", "100 %"]


@given(share=st.floats(0, 1), width=st.integers(1, 40))
def test_a_bar_is_as_long_as_its_share(share, width):
    drawn = bar(share, width)
    eighths = sum(8 if sign == "█" else " ▏▎▍▌▋▊▉".index(sign) for sign in drawn)
    assert len(drawn) <= width and abs(eighths - 8 * width * share) <= 1 and bool(drawn) == (share > 0)
