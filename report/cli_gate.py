"""The command ``gate``: a stored baseline and a run in, exit status 0, 1 or 2 out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .faults import UsageFault


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("gate")(gate)


def gate(
    run: Annotated[list[Path], typer.Argument(metavar="RUN...", help="The files of one run.")],
    baseline: Annotated[Path, typer.Option(help="The file that keeps the baseline.")],
    update: Annotated[bool, typer.Option("--update", help="Write the baseline from this run.")] = False,
    allow: Annotated[float, typer.Option(metavar="POINTS", help="A loss up to POINTS is no failure.")] = 0.0,
    alpha: Annotated[
        float, typer.Option(help="Level of the one-sided test; 1: judge by points alone.")
    ] = 0.05,
    pipeline: Annotated[
        list[str] | None, typer.Option(help="A pipeline to check; default: the headline. Repeatable.")
    ] = None,
    across: Annotated[
        list[str] | None, typer.Option(help="A field in which run and baseline may differ. Repeatable.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a Markdown summary.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
) -> None:
    """Fail when a run lost against a stored baseline, problem by problem.

    Exit 0: no loss beyond what is allowed. 1: a loss of more than --allow points that the paired test
    confirms. 2: they cannot be compared (other task, request or data, missing problems, harness errors).
    """
    from . import gate_files
    from .baseline import read_baseline
    from .read_run import read_run

    if not 0 <= allow < 100:
        raise UsageFault(f"--allow is {allow:g}: give points between 0 and 100")
    if not 0 < alpha <= 1:
        raise UsageFault(f"--alpha is {alpha:g}: give a level between 0 and 1")
    if update:
        _update(run, baseline)
        return
    try:
        import numpy as np

        from .gate_check import check_run

        checks = check_run(
            read_baseline(baseline),
            read_run(run),
            np.random.default_rng(seed),
            allowed=allow / 100,
            alpha=alpha,
            pipelines=pipeline or (),
            across=across or (),
        )
    except UsageFault as fault:
        _write(junit, gate_files.junit([], str(fault)))
        _write(markdown, gate_files.markdown([], str(fault)))
        raise
    _write(junit, gate_files.junit(checks))
    _write(markdown, gate_files.markdown(checks))
    if as_json:
        from .as_json import to_json

        typer.echo(to_json({"gate": 1, "failed": any(check.failed for check in checks), "checks": checks}))
    else:
        for check in checks:
            typer.echo(gate_files.sentence(check))
    raise typer.Exit(1 if any(check.failed for check in checks) else 0)


def _update(run: list[Path], path: Path) -> None:
    """Write the baseline of a run; a run with replies that have no verdict is no baseline."""
    from .baseline import make_baseline, write_baseline
    from .gate_check import check_graded
    from .libraries import installed_versions
    from .read_run import by_pipeline, only_task, read_run

    read = read_run(run)
    for task in read.tasks:
        for name, verdicts in by_pipeline(only_task(read, task).verdicts).items():
            check_graded(task, name, verdicts)
    write_baseline(path, make_baseline(read, installed_versions()))
    typer.echo(f"{path}: written from {read.label}: {', '.join(read.tasks)}")


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
