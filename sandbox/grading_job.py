"""The broker's side of one ``Sandbox``: its exams, its waiting submissions and its workers."""

from __future__ import annotations

import socket
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import wire
from .schedule import Schedule

if TYPE_CHECKING:
    from .broker import Broker, Nursery

AHEAD = 2  # submissions that a worker has at hand, so that it need not wait for the broker in between
QUICK_S = (
    0.05  # where one takes longer, waiting is nothing, and the next one is better left to whoever is free
)
MAX_ATTEMPTS = 3
MAX_FAILED_STARTS = 6


@dataclass
class _Worker:
    sock: socket.socket
    pids: list[tuple[Nursery, int]]  # each with the nursery that forked it
    exam_key: str = ""
    ready: bool = False
    quick: bool = False  # its last submission took less than QUICK_S, and the next is of the same exam
    last_s: float = 0.0
    in_flight: list[tuple[str, int, Any]] = field(default_factory=list)


class GradingJob:
    """Gives submissions to examiners, and gives those of a dead examiner to another one."""

    def __init__(
        self, broker: Broker, job_id: int, level: str, workers: int, cache_folder: str | None
    ) -> None:
        self.broker = broker
        self.job_id = job_id
        self.level = level
        self.wanted = workers
        self.arguments = [cache_folder]
        self.exams: dict[str, Any] = {}
        self.schedule = Schedule()
        self.workers: list[_Worker] = []
        self.attempts: Counter[int] = Counter()
        self.failed_starts = 0
        broker.examinee_nursery.ask("warm")
        broker.nursery.ask("load", ["lm_eval_strict.sandbox.examiner"])
        self._start_worker()

    def take(self, request: str, details: list[Any]) -> None:
        """Take exams, or submissions for them."""
        if request == "exams":
            self.exams.update(details[0])
            return
        factor, items = details
        for index, exam_key, submission, weight in items:
            self.schedule.add(exam_key, index, (submission, factor), weight)
        while len(self.workers) < min(self.wanted, len(self.schedule)):
            self._start_worker()
        self._give_out()

    def end(self) -> None:
        """Kill all workers."""
        for worker in self.workers:
            self._close(worker)
        self.workers.clear()

    def next_deadline(self) -> float | None:
        """Give None: the workers keep the limits themselves."""
        return None

    def check_deadlines(self, now: float) -> None:
        """Do nothing."""

    def _start_worker(self) -> None:
        ours, theirs = socket.socketpair()
        pids, examiner_ends = [], [theirs]
        nursery = self.broker.examinee_nursery
        for fully in (False, True):
            examiner_end, examinee_end = socket.socketpair()
            examiner_ends.append(examiner_end)
            pids.append((nursery, nursery.fork("examinee", [examinee_end], [self.level, fully])))
        nursery = self.broker.nursery
        pids.append((nursery, nursery.fork("examiner", examiner_ends, self.arguments)))
        worker = _Worker(ours, pids)
        self.workers.append(worker)
        self.broker.watch(ours.fileno(), lambda: self._hear(worker))

    def _hear(self, worker: _Worker) -> None:
        try:
            kind, *details = wire.read_message(worker.sock.fileno())
        except wire.ChannelClosed:
            self._replace(worker)
            return
        if kind == "unavailable":
            self.broker.reply("unavailable", self.job_id, *details)
            self.broker.drop(self.job_id)
            return
        if kind == "ready":
            worker.ready = True
            self.failed_starts = 0
            self.broker.reply("ready", self.job_id)
        elif kind == "result":
            index, results, measured = details
            worker.in_flight.pop(0)
            self.attempts.pop(index, None)  # the next call of ``grade`` counts its own from 0
            now = time.monotonic()
            worker.quick, worker.last_s = now - worker.last_s < QUICK_S, now
            self.broker.reply("result", self.job_id, index, results, measured)
        self._give_out()

    def _give_out(self) -> None:
        """Fill every ready worker's hand, one each in turn."""
        for full in range(1, AHEAD + 1):
            for worker in list(self.workers):
                if worker.ready and len(worker.in_flight) < full and (full == 1 or worker.quick):
                    self._give(worker)

    def _give(self, worker: _Worker) -> None:
        taken = self.schedule.take(worker.exam_key)
        if taken is None:
            return
        exam_key, index, submission = taken
        worker.in_flight.append(taken)
        try:
            if exam_key != worker.exam_key:
                wire.write_message(worker.sock.fileno(), ("exam", exam_key, self.exams[exam_key]))
                worker.exam_key = exam_key
            wire.write_message(worker.sock.fileno(), ("grade", index, submission))
        except wire.ChannelClosed:
            pass  # the end of its socket is heard next, and what it had is given to another

    def _replace(self, worker: _Worker) -> None:
        """Give a dead worker's submissions to others; the one it was at only so often."""
        self._close(worker)
        self.workers.remove(worker)
        self.schedule.leave(worker.exam_key)
        for place, (exam_key, index, submission) in reversed(list(enumerate(worker.in_flight))):
            if place == 0:
                self.attempts[index] += 1
                if self.attempts[index] >= MAX_ATTEMPTS:
                    self.broker.reply("lost", self.job_id, index)
                    continue
            self.schedule.put_back(exam_key, index, submission)
        if not worker.ready:
            self.failed_starts += 1
        if self.failed_starts < MAX_FAILED_STARTS:
            if len(self.schedule):
                self._start_worker()
        elif not any(other.ready for other in self.workers):
            why = f"{self.failed_starts} workers of the sandbox died at their start, one after the other"
            self.broker.reply("unavailable", self.job_id, why, "")
            self.broker.drop(self.job_id)

    def _close(self, worker: _Worker) -> None:
        self.broker.forget(worker.sock.fileno())
        worker.sock.close()
        for nursery, pid in worker.pids:
            nursery.ask("kill", pid)
