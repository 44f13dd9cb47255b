"""Writes docs/results.md: what is measured on real data sets, with the commands that give it.

python -m tools.results FOLDER    (the folder that holds the data sets)
"""

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import standout as so

PAGE = Path(__file__).parent.parent / "docs" / "results.md"
TARGETS, SEED = 1000, 2008


@dataclass(frozen=True)
class Case:
    """A data set: where it lies, how it is read, who attacks it."""

    name: str
    path: str
    what: str
    adversary: so.Adversary
    facts: tuple[int, ...]
    reading: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        one = self.adversary
        said = {
            "knows": one.knows,
            "wrong": one.wrong,
            "value-error": one.value_error,
            "time-error": one.time_error,
        }
        options = [f"--{name} {value:g}" for name, value in said.items() if value is not None]
        options += ["--facts " + ",".join(map(str, self.facts)), f"--targets {TARGETS}", f"--seed {SEED}"]
        reading = [f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in self.reading.items()]
        return f"standout simulate {self.path} " + " ".join([*reading, *options])


CASES = [
    Case(
        "MovieLens (latest-small)", "movielens-latest-small", "films rated from 0.5 to 5",
        so.Adversary(knows=8, wrong=2, value_error=1, time_error=14), (2, 4, 8),
    ),
    Case(
        "MovieTweetings", "movietweetings/2013-11-06", "films rated from 0 to 10 on Twitter",
        so.Adversary(knows=8, wrong=2, value_error=1, time_error=14), (2, 4, 8),
    ),
    Case(
        "Online Retail", "online-retail/online-retail.csv.gz", "things bought, by the piece",
        so.Adversary(knows=8, wrong=2, value_error=2, time_error=14), (2, 4, 8),
        {"record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate",
         "time_format": "%m/%d/%Y %H:%M", "encoding": "latin-1", "max_rejects": "25%"},
    ),
    Case(
        "Bitcoin OTC", "bitcoin-otc/soc-sign-bitcoinotc.csv", "people rated by people, from -10 to 10",
        so.Adversary(knows=4, wrong=1, value_error=1, time_error=14), (1, 2, 4),
        {"record": "1", "item": "2", "value": "3", "time": "4", "time_format": "s"},
    ),
]  # fmt: skip
ROWS = [
    ("best guess right", "identified", ""), ("target in the first 10", "in_top", None),
    ("claimed right at φ = 1.5", "correct_claims", "phi=1.5"), ("claimed wrong", "wrong_claims", None),
    ("absent, yet claimed", "absent_claims", None), ("equal error rate", "equal_error_rate", None),
    ("… at φ", "phi", "equal_error_rate"),
    ("claimed right with 1 % false claims", "correct_claims", "absent_claims<=0.01"),
    ("bits left", "bits_left", ""), ("bits gained", "bits_gained", None),
    ("new items in the guess, share right", "revealed_correct_share", None),
    ("how far Π is off (calibration)", "calibration_gap", None),
]  # fmt: skip
PLAIN = {"phi", "bits_left", "bits_gained"}


def page(folder: Path) -> str:
    parts = [
        "# What is measured on real data\n",
        "Written by `python -m tools.results FOLDER`; do not edit. 95 % intervals in brackets. Of 8 facts, 2 "
        "of them wrong, the first 4 have 1 wrong on average.\n",
        *(section(folder, case) for case in CASES),
    ]
    return "\n".join(parts)


def section(folder: Path, case: Case) -> str:
    release = so.read(folder / case.path, **_typed(case.reading))
    done = so.simulate(release, case.adversary, facts=case.facts, targets=TARGETS, seed=SEED)
    left_out, tried = done.cells[0].too_few_items, len(done.cells[0].outcomes)
    lines = [
        f"## {case.name}\n",
        f"{case.what[0].upper()}{case.what[1:]}: {release.n_entries:,} entries, {release.n_records:,} "
        f"records, {release.n_items:,} items.\n",
        f"    {case.command}\n",
        f"{tried:,} targets; {100 * left_out / release.n_records:.1f} % of the records ({left_out:,}) have "
        f"fewer than {case.adversary.knows} items and are left out.\n",
        "| " + " | ".join(["facts", *map(str, case.facts), "guessing"]) + " |",
        "|---" * (len(case.facts) + 2) + "|",
        *(_row(done, case, *row) for row in ROWS),
        "",
        _sparse(release),
        _unique(release),
        meaning(done, case),
    ]
    return "\n".join(lines)


def _typed(reading: dict[str, str]) -> dict[str, Any]:
    columns = ("record", "item", "value", "time")
    return {name: int(x) if name in columns and x.isdigit() else x for name, x in reading.items()}


def _row(done: so.Simulation, case: Case, label: str, measure: str, setting: str | None) -> str:
    found = [done.estimate(measure, setting, facts=facts) for facts in case.facts]
    baseline = found[0].baseline
    cells = [_number(one, measure) for one in found]
    return "| " + " | ".join([label, *cells, "" if baseline is None else _plain(baseline, measure)]) + " |"


def _number(one: so.Estimate, measure: str) -> str:
    ends = f" ({_plain(one.low, measure)}–{_plain(one.high, measure)})" if one.low == one.low else ""
    return _plain(one.value, measure) + ends


def _plain(value: float, measure: str) -> str:
    return (
        f"{value:.2f}"
        if measure in PLAIN
        else f"{value:.3f}"
        if value == 0 or value >= 0.0005
        else f"{value:.1g}"
    )


def _sparse(release: so.Release) -> str:
    found = so.sparsity(release)
    shares = ", ".join(
        f"{found.delta(epsilon).value:.3f} more than {epsilon:g}" for epsilon in (0.2, 0.5, 0.75)
    )
    return f"Nearest neighbours by items in common, share of records with one that is similar by: {shares}.\n"


def _unique(release: so.Release) -> str:
    found = so.unicity(release, [1, 2, 4], targets=TARGETS, seed=SEED)
    shares = ", ".join(f"{one.share.value:.3f} with {one.k}" for one in found)
    return f"Unicity, by item and value: {shares} entries.\n"


def meaning(done: so.Simulation, case: Case) -> str:
    """A sentence on what the numbers mean."""
    most = case.facts[-1]
    best, false = done.estimate("identified", facts=most), done.estimate("absent_claims", facts=most)
    strict = done.estimate("correct_claims", "absent_claims<=0.01", facts=most)
    return (
        f"Somebody who knows {most} facts, {case.adversary.wrong} of them wrong, picks the right record in "
        f"{100 * best.value:.1f} % of the cases. A claim at the paper's φ = 1.5 would also be made of "
        f"{100 * false.value:.1f} % of those who are not in the data; with 1 % of such false claims "
        f"{100 * strict.value:.1f} % are found.\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])), encoding="utf-8")
    print(f"wrote {PAGE.name}")
