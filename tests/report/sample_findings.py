"""Findings for the tests of the report: complete, minimal, with hostile texts, and not to be trusted."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import cycle

from standout.data.labels import UnusedColumn
from standout.evaluate.estimates import Estimate
from standout.findings.audit import (
    Answer,
    AuditFindings,
    Check,
    DataSummary,
    Run,
    Settings,
    Threshold,
    Trust,
    Verdict,
    VerdictPart,
)
from standout.findings.reading import ColumnRole, Reading, RejectedReason, RepeatedRows, TimeReading, ValueReading
from standout.findings.sections import (
    AdversaryFindings,
    AttackFindings,
    Bound,
    Control,
    CurvePoint,
    EnvelopePoint,
    ErrorGrid,
    ErrorGrids,
    ErrorRow,
    Exposure,
    FactsNeeded,
    GridCell,
    Group,
    Measures,
    SensitiveCategory,
    SensitiveItems,
    Sparsity,
    SparsityPoint,
    Theory,
    Yardstick,
)

__all__ = ["HOSTILE", "est", "full", "hostile", "minimal", "untrusted"]

HOSTILE = [
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    '=HYPERLINK("https://example.org/?"&A1;"look")',
    "W" * 10_000,
    "\u202eevil\u2066\u200fשלום\u200e right to left",
    '\x00\x1b[31m\ud800 a\u0301\u0302\u0303\u0304\u0305\u0306\u0307 "\' style="x" & {{ 7*7 }} ${a} '
    "</style><style>*{display:none}",
]
FACTS = (1, 2, 3, 4, 6, 8, 12, 16)


def est(value, n=1000, baseline=None):
    """An estimate with a plausible interval."""
    half = 1.96 * math.sqrt(max(value * (1 - value), 0.0005) / n) if 0 <= value <= 1 else 0.1
    low, high = max(value - half, 0.0), min(value + half, 1.0) if value <= 1 else value + half
    return Estimate(value, low, high, n, baseline)


def reading():
    """How a file of ratings was read, with an unused column of each sort."""
    return Reading(
        of="release",
        synthetic=False,
        format="delimited text",
        files=("ratings.csv",),
        encoding="UTF-8",
        separator="comma",
        header=True,
        columns=(
            ColumnRole(role="record", column="userId", reason="well-known name"),
            ColumnRole(role="item", column="movieId", reason="well-known name"),
            ColumnRole(role="value", column="rating", reason="well-known name"),
            ColumnRole(role="time", column="timestamp", reason="well-known name"),
        ),
        attributes=(),
        unused=(
            UnusedColumn(name="postcode", kind="quasi-identifier", ignored=False),
            UnusedColumn(name="device", kind="text", ignored=True),
        ),
        values=ValueReading(type="numbers", levels=10, low=0.5, high=5.0, missing=0),
        times=TimeReading(
            format="Unix seconds", zone="UTC", unit="day", first="1996-03-29", last="2018-09-24", missing=2
        ),
        rows=100_842,
        rejected=(RejectedReason(reason="no record id", rows=3, lines="line 17, 18, 99"),),
        repeated=RepeatedRows(rows=3, merged=3, rule="last"),
        settings={"max rejects": "3"},
    )


def adversary(name, title, description, knows, wrong, rate, slope):
    rise = [rate * (1 - math.exp(-k / slope)) / (1 - math.exp(-knows / slope)) for k in FACTS]
    curve = tuple(
        CurvePoint(
            facts=k,
            enough_for=16,
            identified=est(min(y, 0.998)),
            correct_claims=est(min(0.9 * y, 0.99)),
            absent_claims=est(0.3),
            threshold_at_budget=0.9 + 0.005 * k,
            correct_claims_at_budget=est(min(0.7 * y, 0.9)),
            bits_gained=est(9 * min(y, 1), 1000),
            lineup_size=est(1 + 40 * (1 - min(y, 1))),
        )
        for k, y in zip(FACTS, rise, strict=True)
    )
    as_named = Measures(
        facts=knows,
        targets=1000,
        claims_by="posterior",
        threshold=0.95,
        identified=est(rate, baseline=1 / 610),
        identified_in_release=est(rate),
        in_top=est(min(rate + 0.1, 1.0)),
        correct_claims=est(0.9 * rate),
        wrong_claims=est(0.02),
        absent_claims=est(0.28),
        threshold_at_budget=0.99625,
        correct_claims_at_budget=est(0.55 * rate),
        absent_claims_at_budget=est(0.01),
        bits_gained=est(8.97),
        bits_left=est(1.28),
        lineup_size=est(3.0),
        lineup_mass=0.9,
        revealed=est(62.4),
        revealed_correct=est(55.1),
        revealed_correct_share=est(min(rate + 0.01, 1)),
        stated_probability=0.99 * rate,
        calibration_bias=est(0.004),
    )
    by_the_paper = replace(as_named, claims_by="phi", threshold=1.5, threshold_at_budget=2.314)
    by_the_paper = replace(by_the_paper, identified=est(0.7 * rate, baseline=1 / 610))
    return AdversaryFindings(
        name=name,
        title=title,
        description=description,
        gate=name != "worst",
        knows=knows,
        wrong=wrong,
        wrong_facts="values",
        value_error=1.0,
        time_error=14.0,
        items="any",
        length_error=None,
        joined_error=None,
        note="",
        too_few_items=12,
        attack="likelihood",
        as_named=as_named,
        control=Control(
            main=as_named.correct_claims,
            control=as_named.absent_claims,
            difference=Estimate(0.9 * rate - 0.28, 0.9 * rate - 0.31, 0.9 * rate - 0.25, 1000),
            residual=est(max(0.9 * rate - 0.28, 0.0) / 0.72),
        ),
        curve=curve,
        attacks=(
            AttackFindings(name="likelihood", as_named=as_named, curve=curve),
            AttackFindings(name="paper", as_named=by_the_paper, curve=curve),
        ),
        curve_note="the same share of facts is wrong; the curve covers only people with at least 16 items",
        curve_too_few_items=80,
    )


def adversaries():
    return (
        adversary(
            "colleague",
            "A colleague who knows a few popular items",
            "4 popular items, values ± 1, dates ± 30 days, 1 wrong",
            4,
            1,
            0.38,
            6.0,
        ),
        adversary(
            "acquaintance",
            "An acquaintance who knows approximate dates",
            "8 items, values ± 1, dates ± 14 days, 2 wrong",
            8,
            2,
            0.84,
            4.0,
        ),
        adversary("profile", "A reader of a public profile", "8 items, exact values, dates ± 3 days", 8, 0, 0.97, 2.2),
        adversary(
            "undated", "An acquaintance who knows no dates", "8 items, values ± 1, no dates, 2 wrong", 8, 2, 0.55, 7.0
        ),
        adversary("worst", "The worst case", "8 of the rarest items, exact", 8, 0, 0.995, 0.9),
    )


def exposure():
    lengths = [("1–20 entries", 0.61), ("21–50 entries", 0.8), ("51–200 entries", 0.9), ("over 200", 0.93)]
    ranks = [("rank 1–100", 0.55), ("rank 101–500", 0.83), ("rank above 500", 0.97)]
    needed = [(2, 0.21), (3, 0.38), (4, 0.52), (6, 0.71), (8, 0.83), (12, 0.93)]
    sensitive = [("health", 12, 210, 0.29, 150), ("politics", 9, 96, 0.13, 70), ("any", 28, 268, 0.37, 190)]
    return Exposure(
        adversary="acquaintance",
        facts_needed=tuple(FactsNeeded(facts=k, share=est(y)) for k, y in needed),
        by_length=tuple(Group(label=label, low=1, high=20, people=120, identified=est(y, 200)) for label, y in lengths),
        by_popularity=tuple(
            Group(label=label, low=1, high=20, people=None, identified=est(y, 200)) for label, y in ranks
        ),
        by_first_date=tuple(
            Group(
                label=str(year),
                low=f"{year}-01-01",
                high=f"{year}-12-31",
                people=120,
                identified=est(0.95 - 0.03 * (year - 2000), 200),
            )
            for year in range(2000, 2010)
        ),
        sensitive=SensitiveItems(
            file="sensitive.txt",
            items_listed=30,
            items_in_release=28,
            adversary="acquaintance",
            rows=tuple(
                SensitiveCategory(
                    category=name,
                    items=items,
                    people_with=people,
                    revealed=est(y),
                    people_revealed=revealed,
                    explanation=f"{people} people have such an item.",
                )
                for name, items, people, y, revealed in sensitive
            ),
        ),
    )


def error_grids():
    rows = [("exact", 0.0, False), ("± 3 days", 3.0, False), ("± 14 days", 14.0, True)]
    rows += [("± 60 days", 60.0, False), ("not known", None, False)]

    def grid(varies, labels):
        return ErrorGrid(
            varies=varies,
            fixed="values are known to ± 1; 2 of 8 facts are wrong",
            targets=250,
            rows=tuple(
                ErrorRow(
                    error=error,
                    label=label,
                    is_own=is_own,
                    cells=tuple(
                        GridCell(facts=facts, identified=est(0.99 * (1 - 0.8**facts) / (1 + row), 250), attack="paper")
                        for facts in FACTS[:6]
                    ),
                )
                for row, (label, error, is_own) in enumerate(labels)
            ),
        )

    return ErrorGrids(
        adversary="acquaintance",
        at_least=8,
        too_few_items=12,
        grids=(grid("time_error", rows), grid("value_error", rows[:3])),
        note="",
    )


def yardstick():
    return Yardstick(
        data="a stand-in of the Netflix Prize data",
        records=480_189,
        entries=100_480_507,
        precision="values ± 1, dates ± 14 days",
        identified=est(0.99),
        command="python -m tools.yardstick standin.index",
        sentence="On a stand-in of the Netflix Prize data, this adversary identifies 99 % of people.",
    )


def theory():
    points = [SparsityPoint(epsilon=round(0.05 * k, 2), share=est(math.exp(-k / 2.5), 610)) for k in range(1, 16)]
    return Theory(
        sparsity=Sparsity(similarity="values within 1 and dates within 14 days", n=610, curve=tuple(points)),
        bounds=(
            Bound(
                theorem="Theorem 1",
                statement="26 facts are enough to find a record that is at least 0.5 similar.",
                bound=26,
                measured="With 8 facts, 98 % are identified.",
                setting="ε = 0.01, δ = 0.5",
            ),
            Bound(
                theorem="Theorem 3",
                statement="If records are sparse, 12 facts are enough to find the record itself.",
                bound=12,
                measured="With 8 facts, 84 % are identified.",
                setting="ε = 0.15, δ = 0.05",
            ),
        ),
    )


def checks():
    return (
        Check(
            name="planted",
            title="Planted records are identified",
            expected="20 of 20",
            observed="20 of 20",
            passed=True,
            explanation="The attack identified all invented records.",
        ),
        Check(
            name="guessing",
            title="Facts about somebody else identify nobody",
            expected="at most 1 %",
            observed="0.2 %",
            passed=True,
            explanation="This is no more than guessing explains.",
        ),
        Check(
            name="absent",
            title="Absent people are rarely claimed",
            expected="at most 1 %",
            observed="0.9 %",
            passed=True,
            explanation="Claims about removed people stay within the budget.",
        ),
    )


def verdict():
    return Verdict(
        summary="These adversaries succeed at singling out. The data cannot be considered anonymous.",
        singling_out=VerdictPart(
            title="Singling out", answer="yes", explanation="An acquaintance identifies 84 % of people.", rate=est(0.84)
        ),
        linkability=VerdictPart(
            title="Linkability",
            answer="partly",
            explanation="A second source with 8 facts is linked correctly for 46 % of people.",
            rate=est(0.46),
        ),
        inference=VerdictPart(
            title="Inference", answer="yes", explanation="85 % of the items of the best guess are true.", rate=est(0.85)
        ),
    )


def full():
    """Everything that findings can have."""
    return AuditFindings(
        complete=True,
        run=Run(software="standout 0.1.0", finished_at="2026-11-16T08:00:00+00:00", seed=2008),
        data=DataSummary(
            name="ratings.csv",
            fingerprint="b2:5f0c7a1e9d3b4c6f8a2e1d0c9b8a7f6e5d4c3b2a19080706",
            records=610,
            columns=0,
            attributes=0,
            missing_cells=0,
            items=9724,
            entries=100836,
            repeats=0,
            has_values=True,
            has_times=True,
            levels=10,
            first="1996-03-29",
            last="2018-09-24",
            median_length=70.0,
            rows_rejected=3,
            synthetic=False,
        ),
        original=None,
        reading=(reading(),),
        settings=Settings(
            targets=1000,
            facts=FACTS,
            phi=1.5,
            posterior=0.95,
            budget=0.01,
            top=10,
            quick=False,
            fail_above=0.05,
            headline="acquaintance",
            ladder="default",
        ),
        trust=Trust(trusted=True, checks=checks()),
        answer=Answer(
            sentence="An acquaintance who knows 8 facts about a person identifies 84 % of people.",
            adversary="acquaintance",
            rate=est(0.84, baseline=1 / 610),
            people_identified=512,
            people_total=610,
            too_few_items=12,
        ),
        adversaries=adversaries(),
        envelope=tuple(
            EnvelopePoint(
                facts=point.facts,
                adversary="worst",
                identified=point.identified,
                gate_adversary="profile",
                gate_identified=other.identified,
            )
            for point, other in zip(adversaries()[-1].curve, adversaries()[2].curve, strict=True)
        ),
        error_grids=error_grids(),
        yardstick=yardstick(),
        exposure=exposure(),
        theory=theory(),
        verdict=verdict(),
        threshold=Threshold(
            fail_above=0.05,
            measured=est(0.97),
            adversary="profile",
            exceeded=True,
            explanation="The adversary “profile” identifies 97 % of people.",
        ),
        limits=(
            "The targets are a sample of people with at least 8 items.",
            "An adversary with other knowledge may do better; none of these numbers is an upper bound.",
        ),
        versions={"standout": "0.1.0", "python": "3.11", "numpy": "2.4.6", "numba": "0.68.1", "polars": "2.1.0"},
    )


def minimal():
    """No times, no values, a single adversary with a curve of one point, and nothing optional."""
    findings = full()
    single = findings.adversaries[1]
    single = replace(
        single,
        curve=(replace(single.curve[0], lineup_size=None),),
        curve_note="",
        curve_too_few_items=0,
        as_named=replace(single.as_named, lineup_size=None),
        note="the release has no dates, so the adversary knows none",
    )
    nothing = dict.fromkeys(("facts_needed", "by_length", "by_popularity", "by_first_date"), ())
    return replace(
        findings,
        adversaries=(single,),
        yardstick=None,
        error_grids=replace(findings.error_grids, grids=(), note="The data has no dates and values."),
        exposure=replace(findings.exposure, **nothing, sensitive=None),
        data=replace(
            findings.data,
            has_values=False,
            has_times=False,
            first=None,
            last=None,
            synthetic=True,
            levels=0,
            rows_rejected=0,
        ),
        run=replace(findings.run, finished_at=None),
        answer=replace(findings.answer, people_identified=None, too_few_items=0),
        settings=replace(findings.settings, fail_above=None, quick=True),
        threshold=Threshold(fail_above=None, measured=None, adversary=None, exceeded=None, explanation=""),
        theory=Theory(sparsity=Sparsity(similarity="items", n=0, curve=()), bounds=()),
        limits=(),
    )


FIXED = {
    "schema",
    "finished_at",
    "first",
    "last",
    "low",
    "high",
    "wrong_facts",
    "answer",
    "headline",
    "adversary",
    "varies",
}
"""Fields that never hold foreign text, and references between parts."""


def hostile():
    """Hostile texts in every field that may hold foreign text."""
    texts = cycle(HOSTILE)

    def spoil(value, name=""):
        if is_dataclass(value):
            return replace(value, **{f.name: spoil(getattr(value, f.name), f.name) for f in fields(value)})
        if isinstance(value, Mapping):
            return {key: spoil(content) for key, content in value.items()}
        if isinstance(value, tuple):
            return tuple(spoil(element) for element in value)
        return next(texts) if isinstance(value, str) and name not in FIXED else value

    findings = spoil(full())
    name = findings.adversaries[1].name
    sensitive = replace(findings.exposure.sensitive, adversary=name)
    return replace(
        findings,
        answer=replace(findings.answer, adversary=name),
        exposure=replace(findings.exposure, adversary=name, sensitive=sensitive),
        threshold=replace(findings.threshold, adversary=name),
        settings=replace(findings.settings, headline=name),
    )


def untrusted():
    """A check failed."""
    findings = minimal()
    failed = replace(
        findings.trust.checks[0], passed=False, observed="3 of 20", explanation="Planted records were not identified."
    )
    return replace(findings, trust=Trust(trusted=False, checks=(failed, *findings.trust.checks[1:])))
