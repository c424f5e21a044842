"""A trusted function and items in, one outcome per item out, in worker processes that are killed at their
limit.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

from .client import BrokerClient, BrokerLost, broker, replacing_lost_brokers
from .errors import SandboxUnavailable
from .machine import usable_cpus


@dataclass(frozen=True)
class PoolOutcome:
    """How one call ended; ``value`` only where it returned, ``detail`` says why where it did not."""

    status: Literal["ok", "timed_out", "crashed", "raised"]
    value: Any = None
    detail: str = ""


class Pool:
    """Calls ``function`` ("package.module:callable", one JSON-able item in, JSON-able value out) in warm
    processes.

    They are forked from the broker's tree, never from this process, with ``preload`` imported; a call that
    takes longer than ``call_wall_s`` or more than ``memory_mib`` ends with its process, and a new one takes
    over.
    """

    def __init__(
        self,
        function: str,
        *,
        preload: Sequence[str] = (),
        workers: int | None = None,
        call_wall_s: float = 10.0,
        memory_mib: int = 2048,
    ) -> None:
        if function.count(":") != 1:
            raise ValueError(f"function={function!r}: give 'package.module:callable'")
        self.function = function
        self.preload = list(preload)
        self.workers = workers or usable_cpus()
        self.call_wall_s = call_wall_s
        self.memory_mib = memory_mib
        self._lock = threading.Lock()
        self._client: BrokerClient | None = None
        self._job = 0
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; a later ``map`` starts new ones."""
        client, self._client = self._client, None
        if client is not None:
            client.close_job(self._job)

    def map(self, items: Sequence[Any], *, on_done: Callable[[int], None] | None = None) -> list[PoolOutcome]:
        """Call the function on each item; outcomes come in input order, ``on_done`` gets each index as it is
        done.
        """
        texts = [json.dumps(item) for item in items]
        outcomes: dict[int, PoolOutcome] = {}
        with self._lock:
            try:
                replacing_lost_brokers(lambda: self._run(texts, outcomes, on_done), self._forget)
            except BaseException:
                self.close()
                raise
        return [outcomes[index] for index in range(len(texts))]

    def _forget(self) -> None:
        self._client = None

    def _run(
        self, texts: Sequence[str], outcomes: dict[int, PoolOutcome], on_done: Callable[[int], None] | None
    ) -> None:
        left = [(index, text) for index, text in enumerate(texts) if index not in outcomes]
        if not left:
            return
        client = self._connect()
        client.send("items", self._job, left)
        while len(outcomes) < len(texts):
            message = self._messages.get()
            if message is None:
                raise BrokerLost
            if message[0] == "fault":
                raise RuntimeError(f"the pool's broker failed: {message[1]}")
            _, index, status, value, detail = message
            outcomes[index] = PoolOutcome(status, None if value is None else json.loads(value), detail)
            if on_done is not None:
                on_done(index)

    def _connect(self) -> BrokerClient:
        if self._client is None or not self._client.alive or self._client.owner != os.getpid():
            if not hasattr(os, "fork"):
                raise SandboxUnavailable(f"worker processes are forked, which {sys.platform} cannot do")
            client = broker()
            path = [os.path.abspath(entry) for entry in sys.path]
            self._job, self._messages = client.open_job(
                "pool", self.function, self.preload, path, self.workers, self.call_wall_s, self.memory_mib
            )
            self._client = client
        return self._client
