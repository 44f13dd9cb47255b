"""The command `standout` and its subcommands."""

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import click

from standout._version import __version__
from standout.cli.adversaries import adversary_options
from standout.cli.original import Original, original_options
from standout.cli.second import public_options
from standout.cli.sources import Settings, source_options
from standout.core.errors import StandoutError

__all__ = ["cli", "main"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
threads_option = click.option(
    "--threads", type=click.IntRange(1), help="How many threads; all cores unless said otherwise."
)
seed_option = click.option(
    "--seed", default=0, show_default=True, help="The same seed gives the same numbers."
)
ladder_option = click.option(
    "--ladder", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Your own adversaries, in TOML.",
)  # fmt: skip
output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="Write the table to NAME.csv, NAME.parquet or NAME.json.",
)  # fmt: skip


def main() -> None:
    """Runs the command; an error of ours is one line and exit code 1."""
    signal.signal(signal.SIGTERM, _stop)  # so that a stopped build clears up behind itself
    try:
        cli(prog_name="standout")
    except StandoutError as error:
        click.echo(f"standout: {error}", err=True)
        sys.exit(1)


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise StandoutError(f"{name} must be a whole number or all, got {text!r}")
    return int(text)


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _list_steps(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from standout.cli.sanitize import list_steps

        list_steps()
        context.exit()


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
    from standout.release.index_writer import open_index_writer

    with show.progress() as progress, open_index_writer(output) as place:
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
    from standout.attack.eccentricity import check_phi
    from standout.attack.scoreboard import ScoreboardRH
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
@click.argument("data")
@adversary_options
@click.option(
    "--facts", metavar="N,…", help="With the first so many facts: 4, or 2,4,8, or 2-10; all if not said."
)
@click.option("--targets", default="1000", show_default=True, help="How many records to try, or all.")
@click.option(
    "--precision", type=float, metavar="SHARE", help="Instead: until rates are known to within ± this."
)
@click.option("--draws", default=1, show_default=True, help="How often each target is observed.")
@click.option("--phi", default=1.5, show_default=True, help="Least eccentricity of a claim.")
@click.option("--budget", default=0.01, show_default=True, help="Share of false claims that φ is to keep to.")
@click.option(
    "--theta", default=0.5, show_default=True, help="Similarity from which on a wrong record is as good."
)
@click.option("--top", default=10, show_default=True, help="Length of the lineup.")
@click.option("--absent/--no-absent", default=True, help="Try it also without the targets in the data.")
@seed_option
@threads_option
@output_option
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="FILE",
    help="Keep what is done in files of this name; a run that was cut short goes on from there.",
)  # fmt: skip
@original_options
@source_options
@json_option
def simulate(
    data: str,
    settings: Settings,
    original: Original,
    facts: str | None,
    targets: str,
    output: Path | None,
    as_json: bool,
    **said: Any,
) -> None:
    """Measure what an adversary achieves: attacks on records whose truth is known.

    DATA is an index, or any source that `standout index` reads. Targets are drawn at random; the adversary
    knows a few facts about each, as imprecisely and wrongly as said; Algorithm 1B of the paper guesses who it
    is. Printed are how often that is right, what a claim is worth, how much is learned, and the same for
    people who are not in the data. Ctrl-C ends with what there is so far; exit code 3 then.

    What `standout sanitize` made is measured with --original: targets are then people of the original, and
    so is what is known of them. Options with --original are for reading it.

    \b
    JSON has
      complete    whether all targets were tried
      original    the fingerprint of the original, or null
      present     the share of targets for whom a record of DATA stands
      table       adversary, facts, measure, setting, estimate, low, high, n, baseline, left_out,
                  seed, fingerprint, version: a row for each measure
      curves      by adversary and facts: the trade-off over phi, and the calibration of probabilities
    """
    from standout.cli import show
    from standout.cli.adversaries import adversary_of, counts_of
    from standout.cli.simulate import show_simulation
    from standout.evaluate.result_table import write
    from standout.evaluate.simulate import simulate as simulated

    names = (
        "knows",
        "wrong",
        "wrong_facts",
        "value_error",
        "time_error",
        "items",
        "length_error",
        "joined_error",
    )
    adversary = adversary_of(**{name: said.pop(name) for name in names})
    sizes = counts_of("--facts", facts)
    show.check_output(output)
    with show.progress() as progress:
        release = original.read(data, settings, progress)
        wanted = "all" if targets == "all" else _whole("--targets", targets)
        done = simulated(release, adversary, facts=sizes, targets=wanted, progress=progress, **said)
    if output is not None:
        write(done.table, output)
    show_simulation(done, as_json)
    show.suggest_index(release, data)
    if not done.complete:
        sys.exit(3)


@cli.command()
@click.argument("data")
@click.option("--within-value", type=float, metavar="E", help="Values must lie within E of each other.")
@click.option("--within-days", type=float, metavar="DAYS", help="Dates must lie within so many days.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Examine N records, not all.")
@click.option("--seed", default=0, show_default=True, help="The same seed draws the same sample.")
@threads_option
@output_option
@source_options
@json_option
def sparsity(
    data: str, settings: Settings, within_value: float | None, within_days: float | None, output: Path | None,
    as_json: bool, **said: Any,
) -> None:  # fmt: skip
    """Find the nearest neighbour of every record: how alike are the people most alike?

    Two records are as similar as they have items in common, of all that either has; with --within-value and
    --within-days an item counts only if its values and dates are near, too. The table is Definition 1 of
    the paper: (ε, δ)-sparse means that at most a share δ of the records has a neighbour more similar than ε.

    \b
    JSON has
      by, records, of   what counts as similar; how many records were examined, of how many
      table             epsilon, delta, low, high, n
      curve             similarity, share of records with a neighbour at least so similar, low, high, n
      fingerprint, version
    """  # fmt: skip
    from standout.cli import show
    from standout.cli.measures import show_sparsity
    from standout.evaluate.result_table import write
    from standout.similarity.attributes import Within
    from standout.theory.sparsity import sparsity as examined

    show.check_output(output)
    with show.progress() as progress:
        release = settings.read([data], progress)
        found = examined(release, Within(value=within_value, time=within_days), progress=progress, **said)
    if output is not None:
        write(found.curve(), output)
    by = "items in common"
    by += "" if within_value is None else f", values within {within_value:g}"
    by += "" if within_days is None else f", dates within {within_days:g} days"
    show_sparsity(found, by, release, as_json)
    show.suggest_index(release, data)


@cli.command()
@click.argument("data", required=False)
@click.option(
    "--records", type=click.IntRange(1), metavar="N", help="For so many records, if no DATA is given."
)
@click.option("--epsilon", default=0.01, show_default=True, help="ε of the theorems.")
@click.option("--delta", default=0.5, show_default=True, help="δ that is checked on DATA.")
@click.option("-k", default=10, show_default=True, help="Length of the lineup that is checked on DATA.")
@click.option(
    "--lambda", "lam", default=8.0, show_default=True, help="Samples have a share 1/λ of the records."
)
@click.option("--gamma", default=0.1, show_default=True, help="γ of Theorem 5.")
@click.option("--targets", default=200, show_default=True, help="How many records are tried.")
@seed_option
@threads_option
@output_option
@source_options
@json_option
def bounds(
    data: str | None, settings: Settings, records: int | None, epsilon: float, output: Path | None,
    as_json: bool, **said: Any,
) -> None:  # fmt: skip
    """Show how many facts are enough, by the paper's theorems, and check them on a data set.

    Without DATA, for --records N people (Netflix had 480189), whatever their data. With DATA each theorem's
    bound stands beside what is measured, in both readings of similarity: with |supp(r)| below the line, where
    the paper's Lemma 1 holds, and with the union, where it does not.

    \b
    JSON has
      records, epsilon   for what the numbers are
      needed             delta, facts (Theorems 1, 2, 4), lineups: facts by length of the lineup (Theorem 3)
      checks             a row for each check: theorem, what, settings, sign, bound, value, low, high, n,
                         holds (null: cannot be told), left_out, note
      fingerprint, version (with DATA)
    """  # fmt: skip
    from standout.cli import show
    from standout.cli.measures import show_bounds
    from standout.evaluate.result_table import write
    from standout.theory import bounds as theorems

    show.check_output(output)
    if (data is None) == (records is None):
        raise StandoutError("bounds takes DATA, or --records N")
    if data is None and output is not None:
        raise StandoutError("--output is for the checks on DATA")
    if data is None or records is not None:
        show_bounds(records or 1, epsilon, [], None, as_json)
        return
    with show.progress() as progress:
        release = settings.read([data], progress)
        checks = theorems.check(release, epsilon=epsilon, **said)
    if output is not None:
        write(theorems.table(checks), output)
    show_bounds(release.n_records, epsilon, checks, release, as_json)


@cli.command()
@click.argument("data")
@click.option(
    "-k",
    "sizes",
    default="1-4",
    show_default=True,
    metavar="K,…",
    help="How many entries: 4, or 1,2,4, or 1-4.",
)
@click.option(
    "--within-value",
    default="0",
    show_default=True,
    metavar="E|none",
    help="Values known to within E, or not.",
)
@click.option(
    "--bin-days",
    type=float,
    metavar="DAYS",
    help="Dates known to bins of so many days; not known if not said.",
)
@click.option("--targets", default=1000, show_default=True, help="How many records are tried.")
@seed_option
@threads_option
@source_options
@json_option
def unicity(
    data: str,
    settings: Settings,
    sizes: str,
    within_value: str,
    bin_days: float | None,
    as_json: bool,
    **said: Any,
) -> None:
    """Show how many records k of their own entries single out exactly: unicity.

    A record is singled out if no other has all k entries, with values as near and dates in the same bins.

    \b
    JSON has
      by        what is known of an entry
      unicity   k, share, low, high, n, baseline, left_out
      fingerprint, version
    """
    from standout.cli import show
    from standout.cli.adversaries import counts_of, number_of
    from standout.cli.measures import show_unicity
    from standout.theory.unicity import unicity as singled_out

    value, counts = number_of("within_value", within_value), counts_of("-k", sizes) or []
    with show.progress() as progress:
        release = settings.read([data], progress)
        found = singled_out(release, counts, value=value, time=bin_days, progress=progress, **said)
    by = "item" + ("" if value is None else ", value" if value == 0 else f", value ± {value:g}")
    by += "" if bin_days is None else f", date to {bin_days:g} days"
    show_unicity(found, by, release, as_json)
    show.suggest_index(release, data)


@cli.command()
@click.argument("data")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Where it goes; NAME-audit unless said otherwise.",
)  # fmt: skip
@click.option(
    "--quick", is_flag=True, help="Fewer people and facts: an answer at once, with wider intervals."
)
@ladder_option
@click.option("--headline", metavar="NAME", help="The adversary that the answer is about.")
@click.option(
    "--targets", type=click.IntRange(1), default=1000, show_default=True, help="How many people each tries."
)
@click.option(
    "--fail-above", type=click.FloatRange(0, 1), metavar="SHARE",
    help="Exit code 4 where more people may be found than this.",
)  # fmt: skip
@click.option(
    "--sensitive", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Sensitive items, one a line: who would have one revealed.",
)  # fmt: skip
@click.option(
    "--risk-table", "risk", type=click.Path(path_type=Path), metavar="FILE",
    help="Also write how likely each person is to be found: NAME.csv or NAME.parquet, with ids.",
)  # fmt: skip
@click.option("--risk-sample", type=click.IntRange(1), metavar="N", help="The risk table of N people only.")
@click.option(
    "--advise", "advised", is_flag=True,
    help="Also find what would help: see `standout advise`. The limit is --fail-above, or 0.05.",
)  # fmt: skip
@click.option("--phi", default=1.5, show_default=True, help="The eccentricity from which on one is claimed.")
@click.option(
    "--budget", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.01, show_default=True,
    help="The share of false claims that an adversary allows.",
)  # fmt: skip
@seed_option
@threads_option
@original_options
@source_options
@json_option
def audit(
    data: str, settings: Settings, original: Original, output: Path | None, risk: Path | None,
    risk_sample: int | None, advised: bool, as_json: bool, **said: Any,
) -> None:  # fmt: skip
    """How many people could be picked out of DATA, by whom, what would be learned, and how sure that is.

    DATA is a source or an index. The folder gets report.html (one file, to be shown), findings.json (for
    machines; docs/findings.schema.json), tables and charts. A run that is cut short goes on with the same
    command. What `standout sanitize` made is audited with --original, so that what adversaries know is true
    of people and not of what became of them; options with --original are for reading it.

    \b
    Exit code
      0   the audit is done
      3   it was cut short
      4   the share of --fail-above may be exceeded
      5   it failed its own checks: do not trust it
    """
    from standout.auditing.audit import audit as audited
    from standout.cli import show
    from standout.cli.audit import WORK, code_of, folder_for, show_audit, with_advice, write

    if advised and original.source is not None:
        raise StandoutError("--advise is about an original: leave --original out, and give that as DATA")
    if risk is not None:
        from standout.report.safe_tables import table_form

        table_form(risk)
    elif risk_sample is not None:
        raise StandoutError("--risk-sample is for --risk-table, which says where it goes")
    folder = folder_for(data, output)
    with show.progress() as progress:
        release = original.read(data, settings, progress)
        done = audited(release, name=Path(data).name, work=folder / WORK, progress=progress, **said)
        if advised and done.complete:
            done = with_advice(done, data, settings, folder / WORK, said["targets"], progress)
        write(done, folder)
        if risk is not None:
            done.risk_table(risk, records=risk_sample or "all", progress=progress)
    show_audit(done, folder, as_json)
    sys.exit(code_of(done))


@cli.command()
@click.argument("data")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Where it goes; NAME-advice unless said otherwise.",
)  # fmt: skip
@click.option(
    "--limit", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    metavar="SHARE", help="The share of people who may be found.",
)  # fmt: skip
@click.option(
    "--among", type=click.Choice(["everybody", "released"]), default="released", show_default=True,
    help="Whom the limit is for: everybody of DATA, or those who are in the sanitized release.",
)  # fmt: skip
@click.option(
    "--try", "candidates", multiple=True, metavar="STEPS",
    help="A way to try instead of the usual ones, like 'round-time month + drop-entries 0.5'. Repeat it.",
)  # fmt: skip
@ladder_option
@click.option("--headline", metavar="NAME", help="The adversary of the ladder that it is about.")
@click.option(
    "--targets", type=click.IntRange(1), default=1000, show_default=True,
    help="How many people the best ways are tried on.",
)  # fmt: skip
@click.option(
    "--people", type=click.IntRange(1), default=1000, show_default=True,
    help="Of how many people entries are held out, to see what a release is still good for.",
)  # fmt: skip
@click.option("--fail", is_flag=True, help="Exit code 4 where nothing that was tried reaches the limit.")
@seed_option
@threads_option
@source_options
@json_option
def advise(
    data: str, settings: Settings, output: Path | None, candidates: tuple[str, ...], ladder: Path | None,
    headline: str | None, fail: bool, as_json: bool, **said: Any,
) -> None:  # fmt: skip
    """Find the least change of DATA after which no more than a share of the people can be found.

    Steps of `standout sanitize` and combinations of them are tried: how many people an adversary who knows of
    the steps still finds, and how well a recommender learns from what is left. What is recommended is
    measured once more, with fresh facts and noise, and its whole interval lies below the limit. The folder
    gets report.html, advice.json and frontier.csv. A run that is cut short goes on with the same command.

    \b
    Exit code
      0   the search is done, whether anything reaches the limit or not
      3   it was cut short
      4   with --fail: nothing that was tried reaches the limit

    \b
    JSON has
      summary, sentences, command, recommended (or null), limit, among, adversary, complete, limits
      points        steps, name, stage (quick, full), frontier, attack (the strongest), risk, risk_released,
                    utility: value, low, high, n and baseline of each measure
      composition   of two such releases: right, claimed, wrong, shown_once, shown
      impossible    ways that would leave nothing, and why
      data, version
    """
    from standout.advising.advise import advise as advised
    from standout.cli import advise as told
    from standout.cli import show

    folder = told.folder_for(data, output)
    ways = told.candidates_of(candidates)
    with show.progress() as progress:
        release = settings.read([data], progress)
        who = told.adversary_for(release, ladder, headline)
        work = folder / told.WORK
        done = advised(
            release, who, candidates=ways, name=Path(data).name, work=work, progress=progress, **said
        )
        found = told.write(done, data, settings, folder)
    told.show_advice(done, found, told.command_of(done, data, settings), folder, as_json)
    if not done.complete:
        sys.exit(told.CUT_SHORT)
    if fail and done.recommended is None:
        sys.exit(told.NOT_REACHED)


@cli.command()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("demo"), show_default=True,
    metavar="FOLDER", help="Where it goes.",
)  # fmt: skip
@click.option(
    "--records", type=click.IntRange(100), default=5_000, show_default=True, help="How many people."
)
@threads_option
def demo(output: Path, records: int, threads: int | None) -> None:
    """The whole audit on built-in data: a stand-in for the Netflix Prize data, in which there is nobody."""
    from standout.auditing.audit import audit as audited
    from standout.cli import show
    from standout.cli.audit import WORK, code_of, folder_for, show_audit, write
    from standout.synthetic.synthesize import synthesize as synthesized

    folder = folder_for("demo", output)
    with show.progress() as progress:
        release = synthesized(like="netflix", records=records, seed=2008, threads=threads, progress=progress)
        name = f"a stand-in for {records:,} people of the Netflix Prize data"
        done = audited(
            release, name=name, targets=500, seed=2008, threads=threads, work=folder / WORK, progress=progress
        )
        write(done, folder)
    show_audit(done, folder, as_json=False)
    sys.exit(code_of(done))


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
@click.option(
    "--like", type=click.Choice(["quick", "netflix", "flat"]), default="quick", show_default=True,
    help="quick: long tails, calibrated on nothing; netflix: a stand-in for the Netflix Prize data; "
    "flat: no structure at all.",
)  # fmt: skip
@click.option("--records", type=int, help="How many people: 10,000, or Netflix's 480,189.")
@click.option(
    "--items", type=int, help="How many items: 2,000, or as many of Netflix's 17,770 as so many people have."
)
@click.option("--entries", type=int, help="How many entries in all: 50 a record, or Netflix's 209.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same release.")
@threads_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path),
    help="Where it goes: NAME.csv, NAME.parquet, or any other name for an index.",
)  # fmt: skip
@click.option(
    "--check",
    is_flag=True,
    help="With --like netflix: how well it meets what is published of Netflix's data.",
)
@click.option(
    "--nearest", type=click.IntRange(0), default=2_000, show_default=True, metavar="N",
    help="Records whose nearest neighbour --check seeks; 0: none.",
)  # fmt: skip
@json_option
def synthesize(output: Path | None, check: bool, nearest: int, as_json: bool, **wishes: Any) -> None:
    """Make a synthetic data set with the shape of a real one: nobody's data, for trying things out.

    With --check its statistics are shown beside the published ones; without -o nothing is written then.

    \b
    JSON has
      output, like, seed, records, items, entries
      calibration   with --check: group, statistic, target, achieved, tolerance, verdict (met: within
                    the tolerance; near: within twice as much; missed)
      fingerprint, version
    """
    from standout.cli import show
    from standout.cli.synthesize import check_wishes, show_synthesized, write
    from standout.synthetic.synthesize import synthesize as synthesized

    check_wishes(output, check, wishes["like"], wishes["records"])
    with show.progress() as progress:
        release = synthesized(progress=progress, **wishes)
        found = None
        if check:
            from standout.synthetic.calibration import calibration

            seed, threads = wishes["seed"], wishes["threads"]
            found = calibration(release, nearest=nearest, seed=seed, threads=threads, progress=progress)
        if output is not None:
            write(release, output, progress)
    show_synthesized(release, output, wishes, found, as_json)


@cli.command()
@click.option("--data", metavar="DATA", help="Your own: an index or a source; a stand-in is made otherwise.")
@click.option(
    "--records", type=click.IntRange(1), metavar="N", help="People of the stand-in; 480189 if not said."
)
@click.option(
    "--targets", type=click.IntRange(1), default=1000, show_default=True, help="Targets for each bar."
)
@click.option("--only", metavar="FIGURES", help="Some figures, like 1,4,12; 1 to 12, table, sp10, imdb.")
@click.option(
    "--qualifying", type=click.Path(path_type=Path), metavar="FILE",
    help="The contest's test entries; looked for beside DATA unless said otherwise.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same bytes.")
@threads_option
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="Where it goes."
)
@source_options
@json_option
def paper(
    data: str | None, settings: Settings, records: int | None, qualifying: Path | None, output: Path,
    as_json: bool, only: str | None, **said: Any,
) -> None:  # fmt: skip
    """Show every figure and table of the paper beside the paper's own numbers.

    Without --data a stand-in for the Netflix Prize data is made, at its full size unless --records says
    otherwise, and kept in the folder. Whoever still has the original points --data at it. The folder gets
    index.html, figures as CSV, SVG and PNG, validation.csv with every number and readings.csv with what else
    the paper's words may mean. Ctrl-C keeps what is done, and the same command goes on from there; exit code
    3 then.

    \b
    JSON has
      complete, page, summary
      table       figure, figure_2008, about (attack: what a stand-in is validated by; data), panel, label,
                  measure, unit, paper, ours, low, high, n, spread (of our targets), tries (the paper's
                  targets, about), left_out, difference, allowed (by chance), within_error, within_goal,
                  note
      readings    figure, reading, mean and worst |difference|, bias, within (the goal), cells
      targets, seed, fingerprint, version
    """
    from standout.cli import show
    from standout.cli.paper import show_reproduction
    from standout.core.atomic_files import make_folder
    from standout.paper.figures import chosen
    from standout.paper.item_bits import find_qualifying
    from standout.paper.reproduce import reproduce
    from standout.paper.standin import standin

    chosen(only)
    if data is not None and records is not None:
        raise StandoutError("--records is for the stand-in, which is not made where --data is given")
    make_folder(output)
    with show.progress() as progress:
        if data is None:
            release = standin(output, records, said["seed"], said["threads"], progress)
        else:
            release = settings.read([data], progress)
            qualifying = qualifying or find_qualifying(Path(data))
        done = reproduce(release, output, only=only, qualifying=qualifying, progress=progress, **said)
    show_reproduction(done, only, as_json)
    if not done.complete:
        sys.exit(3)


@cli.command()
@click.argument("data")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="OUT",
    help="Where it goes: NAME.csv, NAME.parquet, or else an index.",
)  # fmt: skip
@click.option(
    "--step", "steps", multiple=True, metavar="STEP",
    help="A change, like 'round-time month' or 'drop-rare-items 10'. Repeat it: they are made in order.",
)  # fmt: skip
@click.option(
    "--list-steps", is_flag=True, is_eager=True, expose_value=False, callback=_list_steps,
    help="Show all steps and how they are written, and end.",
)  # fmt: skip
@click.option(
    "--seed",
    type=int,
    help="Makes noise repeatable: keep it secret. Drawn anew and told to nobody if not said.",
)
@click.option("--renumber", is_flag=True, help="Give records new ids, 1 to N in random order.")
@click.option(
    "--key", type=click.Path(path_type=Path), metavar="FILE",
    help="Write who stands for whom to this CSV file: as private as DATA.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace what is at the output already.")
@threads_option
@source_options
@json_option
def sanitize(
    data: str,
    settings: Settings,
    output: Path,
    steps: tuple[str, ...],
    seed: int | None,
    key: Path | None,
    force: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Change a data set so that people stand out less, and write it for publication.

    DATA is an index, or any source that `standout index` reads. Each step changes what the one before has
    left. OUT.sanitized.json beside the output says what was done; the seed is nowhere in it, since noise
    and new ids could be undone with it. Without --renumber the output has DATA's ids. How much safer it is
    says `standout audit OUT --original DATA`.

    \b
    JSON has
      output, sidecar, key   where the files are
      renumbered             whether ids are new
      steps                  step, counts: sizes before and after, what changed
      records, items, entries, fingerprint (of the output), version
    """
    from standout.cli import show
    from standout.cli.sanitize import fresh_seed, show_sanitized
    from standout.core.errors import ParameterError
    from standout.sanitizing.sanitize import sanitize as sanitized
    from standout.sanitizing.step_parser import step
    from standout.sanitizing.writer import check_output_paths, write_sanitized

    wanted = [step(words) for words in steps]
    if not wanted and not said["renumber"]:
        raise ParameterError("--step says what is to change; --list-steps shows all, --renumber needs none")
    check_output_paths(output, key, force, Path(data))
    with show.progress() as progress:
        release = settings.read([data], progress)
        chosen = fresh_seed() if seed is None else seed
        safer = sanitized(release, *wanted, seed=chosen, progress=progress, **said)
        sidecar = write_sanitized(safer, output, key=key, force=force, progress=progress)
    show_sanitized(safer, output, sidecar, key, as_json)


@cli.command()
@click.argument("data")
@click.argument("public")
@click.option(
    "--items", default="auto", show_default=True, metavar="WAY",
    help="How items are aligned: auto, id, title, or a CSV file that maps PUBLIC's ids to DATA's.",
)  # fmt: skip
@click.option(
    "--values", default="auto", show_default=True, metavar="WAY",
    help="How values are aligned: auto, same, quantiles, none, or SCALE,SHIFT.",
)  # fmt: skip
@click.option(
    "--review", type=click.Path(path_type=Path), metavar="FILE",
    help="Doubtful pairs of items with your decisions, as review.csv lists them.",
)  # fmt: skip
@click.option(
    "--dates", type=click.Choice(["use", "ignore", "learn"]), default="use", show_default=True,
    help="Compare dates, do not, or try both for each profile.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(["evidence", "eccentricity"]),
    help="What decides about a claim. [default: evidence; with --phi eccentricity, as in the paper]",
)  # fmt: skip
@click.option("--phi", type=float, help="Least eccentricity of a claim; from decoys if it is not said.")
@click.option(
    "--budget", default=0.01, show_default=True, help="Share of people who are not there that may be claimed."
)
@click.option("--decoys", default=2000, show_default=True, help="How many decoys of each kind.")
@click.option("--assign", is_flag=True, help="A record can be claimed by one profile only: by the best.")
@click.option(
    "--truth", type=click.Path(path_type=Path), metavar="FILE",
    help="Who is who: a CSV file with the columns profile and record.",
)  # fmt: skip
@seed_option
@threads_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER|FILE",
    help="A folder for all, or one file: NAME.csv, NAME.parquet, NAME.json, NAME.html.",
)  # fmt: skip
@public_options
@source_options
@json_option
def link(
    data: str, public: str, settings: Settings, public_settings: Settings, values: str, output: Path | None,
    as_json: bool, **said: Any,
) -> None:  # fmt: skip
    """Link the profiles of PUBLIC to records of DATA: who says elsewhere what gives them away here?

    Both are indexes, or any sources that `standout index` reads; options with --public are for PUBLIC. Each
    profile's facts point to records by Algorithm 1B of the paper; evidence weighs the best of them. One is
    claimed only if it stands out further than people who are not there do: decoys, made of recombined
    profiles and of people of DATA taken out of it. What is printed names nobody. Ids are in the output and in
    --json, which is as private as your data. Ctrl-C ends with what there is so far; exit code 3 then.

    \b
    JSON has
      table         profile, record (best guess), runner_up, evidence, eccentricity, score,
                    runner_up_score, ties, bits_left, facts_used, facts_unknown, claimed, false_claim,
                    contested, by_values, by_dates, by_items, carried_by, dates; right (with --truth)
      claims, expected_false (if nobody of PUBLIC were in DATA), likely_false
      phi           from where on a record is claimed
      sizes         by facts used: profiles, claims; present, right (with --truth)
      histograms    of evidence and eccentricity: claims, others, decoys of both kinds
      truth, curve  precision, recall, false; by phi
      alignment, settings, summary, complete, release, public, version
    """
    from standout.cli import show
    from standout.cli.link import check_place, scale_of, show_links, write
    from standout.linking.link import link as linked

    check_place(output, [data, public, said["items"], said["truth"]], said["review"])
    scale = scale_of(values)
    with show.progress() as progress:
        release = settings.read([data], progress)
        profiles = public_settings.read([public], progress)
        done = linked(release, profiles, values=scale, progress=progress, **said)
        names = Path(data).name, Path(public).name
        files = [] if output is None else write(done, output, *names)
    show_links(done, files, as_json)
    if not done.complete:
        sys.exit(3)
