"""The data model: a release of records × items and a table of columns, how they are built, and their index on disk."""
