"""Rows of a run in, the decisions that a reader has to take out: each distinct answer or program once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .read_run import Run
from .verdicts import HARNESS_ERROR, NOT_GRADED, pipeline_order, short_hash

DISAGREE, REJECTED, SAMPLED = "disagree", "rejected", "sampled"


@dataclass(frozen=True)
class Case:
    """One thing to decide; all its replies handed in the same answer to the same key, or the same program.

    ``verdicts`` maps each pipeline to its verdict, ``rows`` to the whole row of the first reply. ``reply`` is
    None where the files do not hold it.
    """

    key: str
    task: str
    reason: str
    replies: tuple[tuple[str, int], ...]
    verdicts: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Any]]
    reply: str | None

    @property
    def is_code(self) -> bool:
        """Say whether a program is to be judged."""
        return "program" in next(iter(self.rows.values()))


def case_key(row: Mapping[str, Any]) -> str:
    """Name the decision that a row belongs to; it outlives grader versions and files.

    Math: the distinct (answer, gold) pair. Code: the problem and the program. A reply without either is a
    case of its own.
    """
    text = row.get("program") if "program" in row else row.get("answer")
    problem = str(row.get("task_id") or row.get("unique_id"))
    if text is None:
        parts = ["none", problem, str(row.get("sample"))]
    elif "program" in row:
        parts = ["code", problem, text]
    else:
        parts = ["math", text, str(row.get("gold"))]
    return short_hash("\x1f".join(parts))


@dataclass
class _Group:
    task: str
    replies: dict[tuple[str, int], None]
    rows: dict[str, Mapping[str, Any]]
    first: tuple[str, str, int]


def all_cases(run: Run) -> list[Case]:
    """Group every row of a run (read with ``keep``) into cases, with the reason each would be read for."""
    groups: dict[str, _Group] = {}
    for verdict in run.verdicts:
        row = verdict.raw
        if row is None:
            raise ValueError("the run was read without keep=True: its rows are gone")
        key = case_key(row)
        place = (verdict.problem, verdict.sample)
        group = groups.setdefault(key, _Group(verdict.task, {}, {}, (verdict.task, *place)))
        group.replies[place] = None
        group.rows.setdefault(verdict.pipeline, row)
    replies = {place[1:]: text for place, text in (run.replies or {}).items()}
    return [_case(key, group, replies) for key, group in groups.items()]


def _case(key: str, group: _Group, replies: Mapping[tuple[str, int], str]) -> Case:
    rows = {name: group.rows[name] for name in pipeline_order(group.rows)}
    verdicts = {name: str(row["verdict"]) for name, row in rows.items()}
    judged = {accepts(v) for v in verdicts.values() if v not in (NOT_GRADED, HARNESS_ERROR)}
    reason = DISAGREE if len(judged) == 2 else SAMPLED if judged == {True} else REJECTED
    return Case(key, group.task, reason, tuple(group.replies), verdicts, rows, replies.get(group.first[1:]))


def accepts(verdict: str) -> bool:
    """Say whether a verdict takes the reply as right."""
    return verdict in ("passed", "right")


def cases_to_read(cases: Iterable[Case], sample: int, generator: np.random.Generator) -> list[Case]:
    """Choose what is to be read: disagreements, what all reject, then ``sample`` random accepted ones."""
    found = list(cases)
    chosen = [case for case in found if case.reason == DISAGREE]
    chosen += [case for case in found if case.reason == REJECTED]
    accepted = sorted((case for case in found if case.reason == SAMPLED), key=lambda case: case.key)
    if sample and accepted:
        picked = generator.choice(len(accepted), size=min(sample, len(accepted)), replace=False)
        chosen += [accepted[place] for place in sorted(picked)]
    return chosen
