"""`standout sanitize`: change a data set so that fewer people can be identified."""

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout._version import __version__
from standout.cli import options
from standout.cli.console import print_json, print_line, print_table, reading_json
from standout.cli.options import option
from standout.cli.reading import Source, data_command
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.labels import StepReport
    from standout.data.release import Release
    from standout.know.sanitized import Sanitized

ENTRIES = {"records": "records", "items": "items", "entries before": "entries in", "entries": "out"}
COLUMNS = {name: name for name in ("records", "columns", "cells changed", "cells emptied")}
LIST_HELP = "Show all steps and their syntax, and exit."


def _list_steps(context: click.Context, parameter: click.Parameter, is_wanted: bool) -> None:
    """Print all steps and their syntax, and exit."""
    if not is_wanted or context.resilient_parsing:
        return
    from standout.sanitizing.steps import STEPS

    for about in ("entries", "columns", "records"):
        print_line(f"Steps on {about}:")
        for step in (step for step in STEPS.values() if step.about == about):
            print_line(f"  {step.name} {step.syntax}", f"      {step.summary}")
    context.exit()


@data_command
@option("-o --output", "OUT", "NAME.csv, NAME.parquet, or any other name for an index.", required=True)
@option("--step steps", "STEP", "A change, like 'round-time month'; repeatable, applied in order.", multiple=True)
@option("--list-steps", "", LIST_HELP, is_eager=True, expose_value=False, callback=_list_steps)
@option("--seed", "N", "Random seed that makes noise repeatable; keep it secret.", type=int, show_default="random")
@option("--renumber", "", "Give records new ids, 1 to N in random order.")
@option("--key", "FILE", "Write which record represents which person to this CSV file. It is as private as DATA.")
@option("--force", "", "Overwrite existing output.")
@option("--inert", "", "Put an apostrophe before cells of a CSV file that a spreadsheet would take for a formula.")
@options.threads_option
def sanitize(
    data: str,
    source: Source,
    output: Path,
    steps: tuple[str, ...],
    seed: int | None,
    renumber: bool,
    key: Path | None,
    force: bool,
    inert: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Change a data set so that fewer people can be identified.

    DATA is an index, or any source that `standout index` reads. Each step changes
    the result of the one before. The sidecar file OUT.sanitized.json lists the
    steps and is published with the output. It does not contain the seed, because
    the seed could undo noise and new ids. Without --renumber the output keeps the
    ids of DATA. To measure the remaining risk, run
    `standout audit OUT --original DATA`.

    \b
    Example:
      standout sanitize ratings.csv -o safer.csv --step "round-time month" \\
          --step "drop-rare-items 10" --renumber --key key.csv
      standout sanitize survey.csv -o safer.csv --table --schema schema.toml \\
          --step "round age 5" --step "generalize zip 2" --key key.csv

    The rows of a table are put into a random order, and its ids are always new.
    Without --key nobody can say which row is whose, so the remaining risk cannot be
    measured.
    """
    from standout.sanitizing.files import check_output_name, check_output_paths, released_fingerprint, write_sanitized
    from standout.sanitizing.steps import parse_steps
    from standout.sanitizing.steps import sanitize as sanitize_release

    if not steps and not renumber:
        raise ParameterError("--step is missing: name a step (--list-steps shows all), or use --renumber")
    parsed = parse_steps(steps)
    check_output_name(output, False, inert)
    check_output_paths(output, key, force, Path(data))
    if any(step.about == "columns" for step in parsed):
        source = source.with_settings(kind="table")
    seed = secrets.randbits(63) if seed is None else seed
    with progress() as report:
        release = source.read([data], report)
        check_output_name(output, bool(release.columns), inert)
        safer = sanitize_release(release, parsed, seed=seed, renumber=renumber, progress=report, threads=threads)
        sidecar = write_sanitized(safer, output, key=key, force=force, inert=inert, progress=report)
    if not as_json:
        _show(safer, output, sidecar, key)
        return
    before = safer.original
    print_json(
        {
            "output": str(output),
            "sidecar": str(sidecar),
            "key": None if key is None else str(key),
            "renumbered": safer.renumbered,
            "steps": [{"step": report.step, "counts": report.counts} for report in safer.step_reports],
            "original": _sizes(before) | {"merged rows": before.provenance.merged},
            **_sizes(safer),
            "read": reading_json(before),
            "fingerprint": released_fingerprint(safer),
            "version": __version__,
        }
    )


def _show(safer: "Sanitized", output: Path, sidecar: Path, key: Path | None) -> None:
    """Print the steps, what each changed, and the files that were written."""
    if merged := safer.original.provenance.merged:
        print_line(f"{merged:,} rows of DATA repeat a record and item and were merged when it was read.")
    _show_steps(safer)
    missing = int((safer.mapping.representatives < 0).sum())
    print_line(f"{missing:,} of {safer.original.n_records:,} people are not in the output.")
    if safer.columns:
        print_line(f"{output}: {safer.n_records:,} rows × {safer.n_columns:,} columns, in a random order")
    else:
        print_line(f"{output}: {safer.n_entries:,} entries of {safer.n_records:,} records")
    print_line(f"{sidecar}: the steps, to be published with it")
    if key is not None:
        print_line(f"{key}: which record represents which person, as private as the original")
    elif safer.columns:
        print_line("Without --key nobody can say later which row is whose, and the risk cannot be measured.")
    if safer.columns and safer.n_entries:
        print_line("The history is not in the output: sanitize it on its own.")


def _sizes(release: "Release") -> dict[str, int]:
    sizes = {"records": release.n_records, "columns": release.n_columns}
    return sizes | {"items": release.n_items, "entries": release.n_entries}


def _show_steps(safer: "Sanitized") -> None:
    """Print one line for each step: sizes after it, and what it changed."""
    sizes = COLUMNS if safer.columns else ENTRIES
    original, new = (_sizes(release) | {"entries before": release.n_entries} for release in (safer.original, safer))
    reports: list[tuple[str, Mapping[str, float], str]] = [("original", original, "")]
    reports += [(each.step, each.counts, "\n".join(_changes(each))) for each in safer.step_reports]
    reports += [("new ids", new, "")] if safer.renumbered and not safer.columns else []
    last = 0 if safer.columns else 1
    rows = [
        (step, *(f"{int(counts[size]):,}" if size in counts else "" for size in sizes), *[changes][:last])
        for step, counts, changes in reports
    ]
    print_table(("step", *sizes.values(), *["<changes"][:last]), rows)


def _changes(report: "StepReport") -> Iterator[str]:
    """Yield what a step changed, other than the sizes."""
    counts = dict(report.counts)
    for name in ("records", "items", "columns"):
        if removed := int(counts.pop(f"{name} before", 0) - counts.pop(name, 0)):
            yield f"{removed:,} {name} removed"
    for change in ("removed", "merged", "added"):
        if entries := int(counts.pop(f"entries {change}", 0)):
            yield f"{entries:,} entries {change}"
    share = counts.pop("share changed", None)
    for name, count in counts.items():
        if name not in ("entries before", "entries", "cells changed", "cells emptied"):
            part = "" if share is None or not name.endswith(" changed") else f" ({100 * share:.3g} %)"
            yield f"{f'{int(count):,}' if count == int(count) else f'{count:.3g}'} {name}{part}"
