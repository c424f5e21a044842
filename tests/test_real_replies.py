"""Thousands of real replies go through the real filters: a row each, no crash, no error of ours."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from lm_eval_strict.filters.grade_file import grade_file, read_file
from lm_eval_strict.filters.grading import extract
from lm_eval_strict.filters.task_spec import read_task
from lm_eval_strict.sandbox.records import Isolation

pytestmark = [pytest.mark.real_data, pytest.mark.slow]


RUN_EVERY = 1 if os.environ.get("LM_EVAL_STRICT_ALL_REPLIES") else 4
"""Programs that never end take minutes: one program in so many is run, unless all are asked for."""


def graded_rows(task: str, replies: Path, folder: Path, every: int = 1) -> list[dict]:
    """Read a packed file of replies, grade one in ``every`` with ``task`` and return the rows."""
    unpacked, out = folder / replies.stem, folder / "rows.jsonl"
    unpacked.write_bytes(gzip.decompress(replies.read_bytes()))
    spec = read_task(task)
    inputs = read_file(unpacked, spec)
    for reply in inputs:
        extract(spec, reply, isolation=Isolation.FULL)
    inputs = inputs[::every]
    summary = grade_file(spec, inputs, out)
    assert (summary.bad_lines, summary.harness_errors) == ((), 0)
    rows = [json.loads(line) for line in out.open()]
    assert len(rows) == len(inputs) * len(spec.pipelines)
    assert "not_graded" not in {row["verdict"] for row in rows}
    return rows


@pytest.mark.parametrize(
    ("name", "replies", "least_share"),
    [("humaneval_chat_fasteval", 2624, 0.57), ("humaneval_chat_ollama", 689, 0.43)],
)
def test_code_replies(
    replies_folder: Path, tmp_path: Path, name: str, replies: int, least_share: float
) -> None:
    rows = graded_rows("humaneval_strict", replies_folder / f"{name}.jsonl.gz", tmp_path, RUN_EVERY)
    assert len(rows) == len(range(0, replies, RUN_EVERY))
    assert Counter(row["verdict"] for row in rows)["passed"] > least_share * len(rows)


@pytest.mark.parametrize(
    ("name", "replies"),
    [
        ("math500_qwen2.5_1.5b", 340),
        ("math500_tool_mathcoder34b", 500),
        ("math_chat_fasteval", 3000),
        ("math_think_small", 70),
    ],
)
def test_math_replies(replies_folder: Path, tmp_path: Path, name: str, replies: int) -> None:
    rows = graded_rows("math500_strict", replies_folder / f"{name}.jsonl.gz", tmp_path)
    assert len(rows) == 4 * replies
    right = dict.fromkeys(("exact", "normalized", "symbolic", "strict"), 0)
    for row in rows:
        right[row["pipeline"]] += row["verdict"] == "right"
    assert right["exact"] <= right["normalized"] < right["strict"]
