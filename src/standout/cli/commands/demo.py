"""`standout demo`: an audit of built-in synthetic data."""

import sys
from pathlib import Path

import click

from standout.cli.audit_screen import show_audit
from standout.cli.commands.audit import REPORT_FILES, exit_code, write_audit
from standout.cli.option_groups import command, option
from standout.cli.options import output_folder, threads_option
from standout.core.json_files import CHECKPOINTS
from standout.core.progress import progress_bar as progress

__all__ = ["demo"]

SEED = 2008


@command()
@option("-o --output", "FOLDER", "Folder for the report.", type=click.Path(path_type=Path), default=Path("demo"))
@option("--records", "N", "Number of synthetic people, at least 100.", type=click.IntRange(100), default=5_000)
@option("--quick", "", "Fewer targets and shorter curves; wider intervals.", is_flag=True)
@threads_option
def demo(output: Path, records: int, quick: bool, threads: int | None) -> None:
    """Run the whole audit on built-in synthetic data.

    The data is a stand-in for the Netflix Prize data: synthetic people with the
    published statistics of the real ones.

    \b
    Example:
      standout demo
      standout demo --quick -o /tmp/demo

    \b
    Exit codes: those of `standout audit`.
    """
    from standout.auditing.audit import audit
    from standout.paper.synthesize import synthesize

    folder = output_folder(output, *REPORT_FILES)
    with progress() as report:
        release = synthesize(like="netflix", records=records, seed=SEED, threads=threads, progress=report)
        result = audit(
            release,
            name=f"a stand-in for {records:,} people of the Netflix Prize data",
            targets=500,
            quick=quick,
            seed=SEED,
            threads=threads,
            work=folder / CHECKPOINTS,
            progress=report,
        )
        result = write_audit(result, folder)
    show_audit(result, folder, as_json=False)
    sys.exit(exit_code(result))
