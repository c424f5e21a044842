"""What happened in a run goes in line by line; what is known and what is open comes out, also after a kill.

Theory of operation. A run has a folder, named by its run key, with four files:

``run.json``       model, settings and SDK version, written once. Never a key.
``requests.jsonl`` one line for each request: custom_id, task, document, sample. No prompt.
``ledger.jsonl``   the events, each on disk (fsync) before the next step is taken:
                   intent    these custom_ids are about to be submitted, and the newest batch then was `mark`
                   accepted  the intent has become this batch
                   rejected  the intent has become no batch: it may be submitted again
                   foreign   a batch that was looked at and is not ours
                   collected every result of this batch is in replies.jsonl
``replies.jsonl``  one line for each result: the whole message (thinking included), or why there is none.

An intent with neither `accepted` nor `rejected` is open: nobody knows yet whether the API took it. Nothing of
it is sent again until `batch_search` has settled it. A process killed in the middle of a line leaves a line
without its newline; it is cut off when the file is opened again, and what it said is asked for again, which
costs nothing.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from .batch_events import Intent, RunEvents
from .faults import BackendFault
from .folder_lock import lock_folder
from .requests import Request


class BatchLedger:
    """The state of one run on disk. Safe for several threads of one process; one process at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._lock_file = lock_folder(folder)
        if self._lock_file is None:
            raise BackendFault(f"another process works on this run ({folder}); wait for it, or pass run=NAME")
        self._mutex = threading.Lock()
        self.events = RunEvents()
        self._lines: dict[str, list[dict[str, Any]]] = {}
        self._events_file = _open_for_append(folder / "ledger.jsonl")
        self._replies_file = _open_for_append(folder / "replies.jsonl")
        for event in read_lines(folder / "ledger.jsonl"):
            self.events.apply(event)
        for line in read_lines(folder / "replies.jsonl"):
            self._lines.setdefault(line["custom_id"], []).append(line)

    # ---- what is known

    def lines(self, custom_id: str) -> list[dict[str, Any]]:
        """The results recorded for a request, oldest first."""
        return self._lines.get(custom_id, [])

    def recorded_of(self, batch: str, custom_ids: Sequence[str]) -> set[str]:
        """Those of the custom_ids whose result of this batch is recorded."""
        return {
            custom_id
            for custom_id in custom_ids
            if any(line.get("batch") == batch for line in self.lines(custom_id))
        }

    # ---- what happens

    def intend(self, custom_ids: Sequence[str], *, mark: tuple[str, str] | None) -> Intent:
        """Put on disk that these requests are about to be submitted; ``mark`` is (batch id, created_at)."""
        number = len(self.events.intents)
        mark_id, mark_created_at = mark or (None, None)
        self._record(
            {
                "event": "intent",
                "number": number,
                "custom_ids": list(custom_ids),
                "mark": mark_id,
                "mark_created_at": mark_created_at,
            }
        )
        return self.events.intents[number]

    def accept(self, intent: Intent, batch: str, *, found: bool = False) -> None:
        """Put on disk that the intent became this batch; ``found`` when it was searched for afterwards."""
        self._record({"event": "accepted", "number": intent.number, "batch": batch, "found": found})

    def reject(self, intent: Intent, reason: str) -> None:
        """Put on disk that the intent became no batch."""
        self._record({"event": "rejected", "number": intent.number, "reason": reason})

    def disown(self, batch: str) -> None:
        """Put on disk that a batch of the workspace is not ours."""
        self._record({"event": "foreign", "batch": batch})

    def add_result(self, line: Mapping[str, Any]) -> None:
        """Append one result; it survives a kill at once, and a power cut after ``sync_results``."""
        entry = {**line, "received_at": _now()}
        with self._mutex:
            self._replies_file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self._replies_file.flush()
            self._lines.setdefault(entry["custom_id"], []).append(entry)

    def sync_results(self) -> None:
        """Force the results so far onto the disk."""
        os.fsync(self._replies_file.fileno())

    def collect(self, batch: str) -> None:
        """Put on disk that every result of the batch is recorded."""
        self.sync_results()
        self._record({"event": "collected", "batch": batch})

    def write_run(self, facts: Mapping[str, Any], requests: Sequence[Request]) -> None:
        """Write run.json and requests.jsonl where they are not there yet."""
        _write_whole(self.folder / "requests.jsonl", (_request_line(request) for request in requests))
        _write_whole(self.folder / "run.json", [json.dumps(dict(facts), indent=1, sort_keys=True)])

    def close(self) -> None:
        """Close the files and let another process in."""
        for file in (self._events_file, self._replies_file, self._lock_file):
            if file is not None:
                file.close()

    def _record(self, event: dict[str, Any]) -> None:
        with self._mutex:
            self._events_file.write(json.dumps({**event, "recorded_at": _now()}) + "\n")
            self._events_file.flush()
            os.fsync(self._events_file.fileno())
            self.events.apply(event)


def is_under_way(folder: Path) -> bool:
    """Whether a run's folder knows of a batch, or a submission, whose results are not all here: keep it."""
    events = RunEvents()
    for event in read_lines(folder / "ledger.jsonl"):
        events.apply(event)
    return bool(events.open_intents or events.outstanding)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a file; an unfinished last line is left out, a missing file has none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)


def _open_for_append(path: Path) -> IO[str]:
    """Open for appending after cutting off a last line that has no newline."""
    if path.exists():
        data = path.read_bytes()
        if data and not data.endswith(b"\n"):
            with path.open("r+b") as file:
                file.truncate(data.rfind(b"\n") + 1)
    return path.open("a", encoding="utf-8", newline="\n")


def _write_whole(path: Path, lines: Iterator[str] | Sequence[str]) -> None:
    if path.exists():
        return
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _request_line(request: Request) -> str:
    return json.dumps(
        {
            "custom_id": request.custom_id,
            "task": request.task,
            "doc_id": request.doc_id,
            "sample": request.sample,
            "max_tokens": request.params["max_tokens"],
            "local_stops": list(request.local_stops),
        }
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
