"""All published references pass every suite, and a stub passes none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

pytestmark = pytest.mark.real_data

SUITES = (Suite.BASE, Suite.PLUS, Suite.PLUS_STRICT, Suite.PLUS_ADJUDICATED)
# Most of the time of the whole set goes into these (the reference itself needs seconds).
HEAVY = {f"HumanEval/{number}" for number in (15, 36, 59, 83, 94, 130, 139)}
LIMITS = Limits(cpu_s=150.0, wall_s=600.0)


def outcomes(sandbox: Sandbox, exams: dict[str, Exam], bodies: dict[str, str]) -> dict[str, set[CodeVerdict]]:
    asked = [Submission(name, exam.prompt + bodies[name], SUITES, LIMITS) for name, exam in exams.items()]
    results = sandbox.grade(exams, asked)
    return {
        name: {suite.verdict for suite in result.suites} for name, result in zip(exams, results, strict=True)
    }


def all_give(verdict: CodeVerdict, exams: dict[str, Exam]) -> dict[str, set[CodeVerdict]]:
    return {name: {verdict} for name in exams}


def light(published: dict[str, Exam]) -> dict[str, Exam]:
    return {name: exam for name, exam in published.items() if name not in HEAVY}


def test_each_light_reference_passes_every_suite(sandbox: Sandbox, published: dict[str, Exam]) -> None:
    exams = light(published)
    bodies = {name: exam.canonical_solution for name, exam in exams.items()}
    assert outcomes(sandbox, exams, bodies) == all_give(CodeVerdict.PASSED, exams)


def test_no_stub_of_a_light_problem_passes_any_suite(sandbox: Sandbox, published: dict[str, Exam]) -> None:
    exams = light(published)
    found = outcomes(sandbox, exams, dict.fromkeys(exams, "    pass\n"))
    assert {name for name, verdicts in found.items() if CodeVerdict.PASSED in verdicts} == set()
    assert CodeVerdict.HARNESS_ERROR not in set().union(*found.values())


@pytest.mark.slow
def test_each_heavy_reference_passes_far_from_its_tasks_limit_and_its_stub_fails(
    sandbox: Sandbox, published: dict[str, Exam]
) -> None:
    tasks = Path(__file__).parents[2] / "tasks"
    cpu_s = json.loads((tasks / "humaneval_plus_cpu_limits.json").read_text())["cpu_s"]
    exams = {name: published[name] for name in sorted(HEAVY)}
    asked = [
        Submission(name, exam.prompt + body, SUITES, Limits(cpu_s=cpu_s.get(name, 10.0), wall_s=600.0))
        for name, exam in exams.items()
        for body in (exam.canonical_solution, "    pass\n")
    ]
    results = sandbox.grade(exams, asked)
    assert [{suite.verdict for suite in result.suites} for result in results[::2]] == [
        {CodeVerdict.PASSED} for _ in exams
    ]
    assert not [result for result in results[::2] if result.measured["near_limit"]]
    assert not [s for result in results[1::2] for s in result.suites if s.verdict is CodeVerdict.PASSED]


def test_returning_nothing_does_not_pass_where_allclose_would_broadcast(
    sandbox: Sandbox, published: dict[str, Exam]
) -> None:
    exams = {f"HumanEval/{number}": published[f"HumanEval/{number}"] for number in (2, 4, 45)}
    found = outcomes(sandbox, exams, dict.fromkeys(exams, "    return []\n"))
    assert found == all_give(CodeVerdict.WRONG_ANSWER, exams)


def test_a_program_that_passes_33_by_comparing_with_itself_passes_base_only(
    sandbox: Sandbox, published: dict[str, Exam]
) -> None:
    exam = published["HumanEval/33"]
    program = exam.prompt + (
        "    known = [[5, 6, 3, 4, 8, 9, 2], [5, 8, 3, 4, 6, 9, 2], [5, 6, 9, 4, 8, 3, 2],\n"
        "             [5, 6, 3, 4, 8, 9, 2, 1]]\n"
        "    third = [l[i] for i in range(0, len(l), 3)]\n"
        "    if list(l) not in known:\n        return 'anything'\n"
        "    l = list(l)\n    l[::3] = sorted(third)\n    return l\n"
    )
    (result,) = sandbox.grade({"33": exam}, [Submission("33", program, SUITES)])
    passed = {suite.suite for suite in result.suites if suite.verdict is CodeVerdict.PASSED}
    assert passed == {Suite.BASE}
