"""The data model of a release, and its index on disk.

A release is a sparse table of records × items. It is stored twice: by record and by item. `model.Release` is
the entry point; `build.build_release` makes one from coded entries, and `store` saves and opens it.

Read `model` first, with `labels`, `clock` and `provenance`, the parts of a release. `record` has the decoded
records, items and entries. `postings` describes the entries by item; `build` and `build_kernels` make both
orders. The index on disk is in `flat_arrays`, `manifest`, `index_writer` and `store`; `index_folder` reads it
while it may be replaced, and `integrity` says whether it is damaged. `joined` opens an index in shards as one
release, and `shard_writer` writes one. `catalogue` finds items by title,
`describe` summarises a release, `subset` selects records, `distinct_items` lists the items of each record
once, and `export` writes tables.
"""
