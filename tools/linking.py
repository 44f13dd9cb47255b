"""Write the measured part of docs/linking.md and its charts: linking on real data sets.

python -m tools.linking FOLDER [OTHERS.json]     (the folder of the data sets; the output of
                                                  benchmarks.linking_others)
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
from standout.data.build import subset
from standout.report.charts import WIDE
from standout.report.pages import link_figures as figures

DOCS = Path(__file__).parent.parent / "docs"
PAGE, PICTURES = DOCS / "linking.md", DOCS / "linking"
BEGIN, END = "<!-- measured: python -m tools.linking FOLDER -->", "<!-- end of the measured part -->"
SEED, SEEDS = 2008, 5
RETAIL: dict[str, Any] = {
    "record": "CustomerID",
    "item": "StockCode",
    "value": "Quantity",
    "time": "InvoiceDate",
    "time_format": "%m/%d/%Y %H:%M",
    "encoding": "latin-1",
    "max_rejects": "25%",
    "repeats": "last",
}
OTC: dict[str, Any] = {"record": 1, "item": 2, "value": 3, "time": 4, "time_format": "s"}


@dataclass(frozen=True)
class Pair:
    """A release, public profiles, and the truth."""

    release: so.Release
    public: so.Release
    truth: dict[str, str]

    @property
    def present(self) -> int:
        """How many profiles are in the release."""
        find_profile, find_record = self.public.records.find, self.release.records.find
        pairs = [(find_profile(profile), find_record(record)) for profile, record in self.truth.items()]
        return sum(None not in pair for pair in pairs)


def movietweetings(folder: Path) -> Pair:
    """Two releases of one population under different ids: dates to the day, half the entries of each."""
    source, draw = folder / "movietweetings", np.random.default_rng(SEED)
    release, public = (
        so.read(frame.filter(pl.Series(draw.random(len(frame)) < 0.5)))
        for frame in (so.read(source / name).to_frame() for name in ("2013-11-06", "100K"))
    )
    pairs = pl.read_csv(source / "truth-2013-11-06-vs-100K.csv", infer_schema=False)
    pairs = pairs.sort(pl.col("shared").cast(pl.Int64)).unique("user_b", keep="last", maintain_order=True)
    return Pair(release, public, dict(zip(pairs["user_b"], pairs["user_a"], strict=True)))


def both_sides(whole: so.Release, unrelated: float = 0.0) -> Pair:
    """Each entry is on either side with probability ½; the public dates of some people are random."""
    frame, draw = whole.to_frame(), np.random.default_rng(SEED)
    sides = [frame.filter(pl.Series(draw.random(len(frame)) < 0.5)) for _ in range(2)]
    if unrelated:
        people = sides[1]["record"].unique(maintain_order=True).to_list()
        with_random_dates = {person for person in people if draw.random() < unrelated}
        days = pl.Series(draw.permutation(sides[1]["time"].to_numpy())).cast(pl.Date)
        mixed = pl.when(pl.col("record").is_in(list(with_random_dates))).then(days).otherwise("time")
        sides[1] = sides[1].with_columns(time=mixed)
    release, public = (so.read(side) for side in sides)
    return Pair(release, public, {name: name for name in release.records})


def measured(folder: Path, others: dict[str, Any] | None) -> str:
    """Return the measured part of the page."""
    whole = so.read(folder / "movielens-latest-small")
    parts = [*tweets(folder, others), *absent(folder), *present(whole)]
    return "\n".join(parts)


def tweets(folder: Path, others: dict[str, Any] | None) -> Iterator[str]:
    """Yield the lines about the two releases of MovieTweetings."""
    pair = movietweetings(folder)
    runs = [so.link(pair.release, pair.public, truth=pair.truth, seed=seed) for seed in range(SEEDS)]
    links, recalls = runs[0], [run.recall.value for run in runs if run.recall is not None]
    absent_claims = links.absent_claims
    assert absent_claims is not None
    _draw(links, "movietweetings", "evidence")
    few = float((links.facts <= 3).mean())
    yield "### Two releases of MovieTweetings\n"
    yield (
        "Two releases of the same population under different ids, with dates to the day. Half the entries of "
        f"each were dropped. {pair.public.n_records:,} profiles and {pair.release.n_records:,} records "
        f"remain. {pair.present:,} people are in both. {_percent(few)} of the profiles have at most three "
        "facts, and about half of a profile's facts are missing from the person's record in the other "
        "release.\n"
    )
    yield f"{links.summary}\n"
    yield (
        f"In truth, {absent_claims.n:,} profiles belong to absent people: fewer than estimated, because "
        f"profiles with few facts look absent. {_percent(absent_claims.value)} of them "
        f"are claimed ({_percent(absent_claims.low)} to {_percent(absent_claims.high)}), and the budget is "
        f"{_percent(links.settings.budget)}. Decoys are random: with {SEEDS} seeds, of which this is the first, "
        f"recall lies between {_percent(min(recalls))} and {_percent(max(recalls))}. The learned probability "
        f"that a fact is in the person's own record is {links.model.coverage:.2f}.\n"
    )
    yield "![Strength of profiles and decoys, by evidence](linking/movietweetings-evidence.svg)\n"
    yield "Claims by budget, with the φ that the decoys give for it:\n"
    yield from _by_budget(links.by_budget.filter(pl.col("budget").is_in([0.001, 0.01, 0.05, 0.1])))
    yield ""
    if others:
        yield from _others(others)


def _by_budget(table: pl.DataFrame) -> Iterator[str]:
    yield "| budget | claims | correct claims | precision | recall | absent people claimed |"
    yield "|---" * 6 + "|"
    for row in table.iter_rows(named=True):
        precision = "–" if row["precision"] is None else _percent(row["precision"])
        yield (
            f"| {_percent(row['budget'])} | {row['claims']:,} | {row['correct_claims']:,} | {precision} "
            f"| {_percent(row['recall'])} | {_percent(row['absent_claims'])} |"
        )


def _others(others: dict[str, Any]) -> Iterator[str]:
    yield "#### Compared with Splink and RecordLinkage\n"
    yield (
        "The tools link the same pair, each in its usual configuration (see `benchmarks/linking_others.py`). "
        "“In hindsight” means that the threshold was chosen with the truth, so that at most 1 % of the "
        "claims are false. Each profile's "
        "best candidate counts if it is unique.\n"
    )
    yield ("| | identified | in hindsight: claims | recall | by its own threshold: claims | precision | recall |")
    yield "|---" * 7 + "|"
    for name, result in others.items():
        title, default = f"{name} {result.get('version', '')}".strip(), result["own_threshold"]
        yield (
            f"| {title} | {_percent(result['identified'])} | {result['claims']:,} "
            f"| {_percent(result['recall'])} | {default['claims']:,} | {_percent(default['precision'])} "
            f"| {_percent(default['recall'])} |"
        )
    yield (
        "\nEach tool's own threshold is a probability of at least 99 %; for Standout it is the φ that the "
        "decoys give for a budget of 1 %.\n"
    )


def absent(folder: Path) -> Iterator[str]:
    """Yield the lines about people who are on one side only."""
    cases: list[tuple[str, str, dict[str, Any], int]] = [
        ("MovieLens", "movielens-latest-small", {}, 10),
        ("MovieTweetings", "movietweetings/2013-11-06", {}, 5),
        ("Online Retail", "online-retail/online-retail.csv.gz", RETAIL, 5),
        ("Bitcoin OTC", "bitcoin-otc/soc-sign-bitcoinotc.csv", OTC, 5),
    ]
    yield "### Absent people\n"
    yield (
        "One half of the people in a data set form the release and the other half the profiles, so every "
        "claim is false. The budget is 1 %, and there are several random splits. The design of decoys and "
        "evidence was settled on other splits of the same four data sets.\n"
    )
    yield "| data set | decoys | claims, by split | allowed | share of all profiles |"
    yield "|---" * 5 + "|"
    for name, path, reading, draws in cases:
        yield from _absent(name, so.read(folder / path, **reading), draws)
    yield ""


def _absent(name: str, whole: so.Release, draws: int) -> Iterator[str]:
    counts, profiles = [], 0
    for seed in range(draws):
        chosen = np.random.default_rng(SEED + seed).random(whole.n_records) < 0.5
        links = so.link(subset(whole, chosen), subset(whole, ~chosen), seed=seed)
        profiles += len(links)
        counts.append(links.claims)
    shown, share = ", ".join(map(str, counts)), _percent(sum(counts) / profiles)
    yield f"| {name} | both (default) | {shown} | {profiles / 100 / draws:.0f} each | {share} |"


def present(whole: so.Release) -> Iterator[str]:
    """Yield the lines about people who are on both sides."""
    pair = both_sides(whole)
    yield "### People on both sides\n"
    yield (
        f"Each entry of the {whole.n_records:,} people of movielens-latest-small is in the release with "
        "probability ½ and, independently, in the public profile with probability ½. A quarter of the "
        "entries are in both.\n"
    )
    yield from _present(pair)
    yield ""


def _present(pair: Pair) -> Iterator[str]:
    yield "| dates | identified | budget | claims | precision | recall | mainly by values, dates, items |"
    yield "|---|---|---|---|---|---|---|"
    for dates in ("use", "ignore", "learn"):
        links = so.link(pair.release, pair.public, truth=pair.truth, dates=dates, seed=SEED)
        assert links.identified is not None
        parts = links.findings().strongest_parts
        for row in links.by_budget.filter(pl.col("budget").is_in([0.01])).iter_rows(named=True):
            yield (
                f"| {dates} | {_percent(float(links.identified.mean()))} | {_percent(row['budget'])} "
                f"| {row['claims']:,} | {_percent(row['precision'])} | {_percent(row['recall'])} "
                f"| {parts.values:,}, {parts.dates:,}, {parts.items:,} |"
            )


def _draw(links: so.Links, name: str, kind: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    figure = figures(links.findings())[kind]
    svg = figure.draw(WIDE).svg(figure.title, figure.description)
    (PICTURES / f"{name}-{kind}.svg").write_text(svg + "\n", encoding="utf-8")


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %" if 0 < share < 0.02 else f"{100 * share:.1f} %"


def main() -> None:
    """Replace the measured part of the page."""
    others = json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else None
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{measured(Path(sys.argv[1]), others)}\n{END}{tail}", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
