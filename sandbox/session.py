"""Exams and programs in, one result per program out: the way into the sandbox."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from .client import BrokerClient, BrokerLost, broker, replacing_lost_brokers
from .errors import SandboxUnavailable
from .machine import speed_factor, usable_cpus
from .records import CodeVerdict, Exam, ExamResult, Isolation, Submission, SuiteResult
from .wire_records import exam_key, exam_to_wire, submission_to_wire, suite_result_from_wire


def cache_folder() -> str:
    """Give the folder where prepared exams are kept, in the state folder of this user."""
    home = os.environ.get("LM_EVAL_STRICT_HOME")
    if not home:
        state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
        home = str(Path(state) / "lm-eval-strict")
    return str(Path(home).absolute() / "cache" / "exams")


def require(isolation: Isolation) -> None:
    """Return if this machine can lock programs in as well as ``isolation`` says, else raise
    SandboxUnavailable.

    What was started for the trial is warm when programs come.
    """
    try:
        with Sandbox(isolation=isolation, workers=1) as sandbox:
            sandbox.wait_until_ready()
    except SandboxUnavailable as refused:
        from .remedies import explained

        raise explained(refused, isolation) from refused


class Sandbox:
    """Grades programs in locked-in processes; a context manager, usable from any thread, again and again.

    ``workers`` defaults to the usable processors. The first use raises SandboxUnavailable where the machine
    cannot give ``isolation``; it never goes on with a weaker level.
    """

    def __init__(self, *, isolation: Isolation = Isolation.FULL, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers!r}: give 1 or more, or None for all usable processors")
        self.isolation = Isolation(isolation)
        self.workers = workers or usable_cpus()
        self._lock = threading.Lock()
        self._client: BrokerClient | None = None
        self._job = 0
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._known: set[str] = set()

    def __enter__(self) -> Sandbox:
        try:
            self._connect()  # the broker warms up while the caller gets its programs together
        except BrokerLost:
            self._client = None  # ``grade`` tries again and says so
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wait_until_ready(self) -> None:
        """Return when the first worker's cell stands; raise SandboxUnavailable where it cannot be had."""
        with self._lock:
            replacing_lost_brokers(self._await_first_worker, self._forget)

    def _await_first_worker(self) -> None:
        self._connect()
        message = self._messages.get()
        if message is None:
            raise BrokerLost
        self._read(message, ())

    def close(self) -> None:
        """End this sandbox's workers; a later ``grade`` starts new ones."""
        client, self._client = self._client, None
        if client is not None:
            client.close_job(self._job)

    def grade(
        self,
        exams: Mapping[str, Exam],
        submissions: Sequence[Submission],
        *,
        on_result: Callable[[int, ExamResult], None] | None = None,
    ) -> list[ExamResult]:
        """Judge every submission against its exam; results come in input order, ``on_result`` as each is
        done.

        A submission's ``exam_id`` is a key of ``exams``. Raises KeyError for an unknown one and
        SandboxUnavailable where the isolation cannot be had; whatever a program does is a verdict.
        """
        for submission in submissions:
            if submission.exam_id not in exams:
                raise KeyError(f"exam_id={submission.exam_id!r} is not among the {len(exams)} exams given")
        results: dict[int, ExamResult] = {}
        with self._lock:
            try:
                replacing_lost_brokers(
                    lambda: self._run(exams, submissions, results, on_result), self._forget
                )
            except BaseException:
                self.close()
                raise
        return [results[index] for index in range(len(submissions))]

    def _forget(self) -> None:
        self._client = None

    def _run(
        self,
        exams: Mapping[str, Exam],
        submissions: Sequence[Submission],
        results: dict[int, ExamResult],
        on_result: Callable[[int, ExamResult], None] | None,
    ) -> None:
        left = [index for index in range(len(submissions)) if index not in results]
        if not left:
            return
        client = self._connect()
        keys = {
            exam_id: exam_key(exams[exam_id]) for exam_id in {submissions[index].exam_id for index in left}
        }
        new = {key: exam_to_wire(exams[exam_id]) for exam_id, key in keys.items() if key not in self._known}
        if new:
            client.send("exams", self._job, new)
            self._known.update(new)
        items = [self._item(index, submissions[index], exams, keys) for index in left]
        client.send("submit", self._job, speed_factor(), items)
        while len(results) < len(submissions):
            message = self._messages.get()
            if message is None:
                raise BrokerLost
            done = self._read(message, submissions)
            if done is not None:
                results[done[0]] = done[1]
                if on_result is not None:
                    on_result(*done)

    def _item(
        self, index: int, submission: Submission, exams: Mapping[str, Exam], keys: Mapping[str, str]
    ) -> tuple[int, str, tuple[Any, ...], float]:
        exam = exams[submission.exam_id]
        weight = submission.limits.cpu_s * 1e9 + len(exam.plus_test or exam.base_test or "")
        return index, keys[submission.exam_id], submission_to_wire(submission), weight

    def _connect(self) -> BrokerClient:
        if self._client is None or not self._client.alive or self._client.owner != os.getpid():
            if not sys.platform.startswith("linux"):
                raise SandboxUnavailable(
                    f"programs are run on Linux only, this is {sys.platform}", "grade later"
                )
            client = broker()
            self._known.clear()
            self._job, self._messages = client.open_job(
                "grading", self.isolation.value, self.workers, cache_folder()
            )
            self._client = client
        return self._client

    def _read(
        self, message: tuple[Any, ...], submissions: Sequence[Submission]
    ) -> tuple[int, ExamResult] | None:
        kind, *details = message
        if kind == "unavailable":
            raise SandboxUnavailable(*details)
        if kind == "fault":
            raise RuntimeError(f"the sandbox's broker failed: {details[0]}")
        if kind == "result":
            index, suites, measured = details
            judged = tuple(suite_result_from_wire(fields) for fields in suites)
        elif kind == "lost":
            index, measured = details[0], {}
            detail = "the worker died each time that it graded this program"
            suites_asked = submissions[index].suites
            judged = tuple(
                SuiteResult(suite, CodeVerdict.HARNESS_ERROR, detail=detail) for suite in suites_asked
            )
        else:
            return None
        return index, ExamResult(judged, self.isolation, submissions[index].limits, measured)
