"""Write docs/lab/results.md: simulations on real data sets, with the commands that repeat them.

python -m tools.results FOLDER    (the folder that holds the data sets)
"""

import math
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import standout as so
from tools.repeats_results import repeats_section

PAGE = Path(__file__).parent.parent / "docs" / "lab" / "results.md"
TARGETS, SEED = 1000, 2008
BELOW = "<!-- below: not written by tools.results -->"
"""What follows is written by `tools.table_results`, which needs other data."""


@dataclass(frozen=True)
class Case:
    """A data set: its path, how to read it, and the adversary."""

    name: str
    path: str
    content: str
    adversary: so.Adversary
    facts: tuple[int, ...]
    reading: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """Command that computes the numbers of this data set."""
        adversary = self.adversary
        numbers = {
            "knows": adversary.knows,
            "wrong": adversary.wrong,
            "value-error": adversary.value_error,
            "time-error": adversary.time_error,
        }
        options = [f"--{name} {value:g}" for name, value in numbers.items() if value is not None]
        options += ["--facts " + ",".join(map(str, self.facts)), f"--targets {TARGETS}", f"--seed {SEED}"]
        options += ["--attack paper"]
        reading = [f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in self.reading.items()]
        return f"standout simulate {self.path} " + " ".join([*reading, *options])


CASES = [
    Case(
        "MovieLens (latest-small)",
        "movielens-latest-small",
        "films rated from 0.5 to 5",
        so.Adversary(knows=8, wrong=2, value_error=1, time_error=14),
        (2, 4, 8),
    ),
    Case(
        "MovieTweetings",
        "movietweetings/2013-11-06",
        "films rated from 0 to 10 on Twitter",
        so.Adversary(knows=8, wrong=2, value_error=1, time_error=14),
        (2, 4, 8),
    ),
    Case(
        "Online Retail",
        "online-retail/online-retail.csv.gz",
        "products bought, with quantities",
        so.Adversary(knows=8, wrong=2, value_error=2, time_error=14),
        (2, 4, 8),
        {
            "record": "CustomerID",
            "item": "StockCode",
            "value": "Quantity",
            "time": "InvoiceDate",
            "time_format": "%m/%d/%Y %H:%M",
            "encoding": "latin-1",
            "max_rejects": "25%",
            "repeats": "last",
        },
    ),
    Case(
        "Bitcoin OTC",
        "bitcoin-otc/soc-sign-bitcoinotc.csv",
        "people rated by other people from -10 to 10",
        so.Adversary(knows=4, wrong=1, value_error=1, time_error=14),
        (1, 2, 4),
        {"record": "1", "item": "2", "value": "3", "time": "4", "time_format": "s"},
    ),
]
ROWS = [
    ("identified", "identified", ""),
    ("correct claims at φ = 1.5", "correct_claims", "phi=1.5"),
    ("claims about absent people at φ = 1.5", "absent_claims", None),
    ("correct claims at ≤ 1 % false claims", "correct_claims", "absent_claims<=0.01"),
    ("bits gained (mean)", "bits_gained", None),
]
PLAIN = {"phi", "bits_left", "bits_gained"}


def page(folder: Path) -> str:
    """Return the page."""
    parts = [
        "# Simulations on real data\n",
        "Written by `python -m tools.results FOLDER`, and the part on tables by "
        "`python -m tools.table_results FOLDER`; do not edit.\n",
        "The rows are measures, defined in [measures.md](../measures.md); the columns are numbers of known "
        "facts. 95 % intervals are in brackets. If 2 of 8 facts are wrong, 1 of the first 4 is wrong on average. "
        "The attack is the paper's. *Neighbours above ε* is the share of records with a neighbour more similar than "
        "ε, by items; *unicity* the share that k entries single out, by items and values.\n",
        *(section(folder, case) for case in CASES),
        repeats_section(folder, SEED),
    ]
    return "\n".join(parts)


def section(folder: Path, case: Case) -> str:
    """Return the section about one data set."""
    release = so.read(folder / case.path, **_typed(case.reading))
    simulation = so.simulate(release, case.adversary, facts=case.facts, targets=TARGETS, seed=SEED)
    too_few, targets = simulation.cells[0].too_few_items, len(simulation.cells[0].outcomes)
    lines = [
        f"## {case.name}\n",
        f"{case.content[0].upper()}{case.content[1:]}: {release.n_entries:,} entries, {release.n_records:,} "
        f"records, {release.n_items:,} items.\n",
        f"    {case.command}\n",
        f"{targets:,} targets; {too_few:,} records ({100 * too_few / release.n_records:.1f} %) have fewer "
        f"than {case.adversary.knows} entries and cannot be targets.\n",
        "| " + " | ".join(["facts", *map(str, case.facts), "baseline"]) + " |",
        "|---" * (len(case.facts) + 2) + "|",
        *(_row(simulation, case, *row) for row in ROWS),
        "",
        _sparse_and_unique(release),
    ]
    return "\n".join(lines)


def _typed(reading: dict[str, str]) -> dict[str, Any]:
    columns = ("record", "item", "value", "time")
    return {name: int(x) if name in columns and x.isdigit() else x for name, x in reading.items()}


def _row(simulation: so.Simulation, case: Case, label: str, measure: str, setting: str | None) -> str:
    estimates = [simulation.estimate(measure, setting, facts=facts) for facts in case.facts]
    baseline = estimates[0].baseline
    cells = [_number(estimate, measure) for estimate in estimates]
    return "| " + " | ".join([label, *cells, "" if baseline is None else _plain(baseline, measure)]) + " |"


def _number(estimate: so.Estimate, measure: str) -> str:
    has_interval = not math.isnan(estimate.low)
    interval = f" ({_plain(estimate.low, measure)}–{_plain(estimate.high, measure)})" if has_interval else ""
    return _plain(estimate.value, measure) + interval


def _plain(value: float, measure: str) -> str:
    if measure in PLAIN:
        return f"{value:.2f}"
    return f"{value:.3f}" if value == 0 or value >= 0.0005 else f"{value:.1g}"


def _sparse_and_unique(release: so.Release) -> str:
    result, unique = so.sparsity(release), so.unicity(release, [1, 2, 4], targets=TARGETS, seed=SEED)
    above = ", ".join(f"{result.delta(epsilon).value:.3f}" for epsilon in (0.2, 0.5, 0.75))
    single = ", ".join(f"{each.share.value:.3f}" for each in unique)
    return f"Neighbours above 0.2, 0.5, 0.75: {above}. Unicity of 1, 2, 4 entries: {single}.\n"


if __name__ == "__main__":
    rest = PAGE.read_text(encoding="utf-8").split(BELOW)[1]
    PAGE.write_text(f"{page(Path(sys.argv[1]))}\n{BELOW}{rest}", encoding="utf-8")
    print(f"wrote {PAGE.name}")
