"""The sandbox's records in, plain tuples for the wire out, and back."""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from .records import CodeVerdict, Exam, FirstFailure, Limits, Quirk, Submission, Suite, SuiteResult

_exam_fields, _quirk_fields, _limits_fields, _failure_fields = (
    attrgetter(*(field.name for field in fields(record))) for record in (Exam, Quirk, Limits, FirstFailure)
)


def exam_to_wire(exam: Exam) -> tuple[Any, ...]:
    """Flatten an exam."""
    return (*_exam_fields(exam)[:-1], tuple(_quirk_fields(quirk) for quirk in exam.quirks))


def exam_key(exam: Exam) -> str:
    """Give the hash of all that an exam says."""
    return hashlib.sha256(marshal.dumps(exam_to_wire(exam), 2)).hexdigest()


def exam_from_wire(fields: Sequence[Any]) -> Exam:
    """Rebuild an exam."""
    quirks = tuple(Quirk(*quirk) for quirk in fields[-1])
    return Exam(*(*fields[:-1], quirks))


def limits_to_wire(limits: Limits) -> tuple[Any, ...]:
    """Flatten limits."""
    values: tuple[Any, ...] = _limits_fields(limits)
    return values


def submission_to_wire(submission: Submission) -> tuple[Any, ...]:
    """Flatten a submission."""
    suites = tuple(suite.value for suite in submission.suites)
    return (submission.exam_id, submission.program, suites, limits_to_wire(submission.limits))


def submission_from_wire(fields: Sequence[Any]) -> Submission:
    """Rebuild a submission."""
    exam_id, program, suites, limits = fields
    return Submission(exam_id, program, tuple(Suite(suite) for suite in suites), Limits(*limits))


def suite_result_to_wire(result: SuiteResult) -> tuple[Any, ...]:
    """Flatten one suite's result."""
    first = _failure_fields(result.first_failure) if result.first_failure else None
    return (
        result.suite.value,
        result.verdict.value,
        result.tests_passed,
        result.tests_total,
        first,
        result.detail,
        result.quirks_used,
    )


def suite_result_from_wire(fields: Sequence[Any]) -> SuiteResult:
    """Rebuild one suite's result."""
    suite, verdict, passed, total, first, detail, quirks = fields
    failure = FirstFailure(*first) if first else None
    return SuiteResult(Suite(suite), CodeVerdict(verdict), passed, total, failure, detail, tuple(quirks))
