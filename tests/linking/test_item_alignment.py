"""Which public item is which item of the release."""

import csv
import random
import re

import pytest
from linking_data import catalogue, data, pairs_of

import standout as so
from standout.ingest.formats import read_titles
from standout.linking.align import align
from standout.linking.titles import parse_title

pytestmark = pytest.mark.once


def test_two_items_that_fit_one_are_both_listed_for_review():
    public = catalogue({"a": "Hamlet (1996)", "b": "Hamlet (1996)", "c": "Brazil (1985)"})
    alignment = align(catalogue({"1": "Hamlet (1996)", "2": "Brazil (1985)"}), public)
    assert pairs_of(alignment, public) == {"c": "2"}
    assert alignment.doubtful["public_item"].to_list() == ["a", "b"]
    assert alignment.doubtful["reason"].unique().to_list() == ["another item fits equally well"]
    counts = alignment.counts
    assert (counts.doubtful, counts.ambiguous, counts.unknown) == (2, 2, 0)
    assert "2 more public items resemble items of the release" in alignment.explanation


def test_ids_are_trusted_if_their_titles_agree_and_titles_are_used_otherwise():
    release = catalogue({"1": "Brazil (1985)", "2": "Alien (1979)", "3": "Heat (1995)"})
    same = catalogue({"1": "Brasil (1985)", "3": "HEAT", "4": "Alien (1979)"})
    assert pairs_of(align(release, same), same) == {"1": "1", "3": "3"}
    other = catalogue({"1": "Alien (1979)", "2": "Heat (1995)", "3": "Sabrina (1954)"})
    assert pairs_of(align(release, other), other) == {"1": "2", "2": "3"}
    alignment = align(release, other, items="id")
    assert pairs_of(alignment, other) == {"1": "1", "2": "2", "3": "3"}
    assert alignment.counts.titles_differ == 3
    assert "3 aligned items have a different title in the release and should be reviewed" in alignment.explanation
    assert "There were no titles to check" not in alignment.explanation
    assert alignment.doubtful["decision"].to_list() == ["yes"] * 3
    bare = data([("x", "2", 1.0), ("x", "9", 2.0)])
    assert pairs_of(align(release, bare), bare) == {"2": "2"}
    assert "There were no titles to check whether the same id" in align(release, bare).explanation


def test_a_map_is_trusted_but_different_titles_are_listed():
    release, public = catalogue({"1": "Brazil (1985)", "2": "Alien"}), catalogue({"7": "Heat", "8": "Aliens"})
    alignment = align(release, public, items={"7": "1", "8": "2"})
    assert alignment.doubtful.select("public_item", "release_item", "decision").rows() == [("7", "1", "yes")]
    assert alignment.counts.titles_differ == 1


def test_catalogues_without_shared_items_are_an_error_that_names_the_options(tmp_path):
    bare, other = data([("p", "1")]), data([("x", "2")])
    with pytest.raises(so.ParameterError, match="pass items='title', or pass a map of items"):
        align(bare, other)
    titled, lone = catalogue({"1": "Brazil (1985)"}), catalogue({"2": "Alien (1979)"})
    with pytest.raises(so.ParameterError, match=r"no public title clearly matches .*: pass a map of items"):
        align(titled, lone)
    blank = catalogue({"2": " "})
    for one, two in ((titled, blank), (blank, catalogue({"3": "Alien"})), (blank, catalogue({"3": "  "}))):
        with pytest.raises(so.ParameterError, match="no public title clearly matches"):
            align(one, two, items="title")
    with pytest.raises(so.ParameterError, match="the release has no titles"):
        align(bare, lone, items="title")
    with pytest.raises(so.ParameterError, match="the public data has no titles"):
        align(titled, other, items="title")
    with pytest.raises(so.SourceError, match="cannot be read"):
        align(bare, other, items=tmp_path / "no.csv")
    path = tmp_path / "review.csv"
    with pytest.raises(so.ParameterError, match="review the 1 doubtful pairs, or pass a map of items"):
        align(titled, catalogue({"2": "Brazil (1990)"}), review=path)
    assert "Brazil (1990)" in path.read_text()


# A whole catalogue, corrupted


def misspell(text, chance):
    """One letter deleted, doubled, changed, or swapped with its neighbour; not the first, and no digit."""
    letters = [i for i, sign in enumerate(text) if sign.isalpha() and i and not text[i - 1].isspace()]
    if len(text) < 7 or not letters:
        return text
    at = chance.choice(letters)
    variants = [text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:]]
    variants.append(text[:at] + chance.choice("aeioustrn") + text[at + 1 :])
    variants.append(text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :])
    return chance.choice(variants)


def corrupt(title, kind, chance):
    """A title as another catalogue might have it."""
    match = re.fullmatch(r"(.*?)\s*\((\d{4})\)\s*", title)
    if not match:
        return title
    name, year = match[1], int(match[2])
    article = re.fullmatch(r"([^(]*), (The|A|An)", name)
    if kind == "renamed" and article:
        name = f"{article[2]} {article[1]}"
    elif kind == "renamed":
        name = name.upper().replace(" AND ", " & ").replace(":", " -").replace(" II", " 2").replace("É", "E")
    elif kind == "shortened":
        name = re.split(r"[:(]", name)[0].strip()
    elif kind == "other name":
        name = "".join(chance.sample("aeioubcdfgklmnprst", 12))
    elif kind.startswith("misspelt"):
        name = misspell(name, chance)
    if kind in ("a year off", "misspelt, a year off"):
        year += chance.choice([-1, 1])
    elif kind == "years off":
        year += chance.choice([-9, -4, 3, 7])
    return name if kind == "no year" else f"{name} ({year})"


KINDS = {
    "unchanged": 6,
    "renamed": 4,
    "misspelt": 4,
    "misspelt, a year off": 1,
    "a year off": 2,
    "years off": 1,
    "no year": 1,
    "shortened": 2,
    "other name": 1,
}


def two_catalogues(titles, seed):
    """(release's titles, public titles, truth, kind of each public item): a fifth is on one side only."""
    chance = random.Random(seed)
    ids = list(titles)
    chance.shuffle(ids)
    fifth = len(ids) // 5
    release = {item: titles[item] for item in ids[fifth:]}
    kinds = {item: chance.choices([*KINDS], [*KINDS.values()])[0] for item in ids[:-fifth]}
    kinds = {item: kind if parse_title(titles[item]).year else "unchanged" for item, kind in kinds.items()}
    public = {f"p{item}": corrupt(titles[item], kind, chance) for item, kind in kinds.items()}
    truth = {f"p{item}": item for item in kinds if item in release}
    return release, public, truth, {f"p{item}": kind for item, kind in kinds.items()}


def compare_with_truth(release, public, truth, path):
    """(precision of the accepted pairs, correctly aligned items, items whose true pair is in the review)."""
    public = catalogue(public)
    aligned = pairs_of(align(catalogue(release), public, items="title", review=path), public)
    with path.open(newline="") as file:
        listed = {(row["public_item"], row["release_item"]) for row in csv.DictReader(file)}
    correct = {item for item, other in aligned.items() if truth.get(item) == other}
    return len(correct) / len(aligned), correct, {item for item in truth if (item, truth[item]) in listed}


@pytest.mark.realdata
@pytest.mark.parametrize("seed", [7, pytest.param(2008, marks=pytest.mark.slow)])
def test_a_catalogue_renamed_misspelt_redated_and_incomplete(realdata, tmp_path, seed):
    titles = read_titles(realdata / "movielens-latest-small" / "movies.csv")
    release, public, truth, kinds = two_catalogues(titles, seed)
    precision, correct, listed = compare_with_truth(release, public, truth, tmp_path / "review.csv")
    assert precision >= 0.99
    by_kind = {kind: [item for item in truth if kinds[item] == kind] for kind in KINDS}
    share = {kind: len(correct.intersection(items)) / len(items) for kind, items in by_kind.items()}
    visible = {kind: len((correct | listed).intersection(items)) / len(items) for kind, items in by_kind.items()}
    assert all(share[kind] >= 0.98 for kind in ("unchanged", "renamed", "a year off"))
    assert share["misspelt"] >= 0.85 and share["no year"] >= 0.85
    assert share["years off"] <= 0.02 and share["other name"] == 0
    for kind in ("misspelt", "misspelt, a year off", "years off", "no year", "shortened"):
        assert visible[kind] >= 0.95, kind
