"""One program in, the verdict that each suite must give it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.machine import speed_factor
from lm_eval_strict.sandbox.records import (
    CodeVerdict,
    Exam,
    ExamResult,
    Limits,
    Quirk,
    Submission,
    Suite,
    SuiteResult,
)
from lm_eval_strict.sandbox.session import Sandbox

Grade = Callable[..., dict[Suite, SuiteResult]]
MakeExam = Callable[..., Exam]
CASES = Path(__file__).parents[1] / "cases"
RIGHT = "def f(x):\n    return x + 1\n"

ROWS = [json.loads(line) for line in (CASES / "sandbox_verdicts.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_every_suite_gives_the_verdict(grade: Grade, exam_of: MakeExam, row: dict[str, str]) -> None:
    results = grade(exam_of(), row["program"])
    verdict = CodeVerdict(row["verdict"])
    assert {suite: result.verdict for suite, result in results.items()} == dict.fromkeys(Suite, verdict)
    for result in results.values():
        assert (result.tests_passed == result.tests_total) is (verdict is CodeVerdict.PASSED)
        assert "0x" not in str(result.first_failure).replace("0x...", "")


def test_the_first_failing_input_is_told_with_expected_and_got(grade: Grade, exam_of: MakeExam) -> None:
    program = "def f(x):\n    return x + 1 if x != 7 else [x]\n"
    for suite in (Suite.PLUS, Suite.PLUS_STRICT):
        result = grade(exam_of(), program)[suite]
        assert (result.tests_passed, result.tests_total) == (7, 40)
        assert result.first_failure is not None
        told = (result.first_failure.input, result.first_failure.expected, result.first_failure.got)
        assert told == ("7", "8", "[7]")


def test_answers_before_a_hang_are_counted(grade: Grade, exam_of: MakeExam) -> None:
    program = "def f(x):\n    while x == 5: pass\n    return x + 1\n"
    result = grade(exam_of(), program, Suite.PLUS)[Suite.PLUS]
    assert (result.verdict, result.tests_passed) == (CodeVerdict.TIMED_OUT, 5)
    assert result.first_failure is not None and result.first_failure.input == "5"


def test_a_wrong_answer_before_a_hang_is_a_wrong_answer(grade: Grade, exam_of: MakeExam) -> None:
    program = "def f(x):\n    while x == 5: pass\n    return x + 1 if x != 3 else 0\n"
    assert grade(exam_of(), program, Suite.PLUS)[Suite.PLUS].verdict is CodeVerdict.WRONG_ANSWER


def test_a_reused_buffer_is_honest(grade: Grade, exam_of: MakeExam) -> None:
    exam = exam_of(
        lambda x: [x],
        body="    return [x]\n",
        base_test="def check(candidate):\n    assert candidate(1) == [1]\n",
    )
    program = "buffer = []\ndef f(x):\n    buffer[:] = [x]\n    return buffer\n"
    assert {r.verdict for r in grade(exam, program).values()} == {CodeVerdict.PASSED}


def test_changing_an_argument_in_place_changes_no_other_call(grade: Grade, exam_of: MakeExam) -> None:
    exam = exam_of(
        lambda x: sum(x),
        [[[1, 2, 3]], [[1, 2, 3]], [[4]]],
        body="    return sum(x)\n",
        base_test="def check(candidate):\n    xs = [1, 2]\n    assert candidate(xs) == candidate(xs) == 3\n",
    )
    program = "def f(x):\n    total = 0\n    while x:\n        total += x.pop()\n    return total\n"
    assert {r.verdict for r in grade(exam, program).values()} == {CodeVerdict.PASSED}


def test_a_program_that_counts_calls_passes_plus_and_fails_strict(grade: Grade, exam_of: MakeExam) -> None:
    program = "calls = []\ndef f(x):\n    calls.append(x)\n    return len(calls)\n"
    results = grade(exam_of(), program)
    assert results[Suite.PLUS].verdict is CodeVerdict.PASSED
    assert results[Suite.PLUS_STRICT].verdict is CodeVerdict.WRONG_ANSWER
    assert "repeated" in results[Suite.PLUS_STRICT].detail


def test_a_hang_in_a_repeated_call_costs_the_strict_suite_only(grade: Grade, exam_of: MakeExam) -> None:
    program = "seen = set()\ndef f(x):\n    while x in seen: pass\n    seen.add(x)\n    return x + 1\n"
    results = grade(exam_of(), program, Suite.PLUS, Suite.PLUS_STRICT)
    assert results[Suite.PLUS].verdict is CodeVerdict.PASSED
    assert results[Suite.PLUS_STRICT].verdict is CodeVerdict.TIMED_OUT


def test_a_listed_quirk_excuses_its_own_careful_output_only(grade: Grade, exam_of: MakeExam) -> None:
    exam = exam_of(quirks=(Quirk("[3]", "'three'", "reading"), Quirk("[99]", "1", "unused")))
    excused = "def f(x):\n    return 'three' if x == 3 else x + 1\n"
    results = grade(exam, excused)
    assert results[Suite.PLUS].verdict is results[Suite.PLUS_STRICT].verdict is CodeVerdict.WRONG_ANSWER
    assert results[Suite.PLUS_ADJUDICATED].verdict is CodeVerdict.PASSED
    assert results[Suite.PLUS_ADJUDICATED].quirks_used == ("[3]",)
    for other in ("def f(x):\n    return 'four' if x == 3 else x + 1\n", "def f(x):\n    return 'three'\n"):
        assert grade(exam, other)[Suite.PLUS_ADJUDICATED].verdict is CodeVerdict.WRONG_ANSWER


def test_the_reference_needs_no_quirk(grade: Grade, exam_of: MakeExam) -> None:
    result = grade(exam_of(quirks=(Quirk("[3]", "'three'", "reading"),)), RIGHT)[Suite.PLUS_ADJUDICATED]
    assert (result.verdict, result.quirks_used) == (CodeVerdict.PASSED, ())


def test_a_quirk_without_a_single_careful_value_explains_nothing(grade: Grade, exam_of: MakeExam) -> None:
    exam = exam_of(quirks=(Quirk("[3]", "unspecified (outside the domain)", "domain"),))
    assert grade(exam, RIGHT)[Suite.PLUS_ADJUDICATED].verdict is CodeVerdict.PASSED


def test_without_a_plus_test_every_suite_is_the_base_test(grade: Grade, exam_of: MakeExam) -> None:
    results = grade(exam_of(plus=False), RIGHT)
    assert {(r.verdict, r.tests_total) for r in results.values()} == {(CodeVerdict.PASSED, 2)}


def test_a_check_that_compares_a_program_with_itself_does_so_in_base_only(
    grade: Grade, exam_of: MakeExam
) -> None:
    exam = exam_of(plus=False, base_test="def check(candidate):\n    assert candidate(1) == f(1)\n")
    results = grade(exam, "def f(x):\n    return 'self'\n")
    assert results[Suite.BASE].verdict is CodeVerdict.PASSED
    assert results[Suite.PLUS_STRICT].verdict is CodeVerdict.WRONG_ANSWER
    assert grade(exam, RIGHT)[Suite.PLUS_STRICT].verdict is CodeVerdict.PASSED


def test_a_check_that_asks_on_by_what_it_was_told_is_run_live(grade: Grade, exam_of: MakeExam) -> None:
    source = (
        "def check(candidate):\n    x = 0\n    while x < 9:\n        x = candidate(x)\n    assert x < 11\n"
    )
    exam = exam_of(base_test=source)
    assert grade(exam, RIGHT, Suite.BASE)[Suite.BASE].verdict is CodeVerdict.PASSED
    assert grade(exam, "def f(x):\n    return x + 2\n", Suite.BASE)[Suite.BASE].verdict is CodeVerdict.PASSED
    assert (
        grade(exam, "def f(x):\n    return x + 8\n", Suite.BASE)[Suite.BASE].verdict
        is CodeVerdict.WRONG_ANSWER
    )
    gone = "import os\ndef f(x):\n    return x + 2 if x < 4 else os._exit(0)\n"
    assert grade(exam, gone, Suite.BASE)[Suite.BASE].verdict is CodeVerdict.EXITED


def test_a_plus_test_of_unknown_form_is_run_as_it_is(grade: Grade, exam_of: MakeExam) -> None:
    exam = replace(
        exam_of(), plus_test="def check(candidate):\n    assert candidate(2) == 3\n", base_test=None
    )
    assert grade(exam, RIGHT, Suite.PLUS)[Suite.PLUS].verdict is CodeVerdict.PASSED
    assert (
        grade(exam, "def f(x):\n    return 0\n", Suite.PLUS)[Suite.PLUS].verdict is CodeVerdict.WRONG_ANSWER
    )


def test_an_exam_without_any_test_is_our_fault_never_a_pass(grade: Grade, exam_of: MakeExam) -> None:
    results = grade(replace(exam_of(), plus_test=None, base_test=None), RIGHT)
    assert {r.verdict for r in results.values()} == {CodeVerdict.HARNESS_ERROR}


def test_a_broken_exam_is_a_harness_error_and_the_next_exam_is_judged(
    sandbox: Sandbox, exam_of: MakeExam
) -> None:
    exams = {"broken": exam_of(base_test="def chec(:"), "sound": exam_of()}
    asked = [Submission(name, RIGHT, (Suite.BASE,)) for name in ("broken", "sound")]
    verdicts = [result.suites[0].verdict for result in sandbox.grade(exams, asked)]
    assert verdicts == [CodeVerdict.HARNESS_ERROR, CodeVerdict.PASSED]


@pytest.mark.parametrize(
    "answer",
    ["abs(hash('abc')) % 1000 + random.random()", "str(set('abcdefgh'))", "random.sample(range(9), 9)"],
)
def test_equal_runs_of_a_random_program_give_equal_results(
    sandbox: Sandbox, exam_of: MakeExam, answer: str
) -> None:
    program = f"import random\ndef f(x):\n    return {answer}\n"
    submission = Submission("it", program, tuple(Suite), Limits(cpu_s=2.0, wall_s=6.0))
    first, second = (sandbox.grade({"it": exam_of()}, [submission])[0].suites for _ in range(2))
    assert first == second


def test_results_come_in_input_order_and_are_told_as_they_come(sandbox: Sandbox, exam_of: MakeExam) -> None:
    exams = {"a": exam_of(), "b": exam_of(lambda x: x * 2, body="    return x * 2\n")}
    asked = [
        Submission("ab"[n % 2], RIGHT if n % 3 else "def f(x): return x * 2", (Suite.PLUS,))
        for n in range(24)
    ]
    told: dict[int, ExamResult] = {}
    results = sandbox.grade(exams, asked, on_result=told.__setitem__)
    right = [result.suites[0].verdict is CodeVerdict.PASSED for result in results]
    assert right == [(n % 2 == 0) == bool(n % 3) for n in range(24)]
    assert [told[n] for n in range(24)] == results


def test_what_was_measured_stands_apart(sandbox: Sandbox, exam_of: MakeExam) -> None:
    (result,) = sandbox.grade({"it": exam_of()}, [Submission("it", RIGHT, (Suite.PLUS,))])
    assert set(result.measured) == {
        "cpu_s", "wall_s", "memory_mib", "host", "factor", "near_limit", "evalplus_would_time_out",
    }  # fmt: skip
    json.dumps(result.measured)
    assert result.limits == Limits()
    assert result.measured["near_limit"] is False


def test_more_than_half_the_cpu_limit_is_near_it(sandbox: Sandbox, exam_of: MakeExam) -> None:
    busy_s = 1.3 * speed_factor()  # the limit grows with it
    program = (
        "import time\ndef f(x):\n"
        f"    while x == 3 and time.process_time() < {busy_s}: pass\n    return x + 1\n"
    )
    asked = [Submission("it", program, (Suite.PLUS,), Limits(cpu_s=2.0, wall_s=60.0))]
    (result,) = sandbox.grade({"it": exam_of()}, asked)
    assert result.suites[0].verdict is CodeVerdict.PASSED
    assert result.measured["near_limit"] is True


def test_an_unknown_exam_is_the_callers_fault(sandbox: Sandbox) -> None:
    with pytest.raises(KeyError, match="nowhere"):
        sandbox.grade({}, [Submission("nowhere", "", (Suite.BASE,))])
    with pytest.raises(ValueError, match="workers=0"):
        Sandbox(workers=0)
