"""A task in, the checks that its graders and its data hold together out: no model is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lm_eval_strict.sandbox.records import Isolation

from .grading import Graded, extract, grade
from .problems import Problem, load_problems
from .replies import Reply
from .rows import PASSING
from .task_spec import TaskSpec

CONSTANT_ANSWER = "2"
"""An answer that must be right exactly where it is the published one."""


@dataclass(frozen=True)
class Check:
    """One invariant of one pipeline: how many of ``total`` problems hold it, and which do not."""

    task: str
    pipeline: str
    promise: str
    held: int
    total: int
    broken: tuple[str, ...]


def validate(
    spec: TaskSpec,
    *,
    isolation: Isolation = Isolation.FULL,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[Check]:
    """Return the checks of ``spec``, for each pipeline.

    Code: every reference solution passes, every stub fails. Math: every gold is right against itself, and a
    constant answer exactly where it is the gold.
    """
    problems = list(load_problems(spec.dataset))
    grade_all = _Grader(spec, isolation, workers, on_done)
    if spec.kind == "code":
        return [
            *grade_all("reference passes", problems, [_reference(each) for each in problems], lambda _: True),
            *grade_all("stub fails", problems, [_stub(each) for each in problems], lambda _: False),
        ]
    golds = [each["answer"] for each in problems]
    return [
        *grade_all("gold is right against itself", problems, golds, lambda _: True),
        *grade_all(
            f"constant answer {CONSTANT_ANSWER} is right only where it is the gold",
            problems,
            [CONSTANT_ANSWER] * len(problems),
            lambda each: each["answer"] == CONSTANT_ANSWER,
        ),
    ]


@dataclass(frozen=True)
class _Grader:
    spec: TaskSpec
    isolation: Isolation
    workers: int | None
    on_done: Callable[[int], None] | None

    def __call__(
        self,
        promise: str,
        problems: Sequence[Problem],
        submitted: Sequence[str],
        should_pass: Callable[[Problem], bool],
    ) -> list[Check]:
        given = "program" if self.spec.kind == "code" else "answer"
        replies = [
            Reply(id=each.key, key=each.key, **{given: text})  # type: ignore[arg-type]
            for each, text in zip(problems, submitted, strict=True)
        ]
        graded = [extract(self.spec, reply, isolation=self.isolation) for reply in replies]
        grade(self.spec, graded, isolation=self.isolation, workers=self.workers, on_done=self.on_done)
        return [
            self._check(promise, pipeline, problems, graded, should_pass) for pipeline in self.spec.pipelines
        ]

    def _check(
        self,
        promise: str,
        pipeline: str,
        problems: Sequence[Problem],
        graded: Sequence[Graded],
        should_pass: Callable[[Problem], bool],
    ) -> Check:
        broken = tuple(
            f"{problem.key} ({one.rows[pipeline]['verdict']})"
            for problem, one in zip(problems, graded, strict=True)
            if (one.rows[pipeline]["verdict"] in PASSING) != should_pass(problem)
            or one.rows[pipeline]["verdict"] == "harness_error"
        )
        total = len(problems)
        return Check(self.spec.name, pipeline, promise, total - len(broken), total, broken)


def _reference(problem: Problem) -> str:
    return str(problem["prompt"] + problem["canonical_solution"])


def _stub(problem: Problem) -> str:
    return str(problem["stub"])
