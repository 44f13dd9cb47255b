"""The audit: how many people a set of adversaries identifies in a release.

The entry point is `audit` in audit.py. Read ladder.py (the adversaries), runs.py (their attacks), selfcheck.py and
recomputed.py (whether the audit can be trusted), then assemble_findings.py and sentences.py (the findings).
"""
