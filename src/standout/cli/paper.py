"""What `standout paper` prints: every figure's numbers beside the paper's."""

from typing import Any

from rich.table import Table

from standout._version import __version__
from standout.cli import show
from standout.paper.figure import Figure
from standout.paper.figures import chosen
from standout.paper.figures_page import difference, interval, judgement, number, source
from standout.paper.reproduction import Reproduction
from standout.paper.rows import Row

__all__ = ["show_reproduction"]


def show_reproduction(done: Reproduction, only: str | None, as_json: bool) -> None:
    """The figures that were asked for, for machines or for people."""
    asked = {figure.key for figure in chosen(only)}
    if as_json:
        show.print_json(_told(done, asked))
        return
    screen = show.console()
    for figure in done.figures:
        if figure.key in asked:
            screen.print(_table(figure, done.results[figure.key].rows))
            screen.print()
    for fit in done.fits:
        if fit.figure in asked and fit.reading == done.fits[0].reading:
            screen.print(
                f"Figure {fit.figure}: {fit.within} of {fit.cells} numbers are near the paper's, read as "
                "defined; other readings are on the page.",
                soft_wrap=True,
            )
    screen.print(source(done.release), soft_wrap=True)
    screen.print(done.summary, soft_wrap=True)
    screen.print(f"{done.page}", soft_wrap=True)
    if not done.complete:
        screen.print(
            "Cut short: what is done is kept, and the same command goes on from there.", soft_wrap=True
        )


def _table(figure: Figure, rows: tuple[Row, ...]) -> Table:
    also = f" ({figure.number_2008} in 2008)" if figure.number_2008 and figure.key != "sp10" else ""
    title = f"{figure.name}{also}: {figure.title}"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("", no_wrap=False)
    for name in ("paper", "ours", "diff."):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for row in rows:
        words = ", ".join(filter(None, (row.label, row.panel)))
        table.add_row(words, number(row.paper, row.unit), _ours(row), difference(row), judgement(row))
    return table


def _ours(row: Row) -> str:
    ends = interval(row, "–")
    return number(row.ours, row.unit) + (f" ({ends})" if ends else "")


def _told(done: Reproduction, asked: set[str]) -> dict[str, Any]:
    return {
        "complete": done.complete,
        "page": str(done.page),
        "summary": done.summary,
        "table": [row for row in done.table.to_dicts() if row["figure"] in asked],
        "readings": [fit._asdict() for fit in done.fits if fit.figure in asked],
        "targets": done.targets,
        "seed": done.seed,
        "fingerprint": done.release.fingerprint,
        "version": __version__,
    }
