"""A packed chunk of replies in, their rows out: what runs inside a Dask worker.

The chunk brings the problems that it needs, so a node needs no data folder. Each thread of the Dask worker
grades in a sandbox of one worker (code), or all ask one pool with a worker for each thread (math). Both
belong to the broker of the Dask worker's process, are kept warm between chunks, and end with that process
or once no chunk has come for ``IDLE_S``.
"""

from __future__ import annotations

import pickle
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from lm_eval_strict.sandbox.client import end_broker
from lm_eval_strict.sandbox.errors import SandboxUnavailable
from lm_eval_strict.sandbox.records import Isolation
from lm_eval_strict.sandbox.session import Sandbox, require

from .grade_programs import forget_results
from .grading import Row, extract, grade
from .problems import Problems, given_problems
from .replies import Reply
from .task_spec import UnknownTask, read_task
from .versions import MATH_PINS, installed

IDLE_S = 10.0
"""How long the sandbox of a Dask worker outlives the last chunk."""

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Chunk:
    """Replies to grade, by their index in the input, with the problems and settings that decide.

    ``facts`` are the client's ``pack_facts`` of the task.
    """

    task: str
    facts: Mapping[str, str]
    isolation: Isolation
    problems: tuple[Problems, ...]
    replies: tuple[tuple[int, Reply], ...]

    def pack(self) -> bytes:
        """Return the chunk as bytes that the scheduler passes on unread."""
        return zlib.compress(pickle.dumps(self), 1)


class Unfit(Exception):
    """This Dask worker would grade the task in another way than the client, or not locked in as asked."""


class Abandoned(BaseException):
    """Nobody waits for the chunk any more; a base exception, so that no reply is blamed for it."""


def pack_facts(task: str) -> dict[str, str]:
    """Return what must be equal wherever ``task`` is graded: versions, and the task's own digest."""
    try:
        digest = read_task(task).digest
    except UnknownTask:
        digest = UNKNOWN
    names = ("lm-eval-strict", *MATH_PINS)
    return {name: installed(name) for name in names} | {f"the digest of {task}": digest}


async def probe_worker(task: str, isolation: Isolation, facts: Mapping[str, str]) -> str:
    """Say why this process cannot grade ``task`` as a client with these ``pack_facts`` does; "" if it can."""
    import asyncio  # here, not at the top: the client's commands import this module and need no event loop

    return await asyncio.to_thread(_fault, task, isolation, facts)


def _fault(task: str, isolation: Isolation, facts: Mapping[str, str]) -> str:
    found = pack_facts(task)
    for name, there in facts.items():
        if found.get(name) != there:
            return f"{name} is {found.get(name, UNKNOWN)} on the worker and {there} on the client"
    try:
        if read_task(task).kind == "code":
            require(isolation)
    except SandboxUnavailable as unavailable:
        return str(unavailable)
    return ""


def grade_chunk(packed: bytes) -> list[tuple[int, list[Row]]]:
    """Grade a packed ``Chunk`` and return the rows of each reply with its index.

    Raises ``Unfit`` where the probe would have refused this worker: it may have joined since. Ends early once
    Dask has dropped the chunk, as it does when the client is gone.
    """
    from distributed import Reschedule, get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def on_done(_: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise Abandoned

    chunk: Chunk = pickle.loads(zlib.decompress(packed))
    if fault := _fault(chunk.task, chunk.isolation, chunk.facts):
        raise Unfit(f"worker {worker.address}: {fault}")
    spec = read_task(chunk.task)
    with given_problems(chunk.problems), _warm.lend(chunk.isolation) as sandbox:
        graded = [extract(spec, reply, isolation=chunk.isolation) for _, reply in chunk.replies]
        try:
            grade(
                spec,
                graded,
                isolation=chunk.isolation,
                workers=worker.state.nthreads,
                sandbox=sandbox,
                on_done=on_done,
            )
        except Abandoned:
            raise Reschedule from None  # somewhere else, should anybody still want it
    return [(index, list(one.rows.values())) for (index, _), one in zip(chunk.replies, graded, strict=True)]


async def let_go() -> None:
    """End this process's sandbox, unless a chunk is at work."""
    import asyncio

    await asyncio.to_thread(_warm.let_go)


class _Warm:
    """The sandboxes of this process that no chunk uses, and how many chunks are at work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[Isolation, list[Sandbox]] = {}
        self._at_work = 0
        self._timer = threading.Timer(IDLE_S, self.let_go)

    @contextmanager
    def lend(self, isolation: Isolation) -> Iterator[Sandbox]:
        """Lend a sandbox of one worker for a chunk; it starts with the first program that it is given."""
        with self._lock:
            self._at_work += 1
            self._timer.cancel()
            free = self._free.setdefault(isolation, [])
            sandbox = free.pop() if free else Sandbox(isolation=isolation, workers=1)
        try:
            yield sandbox
        finally:
            with self._lock:
                self._at_work -= 1
                free.append(sandbox)
                if self._at_work == 0:
                    self._timer = threading.Timer(IDLE_S, self.let_go)
                    self._timer.daemon = True
                    self._timer.start()

    def let_go(self) -> None:
        """End the broker, and with it every sandbox and pool of this process, unless a chunk is at work."""
        with self._lock:
            if self._at_work == 0:
                self._free.clear()
                end_broker()
                forget_results()


_warm = _Warm()
