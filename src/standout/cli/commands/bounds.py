"""`standout bounds`: the theorems of the paper, and their check on a data set."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import (
    borderless_table,
    number_columns,
    print_json,
    print_table,
    print_text,
    reading_json,
    release_stamp,
)
from standout.cli.error_lines import naming_options
from standout.cli.option_groups import ADVERSARY, command, option
from standout.cli.options import (
    check_table_path,
    json_option,
    parse_number_or_none,
    path_argument,
    seed_option,
    table_option,
    threads_option,
)
from standout.cli.reading import Source, reading_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.release import Release
    from standout.evaluate.estimates import Estimate
    from standout.know.adversary import Adversary
    from standout.measure.theorem_bounds import Check

__all__ = ["bounds"]

DELTAS = (0.1, 0.25, 0.5, 0.75, 0.9)
LINEUPS = (2, 10, 100)
VERDICTS = {True: "holds", False: "does not hold", None: "undecided"}
DENOMINATORS = {"first": " / |supp(r)|", "union": " / union", None: ""}


@command()
@path_argument("data", required=False)
@option("--records", "N", "Number of records, if DATA is not given.", type=click.IntRange(1))
@option("--epsilon", "FLOAT", "ε of the theorems.", default=0.01)
@option("--delta", "FLOAT", "δ to check on DATA.", default=0.5)
@option("-k", "N", "Length of the lineup to check on DATA.", default=10)
@option("--lambda lam", "FLOAT", "λ of Theorem 5: a record is in the sample with probability 1/λ.", default=8.0)
@option("--gamma", "FLOAT", "γ of Theorem 5.", default=0.1)
@option("--wrong", "N", "Number of known facts that are wrong.", group=ADVERSARY, default=0)
@option("--value-error", "E|none", "Error of known values; none: unknown.", group=ADVERSARY, default="0")
@option("--time-error", "DAYS|none", "Error of known dates; none: unknown.", group=ADVERSARY, default="0")
@option("--targets", "N", "Number of targets.", default=200)
@seed_option
@threads_option
@table_option
@reading_options
@json_option
def bounds(
    data: str | None,
    source: Source,
    records: int | None,
    epsilon: float,
    delta: float,
    k: int,
    lam: float,
    gamma: float,
    wrong: int,
    value_error: str,
    time_error: str,
    targets: int,
    seed: int,
    threads: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show how many known facts suffice by the paper's theorems.

    With --records N the bounds are for N records, whatever their content (the
    Netflix Prize data has 480189). With DATA each bound is also compared with a
    measurement, for two definitions of similarity. If the sum is divided by
    |supp(r)|, Lemma 1 of the paper holds; if by the union, it does not. Known
    facts are exact unless --wrong, --value-error or --time-error is given.

    \b
    Example:
      standout bounds --records 480189
      standout bounds ratings.csv --delta 0.9
      standout bounds ratings.csv --value-error 1 --time-error none

    \b
    JSON output:
      records, epsilon      what the numbers are for
      needed                delta; facts (Theorems 1, 2 and 4); lineups: facts by
                            length of the lineup (Theorem 3)
      checks                with DATA, one row per check: theorem, statement,
                            settings, sign, bound, value, low, high, n, holds
                            (null: undecided), too_few_items, note
      read                  with DATA, how it was read
      fingerprint, version  with DATA
    """
    from standout.evaluate.simulation import write_table
    from standout.measure.theorem_bounds import table
    from standout.measure.theorem_checks import check

    check_table_path(output, data)
    adversary = _adversary(wrong, value_error, time_error)
    if data is None:
        if records is None:
            raise ParameterError("bounds needs DATA or --records N")
        if adversary is not None:
            raise ParameterError("--wrong, --value-error and --time-error need DATA to be checked on")
        if output is not None:
            raise ParameterError("--output needs DATA: it is the table of the checks on DATA")
        _show(records, epsilon, [], None, as_json)
        return
    if records is not None:
        raise ParameterError("bounds needs DATA or --records N, not both")
    with progress() as report:
        release = source.read_entries([data], report, "the theorems")
        checks = check(
            release,
            epsilon=epsilon,
            delta=delta,
            k=k,
            lam=lam,
            gamma=gamma,
            adversary=adversary,
            targets=targets,
            seed=seed,
            threads=threads,
        )
    if output is not None:
        write_table(table(checks), output)
    _show(release.n_records, epsilon, checks, release, as_json)


def _adversary(wrong: int, value_error: str, time_error: str) -> "Adversary | None":
    """Who knows facts with these errors; None: exact facts. The theorems say how many."""
    from standout.know.adversary import Adversary

    errors = [parse_number_or_none("--value-error", value_error), parse_number_or_none("--time-error", time_error)]
    if not wrong and errors == [0, 0]:
        return None
    with naming_options(wrong="--wrong", value_error="--value-error", time_error="--time-error"):
        return Adversary(knows=max(wrong, 1), wrong=wrong, value_error=errors[0], time_error=errors[1])


def _show(records: int, epsilon: float, checks: "Sequence[Check]", release: "Release | None", as_json: bool) -> None:
    from standout.measure.theorem_bounds import facts_for_lineup, facts_needed

    facts = {delta: facts_needed(records, epsilon, delta) for delta in DELTAS}
    lineups = {delta: [facts_for_lineup(records, k, delta) for k in LINEUPS] for delta in DELTAS}
    if as_json:
        _print_json(records, epsilon, facts, lineups, checks, release)
        return
    table = borderless_table()
    table.add_column("δ")
    number_columns(table, "similar or unique", *(f"lineup of {k}" for k in LINEUPS))
    for delta in DELTAS:
        table.add_row(f"{delta:g}", str(facts[delta]), *map(str, lineups[delta]))
    print_table(table, f"Known facts that suffice: {records:,} records, ε = {epsilon:g}")
    print_text(
        "With this many facts, a matching record is at least 1 − ε − δ similar to the target [Theorem 1], "
        f"or is the target itself if records are sparse [Theorem 2], with probability {1 - epsilon:g}."
    )
    if checks:
        _show_checks(checks)


def _print_json(
    records: int,
    epsilon: float,
    facts: dict[float, int],
    lineups: dict[float, list[int]],
    checks: "Sequence[Check]",
    release: "Release | None",
) -> None:
    from standout.measure.theorem_bounds import table

    needed = [
        {"delta": delta, "facts": facts[delta], "lineups": dict(zip(map(str, LINEUPS), lineups[delta], strict=True))}
        for delta in DELTAS
    ]
    content: dict[str, object] = {"records": records, "epsilon": epsilon, "needed": needed}
    content |= {"checks": table(checks).to_dicts()} if checks else {}
    if release is not None:
        content |= {"read": reading_json(release), **release_stamp(release)}
    print_json(content)


def _show_checks(checks: "Sequence[Check]") -> None:
    table = borderless_table()
    table.add_column("theorem")
    number_columns(table, "measured", "bound", "")
    for check in checks:
        table.add_row(*_check_row(check))
    print_text("")
    print_table(table, "The theorems on this release")
    notes = (f"Theorem {check.theorem}, {check.statement}: {check.note}" for check in checks if check.note)
    print_text(*(f"- {note}" for note in dict.fromkeys(notes)))


def _check_row(check: "Check") -> tuple[str, str, str, str]:
    facts = f", m = {check.settings.m}" if check.settings.m else ""
    name = f"{check.theorem} {check.statement}{DENOMINATORS[check.settings.over]}{facts}"
    return name, _estimate(check.measured), f"{check.sign} {check.bound:.3g}", VERDICTS[check.holds]


def _estimate(estimate: "Estimate") -> str:
    ends = "" if estimate.low == estimate.high else f" ({estimate.low:.3g}–{estimate.high:.3g})"
    return f"{estimate.value:.3g}{ends}"
