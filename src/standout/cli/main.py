"""The command `standout` and its subcommands."""

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import click

from standout._version import __version__
from standout.cli.sources import Settings, source_options
from standout.errors import StandoutError

__all__ = ["cli", "main"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def main() -> None:
    """Runs the command; an error of ours is one line and exit code 1."""
    signal.signal(signal.SIGTERM, _stop)  # so that a stopped build clears up behind itself
    try:
        cli(prog_name="standout")
    except StandoutError as error:
        click.echo(f"standout: {error}", err=True)
        sys.exit(1)


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="standout")
def cli() -> None:
    """How many people stand out of your anonymised data?

    Standout measures how easily people can be picked out of a data set of histories (ratings,
    purchases, check-ins) before it is published, after Narayanan and Shmatikov's "Robust
    De-anonymization of Large Datasets". Use it on data that you are entitled to publish or study.
    """


@cli.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Where the index goes.")
@source_options
@json_option
def index(sources: tuple[str, ...], output: Path, settings: Settings, as_json: bool) -> None:
    """Read a data set once and write an index, which opens at once afterwards.

    SOURCE is a file, a folder or a glob: CSV or TSV (plain, gzip, zstd, zip), Parquet, MovieLens, the
    Netflix Prize files. An index that is already at the output is replaced when the new one is whole.
    """
    from standout.cli import show
    from standout.release.building import building

    with show.progress() as progress, building(output) as place:
        release = settings.read(list(sources), progress)
        place.write(release, progress)
    show.indexed(release, output, as_json)


@cli.command()
@click.argument("data")
@source_options
@json_option
def describe(data: str, settings: Settings, as_json: bool) -> None:
    """Show what a data set looks like: sizes, quantiles, value shares, and the table of the paper's appendix.

    DATA is an index, or any source that `standout index` reads. A source is read into memory and forgotten.
    """
    from standout.cli import show
    from standout.release.describe import describe as described

    with show.progress() as progress:
        release = settings.read([data], progress)
        told = described(release)
    show.description(told, as_json)
    show.suggest_index(release, data)


@cli.command()
@click.argument("data")
@click.option(
    "--knows", multiple=True, metavar="ITEM[=VALUE][@DATE]",
    help="Something known: an item by title or id, and its value and date where known. Repeat it.",
)  # fmt: skip
@click.option(
    "--aux", type=click.Path(path_type=Path), metavar="FILE",
    help="More of the same, a CSV file with the columns item, value, time.",
)  # fmt: skip
@click.option("--length", metavar="N±SHARE", help="How many items there are: 200±50%, 200±50 or 100-300.")
@click.option("--joined", metavar="DATE±DAYS", help="When the record begins: 2004-01-01±30.")
@click.option("--phi", default=1.5, show_default=True, help="Least eccentricity of a match.")
@click.option("--top", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many to show.")
@click.option(
    "--allow-unknown", is_flag=True,
    help="Keep names that no item has though some come close, and categories that no entry has.",
)  # fmt: skip
@source_options
@json_option
def lineup(data: str, settings: Settings, phi: float, top: int, as_json: bool, **said: Any) -> None:
    """Show who in a data set a few facts point to, how surely, and why.

    DATA is an index, or any source that `standout index` reads. A fact is an item, by its title in any
    case or by its id, and what is known of it: --knows "Brazil=4@2005-03-01" --knows "Bent=1" --knows
    "17@2004-12-24" --knows "Matrix, The (1999)". The attack is Algorithm 1B of the paper in its Netflix
    form: rare items count more, near values and dates more than far ones.

    \b
    JSON has
      facts         named, item (null if unknown), title, value, time, records that have it
      candidates    how many records can be meant
      lineup        record, score, probability of the likeliest
      outside       the probability that it is somebody else
      eccentricity  (best score - second best) / sigma; sigma and mean over all candidates
      match         the record that stands out by phi at least, or null
      ties          how many records have the best score
      bits          prior: log2 of candidates; left: still missing to point at the best record
      explain       of the best record by fact: has, similarity, weight, part; parts add up to its score
      unknown       names that no item has
      length, joined, phi, fingerprint, version
    """
    from standout.attack.match import check_phi
    from standout.attack.score import ScoreboardRH
    from standout.cli import show
    from standout.cli.knows import Question
    from standout.cli.lineup import Answer, show_answer

    question, phi = Question.of(**said), check_phi(phi)
    with show.progress() as progress:
        release = settings.read([data], progress)
        facts = question.named(release)
        aux = question.aux(facts)
        verdict = ScoreboardRH().attack(release, aux, top=max(top, 2))
    show_answer(Answer(release, facts, aux, verdict, phi, top), as_json)
    show.suggest_index(release, data)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def verify(folder: Path, as_json: bool) -> None:
    """Check every file of an index against its checksum. Exit code 1 if one is damaged."""
    from standout.cli import show
    from standout.release.store import verify as verified

    with show.progress() as progress:
        checks = list(verified(folder, progress))
    show.checks(folder, checks, as_json)
    if not all(whole for _, whole in checks):
        sys.exit(1)


@cli.command()
@click.option("--records", default=10_000, show_default=True, help="How many people.")
@click.option("--items", default=2_000, show_default=True, help="How many items.")
@click.option("--entries", type=int, help="How many entries in all; 50 a record unless said otherwise.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same release.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path),
    help="Where it goes: NAME.csv, NAME.parquet, or any other name for an index.",
)  # fmt: skip
def synthesize(output: Path, **sizes: Any) -> None:
    """Make a synthetic data set with the shape of a real one: nobody's data, for trying things out."""
    from standout.cli import show
    from standout.release.store import save
    from standout.release.synthetic import synthesize as synthesized

    if not output.parent.is_dir():
        raise StandoutError(f"{output.parent} is not a folder")
    if output.is_file():
        raise StandoutError(f"{output} exists: it will not be overwritten")
    with show.progress() as progress:
        release = synthesized(**sizes, progress=progress)
        if output.suffix in (".csv", ".parquet"):
            from standout.release.export import write_table

            write_table(release, output, progress)
        else:
            save(release, output, progress)
    click.echo(f"{output}: {release.n_entries:,} entries of {release.n_records:,} records")
