"""Read files and frames into a release, and report what was not read.

Read `read` first: it checks the options (`options`), recognises the format (`formats`, `sources`) and whether a row
is a person (`tables`, `first_rows`). Rows of a history go to a `collector`, which codes them and builds the release
(`column_roles`, `value_levels`, `times`, `places`). Columns of a table become distinct `cells` and codes, from which
`column_types` decides what each column is. `delimited` reads text through `tokens` and `interner`; `frames`,
`json_lines` and `netflix` read the other formats. `rejects` counts unusable rows.
"""
