"""The command line: parse, call, print. What it calls is imported when it is needed."""

from standout.cli.main import main

__all__ = ["main"]
