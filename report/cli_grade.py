"""``grade``: replies, programs or answers in a file in, verdict rows out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .faults import UsageFault

if TYPE_CHECKING:
    from lm_eval_strict.filters.read_replies import BadLine
    from lm_eval_strict.filters.replies import Reply
    from lm_eval_strict.filters.task_spec import TaskSpec
    from lm_eval_strict.sandbox.records import Isolation

ClusterAddress = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS", help="Grade on this Dask cluster: tcp://HOST:8786, or its scheduler file."
    ),
]


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
    cluster: ClusterAddress = "",
) -> None:
    """Grade a file without a model; each line has task_id (or gold) and one of reply, program, answer."""
    from lm_eval_strict.filters.grade_file import read_file
    from lm_eval_strict.filters.problems import DataUnavailable

    spec, level = checked_task(task, isolation, needs_data=False, here=not cluster)
    if not file.is_file():
        raise UsageFault(f"no file {str(file)!r} to grade")
    try:
        inputs = read_file(file, spec)
    except DataUnavailable as missing:
        raise UsageFault(str(missing)) from None
    if not inputs:
        raise UsageFault(f"{str(file)!r} holds nothing to grade: expected one JSON object a line")
    again = f"lm-eval-strict grade --task {task} {file} --out {out} --resume"
    errors = grade_inputs(
        spec, level, inputs, out, resume=resume, workers=workers, cluster=cluster, again=again
    )
    raise typer.Exit(1 if errors else 0)


def grade_inputs(
    spec: TaskSpec,
    level: Isolation,
    inputs: Sequence[Reply | BadLine],
    out: Path,
    *,
    resume: bool,
    workers: int | None,
    cluster: str,
    again: str,
) -> int:
    """Grade ``inputs`` into ``out`` with progress and a summary; return how many met an error of ours.

    ``cluster`` is the address of a Dask scheduler, "" for this machine; ``again`` the command that goes on
    after Ctrl-C. Raises ``UsageFault`` where rows of an unfinished run are in the way, and where the cluster
    cannot be used.
    """
    from lm_eval_strict.filters.cluster import Cluster, ClusterFault
    from lm_eval_strict.filters.grade_file import Unfinished, grade_file, partial_path
    from lm_eval_strict.filters.progress import progress_bar

    again += f" --cluster {cluster}" if cluster else ""
    try:
        with (
            Cluster(cluster) if cluster else nullcontext() as far,
            progress_bar(len(inputs), f"grading {spec.name}") as bar,
        ):
            if far is not None:
                far.check(spec, level)
            summary = grade_file(
                spec,
                inputs,
                out,
                resume=resume,
                isolation=level,
                workers=workers,
                cluster=far,
                on_done=bar.update,
            )
    except Unfinished as unfinished:
        raise UsageFault(str(unfinished)) from None
    except ClusterFault as fault:
        kept = f"; rows so far are kept: {again}" if partial_path(out).is_file() else ""
        raise UsageFault(f"{fault}{kept}") from None
    except KeyboardInterrupt:
        kept = f"lm-eval-strict: interrupted; rows so far are kept in {partial_path(out)}"
        print(f"\n{kept}\n{again}", file=sys.stderr)
        raise typer.Exit(130) from None
    for bad in summary.bad_lines:
        print(f"lm-eval-strict: not graded: {bad.why}", file=sys.stderr)
    print(
        f"lm-eval-strict: {spec.name} {spec.version}: {summary.replies} inputs, {summary.continued} from "
        f"before, {len(summary.bad_lines)} bad lines, {summary.harness_errors} harness errors; rows in {out}",
        file=sys.stderr,
    )
    return summary.harness_errors


def checked_task(
    task: str, isolation: str | None, *, needs_data: bool = True, here: bool = True
) -> tuple[TaskSpec, Isolation]:
    """Return the task and the isolation level that the user named, after the preflight.

    ``needs_data`` False leaves a math task's problems unread: each line may bring a gold of its own. ``here``
    False leaves this machine's sandbox untried: programs will run elsewhere.
    """
    from lm_eval_strict.filters.preflight import PreflightFailure, check, read_settings
    from lm_eval_strict.filters.task_spec import UnknownTask, read_task

    try:
        spec = read_task(task)
        settings = read_settings(isolation)
        check(spec, replace(settings, grade_later=not here), needs_data=needs_data or spec.kind == "code")
    except (UnknownTask, PreflightFailure) as failure:
        raise UsageFault(str(failure)) from None
    return spec, settings.isolation
