"""Writes the measured part of docs/linking.md and its pictures: linking on real data sets.

python -m tools.linking FOLDER [OTHERS.json]     (the folder that holds the data sets; and what
                                                  benchmarks.linking_others wrote)
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import standout as so
from standout.linking.assign import one_to_one
from standout.linking.claims import Null
from standout.release.subset import subset
from standout.report.interval_charts import WIDE
from standout.report.linking_page import figures

DOCS = Path(__file__).parent.parent / "docs"
PAGE, PICTURES = DOCS / "linking.md", DOCS / "linking"
BEGIN, END = "<!-- measured: python -m tools.linking FOLDER -->", "<!-- end of what is measured -->"
SEED, SEEDS = 2008, 5
RETAIL: dict[str, Any] = {
    "record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate",
    "time_format": "%m/%d/%Y %H:%M", "encoding": "latin-1", "max_rejects": "25%",
}  # fmt: skip
OTC: dict[str, Any] = {"record": 1, "item": 2, "value": 3, "time": 4, "time_format": "s"}
PHIS, BITS = (0.0, 1.5, 5.0, 15.0, 50.0, 100.0), (0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True)
class Pair:
    """A release, public profiles, and who is who."""

    release: so.Release
    public: so.Release
    truth: dict[str, str]

    @property
    def present(self) -> int:
        """How many profiles are in the release."""
        pairs = [
            (self.public.records.find(one), self.release.records.find(two)) for one, two in self.truth.items()
        ]
        return sum(None not in found for found in pairs)


def movietweetings(folder: Path) -> Pair:
    """Two releases of one population under different ids: dates to the day, half the entries of each side."""
    place, draw = folder / "movietweetings", np.random.default_rng(SEED)
    release, public = (
        so.read(frame.filter(pl.Series(draw.random(len(frame)) < 0.5)))
        for frame in (so.read(place / name).to_frame() for name in ("2013-11-06", "100K"))
    )
    pairs = pl.read_csv(place / "truth-2013-11-06-vs-100K.csv", infer_schema=False)
    pairs = pairs.sort(pl.col("shared").cast(pl.Int64)).unique("user_b", keep="last", maintain_order=True)
    return Pair(release, public, dict(zip(pairs["user_b"], pairs["user_a"], strict=True)))


def both_sides(whole: so.Release, unrelated: float = 0.0) -> Pair:
    """Each entry is on either side with probability ½; of some people the public dates mean nothing."""
    frame, draw = whole.to_frame(), np.random.default_rng(SEED)
    sides = [frame.filter(pl.Series(draw.random(len(frame)) < 0.5)) for _ in range(2)]
    if unrelated:
        people = sides[1]["record"].unique(maintain_order=True).to_list()
        some = {one for one in people if draw.random() < unrelated}
        days = pl.Series(draw.permutation(sides[1]["time"].to_numpy())).cast(pl.Date)
        mixed = pl.when(pl.col("record").is_in(list(some))).then(days).otherwise("time")
        sides[1] = sides[1].with_columns(time=mixed)
    release, public = (so.read(side) for side in sides)
    return Pair(release, public, {one: one for one in release.records})


def measured(folder: Path, others: dict[str, Any] | None) -> str:
    whole = so.read(folder / "movielens-latest-small")
    parts = [*tweets(folder, others), *absent(folder), *present(whole)]
    return "\n".join(parts)


def tweets(folder: Path, others: dict[str, Any] | None) -> Iterator[str]:
    pair = movietweetings(folder)
    tries = [so.link(pair.release, pair.public, truth=pair.truth, seed=seed) for seed in range(SEEDS)]
    links, found = tries[0], [one.recall.value for one in tries if one.recall is not None]
    assert links.precision is not None and links.recall is not None and links.false is not None
    _draw(links, "movietweetings")
    few = float((links.facts <= 3).mean())
    yield "### Two releases of MovieTweetings\n"
    yield (
        f"The same people under other ids, dates to the day, half the entries of each side dropped: "
        f"{pair.public.n_records:,} profiles against {pair.release.n_records:,} records, of which "
        f"{pair.present:,} are the same people. {_percent(few)} of the profiles tell three facts or less, "
        f"about half of which are not on the other side.\n"
    )
    yield f"{links.summary}\n"
    yield "| facts used | profiles | claims | right | there | found of those |"
    yield "|---" * 6 + "|"
    yield from _size_rows(links)
    yield (
        f"\nOf {links.false.n:,} profiles that are not there {_percent(links.false.value)} are claimed "
        f"({_percent(links.false.low)} to {_percent(links.false.high)}); the budget is "
        f"{_percent(links.budget)}. Decoys are drawn: with {SEEDS} seeds, of which this is the first, recall "
        f"lies between {_percent(min(found))} and {_percent(max(found))}. Learned: a fact is in the person's "
        f"own record with probability {links.model.covered:.2f}.\n"
    )
    yield "![How far profiles and decoys stand out, by evidence](linking/movietweetings-evidence.svg)\n"
    yield "By budget, with φ for it from the decoys:\n"
    yield from _table(links.by_budget, "budget")
    yield "\nBy φ, in bits:\n"
    yield from _phis(links, BITS)
    yield "\n![Precision and recall by φ](linking/movietweetings-truth.svg)\n"
    yield "If eccentricity decides instead, as in the paper, with one φ for all:\n"
    paper = so.link(pair.release, pair.public, truth=pair.truth, by="eccentricity")
    yield from _phis(paper, PHIS)
    yield "\n![The same, by eccentricity](linking/movietweetings-eccentricity.svg)\n"
    yield (
        "That does not get there: a single rare film gives the highest eccentricity there can be, "
        f"{np.sqrt(pair.release.n_records):.0f} σ among {pair.release.n_records:,} records.\n"
    )
    if others:
        yield from _others(others)


def _size_rows(links: so.Links) -> Iterator[str]:
    for row in links.sizes.iter_rows(named=True):
        size = f"{row['from']}" if row["to"] == row["from"] else f"{row['from']}–{row['to']:,}"
        yield (
            f"| {size} | {row['profiles']:,} | {row['claims']:,} | {row['right']:,} | {row['present']:,} "
            f"| {_percent(row['right'] / max(row['present'], 1))} |"
        )


def _phis(links: so.Links, phis: tuple[float, ...]) -> Iterator[str]:
    picked = [links.curve.filter(pl.col("phi") >= phi).head(1) for phi in phis]
    yield from _table(pl.concat(picked).unique("phi", maintain_order=True), "phi")


def _table(table: pl.DataFrame, by: str) -> Iterator[str]:
    name = {"phi": "φ", "budget": "budget"}[by]
    yield f"| {name} | claims | right | precision | recall | of the absent claimed |"
    yield "|---" * 6 + "|"
    for row in table.iter_rows(named=True):
        at = f"{row[by]:.1f}" if by == "phi" else _percent(row[by])
        precision = "–" if row["precision"] is None else _percent(row["precision"])
        yield (
            f"| {at} | {row['claims']:,} | {row['right']:,} | {precision} | {_percent(row['recall'])} "
            f"| {_percent(row['false'])} |"
        )


def _others(others: dict[str, Any]) -> Iterator[str]:
    yield "#### Beside Splink and RecordLinkage\n"
    yield (
        "The same pair, each in its natural set-up (`benchmarks/linking_others.py` has it), and a threshold "
        "set in hindsight, by the truth, to where at most 1 % of the claims are false. Of each profile the "
        "best candidate counts, where it is one alone.\n"
    )
    yield "| | best guess right | in hindsight: claims | recall | own word: claims | precision | recall |"
    yield "|---" * 7 + "|"
    for name, one in others.items():
        words, own = f"{name} {one.get('version', '')}".strip(), one["own"]
        yield (
            f"| {words} | {_percent(one['best_guess_right'])} | {one['claims']:,} "
            f"| {_percent(one['recall'])} | {own['claims']:,} | {_percent(own['precision'])} "
            f"| {_percent(own['recall'])} |"
        )
    yield ("\nOwn word: a probability of 99 % at least; for ours φ by the decoys, with a budget of 1 %.\n")
    best = max(others, key=lambda name: others[name]["recall"])
    yield f"In hindsight most are found by {best}.\n"


def absent(folder: Path) -> Iterator[str]:
    cases: list[tuple[str, str, dict[str, Any], int]] = [
        ("MovieLens", "movielens-latest-small", {}, 10),
        ("MovieTweetings", "movietweetings/2013-11-06", {}, 5),
        ("Online Retail", "online-retail/online-retail.csv.gz", RETAIL, 5),
        ("Bitcoin OTC", "bitcoin-otc/soc-sign-bitcoinotc.csv", OTC, 5),
    ]
    yield "### People who are not there\n"
    yield (
        "Half of the people of a data set as release, the other half as profiles, in several draws: whatever "
        "is claimed is false; the budget is 1 %. How decoys are made and evidence is weighed was settled on "
        "other draws of the same four data sets.\n"
    )
    yield "| data set | decoys | claims, by draw | allowed | of all profiles |"
    yield "|---" * 5 + "|"
    for name, path, reading, draws in cases:
        yield from _absent(name, so.read(folder / path, **reading), draws)
    yield "\nClaims of one draw are not independent: several profiles may claim the same record.\n"


def _absent(name: str, whole: so.Release, draws: int) -> Iterator[str]:
    claims: dict[str, list[int]] = {}
    tried = 0
    for seed in range(draws):
        here = np.random.default_rng(SEED + seed).random(whole.n_records) < 0.5
        links = so.link(subset(whole, here), subset(whole, ~here), seed=seed)
        tried += len(links)
        for way, count in _ways(links):
            claims.setdefault(way, []).append(count)
    for way, counts in claims.items():
        shown, share = ", ".join(map(str, counts)), _percent(sum(counts) / tried)
        yield f"| {name} | {way} | {shown} | {tried / 100 / draws:.0f} each | {share} |"


def _ways(links: so.Links) -> Iterator[tuple[str, int]]:
    null, able, far = links.null, links.found.able, links.found.claim
    for kind, name in enumerate(("recombined only", "withheld only")):
        one = null.kind == kind
        own = Null(null.kind[one], null.person[one], null.claim[one], null.slack)
        yield name, int((able & (far >= own.phi(links.budget))).sum())
    yield "both (as it is done)", links.claims
    kept, _ = one_to_one(links.found.record, far, links.claimed)
    yield "both, with `assign`", int(kept.sum())


def present(whole: so.Release) -> Iterator[str]:
    pair = both_sides(whole)
    yield "### People on both sides\n"
    yield (
        f"Each entry of movielens-latest-small's {whole.n_records:,} people is in the release with "
        "probability ½ and, drawn anew, in the public profile with probability ½: a quarter is in both.\n"
    )
    yield from _present(pair)
    yield (
        "\nThe same, but the public dates of half of the people are drawn at random: some write when they "
        "have seen a film, some whenever they have time.\n"
    )
    yield from _present(both_sides(whole, unrelated=0.5))
    yield ""


def _present(pair: Pair) -> Iterator[str]:
    yield "| dates | best guess right | budget | claims | precision | recall | by values, dates, items |"
    yield "|---|---|---|---|---|---|---|"
    for dates in ("use", "ignore", "learn"):
        links = so.link(pair.release, pair.public, truth=pair.truth, dates=dates, seed=SEED)
        assert links.right is not None
        carried = links.told()["carried"]
        for row in links.by_budget.filter(pl.col("budget").is_in([0.01, 0.05])).iter_rows(named=True):
            yield (
                f"| {dates} | {_percent(float(links.right.mean()))} | {_percent(row['budget'])} "
                f"| {row['claims']:,} | {_percent(row['precision'])} | {_percent(row['recall'])} "
                f"| {carried['values']:,}, {carried['dates']:,}, {carried['items']:,} |"
            )


def _draw(links: so.Links, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    for kind, figure in figures(links.told()).items():
        svg = figure.draw(WIDE).svg(figure.title, figure.words)
        (PICTURES / f"{name}-{kind}.svg").write_text(svg + "\n", encoding="utf-8")


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %" if 0 < share < 0.02 else f"{100 * share:.1f} %"


def main() -> None:
    others = json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else None
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{measured(Path(sys.argv[1]), others)}\n{END}{tail}", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
