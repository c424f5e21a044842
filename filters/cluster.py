"""Replies in, rows out, graded on the workers of a Dask cluster; the client keeps the files and the order.

Who does what: the client cuts the replies into chunks, heavy problems first, and has a few chunks for each
thread of the cluster under way. A chunk is one Dask task (``cluster_worker.grade_chunk``): where its worker
dies, Dask gives it to another. Problems travel with the chunks, packed; programs run in the sandbox
of the Dask worker's machine.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lm_eval_strict.sandbox.records import Isolation, Limits

from .cluster_worker import Chunk, grade_chunk, let_go, pack_facts, probe_worker
from .grading import Row
from .problems import Problems, load_problems
from .replies import Reply
from .task_spec import TaskSpec, data_sets

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0
PROBE_S = 60.0
NO_WORKER_S = 20.0
"""How long a cluster may be without any worker: a nanny needs some seconds to start one again."""
TICK_S = 1.0
RESULT_S = 10.0
"""How long the rows of a finished chunk may take to arrive; longer means that they died with their worker."""
AHEAD = 2
"""Chunks under way for each thread of the cluster: one at work, one at hand."""
MAX_COST = 64
"""What a chunk holds at most, in replies to a problem of the usual limit: a killed worker loses seconds."""
MAX_SENT = 5
"""How often a chunk is sent: again where its rows died with a worker, or so many did that Dask gave it up."""


class ClusterFault(Exception):
    """The cluster cannot be used, or no longer; the message is one line that names the address or worker."""


class Cluster:
    """A connection to the Dask scheduler at ``address``, or of a scheduler file; a context manager."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _connected(address)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            with suppress(ClusterFault):  # then the sandboxes end by themselves, a little later
                self._run_everywhere(let_go)
        self._client.close()

    def check(self, spec: TaskSpec, isolation: Isolation) -> None:
        """Raise ClusterFault unless every worker judges ``spec`` as it is judged here, locked in as asked."""
        if not self._threads():
            raise ClusterFault(f"{self.address}: the cluster has no workers")
        answers = self._run_everywhere(
            probe_worker, spec.frozen_name, isolation, pack_facts(spec.frozen_name)
        )
        for worker, fault in answers.items():
            if isinstance(fault, Exception):
                fault = f"lm-eval-strict cannot be used there ({_line(fault)}): install it as here"
            if fault:
                raise ClusterFault(f"worker {worker}: {fault}")

    def grade(
        self,
        spec: TaskSpec,
        replies: Mapping[int, Reply],
        isolation: Isolation,
        on_rows: Callable[[int, list[Row]], None],
    ) -> None:
        """Grade ``replies``; ``on_rows`` gets each one's index and rows as they come, in any order.

        Raises ClusterFault once the scheduler or all workers are gone; what came before has been handed over.
        """
        chunks = chunks_of(spec, replies, isolation, threads=self._threads())
        waiting = deque((chunk, MAX_SENT) for chunk in chunks)
        sent: dict[Future[Any], tuple[Chunk, int]] = {}
        last_seen = time.monotonic()
        while waiting or sent:
            threads = self._threads()
            if threads:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > NO_WORKER_S:
                raise ClusterFault(f"{self.address}: no worker is left")
            while waiting and len(sent) < AHEAD * threads:
                chunk, tries = waiting.popleft()
                sent[self._send(chunk)] = chunk, tries - 1
            for future in self._done(sent):
                chunk, tries = sent.pop(future)
                graded = self._graded(future)
                if graded is None and not tries:
                    key = chunk.replies[0][1].key
                    raise ClusterFault(f"{self.address}: workers died again and again over replies to {key}")
                if graded is None:
                    waiting.appendleft((chunk, tries))
                for index, rows in graded or ():
                    on_rows(index, rows)

    def _send(self, chunk: Chunk) -> Future[Any]:
        with self._connection():
            return self._client.submit(grade_chunk, chunk.pack(), pure=False, retries=1)

    def _done(self, sent: Collection[Future[Any]]) -> list[Future[Any]]:
        """Wait a little for the first that is done and return all that are."""
        from distributed import TimeoutError, wait

        if not sent:
            time.sleep(TICK_S)
            return []
        with self._connection():
            try:
                return list(wait(list(sent), timeout=TICK_S, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                return []

    def _graded(self, future: Future[Any]) -> list[tuple[int, list[Row]]] | None:
        """Return what a chunk that is done gave; None where that was lost with the workers that had it."""
        from distributed import KilledWorker, TimeoutError

        with self._connection():
            if future.status == "error":
                error = future.exception()
                if isinstance(error, KilledWorker):
                    return None
                raise ClusterFault(f"{self.address}: {_line(error)}")
            if future.status != "finished":
                return None
            try:
                graded: list[tuple[int, list[Row]]] = future.result(timeout=RESULT_S)
                return graded
            except TimeoutError:
                return None

    def _threads(self) -> int:
        """Return how many threads the workers have now, all together."""
        with self._connection():
            if self._client.status != "running":
                raise ConnectionError
            return sum(self._client.nthreads().values())

    def _run_everywhere(self, function: Callable[..., Any], *args: object) -> dict[str, Any]:
        """Call ``function`` in the process of every worker, beside its tasks; a failure is an answer too."""
        from distributed import TimeoutError

        def call() -> Any:
            return self._client.run(function, *args, on_error="return", asynchronous=True)

        with self._connection():
            try:
                answers: dict[str, Any] = self._client.sync(call, callback_timeout=PROBE_S)
                return answers
            except TimeoutError:
                raise ClusterFault(f"{self.address}: a worker did not answer in {PROBE_S:g} s") from None

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Say in one line that the scheduler is gone, however Dask says it."""
        try:
            yield
        except (OSError, CancelledError) as lost:
            raise ClusterFault(f"{self.address}: the connection to the scheduler is lost") from lost


def _connected(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise ClusterFault("--cluster needs dask.distributed: pip install distributed") from None
    try:
        if Path(address).is_file():
            return Client(scheduler_file=address, timeout=CONNECT_S)
        return Client(address, timeout=CONNECT_S)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterFault(
            f"--cluster {address}: no Dask scheduler answers ({_line(error)}); "
            "give tcp://HOST:8786 or a scheduler file"
        ) from None


def _line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def chunks_of(
    spec: TaskSpec, replies: Mapping[int, Reply], isolation: Isolation, *, threads: int
) -> Iterator[Chunk]:
    """Cut ``replies`` into chunks by problem, the heaviest first, so that each thread gets several."""
    costs = {index: _cost(spec, reply) for index, reply in replies.items()}
    order = sorted(replies, key=lambda index: (-costs[index], replies[index].key, index))
    most = min(MAX_COST, sum(costs.values()) / (4 * max(1, threads)))
    held: list[int] = []
    for index in order:
        if held and sum(costs[one] for one in held) + costs[index] > most:
            yield _chunk(spec, {one: replies[one] for one in held}, isolation)
            held = []
        held.append(index)
    if held:
        yield _chunk(spec, {one: replies[one] for one in held}, isolation)


def _cost(spec: TaskSpec, reply: Reply) -> float:
    """Return what grading ``reply`` may cost, in replies to a problem of the usual limit."""
    return spec.cpu_limits_s.get(reply.key, Limits().cpu_s) / Limits().cpu_s


def _chunk(spec: TaskSpec, replies: Mapping[int, Reply], isolation: Isolation) -> Chunk:
    keys = {reply.key for reply in replies.values() if reply.key}
    problems = tuple(_only(load_problems(name), keys) for name in data_sets(spec.dataset)) if keys else ()
    return Chunk(spec.frozen_name, pack_facts(spec.frozen_name), isolation, problems, tuple(replies.items()))


def _only(problems: Problems, keys: Collection[str]) -> Problems:
    """Return ``problems`` with none but ``keys``, where it has them: a line may bring a gold of its own."""
    kept = {key: problem for key, problem in problems.by_key.items() if key in keys}
    return replace(problems, by_key=kept)
