"""The command ``explain``: a run in, what its failures on the added tests are out, by class and input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .faults import UsageFault

if TYPE_CHECKING:
    from lm_eval_strict.filters.adjudicate import Adjudication

NEEDED = ("base", "plus_strict")
INPUT_WIDTH = 48
VALUE_WIDTH = 28


@dataclass(frozen=True)
class Explained:
    """One failing input of one class: how many replies fail there first, and the first of them."""

    failure_class: str
    problem: str
    replies: int
    input: str
    expected: str
    got: str
    why: str


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("explain")(explain)


def explain(
    run: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="One run: files as `report` takes them.")
    ],
    task: Annotated[str, typer.Option(help="The task to explain, where the run has several.")] = "",
    show: Annotated[int, typer.Option(help="Show at most so many inputs of a class; 0 shows all.")] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print every line as JSON.")] = False,
) -> None:
    """Explain the replies that pass HumanEval's or MBPP's own test and fail HumanEval+ or MBPP+.

    A failure is a choice of the reference that the task's list names, a value on which the docstring is
    silent, a time limit, or a bug. Each is shown with the first failing input.
    """
    from lm_eval_strict.filters.adjudicate import adjudicate_rows, count_by_class

    from .read_run import read_run

    rows = [verdict.raw for verdict in read_run(run, keep=True).verdicts if verdict.raw is not None]
    name, version = _chosen(rows, task)
    rows = [row for row in rows if row["task"] == name]
    found = [one for _, one in adjudicate_rows(rows, _quirks(name, version))]
    counts, lines = count_by_class(found), explained(found)
    if as_json:
        from .as_json import to_json

        typer.echo(to_json({"explain": 1, "task": name, "classes": counts, "inputs": lines}))
        return
    _show(name, counts, lines, show)


def _chosen(rows: Sequence[Mapping[str, Any]], task: str) -> tuple[str, str]:
    """Return the task to explain and its version."""
    pipelines: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        pipelines.setdefault((row["task"], str(row.get("version", ""))), set()).add(row["pipeline"])
    fit = [found for found, seen in pipelines.items() if seen.issuperset(NEEDED)]
    named = [found for found in fit if task in ("", found[0])]
    if not named:
        what = f"task {task!r} with" if task else "task with"
        raise UsageFault(f"no {what} the pipelines {' and '.join(NEEDED)} in this run: nothing to explain")
    if len(named) > 1:
        raise UsageFault(f"--task is needed: this run has {', '.join(sorted({name for name, _ in named}))}")
    return named[0]


def _quirks(task: str, version: str) -> Sequence[Mapping[str, str]]:
    """Return the list that ships with the task; an unknown task has none."""
    from lm_eval_strict.filters.task_spec import UnknownTask, read_task

    for name in (f"{task}_v{version.split('.')[0]}", task):
        try:
            return read_task(name).quirks
        except UnknownTask:
            continue
    return ()


def explained(found: Sequence[Adjudication]) -> list[Explained]:
    """Group failures by class, problem and first failing input: classes in order, most replies first."""
    from lm_eval_strict.filters.adjudicate import FailureClass

    groups: dict[tuple[FailureClass, str, str], list[Adjudication]] = {}
    for one in found:
        groups.setdefault((one.failure_class, one.task_id, one.input), []).append(one)
    order = list(FailureClass)
    ranked = sorted(
        groups.items(), key=lambda group: (order.index(group[0][0]), -len(group[1]), group[0][1:])
    )
    return [
        Explained(kind.value, problem, len(ones), text, ones[0].expected, ones[0].got, ones[0].why)
        for (kind, problem, text), ones in ranked
    ]


def _show(task: str, counts: Mapping[str, int], lines: Sequence[Explained], show: int) -> None:
    from rich.markup import escape

    from .show_report import new_console, new_table
    from .shown import shorten

    console = new_console()
    total = sum(counts.values())
    console.print(f"[bold]{escape(task)}[/]: {total} replies pass base and fail plus_strict")
    for kind, count in counts.items():
        here = [line for line in lines if line.failure_class == kind]
        console.print(f"\n[bold]{kind}[/]: {count}")
        if not here:
            continue
        table = new_table("", "problem", "replies", "first failing input", "expected", "got", left=5)
        for line in here[: show or None]:
            texts = (shorten(line.input, INPUT_WIDTH), shorten(line.expected, VALUE_WIDTH))
            got = shorten(line.got, VALUE_WIDTH)
            table.add_row(line.problem, str(line.replies), *(escape(text) for text in (*texts, got)))
        console.print(table)
        if show and len(here) > show:
            console.print(f"[dim]and {len(here) - show} more inputs (--show 0 shows all)[/dim]")
        if kind in ("reference_quirk", "outside_docstring"):
            for problem, why in dict.fromkeys((line.problem, line.why) for line in here[: show or None]):
                console.print(f"[dim]{problem}: {escape(why)}[/dim]")
