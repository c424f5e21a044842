"""The broker's side of one ``Pool``: its items and its killable workers, each forked from a nursery with its
imports done.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import wire

if TYPE_CHECKING:
    from .broker import Broker


@dataclass
class _Worker:
    sock: socket.socket
    pid: int
    index: int | None = None
    deadline: float = 0.0


class PoolJob:
    """Gives items to workers, one at a time, and kills a worker at the limit."""

    def __init__(
        self,
        broker: Broker,
        job_id: int,
        function: str,
        preload: list[str],
        path: list[str],
        workers: int,
        call_wall_s: float,
        memory_mib: int,
    ) -> None:
        from .broker import Nursery

        self.broker = broker
        self.job_id = job_id
        self.function = function
        self.wanted = workers
        self.call_wall_s = call_wall_s
        self.memory_mib = memory_mib
        ours, theirs = socket.socketpair()
        module = function.partition(":")[0]
        modules = ["lm_eval_strict.sandbox.pool_worker", *preload, module]
        broker.nursery.fork("nursery", [theirs], [modules, path])
        self.nursery = Nursery(ours)
        self.items: deque[tuple[int, str]] = deque()
        self.workers: list[_Worker] = []

    def take(self, request: str, details: list[Any]) -> None:
        """Take items."""
        self.items.extend(details[0])
        while len(self.workers) < min(self.wanted, len(self.items)):
            self._start_worker()
        self._give_out()

    def end(self) -> None:
        """Kill all workers and their nursery."""
        for worker in self.workers:
            self.broker.forget(worker.sock.fileno())
            worker.sock.close()
        self.workers.clear()
        self.nursery.sock.close()  # it kills its children when it reads the end

    def next_deadline(self) -> float | None:
        """Say when the next call is over its time."""
        return min((w.deadline for w in self.workers if w.index is not None), default=None)

    def check_deadlines(self, now: float) -> None:
        """Kill each worker whose call is over its time."""
        for worker in [w for w in self.workers if w.index is not None and w.deadline <= now]:
            self._report(worker, "timed_out", None, f"no result within {self.call_wall_s:g} s")
            self._discard(worker)
        self._give_out()

    def _start_worker(self) -> None:
        ours, theirs = socket.socketpair()
        pid = self.nursery.fork("pool_worker", [theirs], [self.function, self.memory_mib])
        worker = _Worker(ours, pid)
        self.workers.append(worker)
        self.broker.watch(ours.fileno(), lambda: self._hear(worker))

    def _hear(self, worker: _Worker) -> None:
        try:
            status, value, detail = wire.read_message(worker.sock.fileno())
        except wire.ChannelClosed:
            if worker.index is not None:
                self._report(worker, "crashed", None, "the worker died")
            self._discard(worker)
        else:
            self._report(worker, status, value, detail)
        self._give_out()

    def _report(self, worker: _Worker, status: str, value: str | None, detail: str) -> None:
        self.broker.reply("item", self.job_id, worker.index, status, value, detail)
        worker.index = None

    def _discard(self, worker: _Worker) -> None:
        self.broker.forget(worker.sock.fileno())
        worker.sock.close()
        self.workers.remove(worker)
        self.nursery.ask("kill", worker.pid)
        if self.items:
            self._start_worker()

    def _give_out(self) -> None:
        for worker in self.workers:
            if worker.index is None and self.items:
                worker.index, item = self.items.popleft()
                worker.deadline = time.monotonic() + self.call_wall_s
                try:
                    wire.write_message(worker.sock.fileno(), item)
                except wire.ChannelClosed:
                    pass  # the end of its socket is heard next
