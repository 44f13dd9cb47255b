"""Advice: the smallest change of a release that brings an adversary's success below a limit.

The entry points are `advise` in advise.py and `composition` in composition.py. Read search.py (the three stages),
runner.py (how a candidate is measured), built_in_steps.py and candidate.py (which candidates are tried), risk.py, then
advice.py and sentences.py (the result).
"""
