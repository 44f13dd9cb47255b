"""`standout lineup`: which records a few known facts point to."""

from pathlib import Path

import click

from standout.cli.common_options import json_option
from standout.cli.console import print_json, progress, suggest_index
from standout.cli.source_options import SourceOptions, source_options

__all__ = ["lineup"]


@click.command()
@click.argument("data")
@click.option(
    "--knows",
    multiple=True,
    metavar="ITEM[=VALUE][@DATE]",
    help="A known fact: an item by title or id, with its value and date if known. Repeat for several.",
)
@click.option(
    "--aux",
    "aux_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CSV file of known facts with the columns item, value, time.",
)
@click.option(
    "--length", metavar="N±SHARE", help="Number of items in the record: 200±50%, 200±50 or 100-300."
)
@click.option("--joined", metavar="DATE±DAYS", help="First date of the record: 2004-01-01±30.")
@click.option(
    "--phi", default=1.5, show_default=True, metavar="FLOAT", help="Minimum eccentricity for a claim."
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of records to show.",
)
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="Accept item names that resemble an item but match none, and unknown categories.",
)
@source_options
@json_option
def lineup(
    data: str,
    source: SourceOptions,
    knows: tuple[str, ...],
    aux_path: Path | None,
    length: str | None,
    joined: str | None,
    phi: float,
    top: int,
    allow_unknown: bool,
    as_json: bool,
) -> None:
    """Show which records a few known facts point to, and why.

    DATA is an index, or any source that `standout index` reads. A fact names an
    item, by its title in any case or by its id, with its value and date if known.
    The attack is Algorithm 1B of the paper in its Netflix form: rare items count
    more than popular ones, and close values and dates more than distant ones.

    \b
    Example:
      standout lineup ml-latest-small --knows "Brazil=4@2005-03-01" \\
          --knows "Bent=1" --knows "Matrix, The (1999)" --length 200±50%

    \b
    JSON output:
      facts         name, item (null if unknown), title, value, time, records
                    that have it
      candidates    number of records that fit --length and --joined
      lineup        record, score, probability of the most likely records
      outside       probability that it is none of these
      eccentricity  (best score - second best) / sigma
      sigma, mean   of the scores of all candidates
      match         the claimed record (eccentricity of at least phi), or null
      ties          number of records with the best score
      bits          prior: log2 of candidates; left: still missing to identify the
                    best record
      explain       by fact, for the best record: name, has, similarity, weight,
                    part; the parts add up to its score
      unknown       names that match no item
      length, joined, phi, fingerprint, version
    """
    from standout.attack.eccentricity import check_phi
    from standout.attack.scoreboard import ScoreboardRH
    from standout.cli.lineup_screen import Answer, show_answer
    from standout.cli.typed_facts import Knowledge

    knowledge, phi = Knowledge.parse(knows, aux_path, length, joined, allow_unknown), check_phi(phi)
    with progress() as report:
        release = source.read([data], report)
        facts = knowledge.resolve(release)
        aux = knowledge.aux(facts)
        verdict = ScoreboardRH().attack(release, aux, top=max(top, 2))
    answer = Answer(release, facts, aux, verdict, phi, top)
    if as_json:
        print_json(answer.to_dict())
    else:
        show_answer(answer)
    suggest_index(release, data)
