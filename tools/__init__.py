"""Scripts that write the generated parts of docs/: `python -m tools.NAME`."""
