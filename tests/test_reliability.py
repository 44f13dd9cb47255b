"""The page about reliability has the counts of the records, and nothing else."""

from tools.reliability import PAGE, page


def test_the_tables_of_the_page_are_those_of_the_records():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `make reliability`"
