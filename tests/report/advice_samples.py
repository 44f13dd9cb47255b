"""The findings of an advice for tests: with and without a recommendation."""

from dataclasses import fields, replace

from standout.evaluate.estimates import rate
from standout.findings.link_and_advise import (
    AdviceFindings,
    CandidateFindings,
    CompositionFindings,
    ReleaseSize,
    UnprovenCandidateFindings,
    UnprovenFindings,
    UtilityFindings,
)

__all__ = ["advice_findings", "candidate_findings", "recommending", "unproven_findings"]


def candidate_findings(*steps, identified, kept, stage="full", frontier=True):
    measure = rate(round(100 * kept), 100)
    return CandidateFindings(
        steps=steps,
        name=" + ".join(steps) or "as it is",
        stage=stage,
        attack="",
        identified=rate(identified * 900, 1000),
        identified_in_release=rate(identified * 1000, 1000),
        utility=UtilityFindings(**{field.name: measure for field in fields(UtilityFindings)}),
        frontier=frontier,
    )


def advice_findings(**other):
    """An advice without a recommendation; `other` replaces fields."""
    candidates = (
        candidate_findings(identified=0.9, kept=1.0),
        candidate_findings("drop-entries 0.9", identified=0.02, kept=0.3),
        candidate_findings("drop-entries 0.5", identified=0.5, kept=0.7),
        candidate_findings("cap-records 5", identified=0.6, kept=0.5, stage="quick", frontier=False),
    )
    findings = AdviceFindings(
        complete=True,
        limit=0.05,
        among="released",
        adversary="8 items",
        data=ReleaseSize("films.csv", "0123", records=1000, items=200, entries=30_000),
        summary="The first sentence. The second sentence.",
        sentences=("The first sentence.", "The second sentence."),
        command="",
        recommended=None,
        candidates=candidates,
        step_descriptions={"drop-entries SHARE": "remove each entry with probability SHARE"},
        impossible={},
        composition=None,
        limits=("The only limit.",),
        version="1.0",
    )
    return replace(findings, **other)


def recommending():
    """An advice with a recommendation, its command and the composition."""
    both = CompositionFindings(
        identified=rate(90, 100),
        correct_claims=rate(50, 100),
        wrong_claims=rate(1, 100),
        entries_shown_by_one=rate(50, 100),
        entries_shown_together=rate(75, 100),
        explanation="Two releases reveal more.",
    )
    best = candidate_findings("drop-entries 0.9", identified=0.03, kept=0.25, stage="fresh")
    return advice_findings(recommended=best, composition=both, command="standout sanitize films.csv")


def unproven_findings():
    """An advice whose only candidate below the limit is not proven to meet it."""
    below = UnprovenCandidateFindings(
        steps=("drop-entries 0.9",),
        name="drop-entries 0.9",
        stage="full",
        rate=rate(40, 1000),
        kept=rate(30, 100),
        targets=1000,
        targets_needed=1825,
        targets_advised=5678,
    )
    command = "standout advise films.csv --targets 5678"
    unproven = UnprovenFindings(number=3, candidates=(below,), possible_targets=9000, targets=5678, command=command)
    return advice_findings(unproven=unproven)
