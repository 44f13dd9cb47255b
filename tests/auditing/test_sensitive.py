"""Sensitive items: read by id or title, and counted as a slow twin does."""

import math

import pytest

import standout as so
from auditing.audit_samples import ACQUAINTANCE, SEED, identified, small_audit, targets_of, valid
from standout.auditing.exposure import read_sensitive_list
from standout.evaluate.estimates import rate

pytestmark = pytest.mark.once


def with_titles(release, put):
    titles = {item: f"Title of {item.removeprefix('thing ')} (1999)" for item in release.items}
    rows = "".join(f"{item},{title}\n" for item, title in titles.items())
    return so.read(release.to_frame(), titles=put("item,title\n" + rows, "titles.csv"))


def test_sensitive_items_are_matched_by_id_or_title(put, release):
    text = "# a comment\nthing 1\thealth\nTitle of 2\thealth \r\n\nthing 3\nnobody knows\tpolitics\n"
    path = put(text, "list.txt")
    sensitive = read_sensitive_list(path, with_titles(release, put))
    items = {name: [release.items[code] for code in codes] for name, codes in sensitive.categories.items()}
    assert items == {"health": ["thing 1", "thing 2"], "politics": [], "any": ["thing 1", "thing 2", "thing 3"]}
    assert (sensitive.file, sensitive.lines, sensitive.matched) == ("list.txt", 4, 3)
    assert sensitive.limit == "1 of 4 lines of list.txt name no item of the release."
    with pytest.raises(so.ParameterError, match=r"list\.txt names no item"):
        read_sensitive_list(put("# nothing\n", "list.txt"), release)
    with pytest.raises(so.SourceError, match="not a text file"):
        read_sensitive_list(put(b"\xff\xfe", "list.txt"), release)
    with pytest.raises(so.SourceError, match="cannot be read"):
        read_sensitive_list(path.with_name("none"), release)


def test_revealed_items_are_counted_as_a_slow_twin_does(put, release):
    chosen = {"health": ["thing 1", "thing 2"], "politics": ["thing 3"]}
    lines = [f"{item}\t{name}" for name, items in chosen.items() for item in items]
    path = put("\n".join([*lines, "thing 4", "no such"]) + "\n", "sensitive.txt")
    result = small_audit(release, sensitive=path)
    valid(result)
    sensitive = result.findings.exposure.sensitive
    assert (sensitive.file, sensitive.items_listed, sensitive.items_in_release) == ("sensitive.txt", 5, 4)
    assert "1 of 5 lines of sensitive.txt name no item of the release." in result.findings.limits
    adversary = ACQUAINTANCE
    rows = targets_of(release, adversary)
    correct, known = identified(release, adversary, rows, 8), adversary.observe_all(release, rows, SEED)
    chosen["any"] = ["thing 1", "thing 2", "thing 3", "thing 4"]
    assert [row.category for row in sensitive.rows] == list(chosen)
    records = [set(release.record_at(r).support) for r in range(release.n_records)]
    for row in sensitive.rows:
        items = {*chosen[row.category]}
        having = [t for t, target in enumerate(rows) if items & records[target]]
        hits = [
            correct[t] for t in having if (items & records[rows[t]]) - {fact.item for fact in known.aux(release, t)}
        ]
        assert row.revealed == rate(math.fsum(hits), len(having))
        assert row.people_with == sum(bool(items & record) for record in records)
        assert row.people_revealed == round(row.revealed.value * row.people_with)
        assert row.items == len(items)
    assert result.tables["sensitive"]["category"].to_list() == list(chosen)
