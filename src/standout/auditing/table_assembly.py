"""Findings about adversaries who attack columns."""

from standout.auditing import sentences
from standout.auditing.adversary_text import column_errors, describe_adversary
from standout.auditing.runs import AuditPlan, control_of
from standout.auditing.table_runs import TableAttackRun, TableCurve, TableRun
from standout.evaluate.estimates import mean
from standout.findings.adversaries import AdversaryFindings, AttackFindings, CurvePoint, Measures, PopulationClaims


def table_adversary(plan: AuditPlan, run: TableRun, curve: TableCurve | None) -> AdversaryFindings:
    """Findings about one adversary; only the headline adversary has a curve."""
    rung, adversary = run.rung, run.rung.adversary
    attacks = tuple(_attack(plan, attack, adversary.knows, curve) for attack in run.attacks)
    return AdversaryFindings(
        name=rung.name,
        title=rung.title,
        description=f"Knows {describe_adversary(adversary, plan.original)}.",
        gate=rung.gate,
        knows=adversary.knows,
        wrong=adversary.wrong,
        items=str(adversary.items),
        columns=adversary.columns,
        errors=column_errors(adversary, plan.original),
        note=rung.note,
        too_few_items=run.n_left_out,
        attack=run.strongest.name,
        as_named=attacks[0].as_named,
        control=control_of(*run.strongest.simulation.claims),
        curve=attacks[0].curve,
        attacks=attacks,
        curve_note=""
        if curve is None
        else sentences.curve_note(
            curve.adversary.knows,
            curve.adversary.wrong,
            curve.adversary.knows,
            curve.adversary.wrong,
            curve.n_left_out,
            "cells",
        ),
        curve_too_few_items=0 if curve is None else curve.n_left_out,
    )


def _attack(plan: AuditPlan, run: TableAttackRun, knows: int, curve: TableCurve | None) -> AttackFindings:
    points = () if curve is None else tuple(zip(curve.knows, curve.identified[run.name], strict=True))
    return AttackFindings(
        name=run.name,
        as_named=_measures(plan, run, knows),
        curve=tuple(
            CurvePoint(facts=facts, enough_for=points[-1][0], identified=identified) for facts, identified in points
        ),
    )


def _measures(plan: AuditPlan, run: TableAttackRun, knows: int) -> Measures:
    simulation, rates = run.simulation, run.simulation.population
    return Measures(
        facts=knows,
        targets=len(simulation.targets),
        claims_by="posterior" if run.claims_by_posterior else "phi",
        threshold=plan.posterior if run.claims_by_posterior else plan.phi,
        identified=simulation.identified,
        identified_in_release=run.identified_in_table,
        correct_claims=simulation.correct_claims,
        wrong_claims=simulation.wrong_claims,
        absent_claims=simulation.absent_claims,
        threshold_at_budget=run.threshold_at_budget,
        correct_claims_at_budget=run.within.correct_claims,
        absent_claims_at_budget=run.within.absent_claims,
        bits_gained=simulation.bits_gained,
        bits_left=mean(simulation.verdicts.bits_left),
        stated_probability=float(min(simulation.verdicts.posterior.mean(), 1.0)),
        population=None
        if rates is None
        else PopulationClaims(in_release=rates.in_table, identified=rates.identified, confidence=rates.confidence),
    )
