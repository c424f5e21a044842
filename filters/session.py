"""The replies of one lm-eval run: journalled, extracted once, graded once for all pipelines."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from .grading import Graded, Row, extract, grade
from .journal import Journal, new_journal_path
from .preflight import Settings, read_settings
from .progress import progress_bar
from .read_replies import FACTS
from .replies import Reply
from .rows import Truncated
from .task_spec import TaskSpec, read_task


class _Batch:
    """All replies that lm-eval handed over for one task, in one go."""

    def __init__(self, spec: TaskSpec, settings: Settings) -> None:
        self.spec = spec
        self.settings = settings
        self.graded: list[Graded] = []
        self.journal = Journal(new_journal_path(spec), spec, {"isolation": settings.isolation.value})
        self.served: set[str] = set()

    def fill(self, resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> None:
        replies = [reply for texts, doc in zip(resps, docs, strict=True) for reply in _replies(texts, doc)]
        self.journal.append(replies, self.spec)
        self.journal.close()
        self.graded = [extract(self.spec, reply, isolation=self.settings.isolation) for reply in replies]


class Sessions:
    """Batches waiting for their grade, by task; safe to use from several threads."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    @property
    def _pending(self) -> dict[str, _Batch]:
        """Batches of this thread's run: lm-eval filters and scores a run in one thread."""
        pending: dict[str, _Batch] = self._of_thread.__dict__.setdefault("pending", {})
        return pending

    def open_rows(
        self, pipeline: str, resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]
    ) -> list[list[Row]]:
        """Return the rows of ``pipeline`` by document; a task's first pipeline journals and extracts."""
        if not docs:
            return []
        about = docs[0]["strict"]
        batch = self._pending.get(about["task"])
        if batch is None or pipeline in batch.served:
            settings = read_settings(about["isolation"], about["grade"])
            batch = self._pending[about["task"]] = _Batch(read_task(about["task"]), settings)
            batch.fill(resps, docs)
        batch.served.add(pipeline)
        rows = iter(one.rows[pipeline] for one in batch.graded)
        return [[next(rows) for _ in _kept(texts, doc)] for texts, doc in zip(resps, docs, strict=True)]

    def grade_pending(self, task: str) -> None:
        """Grade what waits for ``task``, if anything does; rows that were handed out are filled in place."""
        batch = self._pending.pop(task, None)
        if batch is None:
            return
        if batch.settings.grade_later:
            atexit.register(_say, f"lm-eval-strict: not graded; {_how_to_go_on(batch)}")
        else:
            _grade_batch(batch)


def _grade_batch(batch: _Batch) -> None:
    started = time.monotonic()
    total = len(batch.graded)
    try:
        with progress_bar(total, f"grading {batch.spec.name}") as bar:
            grade(
                batch.spec, batch.graded, isolation=batch.settings.isolation, on_done=lambda _: bar.update(1)
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"\n{_how_to_go_on(batch)}") from None
    errors = sum(row["verdict"] == "harness_error" for one in batch.graded for row in one.rows.values())
    loud = f", {errors} HARNESS ERRORS" if errors else ""
    took = f"{total} replies graded in {time.monotonic() - started:.1f} s{loud}"
    kept = f"replies kept in {batch.journal.path}"
    _say(f"lm-eval-strict: {batch.spec.name}: {took}{_copies(batch)}; {kept}")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _copies(batch: _Batch) -> str:
    """Say for how many problems all samples are one text, as a fixed seed or a cache makes them."""
    texts: dict[str, list[str | None]] = defaultdict(list)
    for one in batch.graded:
        texts[one.reply.key].append(one.reply.text)
    copied = sum(len(samples) > 1 and len(set(samples)) == 1 for samples in texts.values())
    if not copied:
        return ""
    return (
        f"; all samples of {copied} of {len(texts)} problems are copies of each other (same seed, or a cache)"
    )


def _how_to_go_on(batch: _Batch) -> str:
    path = batch.journal.path
    return (
        f"replies kept in {path}\n"
        f"lm-eval-strict grade --task {batch.spec.frozen_name} {path} --out {path.with_suffix('.rows.jsonl')}"
    )


def _kept(texts: Sequence[str], doc: Mapping[str, Any]) -> Sequence[str]:
    return texts[: doc["strict"]["replies"]]


def _replies(texts: Sequence[str], doc: Mapping[str, Any]) -> list[Reply]:
    key = doc["task_id"] if "task_id" in doc else doc["unique_id"]
    return [_reply(key, sample, text) for sample, text in enumerate(_kept(texts, doc))]


def _reply(key: str, sample: int, text: str) -> Reply:
    """A backend may hand over a text with ``facts`` on it: whether it was cut, and what it used."""
    known: Mapping[str, Any] = getattr(text, "facts", {})
    return Reply(
        id=f"{key}#{sample}",
        key=key,
        sample=sample,
        text=text,
        truncated=Truncated(known["truncated"]) if known.get("truncated") in list(Truncated) else None,
        facts={name: known[name] for name in FACTS if name in known},
    )


sessions = Sessions()
