"""The page about reliability has the counts of the records, and nothing else."""

from tools.reliability import PAGE, latest, page


def test_the_tables_of_the_page_are_those_of_the_records():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `make reliability`"


def test_counts_of_a_target_come_from_its_last_commit_only():
    def line(target, commit, seed, inputs):
        return {"target": target, "commit": commit, "seed": seed, "inputs": inputs}

    record = [
        line("csv", "old", 1, 5),
        line("zip", "old", 1, 6),
        line("csv", "new", 1, 7),
        line("csv", "new", 2, 8),
        line("csv", "new", 2, 9),
    ]
    assert [chosen["inputs"] for chosen in latest(record, "target")] == [6, 7, 9]
