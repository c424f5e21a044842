"""Exams made up for the tests, the published ones, and one sandbox that the tests share."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.sandbox import suites
from lm_eval_strict.sandbox.errors import SandboxUnavailable
from lm_eval_strict.sandbox.records import Exam, ExamResult, Limits, Quirk, Submission, Suite, SuiteResult
from lm_eval_strict.sandbox.session import Sandbox

SHORT = Limits(cpu_s=2.0, wall_s=6.0)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_STRICT_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def sandbox(state_folder: Path) -> Iterator[Sandbox]:
    with Sandbox(workers=2) as made:
        try:
            made.grade({}, [])
        except SandboxUnavailable as why:
            pytest.skip(f"this machine has no sandbox of level full: {why}")
        yield made


def hub_test(inputs: list[Any], results: list[Any], atol: float = 0) -> str:
    """Write a test in the form of the hub's HumanEval+ rows."""
    return (
        f"import numpy as np\n\n{suites._IS_FLOATS}\n\n{suites._HUMANEVAL_ASSERTION}\n\n"
        f"def check(candidate):\n    inputs = {inputs!r}\n    results = {results!r}\n"
        "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
        f"        assertion(candidate(*inp), exp, {atol!r})\n"
    )


def make_exam(
    reference: Callable[[Any], Any] = lambda x: x + 1,
    inputs: list[Any] | None = None,
    *,
    body: str = "    return x + 1\n",
    base_test: str = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(5) == 6\n",
    atol: float = 0,
    quirks: tuple[Quirk, ...] = (),
    plus: bool = True,
) -> Exam:
    inputs = [[n] for n in range(40)] if inputs is None else inputs
    results = [reference(*arguments) for arguments in inputs]
    return Exam(
        exam_id="made-up",
        task_id="made-up/0",
        entry_point="f",
        prompt="def f(x):\n",
        canonical_solution=body,
        base_test=base_test,
        plus_test=hub_test(inputs, results, atol) if plus else None,
        quirks=quirks,
    )


def grade_one(
    sandbox: Sandbox,
    exam: Exam,
    program: str,
    *suites_asked: Suite,
    limits: Limits = SHORT,
) -> ExamResult:
    submission = Submission("it", program, suites_asked or tuple(Suite), limits)
    return sandbox.grade({"it": exam}, [submission])[0]


@pytest.fixture(scope="session")
def exam_of() -> Callable[..., Exam]:
    return make_exam


@pytest.fixture(scope="session")
def grade(sandbox: Sandbox) -> Callable[..., dict[Suite, SuiteResult]]:
    def graded(exam: Exam, program: str, *asked: Suite, limits: Limits = SHORT) -> dict[Suite, SuiteResult]:
        return {
            result.suite: result for result in grade_one(sandbox, exam, program, *asked, limits=limits).suites
        }

    return graded


@pytest.fixture(scope="session")
def published(data_folder: Path) -> dict[str, Exam]:
    """Every HumanEval problem with both tests; HumanEval/32 by its declared override."""

    def rows(name: str) -> list[dict[str, str]]:
        with gzip.open(data_folder / name, "rt") as lines:
            return [json.loads(line) for line in lines]

    exams = {}
    for base, plus in zip(rows("HumanEval.jsonl.gz"), rows("HumanEvalPlus-OriginFmt.jsonl.gz"), strict=True):
        exams[base["task_id"]] = Exam(
            exam_id=base["task_id"],
            task_id=base["task_id"],
            entry_point=base["entry_point"],
            prompt=plus["prompt"],
            canonical_solution=plus["canonical_solution"],
            base_test=base["test"],
            plus_test=None if base["task_id"] == "HumanEval/32" else plus["test"],
        )
    return exams
