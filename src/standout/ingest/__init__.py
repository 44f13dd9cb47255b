"""Read files and frames into a release, and report what was not read.

`read.read` is the entry point (`standout.read`). It checks its options (`options`), recognises the format
(`formats`, `sources`), and passes rows to a `collector`, which codes them and builds the release.

Read `read` and `collector` first. The readers are `delimited` (CSV and similar files; `window`, `tokens` and
`column_roles`), `netflix`, and `frames` for the sources of `tables` (frames, Parquet). `interner` turns ids
into codes, `value_levels` values into levels, and `timestamps` with `zones` times into units. `rejects`
counts unusable rows, and `item_titles` reads titles.
"""
