"""Writes docs/cli.md from the commands themselves: `make docs`."""

from pathlib import Path

import click

from standout.cli.command_group import cli

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
WIDTH = 80


def reference() -> str:
    """Every command's help, as Markdown."""
    parts = ["# The command line\n", "Written by `make docs` from the commands; do not edit.\n"]
    root = click.Context(cli, info_name="standout", **cli.context_settings, terminal_width=WIDTH)
    contexts = [click.Context(command, info_name=name, parent=root) for name, command in sorted(cli.commands.items())]
    return "\n".join([*parts, *map(_help, [root, *contexts])])


def _help(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
