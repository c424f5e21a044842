"""One logged row in, a slim verdict record out; and what each verdict counts as."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_strict.filters.rows import MathVerdict, Truncated

CODE_PIPELINES = ("base", "plus", "plus_strict", "plus_adjudicated")
MATH_PIPELINES = ("exact", "normalized", "symbolic", "strict")
EVALPLUS_CEILING_OUT = "HumanEval/32"
LOGGED_MOST = 16 * 1024 * 1024

ACCEPTED = frozenset({"passed", MathVerdict.RIGHT.value})
NOT_GRADED = MathVerdict.NOT_GRADED.value
HARNESS_ERROR = MathVerdict.HARNESS_ERROR.value
NO_ANSWER = frozenset({MathVerdict.NO_ANSWER.value, MathVerdict.UNREADABLE.value})
NO_PROGRAM = frozenset({"no_program", "no_entry_point", "syntax_error"})
LIMITS = frozenset({"timed_out", "out_of_memory", "output_limit"})
FAILED = frozenset({"wrong_answer", "raised", "exited", MathVerdict.WRONG.value})
VERDICTS = ACCEPTED | {NOT_GRADED, HARNESS_ERROR} | NO_ANSWER | NO_PROGRAM | LIMITS | FAILED


@dataclass(frozen=True)
class Verdict:
    """What the report keeps of one row: one reply under one pipeline.

    ``text`` is a hash of the program (of the reply where the source has it), "" where neither is known:
    equal texts are copies. ``debatable`` names the written rule that decided where careful readers differ,
    and ``otherwise`` the verdict had it been the other way, both "" elsewhere. ``raw`` is the whole row,
    kept only where a command shows it.
    """

    __slots__ = (
        "debatable", "evalplus_cut", "factor", "id", "isolation", "level", "near_limit", "off_lock",
        "otherwise", "pipeline", "problem",
        "quirks", "raw", "row_hash", "rule", "sample", "subject", "task", "task_digest", "text", "truncated",
        "verdict", "version",
    )  # fmt: skip

    id: str
    task: str
    version: str
    task_digest: str
    pipeline: str
    problem: str
    row_hash: str
    sample: int
    verdict: str
    rule: str
    truncated: str
    subject: str
    level: str
    quirks: int
    isolation: str
    off_lock: tuple[str, ...]
    near_limit: bool
    factor: float
    evalplus_cut: bool
    text: str
    debatable: str
    otherwise: str
    raw: Mapping[str, Any] | None

    @property
    def score(self) -> float:
        """Give 1 for an accept, 0 for a fail, NaN where there is no verdict of the model's."""
        if self.verdict in ACCEPTED:
            return 1.0
        return math.nan if self.verdict in (NOT_GRADED, HARNESS_ERROR) else 0.0

    @property
    def accepted(self) -> bool:
        """Say whether the pipeline took the reply as right."""
        return self.verdict in ACCEPTED


def short_hash(text: str) -> str:
    """Give 16 hex digits of the text's SHA-256: enough to tell copies, cheap to keep."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_row(record: object) -> bool:
    """Say whether a JSON value has the fields that every row of a grader has."""
    return isinstance(record, Mapping) and {"pipeline", "verdict", "task"} <= record.keys()


def logged_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the rows in a line of lm-eval's samples file; empty where it is not of a task of ours.

    lm-eval writes each as the text of a Python literal; a JSON text or an object are read as well.
    """
    filtered = record.get("filtered_resps") or []
    flat = [one for part in filtered for one in (part if isinstance(part, list) else [part])]
    rows = [_logged(one) for one in flat]
    return [row for row in rows if row is not None] if all(row is not None for row in rows) else []


def _logged(value: object) -> dict[str, Any] | None:
    if isinstance(value, str) and value.startswith("{") and len(value) <= LOGGED_MOST:
        text = value
        try:
            value = json.loads(text)
        except ValueError:
            try:
                value = ast.literal_eval(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return None
    return dict(value) if isinstance(value, Mapping) and is_row(value) else None


def problem_of(record: Mapping[str, Any]) -> str:
    """Give the name of the problem: ``task_id`` (code) or ``unique_id`` (math), else its id (own gold)."""
    return str(record.get("task_id") or record.get("unique_id") or record.get("id") or "")


def read_verdict(row: Mapping[str, Any], *, reply: str | None = None, keep: bool = False) -> Verdict:
    """Make a slim record of one row; raises ValueError with the field that is missing or unknown."""
    for name in ("task", "pipeline", "verdict", "sample"):
        if name not in row:
            raise ValueError(f"a row without the field {name!r}")
    if row["verdict"] not in VERDICTS:
        raise ValueError(f"unknown verdict {row['verdict']!r}")
    if not problem_of(row):
        raise ValueError("a row without task_id, unique_id and id")
    measured = row.get("measured") or {}
    text = reply if reply is not None else row.get("program")
    one = sys.intern
    return Verdict(
        id=str(row.get("id", "")),
        task=one(str(row["task"])),
        version=one(str(row.get("version", ""))),
        task_digest=one(str(row.get("task_digest", ""))),
        pipeline=one(str(row["pipeline"])),
        problem=one(problem_of(row)),
        row_hash=one(str(row.get("row_hash", ""))),
        sample=int(row["sample"]),
        verdict=one(row["verdict"]),
        rule=one(str(row.get("rule", ""))),
        truncated=one(str(row.get("truncated", Truncated.NO.value))),
        subject=one(str(row.get("subject") or "")),
        level=one(str(row.get("level") or "")),
        quirks=len(row.get("quirks_used") or ()),
        isolation=one(str(row.get("isolation") or "")),
        off_lock=tuple(row.get("off_lock") or ()),
        near_limit=bool(measured.get("near_limit")),
        factor=float(measured.get("factor") or 1.0),
        evalplus_cut=bool(measured.get("evalplus_would_time_out")),
        debatable=one(str(row.get("debatable") or "")),
        otherwise=one(str(row.get("verdict_otherwise") or "")),
        text=str(row.get("reply_hash") or (short_hash(text) if text else "")),
        raw=dict(row) if keep else None,
    )


def pipeline_order(names: Iterable[str]) -> list[str]:
    """Sort pipelines from lenient to strict, unknown ones last by name."""
    known = {name: place for place, name in enumerate((*CODE_PIPELINES, *MATH_PIPELINES))}
    return sorted(set(names), key=lambda name: (known.get(name, len(known)), name))


def headline_of(pipelines: Iterable[str]) -> str:
    """Name the pipeline whose number stands for the task: the strictest that judges the model itself."""
    names = list(pipelines)
    for name in ("plus_strict", "strict", "plus", "base"):
        if name in names:
            return name
    return pipeline_order(names)[-1]
