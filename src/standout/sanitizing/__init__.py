"""Sanitize a release: change it step by step before it is published, and write it with a record of the steps.

Entry points: `sanitize.sanitize`, `writer.write_sanitized` and `open_sanitized.open_sanitized`.

Read `step` (what a step is), `draft` (a release between two steps) and `sanitize` first. The steps are in
`time_steps`, `value_steps`, `randomized_response`, `suppression_steps`, `merge_repeats`, `cluster` and `km`.
`step_noise` draws their random numbers, `step_parser` reads them from text, and `replaced_entries` describes
to attacks what steps did to repeats. `sidecar`, `key_file`, `writer` and `open_sanitized` are about files.
`Step.noise` describes the noise of a step for attacks that know the steps.

If records have items several times: what is about items counts records and distinct items (rare and popular
items, clusters, kᵐ-anonymity, randomised response on items). All else is about entries: each has its own
noise and stays or goes on its own. No entry is lost without being counted: `draft.EntryChanges`.
"""
