"""A command line in, the help of its commands as plain text out, as the README shows it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

WIDTH = 100
NAME = "lm-eval-strict"
BEGIN, END = "<!-- help: begin -->", "<!-- help: end -->"


def help_text(app: typer.Typer, command: str) -> str:
    """Give the help of one command without colour, ``WIDTH`` columns wide, with no newline at its end.

    Raises KeyError for a command that the app does not have.
    """
    group: Any = get_command(app)
    found = group.commands[command]
    found.rich_markup_mode = None
    context = found.context_class(found, info_name=f"{NAME} {command}", max_content_width=WIDTH)
    context.terminal_width = WIDTH
    text = found.get_help(context)
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def help_of_all(app: typer.Typer) -> str:
    """Give the help of every command in order, each under its name as a Markdown heading."""
    group: Any = get_command(app)
    parts = [f"### `{NAME} {name}`\n\n```text\n{help_text(app, name)}\n```" for name in group.commands]
    return "\n\n".join(parts) + "\n"


def with_help(page: str, help_of_commands: str) -> str:
    """Return the Markdown ``page`` with the text between the two markers replaced by the commands' help.

    Raises ValueError where a marker is missing.
    """
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page lacks the markers {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{help_of_commands}\n{end}{after}"


def main() -> None:
    """Write the help of all commands into the Markdown files that are named as arguments."""
    from .cli import build_app

    for path in map(Path, sys.argv[1:]):
        page = path.read_text(encoding="utf-8")
        path.write_text(with_help(page, help_of_all(build_app())), encoding="utf-8")


if __name__ == "__main__":
    main()
