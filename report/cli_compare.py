"""The command ``compare``: two runs, or two graders of one run, in; the paired difference out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .faults import UsageFault


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("compare")(compare)


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="The first run: files as `report` takes them.")],
    second: Annotated[Path | None, typer.Argument(metavar="B", help="The second run.")] = None,
    task: Annotated[str, typer.Option(help="The task to compare, where both runs have several.")] = "",
    across: Annotated[
        list[str] | None,
        typer.Option(
            help="A field in which the runs may differ: model, thinking, generation, grader, ... Repeatable."
        ),
    ] = None,
    graders: Annotated[
        str, typer.Option(help="Two pipelines of A to compare on the same replies, as in symbolic,strict.")
    ] = "",
    power: Annotated[
        float | None,
        typer.Option(metavar="POINTS", help="Say how many problems or samples would settle POINTS."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
) -> None:
    """Compare two runs on the same problems: difference, interval, exact McNemar, who won what.

    Runs whose task or request differ are compared only across the field that you name. A warning says when
    the mix of extraction rules moved, since then a difference may be one of format.
    """
    import numpy as np

    from .comparison import compare_pipelines, compare_runs
    from .read_run import read_run, read_runs

    if power is not None and not 0 < power < 100:
        raise UsageFault(f"--power is {power:g}: give points between 0 and 100")
    generator = np.random.default_rng(seed)
    if graders:
        pair = tuple(part.strip() for part in graders.split(","))
        if len(pair) != 2 or second is not None:
            raise UsageFault(
                f"--graders is {graders!r}: give two pipelines, as in symbolic,strict, and one run"
            )
        made = compare_pipelines(read_run([first]), (pair[0], pair[1]), generator, task)
    else:
        if second is None:
            raise UsageFault("compare needs two runs, or one run and --graders")
        settle = None if power is None else power / 100
        a, b = read_runs([[first], [second]])
        made = compare_runs(a, b, generator, task=task, across=across or (), settle=settle)
    if as_json:
        from .as_json import to_json

        typer.echo(to_json({"compare": 1, "seed": seed, **vars(made)}))
    else:
        from .show_comparison import show_comparison
        from .show_report import new_console

        show_comparison(new_console(), made)
