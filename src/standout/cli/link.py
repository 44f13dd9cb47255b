"""What `standout link` writes and prints."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from standout.cli import show
from standout.core.errors import ParameterError, StandoutError

if TYPE_CHECKING:
    from standout.linking.links import Links

__all__ = ["check_place", "scale_of", "show_links", "write"]

FORMS = (".csv", ".parquet", ".json", ".html")
REVIEW = "review.csv"
HEADS = {"present": "are there", "right": "claimed rightly"}


def scale_of(text: str) -> Any:
    """How values are aligned, as it is typed: a word, or SCALE,SHIFT."""
    if "," not in text:
        return text
    try:
        scale, shift = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--values is a word, or two numbers like 0.5,0, got {text!r}") from None
    return scale, shift


def check_place(output: Path | None, inputs: Iterable[str | Path | None], review: Path | None) -> None:
    """Refuses a place for the output that cannot be, or where something is that was given, before any work.

    A review that was given is written again with its decisions; another one there may hold somebody's work.
    """
    if output is None:
        return
    single = output.suffix in FORMS
    if single and (output.is_dir() or not output.parent.is_dir()):
        raise ParameterError(f"{output} cannot be written: name a file in a folder that is there")
    if not single and output.exists() and not output.is_dir():
        raise ParameterError(f"{output} is a file: name a folder, or a file that ends in {', '.join(FORMS)}")
    given = {Path(one).resolve() for one in (*inputs, review if single else None) if one is not None}
    for file in [output] if single else [output, *_files(output), output / REVIEW]:
        place = file.resolve()
        if place in given or (place.is_file() and place.parent in given):
            raise ParameterError(f"{file} is read from, and would be written over: name another place")
    old = output / REVIEW
    if old.exists() and (review is None or review.resolve() != old.resolve()):
        raise ParameterError(f"{old} is there already: pass it as --review, or move it away")


def _files(folder: Path) -> list[Path]:
    return [folder / name for name in ("links.csv", "links.json", "report.html")]


def write(links: "Links", output: Path, data: str, public: str) -> list[Path]:
    """The table, everything as JSON and the report in a folder; or one of them, by the name of the file."""
    if output.suffix in FORMS:
        _write(links, output, data, public)
        return [output]
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StandoutError(f"{output} cannot be made a folder: {error.strerror}") from error
    files = _files(output)
    for file in files:
        _write(links, file, data, public)
    review = output / REVIEW
    if links.alignment.doubtful.height:
        links.alignment.write_review(review)
        files.append(review)
    return files


def _write(links: "Links", file: Path, data: str, public: str) -> None:
    if file.suffix == ".html":
        links.to_html(file, data, public)
    else:
        getattr(links, f"to_{file.suffix[1:]}")(file)


def show_links(links: "Links", files: list[Path], as_json: bool) -> None:
    """Everything for machines, with ids; for people numbers by sizes, and a few sentences."""
    if as_json:
        show.print_json(links.to_dict())
        return
    screen = show.console()
    screen.print(_table(links))
    screen.print()
    screen.print(links.alignment.words(), soft_wrap=True)
    screen.print(links.summary, soft_wrap=True)
    if files:
        screen.print(f"Written: {', '.join(map(str, files))}", soft_wrap=True)
    else:
        screen.print("Who is who is not shown here: -o FOLDER writes it, --json prints it.", soft_wrap=True)


def _table(links: "Links") -> Table:
    table = Table(box=None, pad_edge=False)
    names = [name for name in ("profiles", "claims", "present", "right") if name in links.sizes.columns]
    for name in ("facts used", *(HEADS.get(name, name) for name in names)):
        table.add_column(name, justify="right", no_wrap=True)
    for row in links.sizes.iter_rows(named=True):
        size = f"{row['from']:,}–{row['to']:,}" if row["to"] > row["from"] else f"{row['from']:,}"
        table.add_row(size, *(f"{row[name]:,}" for name in names))
    return table
