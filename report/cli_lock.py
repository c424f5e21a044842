"""``lock``: whether this installation declares and judges what ``tasks.lock`` says, or a new lock."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lm_eval_strict.filters.lock import Finding
    from lm_eval_strict.filters.lock_file import Verdicts
    from lm_eval_strict.sandbox.records import Isolation


def register(app: typer.Typer) -> None:
    """Add ``lock`` to the command line."""
    app.command()(lock)


def lock(
    task: Annotated[
        list[str] | None, typer.Option(help="Task to look at; may be repeated; default: all.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write tasks.lock and the kept verdicts (for developers).")
    ] = False,
    isolation: Annotated[str | None, typer.Option(help="full, reduced or none (code tasks).")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Parallel workers; default: usable CPUs.")
    ] = None,
) -> None:
    """Check that this installation gives the numbers it gave: each task's digests and verdicts as locked.

    Some 2,000 fixed replies a task are graded and each verdict compared; code tasks need their data.
    """
    from lm_eval_strict.filters.lock import check_lock, frozen_names
    from lm_eval_strict.filters.lock_file import read_lock
    from lm_eval_strict.filters.preflight import PreflightFailure, read_settings
    from lm_eval_strict.filters.task_spec import UnknownTask, read_task, tasks_folder

    from .faults import UsageFault

    try:
        level = read_settings(isolation).isolation
        names = {read_task(name).frozen_name for name in task or ()}
    except (PreflightFailure, UnknownTask) as fault:
        raise UsageFault(str(fault)) from fault
    folder = tasks_folder()
    if write:
        _write(folder, names or set(frozen_names(folder)), level, workers)
        return
    names = names or {*frozen_names(folder), *read_lock(folder)}
    findings = check_lock(folder, names, isolation=level, workers=workers)
    _print_findings(findings)
    raise typer.Exit(1 if any(finding.faults or finding.unchecked for finding in findings) else 0)


def _write(folder: Path, names: set[str], level: Isolation, workers: int | None) -> None:
    from lm_eval_strict.filters.lock import LockRefused, make_lock
    from lm_eval_strict.filters.lock_file import LOCK_NAME

    from .faults import UsageFault

    try:
        files = make_lock(folder, names, isolation=level, workers=workers)
    except LockRefused as refused:
        raise UsageFault(str(refused)) from refused
    print(f"{folder / LOCK_NAME} is written; what tasks/CHANGELOG.md says of each file of verdicts:")
    for name, verdicts in sorted(files.items()):
        print(f"\n{name}\n\n{counts_table(verdicts)}")


def counts_table(verdicts: Verdicts) -> str:
    """Return a Markdown table: how often each pipeline gave each verdict on the fixed replies."""
    by_pipeline: dict[str, dict[str, int]] = {}
    for judged in verdicts.values():
        for pipeline, verdict in judged.items():
            counts = by_pipeline.setdefault(pipeline, {})
            counts[verdict] = counts.get(verdict, 0) + 1
    columns = sorted({verdict for counts in by_pipeline.values() for verdict in counts})
    head = f"| pipeline | {' | '.join(f'`{column}`' for column in columns)} |"
    lines = [head, "|---|" + "---:|" * len(columns)]
    for pipeline, counts in by_pipeline.items():
        lines.append(f"| `{pipeline}` | {' | '.join(str(counts.get(column, 0)) for column in columns)} |")
    return "\n".join(lines)


def _print_findings(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table

    from lm_eval_strict.filters.versions import off_lock

    table = Table("", "task", "version", "fixed replies", "as locked")
    for finding in findings:
        mark = "[red]!![/]" if finding.faults or finding.unchecked else "[green]ok[/]"
        held = "NO" if finding.faults else "verdicts NOT CHECKED" if finding.unchecked else "yes"
        table.add_row(mark, finding.task, finding.version, str(finding.rows), held)
    Console().print(table)
    for finding in findings:
        for fault in finding.faults:
            print(f"{finding.task}: {fault}", file=sys.stderr)
        if finding.unchecked:
            print(f"{finding.task}: VERDICTS NOT CHECKED: {finding.unchecked}", file=sys.stderr)
    for library in off_lock():
        print(f"off-lock: {library} is not the version that the verdicts were recorded with", file=sys.stderr)
