"""Advice: the smallest change of a release that brings an adversary's success below a limit.

The entry points are `advise` in advise.py and `composition` in composition.py. Read search.py (the three
stages), runner.py (how a candidate is measured), built_in_steps.py and frontier.py (which candidates are
tried), strongest_attack.py (the risk), then advice.py and sentences.py (the result).

The search is the same for tables. Read table_advise.py, table_runner.py, table_built_in_steps.py,
table_combinations.py, table_identification.py (the risk), table_candidate_utility.py and table_advice.py.
"""
