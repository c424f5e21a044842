"""A command line in, the help of its commands as plain text out, as the README shows it."""

from __future__ import annotations

from typing import Any

import typer
from typer.main import get_command

WIDTH = 100
NAME = "lm-eval-strict"


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
