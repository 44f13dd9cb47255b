"""Writes docs/cli.md from the commands themselves: `make docs`."""

from pathlib import Path

import click

from standout.cli.main import cli

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
WIDTH = 100


def reference() -> str:
    """Every command's help, as Markdown."""
    parts = ["# The command line\n", "Written by `make docs` from the commands; do not edit.\n"]
    parts.append(_help(cli, "standout"))
    parts += [_help(command, f"standout {name}") for name, command in sorted(cli.commands.items())]
    return "\n".join(parts)


def _help(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    return f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
