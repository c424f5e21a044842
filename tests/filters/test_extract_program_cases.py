"""Labelled replies: the program that is handed on is the labelled one, and earns the labelled verdict."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.filters.problems import Problems, load_problems
from lm_eval_strict.filters.program_extraction import extract_program
from lm_eval_strict.filters.rows import ExtractedProgram
from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

CASES = Path(__file__).parents[1] / "cases"
FILES = ("code_extract.jsonl", "code_extract_own.jsonl")
# Right programs that are not the labelled text: the other of two alternatives, a docstring or helper more.
OTHER_TEXT = {"ext-049", "ext-112", "ext-154", "ext-166", "ext-224"}


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


def _compared() -> list[dict[str, Any]]:
    return [row for row in _rows(FILES[0]) if row["expected"] == "pass" and row["id"] not in OTHER_TEXT]


def _extract(case: dict[str, Any], problems: Problems) -> ExtractedProgram:
    problem = problems.by_key[case["task_id"]]
    reply = case["reply"].replace("{{PROMPT}}", problem["prompt"])
    return extract_program(
        reply, prompt=problem["prompt"], entry_point=problem["entry_point"], mode=case["mode"]
    )


def _function(program: str | None, name: str) -> str | None:
    """Dump the last definition of ``name`` without docstring, annotations and positions."""
    found: ast.AST | None = None
    for node in ast.walk(ast.parse(program or "")):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            found = node
        elif isinstance(node, ast.Assign) and name in {getattr(t, "id", "") for t in node.targets}:
            return ast.dump(node.value)
    if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    body = found.body[1:] if ast.get_docstring(found) is not None else found.body
    return f"{[a.arg for a in found.args.args]} {[ast.dump(statement) for statement in body]}"


@pytest.mark.real_data
@pytest.mark.parametrize("case", _compared(), ids=lambda case: case["id"])
def test_reply_hands_in_the_function_that_a_reader_takes(case: dict[str, Any], data_folder: Path) -> None:
    problems = load_problems("humaneval", folder=data_folder)
    name = problems.by_key[case["task_id"]]["entry_point"]
    assert _function(_extract(case, problems).program, name) == _function(case["intended"], name)


@pytest.mark.real_data
@pytest.mark.parametrize("name", FILES)
def test_every_labelled_reply_earns_its_verdict_in_the_sandbox(name: str, data_folder: Path) -> None:
    problems = load_problems("humaneval", folder=data_folder)
    exams = {
        p.key: Exam(p.key, p.key, p["entry_point"], p["prompt"], p["canonical_solution"], p["test"])
        for p in problems
    }
    cases = _rows(name)
    programs = [_extract(case, problems).program for case in cases]
    given = [(c, p) for c, p in zip(cases, programs, strict=True) if p is not None]
    with Sandbox() as sandbox:
        results = sandbox.grade(exams, [Submission(c["task_id"], p, (Suite.BASE,)) for c, p in given])
    passed = {
        case["id"]
        for (case, _), result in zip(given, results, strict=True)
        if result.suites[0].verdict is CodeVerdict.PASSED
    }
    assert passed == {case["id"] for case in cases if case["expected"] == "pass"}
