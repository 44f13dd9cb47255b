"""Sanitize a release: change it step by step before it is published, and write it with a record of the steps.

Read `step` (what a step is), `draft` (a release between two steps), `sanitize` and `steps` (all steps, and how one is
read from text) first. The steps are in `column_steps`, `value_steps`, `item_steps` and `k_steps`. `files` writes and
opens outputs; `utility`, with `column_utility` and `recommender`, says what the result is still good for.

If records have items several times: what is about items counts records and distinct items (rare and popular
items, clusters, kᵐ-anonymity, randomised response on items). All else is about entries: each has its own
noise and stays or goes on its own. No entry is lost without being counted.
"""
