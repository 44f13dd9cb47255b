"""The audit of a table: adversaries of several strengths, risk measures, checks, findings.

Start with `audit_table`. The parts, in the order in which it uses them:

    table_ladder      the adversaries, adapted to the table
    table_runs        each adversary with each attack
    table_checks      whether the audit can be trusted
    table_assembly    from results to findings
"""
