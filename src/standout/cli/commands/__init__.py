"""One file for each command: its options, its call of the library and its output.

Each file defines a `click` command with the name of the file. `standout.cli.command_group` registers them.
"""
