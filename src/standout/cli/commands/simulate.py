"""`standout simulate`: attack records whose owner is known, and measure the adversary's success."""

import sys
from pathlib import Path

import click

from standout.cli.attack_options import AdversaryOptions, AttackOptions, adversary_options, attack_options, within
from standout.cli.console import print_json, reading_json, suggest_index
from standout.cli.error_lines import INTERRUPTED
from standout.cli.option_groups import ATTACK, command, option
from standout.cli.options import (
    check_table_path,
    json_option,
    output_file,
    parse_counts,
    parse_targets,
    path_argument,
    seed_option,
    table_option,
)
from standout.cli.reading import Original, Source, original_options, reading_options
from standout.cli.worker_options import worker_options
from standout.core.progress import progress_bar as progress

__all__ = ["simulate"]

ATTACKS = ("both", "likelihood", "paper", "algorithm-1a")
ATTACK_HELP = (
    "likelihood (Bayesian), paper (Algorithm 1B), both, or algorithm-1a: match everything within "
    "--value-error and --time-error."
)


@command()
@path_argument("data")
@adversary_options
@attack_options(ATTACKS, "both", ATTACK_HELP)
@option("--facts", "N,…", "Numbers of known facts to attack with: 4, or 2,4,8, or 2-10.", show_default="all")
@option("--targets", "N|all", "Number of targets.", default="1000")
@option(
    "--precision",
    "SHARE",
    "Stop as soon as the interval of the share identified is at most ± SHARE.",
    type=float,
    show_default="use all targets",
)
@option("--draws", "N", "Draws of known facts per target.", default=1)
@option(
    "--budget",
    "SHARE",
    "False claim budget: the largest share of absent targets that may be claimed.",
    group=ATTACK,
    default=0.01,
)
@option("--theta", "FLOAT", "Minimum similarity to count a wrong record as similar to the target.", default=0.5)
@option("--top", "N", "Length of the lineup.", default=10)
@option(
    "--absent/--no-absent",
    "",
    "Also attack with the target removed from the data, to count false claims.",
    default=True,
)
@seed_option
@worker_options
@table_option
@option(
    "--save",
    "FILE",
    "Name of the checkpoint files. An interrupted run resumes from them.",
    type=click.Path(path_type=Path),
)
@original_options
@reading_options
@json_option
def simulate(
    data: str,
    source: Source,
    original: Original,
    adversary: AdversaryOptions,
    attack: AttackOptions,
    facts: str | None,
    targets: str,
    precision: float | None,
    draws: int,
    budget: float,
    theta: float,
    top: int,
    absent: bool,
    seed: int,
    threads: int | None,
    output: Path | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Measure how well an adversary identifies people.

    DATA is an index, or any source that `standout index` reads. Targets are drawn
    at random. The adversary knows a few facts about each, as inaccurate as the
    options say, and attacks. The output shows how often the best guess is right,
    how often claims are correct or wrong, how much is revealed, and how often
    absent people are claimed.

    By default two attacks run on the same targets with the same facts: likelihood,
    which knows how inaccurate the facts are and claims a record whose posterior
    probability is at least --posterior; and that of the paper, which claims one
    whose eccentricity is at least --phi. The risk is that of the stronger one.

    Measure a sanitized release with --original: the targets and the known facts are
    then those of the original. --original-read says how to read it.

    \b
    Example:
      standout simulate ratings.csv --knows 8 --wrong 2 --facts 2,4,8
      standout simulate ratings.index --targets all --items rarest --json
      standout simulate ratings.csv --attack paper --phi 2 --time-scale 60

    \b
    Exit codes:
      0  all targets were attacked
      1  an error
      3  interrupted; the numbers are about the targets attacked so far

    \b
    JSON output:
      complete  whether all targets were attacked
      original  fingerprint of the original, or null
      read      how the data was read
      present   share of targets whom a record of DATA represents
      attacks   by name: the attack with its settings, and the threshold of
                claims
      table     one row per attack and measure: attack, adversary, facts, measure,
                setting, estimate, low, high, n, baseline, too_few_items, seed,
                fingerprint, version
      curves    by attack, adversary and facts: curve (claim rates by phi or
                posterior) and calibration (of probabilities)
    """
    from standout.cli.simulation_screen import SimulationsByAttack, show_simulations
    from standout.evaluate.simulate import simulate as run_simulation
    from standout.evaluate.simulation import write_table

    described = adversary.adversary()
    fact_counts = None if facts is None else parse_counts("--facts", facts)
    target_count = parse_targets(targets)
    check_table_path(output, data)
    if save is not None:
        output_file(save.with_name(f"{save.name}.{12 * '0'}.checkpoint"), "--save")
    with progress() as report:
        release = original.read(data, source, report)
        similarity = within(release, described.value_error, described.time_error)
        attacks = {name: attack.built(name, similarity) for name in attack.names}
        simulations = {}
        for name, built in attacks.items():
            simulations[name] = run_simulation(
                release,
                described,
                attack=built,
                facts=fact_counts,
                targets=target_count,
                precision=precision,
                draws=draws,
                phi=attack.least_phi,
                posterior=attack.least_posterior,
                budget=budget,
                theta=theta,
                top=top,
                absent=absent,
                seed=seed,
                threads=threads,
                progress=report,
                save=save,
            )
            if not simulations[name].complete:
                break
    result = SimulationsByAttack(simulations, attacks)
    if output is not None:
        write_table(result.table, output)
    if as_json:
        print_json({**result.to_dict(), "read": reading_json(release)})
    else:
        show_simulations(result)
    suggest_index(release, data)
    if not result.complete:
        sys.exit(INTERRUPTED)
