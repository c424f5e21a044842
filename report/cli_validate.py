"""``validate``: the checks that tasks, graders and data hold together, in a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lm_eval_strict.filters.validate import Check

DEFAULT_TASKS = [
    "humaneval_strict",
    "humaneval_plus_strict",
    "mbpp_plus_strict",
    "math500_strict",
    "gsm8k_strict",
]


def register(app: typer.Typer) -> None:
    """Add ``validate`` to the command line."""
    app.command()(validate)


def validate(
    task: Annotated[
        list[str] | None, typer.Option(help="Task to check; may be repeated; default: all.")
    ] = None,
    isolation: Annotated[str | None, typer.Option(help="full, reduced or none (code tasks).")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Parallel workers; default: usable CPUs.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check that references pass, stubs fail, and golds are right against themselves."""
    from lm_eval_strict.filters.progress import progress_bar
    from lm_eval_strict.filters.validate import validate as checks_of

    from .cli_grade import checked_task

    checks: list[Check] = []
    for name in task or DEFAULT_TASKS:
        spec, level = checked_task(name, isolation)
        with progress_bar(0, f"validating {spec.name}") as bar:

            def on_done(_: int, bar: Any = bar) -> None:
                bar.update(1)

            checks += checks_of(spec, isolation=level, workers=workers, on_done=on_done)
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        _print_table(checks)
    raise typer.Exit(1 if any(check.broken for check in checks) else 0)


def _print_table(checks: list[Check]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("task", "pipeline", "promise", "held", "broken")
    for check in checks:
        broken = ", ".join(check.broken[:5]) + (" …" if len(check.broken) > 5 else "")
        table.add_row(check.task, check.pipeline, check.promise, f"{check.held} of {check.total}", broken)
    Console().print(table)
