"""Advice: the smallest change of a release that brings an adversary's success below a limit.

The entry points are `advise` and `composition` in advise.py. Read search.py (the three stages, and how a candidate is
measured), candidates.py (which candidates are tried), then advice.py (the result).
"""
