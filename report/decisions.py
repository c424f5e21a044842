"""A reader's decisions in, one appended line each on disk; and the file read back, the last word winning."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .faults import UsageFault
from .read_lines import read_records

RIGHT, WRONG, DEBATABLE, NONE = "right", "wrong", "debatable", ""
ALLOWED = (RIGHT, WRONG, DEBATABLE, NONE)
NOTE_MOST = 4_000


@dataclass(frozen=True)
class Decision:
    """What the reader decided of one case; ``decision`` "" is a note alone, or a decision taken back."""

    key: str
    decision: str
    note: str = ""


def check_decision(record: Mapping[str, Any]) -> Decision:
    """Read one record; raises ValueError with what is wrong."""
    key, decision, note = record.get("key"), record.get("decision"), record.get("note", "")
    if not isinstance(key, str) or not 8 <= len(key) <= 64:
        raise ValueError(f"key is {str(key)[:80]!r}: it must be the case's own")
    if decision not in ALLOWED:
        raise ValueError(f"decision is {str(decision)[:80]!r}: it must be right, wrong, debatable or empty")
    if not isinstance(note, str) or len(note) > NOTE_MOST:
        raise ValueError(f"note must be text of at most {NOTE_MOST} characters")
    return Decision(key, str(decision), note)


def default_path(run: Path) -> Path:
    """Give the file beside the run that keeps its decisions."""
    if run.is_dir():
        return run / "review.decisions.jsonl"
    stem = run.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")
    return run.with_name(f"{stem}.decisions.jsonl")


def read_decisions(path: Path) -> dict[str, Decision]:
    """Read a file of decisions, the last line of a key winning; a missing or empty file has none.

    A last line that was cut off by a crash is dropped: nothing after its decision was acknowledged.
    """
    if not path.exists() or path.stat().st_size == 0:
        return {}
    found: dict[str, Decision] = {}
    try:
        for number, record in read_records(path):
            try:
                decision = check_decision(record)
            except ValueError as fault:
                raise UsageFault(f"{path}: line {number}: {fault}") from None
            found[decision.key] = decision
    except UsageFault as fault:
        if "is cut off" not in str(fault):
            raise
    return found


class DecisionFile:
    """An append-only file: each decision is flushed to the disk before it is acknowledged."""

    def __init__(self, path: Path) -> None:
        """Open ``path``, ending a line that a crash had cut off."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as stream:
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    _drop_cut_line(path)

    def add(self, decision: Decision) -> None:
        """Write one decision and return when it is on disk."""
        record = {"key": decision.key, "decision": decision.decision, "note": decision.note}
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())


def _drop_cut_line(path: Path) -> None:
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    with path.open("r+b") as stream:
        stream.truncate(len(whole))
