"""Runs and their summaries in, one self-contained page out: no network, no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from markupsafe import Markup

from . import plots, shown
from .read_run import Run, by_pipeline
from .report_lines import (
    Line,
    against_first,
    compact_ladder,
    compact_scores,
    difference_lines,
    group_lines,
    ladder_lines,
    score_lines,
    step_blocks,
)
from .summary import counts_of, shares_of
from .summary_records import RunSummary, TaskSummary

HEAT_SAMPLES = 24
FULL_HEIGHT, THIN_HEIGHT = 16, 10
COMPACT_FROM = 4


@dataclass(frozen=True)
class TaskPage:
    """Everything that the template shows of one task over all runs."""

    task: str
    pairs: Sequence[tuple[RunSummary, TaskSummary]]
    notes: Sequence[tuple[str, str]]
    compact: bool
    scores: Sequence[Line]
    ladder: Sequence[Line]
    steps: Sequence[Line]
    steps_axis: Markup
    runs: Sequence[Line]
    runs_axis: Markup
    heat: Sequence[tuple[str, Markup]]
    heat_lead: str
    mix: Sequence[tuple[str, Markup]]
    legend: Sequence[str]
    groups: Sequence[tuple[str, Sequence[Line]]]
    curve: Markup | None


def report_page(runs: Sequence[Run], summaries: Sequence[RunSummary]) -> str:
    """Write the page; everything that came from a model or a file is escaped."""
    import jinja2

    folder = resources.files(__package__)
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.globals.update(shown=shown, axis=plots.axis(plots.SHARES), isnan=math.isnan)
    template = environment.from_string((folder / "report_page.html").read_text(encoding="utf-8"))
    style = "".join((folder / name).read_text(encoding="utf-8") for name in ("page.css", "report_page.css"))
    tasks = dict.fromkeys(task.task for run in summaries for task in run.tasks)
    pages = [_task_page(name, runs, summaries) for name in tasks]
    return template.render(style=Markup(style), runs=summaries, pages=pages)


def _task_page(name: str, runs: Sequence[Run], summaries: Sequence[RunSummary]) -> TaskPage:
    pairs = [(run, task) for run in summaries for task in run.tasks if task.task == name]
    read = [run for run in runs if name in run.tasks]
    many = len(pairs) > 1
    compact = len(pairs) >= COMPACT_FROM
    steps, steps_axis = difference_lines(step_blocks(pairs, compact))
    against, runs_axis = difference_lines([("", list(against_first(read, name, pairs)))] if many else [])
    legend = _rule_names(pairs)
    heat, lead = _heat(read, name, pairs)
    first = pairs[0][1]
    main = first.pipeline(first.headline)
    return TaskPage(
        task=name,
        pairs=pairs,
        notes=[(run.label, note) for run, task in pairs for note in (*task.notes, *run.notes)],
        compact=compact,
        scores=list(compact_scores(pairs) if compact else score_lines(pairs)),
        ladder=list(compact_ladder(pairs) if compact else ladder_lines(pairs)),
        steps=steps,
        steps_axis=steps_axis,
        runs=against,
        runs_axis=runs_axis,
        heat=heat,
        heat_lead=lead,
        mix=[(run.label, _mix(task, legend)) for run, task in pairs],
        legend=legend,
        groups=[] if many else list(group_lines(first)),
        curve=plots.curve_plot(main.pass_at, main.pass_hat) if not many and main.samples > 1 else None,
    )


def _heat(
    runs: Sequence[Run], task: str, pairs: Sequence[tuple[RunSummary, TaskSummary]]
) -> tuple[list[tuple[str, Markup]], str]:
    """Give one row a run, or a sample or pipeline of the only run; problems from easy to hard."""
    headline = pairs[0][1].headline
    chosen = [[v for v in run.verdicts if v.task == task and v.pipeline == headline] for run in runs]
    shares = [shares_of(counts_of(verdicts)) for verdicts in chosen]
    problems = list(dict.fromkeys(verdict.problem for verdicts in chosen for verdict in verdicts))
    order = sorted(problems, key=lambda name: -sum(share.get(name, 0.0) for share in shares))
    samples = sorted({verdict.sample for verdict in chosen[0]}) if len(runs) == 1 else []
    if 1 < len(samples) <= HEAT_SAMPLES:
        scores = {(verdict.sample, verdict.problem): verdict.score for verdict in chosen[0]}
        rows = [
            (f"sample {s + 1}: {_score(scores, s)}", [scores.get((s, name), math.nan) for name in order])
            for s in samples
        ]
        lead = "Each row is a sample with its pass@1"
    elif len(runs) == 1:
        grouped = by_pipeline(verdict for verdict in runs[0].verdicts if verdict.task == task)
        named = [(one.pipeline, shares_of(counts_of(grouped[one.pipeline]))) for one in pairs[0][1].pipelines]
        rows = [(label, [share.get(name, math.nan) for name in order]) for label, share in named]
        lead = "Each row is a pipeline"
    else:
        rows = [
            (run.label, [share.get(name, math.nan) for name in order])
            for run, share in zip(runs, shares, strict=True)
        ]
        lead = "Each row is a run"
    height = FULL_HEIGHT if len(rows) <= 6 else THIN_HEIGHT
    drawn = [(label, plots.heat_row(cells, order, height, f"{label}, {headline}")) for label, cells in rows]
    return drawn, f"{lead}, each column one of {len(order)} problems, from most to least solved ({headline})."


def _score(scores: Mapping[tuple[int, str], float], sample: int) -> str:
    """Give the pass@1 of one sample index, taken as a run of its own."""
    known = [score for (index, _), score in scores.items() if index == sample and not math.isnan(score)]
    return shown.percent(sum(known) / len(known)) if known else shown.NOTHING


def _rule_names(pairs: Sequence[tuple[RunSummary, TaskSummary]]) -> list[str]:
    total: dict[str, int] = {}
    for _, task in pairs:
        for rule in task.rules:
            total[rule.rule] = total.get(rule.rule, 0) + rule.replies
    return sorted(total, key=lambda name: (-total[name], name))


def _mix(task: TaskSummary, places: Sequence[str]) -> Markup:
    everything = sum(rule.replies for rule in task.rules)
    found = {rule.rule: rule.replies / everything for rule in task.rules}
    return plots.mix_bar([(name, found[name]) for name in places if name in found], places)
