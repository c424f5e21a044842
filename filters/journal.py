"""Raw replies in, a file on disk out, before anything is graded: what a model said is never lost."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .replies import Reply
from .task_spec import TaskSpec

HOME_VARIABLE = "LM_EVAL_STRICT_HOME"


def state_folder() -> Path:
    """Return the folder that keeps journals and caches; it may not exist yet.

    ``LM_EVAL_STRICT_HOME``, else ``$XDG_STATE_HOME/lm-eval-strict``, else ``~/.local/state/lm-eval-strict``.
    """
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home)
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "lm-eval-strict"


def journal_folder() -> Path:
    """Return the folder of the journals inside the state folder."""
    return state_folder() / "journals"


def new_journal_path(spec: TaskSpec) -> Path:
    """Return a fresh path whose name carries task, time, host, rank and process."""
    host = re.sub(r"[^A-Za-z0-9.-]", "_", socket.gethostname())
    rank = os.environ.get("LOCAL_RANK", "0")
    stamp = time.strftime("%Y%m%dT%H%M%S")
    stem = f"{stamp}-{spec.frozen_name}-{host}-rank{rank}-{os.getpid()}"
    path = journal_folder() / f"{stem}.jsonl"
    for number in range(2, sys.maxsize):
        if not path.exists():
            break
        path = journal_folder() / f"{stem}-{number}.jsonl"
    return path


class Journal:
    """An open journal: a header line that names the task, then a line for each reply, each fsynced."""

    def __init__(self, path: Path, spec: TaskSpec, about: Mapping[str, Any]) -> None:
        """Create ``path`` and write its header; ``about`` says what is known of the run."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = path.open("a", encoding="utf-8", errors="surrogatepass")
        header = {"journal": 1, "task": spec.frozen_name, "version": spec.version, "task_digest": spec.digest}
        self._write([{**header, **about}])

    def append(self, replies: Iterable[Reply], spec: TaskSpec) -> None:
        """Write ``replies`` and return once they are on the disk."""
        self._write(journal_line(reply, spec) for reply in replies)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        for line in lines:
            self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def journal_line(reply: Reply, spec: TaskSpec) -> dict[str, Any]:
    """Return ``reply`` in the form that ``grade`` reads."""
    key_name = "task_id" if spec.kind == "code" else "unique_id"
    line: dict[str, Any] = {"id": reply.id, "task": spec.frozen_name, key_name: reply.key}
    line |= {"sample": reply.sample, "mode": reply.mode or spec.mode, "reply": reply.text}
    if reply.truncated is not None:
        line["truncated"] = reply.truncated.value
    return line | dict(reply.facts)
