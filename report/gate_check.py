"""A baseline and a run in; for each pipeline whether it got worse by more than is allowed, out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .baseline import Baseline, TaskBaseline, task_baseline
from .faults import UsageFault
from .paired import Difference, paired_difference
from .read_run import Run, by_pipeline
from .run_facts import FOLLOWS
from .summary import counts_of, shares_of
from .verdicts import HARNESS_ERROR, NOT_GRADED, Verdict, headline_of

LISTED = 5


@dataclass(frozen=True)
class Check:
    """One pipeline of one task against the baseline.

    ``failed`` where the loss is more than allowed and the one-sided paired test finds one at level
    ``alpha``; alpha 1 judges by points alone.
    """

    task: str
    pipeline: str
    difference: Difference
    allowed: float
    alpha: float
    failed: bool
    lost: tuple[str, ...]
    gained: tuple[str, ...]

    @property
    def loss(self) -> float:
        """Give the loss as a share; negative where the run is better."""
        return -self.difference.change.value


def check_run(
    baseline: Baseline,
    run: Run,
    generator: np.random.Generator,
    *,
    allowed: float = 0.0,
    alpha: float = 0.05,
    pipelines: Sequence[str] = (),
    across: Sequence[str] = (),
) -> list[Check]:
    """Compare each task of the baseline with the run; ``allowed`` is a share, 0.01 is one point.

    ``pipelines`` names what is checked; empty means each task's headline pipeline. Raises UsageFault ("cannot
    compare") for another task, version, request or data, missing problems, harness errors, replies that are
    not graded, and near-limit verdicts under different machine factors.
    """
    checks = []
    for task, stored in baseline.tasks.items():
        verdicts = [verdict for verdict in run.verdicts if verdict.task == task]
        if not verdicts:
            raise _cannot(f"the baseline is of {task}, the run has {', '.join(run.tasks)}")
        _check_same(task, stored, task_baseline(run, task), across)
        grouped = by_pipeline(verdicts)
        for name in pipelines or [headline_of(stored.scores)]:
            if name not in stored.scores or name not in grouped:
                known = ", ".join(sorted({*stored.scores} & {*grouped}))
                raise _cannot(f"{task}: no pipeline {name!r} in both; both have {known or 'none'}")
            checks.append(_check(task, name, stored, grouped[name], generator, allowed, alpha))
    return checks


def _cannot(why: str) -> UsageFault:
    return UsageFault(f"cannot compare: {why}")


def _check_same(task: str, stored: TaskBaseline, ours: TaskBaseline, across: Sequence[str]) -> None:
    allowed = {*across, *(field for name in across for field in FOLLOWS.get(name, ()))}
    if stored.version != ours.version and "version" not in allowed:
        versions = f"version {stored.version} in the baseline, {ours.version} in the run"
        raise _cannot(f"{task}: {versions} (--across version)")
    if stored.task_digest != ours.task_digest and "task_digest" not in allowed:
        raise _cannot(
            f"{task}: task digest {stored.task_digest[:19]} in the baseline, {ours.task_digest[:19]} in the "
            "run (--across version)"
        )
    both = [name for name in stored.request if name in ours.request]
    differing = [name for name in both if stored.request[name] != ours.request[name] and name not in allowed]
    if differing and set(differing) != {"request"}:
        differing = [name for name in differing if name != "request"]
    if differing:
        name = differing[0]
        values = f"{stored.request[name][:40]} in the baseline, {ours.request[name][:40]} in the run"
        raise _cannot(f"{task}: {name} is {values} (--across {name})")
    other = [name for name, known in stored.row_hashes.items() if ours.row_hashes.get(name, known) != known]
    if other:
        raise _cannot(
            f"{task}: other data: {_some(other)} {'has' if len(other) == 1 else 'have'} another row hash"
        )


def _some(names: Sequence[str]) -> str:
    rest = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _check(
    task: str,
    name: str,
    stored: TaskBaseline,
    verdicts: Sequence[Verdict],
    generator: np.random.Generator,
    allowed: float,
    alpha: float,
) -> Check:
    check_graded(task, name, verdicts)
    _check_limits(task, name, stored, verdicts)
    old = {problem: passed / samples for problem, (samples, passed) in stored.scores[name].items()}
    new = shares_of(counts_of(verdicts))
    missing = [problem for problem in old if problem not in new]
    added = [problem for problem in new if problem not in old]
    if missing or added:
        what = f"lacks {_some(missing)}" if missing else f"has {_some(added)}, which the baseline lacks"
        raise _cannot(f"{task}, {name}: the run {what}")
    order = sorted(old, key=natural_order)
    made = paired_difference([old[p] for p in order], [new[p] for p in order], generator)
    failed = -made.change.value > allowed + 1e-12 and (alpha == 1 or made.p_loss < alpha)
    lost = tuple(problem for problem in order if new[problem] < old[problem])
    gained = tuple(problem for problem in order if new[problem] > old[problem])
    return Check(task, name, made, allowed, alpha, failed, lost, gained)


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort HumanEval/9 before HumanEval/10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def check_graded(task: str, name: str, verdicts: Sequence[Verdict]) -> None:
    """Raise UsageFault where a reply has no verdict of the model's."""
    for kind, words in ((HARNESS_ERROR, "harness errors"), (NOT_GRADED, "replies that are not graded")):
        hit = [verdict.problem for verdict in verdicts if verdict.verdict == kind]
        if hit:
            raise _cannot(f"{task}, {name}: {len(hit)} {words} ({_some(hit)})")


def _check_limits(task: str, name: str, stored: TaskBaseline, verdicts: Sequence[Verdict]) -> None:
    near = [verdict for verdict in verdicts if verdict.near_limit]
    factors = {verdict.factor for verdict in verdicts}
    if (near or stored.near_limit) and factors != set(stored.factors):
        raise _cannot(
            f"{task}, {name}: {len(near) or stored.near_limit} verdicts near a limit, under machine factor "
            f"{_factors(stored.factors)} in the baseline and {_factors(sorted(factors))} in the run"
        )


def _factors(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
