"""The records of a run's summary: every number that the report prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .paired import Difference
from .statistics import Interval, VarianceSplit


@dataclass(frozen=True)
class Group:
    """The score of the problems of one subject or one level."""

    name: str
    problems: int
    pass_at_1: Interval


@dataclass(frozen=True)
class Solved:
    """How many problems are solved by all, by some and by none of their samples."""

    always: int
    sometimes: int
    never: int


@dataclass(frozen=True)
class PipelineSummary:
    """One pipeline's numbers. Replies without a verdict of the model's are in none of the scores.

    ``pass_at[k - 1]`` and ``pass_hat[k - 1]`` are pass@k and pass^k; ``samples`` is the smallest n.
    ``by_sample`` takes each sample index as one run. ``over_163`` leaves out the problem that EvalPlus passes
    nobody on.
    """

    pipeline: str
    problems: int
    replies: int
    samples: int
    passed: int
    pass_at: tuple[Interval, ...]
    pass_hat: tuple[Interval, ...]
    over_163: Interval | None
    verdicts: Mapping[str, int]
    no_answer: int
    no_program: int
    limits: int
    harness_errors: int
    not_graded: int
    near_limit: int
    adjudicated_passes: int
    evalplus_cuts: int
    solved: Solved
    by_sample: tuple[float, ...]
    variance: VarianceSplit
    groups: Mapping[str, tuple[Group, ...]]


@dataclass(frozen=True)
class Step:
    """One rung of the ladder: the same problems under two pipelines."""

    first: str
    second: str
    difference: Difference


@dataclass(frozen=True)
class RuleCount:
    """How often one extraction rule fired, and how many of those replies the headline pipeline accepted."""

    rule: str
    replies: int
    accepted: int


@dataclass(frozen=True)
class TaskSummary:
    """All numbers of one task of one run; ``notes`` are what a reader of the score must know."""

    task: str
    version: str
    task_digest: str
    request_digest: str
    isolation: str
    headline: str
    problems: int
    samples: int
    pipelines: tuple[PipelineSummary, ...]
    steps: tuple[Step, ...]
    rules: tuple[RuleCount, ...]
    truncated: Mapping[str, int]
    notes: tuple[str, ...]

    def pipeline(self, name: str) -> PipelineSummary:
        """Give one pipeline's summary."""
        return next(one for one in self.pipelines if one.pipeline == name)


@dataclass(frozen=True)
class RunSummary:
    """All tasks of one run."""

    label: str
    model: str
    files: tuple[str, ...]
    notes: tuple[str, ...]
    tasks: tuple[TaskSummary, ...]
