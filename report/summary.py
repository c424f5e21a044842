"""Verdicts of one run in, one summary a task out: every number that the report prints."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from .paired import paired_difference
from .read_run import Run, by_pipeline
from .statistics import DegenerateWarning, Interval, curves, split_variance
from .summary_notes import task_notes
from .summary_records import Group, PipelineSummary, RuleCount, RunSummary, Solved, Step, TaskSummary
from .verdicts import (
    CODE_PIPELINES,
    EVALPLUS_CEILING_OUT,
    HARNESS_ERROR,
    LIMITS,
    MATH_PIPELINES,
    NO_ANSWER,
    NO_PROGRAM,
    NOT_GRADED,
    Verdict,
    headline_of,
    pipeline_order,
)

FEWEST_RESAMPLED = 5
GROUP_RESAMPLES = 2_000

Counts = dict[str, tuple[int, int]]


def counts_of(verdicts: Iterable[Verdict]) -> Counts:
    """Give (samples, passed) of every problem that has a verdict of the model's."""
    counts: Counts = {}
    for verdict in verdicts:
        score = verdict.score
        if score == score:  # NaN differs from itself
            samples, passed = counts.get(verdict.problem, (0, 0))
            counts[verdict.problem] = (samples + 1, passed + int(score))
    return counts


def shares_of(counts: Counts) -> dict[str, float]:
    """Give each problem's share of passed samples."""
    return {problem: passed / samples for problem, (samples, passed) in counts.items()}


def summarize_run(run: Run, generator: np.random.Generator) -> RunSummary:
    """Summarize every task of a run; equal generators give equal summaries."""
    tasks = []
    with warnings.catch_warnings():
        # An interval that cannot be is printed as a dash, group by group.
        warnings.simplefilter("ignore", DegenerateWarning)
        for task in run.tasks:
            verdicts = [verdict for verdict in run.verdicts if verdict.task == task]
            tasks.append(_summarize_task(run, task, verdicts, generator))
    return RunSummary(run.label, run.facts.model, run.files, run.notes, tuple(tasks))


def _summarize_task(
    run: Run, task: str, verdicts: Sequence[Verdict], generator: np.random.Generator
) -> TaskSummary:
    grouped = by_pipeline(verdicts)
    names = pipeline_order(grouped)
    headline = headline_of(names)
    counts = {name: counts_of(grouped[name]) for name in names}
    first, main = verdicts[0], grouped[headline]
    pipelines = tuple(_summarize_pipeline(name, grouped[name], counts[name], generator) for name in names)
    return TaskSummary(
        task=task,
        version=first.version,
        task_digest=first.task_digest,
        request_digest=run.facts.request_digest(task),
        isolation=", ".join(sorted({verdict.isolation for verdict in verdicts if verdict.isolation})),
        headline=headline,
        problems=len({verdict.problem for verdict in verdicts}),
        samples=max(Counter(verdict.problem for verdict in main).values()),
        pipelines=pipelines,
        steps=tuple(_steps(names, counts, generator)),
        rules=_rules(main),
        truncated=dict(Counter(verdict.truncated for verdict in main if verdict.truncated != "no")),
        notes=tuple(task_notes(run.facts, task, grouped, headline)),
    )


def _summarize_pipeline(
    name: str, verdicts: Sequence[Verdict], counts: Counts, generator: np.random.Generator
) -> PipelineSummary:
    tally = Counter(verdict.verdict for verdict in verdicts)
    pairs = list(counts.values())
    at, hat = curves(pairs, generator) if pairs else (None, None)
    return PipelineSummary(
        pipeline=name,
        problems=len(counts),
        replies=sum(samples for samples, _ in pairs),
        samples=min((samples for samples, _ in pairs), default=0),
        passed=sum(passed for _, passed in pairs),
        pass_at=at.points if at else (),
        pass_hat=hat.points if hat else (),
        over_163=_over_163(name, counts, generator),
        verdicts=dict(tally.most_common()),
        no_answer=sum(tally[verdict] for verdict in NO_ANSWER),
        no_program=sum(tally[verdict] for verdict in NO_PROGRAM),
        limits=sum(tally[verdict] for verdict in LIMITS),
        harness_errors=tally[HARNESS_ERROR],
        not_graded=tally[NOT_GRADED],
        near_limit=sum(verdict.near_limit for verdict in verdicts),
        adjudicated_passes=sum(verdict.accepted and verdict.quirks > 0 for verdict in verdicts),
        evalplus_cuts=sum(verdict.evalplus_cut for verdict in verdicts),
        solved=_solved(pairs),
        by_sample=_by_sample(verdicts),
        variance=split_variance(pairs),
        groups={
            "subject": _groups(verdicts, "subject", generator),
            "level": _groups(verdicts, "level", generator),
        },
    )


def _over_163(name: str, counts: Counts, generator: np.random.Generator) -> Interval | None:
    if "plus" not in name or EVALPLUS_CEILING_OUT not in counts or len(counts) < 2:
        return None
    kept = [pair for problem, pair in counts.items() if problem != EVALPLUS_CEILING_OUT]
    return curves(kept, generator)[0].points[0]


def _solved(pairs: Sequence[tuple[int, int]]) -> Solved:
    always = sum(samples == passed for samples, passed in pairs)
    never = sum(passed == 0 for _, passed in pairs)
    return Solved(always, len(pairs) - always - never, never)


def _by_sample(verdicts: Sequence[Verdict]) -> tuple[float, ...]:
    scores: dict[int, list[float]] = {}
    for verdict in verdicts:
        if verdict.score == verdict.score:
            scores.setdefault(verdict.sample, []).append(verdict.score)
    return tuple(sum(scores[sample]) / len(scores[sample]) for sample in sorted(scores))


def _groups(verdicts: Sequence[Verdict], field: str, generator: np.random.Generator) -> tuple[Group, ...]:
    grouped: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if name := str(getattr(verdict, field)):
            grouped.setdefault(name, []).append(verdict)
    out = []
    for name in sorted(grouped):
        pairs = list(counts_of(grouped[name]).values())
        if pairs:
            made = curves(pairs, generator, resamples=GROUP_RESAMPLES)[0].points[0]
            few = len(pairs) < FEWEST_RESAMPLED and made.method != "wilson"
            unknown = Interval(made.value, math.nan, math.nan, "too few problems to resample")
            out.append(Group(name, len(pairs), unknown if few else made))
    return tuple(out)


def _steps(
    names: Sequence[str], counts: Mapping[str, Counts], generator: np.random.Generator
) -> Iterable[Step]:
    """Pair each pipeline with the next, and the first with the last; only pipelines of one ladder."""
    for ladder in (CODE_PIPELINES, MATH_PIPELINES):
        rungs = [name for name in ladder if name in names]
        pairs = list(pairwise(rungs))
        if len(rungs) > 2:
            pairs.append((rungs[0], rungs[-1]))
        for first, second in pairs:
            a, b = shares_of(counts[first]), shares_of(counts[second])
            both = [problem for problem in a if problem in b]
            if both:
                change = paired_difference([a[p] for p in both], [b[p] for p in both], generator)
                yield Step(first, second, change)


def _rules(verdicts: Sequence[Verdict]) -> tuple[RuleCount, ...]:
    fired = Counter(verdict.rule for verdict in verdicts)
    accepted = Counter(verdict.rule for verdict in verdicts if verdict.accepted)
    return tuple(
        RuleCount(rule or "(none)", replies, accepted[rule]) for rule, replies in fired.most_common()
    )
