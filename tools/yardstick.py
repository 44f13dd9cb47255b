"""Measure the yardstick of audits: the default adversaries on a stand-in of the Netflix Prize data.

standout synthesize --like netflix -o standin.index
python -m tools.yardstick standin.index [FILE]

It writes src/standout/auditing/yardstick.json, which is part of the package. Each number is the share of
1,000 targets whom the strongest attack of an adversary identifies, as in `standout audit standin.index`. The
same adversaries also attack without values, without dates and without both, for data that lack them.
"""

import sys
from pathlib import Path

import standout as so
from standout.auditing.data_measures import FILE, YardstickRow, measure_row, without
from standout.auditing.ladder import fit_ladder, resolve_ladder
from standout.findings.json_types import json_text

PACKAGED = Path(__file__).parent.parent / "src" / "standout" / "auditing" / FILE
COMMANDS = ["standout synthesize --like netflix -o standin.index", "python -m tools.yardstick standin.index"]
TARGETS, SEED = 1000, 0


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


if __name__ == "__main__":
    main(*sys.argv[1:])
