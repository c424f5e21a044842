"""``grade``: replies, programs or answers in a file in, verdict rows out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .faults import UsageFault


def register(app: typer.Typer) -> None:
    """Add ``grade`` to the command line."""
    app.command()(grade)


def grade(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSONL file of replies: a journal, or lines of your own.")
    ],
    task: Annotated[str, typer.Option(help="Task whose problems and pipelines judge them.")],
    out: Annotated[Path, typer.Option(help="Where the rows go: JSONL, one per reply and pipeline.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
    isolation: Annotated[str | None, typer.Option(help="full, reduced or none (code tasks).")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Parallel workers; default: usable CPUs.")
    ] = None,
) -> None:
    """Grade a file without a model; each line has task_id (or gold) and one of reply, program, answer."""
    from lm_eval_strict.filters import grade_file as grading
    from lm_eval_strict.filters.progress import progress_bar

    spec, level = checked_task(task, isolation)
    if not file.is_file():
        raise UsageFault(f"no file {str(file)!r} to grade")
    inputs = grading.read_file(file, spec)
    if not inputs:
        raise UsageFault(f"{str(file)!r} holds nothing to grade: expected one JSON object a line")
    try:
        with progress_bar(len(inputs), f"grading {spec.name}") as bar:
            summary = grading.grade_file(
                spec, inputs, out, resume=resume, isolation=level, workers=workers, on_done=bar.update
            )
    except grading.Unfinished as unfinished:
        raise UsageFault(str(unfinished)) from None
    except KeyboardInterrupt:
        print(
            f"\nlm-eval-strict: interrupted; rows so far are kept in {grading.partial_path(out)}\n"
            f"lm-eval-strict grade --task {task} {file} --out {out} --resume",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    for bad in summary.bad_lines:
        print(f"lm-eval-strict: not graded: {bad.why}", file=sys.stderr)
    print(
        f"lm-eval-strict: {spec.name} {spec.version}: {summary.replies} inputs, {summary.continued} from "
        f"before, {len(summary.bad_lines)} bad lines, {summary.harness_errors} harness errors; rows in {out}",
        file=sys.stderr,
    )
    raise typer.Exit(1 if summary.harness_errors else 0)


def checked_task(task: str, isolation: str | None):  # type: ignore[no-untyped-def]
    """Return the task and the isolation level that the user named, after the preflight."""
    from lm_eval_strict.filters.preflight import PreflightFailure, check, read_settings
    from lm_eval_strict.filters.task_spec import UnknownTask, read_task

    try:
        spec = read_task(task)
        settings = read_settings(isolation)
        check(spec, settings)
    except (UnknownTask, PreflightFailure) as failure:
        raise UsageFault(str(failure)) from None
    return spec, settings.isolation
