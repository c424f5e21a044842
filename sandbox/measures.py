"""The ends of a submission's samples in, the record's ``measured`` out."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from typing import Any

from .judge import PlusJudge
from .sample_run import End

EVALPLUS_MIN_S = 1.0
EVALPLUS_FACTOR = 4.0
EVALPLUS_TOTAL_S = 60.0


@dataclass
class Measures:
    """What the samples of one submission used, together."""

    cpu_s: float = 0.0
    wall_s: float = 0.0
    memory_mib: float = 0.0
    near_limit: bool = False
    late_for_evalplus: bool | None = None

    def add(self, end: End, cpu_limit_s: float) -> None:
        """Count one sample in."""
        self.cpu_s += end.cpu_s
        self.wall_s += end.wall_s
        self.memory_mib = max(self.memory_mib, end.memory_mib)
        self.near_limit = self.near_limit or end.cpu_s > cpu_limit_s / 2

    def as_dict(self, factor: float) -> dict[str, Any]:
        """Give the record's ``measured``."""
        return {
            "cpu_s": round(self.cpu_s, 4),
            "wall_s": round(self.wall_s, 4),
            "memory_mib": round(self.memory_mib, 1),
            "host": platform.node(),
            "factor": factor,
            "near_limit": self.near_limit,
            "evalplus_would_time_out": self.late_for_evalplus,
        }


class LateWatch:
    """Watches, from outside, for a call that EvalPlus' own wall-clock limits would have cut (an estimate)."""

    def __init__(self, judge: PlusJudge, reference_s: list[float]) -> None:
        self.judge = judge
        self.reference_s = reference_s
        self.started = self.since = time.monotonic()
        self.seen = 0
        self.late = False

    def feed(self, chunk: bytes) -> bool:
        """Pass the bytes on to the judge and look at the clock."""
        enough = self.judge.feed(chunk)
        self.look()
        return enough

    def look(self) -> None:
        """Compare the time since the last new answer with EvalPlus' limit for that call."""
        now = time.monotonic()
        answers = self.judge.answers()
        if answers > self.seen or answers >= self.judge.first_pass:
            if answers == self.seen + 1 and self.seen < self.judge.first_pass:
                self._compare(now - self.since)
            self.seen, self.since = answers, now

    def ended(self) -> bool:
        """Give the verdict of the whole pass."""
        if self.judge.answers() < self.judge.first_pass:
            self._compare(time.monotonic() - self.since)
        return self.late or time.monotonic() - self.started > EVALPLUS_TOTAL_S

    def _compare(self, took_s: float) -> None:
        reference = self.reference_s[self.seen] if self.seen < len(self.reference_s) else 0.0
        if took_s > max(EVALPLUS_MIN_S, EVALPLUS_FACTOR * reference):
            self.late = True
