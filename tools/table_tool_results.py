"""What Standout, pyCANON, privattacks and Anonymeter say about UCI Adult, in two tables."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from benchmarks.other_table_tools import COARSE, coarse_frame

import standout as so
from standout.measure.classes import attribute_disclosure
from standout.measure.equivalence import identity_risk
from tools.adult import QUASI_IDENTIFIERS, SENSITIVE, hand_counts
from tools.table_attack_results import KNOWS, SEED, interval

__all__ = ["tools_part"]

TARGETS = 1_000
Said = dict[str, dict[str, Any]]
TOOLS_SHOW = """
Singling out asks whether predicates exist that match one row, not how many people they match. Linkability does
not ask whether the nearest row is the target's. Only the attacks of Standout say what an adversary with a wrong
fact finds.
"""


@dataclass(frozen=True)
class Measure:
    """A number as several tools give it; a tool that does not give it has None."""

    name: str
    ours: float
    by_hand: float
    pycanon: float | None = None
    privattacks: float | None = None

    @property
    def is_same(self) -> bool:
        """Whether all tools agree; pyCANON rounds the l of entropy l-diversity down."""
        others = [self.by_hand, self.privattacks]
        others += [] if self.pycanon == int(self.ours) else [self.pycanon]
        return all(other is None or abs(other - self.ours) < 1e-9 for other in others)


def tools_part(path: Path, table: so.Release, released: so.Release, said: Said) -> Iterator[str]:
    """What was counted, and the table of tools."""
    frame = pl.read_csv(path)
    measures = [*_raw_measures(frame, table, said["raw"]), *_coarse_measures(frame, said["coarse"])]
    different = [measure.name for measure in measures if not measure.is_same]
    assert not different, f"tools disagree about {different}"
    yield "### The same counts\n"
    yield (
        f"{table.n_records:,} rows; the usual 8 quasi-identifiers are {', '.join(QUASI_IDENTIFIERS)}. "
        "`?` counts as a value of its own. The coarse table has age in bands of 20 and three races, without classes "
        "below 20 rows.\n"
    )
    yield (
        f"{len(measures)} measures (k, classes, unique rows, marketer risk, l, entropy l, t, right guesses) were "
        "computed by Standout, by hand, and by pyCANON or privattacks where they have them. All numbers that two "
        "tools give are equal.\n"
    )
    yield from _tool_table(table, released, said)


def _raw_measures(frame: pl.DataFrame, table: so.Release, said: Said) -> Iterator[Measure]:
    hand = hand_counts(frame, QUASI_IDENTIFIERS, SENSITIVE)
    identity = identity_risk(table, QUASI_IDENTIFIERS)
    disclosure = attribute_disclosure(table, QUASI_IDENTIFIERS, SENSITIVE)
    canon, priv = _values(said, "pycanon"), _values(said, "privattacks")
    unique = round(identity.unique.value * table.n_records)
    classes = round(identity.mean.value * table.n_records)
    yield Measure("k", identity.k, hand["k"], canon["k"])
    yield Measure("classes", classes, hand["classes"], canon["classes"])
    yield Measure("unique rows", unique, hand["unique"], None, priv["unique"])
    yield Measure("marketer risk", identity.mean.value, hand["marketer"], None, priv["marketer"])
    yield Measure("l of income", disclosure.distinct_l, hand["l"], canon["l"])
    yield Measure("entropy l of income", disclosure.entropy_l, hand["entropy l"], canon["entropy l"])
    yield Measure("t of income", disclosure.t, hand["t"], canon["t"])
    yield Measure("right guesses of income", disclosure.guess.value, hand["guess"], None, priv["guess"])


def _coarse_measures(frame: pl.DataFrame, said: Said) -> Iterator[Measure]:
    coarse, sensitive = coarse_frame(frame), "marital-status"
    table = so.read(coarse, record=False)
    hand = hand_counts(coarse, list(COARSE), sensitive)
    disclosure = attribute_disclosure(table, COARSE, sensitive)
    k = identity_risk(table, COARSE).k
    canon = _values(said, "pycanon")
    yield Measure("coarse: k", k, hand["k"], canon["k"])
    yield Measure("coarse: l of marital-status", disclosure.distinct_l, hand["l"], canon["l"])
    name = "coarse: entropy l of marital-status"
    yield Measure(name, disclosure.entropy_l, hand["entropy l"], canon["entropy l"])
    yield Measure("coarse: t of marital-status", disclosure.t, hand["t"], canon["t"])


def _values(said: Said, tool: str) -> dict[str, Any]:
    return {name: result["value"] for name, result in said[tool]["results"].items()}


def _tool_table(table: so.Release, released: so.Release, said: Said) -> Iterator[str]:
    """What each tool says about the raw and the sanitized table, and how long it takes."""
    yield "### What each tool finds\n"
    yield (
        "The sanitized table has age in bands of 10 and no country. CPU seconds are for the "
        "raw table, without loading the data. Anonymeter made 500 attacks in one process.\n"
    )
    yield "| tool and question | raw | sanitized | one of 6 facts wrong, raw | CPU seconds |"
    yield "|---|---|---|---|---|"
    for name, raw, sanitized, wrong, seconds in [*_our_rows(table, released), *_their_rows(said)]:
        yield f"| {name} | {raw} | {sanitized} | {wrong} | {seconds:.2g} |"
    yield TOOLS_SHOW


Row = tuple[str, str, str, str, float]


def _our_rows(table: so.Release, released: so.Release) -> Iterator[Row]:
    names = [[c for c in QUASI_IDENTIFIERS if c in each.column_names] for each in (table, released)]
    risks = [identity_risk(each, known) for each, known in zip((table, released), names, strict=True)]
    seconds = _seconds(lambda: identity_risk(table, names[0]))
    unique, mean = ([f"{getattr(risk, m).value:.4f}" for risk in risks] for m in ("unique", "mean"))
    yield ("Standout: unique rows, all 8 known", *unique, "", seconds)
    yield ("Standout: marketer risk, all 8 known", *mean, "", seconds)
    for label in ("exact match", "likelihood"):
        cells, begun = [], time.process_time()
        for each, wrong in ((table, 0), (released, 0), (table, 1)):
            adversary = so.Adversary(KNOWS, tuple(QUASI_IDENTIFIERS), wrong=wrong, error=0.0)
            simulation = so.simulate(each, adversary, attack=label, targets=TARGETS, seed=SEED)
            cells.append(interval(simulation.cell().identified))
        took = (time.process_time() - begun) / 3
        yield (f"Standout: {label}, 6 of 8 known, {TARGETS:,} people", *cells, took)


def _their_rows(said: Said) -> Iterator[Row]:
    for tool, names in (
        ("pycanon", {"k": "k"}),
        ("privattacks", {"marketer": "chance to find a row, all 8 known", "guess": "right guesses of income"}),
        ("anonymeter", {name: name for name in said["raw"].get("anonymeter", {}).get("results", {})}),
    ):
        for key, label in names.items():
            raw, sanitized = (said[table][tool]["results"][key] for table in ("raw", "sanitized"))
            name = f"{tool} {said['raw'][tool]['version']}: {label}"
            yield name, _shown(raw["value"]), _shown(sanitized["value"]), "", raw["cpu"]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]:.3f} ({value[1]:.3f}–{value[2]:.3f})"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _seconds(work: Callable[[], object]) -> float:
    work()
    begun = time.process_time()
    work()
    return time.process_time() - begun
