"""The documentation site: `make docs` writes it to build/site."""
