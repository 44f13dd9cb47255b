"""The self-check of an audit of a table: whether its attacks and its numbers are right.

The runs are checked with the headline adversary: some targets are attacked a second time by a plain
implementation, planted rows must be found, facts about somebody else must identify nobody, absent people must
rarely be claimed and really be absent, and the number of threads must not matter. The findings are checked
by counting again.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from standout.attack.column_scores import ColumnVerdicts, attack_columns, attack_named
from standout.auditing import sentences
from standout.auditing.assemble_findings import AuditRequest, AuditResults
from standout.auditing.plain_rows import PlainVerdict, plain_verdict
from standout.auditing.runs import AuditPlan
from standout.auditing.table_runs import ATTACKS, TableAttackRun, TableRun
from standout.core.rng import generator
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, beta_binomial_tail, binomial_tail, percent
from standout.findings.audit import AuditFindings, Check, Trust
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts, cell_facts
from standout.know.sanitized import Sanitized
from standout.measure.equivalence import cell_codes

RECOMPUTED, REBUILT, PAIRS, THREADED = 4, 3, 200, 40
"""Numbers of targets of the checks."""
SAMPLE = 20_000
PLANTED, PLANTED_FACTS = 20, 8
RARE = 1e-4
"""A check fails if sampling error explains its result with a lower probability than this."""
MOST_COUNTED = 200_000
"""Rows up to which classes are counted a second time; of more rows, some are compared with all others."""
COMPARED = 30


def check_table_runs(plan: AuditPlan, run: TableRun) -> list[Check]:
    """The checks of the attacks of one adversary."""
    checks = [_recomputed(plan, run), _planted(plan), _guessing(plan, run), _absent(plan, run)]
    if not isinstance(plan.release, Sanitized) and plan.release.n_records > 2:
        checks.append(_rebuilt(plan, run))
    return [*checks, _threads(plan, run)]


def _few(plan: AuditPlan, facts: KnownFacts, most: int) -> KnownFacts:
    """The first queries of some facts, without what is known of a history."""
    n = min(most, len(facts))
    return cell_facts(plan.original, facts.cells.of(np.arange(n)))


def _without_history(adversary: Adversary) -> Adversary:
    return replace(adversary, entries=None)


def _attack(
    plan: AuditPlan,
    facts: KnownFacts,
    name: Any,
    adversary: Adversary,
    *,
    table: Release | None = None,
    absent: bool = False,
    threads: int | None = None,
) -> ColumnVerdicts:
    return attack_columns(
        plan.release if table is None else table,
        facts,
        attack_named(name, adversary),
        absent=absent,
        threads=plan.threads if threads is None else threads,
    )


def _recomputed(plan: AuditPlan, run: TableRun) -> Check:
    """Some targets are attacked again by a plain implementation, present and absent."""
    adversary, facts = _without_history(run.rung.adversary), _few(plan, run.facts, RECOMPUTED)
    agree = total = 0
    cases = [(name, adversary) for name in ATTACKS]
    if adversary.wrong:  # likelihood has another kernel if no fact is wrong
        cases.append(("likelihood", replace(adversary, wrong=0)))
    for name, known in cases:
        for absent in (False, True):
            verdicts = _attack(plan, facts, name, known, absent=absent)
            for query in range(len(facts)):
                plain = plain_verdict(plan.release, facts, query, name, known, absent)
                agree += _agree(verdicts, query, plain, name)
                total += 1
    return _check(
        "recomputed",
        "A second, plain implementation gives the same results",
        agree == total,
        f"{total} of {total}",
        f"{agree} of {total}",
        f"The audit attacked {len(facts)} targets again, present and absent, with a slow implementation of "
        f"each attack that shares no code with the fast one. {agree} of {total} results agree.",
    )


def _agree(verdicts: ColumnVerdicts, query: int, plain: PlainVerdict, name: str) -> bool:
    """Whether two implementations say the same, up to rounding."""
    if plain.near_ties != plain.ties:
        return True  # rounding decides which of these rows is the best
    same = abs(float(verdicts.found[query]) - plain.found) < 1e-9 and int(verdicts.ties[query]) == plain.ties
    if name == "paper":
        ratio = float(verdicts.eccentricity[query]), plain.eccentricity
        return same and math.isclose(*ratio, rel_tol=1e-4, abs_tol=1e-4)
    return same and math.isclose(float(verdicts.posterior[query]), plain.posterior, rel_tol=1e-3)


def planted_table(table: Release, seed: int) -> tuple[Release, int]:
    """A sample of the table whose first rows are invented: each cell from another random row."""
    rng = generator(seed, "planted rows")
    rows = rng.permutation(table.n_records)[:SAMPLE]
    count = min(PLANTED, max(1, len(rows) // 2))
    columns = []
    for column in table.columns:
        drawn = rows.copy()
        with_value = rows[~column.is_missing[rows]]
        if len(with_value):
            drawn[:count] = rng.choice(with_value, count)
        columns.append(column.rows(drawn))
    return Release.of_columns(tuple(columns)), count


def _planted(plan: AuditPlan) -> Check:
    """Invented rows among the real ones must be found by exact knowledge of them.

    Sets are left out: who knows one member of a set of two rather expects a set of one.
    """
    table, count = planted_table(plan.release, plan.seed)
    names = [name for name, parts in table.attributes.items() if all(table.columns[i].starts is None for i in parts)]
    filled = np.zeros(count, np.int64)
    for name in names:
        filled += np.any([~table.columns[i].is_missing[:count] for i in table.attributes[name]], axis=0)
    knows = max(1, min(PLANTED_FACTS, int(filled.min())))
    rows, hits = np.flatnonzero(filled >= knows), 0
    if len(rows):
        adversary = Adversary(knows=knows, columns=tuple(names), error=0.0)
        facts = adversary.observe_all(table, rows, plan.seed)
        for name in ATTACKS:
            hits += int(np.count_nonzero(_attack(plan, facts, name, adversary, table=table).found > 0))
    total = len(ATTACKS) * len(rows)
    return _check(
        "planted",
        "Planted rows are found",
        hits == total,
        f"{total} of {total}",
        f"{hits} of {total}",
        f"The audit placed {len(rows)} invented rows among {table.n_records - count:,} rows of the table. Given "
        f"{knows} exact values of each, the {len(ATTACKS)} attacks had the invented row among their best "
        f"guesses in {hits} of {total} cases.",
    )


def _guessing(plan: AuditPlan, run: TableRun) -> Check:
    """Facts about somebody else must not identify a target more often than guessing does."""
    adversary, facts = _without_history(run.rung.adversary), _few(plan, run.facts, PAIRS)
    swapped = replace(facts, cells=facts.cells._replace(target=np.roll(facts.cells.target, 1)))
    verdicts = _attack(plan, swapped, run.strongest.name, adversary)
    differ = facts.cells.target != swapped.cells.target
    hits, n = math.floor(math.fsum(verdicts.found[differ]) + 1e-9), int(differ.sum())
    chance = 1.0 / plan.release.n_records
    passed = n < 2 or binomial_tail(hits, n, min(chance, 1.0)) >= RARE
    return _check(
        "guessing",
        "Facts about somebody else identify nobody",
        passed,
        f"about {n * chance:.2g} of {n}",
        f"{hits} of {n}",
        f"Given values of other people, the attack identified {hits} of {n} targets. "
        f"This is {'no more than' if passed else 'more than'} guessing explains.",
    )


def _absent(plan: AuditPlan, run: TableRun) -> Check:
    """Absent people must not be claimed more often than the budget allows, by thresholds of others."""
    attack: TableAttackRun = run.strongest
    claims, n = attack.within.absent_claims, attack.within.absent_claims.n
    hits = round(claims.value * n)
    allowed = max(math.floor(plan.budget * n + 1e-9) - 1, 0)
    most = 0
    while most < n and beta_binomial_tail(most + 1, n, allowed + 1, n - allowed) >= RARE:
        most += 1
    passed = hits <= most
    return _check(
        "absent",
        "Absent people are rarely claimed",
        passed,
        f"at most {most:,} of {n:,}",
        f"{hits:,} of {n:,}",
        f"For each target the row was removed, and the threshold was chosen on the others so that at most "
        f"{percent(plan.budget)} of absent people are claimed. The attack claimed {hits:,} of {n:,}.",
    )


def _rebuilt(plan: AuditPlan, run: TableRun) -> Check:
    """A target counted as absent must give what a table without the row gives."""
    adversary, facts = _without_history(run.rung.adversary), _few(plan, run.facts, REBUILT)
    name, agree = run.strongest.name, 0
    counted = _attack(plan, facts, name, adversary, absent=True)
    for query, row in enumerate(facts.cells.target.tolist()):
        others = np.delete(np.arange(plan.release.n_records), row)
        rest = Release.of_columns(tuple(column.rows(others) for column in plan.release.columns))
        alone = cell_facts(rest, facts.cells.of(np.array([query]))._replace(target=np.array([-1])))
        verdict = _attack(plan, alone, name, adversary, table=rest)
        agree += int(verdict.ties[0]) == int(counted.ties[query]) and math.isclose(
            float(verdict.posterior[0]), float(counted.posterior[query]), rel_tol=1e-6, abs_tol=1e-12
        )
    return _check(
        "rebuilt",
        "Absent people leave no trace",
        agree == len(facts),
        f"{len(facts)} of {len(facts)}",
        f"{agree} of {len(facts)}",
        f"For {len(facts)} targets the table was built again without the target's row. The attack gave the "
        f"same result as for the target counted as absent in {agree} of {len(facts)} cases.",
    )


def _threads(plan: AuditPlan, run: TableRun) -> Check:
    """One thread and two give the same results."""
    adversary, facts = _without_history(run.rung.adversary), _few(plan, run.facts, THREADED)
    one, two = (_attack(plan, facts, run.strongest.name, adversary, threads=n) for n in (1, 2))
    same = np.array_equal(one.found, two.found) and np.array_equal(one.posterior, two.posterior)
    return _check(
        "threads",
        "The number of threads changes nothing",
        same,
        "equal results",
        "equal results" if same else "different results",
        f"{len(facts)} targets were attacked with one thread and with two.",
    )


def check_table_findings(findings: AuditFindings, request: AuditRequest, results: AuditResults) -> AuditFindings:
    """The findings, after a check that their numbers add up and follow from what was measured."""
    checks = (
        *findings.trust.checks,
        _intervals(findings),
        _rates(findings, results),
        *_classes(findings, request.plan),
    )
    trusted = findings.trust.trusted and all(check.passed for check in checks)
    verdict = sentences.verdict_of(findings, trusted)
    return replace(findings, trust=Trust(trusted=trusted, checks=checks), verdict=verdict)


def _estimates(content: Any) -> Iterator[Estimate]:
    """All estimates in a nested structure."""
    if isinstance(content, Estimate):
        yield content
    elif is_dataclass(content) and not isinstance(content, type):
        for field in fields(content):
            yield from _estimates(getattr(content, field.name))
    elif isinstance(content, (tuple, list)):
        for part in content:
            yield from _estimates(part)


def _intervals(findings: AuditFindings) -> Check:
    """Every interval contains its value."""
    every = list(_estimates(findings))
    good = sum(each.low <= each.value + 1e-12 and each.value <= each.high + 1e-12 for each in every)
    return _check(
        "intervals",
        "Every interval contains its number",
        good == len(every),
        f"{len(every)} of {len(every)}",
        f"{good} of {len(every)}",
        "All numbers of the findings lie within their 95 % intervals.",
    )


def _rates(findings: AuditFindings, results: AuditResults) -> Check:
    """The reported rates follow from the outcomes, counted in plain Python."""
    good = total = 0
    for adversary, run in zip(findings.adversaries, results.table_runs.values(), strict=True):
        for attack, part in zip(adversary.attacks, run.attacks, strict=True):
            found = [float(share) for share in part.verdicts.found]
            measures, total = attack.as_named, total + 1
            claims = measures.correct_claims.value + measures.wrong_claims.value
            good += (
                math.isclose(measures.identified.value, sum(found) / len(found), abs_tol=1e-9)
                and measures.targets == len(found)
                and measures.correct_claims.value <= measures.identified.value + 1e-9
                and claims <= 1.0 + 1e-9
            )
    return _check(
        "rates",
        "Rates follow from the outcomes of the attacks",
        good == total,
        f"{total} of {total}",
        f"{good} of {total}",
        f"The rates of {total} attacks were counted again from their outcomes.",
    )


def _classes(findings: AuditFindings, plan: AuditPlan) -> list[Check]:
    """k, unique rows and classes, counted again."""
    identity = findings.classes
    if identity is None:
        return []
    table = plan.release
    columns = [table.column(name) for name in identity.columns]
    total = sum(band.rows for band in identity.sizes)
    if table.n_records <= MOST_COUNTED:
        sizes = Counter(Counter(zip(*(_cells(column) for column in columns), strict=True)).values())
        unique, k, classes = sizes[1] / table.n_records, min(sizes), sum(sizes.values())
        passed = math.isclose(identity.unique, unique, abs_tol=1e-12) and (identity.k, identity.classes) == (k, classes)
        expected = f"k = {identity.k:,}, {identity.classes:,} classes, {percent(identity.unique)} unique"
        observed = f"k = {k:,}, {classes:,} classes, {percent(unique)} unique"
        how = "Rows with equal quasi-identifiers were counted a second time, by comparing their cells."
    else:
        alone = _unique_rows(columns, plan.seed)
        likely = min(max(identity.unique, 0.0), 1.0)
        tails = binomial_tail(alone, COMPARED, likely), binomial_tail(COMPARED - alone, COMPARED, 1 - likely)
        passed = min(tails) >= RARE
        expected = f"about {likely * COMPARED:.2g} of {COMPARED} rows unique"
        observed = f"{alone} of {COMPARED} rows unique"
        how = (
            f"{COMPARED} random rows were compared with all other rows, because the table is large. "
            f"{percent(likely)} of all rows are reported as unique."
        )
    passed = passed and total == table.n_records
    return [_check("classes", "Classes are counted correctly", passed, expected, observed, how)]


def _cells(column: Column) -> list[Any]:
    """The cells of a column as Python objects."""
    if column.starts is None:
        return list(column.codes.tolist())
    ends = zip(column.starts[:-1].tolist(), column.starts[1:].tolist(), strict=True)
    return [tuple(column.codes[begin:end].tolist()) for begin, end in ends]


def _unique_rows(columns: list[Column], seed: int) -> int:
    """How many of some random rows no other row equals."""
    codes = [cell_codes(column)[0] for column in columns]
    rows = generator(seed, "compared rows").integers(0, columns[0].n_rows, COMPARED)
    return sum(int(np.logical_and.reduce([cells == cells[row] for cells in codes]).sum()) == 1 for row in rows)


def _check(name: str, title: str, passed: bool, expected: str, observed: str, explanation: str) -> Check:
    return Check(
        name=name, title=title, expected=expected, observed=observed, passed=bool(passed), explanation=explanation
    )
