"""The command ``regrade``: files that hold replies in, rows of the installed graders out, without a model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_grade import ClusterAddress, checked_task, grade_inputs
from .faults import UsageFault

if TYPE_CHECKING:
    from lm_eval_strict.filters.read_replies import BadLine
    from lm_eval_strict.filters.replies import Reply
    from lm_eval_strict.filters.task_spec import TaskSpec

    from .reply_lines import Source

BAD_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("regrade")(regrade)


def regrade(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...",
            help="lm-eval samples files or folders, journals, rows, human-eval or evalplus samples, "
            "Inspect logs.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the rows go: JSONL, one per reply and pipeline.")],
    task: Annotated[
        str, typer.Option(help="The task that judges them; default: the one the files state.")
    ] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
    isolation: Annotated[str | None, typer.Option(help="full, reduced or none (code tasks).")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Parallel workers; default: usable CPUs.")
    ] = None,
    cluster: ClusterAddress = "",
) -> None:
    """Grade old replies again without a model, in parallel; says what it read and what it could not.

    Where the files have verdicts already, the old and the new are compared, paired on the same replies.
    """
    sources = _sources(files, task)
    spec, level = checked_task(task or _stated(sources), isolation, here=not cluster)
    inputs = _inputs(sources, spec)
    named = " ".join(str(file) for file in files)
    again = f"lm-eval-strict regrade {named} --task {spec.frozen_name} --out {out} --resume"
    errors = grade_inputs(
        spec, level, inputs, out, resume=resume, workers=workers, cluster=cluster, again=again
    )
    _compare(sources, out, spec.name)
    raise typer.Exit(1 if errors else 0)


def _sources(files: Sequence[Path], task: str) -> list[Source]:
    """Open every file; of a folder, those that hold replies (of the task, where lm-eval's files name it)."""
    from .reply_lines import open_source

    found = []
    for path in files:
        if not path.is_dir():
            found.append(open_source(path))
            continue
        inside = sorted(path.glob("**/samples_*.jsonl")) or sorted(path.glob("**/*.jsonl"))
        for file in inside:
            try:
                found.append(open_source(file))
            except UsageFault as fault:
                print(f"lm-eval-strict: left out: {fault}", file=sys.stderr)
    if not found:
        raise UsageFault(f"{', '.join(str(path) for path in files)}: no file with replies")
    wanted = _plain(task)
    chosen = [source for source in found if not wanted or source.task in ("", wanted)]
    if not chosen:
        listed = ", ".join(sorted({source.task for source in found}))
        raise UsageFault(f"the files are of {listed}, not of --task {task}")
    return chosen


def _plain(task: str) -> str:
    from .run_facts import plain_name

    return plain_name(task)


def _stated(sources: Sequence[Source]) -> str:
    tasks = sorted({source.task for source in sources if source.task})
    if len(tasks) == 1:
        return tasks[0]
    if tasks:
        raise UsageFault(f"the files are of {', '.join(tasks)}: choose one with --task")
    raise UsageFault("the files do not state their task: name it with --task")


def _inputs(sources: Sequence[Source], spec: TaskSpec) -> list[Reply | BadLine]:
    from lm_eval_strict.filters.problems import load_problems
    from lm_eval_strict.filters.read_replies import BadLine, read_replies

    def prompt_of(problem: str) -> str:
        known = load_problems(spec.dataset).by_key.get(problem)
        return str(known["prompt"]) if known and spec.kind == "code" else ""

    inputs: list[Reply | BadLine] = []
    shown = 0
    for source in sources:
        read = list(read_replies(source.lines(prompt_of), spec))
        bad = [one for one in read if isinstance(one, BadLine)]
        print(
            f"lm-eval-strict: {source.path}: {source.kind}, {len(read) - len(bad)} replies", file=sys.stderr
        )
        for one in bad:
            shown += 1
            if shown <= BAD_SHOWN:
                print(f"lm-eval-strict: {source.path}: not gradable: {one.why}", file=sys.stderr)
        inputs += read
    if shown > BAD_SHOWN:
        print(f"lm-eval-strict: and {shown - BAD_SHOWN} more that are not gradable", file=sys.stderr)
    if not any(not isinstance(one, BadLine) for one in inputs):
        raise UsageFault("no reply could be read: nothing to grade")
    return inputs


def _compare(sources: Sequence[Source], out: Path, task: str) -> None:
    """Print the paired comparison with the verdicts that the files had."""
    import numpy as np

    from .comparison import compare_runs
    from .read_run import only_task, read_run
    from .show_comparison import show_comparison
    from .show_report import new_console

    paths = [source.path for source in sources if source.has_verdicts]
    if not paths:
        return
    try:
        old = only_task(read_run(paths, label="the verdicts before"), task)
        new = read_run([out], label="the installed graders")
        made = compare_runs(
            old, new, np.random.default_rng(0), across=("grader", "version", "task", "request")
        )
    except UsageFault as fault:
        print(f"lm-eval-strict: no comparison with the verdicts before: {fault}", file=sys.stderr)
        return
    show_comparison(new_console(), made)
