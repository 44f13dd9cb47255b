"""Whether texts have an evident order is decided for any texts, however long their numbers are."""

from standout.ingest.cells import evident_order


def test_texts_with_very_long_numbers_have_no_order_by_label():
    assert evident_order(["1 - low", "2 - high", "3"]) is not None
    assert evident_order(["1 - low", "2 - high", "3" * 5_000]) is None
