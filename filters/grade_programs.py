"""Programs and their problems in, exam results out; each program is run once for all pipelines."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from lm_eval_strict.sandbox.records import (
    CodeVerdict,
    Exam,
    ExamResult,
    Isolation,
    Limits,
    Quirk,
    Submission,
    Suite,
    SuiteResult,
)

from .problems import Problem, load_problems
from .task_spec import TaskSpec, data_sets, read_task
from .versions import suite as suite_of

if TYPE_CHECKING:
    from lm_eval_strict.sandbox.session import Sandbox

MENDS = {
    "assert_exact_match": (
        "plus_test",
        r"^        exact_match = exp == \(out is not None\)$",
        r"\g<0>\n    assert exact_match",
    ),
    "import_sys": ("base_test", r"\A", "import sys\n"),
    "without_largest_input": ("plus_test", r", \[\[(?:[^][,]+, ){4}[^][,]+\], 77\]", ""),
}
"""Overrides that mend a published test: which test, what in its text, and what stands there instead."""

ResultKey = tuple[str, str, str, str]


class _Results:
    """The exam results of this process, kept so that pipelines and equal programs share one run."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.by_key: dict[ResultKey, ExamResult] = {}


_results = _Results()


def forget_results() -> None:
    """Drop the results that this process keeps: for a process that outlives the runs it grades for."""
    with _results.lock:
        _results.by_key.clear()


def exam_for(spec: TaskSpec, problem: Problem) -> Exam:
    """Return the examiner's side of ``problem`` as the task ``spec`` judges it."""
    tests = _tests(spec, problem)
    return Exam(
        exam_id=problem.row_hash,
        task_id=problem.key,
        entry_point=problem["entry_point"],
        prompt=problem["prompt"],
        canonical_solution=problem["canonical_solution"],
        base_test=tests["base_test"],
        plus_test=tests["plus_test"],
        quirks=tuple(
            Quirk(quirk["input"], quirk["careful_output"], quirk["kind"])
            for quirk in spec.quirks
            if quirk["task_id"] == problem.key and quirk["input"]
        ),
    )


def _tests(spec: TaskSpec, problem: Problem) -> dict[str, str | None]:
    """Return both tests of a problem as the task's overrides have them; None for one that does not exist."""
    base = load_problems(data_sets(spec.dataset)[-1]).by_key[problem.key]
    tests: dict[str, str | None] = {
        "base_test": base["base_test"],
        "plus_test": problem.fields.get("plus_test"),
    }
    override = spec.overrides.get(problem.key)
    if override == Suite.BASE.value:
        return tests | {"plus_test": None}
    if override is not None:
        name, pattern, replacement = MENDS[override]
        tests[name] = re.sub(pattern, replacement, str(tests[name]), count=1, flags=re.MULTILINE)
    return tests


def suites_of(spec: TaskSpec) -> tuple[Suite, ...]:
    """Return the suite of each pipeline of ``spec``, in the version that it asks for, in their order."""
    return tuple(suite_of(name, version) for name, version in spec.versions.items())


def limits_for(spec: TaskSpec, key: str) -> Limits:
    """Return what one sample of the problem ``key`` may use; wall clock is a loose backstop over CPU time."""
    cpu_s = float(spec.cpu_limits_s.get(key, Limits().cpu_s))
    return Limits(cpu_s=cpu_s, wall_s=max(Limits().wall_s, 3 * cpu_s))


def grade_programs(
    task: str | TaskSpec,
    programs: Sequence[tuple[str, str | None]],
    *,
    isolation: Isolation = Isolation.FULL,
    workers: int | None = None,
    sandbox: Sandbox | None = None,
    on_result: Callable[[int, ExamResult], None] | None = None,
) -> list[ExamResult]:
    """Judge each program by every pipeline of the code task ``task``, in the sandbox, in parallel.

    ``programs`` are pairs (problem's identifier, program); a program of None is a reply without one. Returns
    one result per program, in order. ``workers`` None means one per usable CPU. ``sandbox``
    is one that is kept warm between calls, in place of one of this call's own. ``on_result`` is called with
    the index and the result of each program as it is there. Equal programs for one problem are run once.
    Raises ``SandboxUnavailable`` where the machine cannot give ``isolation``.
    """
    spec = task if isinstance(task, TaskSpec) else read_task(task)
    problems = load_problems(spec.dataset).by_key
    keys = [_result_key(spec, problems[key], program, isolation) for key, program in programs]
    found: dict[ResultKey, ExamResult] = {}
    waiting: dict[ResultKey, list[int]] = {}
    for index, ((problem_key, program), key) in enumerate(zip(programs, keys, strict=True)):
        if program is None:
            found[key] = no_program(spec, problem_key, isolation)
        elif key in _results.by_key:
            found[key] = _results.by_key[key]
        else:
            waiting.setdefault(key, []).append(index)
            continue
        if on_result is not None:
            on_result(index, found[key])
    if waiting:
        found.update(_run(spec, programs, waiting, isolation, workers, sandbox, on_result))
    return [found[key] for key in keys]


def _run(
    spec: TaskSpec,
    programs: Sequence[tuple[str, str | None]],
    waiting: Mapping[ResultKey, list[int]],
    isolation: Isolation,
    workers: int | None,
    kept: Sandbox | None,
    on_result: Callable[[int, ExamResult], None] | None,
) -> dict[ResultKey, ExamResult]:
    from lm_eval_strict.sandbox.session import Sandbox

    problems = load_problems(spec.dataset).by_key
    suites = suites_of(spec)
    unique = [programs[indices[0]] for indices in waiting.values()]
    exams = {problems[key].row_hash: exam_for(spec, problems[key]) for key, _ in unique}
    submissions = [
        Submission(problems[key].row_hash, str(program), suites, limits_for(spec, key))
        for key, program in unique
    ]
    result_keys = list(waiting)

    def on_submission(number: int, result: ExamResult) -> None:
        if all(suite.verdict is not CodeVerdict.HARNESS_ERROR for suite in result.suites):
            with _results.lock:
                _results.by_key[result_keys[number]] = result
        if on_result is not None:
            for index in waiting[result_keys[number]]:
                on_result(index, result)

    with nullcontext(kept) if kept else Sandbox(isolation=isolation, workers=workers) as sandbox:
        results = sandbox.grade(exams, submissions, on_result=on_submission)
    return dict(zip(result_keys, results, strict=True))


def _result_key(spec: TaskSpec, problem: Problem, program: str | None, isolation: Isolation) -> ResultKey:
    program_hash = hashlib.sha256((program or "").encode("utf-8", "surrogatepass")).hexdigest()
    program_hash = "none" if program is None else program_hash
    return (spec.digest, problem.row_hash, program_hash, isolation.value)


def no_program(spec: TaskSpec, key: str, isolation: Isolation) -> ExamResult:
    """Return the result of a reply that hands in no program: nothing was run."""
    judged = tuple(SuiteResult(suite, CodeVerdict.NO_PROGRAM) for suite in suites_of(spec))
    return ExamResult(judged, isolation, limits_for(spec, key))
