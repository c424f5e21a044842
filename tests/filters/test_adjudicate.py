"""What a failure on HumanEval+ says: a quirk of the reference, silence of the docstring, time, or a bug."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.filters.adjudicate import FailureClass, adjudicate, adjudicate_rows, count_by_class
from lm_eval_strict.filters.input_domains import DOMAINS, inside_domain
from lm_eval_strict.filters.problems import load_problems

TASKS = Path(__file__).parents[2] / "tasks"
QUIRKS = [
    json.loads(line)
    for line in (TASKS / "humaneval_plus_quirks.jsonl").read_text(encoding="utf-8").splitlines()
]


def _row(pipeline: str, verdict: str, task_id: str = "HumanEval/101", **first: str) -> dict[str, Any]:
    return {
        "task": "humaneval_plus_strict",
        "id": "1",
        "sample": 0,
        "task_id": task_id,
        "pipeline": pipeline,
        "verdict": verdict,
        "detail": "",
        "first_failure": first or None,
    }


def _rows(
    strict: dict[str, Any], adjudicated: dict[str, Any] | None = None, base: str = "passed"
) -> dict[str, Any]:
    rows = {"base": _row("base", base, strict["task_id"]), "plus_strict": strict}
    return rows | ({"plus_adjudicated": adjudicated} if adjudicated else {})


def _class(rows: dict[str, Any]) -> FailureClass | None:
    found = adjudicate(rows, QUIRKS)
    return found.failure_class if found else None


def test_a_failure_that_the_list_explains_is_a_reference_quirk() -> None:
    quirk = next(q for q in QUIRKS if q["task_id"] == "HumanEval/132")
    strict = _row("plus_strict", "wrong_answer", "HumanEval/132", input=quirk["input"][1:-1], got="True")
    found = adjudicate(_rows(strict, _row("plus_adjudicated", "passed", "HumanEval/132")), QUIRKS)
    assert found is not None
    assert (found.failure_class, found.why) == (FailureClass.REFERENCE_QUIRK, quirk["why"])


def test_another_value_on_a_listed_input_is_a_bug() -> None:
    quirk = next(q for q in QUIRKS if q["task_id"] == "HumanEval/132")
    failed = _row("plus_adjudicated", "wrong_answer", "HumanEval/132", input=quirk["input"][1:-1], got="7")
    found = adjudicate(_rows(failed | {"pipeline": "plus_strict"}, failed), QUIRKS)
    assert found is not None
    assert found.failure_class is FailureClass.BUG
    assert found.why.startswith("not the careful value")


def test_a_failure_beside_a_quirk_decides() -> None:
    strict = _row("plus_strict", "wrong_answer", "HumanEval/101", input="'a\\tb'")
    other = _row("plus_adjudicated", "raised", "HumanEval/101", input="'x y'", got="ValueError")
    found = adjudicate(_rows(strict, other), QUIRKS)
    assert found is not None
    assert (found.failure_class, found.input) == (FailureClass.BUG, "'x y'")


def test_a_value_outside_the_docstring_is_told_from_one_inside() -> None:
    outside = _row("plus_strict", "wrong_answer", "HumanEval/42", input="[True, False]")
    inside = _row("plus_strict", "wrong_answer", "HumanEval/42", input="[1, 2]")
    assert _class(_rows(outside)) is FailureClass.OUTSIDE_DOCSTRING
    assert _class(_rows(inside)) is FailureClass.BUG


def test_what_is_left_of_a_shortened_input_is_read() -> None:
    text = "[True, 1, 2, ... (90 in all)]"
    assert (
        _class(_rows(_row("plus_strict", "raised", "HumanEval/42", input=text)))
        is FailureClass.OUTSIDE_DOCSTRING
    )


def test_a_time_limit_is_timed_out_whatever_the_input() -> None:
    strict = _row("plus_strict", "timed_out", "HumanEval/42", input="[True]")
    assert _class(_rows(strict)) is FailureClass.TIMED_OUT


@pytest.mark.parametrize("strict", ["passed", "not_graded", "harness_error"])
def test_no_failure_of_the_program_is_no_class(strict: str) -> None:
    assert _class(_rows(_row("plus_strict", strict))) is None


def test_a_program_that_fails_the_base_test_has_no_class() -> None:
    assert _class(_rows(_row("plus_strict", "wrong_answer"), base="wrong_answer")) is None


def test_rows_of_several_replies_are_told_apart() -> None:
    rows = []
    for reply in ("1", "2"):
        for row in _rows(_row("plus_strict", "wrong_answer", input="'a'")).values():
            rows.append({**row, "id": reply})
    found = adjudicate_rows(rows, QUIRKS)
    assert [name for name, _ in found] == ["1", "2"]
    assert count_by_class(one for _, one in found)["bug"] == 2


def test_every_quirk_states_an_input_with_a_careful_value_or_a_domain() -> None:
    for quirk in QUIRKS:
        assert quirk["why"]
        if quirk["kind"] == "domain":
            assert quirk["domain"] in DOMAINS
        else:
            assert isinstance(ast.literal_eval(quirk["input"]), list)
            ast.literal_eval(quirk["careful_output"])


def test_no_input_is_listed_twice() -> None:
    listed = [(quirk["task_id"], quirk["input"] or quirk["domain"]) for quirk in QUIRKS]
    assert len(listed) == len(set(listed))


@pytest.mark.real_data
def test_every_quirk_names_a_problem_of_the_data_set(data_folder: Path) -> None:
    problems = load_problems("humanevalplus", folder=data_folder).by_key
    assert {quirk["task_id"] for quirk in QUIRKS} <= set(problems)


@given(
    st.sampled_from(sorted(DOMAINS)), st.lists(st.one_of(st.none(), st.booleans(), st.floats(), st.text()))
)
def test_every_domain_decides_on_any_arguments(domain: str, arguments: list[object]) -> None:
    assert inside_domain(arguments, domain) in (True, False)
