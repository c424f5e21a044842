"""Summaries of runs in, the lines of the page's plots out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import plots, shown
from .comparison import compare_verdicts
from .paired import Difference
from .read_run import Run
from .statistics import Interval
from .summary_records import RunSummary, TaskSummary

Pairs = Sequence[tuple[RunSummary, TaskSummary]]


@dataclass(frozen=True)
class Line:
    """One line of a plot: its label, its drawing, the number beside it; ``head`` lines are headings."""

    label: str
    track: str = ""
    number: str = ""
    more: str = ""
    kind: str = ""
    head: bool = False


def score_lines(pairs: Pairs) -> Iterator[Line]:
    """Give one line a pipeline, under a heading for each run where there are several."""
    for run, task in pairs:
        if len(pairs) > 1:
            yield Line(run.label, head=True)
        for one in task.pipelines:
            if one.pass_at:
                kind = "main" if one.pipeline == task.headline else ""
                yield _interval_line(one.pipeline, one.pass_at[0], plots.SHARES, kind)


def compact_scores(pairs: Pairs) -> Iterator[Line]:
    """Give one line a run: its headline score, and a ring at its most lenient one."""
    for run, task in pairs:
        main, lenient = task.pipeline(task.headline), task.pipelines[0]
        if main.pass_at:
            ring = lenient.pass_at[0].value if lenient.pass_at and lenient is not main else None
            yield _interval_line(run.label, main.pass_at[0], plots.SHARES, "", ring)


def compact_ladder(pairs: Pairs) -> Iterator[Line]:
    """Give one line a run: what the stricter pipelines took."""
    for run, task in pairs:
        main, lenient = task.pipeline(task.headline), task.pipelines[0]
        if main.pass_at and lenient.pass_at and lenient is not main:
            before, after = lenient.pass_at[0].value, main.pass_at[0].value
            change = shown.points(after - before)
            track = plots.ladder_track(before, after, f"{run.label}: {shown.percent(after)}%, {change}")
            yield Line(run.label, track, shown.percent(after), change)


def step_blocks(pairs: Pairs, compact: bool) -> list[tuple[str, list[tuple[str, Difference]]]]:
    """Give the paired steps of each run; of many runs only the step from first to last."""
    if compact:
        return [("", [(run.label, task.steps[-1].difference) for run, task in pairs if task.steps])]
    named = [(run.label if len(pairs) > 1 else "", task.steps) for run, task in pairs]
    return [
        (head, [(f"{one.first} → {one.second}", one.difference) for one in steps]) for head, steps in named
    ]


def _interval_line(
    label: str, one: Interval, scale: plots.Scale, kind: str, ring: float | None = None
) -> Line:
    said = f"{label}: {shown.percent(one.value)}%, 95% interval {shown.span(one)}"
    return Line(
        label,
        plots.interval_track(one, scale, said, ring=ring),
        shown.percent(one.value),
        shown.span(one),
        kind,
    )


def ladder_lines(pairs: Pairs) -> Iterator[Line]:
    """Give one rung a pipeline: its score, and what it took from the rung above."""
    for run, task in pairs:
        if len(pairs) > 1:
            yield Line(run.label, head=True)
        before = None
        for one in task.pipelines:
            if one.pass_at:
                after = one.pass_at[0].value
                change = "" if before is None else shown.points(after - before)
                said = f"{one.pipeline}: {shown.percent(after)}%, {change or 'first'}"
                track = plots.ladder_track(before, after, said)
                yield Line(one.pipeline, track, shown.percent(after), change)
                before = after


def difference_lines(
    blocks: Sequence[tuple[str, Sequence[tuple[str, Difference]]]],
) -> tuple[list[Line], Markup]:
    """Draw paired differences on one scale around zero; give the lines and their axis."""
    scale = plots.around_zero([made.change for _, block in blocks for _, made in block])
    lines = []
    for head, block in blocks:
        if head and block:
            lines.append(Line(head, head=True))
        for label, made in block:
            change = made.change
            kind = "loss" if change.high < 0 else "gain" if change.low > 0 else "flat"
            said = f"{label}: {shown.points(change.value)} points, {shown.span(change, signed=True)}"
            more = f"{made.worse} lost, {made.better} gained, p {shown.p_text(made.p_value)}"
            track = plots.interval_track(change, scale, said)
            lines.append(Line(label, track, shown.points(change.value), more, kind))
    return lines, plots.axis(scale, signed=True)


def against_first(runs: Sequence[Run], task: str, pairs: Pairs) -> Iterator[tuple[str, Difference]]:
    """Pair every further run with the first on the problems that both have."""
    import numpy as np

    headline = pairs[0][1].headline
    chosen = [[v for v in run.verdicts if v.task == task and v.pipeline == headline] for run in runs]
    for run, verdicts in zip(runs[1:], chosen[1:], strict=True):
        both = {verdict.problem for verdict in chosen[0]} & {verdict.problem for verdict in verdicts}
        if both:
            made = compare_verdicts(headline, chosen[0], verdicts, np.random.default_rng(0), None)
            yield run.label, made.difference


def group_lines(task: TaskSummary) -> Iterator[tuple[str, list[Line]]]:
    """Give the lines of each grouping (subject, level) that has members."""
    groups = task.pipeline(task.headline).groups
    for field, members in groups.items():
        if members:
            lines = [
                _interval_line(f"{group.name}  ({group.problems})", group.pass_at_1, plots.SHARES, "")
                for group in members
            ]
            yield field, lines
