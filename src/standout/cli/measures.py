"""What `standout sparsity`, `bounds` and `unicity` print."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from standout._version import __version__
from standout.cli import show
from standout.evaluate.estimates import Estimate
from standout.release.model import Release
from standout.theory import bounds
from standout.theory.bounds import Check
from standout.theory.sparsity import Sparsity
from standout.theory.unicity import Unicity

__all__ = ["show_bounds", "show_sparsity", "show_unicity"]

DELTAS = (0.1, 0.25, 0.5, 0.75, 0.9)
LINEUPS = (2, 10, 100)
HOLDS = {True: "holds", False: "does not hold", None: "cannot be told"}


def show_sparsity(found: Sparsity, by: str, release: Release, as_json: bool) -> None:
    """How near the nearest neighbours are, for machines or for people."""
    table = found.table()
    if as_json:
        told = {"by": by, "records": len(found.records), "of": found.total, "table": table.to_dicts(),
                "curve": found.curve().to_dicts()}  # fmt: skip
        show.print_json(told | _stamp(release))
        return
    screen = show.console()
    screen.print(f"{found}\nby {by}", soft_wrap=True)
    screen.print(_table(
        "δ of the records have a neighbour more similar than ε", ("ε", "δ"),
        [(f"{row['epsilon']:g}", _rate(row["delta"], row["low"], row["high"])) for row in table.to_dicts()],
    ))  # fmt: skip
    alone = 100 * (1 - found.survival(0.5).value)
    screen.print(
        f"{alone:.1f} % of the records have no other that is even half similar: a record that fits what is "
        "known of one of these people is theirs.",
        soft_wrap=True,
    )


def show_bounds(
    records: int, epsilon: float, checks: Sequence[Check], release: Release | None, as_json: bool
) -> None:
    """Facts that are enough whatever the data, and what a release makes of it."""
    enough = [(delta, bounds.facts_needed(records, epsilon, delta)) for delta in DELTAS]
    lineups = [[bounds.facts_for_lineup(records, k, delta) for k in LINEUPS] for delta in DELTAS]
    if as_json:
        needed = [
            {"delta": delta, "facts": m, "lineups": dict(zip(map(str, LINEUPS), row, strict=True))}
            for (delta, m), row in zip(enough, lineups, strict=True)
        ]
        told: dict[str, Any] = {"records": records, "epsilon": epsilon, "needed": needed}
        told |= {"checks": bounds.table(checks).to_dicts()} if checks else {}
        show.print_json(told | ({} if release is None else _stamp(release)))
        return
    screen = show.console()
    rows = [(f"{delta:g}", str(m), *map(str, row)) for (delta, m), row in zip(enough, lineups, strict=True)]
    names = ("δ", "similar or alone", *(f"lineup of {k}" for k in LINEUPS))
    screen.print(_table(f"Facts that are enough: {records:,} records, ε = {epsilon:g}", names, rows))
    screen.print(
        "With so many, a record that fits is at least 1 − ε − δ similar to the target [Theorem 1], or is the "
        f"target itself where records are sparse [2], with probability {1 - epsilon:g}.",
        soft_wrap=True,
    )
    if checks:
        names = ("theorem", "measured", "bound", "")
        screen.print()
        screen.print(_table("The theorems on this release", names, map(_check, checks)))
        notes = (f"Theorem {check.theorem}, {check.what}: {check.note}" for check in checks if check.note)
        for note in dict.fromkeys(notes):
            screen.print(f"- {note}", soft_wrap=True)


def _check(check: Check) -> tuple[str, str, str, str]:
    over = {"first": " / |supp(r)|", "union": " / union", None: ""}[check.settings.over]
    m = f", m = {check.settings.m}" if check.settings.m else ""
    bound = f"{check.sign} {check.bound:.3g}"
    return f"{check.theorem} {check.what}{over}{m}", _brief(check.measured), bound, HOLDS[check.holds]


def show_unicity(found: Sequence[Unicity], by: str, release: Release, as_json: bool) -> None:
    """How many are singled out by k of their entries."""
    if as_json:
        rows = [
            {"k": one.k, "share": one.share.value, "low": one.share.low, "high": one.share.high,
             "n": one.share.n, "baseline": one.share.baseline, "left_out": one.left_out}
            for one in found
        ]  # fmt: skip
        show.print_json({"by": by, "unicity": rows} | _stamp(release))
        return
    cells = [
        (
            str(one.k),
            _rate(one.share.value, one.share.low, one.share.high),
            f"{one.share.n:,}",
            f"{one.left_out:,}",
        )
        for one in found
    ]  # fmt: skip
    names = ("k", "singled out", "tried", "too few entries")
    show.console().print(_table(f"Records that k random entries of theirs single out, by {by}", names, cells))


def _stamp(release: Release) -> dict[str, str]:
    return {"fingerprint": release.fingerprint, "version": __version__}


def _rate(value: float, low: float, high: float) -> str:
    ends = "" if low == high else f" ({100 * low:.1f}–{100 * high:.1f})"
    return f"{100 * value:.1f} %{ends}"


def _brief(estimate: Estimate) -> str:
    ends = "" if estimate.low == estimate.high else f" ({estimate.low:.3g}–{estimate.high:.3g})"
    return f"{estimate.value:.3g}{ends}"


def _table(title: str, names: Sequence[str], rows: Any) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for at, name in enumerate(names):
        table.add_column(name, justify="left" if at == 0 else "right", no_wrap=at > 0)
    for row in rows:
        table.add_row(*row)
    return table
