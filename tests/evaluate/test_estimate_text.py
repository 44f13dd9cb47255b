"""Shares in sentences."""

from standout.evaluate.estimates import percent


def test_shares_have_as_many_digits_as_matter():
    texts = {
        0: "0 %",
        0.0001: "less than 0.1 %",
        0.004: "0.4 %",
        0.01: "1 %",
        0.05: "5 %",
        0.0496: "5 %",
        0.123: "12 %",
        0.843: "84 %",
        0.9123: "91.2 %",
        0.999: "99.9 %",
        0.9999: "more than 99.9 %",
        1: "100 %",
    }
    assert {share: percent(share) for share in texts} == texts
