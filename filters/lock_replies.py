"""A task in, the fixed replies on which its behaviour is measured out: our own words, shipped with the pack.

A line of ``lock_math.jsonl`` brings its own gold. A line of ``lock_code.jsonl`` is a recipe: a reply in our
words in which names between @ signs stand for parts of a published problem, and perhaps a short edit of the
published solution. So no published text is in the file, and the whole reply exists only where the data is.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .problems import Problem, load_problems
from .replies import Reply
from .task_spec import TaskSpec, data_sets

FILES = {"math": "lock_math.jsonl", "code": "lock_code.jsonl"}
_PART = re.compile(r"@(program|solution|prompt|name|indented)@")


def fixed_replies(spec: TaskSpec, folder: Path) -> list[Reply]:
    """Return the fixed replies of ``folder`` that are about the problems of ``spec``, in the file's order.

    Each has its own ``mode``, so tasks that differ only in how a model is asked have the same replies. The
    parts are those of the data set that holds the base tests, so HumanEval's also where HumanEval+ judges.
    Raises ``DataUnavailable`` for a code task whose published problems are nowhere.
    """
    lines = _lines(folder / FILES[spec.kind])
    if spec.kind == "math":
        return [_reply(line, line.get("reply")) for line in lines]
    problems = load_problems(data_sets(spec.dataset)[-1]).by_key
    return [
        _reply(line, fill(line["reply"], problems[line["task_id"]], line.get("edit")))
        for line in lines
        if line["task_id"] in problems
    ]


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _reply(line: Mapping[str, Any], text: str | None) -> Reply:
    return Reply(
        id=line["id"],
        key=line.get("task_id", ""),
        text=text,
        answer=line.get("answer"),
        mode=line.get("mode", "chat"),
        gold=line.get("gold"),
    )


def fill(template: str, problem: Problem, edit: Sequence[Any] | None) -> str:
    """Put the problem's parts into ``template``: @prompt@, @name@ (entry point), @solution@ (the published
    one, after ``edit``), @program@ (prompt and solution) and @indented@ (the program, four blanks deeper).

    ``edit`` is (old, new, n): the n-th occurrence of ``old``, from 0, becomes ``new``. Raises ``ValueError``
    where there is none.
    """
    solution = edited(problem["canonical_solution"], *edit) if edit else problem["canonical_solution"]
    program = problem["prompt"] + solution
    parts = {
        "program": program,
        "solution": solution,
        "prompt": problem["prompt"],
        "name": problem["entry_point"],
        "indented": textwrap.indent(program, "    "),
    }
    return _PART.sub(lambda match: parts[match[1]], template)


def edited(text: str, old: str, new: str, nth: int) -> str:
    """Return ``text`` with the ``nth`` occurrence of ``old``, from 0, replaced by ``new``."""
    pieces = text.split(old)
    if not 0 <= nth < len(pieces) - 1:
        raise ValueError(f"occurrence {nth} of {old!r}: there are {len(pieces) - 1}")
    return old.join(pieces[: nth + 1]) + new + old.join(pieces[nth + 1 :])
