"""Two runs in, what changed between them out: the difference, who won which problems, how the rules moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .faults import UsageFault
from .paired import Difference, Power, paired_difference, power
from .read_run import Run, by_pipeline
from .run_facts import FOLLOWS
from .statistics import split_variance
from .summary import counts_of, shares_of
from .verdicts import Verdict, headline_of, pipeline_order

RULE_MIX_POINTS = 0.05
# A reply that was handed in extracted already: its rule is not known, so no mix can be compared.
GIVEN = "given"
LISTED_PROBLEMS = 5


@dataclass(frozen=True)
class RuleShift:
    """How often one extraction rule fired in each run, in shares of the replies."""

    rule: str
    first: float
    second: float


@dataclass(frozen=True)
class PipelineComparison:
    """One pipeline of two runs, or two pipelines, on the problems that both have a verdict for."""

    pipeline: str
    difference: Difference
    won_by_first: tuple[str, ...]
    won_by_second: tuple[str, ...]
    power: Power | None


@dataclass(frozen=True)
class Comparison:
    """Everything that ``compare`` prints; ``warnings`` are what may make the difference one of format."""

    first: str
    second: str
    task: str
    version: str
    headline: str
    problems: int
    across: tuple[str, ...]
    pipelines: tuple[PipelineComparison, ...]
    rules: tuple[RuleShift, ...]
    warnings: tuple[str, ...]


def differing_fields(first: Run, second: Run, task: str) -> dict[str, tuple[str, str]]:
    """Name the fields in which two runs of a task differ; a field that one run does not know is left out."""
    a, b = first.facts.request_of(task), second.facts.request_of(task)
    for run, fields in ((first, a), (second, b)):
        found = next(verdict for verdict in run.verdicts if verdict.task == task)
        fields.update({"version": found.version, "task_digest": found.task_digest})
    return {name: (a[name], b[name]) for name in a if a[name] and b.get(name) and a[name] != b[name]}


def refuse_unnamed(first: Run, second: Run, task: str, across: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Raise UsageFault for a difference that the user did not name; give the differing fields."""
    differing = differing_fields(first, second, task)
    allowed = {*across, *(field for name in across for field in FOLLOWS.get(name, ()))}
    # A digest over the request differs whenever a named field does: alone it is told, else the field is.
    named = [name for name in differing if name not in allowed]
    if not named:
        return differing
    if set(named) == {"request"} and any(name in differing for name in allowed):
        return differing
    leading = min(
        named, key=lambda name: (name not in FOLLOWS, list(FOLLOWS).index(name) if name in FOLLOWS else 0)
    )
    values = " and ".join(value[:40] for value in differing[leading])
    hint = "grader" if leading in ("task_digest", "version") else leading
    raise UsageFault(
        f"{task}: the runs differ in {leading} ({values}): say --across {hint} if that is what you compare"
    )


def shared_task(first: Run, second: Run, task: str) -> str:
    """Choose the task that both runs have; raises UsageFault where there is none, or more than one."""
    both = [name for name in first.tasks if name in second.tasks]
    if task and task in both:
        return task
    if task or not both:
        theirs = f"{first.label} has {', '.join(first.tasks)}; {second.label} has {', '.join(second.tasks)}"
        raise UsageFault(
            f"no task {task!r} in both runs: {theirs}" if task else f"no task in common: {theirs}"
        )
    if len(both) > 1:
        raise UsageFault(f"both runs have {', '.join(both)}: choose one with --task")
    return both[0]


def check_same_problems(first: Iterable[Verdict], second: Iterable[Verdict]) -> None:
    """Raise UsageFault where a problem's rows have another hash in the second run: other data."""
    hashes = {verdict.problem: verdict.row_hash for verdict in first}
    for verdict in second:
        known = hashes.get(verdict.problem)
        if known and verdict.row_hash and known != verdict.row_hash:
            raise UsageFault(
                f"{verdict.problem} is not the same problem in both runs: row hash {known[:19]} and "
                f"{verdict.row_hash[:19]}"
            )


def compare_runs(
    first: Run,
    second: Run,
    generator: np.random.Generator,
    *,
    task: str = "",
    across: Sequence[str] = (),
    settle: float | None = None,
) -> Comparison:
    """Compare two runs on the problems of one task, pipeline by pipeline.

    ``across`` names the fields in which the runs may differ; ``settle`` a difference (a share) to plan for.
    Raises UsageFault for runs that cannot be compared.
    """
    task = shared_task(first, second, task)
    differing = refuse_unnamed(first, second, task, across)
    a = [verdict for verdict in first.verdicts if verdict.task == task]
    b = [verdict for verdict in second.verdicts if verdict.task == task]
    check_same_problems(a, b)
    ours, theirs = by_pipeline(a), by_pipeline(b)
    names = [name for name in pipeline_order(ours) if name in theirs]
    if not names:
        raise UsageFault(f"{task}: no pipeline in common: {', '.join(ours)} and {', '.join(theirs)}")
    made = [compare_verdicts(name, ours[name], theirs[name], generator, settle) for name in names]
    headline = headline_of(names)
    rules = _rule_shift(ours[headline], theirs[headline])
    return Comparison(
        first=first.label,
        second=second.label,
        task=task,
        version=a[0].version,
        headline=headline,
        problems=next(one.difference.problems for one in made if one.pipeline == headline),
        across=tuple(sorted(differing)),
        pipelines=tuple(made),
        rules=rules,
        warnings=tuple(_warnings(ours[headline], theirs[headline], rules)),
    )


def compare_pipelines(
    run: Run, pair: tuple[str, str], generator: np.random.Generator, task: str = ""
) -> Comparison:
    """Compare two graders on the same replies of one run."""
    task = shared_task(run, run, task)
    grouped = by_pipeline(verdict for verdict in run.verdicts if verdict.task == task)
    for name in pair:
        if name not in grouped:
            raise UsageFault(f"{run.label}: no pipeline {name!r}, but {', '.join(grouped)}")
    made = compare_verdicts(" → ".join(pair), grouped[pair[0]], grouped[pair[1]], generator, None)
    version = grouped[pair[0]][0].version
    return Comparison(
        pair[0], pair[1], task, version, made.pipeline, made.difference.problems, ("grader",), (made,), (), ()
    )


def compare_verdicts(
    name: str,
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    generator: np.random.Generator,
    settle: float | None,
) -> PipelineComparison:
    """Compare two sets of verdicts on the problems that both have."""
    counts = counts_of(first), counts_of(second)
    a, b = shares_of(counts[0]), shares_of(counts[1])
    both = [problem for problem in a if problem in b]
    if not both:
        raise UsageFault(f"{name}: no problem has a verdict in both")
    one, two = [a[problem] for problem in both], [b[problem] for problem in both]
    planned = None
    if settle is not None:
        within = sum(split_variance([count[problem] for problem in both]).within_problems for count in counts)
        samples = min(min(count[problem][0] for problem in both) for count in counts)
        planned = power(one, two, samples, settle, within=within)
    return PipelineComparison(
        pipeline=name,
        difference=paired_difference(one, two, generator),
        won_by_first=tuple(problem for problem in both if a[problem] > b[problem]),
        won_by_second=tuple(problem for problem in both if b[problem] > a[problem]),
        power=planned,
    )


def _rule_shift(first: Sequence[Verdict], second: Sequence[Verdict]) -> tuple[RuleShift, ...]:
    a, b = Counter(verdict.rule for verdict in first), Counter(verdict.rule for verdict in second)
    if set(a) == {GIVEN} or set(b) == {GIVEN}:
        return ()
    made = [RuleShift(rule, a[rule] / len(first), b[rule] / len(second)) for rule in {**a, **b}]
    return tuple(sorted(made, key=lambda shift: (-abs(shift.second - shift.first), shift.rule)))


def _warnings(
    first: Sequence[Verdict], second: Sequence[Verdict], rules: Sequence[RuleShift]
) -> Iterable[str]:
    moved = sum(abs(shift.second - shift.first) for shift in rules) / 2
    if moved >= RULE_MIX_POINTS:
        top = rules[0]
        yield (
            f"the mix of extraction rules moved by {100 * moved:.0f} points of the replies (most: "
            f"{top.rule}, {100 * top.first:.0f}% to {100 * top.second:.0f}%): a part of the difference "
            "may be format, not skill"
        )
    for what, hit in (("truncated", "yes"), ("likely truncated", "likely")):
        cut = [sum(verdict.truncated == hit for verdict in side) / len(side) for side in (first, second)]
        if abs(cut[1] - cut[0]) >= RULE_MIX_POINTS:
            shares = f"{100 * cut[0]:.0f}% to {100 * cut[1]:.0f}%"
            yield f"{what} replies went from {shares}: a part may be the token limit"
    a = {verdict.problem for verdict in first}
    b = {verdict.problem for verdict in second}
    if a != b:
        some = ", ".join(sorted(a ^ b)[:LISTED_PROBLEMS])
        yield f"{len(a ^ b)} problems are in one run only and left out, such as {some}"
    isolation = [sorted({verdict.isolation for verdict in side}) for side in (first, second)]
    if isolation[0] != isolation[1]:
        yield f"the isolation differs: {', '.join(isolation[0])} and {', '.join(isolation[1])}"
