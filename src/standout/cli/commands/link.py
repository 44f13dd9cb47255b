"""`standout link`: link the profiles of a public data set to records of a release."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli import options
from standout.cli.console import print_json, print_table, print_text
from standout.cli.error_lines import INTERRUPTED
from standout.cli.options import ALIGNMENT, ATTACK, option
from standout.cli.reading import Source, data_command, public_option
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress
from standout.ingest.sources import public_url

if TYPE_CHECKING:
    from standout.linking.links import Links

FILE_SUFFIXES = (".csv", ".parquet", ".json", ".html")
FOLDER_FILES = ("links.csv", "links.json", "report.html")
REVIEW = "review.csv"


@data_command
@click.argument("public", type=options.DATA)
@option("--items", "METHOD", "Align items: auto, id, title, or a CSV file that maps ids.", ALIGNMENT, default="auto")
@option("--values", "METHOD", "Align values: auto, same, quantiles, none, SCALE,SHIFT.", ALIGNMENT, default="auto")
@option("--review", "FILE", "Doubtful pairs of items with your decisions, in the format of review.csv.", ALIGNMENT)
@option("--dates", "use|ignore|learn", "Compare dates or not; learn: try both.", ALIGNMENT, default="use")
@option("--by", "evidence|eccentricity", "What decides a claim.", ATTACK, show_default="evidence without --phi")
@option("--phi", "FLOAT", "Minimum eccentricity for a claim.", ATTACK, show_default="learned from decoys")
@options.budget_option
@option("--decoys", "N", "Number of decoys of each kind.", ATTACK, default=2000)
@option("--assign", "", "Let only the best profile claim a record.", ATTACK)
@option("--truth", "FILE", "CSV file of the right links, with profile and record, to measure precision and recall.")
@options.seed_option
@options.worker_options
@option("-o --output", "FOLDER|FILE", "Folder for all results, or NAME.csv, NAME.parquet, NAME.json or NAME.html.")
@public_option
def link(
    data: str,
    public: str,
    source: Source,
    public_source: Source,
    items: str,
    values: str,
    review: Path | None,
    truth: Path | None,
    output: Path | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Link the profiles of PUBLIC to records of DATA.

    Both are indexes, or any sources that `standout index` reads; --public-read says
    how to read PUBLIC. A Bayesian attack, which learns how the two differ, scores all
    records for each profile. The best record is claimed only if its evidence is
    stronger than that of decoys: absent people, made by recombining profiles and by
    removing people from DATA. The text output names nobody. The files and --json
    contain ids; they are as private as your data.

    \b
    Example:
      standout link release.index public.csv -o links
      standout link release.csv imdb.csv --public-read record=user \\
          --truth truth.csv

    Exit code 3: interrupted; the results are about the profiles linked so far.
    """
    from standout.linking.links import link as link_releases

    check_output_path(output, [data, public, items, truth], review)
    aligned: dict[str, Any] = {"items": items, "values": _parse_values(values), "review": review, "truth": truth}
    with progress() as report:
        release = source.read([data], report, purpose="linking")
        profiles = public_source.read([public], report, purpose="linking")
        links = link_releases(release, profiles, progress=report, **aligned, **settings)
        names = [Path(public_url(source)).name for source in (data, public)]
        files = [] if output is None else _write(links, output, *names)
    if as_json:
        print_json(links.to_dict())
    else:
        _show(links, files)
    return 0 if links.complete else INTERRUPTED


def _parse_values(text: str) -> str | tuple[float, float]:
    """Parse the name of a method, which the library checks, or SCALE,SHIFT."""
    if "," not in text:
        return text
    try:
        scale, shift = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--values must be a method or two numbers like 0.5,0, got {text!r}") from None
    return scale, shift


def check_output_path(output: Path | None, inputs: Iterable[str | Path | None], review: Path | None) -> None:
    """Reject an output that cannot be written or would overwrite an input, before any work is done.

    A review file that was given as input is written again with its decisions. Any other review file at
    the output may hold somebody's work.
    """
    if output is None:
        return
    is_file = output.suffix in FILE_SUFFIXES
    if is_file:
        options.output_file(output, "--output")
    elif output.exists() and not output.is_dir():
        raise ParameterError(
            f"--output must be a folder or a file that ends in {', '.join(FILE_SUFFIXES)}, got {output}"
        )
    given = (*inputs, review if is_file else None)
    protected = {Path(os.path.realpath(path)) for path in given if path is not None}
    for file in [output] if is_file else [output, *(output / name for name in (*FOLDER_FILES, REVIEW))]:
        path = Path(os.path.realpath(file))
        if path in protected or (path.is_file() and path.parent in protected):
            raise ParameterError(f"--output would overwrite {file}, which is an input: choose another path")
    old_review = output / REVIEW
    if old_review.exists() and (review is None or os.path.realpath(review) != os.path.realpath(old_review)):
        raise ParameterError(f"{old_review} exists: pass it as --review, or move it")
    if not is_file:
        options.output_folder(output, *FOLDER_FILES, REVIEW)


def _write(links: "Links", output: Path, data: str, public: str) -> list[Path]:
    """Write one file, or all files of a folder; return their paths."""
    writers = {".csv": links.to_csv, ".parquet": links.to_parquet, ".json": links.to_json}
    files = [output] if output.suffix in FILE_SUFFIXES else [output / name for name in FOLDER_FILES]
    for file in files:
        if file.suffix == ".html":
            links.to_html(file, data, public)
        else:
            writers[file.suffix](file)
    if output not in files and links.alignment.doubtful.height:
        links.alignment.write_review(output / REVIEW)
        files.append(output / REVIEW)
    return files


def _show(links: "Links", files: list[Path]) -> None:
    from standout.report.pages import facts_table

    print_table(*facts_table(links.findings().by_facts_used))
    print_text("", links.alignment.explanation, links.summary)
    written = f"Written: {', '.join(map(str, files))}"
    print_text(written if files else "The links themselves are not shown: -o FOLDER writes them, --json prints them.")
