"""The section of docs/lab/results.md on purchases: an audit with repeats kept beside one with repeats merged."""

from pathlib import Path
from typing import Any, Literal

import standout as so
from standout.auditing.ladder import LADDER, fit_rung
from standout.core.arrays import Ints
from standout.core.rng import generator
from standout.core.text import percent
from standout.evaluate.simulate import success_rates
from standout.findings.audit import AuditFindings
from standout.know.facts import encode_auxes

__all__ = ["repeats_section"]

TARGETS, FACTS = 300, (2, 4)
COLUMNS = {"record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate"}
READING: dict[str, Any] = {
    **COLUMNS,
    "time_format": "%m/%d/%Y %H:%M",
    "encoding": "latin-1",
    "max_rejects": "25%",
    "ignore": ["InvoiceNo", "Description", "UnitPrice", "Country"],
}
COMMAND = (
    "standout audit online-retail/online-retail.csv.gz --record CustomerID --item StockCode --value Quantity "
    "--time InvoiceDate --read time_format='%m/%d/%Y %H:%M' --read encoding=latin-1 --read max_rejects=25% "
    "--read ignore=InvoiceNo --read ignore=Description --read ignore=UnitPrice --read ignore=Country "
    f"--targets {TARGETS}"
)
ATTACKS = {"paper": "paper", "likelihood": "Likelihood"}


def repeats_section(folder: Path, seed: int) -> str:
    """Return the section: sizes, success of both attacks, and what explains the difference."""
    releases = _read(folder, "keep"), _read(folder, "last")
    kept, merged = (_audit(release, seed) for release in releases)
    data = kept.data
    lines = [
        "## A retail audit with repeats kept beside merged\n",
        f"People buy the same product again: {data.repeats:,} of {data.entries:,} purchases "
        f"({percent(data.repeats / data.entries)}) repeat a customer and a product. `--read repeats=keep` keeps "
        "all of them; `--read repeats=last` keeps the latest purchase of each product and drops the others. The "
        "same audit in both ways:\n",
        f"    {COMMAND} --seed {seed} --read repeats=keep\n",
        "Share of targets who are identified, with 95 % intervals; errors are relative to the data.\n",
        "| adversary | attack | kept | merged | what is known |",
        "|---|---|---|---|---|",
        *_adversary_rows(kept, merged),
        "",
        _explanation(kept, merged, _success_with_merged_facts(*releases, seed)),
    ]
    return "\n".join(lines)


def _read(folder: Path, repeats: Literal["keep", "last"]) -> so.Release:
    return so.read(folder / "online-retail" / "online-retail.csv.gz", **READING, repeats=repeats)


def _audit(release: so.Release, seed: int) -> AuditFindings:
    return so.audit(release, targets=TARGETS, facts=list(FACTS), seed=seed).findings


def _adversary_rows(kept: AuditFindings, merged: AuditFindings) -> list[str]:
    rows = []
    for adversary in kept.adversaries:
        for attack, title in ATTACKS.items():
            named = [_estimate(_of(findings, adversary.name, attack)) for findings in (kept, merged)]
            name, known = (f" {adversary.name}", f" {adversary.description}") if attack == "paper" else ("", "")
            rows.append(f"|{name} | {title} | {' | '.join(named)} |{known} |")
    return rows


def _of(findings: AuditFindings, adversary: str, attack: str) -> Any:
    """The findings about one attack of one adversary."""
    attacks = next(part.attacks for part in findings.adversaries if part.name == adversary)
    return next(part for part in attacks if part.name == attack)


def _estimate(attack: Any) -> str:
    share = attack.as_named.identified
    return f"{share.value:.3f} ({share.low:.3f}–{share.high:.3f})"


def _success_with_merged_facts(kept: so.Release, merged: so.Release, seed: int) -> tuple[float, float]:
    """Success of the colleague's paper attack with facts from merged purchases, on merged and on all ones."""
    adversary = fit_rung(LADDER[0], merged).adversary
    people = targets_of(merged, adversary, seed)
    facts = adversary.observe_all(merged, people, seed)
    same_facts = encode_auxes(kept, [facts.aux(merged, q) for q in range(len(people))])
    rates = [
        success_rates(release, known, people, [adversary.knows], None, so.ScoreboardRH()).mean()
        for release, known in ((merged, facts), (kept, same_facts))
    ]
    return float(rates[0]), float(rates[1])


def targets_of(release: so.Release, adversary: so.Adversary, seed: int) -> Ints:
    """Random people with enough entries for an adversary."""
    order = generator(seed, "merged facts").permutation(release.n_records)
    return order[adversary.eligible(release, order)][:TARGETS]


def _explanation(kept: AuditFindings, merged: AuditFindings, same_facts: tuple[float, float]) -> str:
    """What the table shows, with its numbers."""
    too_short = merged.answer.too_few_items - kept.answer.too_few_items
    return (
        "Merging makes the paper's attack look stronger than it is: facts drawn from the merged purchases identify "
        f"{percent(same_facts[0])} in the merged data, and the same facts {percent(same_facts[1])} in the data with "
        "all purchases. Likelihood changes little, so the answer of the audit, which reports the strongest attack, "
        f"does not change here. Merging also leaves {too_short:,} more people with too few entries to be targets.\n"
    )
