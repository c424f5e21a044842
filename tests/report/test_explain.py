"""The command `explain`: failures on HumanEval+ by class, problem and input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lm_eval_strict.report.cli import build_app
from lm_eval_strict.report.faults import UsageFault


def _rows(reply: str, task_id: str, strict: str, adjudicated: str, text: str) -> list[dict[str, Any]]:
    shared = {
        "task": "humaneval_plus_strict",
        "version": "1.0.0",
        "id": reply,
        "task_id": task_id,
        "sample": ord(reply),
        "detail": "",
    }
    first = {"input": text, "expected": "0", "got": "1"}
    verdicts = {"base": "passed", "plus_strict": strict, "plus_adjudicated": adjudicated}
    return [
        {
            **shared,
            "pipeline": pipeline,
            "verdict": verdict,
            "first_failure": None if verdict == "passed" else first,
        }
        for pipeline, verdict in verdicts.items()
    ]


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    rows = [
        *_rows("a", "HumanEval/71", "wrong_answer", "passed", "0.1, 0.2, 0.3"),
        *_rows("b", "HumanEval/42", "raised", "raised", "[True]"),
        *_rows("c", "HumanEval/42", "wrong_answer", "wrong_answer", "[1]"),
        *_rows("d", "HumanEval/42", "wrong_answer", "wrong_answer", "[1]"),
        *_rows("e", "HumanEval/42", "passed", "passed", ""),
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _explain(*arguments: str) -> str:
    result = CliRunner().invoke(build_app(), ["explain", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_json_names_every_class_and_counts_replies_by_input(run_file: Path) -> None:
    made = json.loads(_explain(str(run_file), "--json"))
    assert made["classes"] == {"reference_quirk": 1, "outside_docstring": 1, "timed_out": 0, "bug": 2}
    assert [(line["failure_class"], line["problem"], line["replies"]) for line in made["inputs"]] == [
        ("reference_quirk", "HumanEval/71", 1),
        ("outside_docstring", "HumanEval/42", 1),
        ("bug", "HumanEval/42", 2),
    ]


def test_table_shows_class_problem_and_first_failing_input(run_file: Path) -> None:
    shown = _explain(str(run_file))
    assert "4 replies pass base and fail plus_strict" in shown
    assert "HumanEval/71" in shown
    assert "0.1, 0.2, 0.3" in shown


def test_a_run_without_the_pipelines_is_a_fault_in_one_line(tmp_path: Path, run_file: Path) -> None:
    path = tmp_path / "base.jsonl"
    lines = run_file.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if '"base"' in line), encoding="utf-8")
    with pytest.raises(UsageFault, match="nothing to explain"):
        _explain(str(path))


def test_an_unknown_task_is_a_fault_that_names_it(run_file: Path) -> None:
    with pytest.raises(UsageFault, match="'humaneval_strict'"):
        _explain(str(run_file), "--task", "humaneval_strict")
