"""Real replies of fifteen models: our extraction loses no program that the source's own extraction keeps."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.filters.problems import load_problems
from lm_eval_strict.filters.program_extraction import extract_program
from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

SHORT = Limits(cpu_s=1.5, wall_s=10.0)  # right programs take milliseconds here, and many others never end
# Replies whose program passes HumanEval's own test.
PASSES = {"humaneval_chat_fasteval": 1512, "humaneval_chat_ollama": 338}


def _replies(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _passing(data_folder: Path, programs: list[tuple[str, str | None]]) -> list[bool]:
    exams = {
        p.key: Exam(p.key, p.key, p["entry_point"], p["prompt"], p["canonical_solution"], p["test"])
        for p in load_problems("humaneval", folder=data_folder)
    }
    distinct = [pair for pair in dict.fromkeys(programs) if pair[1]]
    with Sandbox() as sandbox:
        results = sandbox.grade(exams, [Submission(k, p or "", (Suite.BASE,), SHORT) for k, p in distinct])
    passed = {
        pair: result.suites[0].verdict is CodeVerdict.PASSED
        for pair, result in zip(distinct, results, strict=True)
    }
    return [passed.get(pair, False) for pair in programs]


@pytest.mark.real_data
@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
def test_no_model_loses_a_right_program(name: str, data_folder: Path, replies_folder: Path) -> None:
    problems = load_problems("humaneval", folder=data_folder).by_key
    rows = _replies(replies_folder, name)
    ours, theirs = [], []
    for row in rows:
        problem = problems[row["task_id"]]
        found = extract_program(row["reply"], prompt=problem["prompt"], entry_point=problem["entry_point"])
        ours.append((row["task_id"], found.program))
        theirs.append((row["task_id"], row.get("source_extracted")))
    verdicts = _passing(data_folder, ours + theirs)
    kept = Counter(row["model"] for row, ok in zip(rows, verdicts[: len(rows)], strict=True) if ok)
    source = Counter(row["model"] for row, ok in zip(rows, verdicts[len(rows) :], strict=True) if ok)
    assert {model: count for model, count in source.items() if kept[model] < count} == {}
    assert kept.total() == PASSES[name]
