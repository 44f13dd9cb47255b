"""The command line: parse options, call the library, print the result.

The entry point is `standout.cli:main` (`standout` and `python -m standout`). Read `command_group.py`
first, then one file of `commands/`: it holds the options, the call and the output of a command. Options that
several commands share are in `options.py`, `reading.py` and `attack_options.py`, and everything that prints goes
through `console.py`. Library modules are imported inside the functions that need them, so that `--help`
loads neither Numba nor Polars nor Rich.
"""

from standout.cli.main import main

__all__ = ["main"]
