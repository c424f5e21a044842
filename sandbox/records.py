"""What goes into the sandbox and what comes out: exams, submissions, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class CodeVerdict(str, Enum):
    """The verdict of a grade on one program; never the outcome of a process."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    EXITED = "exited"
    SYNTAX_ERROR = "syntax_error"
    NO_ENTRY_POINT = "no_entry_point"
    NO_PROGRAM = "no_program"
    NOT_GRADED = "not_graded"
    HARNESS_ERROR = "harness_error"


class Isolation(str, Enum):
    """How well a program is locked in; ``full`` unless the caller names a weaker level."""

    FULL = "full"
    REDUCED = "reduced"
    NONE = "none"


class Suite(str, Enum):
    """A way of judging one program; all asked for are decided in one grading."""

    BASE = "base"
    PLUS = "plus"
    PLUS_STRICT = "plus_strict"
    PLUS_ADJUDICATED = "plus_adjudicated"


@dataclass(frozen=True)
class Limits:
    """What one sample may use; a field's unit is in its name."""

    cpu_s: float = 10.0
    wall_s: float = 60.0
    memory_mib: int = 512
    tasks: int = 64
    output_kib: int = 1024
    file_mib: int = 16


@dataclass(frozen=True)
class Quirk:
    """One input on which the reference departs from a careful reading of the docstring.

    ``input`` and ``careful_output`` are Python literals as text; ``careful_output`` is the value that
    counts as right under ``plus_adjudicated``.
    """

    input: str
    careful_output: str
    kind: str


@dataclass(frozen=True)
class Exam:
    """One problem's trusted side: it stays with the examiner and never reaches a program.

    ``base_test`` is HumanEval's ``test`` (defines ``check``); ``plus_test`` is the hub's HumanEval+
    ``test`` field, None where the problem is judged by ``base_test`` alone (a declared override).
    ``canonical_solution`` completes ``prompt`` to the trusted reference.
    """

    exam_id: str
    task_id: str
    entry_point: str
    prompt: str
    canonical_solution: str
    base_test: str | None = None
    plus_test: str | None = None
    quirks: tuple[Quirk, ...] = ()


@dataclass(frozen=True)
class Submission:
    """One program to be judged against the exam ``exam_id``."""

    exam_id: str
    program: str
    suites: tuple[Suite, ...]
    limits: Limits = Limits()


@dataclass(frozen=True)
class FirstFailure:
    """The first input that decided against a program; each text is a shortened ``repr``."""

    input: str
    expected: str
    got: str


@dataclass(frozen=True)
class SuiteResult:
    """How one suite judged one program."""

    suite: Suite
    verdict: CodeVerdict
    tests_passed: int = 0
    tests_total: int = 0
    first_failure: FirstFailure | None = None
    detail: str = ""
    quirks_used: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExamResult:
    """All suites of one submission, and what was measured once for all of them.

    ``measured`` holds what differs between equal runs: ``cpu_s``, ``wall_s``, ``memory_mib``, ``host``,
    ``factor``, ``near_limit``, ``evalplus_would_time_out``.
    """

    suites: tuple[SuiteResult, ...]
    isolation: Isolation
    limits: Limits
    measured: Mapping[str, object] = field(default_factory=dict)
