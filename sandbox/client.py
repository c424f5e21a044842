"""Requests from any thread of the host in, each job's messages out to its own queue: one broker a process."""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import queue
import subprocess
import threading
from collections.abc import Callable
from typing import Any

from . import wire
from .boot import start_broker
from .errors import SandboxUnavailable

END_S = 5.0

_lock = threading.Lock()
_current: BrokerClient | None = None

MAX_BROKERS = 4  # how often a lost broker is replaced within one call


class BrokerLost(Exception):
    """The broker process is gone; what had no result yet can be asked of a new one."""


def replacing_lost_brokers(work: Callable[[], None], forget: Callable[[], None]) -> None:
    """Do ``work``, which goes on where it was, again with a new broker while brokers are lost under it.

    ``forget`` drops the lost one. Raises SandboxUnavailable after ``MAX_BROKERS`` of them.
    """
    for _ in range(MAX_BROKERS):
        try:
            work()
            return
        except BrokerLost:
            forget()
    raise SandboxUnavailable("the sandbox's broker process was killed again and again")


class BrokerClient:
    """A started broker, and a thread that hands on what it says."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process: subprocess.Popen[bytes] = start_broker()
        assert self.process.stdin is not None and self.process.stdout is not None
        self._requests_fd = self.process.stdin.fileno()
        self._replies_fd = self.process.stdout.fileno()
        self._send_lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._queues: dict[int, queue.SimpleQueue[Any]] = {}
        self.alive = True
        threading.Thread(target=self._read, name="lm-eval-strict-broker", daemon=True).start()

    def open_job(self, kind: str, *details: Any) -> tuple[int, queue.SimpleQueue[Any]]:
        """Open a job; its messages come through the queue, and None there means that the broker is lost."""
        number = next(self._numbers)
        messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._queues[number] = messages
        self.send(kind, number, *details)
        return number, messages

    def send(self, *message: Any) -> None:
        """Send one request; raise BrokerLost where nobody reads."""
        try:
            with self._send_lock:
                wire.write_message(self._requests_fd, message)
        except (wire.ChannelClosed, OSError, ValueError) as gone:
            raise BrokerLost from gone
        if not self.alive:
            raise BrokerLost

    def close_job(self, number: int) -> None:
        """Have a job's workers killed."""
        self._queues.pop(number, None)
        try:
            self.send("close", number)
        except BrokerLost:
            pass  # then its workers are gone already

    def _read(self) -> None:
        try:
            while True:
                kind, number, *details = wire.read_message(self._replies_fd)
                messages = self._queues.get(number)
                if messages is not None:
                    messages.put((kind, *details))
        except (wire.ChannelClosed, OSError, ValueError):
            self.alive = False
            for messages in list(self._queues.values()):
                messages.put(None)
            self.process.wait()

    def abandon(self) -> None:
        """Close a forked child's copies of the pipes: the broker must see its real owner's end."""
        for fd in (self._requests_fd, self._replies_fd):
            os.close(fd)


@functools.lru_cache(maxsize=1)
def _watch_this_process() -> None:
    os.register_at_fork(after_in_child=_after_fork)
    atexit.register(end_broker)


def broker() -> BrokerClient:
    """Give this process's broker, started at first use and again after it was lost."""
    global _current
    with _lock:
        if _current is None or not _current.alive or _current.owner != os.getpid():
            _watch_this_process()
            _current = BrokerClient()
        return _current


def end_broker() -> None:
    """End this process's broker, if it has one, and wait until every process of its tree is gone."""
    global _current
    with _lock:
        client, _current = _current, None
        if client is not None and client.owner == os.getpid():
            assert client.process.stdin is not None
            client.process.stdin.close()
            try:
                client.process.wait(END_S)
            except subprocess.TimeoutExpired:
                pass  # it ends by itself; the host's own end must not hang on it


def _after_fork() -> None:
    global _current, _lock
    _lock = threading.Lock()
    if _current is not None and _current.owner != os.getpid():
        _current.abandon()
        _current.alive = False
