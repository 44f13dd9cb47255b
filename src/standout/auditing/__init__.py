"""The audit: how many people a set of adversaries identifies in a release.

The entry point is `audit` in audit.py. Read ladder.py (the adversaries), adversary_runs.py (their attacks),
selfcheck.py (whether the audit can be trusted), then assemble_findings.py and sentences.py (the findings).
risk_table.py computes the risk of each person on request.
"""
