"""Summaries of runs in, tables on the terminal out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .shown import NOTHING, count, p_text, percent, points, span
from .summary_records import PipelineSummary, RunSummary, TaskSummary

SHOWN_K = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000)
RULES_SHOWN = 8
PIPED_WIDTH = 140


def show_report(console: Console, runs: Sequence[RunSummary], *, details: bool) -> None:
    """Print one table for each task with all runs in it, then the details and notes of each run."""
    for task in dict.fromkeys(task.task for run in runs for task in run.tasks):
        pairs = [(run, found) for run in runs for found in run.tasks if found.task == task]
        console.print(_scores(task, pairs))
        if details:
            for run, found in pairs:
                _show_details(console, run, found, many=len(runs) > 1)
        _show_notes(console, pairs, many=len(runs) > 1)
    for run in runs:
        for note in run.notes:
            console.print(f"[dim]{escape(run.label)}: {escape(note)}[/dim]")


def new_table(title: str, *columns: str, left: int = 1) -> Table:
    """Open a table whose first ``left`` columns are text and the rest numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < left else "right", no_wrap=True)
    return table


def new_console() -> Console:
    """Open the console; output that goes to a file or a pipe is wide enough to cut nothing off."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPED_WIDTH)


def _scores(task: str, pairs: Sequence[tuple[RunSummary, TaskSummary]]) -> Table:
    first = pairs[0][1]
    most = max(pipeline.samples for _, found in pairs for pipeline in found.pipelines)
    per_k = [f"pass@{most}", f"pass^{most}"] if most > 1 else []
    failed = "no answer" if _is_math(first) else "no program"
    shape = f"{first.problems} problems × {first.samples} {'reply' if first.samples == 1 else 'replies'}"
    many = len(pairs) > 1
    name = "" if many else f"  {escape(pairs[0][0].label)}"
    title = f"{escape(task)} {escape(first.version)}{name}  [dim]{shape}[/dim]"
    columns = ["pipeline", "pass@1", "95% interval", *per_k, "passed", failed, "limits", "errors"]
    table = new_table(title, *(["run"] if many else []), *columns, left=2 if many else 1)
    for run, found in pairs:
        for place, one in enumerate(found.pipelines):
            style = "bold" if one.pipeline == found.headline else ""
            label = [escape(run.label) if place == 0 else ""] if many else []
            last = place == len(found.pipelines) - 1 and many
            table.add_row(*label, *_score_cells(one, most), style=style, end_section=last)
    return table


def _is_math(task: TaskSummary) -> bool:
    return task.headline in ("strict", "symbolic", "normalized", "exact")


def _score_cells(one: PipelineSummary, most: int) -> list[str]:
    if not one.pass_at:
        blank = [NOTHING] * (4 if most > 1 else 2)
        return [escape(one.pipeline), *blank, NOTHING, NOTHING, NOTHING, _loud(one.harness_errors)]
    per_k = []
    if most > 1:
        whole = most <= len(one.pass_at)
        per_k = [percent(c[most - 1].value) if whole else NOTHING for c in (one.pass_at, one.pass_hat)]
    bad = one.no_answer + one.no_program
    return [
        escape(one.pipeline),
        percent(one.pass_at[0].value),
        span(one.pass_at[0]),
        *per_k,
        f"{one.passed:,}/{one.replies:,}",
        count(bad),
        count(one.limits),
        _loud(one.harness_errors),
    ]


def _loud(number: int) -> str:
    return f"[bold red]{number}[/bold red]" if number else NOTHING


def _show_details(console: Console, run: RunSummary, task: TaskSummary, *, many: bool) -> None:
    if many:
        console.rule(f"[bold]{escape(run.label)}[/bold]", align="left", style="dim")
    for table in (*_curve_table(task), *_step_table(task), *_group_tables(task), *_rule_table(task)):
        console.print(table)
    for line in _sample_lines(task):
        console.print(line)


def _curve_table(task: TaskSummary) -> Iterator[Table]:
    one = task.pipeline(task.headline)
    if one.samples < 2:
        return
    table = new_table(
        f"{task.headline}: pass@k and pass^k", "k", "pass@k", "95% interval", "pass^k", "95% interval"
    )
    for k in sorted({*(k for k in SHOWN_K if k <= one.samples), one.samples}):
        at, hat = one.pass_at[k - 1], one.pass_hat[k - 1]
        table.add_row(str(k), percent(at.value), span(at), percent(hat.value), span(hat))
    yield table


def _step_table(task: TaskSummary) -> Iterator[Table]:
    if not task.steps:
        return
    table = new_table(
        "The ladder, paired",
        "from",
        "to",
        "points",
        "95% interval",
        "relative",
        "lost",
        "gained",
        "p",
        left=2,
    )
    for step in task.steps:
        made = step.difference
        relative = f"{points(made.relative)}%" if made.relative == made.relative else NOTHING
        table.add_row(
            step.first,
            step.second,
            points(made.change.value),
            span(made.change, signed=True),
            relative,
            str(made.worse),
            str(made.better),
            p_text(made.p_value),
        )
    yield table


def _group_tables(task: TaskSummary) -> Iterator[Table]:
    for field, groups in task.pipeline(task.headline).groups.items():
        if groups:
            table = new_table(f"{task.headline} by {field}", field, "problems", "pass@1", "95% interval")
            for group in groups:
                table.add_row(
                    escape(group.name),
                    str(group.problems),
                    percent(group.pass_at_1.value),
                    span(group.pass_at_1),
                )
            yield table


def _rule_table(task: TaskSummary) -> Iterator[Table]:
    table = new_table("Extraction rules that fired", "rule", "replies", "accepted", "share accepted")
    for rule in task.rules[:RULES_SHOWN]:
        share = percent(rule.accepted / rule.replies)
        table.add_row(escape(rule.rule), f"{rule.replies:,}", f"{rule.accepted:,}", share)
    if len(task.rules) > RULES_SHOWN:
        rest = task.rules[RULES_SHOWN:]
        table.add_row(f"{len(rest)} more rules", f"{sum(rule.replies for rule in rest):,}", "", "")
    yield table


def _sample_lines(task: TaskSummary) -> Iterator[str]:
    one = task.pipeline(task.headline)
    if one.samples > 1:
        solved = one.solved
        yield (
            f"Problems solved always [bold]{solved.always}[/bold], "
            f"sometimes [bold]{solved.sometimes}[/bold], never [bold]{solved.never}[/bold]."
        )
        low, high = min(one.by_sample), max(one.by_sample)
        spread = f"from {percent(low)} to {percent(high)} over {len(one.by_sample)} runs"
        yield f"Each sample as one run: pass@1 {spread}."
        if one.variance.sampling_share == one.variance.sampling_share:
            yield f"Of one verdict's variance {percent(one.variance.sampling_share)}% comes from sampling."
    for pipeline in task.pipelines:
        if pipeline.over_163:
            yield (
                f"{pipeline.pipeline}: {percent(pipeline.pass_at[0].value)} over {pipeline.problems}, "
                f"{percent(pipeline.over_163.value)} over the {pipeline.problems - 1} that EvalPlus can pass "
                "(all but HumanEval/32)."
            )


def _show_notes(console: Console, pairs: Sequence[tuple[RunSummary, TaskSummary]], *, many: bool) -> None:
    for run, task in pairs:
        for note in task.notes:
            loud = note.startswith(("HARNESS", "COPIES"))
            name = f"{run.label}: " if many else ""
            console.print(f"[{'bold red' if loud else 'yellow'}]![/] {escape(name + note)}")
