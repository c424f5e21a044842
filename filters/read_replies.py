"""Lines of a JSONL file in, things to grade out; a line that is none of them says why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .problems import load_problems
from .replies import Reply
from .rows import Truncated
from .task_spec import MODES, TaskSpec

GIVEN = {"code": ("reply", "program"), "math": ("reply", "answer")}
FACTS = ("model", "stop_reason", "usage")


@dataclass(frozen=True)
class BadLine:
    """A line that cannot be graded, and why; ``number`` counts from 1."""

    id: str
    number: int
    why: str


def read_replies(lines: Iterable[str], spec: TaskSpec) -> Iterator[Reply | BadLine]:
    """Yield what each line of a JSONL file asks to be graded, in order, without blank and header lines.

    A line is an object with the problem's ``task_id`` or ``unique_id``, or for math a ``gold`` of its own,
    and one of ``reply`` (raw text), ``program`` or ``answer`` (both taken as they are); ``id``, ``sample``,
    ``mode`` and ``truncated`` are optional. Never raises for a line.
    """
    seen: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            if isinstance(fields, dict) and "journal" in fields and "reply" not in fields:
                continue
            yield _reply(fields, spec, number, seen)
        except (ValueError, RecursionError) as error:
            identifier = str(fields["id"]) if _has_id(fields := _leniently(line)) else f"line-{number}"
            yield BadLine(identifier, number, str(error).split("\n")[0])


def _leniently(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _has_id(fields: Any) -> bool:
    return isinstance(fields, dict) and isinstance(fields.get("id"), (str, int))


def _reply(fields: Any, spec: TaskSpec, number: int, seen: Counter[str]) -> Reply:
    if not isinstance(fields, dict):
        raise ValueError(f"line {number} is {type(fields).__name__}, not an object")
    key = _problem_key(fields, spec, number)
    given = [name for name in GIVEN[spec.kind] if fields.get(name) is not None]
    empty = [name for name in GIVEN[spec.kind] if name in fields]
    if len(given) > 1 or not empty:
        raise ValueError(f"line {number} needs one of {', '.join(GIVEN[spec.kind])}, has {given or 'none'}")
    for name in given:
        if not isinstance(fields[name], str):
            raise ValueError(f"line {number}: {name} is {type(fields[name]).__name__}, not text")
    mode, truncated = fields.get("mode"), fields.get("truncated")
    if mode is not None and mode not in MODES:
        raise ValueError(f"line {number}: mode={mode!r} is not one of {', '.join(MODES)}")
    sample = fields.get("sample", seen[key])
    if not isinstance(sample, int):
        raise ValueError(f"line {number}: sample={sample!r} is not a whole number")
    seen[key] += 1
    return Reply(
        id=str(fields.get("id", f"{key or 'line-' + str(number)}#{sample}")),
        key=key,
        sample=sample,
        text=(fields["reply"] or "") if "reply" in fields and given in ([], ["reply"]) else None,
        program=fields.get("program"),
        answer=fields.get("answer"),
        mode=mode,
        truncated=Truncated(truncated) if truncated in list(Truncated) else None,
        gold=fields.get("gold") if spec.kind == "math" else None,
        facts={name: fields[name] for name in FACTS if name in fields},
    )


def _problem_key(fields: Mapping[str, Any], spec: TaskSpec, number: int) -> str:
    """Return the identifier of the problem, empty where the line brings a gold of its own."""
    names = ("task_id",) if spec.kind == "code" else ("unique_id", "task_id")
    key = next((fields[name] for name in names if fields.get(name) is not None), None)
    if key is None and spec.kind == "math" and isinstance(fields.get("gold"), str):
        return ""
    if key is None:
        wanted = f"{names[0]} or gold" if spec.kind == "math" else names[0]
        raise ValueError(f"line {number} has no {wanted}")
    if str(key) not in load_problems(spec.dataset).by_key and "gold" not in fields:
        raise ValueError(f"line {number}: {key!r} is no problem of {spec.dataset}")
    return str(key)
