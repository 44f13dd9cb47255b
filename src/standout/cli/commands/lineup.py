"""`standout lineup`: which records a few known facts point to."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from standout.cli.attack_options import AttackOptions, attack_options, check_applies, within
from standout.cli.console import print_json, suggest_index
from standout.cli.option_groups import ADVERSARY, command, option
from standout.cli.options import json_option, path_argument
from standout.cli.reading import Source, reading_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.know.adversary import Adversary

__all__ = ["lineup"]

ATTACKS = ("likelihood", "paper", "algorithm-1a")
ATTACK_HELP = (
    "likelihood (Bayesian), paper (Algorithm 1B), or algorithm-1a: match everything within --value-error "
    "and --time-error."
)
VALUE_ERROR, TIME_ERROR = 1.0, 14.0
"""Errors of known facts if only some of them are given."""


@command()
@path_argument("data")
@option(
    "--knows",
    "ITEM[=VALUE][@DATE]",
    "A known fact: an item by title or id, with its value and date if known, each with its own error if "
    "that is known, and ? if it is doubtful: Brazil=4±1@2005-03-01±14? (or +-). For a table: COLUMN=VALUE. "
    "Repeat for several.",
    group=ADVERSARY,
    multiple=True,
)
@option(
    "--aux aux_path",
    "FILE",
    "CSV file of known facts with the columns item and, if known, value, time, value_error, time_error "
    "(in days), doubt (from 0 to below 1).",
    group=ADVERSARY,
    type=click.Path(path_type=Path),
)
@option("--length", "N±SHARE", "Number of items in the record: 200±50%, 200±50 or 100-300.", group=ADVERSARY)
@option("--joined", "DATE±DAYS", "First date of the record: 2004-01-01±30 or 2004-01-01/2004-02-28.", group=ADVERSARY)
@attack_options(ATTACKS, "likelihood", ATTACK_HELP)
@option(
    "--wrong",
    "N",
    "likelihood: how many of the facts may be wrong.",
    group=ADVERSARY,
    type=int,
    show_default="1 in 10; 0 if another error is given",
)
@option(
    "--value-error",
    "E",
    "likelihood, algorithm-1a: largest error of known values.",
    group=ADVERSARY,
    type=float,
    show_default="roughly right; 1 if another error is given",
)
@option(
    "--time-error",
    "DAYS",
    "likelihood, algorithm-1a: largest error of known dates.",
    group=ADVERSARY,
    type=float,
    show_default="roughly right; 14 if another error is given",
)
@option("--top", "N", "Number of records to show.", type=click.IntRange(1, 1000), default=10)
@option(
    "--allow-unknown",
    "",
    "Accept item names that resemble an item but match none, and unknown categories.",
    is_flag=True,
)
@option(
    "--population",
    "N",
    "Size of the population, if a table is a sample. Only for tables.",
    group=ADVERSARY,
    type=click.IntRange(1),
    show_default="the person is in the table",
)
@reading_options
@json_option
def lineup(
    data: str,
    source: Source,
    knows: tuple[str, ...],
    aux_path: Path | None,
    length: str | None,
    joined: str | None,
    attack: AttackOptions,
    wrong: int | None,
    value_error: float | None,
    time_error: float | None,
    top: int,
    allow_unknown: bool,
    population: int | None,
    as_json: bool,
) -> None:
    """Show which records a few known facts point to, and why.

    DATA is an index, or any source that `standout index` reads. A fact names an
    item, by its title in any case or by its id, with its value and date if known.

    The attack is Bayesian: it computes how likely the facts are if they are about a
    record, and from that the probability that the record is the person's, or that
    the person is not in the data. It depends on how accurate the facts are: by
    default one in ten is assumed wrong, and errors of 30 days or half of the spread
    of values are common; --wrong, --value-error and --time-error say otherwise. A
    fact can state its own errors: ±1 after a value, ±14 (days) after a date, and ?
    at its end if value and date are as likely wrong as right.
    With --attack paper it is Algorithm 1B of the paper, whose probabilities are not
    calibrated.

    DATA can also be a table with one row per person (--table, or recognised). A fact
    is then COLUMN=VALUE, with the error of its column, and the lineup shows rows.

    \b
    Example:
      standout lineup ml-latest-small --knows "Brazil=4@2005-03-01" \\
          --knows "Bent=1" --knows "Matrix, The (1999)" --length 200±50%
      standout lineup ml-latest-small --knows Bent --attack paper --phi 2
      standout lineup survey.csv --table --knows age=34 --knows sex=f

    \b
    JSON output:
      attack        likelihood, paper or algorithm-1a
      assumes       likelihood: what the probabilities take for granted
      facts         name, item (null if unknown), title, value, time, value_error,
                    time_error, doubt, records that have it
      candidates    number of records that fit --length and --joined
      lineup        record, score, probability of the most likely records
      outside       probability that it is none of these
      nobody        likelihood: the part of it that the person is not in the data
      eccentricity  (best score - second best) / sigma
      sigma, mean   of the scores of all candidates
      match         the claimed record, or null: of at least this posterior
                    (likelihood) or eccentricity phi (the others)
      ties          number of records with the best score
      bits          prior: log2 of candidates; left: still missing to identify the
                    best record
      explain       by fact, for the best record: name, has, similarity, weight,
                    part; the parts add up to its score. by_item, by_value,
                    by_time: what each adds to the part when it becomes known.
                    likelihood: how much likelier value and date, and the item,
                    are if the fact is about the record; part is the logarithm of
                    the product, or 0. algorithm-1a: the lowest part is the score
      unknown       names that match no item
      read          how the data was read
      length, joined, posterior, phi, fingerprint, version
    \b
    JSON output for a table:
      lineup        row, id, probability, score, parts by column
      nobody        probability that the person is not in the table
      ties, bits_left, rows, population, fingerprint, version
    """
    with progress() as report:
        release = source.read([data], report, check=False)
    if release.columns:
        from standout.cli.lineup_screen import lineup_of_table, refuse_options_of_histories

        refuse_options_of_histories(
            {
                "--aux": aux_path,
                "--length": length,
                "--joined": joined,
                "--value-error": value_error,
                "--time-error": time_error,
                "--attack": attack.attack != "likelihood",
            }
        )
        lineup_of_table(release, knows, wrong, population, top, as_json)
        return
    if population is not None:
        raise ParameterError("--population is for tables (--table), and the data is a history: leave it out")
    from standout.cli.lineup_screen import Answer, show_answer
    from standout.cli.typed_facts import Knowledge
    from standout.data.manifest import checked_meanwhile
    from standout.evaluate.lineup import lineup as answer_facts

    errors = Errors(wrong, value_error, time_error)
    errors.check(attack.attack)
    knowledge = Knowledge.parse(knows, aux_path, length, joined, allow_unknown)
    with checked_meanwhile(release):
        facts = knowledge.resolve(release)
        aux = knowledge.aux(facts)
        adversary = errors.adversary(len(facts))
        built = attack.built(attack.attack, within(release, errors.of_values, errors.of_times), adversary)
        found = answer_facts(release, aux, built, top=top, phi=attack.least_phi, posterior=attack.least_posterior)
    answer = Answer.of(found, facts, attack.attack)
    if as_json:
        print_json(answer.to_dict())
    else:
        show_answer(answer)
    suggest_index(release, data)


class Errors(NamedTuple):
    """The errors of the facts as typed; None where nothing is said."""

    wrong: int | None
    value: float | None
    time: float | None

    def check(self, attack: str) -> None:
        """Refuse options that do not apply to the attack."""
        if self.wrong is not None:
            check_applies(attack, "--wrong", ("likelihood",))
        for typed, error in (("--value-error", self.value), ("--time-error", self.time)):
            if error is not None:
                check_applies(attack, typed, ("likelihood", "algorithm-1a"))

    @property
    def of_values(self) -> float:
        """Largest error of values."""
        return VALUE_ERROR if self.value is None else self.value

    @property
    def of_times(self) -> float:
        """Largest error of dates in days."""
        return TIME_ERROR if self.time is None else self.time

    def adversary(self, facts: int) -> "Adversary | None":
        """Somebody who knows facts with these errors; None if nothing is said about them."""
        from standout.know.adversary import Adversary

        if self == (None, None, None):
            return None
        return Adversary(facts, self.wrong or 0, value_error=self.of_values, time_error=self.of_times)
