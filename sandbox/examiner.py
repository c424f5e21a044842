"""Submissions from the broker in, their results out: the process that holds tests and expected values.

One examiner stands beside two locked-in examinee parents. It prepares an exam when the first submission for
it comes, hands the calls (never an expected value) to the parent that suits the program, and judges each
sample's answers.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from . import wire
from .judge import PlusJudge
from .live_check import ForeseenAnswers, Unforeseen, judge_foreseen, judge_live
from .measures import LateWatch, Measures
from .prepared import Calls, Prepared, prepare, reference_of
from .program_imports import imports_more
from .records import CodeVerdict, Exam, Limits, Submission, Suite, SuiteResult
from .repeats import choose_repeats
from .sample_run import End, ExamineeGone, SampleRun
from .wire_records import exam_from_wire, submission_from_wire, suite_result_to_wire

BASE_SET, PLUS_SET = 0, 1
REPEAT_SHARE_OF_LIMIT = 0.25  # a repeat has its own limit beside the first pass's


@dataclass
class ExamineeParent:
    """One of the two warm parents: whether its cell is known to stand, and whose calls it has been given."""

    control: socket.socket
    is_ready: bool
    exam_key: str = ""

    def give_calls(self, exam_key: str, prepared: Prepared) -> None:
        """Hand it an exam's calls, unless it has them; wait for its cell if this is what wakes it."""
        if self.exam_key == exam_key:
            return
        sets = [part.arguments if part else [] for part in (prepared.base, prepared.plus)]
        wire.send_message(self.control, ("inputs", sets))
        self.exam_key = exam_key
        if not self.is_ready:
            message, _ = wire.receive_message(self.control)
            if message[0] != "ready":
                raise ExamineeGone(f"the second parent has no cell: {message[1]}")
            self.is_ready = True


class Examiner:
    """Judges submissions one after the other, with the current exam at hand."""

    def __init__(self, parents: Sequence[ExamineeParent], cache_folder: str | None) -> None:
        self.parents = parents  # the light one first
        self.cache_folder = cache_folder
        self.factor = 1.0
        self.key = ""
        self.exam: Exam | None = None
        self.prepared = Prepared()

    def take_exam(self, key: str, exam: Exam) -> None:
        """Prepare an exam."""
        self.prepared = Prepared()
        self.prepared = prepare(exam, self.cache_folder)
        self.key, self.exam = key, exam
        gc.collect()

    def grade(self, submission: Submission) -> tuple[list[SuiteResult], dict[str, Any]]:
        """Judge one program by every suite that is asked for."""
        measures = Measures()
        by_data = [s for s in submission.suites if s is not Suite.BASE and self.prepared.plus is not None]
        results: dict[Suite, SuiteResult] = {}
        if by_data:
            on_the_way = Suite.BASE in submission.suites and self.prepared.plus_begins_with_base
            base = self.prepared.base if on_the_way else None
            results.update(self._grade_plus(submission, by_data, measures, base))
        by_check = [s for s in submission.suites if s not in results]
        if by_check:
            results.update(self._grade_by_check(submission, by_check, measures))
        return [results[suite] for suite in submission.suites], measures.as_dict(self.factor)

    def _start(
        self,
        submission: Submission,
        which: int | None,
        calls: Calls | None,
        repeats: list[int],
        spare: float = 0.0,
    ) -> SampleRun:
        assert self.exam is not None
        given = submission.limits
        limits = Limits(
            cpu_s=given.cpu_s * self.factor * (1 + spare),
            wall_s=given.wall_s * self.factor,
            memory_mib=given.memory_mib,
            tasks=given.tasks,
            output_kib=given.output_kib,
            file_mib=given.file_mib,
        )
        max_bytes = max(given.output_kib * 1024, calls.max_answer_bytes if calls else 0)
        parent = self.parents[imports_more(submission.program)]
        parent.give_calls(self.key, self.prepared)
        return SampleRun(
            parent.control,
            submission.program,
            self.exam.entry_point,
            which=which,
            repeats=repeats,
            max_bytes=max_bytes,
            limits=limits,
        )

    def _grade_plus(
        self, submission: Submission, suites: Sequence[Suite], measures: Measures, base: Calls | None
    ) -> dict[Suite, SuiteResult]:
        """Judge one pass over the plus inputs; where they begin with ``base``, decide the base test, too."""
        assert self.exam is not None and self.prepared.plus is not None
        calls = self.prepared.plus
        strict = [s for s in suites if s is not Suite.PLUS]
        digest = hashlib.sha256(submission.program.encode("utf-8", "surrogatepass")).hexdigest()
        repeats = choose_repeats(calls, f"{self.exam.exam_id} {digest}") if strict else []
        sample = self._start(submission, PLUS_SET, calls, repeats, REPEAT_SHARE_OF_LIMIT if repeats else 0.0)
        judge = PlusJudge(self.prepared, suites, repeats, self.exam.quirks, sample.max_bytes)
        watch = LateWatch(judge, self.prepared.reference_s)
        answers = ForeseenAnswers(base, sample.max_bytes) if base is not None else None
        if answers is None:
            sample.collect(watch.feed)
        else:
            sample.collect(lambda chunk: answers.feed(chunk) & watch.feed(chunk))
        end = _end_of(sample, judge.answers() >= judge.total)
        measures.late_for_evalplus = watch.ended()
        measures.add(end, submission.limits.cpu_s * self.factor)
        judge.conclude(end)
        results = {result.suite: result for result in judge.results()}
        if answers is not None:
            with contextlib.suppress(Unforeseen):  # then the base test is judged by a run of its own
                results[Suite.BASE] = judge_foreseen(self.exam, answers, lambda: end, Suite.BASE)
        return results

    def _grade_by_check(
        self, submission: Submission, suites: Sequence[Suite], measures: Measures
    ) -> dict[Suite, SuiteResult]:
        assert self.exam is not None
        source = self.exam.base_test if self.exam.base_test is not None else self.exam.plus_test
        if source is None:
            missing = "the exam has no test for this suite"
            return {s: SuiteResult(s, CodeVerdict.HARNESS_ERROR, detail=missing) for s in suites}
        named_inside = source.count(self.exam.entry_point) > 0
        results: dict[Suite, SuiteResult] = {}
        plain: SuiteResult | None = None
        unread = (
            self.exam.base_test is not None and self.exam.plus_test is not None and self.prepared.plus is None
        )
        for suite in suites:
            if unread and suite is not Suite.BASE:
                # The base test must not stand for it: that would be a pass of another test.
                detail = "the plus test is of no known form"
                results[suite] = SuiteResult(suite, CodeVerdict.HARNESS_ERROR, detail=detail)
                continue
            if suite in (Suite.PLUS_STRICT, Suite.PLUS_ADJUDICATED) and named_inside:
                # There the name means the trusted reference: no comparison of a program with itself.
                results[suite] = self._judge_live(submission, suite, measures, strict=True)
                continue
            if plain is None:
                plain = self._judge_check(submission, suite, measures)
            results[suite] = _renamed(plain, suite)
        return results

    def _judge_check(self, submission: Submission, suite: Suite, measures: Measures) -> SuiteResult:
        assert self.exam is not None
        calls = self.prepared.base
        if calls is None:
            return self._judge_live(submission, suite, measures, strict=False)
        sample = self._start(submission, BASE_SET, calls, [])
        answers = ForeseenAnswers(calls, sample.max_bytes)
        sample.collect(answers.feed)
        end = _end_of(sample, answers.complete)
        measures.add(end, submission.limits.cpu_s * self.factor)
        try:
            return judge_foreseen(self.exam, answers, lambda: end, suite)
        except Unforeseen:
            return self._judge_live(submission, suite, measures, strict=False)

    def _judge_live(
        self, submission: Submission, suite: Suite, measures: Measures, *, strict: bool
    ) -> SuiteResult:
        assert self.exam is not None
        named = reference_of(self.exam) if strict else None
        sample = self._start(submission, None, self.prepared.base, [])
        try:
            return judge_live(self.exam, sample, named, suite, None if strict else self.prepared.base)
        finally:
            end = sample.end or sample.finish()
            measures.add(end, submission.limits.cpu_s * self.factor)


def _end_of(sample: SampleRun, complete: bool) -> End:
    """Give the sample's end: one whose answers are over ends by itself, one that has lost is stopped."""
    return sample.settle() if complete or sample.closed else sample.finish()


def _renamed(result: SuiteResult, suite: Suite) -> SuiteResult:
    return SuiteResult(
        suite,
        result.verdict,
        result.tests_passed,
        result.tests_total,
        result.first_failure,
        result.detail,
        result.quirks_used,
    )


def examiner_main(broker_fd: int, light_fd: int, full_fd: int, cache_folder: str | None) -> NoReturn:
    """Serve the broker at ``broker_fd`` with the examinees' parents at the other two."""
    sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None
    light, full = socket.socket(fileno=light_fd), socket.socket(fileno=full_fd)
    try:
        message, _ = wire.receive_message(light)
        wire.write_message(broker_fd, message)
        if message[0] != "ready":
            os._exit(0)
        parents = ExamineeParent(light, is_ready=True), ExamineeParent(full, is_ready=False)
        _serve(broker_fd, Examiner(parents, cache_folder))
    except (wire.ChannelClosed, ExamineeGone):
        os._exit(0)


def _serve(broker_fd: int, examiner: Examiner) -> NoReturn:
    while True:
        request, *details = wire.read_message(broker_fd)
        if request == "exam":
            failed = ""
            try:
                examiner.take_exam(details[0], exam_from_wire(details[1]))
            except (ExamineeGone, wire.ChannelClosed):
                raise
            except Exception:
                failed = traceback.format_exc(limit=-3)
        elif request == "grade":
            index, (fields, examiner.factor) = details
            submission = submission_from_wire(fields)
            wire.write_message(broker_fd, ("result", index, *_graded(examiner, submission, failed)))


def _graded(examiner: Examiner, submission: Submission, failed: str) -> tuple[list[Any], dict[str, Any]]:
    try:
        if failed:
            raise RuntimeError(failed)
        results, measured = examiner.grade(submission)
    except (ExamineeGone, wire.ChannelClosed):
        raise
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"[:2000]
        results = [SuiteResult(s, CodeVerdict.HARNESS_ERROR, detail=detail) for s in submission.suites]
        measured = Measures().as_dict(examiner.factor)
    return [suite_result_to_wire(result) for result in results], measured
