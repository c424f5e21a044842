"""Submissions in, the next one for a free worker out: by problem, heavy problems first."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Group:
    """All waiting submissions of one exam."""

    weight: float
    waiting: deque[tuple[int, Any]] = field(default_factory=deque)
    workers: int = 0


class Schedule:
    """Keeps a worker with its exam, so that it stays warm, and starts what may take longest first."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def __len__(self) -> int:
        return sum(len(group.waiting) for group in self._groups.values())

    def add(self, exam_key: str, index: int, submission: Any, weight: float) -> None:
        """Queue one submission; ``weight`` orders the exams."""
        group = self._groups.setdefault(exam_key, _Group(weight))
        group.weight = max(group.weight, weight)
        group.waiting.append((index, submission))

    def put_back(self, exam_key: str, index: int, submission: Any) -> None:
        """Queue a submission again, before all others of its exam."""
        self._groups.setdefault(exam_key, _Group(0.0)).waiting.appendleft((index, submission))

    def leave(self, exam_key: str) -> None:
        """Note that a worker has gone from an exam."""
        if exam_key in self._groups:
            self._groups[exam_key].workers -= 1

    def take(self, current: str) -> tuple[str, int, Any] | None:
        """Take the next submission for a worker whose exam is ``current`` ("" for none); None where all is
        given out.
        """
        group = self._groups.get(current)
        if group is None or not group.waiting:
            key = self._choose()
            if key is None:
                return None
            self.leave(current)
            current, group = key, self._groups[key]
            group.workers += 1
        index, submission = group.waiting.popleft()
        return current, index, submission

    def _choose(self) -> str | None:
        """Choose an exam that no worker has, the heaviest first; else join the one with most left."""
        waiting = [(key, group) for key, group in self._groups.items() if group.waiting]
        if not waiting:
            return None
        free = [(group.weight, key) for key, group in waiting if group.workers <= 0]
        if free:
            return max(free)[1]
        return max((len(group.waiting) / (1 + group.workers), key) for key, group in waiting)[1]
