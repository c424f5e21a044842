"""Seeded rows in the exact form that ``grade`` writes, for runs of any size."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

Row = dict[str, Any]

CODE_FAILS = ("wrong_answer", "raised", "timed_out", "no_program", "syntax_error")
MATH_RULES = ("boxed", "answer_line", "last_math", "last_bold", "none")


def code_rows(
    seed: int,
    *,
    problems: int = 164,
    samples: int = 1,
    ability: float = 0.6,
    task: str = "humaneval_plus_strict",
    version: str = "1.0.0",
    pipelines: tuple[str, ...] = ("base", "plus", "plus_strict", "plus_adjudicated"),
) -> list[Row]:
    """Make rows of a code task: later pipelines accept fewer, the adjudicated one gives some back."""
    generator = np.random.default_rng(seed)
    hardness = np.random.default_rng(99).beta(0.7, 0.7, problems)
    rows = []
    for problem in range(problems):
        chance = min(0.98, ability * 1.6 * (1 - hardness[problem]))
        for sample in range(samples):
            luck, style = generator.random(), generator.random()
            fail = CODE_FAILS[int(generator.integers(len(CODE_FAILS)))]
            program = (
                f"def f_{problem}(x):\n    # try {sample if style < 0.8 else 0}\n    return x + {problem}\n"
            )
            for pipeline in pipelines:
                drop = {"base": 1.0, "plus": 0.92, "plus_strict": 0.88, "plus_adjudicated": 0.9}[pipeline]
                passed = luck < chance * drop
                given = pipeline == "plus_adjudicated" and passed and luck >= chance * 0.88
                rows.append(
                    {
                        "id": f"HumanEval/{problem}:{sample}",
                        "task": task,
                        "version": version,
                        "task_digest": f"sha256:{task}-{version}",
                        "pipeline": pipeline,
                        "task_id": f"HumanEval/{problem}",
                        "row_hash": f"sha256:{problem:064x}",
                        "sample": sample,
                        "verdict": "passed" if passed else fail,
                        "rule": "only_block" if style < 0.7 else "last_block",
                        "truncated": "likely" if style > 0.97 else "no",
                        "program": None if fail == "no_program" and not passed else program,
                        "repairs": [],
                        "suite": pipeline,
                        "tests_passed": 10 if passed else 4,
                        "tests_total": 10,
                        "first_failure": None
                        if passed
                        else {"input": "(1, 2)", "expected": "[3]", "got": "None"},
                        "detail": "",
                        "quirks_used": ["one"] if given else [],
                        "isolation": "full",
                        "limits": {"cpu_s": 10.0, "wall_s": 60.0, "memory_mib": 512},
                        "off_lock": [],
                        "measured": {
                            "cpu_s": 0.1,
                            "wall_s": 0.2,
                            "host": "box",
                            "factor": 1.0,
                            "near_limit": False,
                            "evalplus_would_time_out": style > 0.99,
                        },
                    }
                )
    return rows


def math_rows(
    seed: int, *, problems: int = 100, samples: int = 1, ability: float = 0.7, task: str = "math500_strict"
) -> list[Row]:
    """Make rows of a math task: each stricter grader sees more, the strict one refuses other kinds."""
    generator = np.random.default_rng(seed)
    rows = []
    for problem in range(problems):
        for sample in range(samples):
            luck, form = generator.random(), generator.random()
            right = luck < ability
            gold = f"\\frac{{{problem}}}{{7}}"
            answer = gold if right and form < 0.6 else f"{problem}/7" if right else f"{problem + 1}/7"
            accepts = {
                "exact": right and form < 0.6,
                "normalized": right and form < 0.9,
                "symbolic": right or (form > 0.95),
                "strict": right,
            }
            for pipeline, accepted in accepts.items():
                rows.append(
                    {
                        "id": f"test/algebra/{problem}.json:{sample}",
                        "task": task,
                        "version": "1.0.0",
                        "task_digest": f"sha256:{task}",
                        "pipeline": pipeline,
                        "unique_id": f"test/algebra/{problem}.json",
                        "row_hash": f"sha256:{problem:064x}",
                        "sample": sample,
                        "verdict": "right" if accepted else "wrong",
                        "rule": MATH_RULES[int(form * 4)],
                        "truncated": "no",
                        "answer": answer,
                        "gold": gold,
                        "kind": "number",
                        "comparison": "symbolic",
                        "read_answer": answer,
                        "read_gold": f"{problem}/7",
                        "debatable": "",
                        "verdict_otherwise": None,
                        "subject": ("Algebra", "Geometry", "Number Theory")[problem % 3],
                        "level": 1 + problem % 5,
                        "detail": "",
                        "off_lock": [],
                        "measured": {},
                    }
                )
    return rows


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def make_code() -> Callable[..., list[Row]]:
    return code_rows


@pytest.fixture
def make_math() -> Callable[..., list[Row]]:
    return math_rows


@pytest.fixture
def write() -> Callable[[Path, Iterable[Row]], Path]:
    return write_rows
