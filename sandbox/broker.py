"""Jobs from the host process in, results out: dispatches to workers that the nursery forks, and ends when
its input ends.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from . import wire
from .grading_job import GradingJob
from .nursery import keep_only, nursery_main
from .pool_job import PoolJob


class Job(Protocol):
    """What the broker needs of a job."""

    def take(self, request: str, details: list[Any]) -> None:
        """Take a request of the host."""

    def end(self) -> None:
        """Kill its workers."""

    def next_deadline(self) -> float | None:
        """Say when ``check_deadlines`` has something to do."""

    def check_deadlines(self, now: float) -> None:
        """Kill what is over its time."""


class Nursery:
    """The broker's handle on one nursery."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def fork(self, role: str, socks: list[socket.socket], arguments: list[Any]) -> int:
        """Have a process forked that owns ``socks``; they are closed here."""
        wire.send_message(self.sock, ("fork", role, arguments), [sock.fileno() for sock in socks])
        for sock in socks:
            sock.close()
        pid: int = wire.receive_message(self.sock)[0]
        return pid

    def ask(self, *request: Any) -> None:
        """Send a request that has no answer."""
        wire.send_message(self.sock, request)


class Broker:
    """One poll loop over the host, all workers and their deadlines."""

    def __init__(
        self, requests_fd: int, replies_fd: int, nursery: Nursery, examinee_nursery: Nursery
    ) -> None:
        self.requests_fd = requests_fd
        self.replies_fd = replies_fd
        self.nursery = nursery
        self.examinee_nursery = examinee_nursery
        self.jobs: dict[int, Job] = {}
        self.poller = select.poll()
        self.handlers: dict[int, Callable[[], None]] = {}
        self.watch(requests_fd, self._take_request)
        for each in (nursery, examinee_nursery):
            self.watch(each.sock.fileno(), self._nursery_gone)

    def watch(self, fd: int, handler: Callable[[], None]) -> None:
        """Call ``handler`` whenever ``fd`` can be read or is closed at the other end."""
        self.handlers[fd] = handler
        self.poller.register(fd, select.POLLIN)

    def forget(self, fd: int) -> None:
        """Stop watching ``fd``."""
        if self.handlers.pop(fd, None) is not None:
            self.poller.unregister(fd)

    def reply(self, *message: Any) -> None:
        """Send the host one message."""
        wire.write_message(self.replies_fd, message)

    def drop(self, job_id: int) -> None:
        """End one job."""
        job = self.jobs.pop(job_id, None)
        if job is not None:
            job.end()

    def report_fault(self, text: str) -> None:
        """Tell every job's owner that the broker itself failed."""
        for job_id in self.jobs:
            self.reply("fault", job_id, text)

    def serve(self) -> None:
        """Work until the host closes its end."""
        while True:
            deadlines = [d for d in (job.next_deadline() for job in self.jobs.values()) if d is not None]
            wait_ms = max(0.0, min(deadlines) - time.monotonic()) * 1000 + 1 if deadlines else None
            for fd, _ in self.poller.poll(wait_ms):
                handler = self.handlers.get(fd)
                if handler is not None:
                    handler()
            for job in list(self.jobs.values()):
                job.check_deadlines(time.monotonic())

    def _take_request(self) -> None:
        request, job_id, *details = wire.read_message(self.requests_fd)
        if request == "grading":
            self.jobs[job_id] = GradingJob(self, job_id, *details)
        elif request == "pool":
            self.jobs[job_id] = PoolJob(self, job_id, *details)
        elif request == "close":
            self.drop(job_id)
        elif job_id in self.jobs:
            self.jobs[job_id].take(request, details)

    def _nursery_gone(self) -> None:
        raise wire.ChannelClosed


def _start_nursery() -> tuple[int, Nursery]:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        keep_only([theirs.fileno()])
        nursery_main(theirs.detach())
    theirs.close()
    return pid, Nursery(ours)


def main() -> NoReturn:
    """Fork the nurseries while there is no data yet, then serve the host on the standard streams."""
    # What the host ignores or blocks is inherited: an ignored SIGCHLD would leave nothing to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    started = [_start_nursery(), _start_nursery()]
    nurseries = [nursery for _, nursery in started]
    requests_fd, replies_fd = os.dup(0), os.dup(1)
    keep_only([requests_fd, replies_fd, *(nursery.sock.fileno() for nursery in nurseries)])
    sys.argv[:] = [""]
    broker = Broker(requests_fd, replies_fd, *nurseries)
    try:
        broker.serve()
    except wire.ChannelClosed:
        pass  # the host is gone, or the nursery: closing our end of its socket ends all workers
    except Exception:
        broker.report_fault(traceback.format_exc(limit=-4))
    for nursery in nurseries:
        nursery.sock.close()
    for pid, _ in started:
        os.waitpid(pid, 0)
    os._exit(0)
