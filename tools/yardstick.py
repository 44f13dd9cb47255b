"""Measure the yardstick of audits: the default adversaries on a stand-in of the Netflix Prize data.

standout synthesize --like netflix -o standin.index
python -m tools.yardstick standin.index [FILE]

It writes src/standout/auditing/yardstick.json, which is part of the package. Each number is the share of
1,000 targets whom the strongest attack of an adversary identifies, as in `standout audit standin.index`. The
same adversaries also attack without values, without dates and without both, for data that lack them.
"""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import standout as so
from standout.auditing.data_measures import FILE
from standout.auditing.ladder import eligible_share, fit_ladder, resolve_ladder
from standout.auditing.sentences import describe_precision
from standout.evaluate.compare import candidate_attacks, choose_strongest
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulate import target_success
from standout.evaluate.targets import random_targets
from standout.findings.json_types import json_text

PACKAGED = Path(__file__).parent.parent / "src" / "standout" / "auditing" / FILE
COMMANDS = ["standout synthesize --like netflix -o standin.index", "python -m tools.yardstick standin.index"]
TARGETS, SEED = 1000, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class YardstickRow:
    """One adversary on the data of the yardstick, with or without values and dates."""

    adversary: str
    values: bool
    dates: bool
    knows: int
    wrong: int
    precision: str
    attack: str
    identified: Estimate


def main(index: str, file: str | None = None) -> None:
    """Measure all adversaries, and write the file."""
    release = so.open(index)
    content = {
        "data": "a stand-in of the Netflix Prize data",
        "commands": COMMANDS,
        "software": f"standout {so.__version__}",
        "fingerprint": release.fingerprint,
        "records": release.n_records,
        "items": release.n_items,
        "entries": release.n_entries,
        "targets": TARGETS,
        "seed": SEED,
        "rows": measured(release, TARGETS),
    }
    (PACKAGED if file is None else Path(file)).write_text(json_text(content), encoding="utf-8")


def measured(release: so.Release, targets: int) -> list[YardstickRow]:
    """A row for each adversary of the default ladder, with and without values and dates."""
    rows: list[YardstickRow] = []
    for rung in fit_ladder(resolve_ladder(None), release).rungs:
        kinds = ((True, True), (True, False), (False, True), (False, False))
        variants = [without(rung.adversary, release, values=values, dates=dates) for values, dates in kinds]
        for adversary in {variant.key(): variant for variant in variants}.values():
            row = measure_row(release, rung.name, adversary, targets=targets, seed=SEED, threads=None)
            print(f"{row.adversary}: {row.precision}: {row.identified}", flush=True)
            rows.append(row)
    return rows


def without(adversary: so.Adversary, release: so.Release, *, values: bool, dates: bool) -> so.Adversary:
    """The adversary on data without values or dates, as the ladder would adapt it."""
    fewer = adversary if values else replace(adversary, value_error=None)
    fewer = fewer if dates else replace(fewer, time_error=None, joined_error=None)
    return fewer if eligible_share(fewer, release) else replace(fewer, wrong_facts="items")


def measure_row(
    release: so.Release, name: str, adversary: so.Adversary, *, targets: int, seed: int, threads: int | None
) -> YardstickRow:
    """What an audit reports as `identified` of this adversary, without its other measures."""
    chosen = random_targets(release, adversary, seed)[:targets]
    attacks = candidate_attacks(release, adversary)
    strongest = choose_strongest(release, adversary, attacks, chosen, seed=seed, threads=threads)
    success = target_success(release, attacks[strongest], adversary, chosen, [adversary.knows], seed, threads)
    return YardstickRow(
        adversary=name,
        values=adversary.value_error is not None,
        dates=adversary.time_error is not None,
        knows=adversary.knows,
        wrong=adversary.wrong,
        precision=describe_precision(adversary, release),
        attack=strongest,
        identified=rate(min(float(np.sum(success)), len(chosen)), len(chosen), 1 / release.n_records),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
