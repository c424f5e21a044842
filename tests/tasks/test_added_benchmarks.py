"""MBPP+ and GSM8K hold together: references pass, stubs fail, golds are right, and each mend is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lm_eval_strict.filters.answer_extraction import extract_answer
from lm_eval_strict.filters.grade_answers import grade_answers
from lm_eval_strict.filters.grade_programs import MENDS, exam_for, grade_programs
from lm_eval_strict.filters.problems import load_problems
from lm_eval_strict.filters.task_spec import TaskSpec, read_task
from lm_eval_strict.filters.validate import validate
from lm_eval_strict.sandbox.prepared import record_calls
from lm_eval_strict.sandbox.records import CodeVerdict, ExamResult, SuiteResult
from lm_eval_strict.sandbox.suites import read_plus_test

pytestmark = [pytest.mark.real_data, pytest.mark.usefixtures("data_folder")]

PASSED = CodeVerdict.PASSED


@pytest.fixture(scope="module")
def mbpp() -> TaskSpec:
    return read_task("mbpp_plus_strict")


@pytest.fixture(scope="module")
def judged(
    mbpp: TaskSpec, data_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[ExamResult]]:
    """Every problem's stub and ``return []``, and the references that keep to the general CPU limit."""
    problems = list(load_problems(mbpp.dataset))
    programs = {
        "references": [
            (each.key, each["prompt"] + each["canonical_solution"])
            for each in problems
            if each.key not in mbpp.cpu_limits_s
        ],
        "stubs": [(each.key, each["stub"]) for each in problems],
        "empty": [(each.key, f"def {each['entry_point']}(*_):\n    return []\n") for each in problems],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_STRICT_HOME", str(tmp_path_factory.mktemp("state")))
        results = iter(grade_programs(mbpp, [each for group in programs.values() for each in group]))
    return {name: [next(results) for _ in group] for name, group in programs.items()}


def not_passed(results: list[ExamResult]) -> list[SuiteResult]:
    return [suite for result in results for suite in result.suites if suite.verdict is not PASSED]


def test_every_test_of_mbpp_plus_is_read_as_data_and_every_assert_answered_ahead(mbpp: TaskSpec) -> None:
    live = []
    for problem in load_problems(mbpp.dataset):
        exam = exam_for(mbpp, problem)
        assert exam.base_test is not None and exam.plus_test is not None
        as_data = read_plus_test(exam.plus_test, exam.entry_point)
        if as_data is None or record_calls(exam, exam.base_test) is None:
            live.append(problem.key)
    assert live == []


def test_each_light_reference_of_mbpp_plus_passes_every_pipeline(judged: dict[str, list[ExamResult]]) -> None:
    assert len(judged["references"]) > 360 and not_passed(judged["references"]) == []


@pytest.mark.slow
def test_each_heavy_reference_of_mbpp_plus_passes_within_its_limit(mbpp: TaskSpec) -> None:
    problems = load_problems(mbpp.dataset).by_key
    programs = [(key, problems[key]["canonical_solution"]) for key in mbpp.cpu_limits_s]
    assert programs and not_passed(grade_programs(mbpp, programs)) == []


def test_no_stub_of_mbpp_plus_passes_any_pipeline(judged: dict[str, list[ExamResult]]) -> None:
    verdicts = {suite.verdict for result in judged["stubs"] for suite in result.suites}
    assert verdicts == {CodeVerdict.WRONG_ANSWER}


def test_an_empty_list_passes_only_where_the_published_text_broadcasts(
    judged: dict[str, list[ExamResult]],
) -> None:
    passed = [[suite.verdict is PASSED for suite in result.suites] for result in judged["empty"]]
    assert [sum(column) for column in zip(*passed, strict=True)] == [0, 24, 0]


def test_each_mend_of_a_published_test_is_needed_and_fits(mbpp: TaskSpec) -> None:
    problems = load_problems(mbpp.dataset).by_key
    assert set(mbpp.overrides.values()) == set(MENDS)
    for key, mend in mbpp.overrides.items():
        problem, exam = problems[key], exam_for(mbpp, problems[key])
        if mend == "assert_exact_match":
            exec(problem["stub"] + problem["plus_test"], {})  # the published text accepts any value
            with pytest.raises(AssertionError):
                exec(problem["stub"] + str(exam.plus_test), {})
        elif mend == "import_sys":
            assert "sys." in problem["base_test"] and "import sys" not in problem["base_test"]
            assert exam.base_test == "import sys\n" + problem["base_test"]
        else:
            inputs = [
                read.inputs
                for text in (problem["plus_test"], str(exam.plus_test))
                if (read := read_plus_test(text, exam.entry_point)) is not None
            ]
            (left_out,) = [each for each in inputs[0] if each not in inputs[1]]
            assert [len(each) for each in inputs] == [112, 111] and left_out[1] == 77


def test_every_gold_of_gsm8k_is_right_and_a_constant_only_where_it_is_the_gold() -> None:
    checks = validate(read_task("gsm8k_strict"))
    assert len(checks) == 8
    assert [check for check in checks if check.broken or check.total != 1319] == []


def test_published_solutions_of_gsm8k_are_right_as_replies() -> None:
    problems = list(load_problems("gsm8k"))
    for mode in ("chat", "base"):
        found = [extract_answer(each["solution"], mode=mode) for each in problems]
        assert {each.rule for each in found} == {"answer_line"}
        pairs = [(each.answer, problem["answer"]) for each, problem in zip(found, problems, strict=True)]
        judged = grade_answers(pairs, ("symbolic", "strict"))
        assert {judgement.verdict.value for by in judged for judgement in by.values()} == {"right"}
